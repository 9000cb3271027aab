"""Draws paths over obstacles in the 3D view before a bake; the curves of other muscles already show theirs."""

from typing import Any

import numpy as np
from bpy.types import Context, Object, Scene

from ...blender import physics_access, session
from ...data.property_options import active_muscle
from ...reading import muscle_lengths, muscle_points
from .pieces import Kept, painted

COLOR, WIDTH = (1.0, 0.50, 0.38), 2.5
_lines = Kept()
_seen = -1  # changes of the session at the last redraw
_budget = muscle_lengths.Budget(moving=False)


def forget() -> None:
    """Drop all drawings."""
    _lines.forget()
    muscle_lengths.forget()


def visible(context: Context) -> list[tuple[Any, bool]]:
    """The muscles whose path is drawn, and whether each is active; a redraw begins."""
    global _budget, _seen
    playing = context.screen is not None and context.screen.is_animation_playing
    _budget = muscle_lengths.Budget(playing or session.live is not None or session.changes != _seen)
    _seen = session.changes
    at_hand = active_muscle(context)
    return [
        (item, item == at_hand)
        for item in muscle_points.muscles_of(context.scene)
        if len(item.condyle.muscle.obstacles) and item.condyle.muscle.own_curve is None and item.visible_get()
    ]


def lines(scene: Scene, item: Object, strength: float) -> Any:
    """Coloured lines of a muscle's path, cached until the path changes; None if it has none."""
    try:
        path = muscle_lengths.path_now(scene, item, _budget)
    except physics_access.physics().CondyleError:
        return None
    ends = np.stack([path[:-1], path[1:]], axis=1)
    key = path.tobytes(), strength
    return _lines.of(item.session_uid, key, lambda: [painted(WIDTH, ends, COLOR, strength)])
