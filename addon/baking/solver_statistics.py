"""What the solver met in a bake, for the panel and for warnings."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from bpy.types import Scene

from ..animation.scene_model import SceneModel
from ..blender import physics_access, units
from ..data import findings, references
from ..data.simulation import INTEGRATORS

SHARED = ("drift", "drift_left", "residual", "most_rows", "steps_with_contact", "steps_unmet")


def of(result: physics_access.Result, seconds: float) -> dict[str, Any]:
    """The figures of a bake that came to its end, by the names of `BakeStatistics`."""
    kept = {
        "integrator": str(result.info.get("integrator", "")),
        "steps": int(result.info.get("steps", 0)),
        "seconds": seconds,
        "energy_change": float(result.energy[-1, 2] - result.energy[0, 2]),
    }
    found = result.info.get("constraints")
    if found is None:
        return kept
    kept |= {"constrained": True, **{name: found.get(name, 0) for name in SHARED}}
    peaks = {
        name: float(np.abs(forces).max(initial=0.0)) for name, forces in result.constraint_forces.items()
    }
    if peaks:
        largest = max(peaks, key=lambda name: peaks[name])
        kept |= {"largest": largest, "largest_force": peaks[largest]}
    return kept


def failure(scene: Scene, error: Exception) -> findings.Finding:
    """An error of a simulation; where it diverged also what to try, by the names that the panel has."""
    if getattr(error, "kind", type(error).__name__) != "DivergedError":
        return findings.error(None, error)
    settings = scene.condyle.simulation
    code = "diverged-adaptive" if INTEGRATORS[settings.integrator].adaptive else "diverged"
    other = INTEGRATORS["sdirk2" if settings.integrator != "sdirk2" else "bdf1"].label
    return findings.error(None, error, code, step=settings.time_step, method=other)


def of_failure(error: Exception) -> dict[str, Any]:
    """Where and why a simulation went wrong, by the names of `BakeStatistics`; nothing of other errors."""
    details = getattr(error, "details", None) or {}
    if getattr(error, "kind", "") != "DivergedError" or "reason" not in details:
        return {}
    return {
        "failed_time": float(details["time"]),
        "failed_body": str(details["body"]),
        "failed_reason": str(details["reason"]),
    }


def warnings(read: SceneModel, result: physics_access.Result) -> list[findings.Finding]:
    """What a run tells of itself (``Result.diagnosis``), in the scene's names and units."""
    return [_shown(read, each) for each in result.diagnosis]


def from_nowhere(books: dict[str, float]) -> list[findings.Finding]:
    """A finding where books of energy, as of a live run's figures, show more than any method's error."""
    found = physics_access.part("analysis.diagnosis").energy_gained(books)
    return [findings.about(None, each.code, **each.values) for each in found]


def _shown(read: SceneModel, found: Any) -> findings.Finding:
    """A finding of physics as one of the scene."""
    values, code = dict(found.values), found.code
    culprit: Any = None
    if "body" in values:
        culprit = read.handle_of(read.model.body_names.index(values["body"]))
    elif "muscle" in values:
        uids = {each.name: each.session_uid for each in read.muscles}
        culprit = references.Handle(uids[values["muscle"]])
    match code:
        case "moved-by-constraints":
            called = {entry.name: entry.joint_name for entry in read.bodies}
            joint = called.get(values["joint"]) or values["joint"]
            changes = [
                f"{name} from {units.figure(was, unit)} to {units.figure(round(now, 6) + 0.0, unit)}"
                for name, unit, was, now in values["changes"]
            ]
            apart = units.told_apart(values["distance"], values["angle"])
            values = {"body": values["body"], "apart": apart, "joint": joint, "changes": ", ".join(changes)}
            code = "coordinates-by-constraints" if changes else code
        case "contact-overlap":
            item, _, bone = values["contact"].partition(" on ")[0].partition("/")
            culprit = bpy.data.objects.get(item)
            culprit = culprit and references.there(culprit, bone)
            values["depth"] = units.told_length(values["depth"])
        case "big-turn" | "stiff-step":
            values = {"coordinate": values["coordinate"], "angle": float(np.degrees(values["angle"]))}
        case "velocities-by-constraints":
            told = {name: units.figure(values[name], values["unit"]) for name in ("before", "after")}
            values |= {name: f"{speed}/s" for name, speed in told.items()}
    return findings.about(culprit, code, **values)
