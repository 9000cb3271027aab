"""Rules by which a run is doubtful, on what it records anyway (`model.diagnosis` says what they find)."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from .._typing import BoolArray, FloatArray
from ..bodies.state import State
from ..dynamics import body_poses
from ..forces import ForceField, Wrench
from ..geometry import lie
from ..integrators import FIXED_STEP
from ..integrators.base import Problem, springs_leap
from ..kernels.stepping import motion_layout
from ..model.coordinates import rotation_coordinates
from ..model.diagnosis import Finding
from ..model.model import Model
from ..model.observation import observe
from ..model.result import Result

# A model that nothing drives may gain this share of what changes its form [J]: more than any method's own error.
GROWN, NOTHING = 0.25, 1e-6
# Work is counted by the forces at steps' ends, which is off by no more than this share.
OFF = 0.05
# Samples at which energy is compared where its books are not kept.
LOOKS = 200
# Bodies that turn by more than this in a step [rad], and by more than that because their speed changes in it, go where
# no method of fixed steps can follow.
MOST_TURN, MOST_BEND = 0.3, 0.05
# Symplectic Euler shortens the period of an oscillation by a twentieth where a step is this much of it [rad]; the
# oscillation counts if it moves a coordinate by this in a step [rad or m], among so many samples after a transient.
MOST_PHASE, MOVES, AMONG, TRANSIENT = 1.0, 1e-3, 100, 16
# Contacts deeper than this [m] are reported: in one step the curved path of a fast foot goes in by half of that.
OVERLAP = 3e-3
# Impulses are solved to 1e-9 of their size.
RESIDUAL = 1e-3
# Bodies that were moved farther than this [m, or sine of a turn] to meet their constraints are reported.
MOVED = 1e-3
# So are velocities that change by more than this share of the largest: those taken from an animation are less off.
FASTER, STILL = 0.05, 1e-3
# Steps that failed, and were taken in parts, are told from this share of all on.
DIVIDED = 0.01
# Times are rounded to more than this share of a step.
ROUNDED = 0.01


def diagnosis(problem: Problem, result: Result) -> list[Finding]:
    """Findings about a motion so far, but those about muscles' paths; values are as `model.diagnosis` has them."""
    books, told, method = result.info.get("energy"), result.info.get("constraints"), result.info["integrator"]
    found = [*problem.findings, *(solver_findings(told) if told else ())]
    divided = {"count": result.info.get("divided", 0), "steps": result.info.get("steps", 0)}
    if divided["count"] > DIVIDED * divided["steps"]:
        found.append(Finding("steps-divided", divided))
    if len(result.t) < 2 or not problem.model.num_coordinates:
        return found
    gained = energy_grown(problem, result) if books is None else energy_gained(books)
    found += gained
    # a few microseconds: most runs end here
    fastest = problem.dt * max(float(result.qd.max()), -float(result.qd.min()))
    if method not in FIXED_STEP or fastest <= MOVES:
        return found
    if not gained and fastest > MOST_TURN:
        found += big_turn(problem, result)
    if gained or books is None or method == "rk4":  # the energy of all other methods shows it
        found += stiff_step(problem, result)
    return found


def nothing_found(problem: Problem, books: FloatArray, qd: FloatArray) -> BoolArray:
    """Which runs (R,) surely have no finding, by gained and kinetic energy and work (R, 3), and q' (R, T, nv)."""
    gained, moving, work = books.T
    slow = problem.dt * np.abs(qd).max(axis=(1, 2), initial=0.0) <= MOVES
    return slow & (gained <= GROWN * moving + OFF * work + NOTHING)


def energy_gained(books: Mapping[str, float]) -> list[Finding]:
    """A finding where books of energy, as in ``Result.info["energy"]``, show more than any method's error."""
    gained, moving = books.get("gained", 0.0), books.get("most_kinetic", 0.0)
    if gained <= GROWN * moving + OFF * books.get("work", 0.0) + NOTHING:
        return []
    return [Finding("energy-gained", {"gained": gained, "kinetic": moving})]


def energy_grown(problem: Problem, result: Result) -> list[Finding]:
    """A finding where what nothing drives has more energy than it had, by its samples."""
    model = problem.model
    if _driven(problem) or springs_leap(model):
        return []
    # the sum lacks the energy in muscles: at most their largest force over the length of their fibres
    held = sum(
        getattr(each.law, "max_isometric_force", 0.0) * getattr(each.law, "optimal_fibre_length", 0.0)
        for each in model.muscles
    )
    rows = np.unique(np.linspace(0, len(result.t) - 1, LOOKS).astype(int))
    if model.soft_bodies:
        energy = result.energy[rows]
    else:
        energy = observe(model, result.q[rows], result.qd[rows], anywhere=True)[1]
    first, most = float(energy[0, 2]), float(energy[:, 2].max())
    turned = max(first - float(energy[:, 1].min()), 0.0)
    if most - first <= GROWN * turned + held + NOTHING:
        return []
    return [Finding("energy-grows", {"first": first, "most": most})]


def _driven(problem: Problem) -> bool:
    """Whether something may put energy in of which the total does not know."""
    model = problem.model
    return bool(
        problem.control is not None
        or problem.steer is not None
        or problem.tau[1].any()
        or len(problem.motions[0])
        or model.prescribed.any()
        or model.controllers
        or model.feedback_laws
        or any(isinstance(force, Wrench | ForceField) and not force.stores_all for force in model.forces)
        or any(
            each.law is None and not isinstance(each.tension, str) and each.tension for each in model.muscles
        )
    )


def _simulated(problem: Problem) -> BoolArray:
    """Mask (nv,) of the coordinates that no motion prescribes."""
    free = ~problem.model.prescribed
    free[problem.motions[0][:, motion_layout.CHANNEL_COORDINATE].astype(int)] = False
    return free


def big_turn(problem: Problem, result: Result) -> list[Finding]:
    """A finding where a free coordinate turns so far in a step that the motion is another one."""
    model, step = problem.model, problem.dt
    turns = np.array([unit == "rad" for body in model.bodies for unit in body.joint.coordinate_units])
    between = np.diff(problem.samples[: len(result.t)])[:, None]
    bent = step**2 * np.abs(np.diff(result.qd, axis=0) / between).max(axis=0) > MOST_BEND
    angles = step * np.abs(result.qd).max(axis=0) * (_simulated(problem) & turns & bent)
    return _worst(model, "big-turn", angles, MOST_TURN)


def stiff_step(problem: Problem, result: Result) -> list[Finding]:
    """A finding where a free coordinate mostly swings, through much of a period in a step; not where things may hit."""
    model, q = problem.model, result.q[TRANSIENT:]
    sparse = problem.samples[1] - problem.samples[0] > 1.001 * problem.dt
    if "constraints" in result.info or problem.control is not None or sparse or len(q) < 3:
        return []
    free = _simulated(problem)
    free[rotation_coordinates(model)] = False  # these jump where their chart changes
    angles = np.maximum(_phases(q[:AMONG]), _phases(q[-AMONG:])) * free
    return _worst(model, "stiff-step", angles, MOST_PHASE)


def _phases(q: FloatArray) -> Any:
    """Of coordinates (T, nv) that swing, the angle (nv,) w h of a step h; 0 for those that hardly move."""
    # of sin(w t) second differences are 2 sin(w h / 2) times the first ones
    first = np.diff(q, axis=0)
    size, turn = (np.sqrt(np.mean(each**2, axis=0)) for each in (first, np.diff(first, axis=0)))
    return 2.0 * np.arcsin(np.minimum(0.5 * turn / np.maximum(size, MOVES), 1.0)) * (size > MOVES)


def _worst(model: Model, code: str, angles: Any, most: float) -> list[Finding]:
    """A finding about the coordinate with the largest of angles (nv,), if that is more than most."""
    d = int(np.argmax(angles))
    return [Finding(code, {**_coordinate(model, d), "angle": float(angles[d])})] if angles[d] > most else []


def solver_findings(told: Mapping[str, Any]) -> list[Finding]:
    """Findings in ``Result.info["constraints"]``: deep penetrations, and equations that could not be solved."""
    found = []
    if told["overlap"] > OVERLAP:
        found.append(Finding("contact-overlap", {"contact": told["deepest"], "depth": told["overlap"]}))
    if told["residual"] > RESIDUAL:
        found.append(Finding("contacts-unmet", {"residual": told["residual"]}))
    if told["steps_unmet"]:
        values = {"steps": told["steps_unmet"], "drift": told["drift_left"]}
        found.append(Finding("constraints-unmet", values))
    return found


def at_start(model: Model, given: State, state: State) -> list[Finding]:
    """Findings where a state had to be changed much to meet the constraints; a velocity's is in rad/s or m/s.

    "joint" is the nearest body up the tree whose coordinates changed, and "changes" lists these with unit, value
    before and after; empty if there is none.
    """
    found: list[Finding] = []
    if not model.constraints:
        return found
    if np.abs(state.q - given.q).max(initial=0.0) > 1e-3 * MOVED:
        before, after = body_poses(model, given), body_poses(model, state)
        away = np.abs(after - before).max(axis=(1, 2))
        worst = int(np.argmax(away))
        moved = lie.log(lie.inverse(before[worst]) @ after[worst])
        values = {"body": model.body_names[worst], **_changes(model, given, state, worst)}
        values |= {"distance": float(np.linalg.norm(moved[3:])), "angle": float(np.linalg.norm(moved[:3]))}
        found += [Finding("moved-by-constraints", values)] if away[worst] > MOVED else []
    changed = np.abs(state.qd - given.qd) * (given.qd != 0.0)  # those left at 0 may follow the others
    d = int(np.argmax(changed)) if len(changed) else 0
    if changed.max(initial=0.0) > FASTER * np.abs(given.qd).max(initial=0.0) + STILL:
        values = {**_coordinate(model, d), "before": float(given.qd[d]), "after": float(state.qd[d])}
        found.append(Finding("velocities-by-constraints", values))
    return found


def _changes(model: Model, given: State, state: State, index: int) -> dict[str, Any]:
    while index >= 0:
        name, joint = model.body_names[index], model.joints[index]
        where = model.coordinate_slice(name)
        was, now = joint.readings(given.q[where]), joint.readings(state.q[where])
        rows = zip(joint.reading_names, joint.reading_units, was, now)
        changed = [[read, unit, float(a), float(b)] for read, unit, a, b in rows if np.abs(b - a) > MOVED]
        if changed:
            return {"joint": name, "changes": changed}
        index = int(model.parent[index])
    return {"joint": "", "changes": []}


def late_start(time: float, dt: float) -> list[Finding]:
    """A finding where numbers near a time [s] are so far apart that steps are recorded at other times."""
    spacing = math.ulp(time)
    return [Finding("late-start", {"time": time, "spacing": spacing})] if spacing > ROUNDED * dt else []


def _coordinate(model: Model, d: int) -> dict[str, str]:
    """Names of a coordinate and of its body, and its unit."""
    owners = [(body.name, unit) for body in model.bodies for unit in body.joint.coordinate_units]
    return {"coordinate": model.coordinate_names[d], "body": owners[d][0], "unit": owners[d][1]}
