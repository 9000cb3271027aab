"""Bodies follow their targets while the user moves these."""

from __future__ import annotations

from typing import Any

import bpy

from ..blender import idle


@bpy.app.handlers.persistent
def on_update(scene: Any, depsgraph: Any = None) -> None:
    """Handler of depsgraph_update_post: notes that a target may have moved."""
    if depsgraph is None or depsgraph.mode != "VIEWPORT" or not scene.condyle.reach.live:
        return
    for update in depsgraph.updates:
        if update.is_updated_transform and isinstance(update.id, bpy.types.Object):
            item = update.id.original
            if item.type == "EMPTY" and item.condyle.target.enabled:
                if not bpy.app.timers.is_registered(follow):
                    bpy.app.timers.register(follow, first_interval=0.0)
                return


def follow() -> float | None:
    """Draw the bodies to their targets; asks to be called again where there are nearer poses."""
    if idle.is_evaluating():
        return idle.WAIT
    import numpy as np

    from ..blender import physics_access, session
    from ..posing import ik_targets, inverse_kinematics

    scene = bpy.context.scene
    if (
        session.read_only
        or session.job is not None
        or not scene.condyle.reach.live
        or not ik_targets.targets_of(scene)
    ):
        return None
    try:
        wishes = ik_targets.wishes_of(scene)
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


def start() -> None:
    """Begin to watch; nothing where there is no user who moves things."""
    if not bpy.app.background:
        bpy.app.handlers.depsgraph_update_post.append(on_update)


def stop() -> None:
    """Watch no more."""
    if on_update in bpy.app.handlers.depsgraph_update_post:
        bpy.app.handlers.depsgraph_update_post.remove(on_update)
    if bpy.app.timers.is_registered(follow):
        bpy.app.timers.unregister(follow)
