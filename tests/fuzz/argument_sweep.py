"""Calls every public function with valid arguments of which one or two are replaced by bad ones.

`python -m tests.fuzz.argument_sweep SEED SECONDS` prints one JSON line: the calls tried and the raw errors among them.
A call may return or raise a documented class; any other exception is a fault.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import physics as ph
from physics import contacts
from tests.physics.io import osim

PATIENCE = 2.0  # seconds after which a call is interrupted as by Ctrl-C
DEAF = 60.0  # seconds after which a call that goes on in spite of that is a fault; a busy machine needs some
HANG = 300  # seconds after which the sweep ends with a traceback
ROOM = 6 << 30  # bytes of address space beyond which an allocation fails

Call = tuple[str, Callable[..., Any], dict[str, Any]]


class Interrupted(BaseException):
    """The call took longer than PATIENCE, and ended when it was asked to."""


class Odd:
    """Has nothing that any function needs."""

    def __init__(self, *_: Any) -> None:
        """Takes anything, as a callback too."""

    def __repr__(self) -> str:
        return "Odd()"


def bad_values(rng: np.random.Generator) -> dict[str, Any]:
    """Values that hardly any argument takes; some are drawn anew each time."""
    size = int(rng.integers(1, 8))
    return {
        "None": None,
        "an object": Odd(),
        "a class": Odd,
        "a function": lambda *_: 1.0,
        "text": "text",
        "no text": "",
        "text with NUL": "a\0b",
        "bytes": b"x",
        "True": True,
        "2**70": 2**70,
        "-2**70": -(2**70),
        "10**12": 10**12,
        "10**10": 10**10,
        "-1": -1,
        "0": 0,
        "1e-320": 1e-320,
        "1e308": 1e308,
        "-1e300": -1e300,
        "0.5": 0.5,
        "NaN": float("nan"),
        "inf": float("inf"),
        "complex": 1.0 + 2.0j,
        "ragged": [[1.0], [1.0, 2.0]],
        "masked": np.ma.masked_array([1.0, 2.0, 3.0], [False, True, False]),
        "objects": np.array([None, Odd()], dtype=object),
        "texts": np.array(["a", "b"]),
        "complexes": np.array([1.0 + 2.0j] * 3),
        "NaNs": np.full(size, np.nan),
        "tiny numbers": np.full(3, 1e-320),
        "huge numbers": np.full((4, 4), 1e308),
        "booleans": np.ones(3, dtype=bool),
        "dates": np.array(["2020-01-01"], dtype="datetime64[D]"),
        "empty": np.zeros((0, 3)),
        "[]": [],
        "{}": {},
        "a dict": {"text": 1.0},
        "a dict of None": {None: None},
        "a set": {1.0, 2.0},
        "a shape": rng.normal(size=tuple(rng.integers(0, 5, rng.integers(0, 4)))),
        "an endless view": np.broadcast_to(1.0, (10**12,)),
        "[None]": [None],
        "[[[]]]": [[[]]],
        "a model": MODEL,
        "a state": STATE,
        "a joint": ph.joints.Hinge(),
    }


def spoiled(value: Any, rng: np.random.Generator) -> Any:
    """A valid value with one part of it replaced by a bad one."""
    bad = list(bad_values(rng).values())[int(rng.integers(45))]
    if isinstance(value, dict) and value:
        key = list(value)[int(rng.integers(len(value)))]
        if rng.uniform() < 0.3:
            return {**{k: v for k, v in value.items() if k != key}, "strange": value[key]}
        return {**value, key: spoiled(value[key], rng) if rng.uniform() < 0.5 else bad}
    if isinstance(value, list | tuple) and value:
        parts = list(value)
        parts[int(rng.integers(len(parts)))] = bad
        return type(value)(parts) if type(value) in (list, tuple) else parts
    if isinstance(value, np.ndarray) and value.size:
        choice = int(rng.integers(6))
        if choice == 0:
            return value[:-1]
        if choice == 1:
            return value[None]
        if choice == 2:
            return np.asarray(value).T[..., None]
        changed = value.astype(object if choice == 3 else np.float64)
        numbers = (np.nan, np.inf, 1e308, -1e308, 1e-320, 0.0, -1.0)
        changed.flat[int(rng.integers(value.size))] = (
            bad if choice == 3 else numbers[int(rng.integers(len(numbers)))]
        )
        return changed
    return bad


def pendulum() -> ph.ModelBuilder:
    """Two bodies with everything that a model may have, small."""
    builder = ph.ModelBuilder()
    builder.add_body("a", joint=ph.joints.Hinge((0, 1, 0)), **SOLID)
    builder.add_body(
        "b", "a", joint=ph.joints.Spherical(), joint_in_parent=ph.lie.exp([0, 0, 0, 0, 0, -1]), **SOLID
    )
    builder.add_input("push", 1.0)
    return builder


SOLID = {"mass": 1.0, "inertia": np.eye(3), "com": np.array([0.0, 0.0, -0.5])}
POSES = np.array([ph.lie.exp(s * np.array([0.0, 0.5, 0.1, 0.3, 0.1, 0.0])) for s in np.linspace(0.0, 2.0, 9)])
NET = np.array(
    [[ph.lie.exp([0.0, x, y, x, y, 0.0]) for y in np.linspace(0, 1, 5)] for x in np.linspace(0, 1, 5)]
)


def whole_model(mass: float) -> ph.Model:
    builder = pendulum()
    path = [ph.muscles.PathPoint(None, (0.1, 0, 0)), ph.muscles.PathPoint("b", (0.1, 0, -0.2))]
    builder.add_muscle("m", path, mass=mass, num_points=3, law=ph.muscles.Tension(10.0))
    builder.add_constraint("rod", ph.constraints.DistanceConstraint("b", point=(0, 0, -0.5), length=1.4))
    return builder.build()


MODEL, MASSLESS = whole_model(0.1), whole_model(0.0)
STATE = ph.assemble(MODEL, MODEL.state({"a": 0.3, "b": [0.1, 0.9, 0.0]}))
FREE = ph.ModelBuilder.from_dict(pendulum().build().to_dict()).build()
FREE_STATE = FREE.state({"a": 0.3}, {"a": 0.1})
RESULT = ph.simulate(FREE, FREE_STATE, 0.01)
MOTION = ph.inverse_dynamics_of_samples(FREE, np.linspace(0, 1, 12), np.zeros((12, 4)))
CURVE = ph.joints.SplineCurve(POSES)


def dynamics_calls() -> Iterator[Call]:
    zeros = np.zeros(4)
    at = {"model": MODEL, "state": STATE}
    free = {"model": FREE, "state": FREE_STATE}
    times, q = np.linspace(0, 1, 12), np.zeros((12, 4))
    for function in (ph.muscle_lengths, ph.mass_matrix, ph.body_poses, ph.energy):
        yield function.__name__, function, at
    yield "muscle_points", ph.muscle_points, {**at, "muscle": "m"}
    yield "muscle_polyline", ph.muscle_polyline, {**at, "muscle": "m"}
    yield "force_wrenches", ph.force_wrenches, {**at, "inputs": {"push": 1.0}}
    yield "excite", ph.excite, {"model": MODEL, "signals": {"m": 0.5}, "tau": zeros}
    yield "forward_dynamics", ph.forward_dynamics, {**free, "tau": zeros, "road": "auto"}
    for function in (ph.inverse_dynamics, ph.inverse_dynamics_derivatives):
        yield function.__name__, function, {**free, "qdd": zeros, "inputs": {"push": 1.0}}
    yield "forward_derivatives", ph.forward_dynamics_derivatives, {**free, "tau": zeros}
    yield "constrained_dynamics", ph.constrained_dynamics, {**at, "tau": {"a.angle": 1.0}}
    yield "assemble", ph.assemble, at
    for function in (ph.body_jacobian, ph.body_bias):
        yield function.__name__, function, {**at, "body": "b"}
    yield "maximal", ph.maximal_coordinates, {**free, "inputs": {"push": 1.0}}
    yield "joint_reactions", ph.joint_reactions, {**free, "qdd": zeros, "wrenches": np.zeros((2, 6))}
    rows = {"rows": np.zeros((1, 12)), "right": np.zeros(1), "wrenches": np.zeros((2, 6))}
    own = {"coordinate_rows": np.ones((1, 4)), "coordinate_right": np.zeros(1)}
    yield "constrained_bodies", ph.constrained_bodies, {**free, "tau": zeros, **rows}
    yield "constrained_bodies 2", ph.constrained_bodies, {**free, "tau": zeros, **own}
    yield "hybrid", ph.hybrid_dynamics, {**free, "accelerations": {"a": 1.0}, "tau": zeros}
    options = {"cutoff": 6.0, "smoothing": 0.0, "degree": 5}
    push = [ph.ExternalForce("a", times, np.zeros((12, 3)))]
    samples = {"model": FREE, "times": times, "q": q, "external_forces": push, **options}
    yield "samples", ph.inverse_dynamics_of_samples, {k: v for k, v in samples.items() if k != "smoothing"}
    force = {"body": "a", "times": times, "force": np.zeros((12, 3)), "point": np.zeros((12, 3))}
    yield "ExternalForce", ph.ExternalForce, {**force, "moment": np.zeros((12, 3))}
    gradient = np.array([1.0, 0.0, 0.0, 0.0])
    yield "limit_impact", ph.limit_impact, {**free, "gradient": gradient, "restitution": 0.5}
    yield "rank_muscle_masses", ph.rank_muscle_masses, {"model": MODEL, "motion": MOTION, "against": "lumped"}
    slide = {"directions": np.eye(4)[:, :2], "rest": zeros, "names": ("x", "y")}
    yield "HyperReduced", ph.HyperReduced, {"model": FREE, **slide, "functions": ()}
    body = FREE.bodies[0]
    yield "Model", ph.Model, {"bodies": FREE.bodies, "gravity": np.zeros(3), "springs": (), "contacts": ()}
    yield (
        "Model 2",
        ph.Model,
        {
            "bodies": [body],
            "gravity": np.zeros(3),
            "forces": (),
            "inputs": (),
            "controllers": (),
            "constraints": {},
            "muscles": (),
        },
    )
    yield "state", MODEL.state, {"q": zeros, "qd": {"a": 1.0}, "time": 0.0, "muscle_states": {}}
    yield "index", MODEL.index, {"body": "a"}
    yield "coordinate_slice", MODEL.coordinate_slice, {"body": "a"}
    yield "with_inputs", MODEL.with_inputs, {"tau": zeros}
    yield "readings", MODEL.readings, {"q": zeros}
    held = {"state": STATE, "constraints": list(MODEL.constraints.values())}
    yield "evaluate_constraints", MODEL.evaluate_constraints, held


def running_calls() -> Iterator[Call]:
    zeros = np.zeros(4)
    run = {"model": FREE, "state": FREE_STATE, "duration": 0.002, "dt": 0.001, "integrator": "rk4"}
    table = ph.Table([0.0, 1.0], np.zeros((2, 4)))
    more = {
        "tau": table,
        "motions": {},
        "record_interval": 0.001,
        "progress": None,
        "rtol": 1e-6,
        "atol": 1e-8,
    }
    yield "simulate", ph.simulate, {**run, **more}
    yield "simulate RK45", ph.simulate, {**run, **more, "integrator": "RK45"}
    many = {k: v for k, v in {**run, **more}.items() if k not in ("state", "progress")}
    yield "simulate_many", ph.simulate_many, {**many, "states": [FREE_STATE] * 2, "threads": 1}
    loop = {"model": FREE, "state": FREE_STATE, "duration": 0.002, "most_cycles": 2, "tolerance": 1e-4}
    yield "simulate_loop", ph.simulate_loop, {**loop, "blend": 0.0, "dt": 0.001}
    motion = {"times": np.linspace(0, 1, 5), "values": np.zeros((5, 1)), "kind": "position"}
    shape = {
        "interpolation": "cubic",
        "hold": True,
        "windows": [(0.0, 0.5)],
        "leaps": (),
        "first_slope": None,
    }
    yield "Motion", ph.Motion, {**motion, **shape}
    yield "Table", ph.Table, {"times": [0.0, 1.0], "values": np.zeros((2, 4))}
    keys = {"push": ([0.0, 1.0], [1.0, 2.0])}
    yield "keyframe_table", ph.keyframe_table, {"model": FREE, "keys": keys, "interval": 0.1, "tau": zeros}
    target = ph.Target("b", (0.0, 0.1, -0.5))
    solve = {"model": FREE, "targets": [target], "held": ["a"], "limits": True, "position_tolerance": 1e-6}
    solve |= {"rotation_tolerance": 1e-6, "max_steps": 20, "seed": 0}
    yield "inverse_kinematics", ph.inverse_kinematics, {**solve, "state": FREE_STATE, "starts": 2}
    yield "InverseKinematics", ph.InverseKinematics, solve
    aim = {"body": "b", "position": np.zeros(3), "rotation": np.eye(3), "at": np.zeros(3)}
    yield "Target", ph.Target, {**aim, "position_weight": 1.0, "rotation_weight": 0.1}
    reach = {"pose": POSES, "length_scale": 1.0, "bounds": [[0.0, 1.0]], "continuous": True}
    yield "project", ph.project, {"joint": CURVE, **reach}
    yield "project hinge", ph.project, {"joint": ph.joints.Universal(), "pose": POSES, "metric": np.eye(6)}


def fitting_calls() -> Iterator[Call]:
    fit = {"poses": POSES, "q": np.linspace(0, 1, 9), "num_frames": 5, "smoothing": 0.0, "order": 4}
    fit |= {"periodic": False, "end": None, "length_scale": 1.0, "outside": "extend", "tolerance": 1e-6}
    yield "fit_curve", ph.fit_curve, {**fit, "max_iterations": 2, "knots": None, "progress": None}
    yield "check_curve", ph.check_curve, {"joint": CURVE}
    q = np.stack(np.meshgrid(np.linspace(0, 1, 5), np.linspace(0, 1, 5), indexing="ij"), axis=-1)
    net = {"poses": NET.reshape(-1, 4, 4), "q": q.reshape(-1, 2), "num_frames": 4, "smoothing": 1e-3}
    yield "fit_surface", ph.fit_surface, {**net, "refine": False, "tolerance": 1e-6, "max_iterations": 1}
    yield "naive_surface_fit", ph.naive_surface_fit, net


def file_calls(folder: Path) -> Iterator[Call]:
    model, result, storage = folder / "m.json", folder / "r.npz", folder / "s.sto"
    ph.save_model(MODEL, model)
    ph.save_result(RESULT, result)
    hinge = osim.joint("PinJoint", "pin", "/ground", "rod", osim.coordinate("x"))
    opensim = osim.write(folder / "m.osim", osim.body("rod"), hinge)
    columns = {"x": np.zeros(3)}
    ph.write_storage(storage, np.arange(3.0), columns)
    out = {"model": MODEL, "path": folder / "out.json", "state": STATE, "simulation": {}, "extras": {}}
    yield "save_model", ph.save_model, out
    yield "load_model", ph.load_model, {"path": model}
    kept = {"result": RESULT, "path": folder / "out.npz", "diverged": None, "extras": {}}
    yield "save_result", ph.save_result, kept
    yield "load_result", ph.load_result, {"path": result}
    yield "read_opensim", ph.read_opensim, {"path": opensim, "limits": True, "muscles": True, "geometry": ()}
    yield "read_storage", ph.read_storage, {"path": storage}
    table = {"path": folder / "out.sto", "times": np.arange(3.0), "columns": columns, "in_degrees": False}
    yield "write_storage", ph.write_storage, {**table, "name": "x"}
    read = ph.read_opensim(opensim)
    read = {"read": read, "model": read.builder.build(), "storage": ph.read_storage(storage)}
    yield "motion_samples", ph.motion_samples, read


def geometry_calls() -> Iterator[Call]:
    w, pose, twist = np.ones(3), POSES[3], np.ones(6)
    lie = ph.lie
    for name in ("hat", "so3_exp", "so3_left_jacobian", "so3_left_jacobian_inverse", "so3_right_jacobian"):
        yield name, getattr(lie, name), {"w" if name == "hat" else "r": w}
    yield "so3_right_jacobian_inverse", lie.so3_right_jacobian_inverse, {"r": w}
    for name in ("exp", "ad", "left_jacobian", "right_jacobian", "right_jacobian_inverse"):
        yield name, getattr(lie, name), {"twist": twist}
    for name in ("log", "inverse", "adjoint", "adjoint_inverse"):
        yield name, getattr(lie, name), {"pose": pose}
    yield "vee", lie.vee, {"matrix": np.eye(3)}
    yield "so3_log", lie.so3_log, {"rotation": np.eye(3)}
    yield "quaternion_from_matrix", lie.quaternion_from_matrix, {"rotation": np.eye(3)}
    yield "matrix_from_quaternion", lie.matrix_from_quaternion, {"quaternion": np.ones(4)}
    yield "continuous_quaternions", lie.continuous_quaternions, {"quaternions": np.ones((5, 4))}
    yield "continuous_rotation_vectors", lie.continuous_rotation_vectors, {"vectors": np.ones((5, 3))}
    yield "check_frames", lie.check_frames, {"frames": POSES, "name": "frames"}
    yield "spatial_inertia", lie.spatial_inertia, {"mass": 1.0, "com": w, "inertia": np.eye(3)}
    splines, knots = ph.splines, ph.splines.clamped_knots(7, 4)
    for name in ("clamped_knots", "uniform_knots"):
        ends = {"num_control": 7, "order": 4, "start": 0.0, "end": 1.0}
        yield name, getattr(splines, name), ends
    yield (
        "periodic_knots",
        splines.periodic_knots,
        {"num_control": 7, "order": 4, "start": 0.0, "period": 1.0},
    )
    for name in ("unrolled_knots", "greville"):
        yield name, getattr(splines, name), {"knots": knots, "order": 4}
    yield "averaged_knots", splines.averaged_knots, {"parameters": np.linspace(0, 1, 7), "order": 4}
    yield "check_knots", splines.check_knots, {"knots": knots, "order": 4, "periodic": False, "name": "knots"}
    yield "span_index", splines.span_index, {"knots": knots, "order": 4, "q": np.linspace(0, 1, 5)}
    for name in ("basis", "cumulative_basis"):
        yield name, getattr(splines, name), {"knots": knots, "order": 4, "q": w, "derivative": 1}
    yield "span_polynomials", splines.span_polynomials, {"knots": knots, "order": 4, "num_control": 7}
    for name in ("body_velocity", "spatial_velocity", "body_velocity_bias", "spatial_velocity_bias"):
        yield name, getattr(ph.exponential_coordinates, name), {"r": w, "rd": w}
    for name in ("rate_of_body_velocity", "rate_of_spatial_velocity", "body_rate_bias", "spatial_rate_bias"):
        yield name, getattr(ph.exponential_coordinates, name), {"r": w, "w": w}
    for name in ("body_acceleration", "spatial_acceleration"):
        yield name, getattr(ph.exponential_coordinates, name), {"r": w, "rd": w, "rdd": w}
    for name in ("second_rate_of_body", "second_rate_of_spatial"):
        yield name, getattr(ph.exponential_coordinates, name), {"r": w, "w": w, "wd": w}
    yield "reparametrize", ph.exponential_coordinates.reparametrize, {"r": w, "rd": w, "rdd": w, "tau": w}


def joint_calls() -> Iterator[Call]:
    z, joints = (0.0, 0.0, 1.0), ph.joints
    for kind in (joints.Hinge, joints.Slider, joints.Cylindrical):
        yield kind.__name__, kind, {"axis": z}
    yield "Helical", joints.Helical, {"axis": z, "pitch": 0.1}
    yield "Universal", joints.Universal, {"axis_1": z, "axis_2": (1.0, 0.0, 0.0)}
    yield "Euler", joints.Euler, {"sequence": "xyz"}
    yield "Free", joints.Free, {"rotation_first": True}
    yield "Spherical", joints.Spherical, {"limit": joints.ReachCone(z, 1.0)}
    yield "ReachCone", joints.ReachCone, {"axis": z, "angle": 1.0}
    yield "RotationLimit", joints.RotationLimit, {"most": np.ones(3)}
    yield "SkewedUniversal", joints.SkewedUniversal, {"skew": 0.1}
    yield "Elliptic", joints.Elliptic, {"a": 1.0, "b": 2.0}
    yield "Ellipsoid", joints.Ellipsoid, {"a": 1.0, "b": 2.0, "c": 1.0, "winging": 0.1, "normal": "true"}
    radii = {"radii": np.ones(3), "winging_origin": np.zeros(2), "winging_direction": 0.1}
    yield "Scapulothoracic", joints.Scapulothoracic, radii
    yield "Inverted", joints.Inverted, {"joint": joints.Hinge()}
    yield "Composite", joints.Composite, {"joints": (joints.Hinge(), joints.Slider())}
    curve = {"frames": POSES, "order": 4, "knots": None, "periodic": False, "outside": "extend"}
    yield "SplineCurve", joints.SplineCurve, {**curve, "length_scale": 1.0, "coordinate": "parameter"}
    turned = {"axis": z, "metric": None, "coordinate": "angle"}
    yield "SplineCurve 2", joints.SplineCurve, {"frames": POSES, **turned}
    net = {"values": 0.1 * np.random.default_rng(1).normal(size=(5, 5, 6)), "order": 4, "knots": None}
    surface = {"sequence": "xyz", "rotation_first": False, "moving": False, "outside": "extend"}
    yield "SplineSurface", joints.SplineSurface, {**net, "periodic": False, **surface}
    line, still = joints.Linear(), tuple((e, joints.Linear(), None) for e in np.eye(3))
    custom = {
        "coordinates": ("x",),
        "rotations": ((z, line, "x"), *still[:2]),
        "translations": still,
        "units": ("rad",),
    }
    yield "Custom", joints.Custom, custom
    for kind in (joints.CubicSpline, joints.PiecewiseLinear):
        yield kind.__name__, kind, {"x": np.arange(4.0), "y": np.zeros(4)}
    yield "Linear", joints.Linear, {"slope": 1.0, "offset": 0.0}
    yield "Polynomial", joints.Polynomial, {"coefficients": np.ones(3)}
    yield "Wave", joints.Wave, {"sine": 1.0, "cosine": 0.5, "offset": 0.1}
    yield "TangentAngle", joints.TangentAngle, {"a": 1.0, "b": 0.5}
    yield "joints.from_dict", joints.from_dict, {"description": CURVE.to_dict()}
    yield "function_from_dict", joints.function_from_dict, {"description": line.to_dict()}
    for joint in (joints.Universal(), CURVE):
        n = joint.num_coordinates
        yield f"{joint.type} transform", joint.transform, {"q": np.zeros((2, n))}


def builder_calls() -> Iterator[Call]:
    def on(name: str) -> Callable[..., Any]:
        return lambda **arguments: getattr(pendulum(), name)(**arguments)

    yield "ModelBuilder", ph.ModelBuilder, {"gravity": np.zeros(3)}
    yield "ModelBuilder.from_dict", ph.ModelBuilder.from_dict, {"description": MODEL.to_dict()}
    frames = {"joint_in_parent": np.eye(4), "body_in_joint": np.eye(4)}
    springs = {"stiffness": 1.0, "rest": 0.0, "damping": 1.0, "armature": 0.0}
    limits = {"limits": [(-1.0, 1.0)], "limit_stiffness": 1.0, "limit_damping": 1.0}
    hinge = {"name": "c", "parent": "b", "joint": ph.joints.Hinge()}
    yield "add_body", on("add_body"), {**hinge, **SOLID, **frames, **springs, **limits}
    laws = {"limits": [(-1.0, 1.0)], "limit_restitution": 0.5, "elastic": None, "damper": None}
    yield "add_body 2", on("add_body"), {**hinge, **SOLID, **laws}
    ends = {"name": "s", "body": "b", "point": np.zeros(3), "other": "a", "other_point": np.ones(3)}
    yield "add_spring", on("add_spring"), {**ends, "stiffness": 1.0, "damping": 0.1, "rest_length": 0.0}
    yield "add_input", on("add_input"), {"name": "i", "value": 1.0}
    force = {"name": "f", "body": "b", "magnitude": "push", "point": np.zeros(3), "axes": "body"}
    yield "add_force", on("add_force"), {**force, "direction": np.ones(3)}
    yield "add_wrench", on("add_wrench"), {**force, "moment": np.ones(3), "force": np.ones(3)}
    damping = {"name": "d", "body": "b", "angular": 1.0, "linear": 1.0, "point": np.zeros(3)}
    yield "add_body_damping", on("add_body_damping"), damping
    soft = {"stiffness": 1.0, "exponent": 1.0, "damping": 0.1, "friction": 0.1, "radius": 0.1}
    place = {"name": "g", "body": "b", "points": np.zeros((2, 3)), "plane": np.eye(4), "other": "a"}
    yield "add_ground", on("add_ground"), {**place, **soft, "smooth_speed": 0.1}
    mount = {"axis": np.ones(3), "stiffness_along": 1.0, "stiffness_across": 1.0, "damping_along": 0.1}
    yield "add_mount", on("add_mount"), {**ends, **mount, "damping_across": 0.1}
    gains = {"stiffness": 1.0, "damping": 0.1, "force_limit": 1.0, "target": 0.0}
    yield "add_controller", on("add_controller"), {"name": "k", "body": "b", **gains}
    wobble = {"stiffness_along": 1.0, "stiffness_across": 1.0, "damping_along": 1.0, "damping_across": 1.0}
    wobble |= {"stiffness_rotation": 1.0, "damping_rotation": 1.0, "normal": (1.0, 0.0, 0.0)}
    soft_part = {"name": "w", "segment": "b", "axis": (0.0, 0.0, 1.0), **SOLID, **wobble}
    yield "add_wobbling_mass", on("add_wobbling_mass"), soft_part
    rod = ph.constraints.DistanceConstraint("a", "b", (0, 0, 1), (0, 0, 0))
    yield "add_constraint", on("add_constraint"), {"name": "c", "constraint": rod}
    loop = {"name": "l", "body": "b", "parent": None, "joint": ph.joints.Hinge(), "stiffness": 1.0}
    yield "add_loop_joint", on("add_loop_joint"), loop
    yield "add_target", on("add_target"), {"name": "t", "body": "b", "point": np.zeros(3), "at": np.eye(4)}
    yield "add_target 2", on("add_target"), {"name": "t", "body": "b", "frame": np.eye(4)}
    plane = contacts.Plane()
    contact = {"name": "c", "body": "b", "points": np.zeros((2, 3)), "obstacle": plane, "other": "a"}
    bounce = {"pose": np.eye(4), "radius": 0.1, "friction": 0.5, "restitution": 0.5}
    yield "add_contact", on("add_contact"), {**contact, **bounce}
    path = [ph.muscles.PathPoint(None, (0.1, 0, 0)), ph.muscles.PathPoint("b", (0.1, 0, -0.2))]
    muscle = {"name": "m", "path": path, "mass": 0.1, "num_points": 3, "tension": 1.0, "rounding": 0.4}
    yield "add_muscle", on("add_muscle"), {**muscle, "velocity_terms": True}
    law = {"law": ph.muscles.Thelen(100.0, 0.1, 0.2), "excitation": 0.5, "activation": 0.1}
    yield "add_muscle 2", on("add_muscle"), {"name": "m", "path": path, "masses": None, **law}
    yield (
        "read_muscles",
        on("read_muscles"),
        {"entries": [{"name": "m", "path": MODEL.to_dict()["muscles"][0]["path"]}]},
    )
    yield "read_constraints", on("read_constraints"), {"entries": MODEL.to_dict()["constraints"]}


def part_calls() -> Iterator[Call]:
    muscles, constraints = ph.muscles, ph.constraints
    fibre = {"max_isometric_force": 10.0, "optimal_fibre_length": 0.1, "tendon_slack_length": 0.2}
    active = {"pennation": 0.1, "activation_time": 0.01, "minimum_activation": 0.01, "rigid_tendon": False}
    yield "Thelen", muscles.Thelen, {**fibre, **active, "tendon_strain": 0.04, "passive_shape": 5.0}
    yield "Millard", muscles.Millard, {**fibre, **active, "damping": 0.1, "active_low": 0.44}
    yield "Tension", muscles.Tension, {"max_force": 1.0}
    at = {"body": "a", "frame": np.eye(4), "side": "shorter"}
    for kind in (muscles.Sphere, muscles.Cylinder):
        yield kind.__name__, kind, {**at, "radius": 0.1}
    yield "SphereCappedCylinder", muscles.SphereCappedCylinder, {**at, "radius": 0.1, "length": 0.2}
    yield "muscles.Ellipsoid", muscles.Ellipsoid, {**at, "radii": np.array([0.1, 0.2, 0.1])}
    yield "Torus", muscles.Torus, {**at, "major_radius": 0.2, "minor_radius": 0.1}
    second = {"second_radius": 0.1, "second_frame": np.eye(4), "second_side": "shorter"}
    yield "DoubleCylinder", muscles.DoubleCylinder, {**at, "radius": 0.1, **second}
    yield "Wrap", muscles.Wrap, {"obstacles": (muscles.Sphere(radius=0.1),), "smoothing": None}
    yield "Condition", muscles.Condition, {"coordinate": "a.angle", "lower": 0.0, "upper": 1.0}
    yield "PathPoint", muscles.PathPoint, {"body": "a", "position": np.zeros(3), "condition": None}
    yield "Moving", muscles.Moving, {"coordinate": "a.angle", "function": ph.joints.Linear()}
    yield "Keyframes", muscles.Keyframes, {"times": [0.0, 1.0], "values": [0.0, 1.0]}
    stretch = {"coordinate": "a.angle", "gain": 1.0, "target": 0.0, "damping": 0.0, "rest": 0.0}
    yield "Proportional", muscles.Proportional, stretch
    yield "MassPoints.uniform", muscles.MassPoints.uniform, {"mass": 0.1, "num_points": 3}
    yield "law_from_dict", muscles.law_from_dict, {"description": muscles.Tension(1.0).to_dict()}
    ball = muscles.Sphere(radius=0.1)
    yield "obstacle_from_dict", muscles.obstacle_from_dict, {"description": ball.to_dict()}
    ends = {"body": "a", "other": "b", "point": np.zeros(3), "other_point": np.ones(3)}
    yield "DistanceConstraint", constraints.DistanceConstraint, {**ends, "length": 1.0, "sense": "rod"}
    yield "PointConstraint", constraints.PointConstraint, ends
    frames = {"body": "a", "other": "b", "frame": np.eye(4), "other_frame": np.eye(4)}
    for kind in (constraints.WeldConstraint, constraints.HingeConstraint):
        yield kind.__name__, kind, frames
    slot = {"body": "a", "point": np.zeros(3), "other": "b", "frame": np.eye(4), "unilateral": False}
    yield "PlanarConnector", constraints.PlanarConnector, slot
    yield "Segmented", constraints.SegmentedPlanarConnector, {**slot, "segments": [(0.0, 1.0), (1.0, 1.0)]}
    yield "RollingConstraint", constraints.RollingConstraint, {"body": "a"}
    coupling = {"coordinate": "a.angle", "drivers": {"b.x": 1.0}, "function": ph.joints.Linear()}
    yield "CouplingConstraint", constraints.CouplingConstraint, coupling
    rod = constraints.DistanceConstraint("a")
    yield "constraints.from_dict", constraints.from_dict, {"description": rod.to_dict()}


def all_calls(folder: Path) -> list[Call]:
    groups = (
        dynamics_calls,
        running_calls,
        fitting_calls,
        geometry_calls,
        joint_calls,
        builder_calls,
        part_calls,
    )
    return [call for group in groups for call in group()] + list(file_calls(folder))


def one_argument(calls: list[Call], rng: np.random.Generator) -> Iterator[tuple[Call, dict[str, Any], str]]:
    """Every argument of every call replaced by every bad value, in random order."""
    values = bad_values(rng)
    every = [(call, name, key) for call in calls for name in call[2] for key in values]
    for k in rng.permutation(len(every)):
        call, name, key = every[k]
        yield call, {**call[2], name: values[key]}, f"{name} = {key}"


def some_arguments(calls: list[Call], rng: np.random.Generator) -> Iterator[tuple[Call, dict[str, Any], str]]:
    """One or two random arguments of a random call spoiled, for ever."""
    while True:
        call = calls[int(rng.integers(len(calls)))]
        arguments, said = dict(call[2]), []
        for name in rng.choice(
            list(arguments), size=min(len(arguments), int(rng.integers(1, 3))), replace=False
        ):
            arguments[name] = spoiled(arguments[name], rng)
            said.append(f"{name} = {arguments[name]!r:.90}")
        yield call, arguments, "; ".join(said)


@contextlib.contextmanager
def interrupted(patience: float) -> Iterator[None]:
    """Interrupts what takes too long, as Ctrl-C does: between two instructions of Python."""

    def stop(*_: Any) -> None:
        raise Interrupted

    if not hasattr(signal, "SIGALRM") or patience == np.inf:  # Windows
        yield
        return
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, patience)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def fault(function: Callable[..., Any], arguments: dict[str, Any], patience: float = PATIENCE) -> str:
    """What a call raised that is not documented, or an empty text."""
    try:
        with interrupted(patience):
            function(**arguments)
    except Interrupted:
        return ""
    except ph.CondyleError as error:
        return "" if str(error) else f"{type(error).__name__} without a message"
    except OSError as error:  # of files
        return "" if {"path", "geometry"} & set(arguments) else repr(error)
    except Exception as error:
        import traceback

        last = traceback.extract_tb(error.__traceback__)
        at = [frame for frame in last if "physics" in frame.filename][-1:]
        place = f"{Path(at[0].filename).name}:{at[0].lineno}" if at else "?"
        return f"{type(error).__name__} at {place}: {error!s:.100}"
    return ""


def sweep(seed: int, seconds: float) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    faults: list[str] = []
    slowest, tried, began = (0.0, ""), 0, time.monotonic()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        calls = all_calls(Path(folder))
        for name, function, arguments in calls:
            raw = fault(function, arguments, np.inf)  # kernels compile
            if raw:
                faults.append(f"{name} as it should be: {raw}")
        for stream in (one_argument(calls, rng), some_arguments(calls, rng)):
            for call, arguments, said in stream:
                if time.monotonic() - began > seconds:
                    break
                faulthandler.dump_traceback_later(HANG, exit=True)
                start = time.monotonic()
                raw = fault(call[1], arguments)
                spent = time.monotonic() - start
                slowest = max(slowest, (spent, f"{call[0]}({said})"))
                if spent > DEAF:
                    faults.append(f"{call[0]}({said}): deaf to interrupts for {spent:.0f} s")
                tried += 1
                if raw:
                    faults.append(f"{call[0]}({said}): {raw}")
    faulthandler.cancel_dump_traceback_later()
    return {"seed": seed, "calls": tried, "faults": faults, "slowest": slowest}


def main() -> None:
    with contextlib.suppress(ImportError):  # not on Windows
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    print(json.dumps(sweep(int(sys.argv[1]), float(sys.argv[2]))))


if __name__ == "__main__":
    main()
