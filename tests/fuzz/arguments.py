"""Calls public functions (calls.txt) with valid arguments of which one or two are replaced by bad ones."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import physics as ph
from tests.fuzz.sweeps import Try
from tests.physics.io import osim
from tests.physics.small_models import alone

PATIENCE = 2.0  # seconds after which a call is interrupted

Call = tuple[str, Callable[..., Any], dict[str, Any]]

#: hardly any argument takes one of these; `fresh` is an array of random shape
BAD = """None | Odd() | Odd | lambda *_: 1.0 | "text" | "" | "a\\0b" | b"x" | True | 2**70 | -(2**70) | 10**12 | 10**10
    | -1 | 0 | 1e-320 | 1e308 | -1e300 | 0.5 | nan | inf | 1 + 2j | [[1.0], [1.0, 2.0]] | array([1 + 2j] * 3)
    | np.ma.masked_array([1.0, 2.0, 3.0], [False, True, False]) | array([None, Odd()], dtype=object)
    | array(["a", "b"]) | np.full(3, nan) | np.full(3, 1e-320) | np.full((4, 4), 1e308) | ones(3, dtype=bool)
    | array(["2020-01-01"], dtype="datetime64[D]") | zeros((0, 3)) | [] | {} | {"text": 1.0} | {None: None} | {1.0, 2.0}
    | fresh | np.broadcast_to(1.0, (10**12,)) | [None] | [[[]]] | MODEL | STATE | joints.Hinge()"""


class Odd:
    """Has nothing that any function needs."""

    def __init__(self, *_: Any) -> None:
        """Takes anything, as a callback too."""


def pendulum() -> ph.ModelBuilder:
    builder = alone("a", ph.joints.Hinge((0, 1, 0)), **SOLID)
    below = ph.lie.exp([0, 0, 0, 0, 0, -1])
    builder.add_body("b", "a", joint=ph.joints.Spherical(), joint_in_parent=below, **SOLID)
    builder.add_input("push", 1.0)
    return builder


def whole_model() -> ph.Model:
    builder = pendulum()
    builder.add_muscle("m", PATH, mass=0.1, num_points=3, law=ph.muscles.Tension(10.0))
    builder.add_constraint("rod", ph.constraints.DistanceConstraint("b", point=(0, 0, -0.5), length=1.4))
    return builder.build()


SOLID = {"mass": 1.0, "inertia": np.eye(3), "com": np.array([0.0, 0.0, -0.5])}
SOFT = {"stiffness_along": 1.0, "stiffness_across": 1.0, "damping_along": 1.0, "damping_across": 1.0}
TURNING = {"stiffness_rotation": 1.0, "damping_rotation": 1.0}
PATH = [ph.muscles.PathPoint(None, (0.1, 0, 0)), ph.muscles.PathPoint("b", (0.1, 0, -0.2))]
MODEL, FREE = whole_model(), pendulum().build()
STATE = ph.assemble(MODEL, MODEL.state({"a": 0.3, "b": [0.1, 0.9, 0.0]}))
AT = FREE.state({"a": 0.3}, {"a": 0.1})
RESULT = ph.simulate(FREE, AT, 0.01)
TIMES = np.linspace(0.0, 1.0, 12)
MOTION = ph.inverse_dynamics_of_samples(FREE, TIMES, np.zeros((12, 4)))
PUSH, TABLE = ph.ExternalForce("a", TIMES, np.zeros((12, 3))), ph.Table([0.0, 1.0], np.zeros((2, 4)))
TARGET = ph.Target("b", (0.0, 0.1, -0.5))
POSES = np.array([ph.lie.exp(s * np.array([0.0, 0.5, 0.1, 0.3, 0.1, 0.0])) for s in np.linspace(0.0, 2.0, 9)])
NET_Q = np.stack(np.meshgrid(np.linspace(0, 1, 5), np.linspace(0, 1, 5), indexing="ij"), -1).reshape(-1, 2)
NET = np.array([ph.lie.exp([0.0, x, y, x, y, 0.0]) for x, y in NET_Q])
CURVE, KNOTS = ph.joints.SplineCurve(POSES), ph.splines.clamped_knots(7, 4)
BUMPS = 0.1 * np.random.default_rng(1).normal(size=(5, 5, 6))
Z, LINE = (0.0, 0.0, 1.0), ph.joints.Linear()
STILL = tuple((axis, LINE, None) for axis in np.eye(3))


def all_calls(folder: Path) -> list[Call]:
    """The calls of calls.txt, with the files that they read; ``+`` is a method of a new builder."""
    ph.save_model(MODEL, folder / "m.json")
    ph.save_result(RESULT, folder / "r.npz")
    ph.write_storage(folder / "s.sto", np.arange(3.0), {"x": np.zeros(3)})
    hinge = osim.joint("PinJoint", "pin", "/ground", "rod", osim.coordinate("x"))
    opensim = ph.read_opensim(osim.write(folder / "m.osim", osim.body("rod"), hinge))
    files = {"FOLDER": folder, "OPENSIM": opensim, "STORAGE": ph.read_storage(folder / "s.sto")}
    names = vars(np) | vars(ph) | globals() | files | {"turns": ph.exponential_coordinates}
    calls: list[Call] = []
    for line in Path(__file__).with_name("calls.txt").read_text().splitlines():
        called, _, arguments = line.partition(": ")
        for name in () if line.startswith("#") else called.split():
            given = eval(f"dict({arguments})", names)
            calls.append((name, on_builder(name[1:]) if name[0] == "+" else eval(name, names), given))
    return calls


def on_builder(name: str) -> Callable[..., Any]:
    return lambda **arguments: getattr(pendulum(), name)(**arguments)


def bad_values(rng: np.random.Generator) -> dict[str, Any]:
    fresh = rng.normal(size=tuple(rng.integers(0, 5, rng.integers(0, 4))))
    names = vars(np) | vars(ph) | globals() | {"fresh": fresh}
    return {word.strip(): eval(word.strip(), names) for word in BAD.split("|")}


def spoiled(value: Any, rng: np.random.Generator) -> Any:
    """A valid value with one part of it replaced by a bad one."""
    values = list(bad_values(rng).values())
    bad = values[int(rng.integers(len(values)))]
    if isinstance(value, dict) and value:
        key = list(value)[int(rng.integers(len(value)))]
        changed = {k: v for k, v in value.items() if k != key}
        if rng.uniform() < 0.3:
            return {**changed, "strange": value[key]}
        return {**changed, key: spoiled(value[key], rng) if rng.uniform() < 0.5 else bad}
    if type(value) in (list, tuple) and value:
        parts = list(value)
        parts[int(rng.integers(len(parts)))] = bad
        return type(value)(parts)
    if isinstance(value, np.ndarray) and value.size:
        choice = int(rng.integers(6))
        if choice < 3:
            return (value[:-1], value[None], value.T[..., None])[choice]
        changed = value.astype(object if choice == 3 else np.float64)
        wrong = bad if choice == 3 else rng.choice([np.nan, np.inf, 1e308, -1e308, 1e-320, 0.0, -1.0])
        changed.flat[int(rng.integers(value.size))] = wrong
        return changed
    return bad


def replacements(calls: list[Call], rng: np.random.Generator) -> Iterator[tuple[Call, dict[str, Any], str]]:
    """Every argument of every call replaced by every bad value, in random order; then one or two of them spoiled."""
    values = bad_values(rng)
    every = [(call, name, key) for call in calls for name in call[2] for key in values]
    for k in rng.permutation(len(every)):
        call, name, key = every[k]
        yield call, {**call[2], name: values[key]}, f"{name} = {key}"
    while True:
        call = calls[int(rng.integers(len(calls)))]
        count = min(len(call[2]), int(rng.integers(1, 3)))
        chosen = rng.choice(list(call[2]), count, replace=False)
        changed = {name: spoiled(call[2][name], rng) for name in chosen}
        yield call, {**call[2], **changed}, f"{changed!r:.200}"


def fault(function: Callable[..., Any], arguments: dict[str, Any], valid: bool = False) -> str:
    """What a call raised that is wrong, if anything."""
    try:
        function(**arguments)
    except OSError as error:
        return "" if "path" in arguments and not valid else repr(error)
    except ph.CondyleError as error:
        if not valid:
            raise
        return repr(error)
    return ""


def tries(rng: np.random.Generator, folder: Path) -> Iterator[Try]:
    """First all calls as they should be."""
    calls = all_calls(folder)
    for name, function, arguments in calls:
        yield Try(name, "as it should be", partial(fault, function, arguments, True), warm=True)
    for (name, function, _), arguments, said in replacements(calls, rng):
        yield Try(name, said, partial(fault, function, arguments), patience=PATIENCE)
