"""Targets of inverse kinematics: Empties that bodies follow once, over a range, or live (see `handlers.targets`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np
from bpy.types import Object, Scene
from mathutils import Vector

from ..baked import temporarily
from ..blender import physics_access, units
from ..data import references, schema
from ..data.references import Body
from . import inverse_kinematics


def targets_of(scene: Scene) -> list[Object]:
    """Target Empties of a scene that have a body, sorted by name."""
    found = [item for item in scene.objects if item.type == "EMPTY" and item.condyle.target.enabled]
    found = [item for item in found if references.resolve(item.condyle.target.body) is not None]
    return sorted(found, key=lambda each: each.name)


# Display size of a target: a share of its body, and the largest size [m].
SHARE, LARGEST = 0.2, 0.03


def add_target(scene: Scene, body: Body, place: Sequence[float] | Vector) -> Object:
    """Add a target for the point of a body that is at a place (3,) in the world now; returns its Empty.

    Raises:
        ModelError: no driven joint moves the body.
    """
    wish = inverse_kinematics.point_wish(scene, body, place)
    inverse_kinematics.Reach(scene, [wish])
    item = bpy.data.objects.new(f"{body.bone or body.object.name} Target", None)
    item.show_in_front = True
    size = body.pose_bone.bone.length if body.bone else max(body.object.dimensions)
    usual = LARGEST / units.length_scale(scene)
    item.empty_display_type, item.empty_display_size = "SPHERE", min(usual, SHARE * size) or usual
    homes = [
        each
        for each in body.object.users_collection
        if each.library is None and each.override_library is None
    ]
    (homes or [scene.collection])[0].objects.link(item)
    pose, _ = units.split_scale(body.matrix, body.name, body.owner)
    world = pose.copy()
    world[:3, 3] = place
    item.matrix_world = world.T
    settings = item.condyle.target
    settings.enabled = True
    references.point_at(settings.body, body)
    settings.frame = (physics_access.physics().lie.inverse(pose) @ world).ravel()
    schema.stamp(item.condyle)
    return item


def wish_of(scene: Scene, item: Object) -> inverse_kinematics.Wish:
    """The goal of a target at its present place."""
    settings = item.condyle.target
    body = references.resolve(settings.body)
    if body is None:
        raise physics_access.model_error(f"target {item.name!r}: its body is missing")
    frame = np.array(settings.frame, dtype=np.float64).reshape(4, 4)
    frame = units.split_scale(frame, f"target {item.name!r}")[0]
    goal = units.split_scale(item.matrix_world, f"target {item.name!r}", item)[0]
    return inverse_kinematics.Wish(
        body.handle(), units.to_metres(frame, scene), units.to_metres(goal, scene), settings.use_rotation
    )


def wishes_of(scene: Scene) -> list[inverse_kinematics.Wish]:
    """The goals of all targets; ModelError without targets."""
    found = [wish_of(scene, item) for item in targets_of(scene)]
    if not found:
        raise physics_access.model_error("the scene has no target: select a body and use Add Target")
    return found


def key_range(scene: Scene, first: int, last: int) -> tuple[int, float, int]:
    """Key the sliders so that bodies follow their targets at each frame; restores the current frame.

    Returns:
        Number of frames, the largest distance from a target [m], and its frame.
    """
    if last < first:
        raise physics_access.model_error(f"the frame range is reversed: from {first} to {last}")
    search, worst, at = None, 0.0, first
    found: list[tuple[int, Any]] = []
    with temporarily.at_frame(scene, first):
        for frame in range(first, last + 1):
            scene.frame_set(frame)
            wishes = wishes_of(scene)
            search = search or inverse_kinematics.Reach(scene, wishes)
            if found:  # start from the previous frame
                inverse_kinematics.write(found[-1][1])
            state, outcome = search.solve([wish.goal for wish in wishes], patient=not found)
            for _ in range(20):
                if outcome.met or outcome.done:
                    break
                inverse_kinematics.write(search.readings(state))
                state, outcome = search.solve([wish.goal for wish in wishes])
            found.append((frame, search.readings(state)))
            if float(outcome.distances.max()) > worst:
                worst, at = float(outcome.distances.max()), frame
    for frame, values in found:
        inverse_kinematics.write(values)
        inverse_kinematics.key(values, frame)
    scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)
    return len(found), worst, at


def follow(scene: Scene) -> float | None:
    """Move the bodies towards their targets; returns seconds to the next step, or None at the nearest pose."""
    if not targets_of(scene):
        return None
    try:
        wishes = wishes_of(scene)
        search = inverse_kinematics.Reach(scene, wishes)
        before = search.sliders()
        state, outcome = search.solve([wish.goal for wish in wishes])
        after = search.readings(state)
    except physics_access.physics().CondyleError as error:
        scene.condyle.reach.told = str(error)
        return None
    if outcome.met and all(np.allclose(before[uid], after[uid], atol=1e-7) for uid in after):
        return None
    inverse_kinematics.write(after)
    scene.condyle.reach.told = outcome.told()
    return None if outcome.met or outcome.done else 0.01
