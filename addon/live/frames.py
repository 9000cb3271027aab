"""Which frames a live run reads, and what leads it: what ends as it began goes round, the rest stays as it was last."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

import bpy
import numpy as np
from bpy.types import ID, Constraint, FCurve, Scene

from ..animation import led_joints, motions
from ..baked import temporarily
from ..blender import compat, physics_access
from ..data import findings, frame_times, references
from ..jobs import shot
from ..reading import carriers, muscle_points

# Keys this many frames beyond the scene's range are read, not more: each frame takes Blender some milliseconds.
MOST_BEYOND = 500
# What of an object moves it or a joint; all else of it may be keyed as long as it likes.
BONE = "pose.bones["
LEADING = ("location", "rotation_", "scale", "delta_", "condyle.", "field.", "constraints[", '["', BONE)
# Poses at both ends of what repeats itself are nearer than this [m, rad]; figures than this share of what they go
# through.
SAME_POSE, SAME_SHARE = 1e-4, 1e-3

#: frame at a time of a run [s]
Playhead = Callable[[float], float]


def frames(scene: Scene) -> np.ndarray:
    """Whole frames (F,) from the scene's first to its last, or to the last key of what leads its joints and muscles; to
    the end of whole cycles of all curves that repeat themselves, where that is no more than `MOST_BEYOND`. Keys of a
    bake that is in place are none of these.
    """
    first, last = (int(end) for end in frame_times.frame_range(scene)[[0, -1]])
    most = last + MOST_BEYOND
    with temporarily.without_bake(scene):
        spans = list(_spans(scene))
    last = min(int(np.ceil(max([last, *(end for _, end, _ in spans)]) - 1e-6)), most)
    cycles = np.unique([cycle for begin, end, cycle in spans if cycle > 0.0 and end > begin])
    if len(cycles):
        lengths = np.arange(max(last - first, 1), most - first + 1)
        turns = lengths[:, None] / cycles
        whole = lengths[(np.abs(turns - np.round(turns)) < 1e-6).all(axis=1)]
        last = first + int(whole[0]) if len(whole) else last
    return np.arange(first, last + 1.0)


def _leading(scene: Scene) -> Iterator[ID]:
    """Joints, bodies, muscles, and what they hang on in Blender, each once."""
    waiting = [*references.joints_of(scene), *(body.object for body in _led(scene))]
    waiting += muscle_points.muscles_of(scene)
    known = set()
    while waiting:
        item = waiting.pop()
        if item is None or item.session_uid in known:
            continue
        known.add(item.session_uid)
        waiting += [item.parent, *(getattr(each, "target", None) for each in _active(item.constraints))]
        yield item


def _led(scene: Scene) -> list[references.Body]:
    """Bodies, and what else they hang on or touch."""
    return [*references.bodies_of(scene), *carriers.wanted(scene)]


def _active(constraints: Iterable[Constraint]) -> list[Constraint]:
    return [each for each in constraints if not each.mute]


def _bones(scene: Scene) -> dict[int, set[str] | None]:
    """Names of the bones that lead bodies, by their armature's number: bodies and what they hang on; None where
    constraints may bring in any other.
    """
    found: dict[int, set[str] | None] = {}
    for body in _led(scene):
        bone = body.pose_bone
        while bone is not None:
            known = found.setdefault(body.object.session_uid, set())
            if known is None or _active(bone.constraints):
                found[body.object.session_uid] = None
                break
            known.add(bone.name)
            bone = bone.parent
    return found


def _spans(scene: Scene) -> Iterator[tuple[float, float, float]]:
    """First and last frame of every curve and strip that leads something, and its cycle in frames, 0 where it has
    none.
    """
    bones = _bones(scene)
    for item in _leading(scene):
        data = item.animation_data
        if data is None:
            continue
        for curve in compat.curves_in_use(item):
            if curve.mute or not len(curve.keyframe_points) or not _moves(curve, bones.get(item.session_uid)):
                continue
            begin, end = curve.range()
            yield begin, end, _cycle(curve) * (end - begin)
        if data.use_nla:
            for track in data.nla_tracks:
                for strip in () if track.mute else compat.flat_strips(track.strips):
                    yield strip.frame_start, strip.frame_end, 0.0


def _moves(curve: FCurve, bones: set[str] | None) -> bool:
    """Whether a curve may lead something: not colours and the like, nor bones (None: any) that carry no body."""
    if bones is not None and curve.data_path.startswith(BONE):
        return any(
            curve.data_path.startswith(f'{BONE}"{bpy.utils.escape_identifier(name)}"]') for name in bones
        )
    return curve.data_path.startswith(LEADING)


def _cycle(curve: FCurve) -> float:
    """How many times the keys' span after which a curve repeats itself; 0 where it does not."""
    for each in curve.modifiers:
        if each.type == "CYCLES" and not each.mute and each.cycles_after == 0:
            return {"REPEAT": 1.0, "REPEAT_OFFSET": 1.0, "MIRROR": 2.0}.get(each.mode_after, 0.0)
    return 0.0


def repeating(made: shot.Plan, times: np.ndarray) -> tuple[dict[str, Any], list[findings.Finding]]:
    """Keywords of physics' `Repeating` for what leads a run at these times (F,) of its frames, and findings about what
    does not go round.
    """
    model = made.read.model
    around, drawn, stay = list[str](), list[str](), list[str]()
    anew: dict[str, float] = {}
    for entry in (*made.read.bodies, *made.read.leaders):
        motion, pull = made.options["motions"].get(entry.name), made.pulls.get(entry.name)
        for given, goes in ((motion, around), (pull, drawn)):
            if given is None or not (np.ptp(given.values, axis=0).any() or _switches(given)):
                continue
            whole = given.times[0] == times[0] and given.times[-1] == times[-1]
            joint, again = model.joints[model.index(entry.name)], made.again.get(entry.name)
            comes_back = not whole or motions.comes_back(joint, given.values, SAME_POSE)
            if _fades(given, times) or not (comes_back or again is False or (again and _counts(joint))):
                stay.append(entry.joint_name or entry.name)
                continue
            goes.append(entry.name)
            if not comes_back and not again:
                anew[entry.name] = made.options["record_interval"]
    over, onward = _controlled(model, made.options["tau"], made.again)
    columns = _columns(model, made.options["tau"], stay, over | onward)
    controllers = list[str]()
    for name, controller in made.options.get("controllers", {}).items():
        around_too = _goes_round(controller.target.values)
        (controllers if around_too else stay if around_too is False else []).append(name)
    told = []
    if stay:
        names, last = findings.few(sorted(set(stay))), float(made.frames[-1])
        told.append(findings.about(None, "animation-ends", names=names, frame=last))
    chosen = {"motions": around, "pulls": drawn, "inputs": columns, "controllers": controllers, "anew": anew}
    chosen["onward"] = [name for name in columns if name in onward]
    if not any(chosen.values()):
        return {}, told
    start = made.read.state.time
    return {"start": start, "period": float(times[-1] - times[0]), **chosen}, told


def playhead(made: shot.Plan, around: Collection[str], fps: float) -> Playhead | None:
    """Where the scene is to be at times of a run, so that what is not simulated moves along; None: nothing does.

    around: names of the motions that go round. Curves that repeat themselves do so behind the last frame, too.
    """
    leaders = [entry.name for entry in made.read.leaders]
    if not leaders:
        return None
    first, last = float(made.frames[0]), float(made.frames[-1])
    returns = any(name in around and name not in made.again for name in leaders)

    def at(time: float) -> float:
        passed = time * fps
        return first + (passed % (last - first) if returns else passed)

    return at


def _controlled(
    model: physics_access.Model, table: physics_access.Table | None, again: dict[str, bool]
) -> tuple[set[str], set[str]]:
    """Names of the inputs of controllers that start over as they began, and of the targets of those that go on: as far
    as curves that repeat themselves go on from there, or by what brings a joint back, as whole turns.
    """
    over: set[str] = set()
    onward: set[str] = set()
    columns = {name: k for k, name in enumerate((*model.coordinate_names, *model.input_names))}
    for controller in () if table is None else model.controllers:
        joint, goes_on = model.joints[controller.body], again.get(model.body_names[controller.body])
        names = [each.name for each in controller.inputs(model.bodies)]
        targets = [name for name in names if name.endswith(".target")]
        q = table.values[:, [columns[name] for name in targets]]
        if (goes_on and _counts(joint)) or motions.comes_back(joint, q, SAME_POSE):
            onward.update(targets)
        elif goes_on is False:
            over.update(names)
    return over, onward


def _counts(joint: physics_access.Joint) -> bool:
    """Whether the sliders of a joint are its coordinates, each by itself: what they go on by these do."""
    return joint.reading_names == joint.coordinate_names and led_joints.rotation_vector(joint) is None


def _switches(given: physics_access.Motion | physics_access.Pull) -> bool:
    """Whether a motion is given at times, or a pull's weight changes."""
    windows, weights = getattr(given, "windows", None), getattr(given, "weights", np.zeros(1))
    return windows is not None or bool(np.ptp(weights) > 0.0)


def _fades(given: physics_access.Motion | physics_access.Pull, times: np.ndarray) -> bool:
    """Whether a pull ends stronger or weaker than it begins, or a motion is given at one end of these times alone."""
    windows, weights = getattr(given, "windows", None), getattr(given, "weights", np.zeros(1))
    switched = windows is not None and (windows[0][0] <= times[0]) != (windows[-1][1] >= times[-1])
    return bool(switched or abs(weights[-1] - weights[0]) > SAME_SHARE)


def _columns(
    model: physics_access.Model, table: physics_access.Table | None, stay: list[str], over: set[str]
) -> list[str]:
    """Names of the columns of a table that repeat themselves; those that do not are added to what stays.

    over: names of inputs of controllers whose targets start over, or go on.
    """
    if table is None:
        return []
    values, found = table.values, []
    names = (*model.coordinate_names, *model.input_names)
    for name, column in zip(names, values.T):
        if name.endswith(".rate") and f"{name[:-5]}.target" in names:
            continue  # goes with its target
        goes = _goes_round(column)
        if goes is None:
            continue
        goes |= name in over
        if not goes:
            stay.append(name)
            continue
        found.append(name)
        if name.endswith(".target"):
            found.append(f"{name[:-7]}.rate")
    return found


def _goes_round(values: np.ndarray) -> bool | None:
    """Whether figures (F,) end as they began; None where they are the same all the time."""
    reach = float(np.ptp(values))
    if reach == 0.0:
        return None
    return bool(abs(values[-1] - values[0]) <= SAME_SHARE * reach)
