"""Preserves the child's motion when a control frame is inserted into a curve, and reports the largest change."""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np
from bpy.types import Object, Scene

from ..blender import compat, physics_access, units
from ..data.joints import PROPERTY
from . import bodies_and_joints, curve_tools

STEPS = 20  # of the search for the nearest poses
# Least rate of the new coordinate by the old one where the curves differ, as a share of its mean: stiffness and
# damping are divided by the rate's square.
SLOWEST = 0.05
# Least distance of a new knot from its neighbours, as a share of their distance: coinciding knots reduce smoothness.
APART = 0.2


@dataclass(frozen=True)
class Moved:
    """Largest change of the child's motion, in millimetres and degrees, and warnings about unconverted settings."""

    distance: float
    angle: float
    warnings: tuple[str, ...]


def curve_of(scene: Scene, item: Object) -> physics_access.SplineCurve:
    """The curve of a joint by `curve_tools.own_curve`; None for another or an incomplete joint."""
    try:
        return curve_tools.own_curve(scene, item)
    except physics_access.physics().CondyleError:
        return None


def grow(
    scene: Scene, item: Object, old: physics_access.SplineCurve, index: int, share: float
) -> Moved | None:
    """Keep a joint's motion along the old curve after frame number `index` was added at a share of the way between its
    neighbours; None if the joint is not a curve now.

    Inside the curve, or in a closed one, this inserts a knot (Boehm 1980): neighbouring frames move a little, the path
    and its coordinate are kept. After the last frame of an open curve, the coordinate is converted to the new path.
    """
    if index == len(old.frames) and not old.periodic:
        return _follow(scene, item, old, index)
    frames, knots = _inserted(old, index, share)
    settings = item.condyle.joint
    for number, pose in frames.items():
        bodies_and_joints.place_frame(item, settings.frames[number].object, units.to_blender(pose, scene))
    settings.knots.clear()
    for value in knots:
        settings.knots.add().value = value
    bpy.context.view_layer.update()
    new = curve_of(scene, item)
    if new is None:
        return None
    grid = _grid(old)[:, None]
    return _moved(curve_tools.plain(old).transform(grid), curve_tools.plain(new).transform(grid), [])


def _inserted(
    old: physics_access.SplineCurve, index: int, share: float
) -> tuple[dict[int, np.ndarray], np.ndarray]:
    """Changed control frames (4, 4) by number, and all knots, when frame number `index` is added."""
    lie, order, degree = physics_access.physics().lie, old.order, old.order - 1
    count = len(old.frames)
    knots = (
        physics_access.part("geometry.splines").unrolled_knots(old.knots, order)
        if old.periodic
        else old.knots
    )
    last_span = (count + degree if old.periodic else count) - 1
    place = knots[index] + share * (knots[index + degree] - knots[index])
    span = int(np.clip(np.searchsorted(knots, place, side="right") - 1, degree, last_span))
    margin = APART * (knots[span + 1] - knots[span])
    place = float(np.clip(place, knots[span] + margin, knots[span + 1] - margin))
    frames = {}
    for number in range(span - degree + 1, span + 1):
        before, after = old.frames[(number - 1) % count], old.frames[number % count]
        part = (place - knots[number]) / (knots[number + degree] - knots[number])
        moved = before @ lie.exp(part * lie.log(lie.inverse(before) @ after))
        frames[number % (count + 1)] = moved  # of a closed curve, wrapped around its end
    grown = np.insert(knots, span + 1, place)[: count + 1 + order]
    if old.periodic:  # keeps the start; the knots before it repeat those before the end, with the new one
        grown[:degree] = grown[count + 1 : count + order] - old.period
    return frames, grown


def _moved(before: np.ndarray, now: np.ndarray, warnings: list[str]) -> Moved:
    """Largest distances of poses (n, 4, 4) in metres from those before."""
    lie = physics_access.physics().lie
    turns = np.linalg.norm(lie.log(lie.inverse(now) @ before)[:, :3], axis=1)
    shifts = np.linalg.norm((now - before)[:, :3, 3], axis=1)
    return Moved(1e3 * float(shifts.max()), float(np.degrees(turns.max())), tuple(warnings))


def _follow(scene: Scene, item: Object, old: physics_access.SplineCurve, index: int) -> Moved | None:
    """Convert all values of the coordinate to the nearest poses of the present curve."""
    new = curve_of(scene, item)
    if new is None:
        return None
    path, grid = curve_tools.plain(old), _grid(old)
    target = curve_tools.plain(new)
    poses = path.transform(grid[:, None])
    places = _in_order(
        target, _nearest(target, poses, _guess(old, new, index, grid), new.twist_metric.matrix)
    )

    def convert(readings: np.ndarray) -> np.ndarray:
        return new.coordinate_at(_along(grid, places, old.parameter_at(readings)))

    settings = item.condyle.joint
    driven, settings.driven = settings.driven, False  # the slider is updated once, at the end
    try:
        curve_tools.convert_coordinate(item, convert)
    finally:
        settings.driven = driven
    warnings = curve_tools.left_alone(scene, item)
    if any(curve.data_path == f'["{PROPERTY}"]' for curve in compat.curves_in_use(item)):
        warnings.append("Between keys of the slider the timing of the child may change")
    return _moved(poses, target.transform(places[:, None]), warnings)


def _grid(curve: physics_access.SplineCurve) -> np.ndarray:
    """Parameters along a curve, with its ends."""
    count = curve_tools.PLACES * len(curve.frames) + 1
    first, last = curve_tools.plain(curve).domain
    return np.linspace(first, last, count)


def _middles(curve: physics_access.SplineCurve) -> np.ndarray:
    """Greville abscissae (m,): the parameter at which each control frame has most weight."""
    inner = [curve.knots[k + 1 : k + curve.order].mean() for k in range(len(curve.frames))]
    return np.array(inner)


def _guess(
    old: physics_access.SplineCurve, new: physics_access.SplineCurve, index: int, grid: np.ndarray
) -> np.ndarray:
    """Parameters of the new curve near the same control frames as those of the old one in a grid."""
    return np.interp(grid, _middles(old), np.delete(_middles(new), index))


def _nearest(
    path: physics_access.SplineCurve, poses: np.ndarray, places: np.ndarray, metric: np.ndarray
) -> np.ndarray:
    """Parameters at which a curve is nearest to poses (n, 4, 4), by the Gauss-Newton method from places (n,)."""
    lie = physics_access.physics().lie
    first, last = path.domain
    small = 1e-5 * (last - first)
    most = (last - first) / len(path.frames)
    for _ in range(STEPS):
        here = path.transform(places[:, None])
        gap = lie.log(lie.inverse(here) @ poses)
        beside = [path.transform((places + side * small)[:, None]) for side in (-1.0, 1.0)]
        rate = lie.log(lie.inverse(beside[0]) @ beside[1]) / (2.0 * small)
        along = np.einsum("ni,ij,nj->n", rate, metric, gap) / np.einsum("ni,ij,nj->n", rate, metric, rate)
        places = np.clip(places + np.clip(along, -most, most), first, last)
    return places


def _in_order(path: physics_access.SplineCurve, places: np.ndarray) -> np.ndarray:
    """Places (n,) made strictly increasing, since the coordinate must be invertible."""
    step = SLOWEST * abs(places[-1] - places[0]) / (len(places) - 1) * np.arange(len(places))
    rising = np.maximum.accumulate(places - step) + step
    last = path.domain[1]
    return np.minimum.accumulate(np.minimum(rising, last + step - step[-1])[::-1])[::-1]


def _along(grid: np.ndarray, places: np.ndarray, parameters: np.ndarray) -> np.ndarray:
    """Parameters of the new curve for those of the old one; extrapolated linearly beyond its ends."""
    inside = np.clip(parameters, grid[0], grid[-1])
    beyond, step = parameters - inside, grid[1] - grid[0]
    rates = (places[1] - places[0]) / step, (places[-1] - places[-2]) / step
    return np.interp(inside, grid, places) + np.where(beyond < 0.0, *rates) * beyond
