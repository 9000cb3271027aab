"""Draws joints over the 3D view: axes, paths, limits, present places, numbered control frames, ghosts of fits.

All lines of one width are one GPU batch in the world, rebuilt only when something has moved.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import blf
import bpy
import gpu
import numpy as np
from bpy.types import Context, Object, Scene
from gpu_extras.batch import batch_for_shader

from ...data import references
from ...data.joints import is_baked_over
from ...data.overlay import OverlayProperties
from ...data.property_options import active_joint
from ...posing import picking
from . import colliders, connections, ghosts, muscles, swept
from .pieces import STYLES, Lines, painted, piece_lines
from .shown import Shown, moving_frame, readings, shown

TOGGLES = {
    "show_axes": ("axis", "frame_x", "frame_y", "frame_z"),
    "show_curves": ("surface", "path"),
    "show_limits": ("limit",),
    "show_values": ("value",),
    "show_samples": ("sample_x", "sample_y", "sample_z"),
}
FULL, DIM, BEHIND = 1.0, 0.4, 0.18
CONTROL_WIDTH, GHOST_WIDTH, SWEPT_WIDTH = 1.5, 1.5, 1.2
NUMBER_COLOR, NUMBER_SIZE = (1.0, 1.0, 1.0, 0.9), 11.0
# At most MOST_NUMBERS control frames are numbered (every second, fifth ...), and only the first of several within
# NUMBER_ROOM pixels.
MOST_NUMBERS, NUMBER_STEPS = 25, (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
NUMBER_ROOM = (22.0, 15.0)

_drawn: Any = None  # key and batches of the last drawing


def forget() -> None:
    """Drop all drawings; called when the add-on is disabled."""
    global _drawn
    _drawn = None
    for kind in (colliders, connections, muscles):
        kind.forget()


def _overlays_shown(context: Context) -> bool:
    space = context.space_data
    overlays = space is None or getattr(getattr(space, "overlay", None), "show_overlays", True)
    return bool(context.scene.condyle.overlay.show and overlays)


def visible_joints(context: Context) -> list[tuple[Any, float]]:
    """The joints to draw and their opacity (0 to 1), the active one last."""
    settings = context.scene.condyle.overlay
    if not _overlays_shown(context):
        return []
    at_hand = active_joint(context)
    strength = {"SHOWN": FULL, "DIMMED": DIM, "HIDDEN": 0.0}[settings.others] if at_hand else FULL
    found = [(item, strength) for item in references.joints_of(context.scene) if item != at_hand]
    if at_hand is not None:
        found.append((at_hand, FULL))
    return [(item, share) for item, share in found if share > 0.0 and item.visible_get()]


def roles_shown(settings: OverlayProperties) -> tuple[str, ...]:
    return tuple(role for name, roles in TOGGLES.items() if getattr(settings, name) for role in roles)


@dataclass(frozen=True, eq=False)
class Part:
    """Lines that move together, and their place in the world (4, 4)."""

    name: str
    lines: list[Lines]
    place: np.ndarray


def control_lines(known: Shown, strength: float) -> list[Lines]:
    """Axes of a joint's control frames, in its frame."""
    origins = np.repeat(known.frames[:, None, :3, 3], 3, axis=1)
    tips = origins + known.frame_size * known.frames[:, :3, :3].transpose(0, 2, 1)
    colors = [STYLES[role][0] for role in ("frame_x", "frame_y", "frame_z")]
    ends = np.stack([origins, tips], axis=2).reshape(-1, 2, 3)
    return [painted(CONTROL_WIDTH, ends, np.tile(colors, (len(known.frames), 1)), strength)]


def joint_parts(scene: Scene, item: Object, strength: float, track: bool = True) -> Iterator[Part]:
    """All parts of a joint's drawing now; `track` as in `placed_pieces`."""
    settings = scene.condyle.overlay
    known = shown(scene, item)
    base = np.array(item.matrix_world.normalized())
    name, roles = item.name_full, roles_shown(settings)
    if known.sketch is not None:
        pieces = known.kept(
            ("joint", roles, strength),
            lambda: [piece_lines(piece, roles, known.metre, strength) for piece in known.sketch.pieces],
        )
        for lines, frame in zip(pieces, placed_pieces(scene, item, known, track)):
            yield Part(name, lines, base @ frame)
    if settings.show_frames and len(known.frames):
        yield Part(name, known.kept(("frames", strength), lambda: control_lines(known, strength)), base)
    # only for the active joint: the frames of all joints would clutter the view
    if strength == FULL and swept.has_path(known.joint) and len(item.condyle.joint.coordinates) == 1:
        yield from _swept_parts(scene, item, strength, base)
    if ghosts.wanted(item):
        residuals = ghosts.residuals_of(item)
        key = ("ghosts", strength, *(array.tobytes() for array in residuals))

        def made() -> list[Lines]:
            ends, colors = ghosts.lines(item, known, 0.5 * known.frame_size)
            return [painted(GHOST_WIDTH, ends, colors, strength)]

        yield Part(name, known.kept(key, made), base)


def _swept_parts(scene: Scene, item: Object, strength: float, base: np.ndarray) -> Iterator[Part]:
    """Axes, and outlines of the child, along a joint with one coordinate."""
    settings, known = scene.condyle.overlay, shown(scene, item)
    if not (settings.show_swept or settings.show_poses):
        return
    found = known.kept(
        ("swept", strength, *swept.style_of(item, settings)), lambda: swept.along(item, known, settings)
    )
    swept_lines = known.kept(
        ("swept lines", strength, *swept.style_of(item, settings)),
        lambda: [painted(SWEPT_WIDTH, ends, colors, strength) for ends, colors in found if len(ends)],
    )
    if swept_lines:
        yield Part(item.name_full, swept_lines, base)
    if settings.show_swept and found and len(found[0][0]):
        values, joint = readings(scene, item), item.condyle.joint
        by_sliders = joint.driven and not is_baked_over(joint)
        here = float((values if by_sliders else known.where(values))[0])
        if known.axis is None or known.axis[0] != (here, strength):
            lines = painted(2.0 * SWEPT_WIDTH, swept.now(known, here), swept.AXIS_COLOR, strength)
            known.axis = (here, strength), [lines]
        yield Part(item.name_full, known.axis[1], base)


def _linked(context: Context, kind: Any, toggle: str) -> Iterator[tuple[Any, float]]:
    """Visible connections or muscles, `kind` being the module that draws them, and how strongly each is drawn."""
    settings = context.scene.condyle.overlay
    if not (_overlays_shown(context) and getattr(settings, toggle)):
        return
    share = {"SHOWN": FULL, "DIMMED": DIM, "HIDDEN": 0.0}[settings.others]
    found = kind.visible(context)
    anyone = any(at_hand for _, at_hand in found)
    for item, at_hand in found:
        yield item, FULL if at_hand or not anyone else share


def connection_parts(context: Context) -> Iterator[Part]:
    """All parts of the drawings of constraints, springs and ground now."""
    for item, strength in _linked(context, connections, "show_connections"):
        if not item.condyle.connection.active:
            strength *= DIM
        shape = connections.drawing(context.scene, item) if strength > 0.0 else None
        if shape is not None:
            lines = connections.lines(item, shape, strength)
            yield Part(item.name_full, lines, np.eye(4))


def muscle_parts(context: Context) -> Iterator[Part]:
    """All parts of the drawings of muscles now."""
    for item, strength in _linked(context, muscles, "show_muscles"):
        lines = muscles.lines(context.scene, item, strength) if strength > 0.0 else None
        if lines is not None:
            yield Part(item.name_full, lines, np.eye(4))


def collider_parts(context: Context) -> Iterator[Part]:
    """All parts of the drawings of colliders now."""
    if _overlays_shown(context):
        for body in colliders.visible(context):
            strength = FULL if body.data.collider.active else DIM
            yield Part(body.name, colliders.lines(body, strength), colliders.place(body))


def placed_pieces(scene: Scene, item: Object, known: Shown, track: bool = True) -> list[np.ndarray]:
    """Places (4, 4) of the pieces of a joint's drawing in its frame, from its sliders, or else from its child.

    track: whether to search for the child's place again if it has moved.
    """
    values = readings(scene, item)
    settings = item.condyle.joint
    by_sliders = settings.driven and not is_baked_over(settings)
    moving = None if by_sliders else moving_frame(item)
    if moving is None:
        return known.placed(values)
    if len(known.sketch.pieces) == 2:  # one fixed and one moving piece
        return [np.eye(4), moving]
    found = known.tracked(moving, values, track)
    return known.placed(values if found is None else found)


class Brush:
    """Draws coloured lines in one pass, or in two where lines behind objects are dimmed."""

    def __init__(self, behind: str) -> None:
        self.shader = gpu.shader.from_builtin("POLYLINE_FLAT_COLOR")
        self._state, self._batch = gpu.state, batch_for_shader
        self.passes = {
            "SHOWN": (("NONE", 1.0),),
            "HIDDEN": (("LESS_EQUAL", 1.0),),
            "DIMMED": (("GREATER", BEHIND), ("LESS_EQUAL", 1.0)),
        }[behind]

    def made(self, lines: Iterable[Lines]) -> list[tuple[float, list[Any]]]:
        """Batches of lines in the world: for each width, one per pass."""
        widths: dict[float, list[Lines]] = {}
        for each in lines:
            widths.setdefault(each.width, []).append(each)
        result = []
        for width, group in sorted(widths.items()):
            group = [each for each in group if len(each.ends)]  # a batch of no lines is an error
            if not group:
                continue
            points = np.concatenate([each.ends for each in group]).reshape(-1, 3).astype(np.float32)
            colors = np.concatenate([each.colors for each in group])
            paints: Any = (np.repeat(colors * [1.0, 1.0, 1.0, share], 2, axis=0) for _, share in self.passes)
            batches = [
                self._batch(self.shader, "LINES", {"pos": points, "color": paint.astype(np.float32)})
                for paint in paints
            ]
            result.append((width, batches))
        return result

    def draw(self, made: list[tuple[float, list[Any]]]) -> None:
        self._state.blend_set("ALPHA")
        self.shader.bind()
        self.shader.uniform_float("viewportSize", self._state.viewport_get()[2:])
        for width, batches in made:
            self.shader.uniform_float("lineWidth", width)
            for (depth, _), batch in zip(self.passes, batches):
                self._state.depth_test_set(depth)
                batch.draw(self.shader)
        self._state.depth_test_set("NONE")
        self._state.blend_set("NONE")


def draw_lines() -> None:
    """Handler of POST_VIEW: draws joints, connections, muscles and colliders."""
    global _drawn
    context = bpy.context
    joints = visible_joints(context)
    linked = [*connection_parts(context), *muscle_parts(context), *collider_parts(context)]
    if not joints and not linked:
        return
    settings = context.scene.condyle.overlay
    brush = Brush(settings.behind)
    # during playback only the active joint is tracked: the search takes time
    playing = context.screen is not None and context.screen.is_animation_playing
    at_hand = active_joint(context) if playing else None
    parts = [
        part
        for item, strength in joints
        for part in joint_parts(context.scene, item, strength, not playing or item == at_hand)
    ]
    parts += linked
    key = (settings.behind, [(part.name, part.lines, part.place) for part in parts])
    if _drawn is None or not _same(_drawn[0], key):
        _drawn = key, brush.made(each.moved(part.place) for part in parts for each in part.lines)
    brush.draw(_drawn[1])


def _same(first: Any, second: Any) -> bool:
    """Whether two drawings have the same lines at the same places."""
    if first[0] != second[0] or len(first[1]) != len(second[1]):
        return False
    return all(
        name == other and lines is others and np.array_equal(place, where)
        for (name, lines, place), (other, others, where) in zip(first[1], second[1])
    )


def number_places(
    points: np.ndarray, view: np.ndarray, width: float, height: float
) -> list[tuple[int, float, float]]:
    """Indices of the points (m, 3) to number, and their places in pixels: visible points that do not crowd."""
    pixels, in_front = picking.pixels(points, view, (width, height))
    inside = np.flatnonzero(in_front & (pixels >= 0.0).all(axis=1) & (pixels <= (width, height)).all(axis=1))
    steps = (step for step in NUMBER_STEPS if (inside % step == 0).sum() <= MOST_NUMBERS)
    numbers = inside[inside % next(steps, NUMBER_STEPS[-1]) == 0]
    found: list[tuple[int, float, float]] = []
    wide, high = NUMBER_ROOM
    for number, (x, y) in zip(numbers.tolist(), pixels[numbers].tolist()):
        if not any(abs(x - left) < wide and abs(y - low) < high for _, left, low in found):
            found.append((number, x, y))
    return found


def draw_numbers() -> None:
    """Handler of POST_PIXEL: numbers of the active joint's control frames."""
    context = bpy.context
    if not (_overlays_shown(context) and context.scene.condyle.overlay.show_frames):
        return
    joint = active_joint(context)
    if joint is None or not joint.visible_get():
        return
    frames = shown(context.scene, joint).frames
    if not len(frames):
        return
    blf.size(0, NUMBER_SIZE * context.preferences.system.ui_scale)
    blf.color(0, *NUMBER_COLOR)
    view = np.array(context.region_data.perspective_matrix @ joint.matrix_world.normalized())
    for number, x, y in number_places(frames[:, :3, 3], view, context.region.width, context.region.height):
        blf.position(0, x + 6.0, y + 6.0, 0.0)
        blf.draw(0, str(number))
