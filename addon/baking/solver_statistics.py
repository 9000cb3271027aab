"""What the solver met in a bake, kept on the scene for the panel."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from bpy.types import Scene

from ..blender import physics_access, units
from ..data import findings, references, schema
from ..data.simulation import INTEGRATORS, BakeStatistics
from ..data.starting import LoopStatistics
from ..reading import scene as scene_to_model

# Bodies that had to be moved farther than this [m, or a turn's sine] to meet their constraints are told.
MOVED = 1e-3
# A model that nothing drives is told if its energy grows by more than this share of what changes its form [J].
GROWN, NOTHING = 0.25, 1e-6
# Work is counted by the forces at steps' ends, which is off by no more than this share.
OFF = 0.05
# Bodies that turn by more than this in a step [rad], and by more than that because their speed changes in it, go where
# no method of fixed steps can follow.
MOST_TURN, MOST_BEND = 0.3, 0.05
# Contacts that are deeper than this [m] are told.
OVERLAP = 1e-3
SHARED = ("drift", "drift_left", "residual", "most_rows", "steps_with_contact", "steps_unmet")


def note(scene: Scene, result: physics_access.Result, seconds: float) -> None:
    """Keep the figures of a bake that came to its end."""
    kept = _cleared(scene)
    kept.integrator = str(result.info.get("integrator", ""))
    kept.steps = int(result.info.get("steps", 0))
    kept.seconds = seconds
    kept.energy_change = float(result.energy[-1, 2] - result.energy[0, 2])
    found = result.info.get("constraints")
    if found is None:
        return
    kept.constrained = True
    for name in SHARED:
        setattr(kept, name, found.get(name, 0))
    peaks = {
        name: float(np.abs(forces).max(initial=0.0)) for name, forces in result.constraint_forces.items()
    }
    if peaks:
        kept.largest = max(peaks, key=lambda name: peaks[name])
        kept.largest_force = peaks[kept.largest]


def failure(scene: Scene, error: Exception) -> findings.Finding:
    """An error of a simulation; where it diverged also what to try, by the names that the panel has."""
    if getattr(error, "kind", type(error).__name__) != "DivergedError":
        return findings.error(None, error)
    settings = scene.condyle.simulation
    code = "diverged-adaptive" if INTEGRATORS[settings.integrator].adaptive else "diverged"
    other = INTEGRATORS["sdirk2" if settings.integrator != "sdirk2" else "bdf1"].label
    return findings.error(None, error, code, step=settings.time_step, method=other)


def note_failure(scene: Scene, error: Exception) -> None:
    """Keep where and why a simulation went wrong; nothing for other errors."""
    details = getattr(error, "details", None) or {}
    if getattr(error, "kind", "") == "DivergedError" and "reason" in details:
        kept = _cleared(scene)
        kept.failed_time, kept.failed_body = float(details["time"]), str(details["body"])
        kept.failed_reason = str(details["reason"])


def forget(scene: Scene) -> None:
    """Clear what the last bake told of itself: its figures, and how well it closes."""
    for kept in (scene.condyle.simulation.statistics, scene.condyle.loop):
        _unset(kept)


def _cleared(scene: Scene) -> BakeStatistics:
    kept = scene.condyle.simulation.statistics
    _unset(kept)
    schema.stamp(scene.condyle)
    return kept


def _unset(kept: BakeStatistics | LoopStatistics) -> None:
    """Each property by itself: what is unset as a whole leaves scripts that look at it with freed memory."""
    for item in kept.bl_rna.properties:
        if item.identifier not in {"rna_type", "name"}:
            kept.property_unset(item.identifier)


def warnings(made: Any, result: physics_access.Result) -> list[findings.Finding]:
    """All findings about a simulation; `made` is its `tasks.Ready`."""
    found = moved_at_start(made.read, result) + on_paths(made.read, result) + overlaps(result)
    return found + (grown(made, result) or turned(made, result))


def on_paths(read: scene_to_model.SceneModel, result: physics_access.Result) -> list[findings.Finding]:
    """A finding for each muscle that ran straight through an obstacle, or slipped off one, and each way of that."""
    codes = {"inside": "wrap-inside", "unsolved": "wrap-unsolved", "slipped": "wrap-slipped"}
    curves = {each.name: references.Handle(each.session_uid) for each in read.muscles}
    return [
        findings.about(curves[name], code, muscle=name, count=each[way], states=each["states"])
        for each in result.info.get("missed_wraps", ())
        for name in (each["muscle"],)
        for way, code in codes.items()
        if each.get(way)
    ]


def turned(made: Any, result: physics_access.Result) -> list[findings.Finding]:
    """A finding where a coordinate that is simulated (`made` is the `tasks.Ready` of its simulation) turns so far in a
    step that the motion is another one.
    """
    model, step = result.model, result.info.get("dt")
    if (
        result.info.get("integrator") not in physics_access.part("integrators").FIXED_STEP
    ):  # it chooses its own steps
        return []
    if not model.num_coordinates:
        return []
    units_of = [unit for body in model.bodies for unit in body.joint.coordinate_units]
    free = (np.array(units_of) == "rad") & ~model.prescribed
    for name in made.options["motions"] or {}:
        free[model.coordinate_slice(name)] = False
    bends = np.abs(np.diff(result.qd, axis=0) / np.diff(result.t)[:, None]).max(axis=0)
    fastest = np.abs(result.qd).max(axis=0) * (free & (step**2 * bends > MOST_BEND))
    most = int(np.argmax(fastest))
    if fastest[most] * step <= MOST_TURN:
        return []
    coordinate, angle = model.coordinate_names[most], float(np.degrees(fastest[most] * step))
    owners = [index for index, body in enumerate(model.bodies) for _ in body.joint.coordinate_units]
    culprit = made.read.handle_of(owners[most])
    return [findings.about(culprit, "big-turn", coordinate=coordinate, angle=angle)]


def from_nowhere(books: dict[str, float]) -> list[findings.Finding]:
    """A finding where books of energy, of ``Result.info["energy"]`` or of a live run's figures, show more than any
    method's error; none where there are no books.
    """
    gained, moving = books.get("gained", 0.0), books.get("most_kinetic", 0.0)
    if gained <= GROWN * moving + OFF * books.get("work", 0.0) + NOTHING:
        return []
    return [findings.about(None, "energy-gained", gained=gained, kinetic=moving)]


def grown(made: Any, result: physics_access.Result) -> list[findings.Finding]:
    """A finding where a model (`made` is the `tasks.Ready` of its simulation) has more energy than it could have: by
    the books of its steps, and where there are none, of what nothing drives, by its samples.
    """
    books = result.info.get("energy")
    if books is not None:
        return from_nowhere(books)
    model, options = made.read.model, made.options
    pushed = options["tau"] is not None and np.any(options["tau"].values)
    driven = (
        pushed or options["motions"] or made.pulls or options.get("controllers") or model.prescribed.any()
    )
    if driven or physics_access.part("integrators.base").springs_leap(model):
        return []
    if any(
        muscle.law is None and not isinstance(muscle.tension, str) and muscle.tension
        for muscle in model.muscles
    ):
        return []
    # what muscles hold at most is not in the sum: no more than their largest force over the length of their fibres
    laws = (muscle.law for muscle in model.muscles)
    held = sum(
        getattr(law, "max_isometric_force", 0.0) * getattr(law, "optimal_fibre_length", 0.0) for law in laws
    )
    energy = result.energy[_simulated(options, result)]
    first, most = float(energy[0, 2]), float(energy[:, 2].max())
    turned = max(first - float(energy[:, 1].min()), 0.0)
    if most - first <= GROWN * turned + held + NOTHING:
        return []
    return [findings.about(None, "energy-grows", first=first, most=most)]


def _simulated(options: Any, result: physics_access.Result) -> np.ndarray:
    """Which samples (F,) came of the dynamics, and not of the blend that closes a loop."""
    blend = options.get("loop", {}).get("blend", 0.0)
    times = np.asarray(result.t)
    return times <= times[-1] - blend + 1e-9  # round-off


def overlaps(result: physics_access.Result) -> list[findings.Finding]:
    """A finding where something is deeper in an obstacle than any step leaves it."""
    found = result.info.get("constraints") or {}
    deep = found.get("overlap", 0.0)
    if deep <= OVERLAP:
        return []
    contact, depth = found["deepest"], units.told_length(deep)
    return [findings.about(bpy.data.objects.get(contact), "contact-overlap", contact=contact, depth=depth)]


def moved_at_start(read: scene_to_model.SceneModel, result: physics_access.Result) -> list[findings.Finding]:
    """A finding where bodies do not stand at the first frame as their joints and constraints together want them."""
    if not read.model.constraints:
        return []
    before = physics_access.physics().body_poses(read.model, read.state)
    away = np.abs(result.poses[0] - before)
    worst = int(np.argmax(away.max(axis=(1, 2))))
    if float(away.max()) <= MOVED:
        return []
    lie = physics_access.physics().lie
    moved = lie.log(lie.inverse(before[worst]) @ result.poses[0, worst])
    apart = units.told_apart(float(np.linalg.norm(moved[3:])), float(np.linalg.norm(moved[:3])))
    joint, changes = _moved_coordinates(read, result.q[0], worst)
    code = "coordinates-by-constraints" if changes else "moved-by-constraints"
    culprit, body = read.handle_of(worst), read.model.body_names[worst]
    return [findings.about(culprit, code, body=body, apart=apart, joint=joint, changes=changes)]


def _moved_coordinates(read: scene_to_model.SceneModel, q: np.ndarray, index: int) -> tuple[str, str]:
    """The nearest joint whose coordinates (nv,) moved the body of this number, and from where to where; else empty."""
    model, called = read.model, {entry.name: entry.joint_name for entry in read.bodies}
    while index >= 0:
        name, joint = model.body_names[index], model.joints[index]
        where = model.coordinate_slice(name)
        rows = zip(
            joint.reading_names,
            joint.reading_units,
            joint.readings(read.state.q[where]),
            joint.readings(q[where]),
        )
        changed = [
            f"{coordinate} from {units.figure(was, unit)} to {units.figure(round(now, 6) + 0.0, unit)}"
            for coordinate, unit, was, now in rows
            if abs(now - was) > MOVED
        ]
        if changed:
            return called.get(name) or name, ", ".join(changed)
        index = int(model.parent[index])
    return "", ""
