"""Two surfaces in contact: the part of each that articulates, the axis that it suggests, and a pose at each flexion."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ..errors import FitError
from ..geometry import lie
from ..geometry.triangle_surface import TriangleSurface

# Lengths as shares of the joint's size: the longest edge of the triangles used, the spacing of sample points, the
# decays of the weights of gaps (of contact, of congruence), and the distance beyond which surfaces are no joint
EDGE, SPACING, SHARP, WIDE, FAR = 0.04, 0.035, 0.006, 0.03, 0.3
NEAR = 0.1  # of the joint's size: beyond the least distance, points within it are the contact
REACH = 5.0  # decays of congruence within which points count
# weight of the pull to the hinge against congruence (both of squared lengths), relative step at which a pose is found,
# the longest step as a share of the size, the most steps, and the share of the largest singular value taken for 0
PULL, FOUND, LONGEST, STEPS, SINGULAR = 1.0, 2e-5, 0.05, 20, 0.03
# what counts as slip of an axis along the mean normal, and across the longest extent of the contact; below this share
# of the stiffest shift one costs nothing
NO_SPIN, SIDEWAYS, NO_SHIFT = 1.0, 1e-3, 1e-3


class Axis(NamedTuple):
    """A line through a point (3,) [m] in a unit direction (3,), in the first surface's frame; slip: how little the
    surface slides along itself about it, without a unit.
    """

    direction: FloatArray
    point: FloatArray
    slip: float = 0.0

    def turned(self, angle: float) -> FloatArray:
        """The pose (4, 4) that turns by an angle [rad] about it."""
        pose = np.eye(4)
        pose[:3, :3] = lie.so3_exp(angle * self.direction)
        pose[:3, 3] = self.point - pose[:3, :3] @ self.point
        return pose


class Touch(NamedTuple):
    """Sample points of the second surface near the first in a pose: their numbers (n,), places (n, 3), gaps (n,) and
    normals (n, 3), in the first one's frame.
    """

    numbers: IntArray
    places: FloatArray
    gaps: FloatArray
    normals: FloatArray


@dataclass
class Articulation:
    """Two surfaces near contact.

    Attributes:
        first: its part near the contact. points, areas: samples (n, 3), (n,) of the second, in its own frame.
        start: pose (4, 4) of the second in the first. size: of the joint [m]. gap: asked for [m], or None.
        kept: the gap [m] on both sides of `middle`, the place along the axis that parts them.
    """

    first: TriangleSurface
    points: FloatArray
    areas: FloatArray
    start: FloatArray
    size: float
    gap: float | None
    kept: float = 0.0
    middle: float = 0.0

    def part_at(self, axis: Axis) -> None:
        """Part the contact of the given pose into halves along an axis, and take its gap where none is given."""
        touch = self.touch(self.start)
        along = touch.places @ axis.direction
        order = np.argsort(along)
        areas = np.cumsum(self.contact(touch)[order])
        self.middle = float(along[order][np.searchsorted(areas, 0.5 * areas[-1])])
        least = [self.least(touch, side)[0] for side in self.sides(touch, axis)]
        self.kept = min(least) if self.gap is None else self.gap

    def touch(self, pose: FloatArray) -> Touch:
        """The samples that are near the first surface in a pose."""
        places = self.points @ pose[:3, :3].T + pose[:3, 3]
        reach = max(self.kept, 0.0) + REACH * WIDE * self.size
        numbers = np.flatnonzero(self.first.within(places, reach))
        if not len(numbers):
            raise FitError(
                f"the meshes part by over {reach:.3g} m along the motion: take a smaller range, or an axis"
            )
        gaps, normals, over = self.first.gaps(places[numbers])
        if not over.any():
            raise FitError(
                f"the meshes part by over {reach:.3g} m along the motion: take a smaller range, or an axis"
            )
        return Touch(numbers[over], places[numbers[over]], gaps[over], normals[over])

    def least(self, touch: Touch, chosen: BoolArray) -> tuple[float, FloatArray, FloatArray]:
        """A smooth least gap of the chosen samples, its derivatives (n,) by their gaps, and their weights (n,).

        With weights exp(-gap / decay) the mean lies above the least gap by the variance / decay, of any contact that is
        a point, a line or an area of constant curvature.
        """
        decay = SHARP * self.size
        least = touch.gaps[chosen].min()
        weights = chosen * self.areas[touch.numbers] * np.exp(-np.maximum(touch.gaps - least, 0.0) / decay)
        weights /= weights.sum()
        mean = float(weights @ touch.gaps)
        off = (touch.gaps - mean) / decay
        variance = float(weights @ off**2)
        return mean - decay * variance, weights * (1.0 - 3.0 * off + off**2 - variance), weights

    def contact(self, touch: Touch) -> FloatArray:
        """Areas (n,) of the samples of the contact, 0 of those beyond."""
        return self.areas[touch.numbers] * (touch.gaps <= touch.gaps.min() + NEAR * self.size)

    def sides(self, touch: Touch, axis: Axis) -> tuple[BoolArray, BoolArray]:
        """The samples on either side of the middle along the axis."""
        low = touch.places @ axis.direction < self.middle
        if low.all() or not low.any():
            return np.ones_like(low), np.ones_like(low)
        return low, ~low

    def congruence(self, touch: Touch) -> FloatArray:
        """Weights (n,), of sum 1, with which the samples' gaps are drawn to the gap that is kept."""
        weights = self.areas[touch.numbers] * np.exp(-(touch.gaps - touch.gaps.min()) / (WIDE * self.size))
        return weights / weights.sum()

    def settle(self, axis: Axis, angle: float, off: FloatArray) -> FloatArray:
        """How the second surface is off the hinge (4, 4), in the first one's frame, at a flexion [rad].

        Both sides keep the gap; under this constraint the surfaces are as congruent as possible, and near the hinge.
        Sequential quadratic programming, from a pose nearby, in five directions: the flexion is kept.
        """
        hinge, arm = axis.turned(angle) @ self.start, 0.25 * self.size
        free = _complement(np.concatenate([axis.direction, np.zeros(3)])[None])
        for _ in range(STEPS):
            touch = self.touch(off @ hinge)
            moved = (
                np.concatenate(
                    [np.cross(touch.places - axis.point, touch.normals) / arm, touch.normals], axis=1
                )
                @ free
            )
            rows, misses = [], []
            for side in self.sides(touch, axis):
                least, slopes, _ = self.least(touch, side)
                rows.append(slopes @ moved)
                misses.append(self.kept - least)
            pull = (lie.log(_about(axis.point, off)) * np.repeat([arm, 1.0], 3)) @ free
            weighted = self.congruence(touch)[:, None] * moved
            matrix = weighted.T @ moved + PULL * np.eye(5)
            gradient = weighted.T @ (touch.gaps - self.kept) + PULL * pull
            step = free @ _constrained(np.array(rows), np.array(misses), matrix, gradient)
            size = float(np.linalg.norm(step))
            step *= min(1.0, LONGEST * self.size / max(size, 1e-300))
            off = _about(-axis.point, lie.exp(step / np.repeat([arm, 1.0], 3))) @ off
            if size < FOUND * self.size:
                break
        return off

    def poses(self, axis: Axis, angles: FloatArray) -> FloatArray:
        """Poses (n, 4, 4) at increasing flexions (n,) [rad], each found from the one next to it nearer to the start."""
        found = np.zeros((len(angles), 4, 4))
        first = int(np.argmin(np.abs(angles)))
        for run in (range(first, len(angles)), range(first - 1, -1, -1)):
            off = np.eye(4)
            for k in run:
                off = self.settle(axis, float(angles[k]), off)
                found[k] = off @ axis.turned(float(angles[k])) @ self.start
        return found

    def first_axis(self, given: FloatArray | None) -> Axis:
        """The axis that the contact in the given pose suggests; the start becomes the pose nearby in which both of its
        sides have the gap.
        """
        for _ in range(2):
            touch = self.touch(self.start)
            axis = self.suggested([touch], [self.contact(touch)], given)
            self.part_at(axis)
            self.gap = self.kept
            self.start = self.settle(axis, 0.0, np.eye(4)) @ self.start
        return axis

    def width(self, axis: Axis, angles: FloatArray) -> float:
        """Mean spread of the contact along the axis [m] at these flexions; 0 where the surfaces part."""
        self.part_at(axis)
        try:
            touches = [self.touch(pose) for pose in self.poses(axis, angles)]
        except FitError:
            return 0.0
        spreads = []
        for touch in touches:
            weights, along = self.congruence(touch), touch.places @ axis.direction
            spreads.append(np.sqrt(weights @ (along - weights @ along) ** 2))
        return float(np.mean(spreads))

    def suggested(self, touches: list[Touch], weights: list[FloatArray], given: FloatArray | None) -> Axis:
        """The axis about which the first surface slides along itself where it is touched.

        The turn w and the shift v with the least weighted mean of (n . (w x p + v))^2 (Gelfand & Guibas 2004, sec. 3);
        not about the mean normal; of equal ones about the longest extent. given: its direction, or None.
        """
        places = np.concatenate([each.places - each.gaps[:, None] * each.normals for each in touches])
        normals, share = np.concatenate([each.normals for each in touches]), np.concatenate(weights)
        share = share / share.sum()
        center = share @ places
        off = (places - center) / self.size
        rows = np.concatenate([np.cross(off, normals), normals], axis=1)
        matrix = (share[:, None] * rows).T @ rows
        shifts = -np.linalg.pinv(matrix[3:, 3:], rcond=NO_SHIFT, hermitian=True) @ matrix[3:, :3]
        if given is None:
            normal, spread = share @ normals, (share[:, None] * off).T @ off
            slip = matrix[:3, :3] + matrix[:3, 3:] @ shifts + NO_SPIN * np.outer(normal, normal)
            slip += SIDEWAYS * (np.eye(3) - spread / np.linalg.norm(spread, 2))
            given = np.linalg.eigh(slip)[1][:, 0]
            given *= np.copysign(1.0, given[np.abs(given).argmax()])
        shift = shifts @ given
        motion = np.concatenate([given, shift])
        return Axis(given, center + self.size * np.cross(given, shift), float(motion @ matrix @ motion))


def _constrained(
    rows: FloatArray, misses: FloatArray, matrix: FloatArray, gradient: FloatArray
) -> FloatArray:
    """The step that meets rows @ step = misses (those that depend on others as well as they can) and is least."""
    left, singular, right = np.linalg.svd(rows)
    rank = int((singular > SINGULAR * singular[0]).sum())
    step: FloatArray = right[:rank].T @ ((left.T @ misses)[:rank] / singular[:rank])
    rest = right[rank:]
    step -= rest.T @ np.linalg.solve(rest @ matrix @ rest.T, rest @ (gradient + matrix @ step))
    return step


def _complement(rows: FloatArray) -> FloatArray:
    """A basis (n, n - m) of what is orthogonal to m rows (m, n)."""
    return np.linalg.svd(rows)[2][len(rows) :].T


def _about(point: FloatArray, pose: FloatArray) -> FloatArray:
    """A motion (4, 4) in axes at a point."""
    moved = pose.copy()
    moved[:3, 3] += pose[:3, :3] @ point - point
    return moved
