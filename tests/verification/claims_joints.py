"""Joint Jacobians and Hessians against finite differences."""

import inspect
import math
from typing import Any

import numpy as np
from numpy.random import Generator

import physics as ph
from physics._typing import FloatArray
from physics.geometry import lie

from .claim import Measurement, claim
from .generators import JOINTS, curve_range, parts, random_coordinates, rotation_slice, unit_vector
from .stencils import differentiate

# Points per joint type, distributed over INSTANCES joints: 6 each. Every other one has one of the 14 ANGLES, so that
# each angle has at least 4.
POINTS = 120
INSTANCES = 20
# The error of the nine-point stencil decreases with the eighth power of the step down to 0.006 and is round-off below
# 0.004 (measured on cubics and splines of order 6): about 1e-11 here, far below the bounds.
STEP = 0.005
# Angles of exponential coordinates that the formulas must handle: zero, the neighbourhoods where series are used, half
# a turn (where charts change) and almost a full turn (where they end).
HALF_TURN = (math.pi - 1e-9, math.pi, math.pi + 1e-9)
ANGLES = (0.0, 1e-12, 1e-8, 1e-5, 1e-3, 0.1, 0.499, 0.501, 1.0, *HALF_TURN, 5.0, 6.2)


def inner_knots(joint: Any) -> FloatArray:
    """The distinct knots of a spline curve's range; of one turn if it is closed."""
    lower, upper = curve_range(joint)
    knots = np.unique(joint.knots)
    inside = knots[(knots > lower) & (knots < upper)]
    return np.concatenate([[lower], inside, [upper]])


def smooth_interval(joint: Any, coordinate: int, value: float) -> tuple[float, float]:
    """The interval around a coordinate's value where the joint is smooth: one knot span of a spline."""
    for part in parts(joint):
        if coordinate >= part.num_coordinates:
            coordinate -= part.num_coordinates
            continue
        if part.type == "inverted":
            return smooth_interval(part.joint, coordinate, value)
        if part.type == "flexible_surface" and coordinate >= 3:
            part, coordinate = part.surface, coordinate - 3
        if part.type == "spline_surface":
            knots = np.unique(part.knots[coordinate])
            span = int(np.clip(np.searchsorted(knots, value, side="right") - 1, 0, len(knots) - 2))
            return knots[span], knots[span + 1]
        if part.type != "spline_curve":
            break
        lower, upper = curve_range(part)
        knots = inner_knots(part)
        turns = 0.0
        if part.periodic:
            turns = math.floor((value - lower) / (upper - lower)) * (upper - lower)
        span = int(np.clip(np.searchsorted(knots, value - turns, side="right") - 1, 0, len(knots) - 2))
        return knots[span] + turns, knots[span + 1] + turns
    return -math.inf, math.inf


def sample(joint: Any, index: int, rng: Generator) -> FloatArray:
    """The index-th test point: random, but every other one moved to a critical angle or a knot."""
    q = random_coordinates(joint, rng, largest_angle=6.2)
    start = 0
    for part in parts(joint):
        where = rotation_slice(part)
        if where is not None and index % 2:
            angle = ANGLES[index // 2 % len(ANGLES)]
            q[start : start + part.num_coordinates][where] = unit_vector(rng) * angle
        if part.type == "spline_curve" and index % 2:
            lower, upper = curve_range(part)
            knots = inner_knots(part)
            near = knots[index // 2 % len(knots)] + (0.0, 1e-9, -1e-9, 1e-4)[index // 2 % 4]
            q[start] = min(max(near, lower), upper)
        start += part.num_coordinates
    return q


def differentiated(joint: Any, q: FloatArray) -> tuple[FloatArray, FloatArray]:
    """S (6, n) from differences of G, and dS (6, n, n) from differences of S."""
    n = len(q)
    inverse = lie.inverse(joint.evaluate(q)[0])
    jacobian, hessian = np.empty((6, n)), np.empty((6, n, n))
    for j in range(n):
        interval = smooth_interval(joint, j, q[j])

        def at(
            value: float, j: int = j
        ) -> FloatArray:  # both in one evaluation, which is what takes the time
            moved = q.copy()
            moved[j] = value
            pose, subspace, _ = joint.evaluate(moved)
            return np.concatenate([pose.ravel(), subspace.ravel()])

        slopes = differentiate(at, q[j], *interval, STEP)
        body_velocity = inverse @ slopes[:16].reshape(4, 4)
        jacobian[:3, j] = lie.vee(body_velocity[:3, :3])
        jacobian[3:, j] = body_velocity[:3, 3]
        hessian[:, :, j] = slopes[16:].reshape(6, n)
    return jacobian, hessian


def worst_errors(make: Any, rng: Generator, points: int) -> tuple[float, float]:
    """Largest relative error of S and dS over random joints of one type.

    S is compared with its own norm; dS with the norm of S and dS together, as it vanishes for many joints.
    """
    worst = np.zeros(2)
    for instance in range(INSTANCES):
        joint = make(rng)
        if joint.num_coordinates == 0:
            continue
        for index in range(instance * points // INSTANCES, (instance + 1) * points // INSTANCES):
            q = sample(joint, index, rng)
            _, S, dS = joint.evaluate(q)
            S_reference, dS_reference = differentiated(joint, q)
            size = np.linalg.norm(S)
            errors = [
                np.linalg.norm(S - S_reference) / size,
                np.linalg.norm(dS - dS_reference) / (size + np.linalg.norm(dS)),
            ]
            worst = np.maximum(worst, errors)  # propagates NaN
    return float(worst[0]), float(worst[1])


_measured: dict[int, dict[str, tuple[float, float]]] = {}


def errors_of_all_types(points: int) -> dict[str, tuple[float, float]]:
    """Largest errors of S and dS by joint type, measured once for both claims."""
    if points not in _measured:
        rng = np.random.default_rng(20080811)
        _measured[points] = {name: worst_errors(make, rng, points) for name, make in JOINTS.items()}
    return _measured[points]


WHERE = "{points} points for each joint type, also near zero, near pi and at knots; relative"
JACOBIAN = "joint Jacobian S against finite differences of G, " + WHERE
HESSIAN = "joint Hessian dS against finite differences of S, " + WHERE
SOURCE = "Lee & Terzopoulos 2008, App. B; Kim, Lee & Park 2014, eqs. 21, 23-25"


@claim("joints.hessian", HESSIAN, source=SOURCE, at_most=1e-7, cost="slow", which=1, points=POINTS)
@claim("joints.jacobian", JACOBIAN, source=SOURCE, at_most=1e-9, cost="slow", which=0, points=POINTS)
@claim("joints.hessian_quick", HESSIAN, source=SOURCE, at_most=1e-7, which=1, points=40)
@claim("joints.jacobian_quick", JACOBIAN, source=SOURCE, at_most=1e-9, which=0, points=40)
def largest(which: int, points: int) -> Measurement:
    """The error of the worst joint type, with all types in the details."""
    by_type = {name: errors[which] for name, errors in errors_of_all_types(points).items()}
    return Measurement(float(np.max(list(by_type.values()))), by_type)


def class_lines() -> dict[str, int]:
    """Lines of the class that defines each joint type, comments and docstring included."""
    return {
        name: len(inspect.getsource(joint).rstrip().splitlines())
        for name, joint in ph.joints.REGISTRY.items()
    }


@claim("joints.lines", at_most=40.0)
def lines() -> Measurement:
    """Lines of the class of a joint, docstring included: median over all types (the longest in the details)."""
    counts = class_lines()
    return Measurement(float(np.median(list(counts.values()))), counts)
