"""Ghosts of a fit: the keyed poses, coloured from green to red by their residuals."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from bpy.types import Object

from ...blender import physics_access, units
from ...data import references
from ...data import stored_joints as joints
from .shown import Shown

GOOD, MIDDLE, BAD = (0.20, 0.80, 0.30), (0.98, 0.80, 0.10), (0.95, 0.15, 0.12)
# Residuals below these are round-off of keyed poses, and drawn green: millimetres, radians.
LEAST_DISTANCE, LEAST_ANGLE = 0.01, 2e-4
# The types of joints that can be fitted; the relative tolerance of residuals stored as float32.
PASSED, SAME = ("spline_curve", "spline_surface"), 1e-3
# A changed curve is sampled at this many places, and interpolated linearly between them.
SAMPLES = 65
ALPHA, BOX_ALPHA = 0.95, 0.45
EDGES = np.array(
    [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7)]
)
# A bone's outline as Blender draws it: a tenth of its length thick, a tenth of its length from its head.
BONE_EDGES = np.array(
    [(0, k) for k in range(1, 5)] + [(5, k) for k in range(1, 5)] + [(1, 2), (2, 3), (3, 4), (4, 1)]
)


def wanted(item: Object) -> bool:
    """Whether the ghosts of a joint are drawn."""
    fit = item.condyle.joint.fit
    return bool(getattr(fit, "show_ghosts", False)) and len(fit.residuals) > 0


def residuals_of(item: Object) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distances (n,) [mm], angles (n,) [rad] and keyed poses (n, 4, 4) in the joint's frame of the last fit."""
    rows = item.condyle.joint.fit.residuals
    distances, angles = np.empty(len(rows), np.float32), np.empty(len(rows), np.float32)
    poses = np.empty(16 * len(rows), np.float32)
    rows.foreach_get("distance", distances)
    rows.foreach_get("angle", angles)
    rows.foreach_get("pose", poses)
    return distances, angles, poses.reshape(-1, 4, 4)


@dataclass(frozen=True, eq=False)
class Passing:
    """Residuals of a joint at the keys of its last fit: distances (n,) [mm], angles (n,) [rad]; changed: whether they
    differ from those of the fit.
    """

    distances: np.ndarray
    angles: np.ndarray
    changed: bool


def passing(item: Object, known: Shown) -> Passing:
    """Residuals of a joint, as it is drawn now, at the keys of its last fit.

    An unchanged joint has those of the fit. A changed curve is searched for the point nearest to each key; a changed
    surface is evaluated at the coordinates of the fit.
    """
    residuals = residuals_of(item)
    rows = item.condyle.joint.fit.residuals
    q = np.empty(3 * len(rows), np.float32)
    rows.foreach_get("q", q)
    rest = units.scaled_translation(joints.child_in_joint(item), 1.0 / known.metre)

    def made() -> Passing:
        began = time.perf_counter()
        now = _passing(known, residuals, q.reshape(-1, 3).astype(np.float64), rest)
        known.cost += time.perf_counter() - began
        return now

    key = ("passing", q.tobytes(), rest.tobytes(), *(array.tobytes() for array in residuals))
    return known.kept(key, made)


def _passing(known: Shown, residuals: Any, q: np.ndarray, rest: np.ndarray) -> Passing:
    """rest: the child's pose (4, 4) in the joint's moving frame, in metres."""
    distances, angles, keyed = residuals
    joint, before = known.joint, Passing(distances, angles, False)
    if joint is None or joint.type not in PASSED or joint.num_coordinates > 2 or not len(keyed):
        return before
    places, ends = q[:, : joint.num_coordinates], joint.range
    slack = 1e-4 * (1.0 + np.abs(places).max())  # round-off of float32
    outside = (places < ends[:, 0] - slack).any() or (places > ends[:, 1] + slack).any()
    if outside and joint.num_coordinates > 1:
        return before  # its range has changed: the nearest coordinates are unknown
    keyed = units.scaled_translation(keyed, 1.0 / known.metre)
    now = _away(joint.transform(np.clip(places, ends[:, 0], ends[:, 1])) @ rest, keyed)
    if joint.num_coordinates == 1 and not _same(now, before):
        samples = joint.transform(np.linspace(joint.domain[0], joint.domain[1], SAMPLES)[:, None]) @ rest
        near = samples[_nearest_three(samples, keyed, joint.length_scale, np.isinf(ends).any())]
        now = _nearest(_away(near, keyed[:, None]), joint.length_scale)
    if _same(now, before):
        return before
    return Passing(1e3 * np.linalg.norm(now[:, 3:], axis=1), np.linalg.norm(now[:, :3], axis=1), True)


def _nearest_three(samples: np.ndarray, keyed: np.ndarray, length_scale: float, closed: bool) -> np.ndarray:
    """Indices (n, 3) of the sample (m, 4, 4) nearest to each key (n, 4, 4), by angle and distance, and of its
    neighbours; closed: the last sample repeats the first.
    """
    apart = keyed[:, None, :3, 3] - samples[:, :3, 3]
    # the square of a small angle
    turned = 3.0 - np.einsum("nij,mij->nm", keyed[:, :3, :3], samples[:, :3, :3])
    best = (turned + (apart**2).sum(axis=-1) / length_scale**2).argmin(axis=1)
    last = len(samples) - 1
    middle = best if closed else np.clip(best, 1, last - 1)
    return (middle[:, None] + np.arange(-1, 2)) % (last if closed else last + 1)


def _away(poses: np.ndarray, keyed: np.ndarray) -> np.ndarray:
    """Differences (..., 6) of keys from poses (..., 4, 4): rotation vectors [rad] and offsets of origins [m]."""
    lie = physics_access.physics().lie
    turned = lie.log(lie.inverse(poses) @ keyed)[..., :3]
    return np.concatenate([turned, keyed[..., :3, 3] - poses[..., :3, 3]], axis=-1)


def _same(away: np.ndarray, kept: Passing) -> bool:
    """Whether residuals (n, 6) equal those of the fit."""
    distances, angles = 1e3 * np.linalg.norm(away[:, 3:], axis=1), np.linalg.norm(away[:, :3], axis=1)
    return np.allclose(distances, kept.distances, rtol=SAME, atol=LEAST_DISTANCE) and np.allclose(
        angles, kept.angles, rtol=SAME, atol=LEAST_ANGLE
    )


def _nearest(away: np.ndarray, length_scale: float) -> np.ndarray:
    """Least errors (n, 6) among those from samples of a curve to keys (n, m, 6), linear between two samples."""
    weights = np.repeat([1.0, 1.0 / length_scale], 3)
    begin, step = away[:, :-1], np.diff(away, axis=1)
    along = -np.sum(weights**2 * begin * step, axis=-1)
    square = np.sum((weights * step) ** 2, axis=-1)
    share = np.clip(along / np.maximum(square, 1e-300), 0.0, 1.0)
    between = begin + share[..., None] * step
    best = np.sum((weights * between) ** 2, axis=-1).argmin(axis=1)
    return between[np.arange(len(away)), best]


def shares(distances: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Each residual as a share of the largest, 0 to 1: of distance or of angle, whichever is larger."""
    by_distance = distances / max(float(distances.max()), LEAST_DISTANCE)
    by_angle = angles / max(float(angles.max()), LEAST_ANGLE)
    return np.clip(np.maximum(by_distance, by_angle), 0.0, 1.0)


def colors_of(share: np.ndarray, alpha: float) -> np.ndarray:
    """Colours (n, 4) from green through yellow to red."""
    rgb = [np.interp(share, (0.0, 0.5, 1.0), channel) for channel in zip(GOOD, MIDDLE, BAD)]
    return np.stack([*rgb, np.full(len(share), alpha)], axis=1)


def lines(item: Object, known: Shown, size: float) -> tuple[np.ndarray, np.ndarray]:
    """Ends (k, 2, 3) and colours (k, 4) of a joint's ghosts, in its frame: axes, and outlines of the child."""
    now, poses = passing(item, known), residuals_of(item)[2]
    share = shares(now.distances, now.angles)
    origins = np.repeat(poses[:, None, :3, 3], 3, axis=1)
    tips = origins + size * poses[:, :3, :3].transpose(0, 2, 1)
    axes = np.stack([origins, tips], axis=2).reshape(-1, 2, 3)
    colors = np.repeat(colors_of(share, ALPHA), 3, axis=0)
    corners, edges = outline(item)
    if not len(corners):
        return axes, colors
    placed = np.einsum("nij,cj->nci", poses[:, :3, :3], corners) + poses[:, None, :3, 3]
    outlines = placed[:, edges].reshape(-1, 2, 3)
    faint = np.repeat(colors_of(share, BOX_ALPHA), len(edges), axis=0)
    return np.concatenate([outlines, axes]), np.concatenate([faint, colors])


def outline(item: Object) -> tuple[np.ndarray, np.ndarray]:
    """Corners (c, 3) of the child's bounding box or bone, in its rigid frame, and its edges (e, 2) as pairs of corners;
    none for Empties.
    """
    child = references.resolve(item.condyle.joint.child)
    if child is not None and child.bone:
        length = float(child.pose_bone.bone.length) * float(child.object.matrix_world.to_scale()[1])
        thick = 0.1 * length
        ring = [(thick, thick, 0), (0, thick, thick), (-thick, thick, 0), (0, thick, -thick)]
        return np.array([(0, 0, 0), *ring, (0, length, 0)], dtype=np.float64), BONE_EDGES
    if child is None or child.object.type != "MESH":
        return np.empty((0, 3)), EDGES
    scale = np.array(child.object.matrix_world.to_scale())
    return np.array([tuple(corner) for corner in child.object.bound_box]) * scale, EDGES
