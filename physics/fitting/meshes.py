"""A spline curve joint from the surfaces of two bones (Lee & Terzopoulos 2008, sec. 8, leaves it as future work)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._typing import FloatArray, IntArray
from ..errors import CancelledError, FitError
from ..geometry import lie
from ..geometry.triangle_surface import TriangleSurface
from ..joints.spline_sites import Sites
from ..joints.spline_sites import poses as curve_poses
from ..validation import finite, number, truth, unit_axis, whole_number
from .arguments import check_progress, fit_errors
from .articulation import EDGE, FAR, NEAR, SPACING, Articulation, Axis
from .blas import one_blas_thread
from .curve import DEFAULT_FRAMES, fit_curve
from .result import CurveFit

# poses for each control frame, of the fit and of the measurement; poses that find the axis, the shares of the range
# that they go through one after the other, and by how much the contact is wider where the axis is turned round
FITTED, CHECKED, AXIS_POSES, SHARES, WIDER = 3, 4, 7, (0.5, 1.0), 1.03
EXACT = 100  # points, those with the least smooth gaps, whose distances are computed exactly
SLIDING = (
    0.5  # of the second surface's slip about its axis: if that is less than this share of the first one's
)

#: called with the fraction done and a message; returning False cancels
Progress = Callable[[float, str], "bool | None"]


@dataclass(frozen=True, eq=False)
class MeshJointFit:
    """The result of `fit_joint_to_meshes`; the first mesh's frame is that of the parent.

    Attributes:
        fit: of the curve to the poses found; its joint's pose is that of the second mesh in the first.
        axis, center: direction (3,) and a point (3,) [m] of the flexion axis, in the first. gap: to be kept [m].
        angles: (n,) flexions [rad] at which the fitted curve was measured.
        least: (n,) least distance of the meshes at each [m], negative for the deepest penetration.
        contacts: (n, 2, 3) [m] where each of two sides is nearest, in the first; contacts_second: in the second.
    """

    fit: CurveFit
    axis: FloatArray
    center: FloatArray
    gap: float
    angles: FloatArray
    least: FloatArray
    contacts: FloatArray
    contacts_second: FloatArray

    @property
    def joint(self) -> Any:
        """The `SplineCurve`; its coordinate is the flexion [rad], 0 at the pose given."""
        return self.fit.joint

    @property
    def least_gap(self) -> float:
        """Least distance of the meshes along the motion [m], 0 where they penetrate."""
        return max(float(self.least.min()), 0.0)

    @property
    def largest_gap(self) -> float:
        """The largest of the least distances at each pose [m], 0 where they all penetrate."""
        return max(float(self.least.max()), 0.0)

    @property
    def penetration(self) -> float:
        """Deepest penetration of the meshes along the motion [m]."""
        return max(-float(self.least.min()), 0.0)


def fit_joint_to_meshes(
    first: tuple[Any, Any],
    second: tuple[Any, Any],
    pose: Any,
    *,
    lower: float = 0.0,
    upper: float = 2.0,
    num_frames: int = DEFAULT_FRAMES,
    axis: Any = None,
    flip: bool = False,
    gap: float | None = None,
    progress: Progress | None = None,
) -> MeshJointFit:
    """Fit a spline curve joint along which the surfaces of two bones stay in contact.

    At each flexion both halves of the contact, on either side along the axis, keep the same gap; among such poses the
    one is taken in which the surfaces are most congruent, near a hinge about the axis. Where the shapes suggest one,
    the axis is that about which one of the surfaces, the rounder one, slides along itself where the other touches it. A
    mesh may be open and either side of its triangles outside; it should be smooth, and finer than 1/20 of the joint.

    Args:
        first, second: vertices (n, 3) [m] and triangles (m, 3), indices of vertices.
        pose: (4, 4) of the second in the first, near contact; its flexion is 0.
        lower, upper: range of flexion [rad], about the axis.
        num_frames: control frames of the curve.
        axis: direction of the flexion axis (3,) in the first, None: as the shapes suggest; its sense then is the one
            in which the contact stays wider along it.
        flip: whether flexion turns the other way.
        gap: kept between the surfaces [m]; None: the least in the given pose.
        progress: called with the fraction done and a message; cancels by returning False.

    Returns:
        `MeshJointFit`. Distances are those of the vertices of either mesh from the triangles of the other, so that two
        edges may cross deeper by the square of their lengths over eight radii of curvature.

    Raises:
        FitError: an argument is invalid, or the meshes are not near contact, or part; the message names the value.
        CancelledError: progress returned False.
    """
    with fit_errors():
        meshes = [_check_mesh(*mesh, name) for mesh, name in ((first, "first"), (second, "second"))]
        start = lie.check_frame(pose, "pose")
        low, high = number(lower, "lower"), number(upper, "upper")
        if not low <= 0.0 <= high or not low < high or max(-low, high) > np.pi:
            raise FitError(
                f"the range of flexion must hold 0 and stay within half a turn, got {low:g} to {high:g}"
            )
        count = whole_number(num_frames, "num_frames", 4)
        given = None if axis is None else unit_axis(axis, "axis")
        turned = truth(flip, "flip")
        kept = None if gap is None else number(gap, "gap")
        check_progress(progress)
    with one_blas_thread():
        return _fit(meshes, start, (low, high), count, given, turned, kept, _Steps(progress))


def _fit(
    meshes: list[tuple[FloatArray, IntArray]],
    start: FloatArray,
    ends: tuple[float, float],
    count: int,
    given: FloatArray | None,
    flip: bool,
    kept: float | None,
    steps: _Steps,
) -> MeshJointFit:
    steps(0.0, "reading the meshes")
    other, found = _articulation(meshes, start, kept)
    line = found.first_axis(given)
    back = lie.inverse(start)
    turned = None if given is None else -back[:3, :3] @ given
    other_way, found_way = _articulation(meshes[::-1], back, kept)
    line_way = found_way.first_axis(turned)
    reverse = line_way.slip < SLIDING * line.slip
    if reverse:  # the first one moves about the second, the axis in which it is round
        other, found, line, given = other_way, found_way, line_way, turned
    line = _axis(found, line, given, flip, ends, steps)
    steps(0.4, "following the contact")
    angles = np.unique(np.append(np.linspace(*ends, FITTED * count + 1), 0.0))
    poses = found.poses(line, angles)
    steps(0.7, "fitting the curve")
    fit = _curve(lie.inverse(poses) if reverse else poses, angles, count, found, line, reverse)
    steps(0.8, "measuring the gaps")
    result = _measured(fit, found, other, line, np.linspace(*ends, CHECKED * count + 1), reverse)
    if not reverse:
        return result
    axis, center = -start[:3, :3] @ result.axis, _moved(start, result.center)
    swapped = result.contacts_second, result.contacts
    return replace(result, axis=axis, center=center, contacts=swapped[0], contacts_second=swapped[1])


def _curve(
    poses: FloatArray, angles: FloatArray, count: int, found: Articulation, line: Axis, reverse: bool
) -> CurveFit:
    """The curve, fitted by residuals on the axis, wherever the moving mesh has its origin."""
    at_axis = np.eye(4)
    at_axis[:3, 3] = line.point if reverse else _moved(lie.inverse(found.start), line.point)
    fit = fit_curve(poses @ at_axis, angles, count, length_scale=0.25 * found.size)
    joint = replace(fit.joint, frames=fit.joint.frames @ lie.inverse(at_axis))
    return replace(fit, joint=joint)


class _Steps:
    """Progress that cancels."""

    def __init__(self, progress: Progress | None) -> None:
        self.progress = progress

    def __call__(self, share: float, message: str) -> None:
        if self.progress is not None and self.progress(share, message) is False:
            raise CancelledError("cancelled")


def _check_mesh(vertices: Any, triangles: Any, name: str) -> tuple[FloatArray, IntArray]:
    places = finite(vertices, f"vertices of the {name} mesh")
    if places.ndim != 2 or places.shape[1] != 3:
        raise FitError(f"vertices of the {name} mesh must have shape (n, 3), got {places.shape}")
    given = np.asarray(triangles)
    if given.ndim != 2 or given.shape[1] != 3 or not len(given) or given.dtype.kind not in "iu":
        raise FitError(
            f"triangles of the {name} mesh must be whole numbers of shape (m, 3), got {given.shape}"
        )
    if given.min() < 0 or given.max() >= len(places):
        raise FitError(f"triangles of the {name} mesh must be indices below {len(places)}, got {given.max()}")
    return places, given.astype(np.int64)


def _articulation(
    meshes: list[tuple[FloatArray, IntArray]], start: FloatArray, gap: float | None
) -> tuple[TriangleSurface, Articulation]:
    """The second surface near the contact, and what articulates."""
    size = min(float(np.sort(np.ptp(vertices, axis=0))[1]) for vertices, _ in meshes)
    back = lie.inverse(start)
    beside = _moved(start, meshes[1][0]), _moved(back, meshes[0][0])
    boxes = [np.array([each.min(axis=0) - size, each.max(axis=0) + size]) for each in beside]
    first, second = (TriangleSurface(*mesh).divided(EDGE * size, box) for mesh, box in zip(meshes, boxes))
    first, near, gaps = _facing(first, _moved(start, second.vertices), size)
    second = _facing(second, _moved(back, first.vertices), size)[0]
    center = _moved(start, second.vertices[near[gaps <= gaps.min() + NEAR * size]]).mean(axis=0)
    around = [
        np.linalg.norm(each - center, axis=1) < size
        for each in (first.vertices, _moved(start, second.vertices))
    ]
    points, areas = _samples(second.vertices[around[1]], second.areas[around[1]], SPACING * size)
    found = Articulation(first.part(around[0]), points, areas, start, size, gap)
    return second.part(around[1]), found


def _moved(pose: FloatArray, points: FloatArray) -> FloatArray:
    return points @ pose[:3, :3].T + pose[:3, 3]


def _facing(
    surface: TriangleSurface, points: FloatArray, size: float
) -> tuple[TriangleSurface, IntArray, FloatArray]:
    """The surface with that side outside on which most of the points near to it are; their numbers and gaps."""
    near = np.flatnonzero(surface.within(points, FAR * size))
    if len(near):
        gaps, _, over = surface.gaps(points[near])
        near, gaps = near[over], gaps[over]
    if not len(near):
        raise FitError(f"the meshes are more than {FAR * size:.3g} m apart: bring the bones near contact")
    contact = np.abs(gaps) <= np.abs(gaps).min() + NEAR * size
    if np.median(gaps[contact]) >= 0.0:
        return surface, near, gaps
    return surface.flipped(), near, -gaps


def _samples(points: FloatArray, areas: FloatArray, spacing: float) -> tuple[FloatArray, FloatArray]:
    """One point of each cell of this size, that nearest to the middle of its points, with the area of them all."""
    cells = np.unique(np.floor(points / spacing), axis=0, return_inverse=True)[1].ravel()
    total = np.asarray(np.bincount(cells, areas), dtype=np.float64)
    middles = np.column_stack([np.bincount(cells, areas * column) for column in points.T]) / total[:, None]
    order = np.lexsort((np.linalg.norm(points - middles[cells], axis=1), cells))
    return points[order[np.unique(cells[order], return_index=True)[1]]], total


def _axis(
    found: Articulation,
    line: Axis,
    given: FloatArray | None,
    flip: bool,
    ends: tuple[float, float],
    steps: _Steps,
) -> Axis:
    """The flexion axis, from the contact along the whole motion; line: that from the contact in the given pose."""
    steps(0.1, "finding the axis")
    part = np.linspace(*ends, AXIS_POSES)
    other = Axis(-line.direction, line.point)
    wider = WIDER * found.width(line, SHARES[0] * part) if given is None else np.inf
    if flip != (found.width(other, SHARES[0] * part) > wider):
        line = other
    for share in SHARES:
        steps(0.1 + 0.2 * share, "finding the axis")
        found.part_at(line)
        touches = [found.touch(pose) for pose in found.poses(line, share * part)]
        again = found.suggested(touches, [found.congruence(each) for each in touches], given)
        line = Axis(again.direction * np.copysign(1.0, again.direction @ line.direction), again.point)
    found.part_at(line)
    return line


def _measured(
    fit: CurveFit, found: Articulation, second: TriangleSurface, line: Axis, angles: FloatArray, reverse: bool
) -> MeshJointFit:
    """The result, with the distances of the meshes along the fitted curve."""
    least, contacts = np.zeros(len(angles)), np.zeros((len(angles), 2, 3))
    curve = fit.joint
    poses = curve_poses(curve.frames, Sites.at(angles, curve.knots, curve.order, False))
    poses = lie.inverse(poses) if reverse else poses
    for k, pose in enumerate(poses):
        touch = found.touch(pose)
        contacts[k] = [found.least(touch, side)[2] @ touch.places for side in found.sides(touch, line)]
        ways = (
            (found.first, _moved(pose, second.vertices)),
            (second, _moved(lie.inverse(pose), found.first.vertices)),
        )
        least[k] = min(_least_distance(*way, touch.gaps.min(), found.size) for way in ways)
    back = lie.inverse(poses)
    there = contacts @ back[:, :3, :3].transpose(0, 2, 1) + back[:, None, :3, 3]
    return MeshJointFit(fit, line.direction, line.point, found.kept, angles, least, contacts, there)


def _least_distance(surface: TriangleSurface, points: FloatArray, about: float, size: float) -> float:
    """The least signed distance of points from a surface; about: that of its smooth surface."""
    near = points[surface.within(points, abs(about) + EDGE * size)]
    gaps, _, over = surface.gaps(near)
    near, gaps = near[over], gaps[over]
    return float(surface.distances(near[np.argsort(gaps)[:EXACT]]).min(initial=np.inf))
