"""The path, surface or volume that a link sweeps, sampled, with frames on it and its limits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import FloatArray
from ..kernels import layout
from .base import Block
from .links import Link
from .symbols import SAMPLE_ROLES, Pen, facing

# Samples along a path, and along a side of a surface: per span of a spline, then the least and the most.
PATH_SAMPLES = (6, 33, 145)
SURFACE_SAMPLES = (2, 13, 25)
# Steps between two samples on the cubic through them.
FINER = 4
SURFACE_LINES = 7
VOLUME_LINES = 3
PATH_FRAMES = 7
SURFACE_FRAMES = 4
# Half the drawn range of a function without ends, by the unit of its coordinate.
REACH = {"rad": 1.0, "m": 0.1, "1": 1.0, "s": 1.0}
# An origin that moves less than this share of the symbols' size is fixed: the tips of the axes are traced instead.
STILL = 1e-6


@dataclass(frozen=True, eq=False)
class Sweep:
    """A link, the coordinates that sweep (counted in the whole joint), and limits and readings of the whole joint."""

    link: Link
    free: tuple[int, ...]
    limits: FloatArray
    readings: FloatArray

    def poses(self, places: FloatArray) -> FloatArray:
        """Poses (..., 4, 4) at values (..., f) of the free coordinates, the others at their readings."""
        q = np.broadcast_to(self.readings[self.link.own], (*places.shape[:-1], self.link.num_coordinates))
        q = q.copy()
        q[..., [c - self.link.first for c in self.free]] = places
        return self.link.transform(q)

    @property
    def domain(self) -> FloatArray:
        """Drawn range of the free coordinates (f, 2)."""
        return np.array([self._reach(k, c) for k, c in enumerate(self.free)])

    @property
    def bounds(self) -> FloatArray:
        """Limits of the free coordinates (f, 2), clipped to the ends of links with policy ``"error"``; infinite if
        open.
        """
        result = []
        for c in self.free:
            pair = self.limits[c]
            for block in self.link.blocks:
                ends = _ends(block, c - self.link.first)
                if ends is not None and _refuses(block):
                    pair = np.where(np.isfinite(pair), np.clip(pair, *ends), pair)
            result.append(pair)
        return np.array(result)

    def samples(self, spans: int, least: int, most: int) -> int:
        """Number of samples that show the link's motion along one coordinate."""
        pieces = [_spans(block) for block in self.link.blocks]
        return int(np.clip(spans * max(pieces) + 1, least, most))

    def _reach(self, place: int, coordinate: int) -> tuple[float, float]:
        ends = [_ends(block, coordinate - self.link.first) for block in self.link.blocks]
        known = [pair for pair in ends if pair is not None]
        lower, upper = self.limits[coordinate]
        if known:
            low, high = max(pair[0] for pair in known), min(pair[1] for pair in known)
            if len(self.free) > 1 and place == 1 and (low, high) == (-np.pi, np.pi):
                return 0.5 * low, 0.5 * high  # a second angle is a latitude
            return low, high
        reach = REACH[self.link.coordinate_units[coordinate - self.link.first]]
        low = lower if np.isfinite(lower) else min(-reach, upper - 2.0 * reach)
        high = upper if np.isfinite(upper) else max(reach, low + 2.0 * reach)
        return low, high


def _ends(block: Block, coordinate: int) -> tuple[float, float] | None:
    """Ends of a factor along a coordinate of its link, or one turn of it; None if it has neither."""
    data, place = block.data, coordinate - block.coordinate
    if block.kind == layout.SPLINE_CURVE and place == 0:
        return float(data[layout.SPLINE_LOWER]), float(data[layout.SPLINE_UPPER])
    if block.kind == layout.SPLINE_SURFACE and 0 <= place < int(data[layout.SURFACE_DIRECTIONS]):
        table = data[int(data[layout.SURFACE_TABLES + place]) :]
        return float(table[layout.SPLINE_LOWER]), float(table[layout.SPLINE_UPPER])
    if block.kind == layout.FUNCTION:
        count = int(data[layout.TWIST_WIDTH])
        function = data[layout.TWIST_WIDTH + 1 + count :]
        if not 0 <= place < count:
            return None
        if function[0] in (layout.TRIGONOMETRIC, layout.TANGENT_ANGLE):
            return -np.pi, np.pi
        if function[0] == layout.PIECEWISE:
            return float(function[3]), float(function[3 + int(function[1])])
    return None


def _spans(block: Block) -> int:
    """Number of spans of a spline, the most of its directions; 0 for other factors."""
    data = block.data
    if block.kind == layout.SPLINE_CURVE:
        return int(data[layout.SPLINE_SPANS])
    if block.kind == layout.SPLINE_SURFACE:
        tables = data[layout.SURFACE_TABLES : layout.SURFACE_TABLES + int(data[layout.SURFACE_DIRECTIONS])]
        return max(int(data[int(start) + layout.SPLINE_SPANS]) for start in tables)
    return 0


def _refuses(block: Block) -> bool:
    if block.kind == layout.SPLINE_CURVE:
        closed = block.data[layout.SPLINE_PERIOD] > 0.0
        return bool(block.data[layout.SPLINE_OUTSIDE] == layout.OUTSIDE_ERROR and not closed)
    outside = layout.SURFACE_OUTSIDE
    return block.kind == layout.SPLINE_SURFACE and bool(block.data[outside] == layout.OUTSIDE_ERROR)


def draw_swept(before: Pen, after: Pen, sweep: Sweep, size: float) -> None:
    """Draw the sweep of the free coordinates in the frame before the link, and a bead in the one after it."""
    if len(sweep.free) == 1:
        _draw_path(before, sweep, size)
    elif sweep.free:
        _draw_grid(before, sweep, size)
    after.bead(np.eye(4), 0.06 * size, "value")


def _draw_path(pen: Pen, sweep: Sweep, size: float) -> None:
    (lower, upper), (bounds,) = sweep.domain[0], sweep.bounds
    count = sweep.samples(*PATH_SAMPLES)
    q = np.linspace(lower, upper, count)
    poses = sweep.poses(q[:, None])
    still = stands_still(poses, size)
    for line in traces(poses, size, still):
        pen.stroke(line, "path")
    closed = np.abs(poses[-1] - poses[0]).max() < 1e-9
    places = np.linspace(lower, upper, PATH_FRAMES + closed)[:PATH_FRAMES]
    for pose in sweep.poses(places[:, None]):
        pen.frame(pose, 0.25 * size, SAMPLE_ROLES)
    if not np.isfinite(bounds).any():
        return
    ends = np.where(np.isfinite(bounds), bounds, [lower, upper])
    if not np.allclose(ends, [lower, upper]):  # limits at both ends need no second line
        poses = sweep.poses(np.linspace(ends[0], ends[1], count)[:, None])
        for line in traces(poses, size, still):
            pen.stroke(line, "limit")
    for bound, (this, other) in zip(bounds, ((0, 1), (-1, -2))):
        if np.isfinite(bound):
            pen.plate(_across(poses[this], poses[other]), 0.08 * size, "limit")


def _across(pose: FloatArray, other: FloatArray) -> FloatArray:
    """A frame at one pose that faces the other; the pose itself where both are at the same place."""
    step = other[:3, 3] - pose[:3, 3]
    if not np.linalg.norm(step) > 0.0:
        return pose
    return facing(pose[:3, 3], step)


def stands_still(poses: FloatArray, size: float) -> bool:
    """Whether poses (..., 4, 4) turn about a fixed origin."""
    return bool(np.ptp(poses[..., :3, 3].reshape(-1, 3), axis=0).max() <= STILL * size)


def traces(poses: FloatArray, size: float, still: bool) -> list[FloatArray]:
    """Paths (n, 3) through poses (n, 4, 4): of the origin, or of the tips of the axes if the origin is `still`."""
    origin = poses[:, :3, 3]
    lines = [origin + 0.4 * size * poses[:, :3, axis] for axis in range(3)] if still else [origin]
    return [smoothed(line) for line in lines]


def smoothed(points: FloatArray) -> FloatArray:
    """Points (n, 3), n >= 3, with FINER - 1 more between neighbours, on cubics with slopes from parabolas."""
    slopes = np.gradient(points, axis=0, edge_order=2)
    t = (np.arange(FINER) / FINER)[None, :, None]
    start, end = points[:-1, None], points[1:, None]
    out, into = slopes[:-1, None], slopes[1:, None]
    rise = end - start
    pieces = start + t * (out + t * (3.0 * rise - 2.0 * out - into + t * (out + into - 2.0 * rise)))
    return np.concatenate([pieces.reshape(-1, 3), points[-1:]])


def _draw_grid(pen: Pen, sweep: Sweep, size: float) -> None:
    """Draw lines along each free coordinate with the others fixed, frames on them, and the outline of the limits."""
    directions = len(sweep.free)
    domain = sweep.domain
    lines = SURFACE_LINES if directions == 2 else VOLUME_LINES
    counts = sweep.samples(*SURFACE_SAMPLES) if directions == 2 else 4 * (lines - 1) + 1
    axes = [np.linspace(low, high, counts) for low, high in domain]
    poses = sweep.poses(np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1))
    still = stands_still(poses, size)
    fixed = np.linspace(0, counts - 1, lines).astype(int)
    for along in range(directions):
        rows = np.moveaxis(poses, along, directions - 1)[np.ix_(*[fixed] * (directions - 1))]
        for row in rows.reshape(-1, counts, 4, 4):
            for line in traces(row, size, still):
                pen.stroke(line, "surface")
    chosen = np.linspace(0, counts - 1, SURFACE_FRAMES if directions == 2 else VOLUME_LINES).astype(int)
    for pose in poses[np.ix_(*[chosen] * directions)].reshape(-1, 4, 4):
        pen.frame(pose, 0.2 * size, SAMPLE_ROLES)
    bounds = sweep.bounds
    if np.isfinite(bounds).any():
        _draw_outline(pen, sweep, np.where(np.isfinite(bounds), bounds, domain), size, still)


def _draw_outline(pen: Pen, sweep: Sweep, ends: FloatArray, size: float, still: bool) -> None:
    """Draw the edges of the box of limits, carried by the link."""
    directions, count = len(ends), sweep.samples(*SURFACE_SAMPLES)
    for along in range(directions):
        others = [k for k in range(directions) if k != along]
        for corner in np.ndindex(*[2] * len(others)):
            places = np.empty((count, directions))
            places[:, along] = np.linspace(ends[along, 0], ends[along, 1], count)
            for k, side in zip(others, corner):
                places[:, k] = ends[k, side]
            for line in traces(sweep.poses(places), size, still):
                pen.stroke(line, "limit")
