"""Surfaces that bend under load (Lee & Terzopoulos 2008, sec. 8): mass and stiffness of their control points.

With positions x(u) = sum_i N_i(u) x_i, and g the metric of the surface at rest, the energies are

    1/2 int density x' . x' dA,   1/2 int tension g^ab x_,a . x_,b dA,   1/2 int bending g^ac g^bd x_;ab . x_;cd dA

with second derivatives x_;ab = x_,ab - G^c_ab x_,c by the connection G at rest; the last two of the displacement from
rest in the frame of the body that carries the surface. A wire has lengths in place of areas.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._typing import FloatArray, IntArray
from ..bodies.body import Body
from ..errors import ModelError
from ..geometry import splines
from ..geometry.immutable import ReadOnlyArrays
from ..joints import FlexibleSurface, SplineSurface
from ..validation import listed, number

FIXED = ("ends", "clamped")


@dataclass(frozen=True, eq=False)
class SurfaceLaw(ReadOnlyArrays):
    """What moves the control points of a surface.

    Attributes:
        joint: of the bodies on it. bodies: their names. parent: the body that carries the surface, None: the world.
        pose: of the surface's frame in the parent (4, 4).
        density: [kg/m^2], of a wire [kg/m]. tension: [N/m], of a wire [N]. bending: [N m], of a wire [N m^2].
        fixed: which control points move with the parent (m_1[, m_2]).
    """

    joint: FlexibleSurface
    bodies: tuple[str, ...]
    parent: str | None
    pose: FloatArray
    density: float
    tension: float
    bending: float
    fixed: Any

    @cached_property
    def matrices(self) -> tuple[FloatArray, FloatArray]:
        """Mass (n, n) [kg] and stiffness (n, n) [N/m] of the control points, the same for x, y and z."""
        mass, stiffness = surface_matrices(self.joint, self.density, self.tension, self.bending)
        return mass, stiffness

    @cached_property
    def modes(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Of the free control points squared frequencies (m,), modes of mass 1 (m, m), and the inverse of these."""
        free = ~np.asarray(self.fixed).ravel()
        mass, stiffness = (each[np.ix_(free, free)] for each in self.matrices)
        lower: FloatArray = np.linalg.cholesky(mass)
        unit: FloatArray = np.linalg.inv(lower)
        half = unit @ stiffness @ unit.T
        squares, turn = np.linalg.eigh(0.5 * (half + half.T))
        # no negative round-off where stiffness is singular: a straight row is fixed and the tension is 0
        return np.maximum(squares, 0.0), unit.T @ turn, turn.T @ lower.T

    @property
    def points(self) -> FloatArray:
        """Control points at rest in the surface's frame (n, 3) [m]."""
        found: FloatArray = self.joint.surface.values[..., 3:].reshape(-1, 3)
        return found

    @property
    def net(self) -> IntArray:
        """Control point of each place of the net in which closed directions are unrolled, row by row."""
        surface = self.joint.surface
        shape = surface.values.shape[:-1]
        axes = [np.arange(many) % few for many, few in zip(surface.net.shape[:-1], shape)]
        return np.ravel_multi_index(np.meshgrid(*axes, indexing="ij"), shape).ravel()

    def balance(self) -> FloatArray:
        """Forces (n, 3) [N] in the surface's frame that keep it as it was built: zeros where it is even."""
        stiffness = self.matrices[1]
        force: FloatArray = stiffness @ self.points
        scale = np.abs(stiffness).max() * np.ptp(self.points, axis=0).max()
        force[np.abs(force) < 1e-12 * scale] = 0.0
        return force

    def to_dict(self) -> dict[str, Any]:
        """JSON-able arguments of `ModelBuilder.add_flexible_surface` besides name and damping."""
        numbers = {"density": self.density, "tension": self.tension, "bending": self.bending}
        return {"bodies": list(self.bodies), **numbers, "fixed": np.asarray(self.fixed).tolist()}


def surface_matrices(
    joint: FlexibleSurface, density: float, tension: float, bending: float
) -> tuple[FloatArray, FloatArray]:
    """Mass and stiffness (n, n) by Gauss points in each element, as many as the order in each direction."""
    surface = joint.surface
    nodes, weights, zero, one, two = _elements(surface)
    places = surface.values[..., 3:].reshape(-1, 3)[nodes]
    slope = np.einsum("egap,epk->egak", one, places)
    metric = np.einsum("egak,egbk->egab", slope, slope)
    area = np.sqrt(np.linalg.det(metric))
    if not (area > 1e-9 * area.max()).all():
        raise ModelError(
            "a flexible surface must not fold or shrink to a point at rest: its area vanishes somewhere"
        )
    inverse = np.linalg.inv(metric)
    turning = np.einsum("egabp,epk,egdk->egabd", two, places, slope)
    second = two - np.einsum("egabd,egdc,egcp->egabp", turning, inverse, one)
    share = weights * area
    mass = density * np.einsum("eg,egp,egq->epq", share, zero, zero)
    stiffness = tension * np.einsum("eg,egab,egap,egbq->epq", share, inverse, one, one)
    raised = np.einsum("egac,egbd,egcdq->egabq", inverse, inverse, second)
    stiffness += bending * np.einsum("eg,egabp,egabq->epq", share, second, raised)
    found = np.zeros((2, len(surface.values.reshape(-1, 6)), len(surface.values.reshape(-1, 6))))
    for matrix, elements in zip(found, (mass, stiffness)):
        np.add.at(matrix, (nodes[:, :, None], nodes[:, None, :]), elements)
    return found[0], found[1]


def _elements(surface: SplineSurface) -> tuple[IntArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """Of each element the control points (e, p), weights of its Gauss points (e, g), bases there (e, g, p), and their
    first (e, g, d, p) and second derivatives (e, g, d, d, p).
    """
    parts = [_spans(*each) for each in zip(surface.unrolled_knots, surface.order, surface.periods)]
    counts = surface.values.shape[:-1]
    every = [
        (first[:, None] + np.arange(order)) % count
        for (first, _, _), order, count in zip(parts, surface.order, counts)
    ]
    if len(parts) == 1:
        _, weights, (n0, n1, n2) = parts[0]
        return every[0], weights, n0, n1[:, :, None], n2[:, :, None, None]
    (_, wa, u), (_, wb, v) = parts
    nodes = every[0][:, None, :, None] * counts[1] + every[1][None, :, None, :]
    nodes = nodes.reshape(len(wa) * len(wb), -1)
    weights = np.einsum("eg,fh->efgh", wa, wb).reshape(len(nodes), -1)

    def products(*orders: tuple[int, int]) -> FloatArray:
        shape = len(nodes), weights.shape[1], nodes.shape[1]
        return np.stack([np.einsum("egp,fhq->efghpq", u[i], v[j]).reshape(shape) for i, j in orders], axis=2)

    two = products((2, 0), (1, 1), (1, 1), (0, 2))
    one = products((1, 0), (0, 1))
    return nodes, weights, products((0, 0))[:, :, 0], one, two.reshape(*one.shape[:2], 2, *one.shape[2:])


def _spans(
    knots: FloatArray, order: int, period: float
) -> tuple[IntArray, FloatArray, tuple[FloatArray, FloatArray, FloatArray]]:
    """Of each span of a direction the first basis, weights of its Gauss points (s, g), and bases with two derivatives
    there (s, g, order).
    """
    breaks = np.unique(knots[order - 1 : len(knots) - order + 1])
    places, weights = np.polynomial.legendre.leggauss(order)  # type: ignore[no-untyped-call]
    half = 0.5 * np.diff(breaks)[:, None]
    points = 0.5 * (breaks[1:] + breaks[:-1])[:, None] + half * places
    first = splines.span_index(knots, order, points[:, 0]) - order + 1
    columns = first[:, None, None] + np.arange(order)
    values = [
        np.take_along_axis(
            splines.basis(knots, order, points.ravel(), d).reshape(*points.shape, -1),
            np.broadcast_to(columns, (*points.shape, order)),
            axis=2,
        )
        for d in range(3)
    ]
    return first, half * weights, (values[0], values[1], values[2])


def make_surface_law(
    bodies: Any,
    density: Any,
    tension: Any,
    bending: Any,
    fixed: Any,
    what: str,
    known: Mapping[Any, int],
    every: Sequence[Body],
    others: Sequence[SurfaceLaw],
) -> SurfaceLaw:
    """A checked law; ModelError for an invalid argument (see `ModelBuilder.add_flexible_surface`).

    Args:
        known: indices of bodies by name. every: all bodies. others: those of other surfaces.
    """
    taken = [name for law in others for name in law.bodies]
    names = [getattr(each, "name", each) for each in listed(bodies, f"bodies of {what}")]
    if not names:
        raise ModelError(f"{what} needs a body on it, got none")
    for name in names:
        if not isinstance(name, str) or name not in known:
            raise ModelError(f"{what} carries body {name!r:.80}, which is missing: add it first")
        if name in taken or names.count(name) > 1:
            raise ModelError(f"body {name!r} is on a flexible surface already")
    found = [every[known[name]] for name in names]
    joint, parent, pose = found[0].joint, found[0].parent, found[0].joint_in_parent
    if not isinstance(joint, FlexibleSurface):
        raise ModelError(
            f"{what}: the joint of body {names[0]!r} must be a FlexibleSurface, got {joint.type}"
        )
    if joint.surface.kinematic_only:
        raise ModelError(f"{what}: its spline surface is for kinematics only {joint.surface.kinematic_only}")
    for body in found:
        if body.joint != joint or body.parent != parent or not np.array_equal(body.joint_in_parent, pose):
            raise ModelError(
                f"{what}: bodies {found[0].name!r} and {body.name!r} must have the same joint, parent and "
                "joint_in_parent"
            )
    carriers = [(parent, taken)] + [(known[law.parent], names) for law in others if law.parent is not None]
    for carrier, beads in carriers:
        while carrier >= 0:
            if every[carrier].name in beads:
                raise ModelError(
                    f"{what}: body {every[carrier].name!r} on a flexible surface must not carry another one"
                )
            carrier = every[carrier].parent
    law = SurfaceLaw(
        joint,
        tuple(names),
        None if parent < 0 else every[parent].name,
        np.array(pose),
        number(density, f"density of {what}", positive=True),
        number(tension, f"tension of {what}", not_negative=True),
        number(bending, f"bending of {what}", not_negative=True),
        _fixed(fixed, joint, what),
    )
    if not law.tension + law.bending > 0.0:
        raise ModelError(f"{what} needs tension or bending, got {law.tension:g} and {law.bending:g}")
    return law


def _fixed(fixed: Any, joint: FlexibleSurface, what: str) -> Any:
    """Which control points are fixed (m_1[, m_2])."""
    surface = joint.surface
    shape = surface.values.shape[:-1]
    if isinstance(fixed, str):
        if fixed not in FIXED:
            raise ModelError(f"fixed of {what} must be one of {', '.join(FIXED)} or an array, got {fixed!r}")
        mask = np.zeros(shape, dtype=bool)
        for axis, closed in enumerate(surface.periodic):
            for k in range(0 if closed else 1 + FIXED.index(fixed)):
                np.moveaxis(mask, axis, 0)[[k, -1 - k]] = True
    else:
        given = np.array(fixed, dtype=object)  # ragged ones, too
        if given.shape != shape or not all(isinstance(each, bool) for each in given.flat):
            raise ModelError(f"fixed of {what} must be truths of shape {shape}, got {fixed!r:.80}")
        mask = given.astype(bool)
    if mask.all() or not mask.any():
        raise ModelError(
            f"fixed of {what} must leave some control points free and fix others, got {int(mask.sum())} of {mask.size}"
        )
    return mask
