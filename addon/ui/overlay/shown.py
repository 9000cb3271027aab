"""Cached drawings of joints, in pieces.

Each redraw compares the settings and control frames of every joint, which is cheap; curves and surfaces are sampled
again only where these have changed.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np
from bpy.types import Object, Scene
from mathutils import Matrix

from ...blender import attachments, physics_access, redraw, scales, units
from ...data import references
from ...data import stored_joints as joints
from ...data.frame_times import frame_ends
from ...data.joint_shape import JointShape
from ...data.joints import is_baked_over, shapes, slider_names

# A drawing is rebuilt only after this many times its own duration, so that dragging a control frame stays fluent.
PATIENCE = 2.0
# Control frames that move with their joint keep their places in it up to the rounding of float32.
ROUNDING = 1e-5
# Size of a joint's signs and of the axes of its control frames, as shares of the curve's extent; the latter are at most
# FRAME_STEPS of the median distance between control frames.
SIGN_SHARE, FRAME_SHARE, FRAME_STEPS = 0.2, 0.15, 0.8
SETTINGS = ("type", "order", "periodic", "length_scale", "outside", "moving", "line_seconds")
VECTORS = ("grid", "grid_orders", "grid_periodic")
SHAPE = tuple(name for name in JointShape.__annotations__ if name != "frames_of")

# Tolerance (radians, metres) and most steps of the search for the readings of a joint without sliders.
TRACKED, TRACKING_STEPS = 1e-3, 6
# Cached styles of one joint: enough for a few toggles back and forth.
MOST_STYLES = 12

_cache: dict[int, Shown] = {}


@dataclass(eq=False)
class Shown:
    """A joint's drawing, in Blender units and in the joint's frame.

    Attributes:
        key: settings that it depends on. worlds: world matrices of control frames, by the joint that owns them.
        places: the same relative to that joint's Empty.
        joint, sketch: of physics; None if the joint is incomplete.
        frames: its own control frames (m, 4, 4). frame_size: length of their axes.
        metre: Blender units per metre. styles: results of the drawing handler, by style.
        axis: lines of the present axis, with the reading and opacity they were drawn for.
    """

    key: Any
    worlds: list[list[Any]]
    places: list[np.ndarray]
    joint: Any = None
    sketch: Any = None
    frames: np.ndarray = field(default_factory=lambda: np.empty((0, 4, 4)))
    frame_size: float = 0.0
    metre: float = 1.0
    cost: float = 0.0
    made: float = 0.0
    styles: dict[Any, Any] = field(default_factory=dict)
    axis: tuple[Any, list[Any]] | None = None
    _placed: tuple[bytes, list[np.ndarray]] | None = None
    _tracked: tuple[bytes, np.ndarray | None] | None = None

    def placed(self, readings: np.ndarray) -> list[np.ndarray]:
        """Frames (4, 4) of the pieces at readings (n,); at rest if the joint rejects the readings."""
        key = readings.tobytes()
        if self._placed is None or key != self._placed[0]:
            try:
                frames, _ = self.sketch.place(readings)
            except physics_access.physics().CondyleError:
                frames, _ = self.sketch.place(self.sketch.readings)
            frames = [units.scaled_translation(frame, self.metre) for frame in frames]
            self._placed = (key, frames)
        return self._placed[1]

    def tracked(self, moving: np.ndarray, start: np.ndarray, anew: bool) -> np.ndarray | None:
        """Readings (n,) that put the joint's moving frame at `moving` (4, 4); None if the joint cannot reach it.

        The search starts from the last result, or from `start`. Unless `anew`, the last result is returned.
        """
        key = moving.tobytes()
        last = None if self._tracked is None else self._tracked[1]
        if not anew:
            return last
        if self._tracked is None or key != self._tracked[0]:
            pose = units.scaled_translation(moving, 1.0 / self.metre)
            if last is not None and len(last) == len(start):
                start = np.where(self.joint.prescribed, start, last)
            self._tracked = key, _nearest(self.joint, pose, start)
        return self._tracked[1]

    def where(self, values: np.ndarray) -> np.ndarray:
        """The last result (n,) of `tracked`, or else `values`, the readings of the sliders."""
        found = None if self._tracked is None else self._tracked[1]
        return values if found is None else found

    def kept(self, style: Any, make: Callable[[], Any]) -> Any:
        """Result of `make` for a style, cached."""
        if style not in self.styles:
            if len(self.styles) >= MOST_STYLES:
                self.styles.clear()
            self.styles[style] = make()
        return self.styles[style]


def _nearest(joint: physics_access.Joint, pose: np.ndarray, start: np.ndarray) -> np.ndarray | None:
    """Gauss-Newton on the twist from the joint's pose to a pose (4, 4); few steps, because it runs in a redraw."""
    lie = physics_access.physics().lie
    try:
        q = joint.from_readings(start)
        for _ in range(TRACKING_STEPS):
            reached, subspace, _ = joint.evaluate(q)
            error = lie.log(lie.inverse(reached) @ pose)
            if np.linalg.norm(error) < TRACKED:
                return np.asarray(joint.readings(q))
            change = np.linalg.lstsq(subspace, error, rcond=1e-6)[0]
            change[list(joint.prescribed)] = 0.0
            q = q + change
    except physics_access.physics().CondyleError:
        return None
    return None


def forget() -> None:
    """Drop all drawings."""
    _cache.clear()


def shown(scene: Scene, item: Object) -> Shown:
    """The drawing of a joint as it is now, or a slightly older one while the joint keeps changing."""
    key = _key(scene, item)
    known = _cache.get(item.session_uid)
    worlds = [_worlds(owner) for owner in _owners(item)]
    if known is not None and known.key == key:
        if known.worlds == worlds:
            return known
        places = [_places(matrices) for matrices in worlds]
        if all(
            before.shape == now.shape and np.allclose(before, now, rtol=ROUNDING, atol=ROUNDING)
            for before, now in zip(known.places, places)
        ):
            known.worlds = worlds
            return known
    began = time.perf_counter()
    if known is not None and began - known.made < PATIENCE * known.cost:
        if not bpy.app.background:
            attachments.soon(redraw.views, PATIENCE * known.cost)
        return known
    drawing = Shown(key, worlds, [_places(matrices) for matrices in worlds])
    if known is not None and known._tracked is not None:
        drawing._tracked = b"", known._tracked[1]  # a moving surface gets a new drawing at every frame
    _make(scene, item, drawing)
    drawing.made = time.perf_counter()
    drawing.cost = drawing.made - began
    _cache[item.session_uid] = drawing
    return drawing


def _key(scene: Scene, item: Object) -> Any:
    """The settings that a joint's drawing depends on."""
    settings = item.condyle.joint
    facts = [tuple(getattr(settings, name) for name in SETTINGS)]
    facts += [tuple(getattr(settings, name)) for name in VECTORS]
    for shape in shapes(settings):
        facts.append((shape.type, *(_plain(getattr(shape, name)) for name in SHAPE)))
    for owner in _owners(item):
        own = owner.condyle.joint
        knots = np.empty(len(own.knots), dtype=np.float32)
        own.knots.foreach_get("value", knots)
        facts.append((own.order, own.periodic, own.length_scale, own.outside, knots.tobytes()))
    facts += [(row.limits, row.lower, row.upper) for row in settings.coordinates]
    facts.append((scene.condyle.overlay.axis_size, item.empty_display_size, units.length_scale(scene)))
    if settings.moving:
        facts.append(tuple(readings(scene, item)))
    return facts


def _plain(value: Any) -> Any:
    return value if isinstance(value, (str, int, float)) else tuple(value)


def _owners(item: Object) -> list[Object]:
    """The Empties whose control frames a joint uses."""
    settings = item.condyle.joint
    found = [shape.frames_of for shape in shapes(settings) if shape.frames_of is not None]
    return [item, *found] if len(settings.frames) or not found else found


def _worlds(owner: Object) -> list[Matrix]:
    """World matrices of an Empty and of its control frames; None for a deleted frame."""
    frames = owner.condyle.joint.frames
    objects = [frame.object for frame in frames]
    return [
        owner.matrix_world.copy(),
        *(None if each is None else each.matrix_world.copy() for each in objects),
    ]


def _places(worlds: list[Matrix]) -> np.ndarray:
    """Places (m, 3, 4) of control frames in their joint; empty if one is missing."""
    base, *matrices = worlds
    if not matrices or None in matrices:
        return np.empty((0, 3, 4))
    inverse = base.normalized().inverted_safe()
    rows = [row for matrix in matrices for row in (inverse @ matrix)[:3]]
    return np.array([tuple(row) for row in rows]).reshape(-1, 3, 4)


def _rigid(places: np.ndarray) -> np.ndarray:
    """Places (m, 3, 4) as poses (m, 4, 4) without scale; empty if one is scaled non-uniformly."""
    poses = np.tile(np.eye(4), (len(places), 1, 1))
    sizes = np.linalg.norm(places[:, :, :3], axis=1, keepdims=True)
    if not len(places) or not (np.ptp(sizes, axis=2) <= scales.TOLERANCE * sizes.min(axis=2)).all():
        return np.empty((0, 4, 4))
    poses[:, :3, :3] = places[:, :, :3] / sizes
    poses[:, :3, 3] = places[:, :, 3]
    return poses


def _make(scene: Scene, item: Object, made: Shown) -> None:
    """Read the joint and draw it; of an incomplete joint only the control frames are drawn."""
    ours = physics_access.physics().CondyleError
    made.metre = 1.0 / units.length_scale(scene)
    if len(item.condyle.joint.frames):
        made.frames = _rigid(made.places[0])
    size = _sizes(scene, item, made)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the panel shows them
            made.joint = joints.read_joint(scene, item)
            limits = _limits(item, made.joint)
            made.sketch = physics_access.part("joints.drawing").sketch(
                made.joint, size / made.metre, limits, readings(scene, item)
            )
    except ours:
        made.joint = made.sketch = None


def _sizes(scene: Scene, item: Object, made: Shown) -> float:
    """Size of a joint's signs in Blender units; also sets that of its control frames."""
    chosen = float(scene.condyle.overlay.axis_size)
    size = 2.0 * float(item.empty_display_size)
    places = made.frames[:, :3, 3]
    extent = float(np.ptp(places, axis=0).max()) if len(places) else 0.0
    if extent > 1e-9:
        size = SIGN_SHARE * extent
        steps = np.linalg.norm(np.diff(places, axis=0), axis=1)
        made.frame_size = min(FRAME_SHARE * extent, FRAME_STEPS * float(np.median(steps)) or size)
    else:
        made.frame_size = 0.5 * size
    if chosen > 0.0:
        made.frame_size = chosen
        return 2.0 * chosen
    return max(size, 1e-6)


def _limits(item: Object, joint: physics_access.Joint) -> np.ndarray:
    """Limits (n, 2) of the joint's readings by its settings."""
    limits = np.tile([-np.inf, np.inf], (joint.num_coordinates, 1))
    for pair, inner, row in zip(limits, joint.range.reshape(-1, 2), item.condyle.joint.coordinates):
        if row.limits == "CUSTOM" and row.lower < row.upper:
            pair[:] = row.lower, row.upper
        elif row.limits == "RANGE":
            pair[:] = inner
    return limits


def readings(scene: Scene, item: Object) -> np.ndarray:
    """A joint's readings now (n,) in SI: its sliders, or its start values; times advance with the frame over a bake."""
    settings = item.condyle.joint
    rows = settings.coordinates
    values = [row.start for row in rows]
    if is_baked_over(settings):
        values = [row.start + (baked_seconds(scene) if row.unit == "s" else 0.0) for row in rows]
    elif settings.driven:
        metres = units.length_scale(scene)
        names = slider_names(settings)
        values = [
            float(item.get(name, 0.0)) * (metres if row.unit == "m" else 1.0)
            for name, row in zip(names, rows)
        ]
    return np.array(values, dtype=np.float64)


def baked_seconds(scene: Scene) -> float:
    """Seconds since the start of the bake at the present frame."""
    first, last = frame_ends(scene)
    frame = min(max(scene.frame_current_final, first), last)
    return float((frame - first) * scene.render.fps_base / scene.render.fps)


def moving_frame(item: Object) -> np.ndarray | None:
    """A joint's moving frame (4, 4) from its child's pose, in the joint's frame; None without a child."""
    child = references.resolve(item.condyle.joint.child)
    if child is None:
        return None
    inverse = physics_access.physics().lie.inverse
    base = np.array(item.matrix_world.normalized())
    rest = np.array(item.condyle.joint.child_in_joint, dtype=np.float64).reshape(4, 4)
    return inverse(base) @ np.array(child.matrix.normalized()) @ inverse(rest)
