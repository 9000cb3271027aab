"""Spline joint of one to three coordinates: a surface or volume (Lee & Terzopoulos 2008, sec. 5.2)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from .._typing import FloatArray
from ..errors import ModelError
from ..geometry import lie, splines
from ..kernels import layout
from ..validation import chosen, finite, finite_array, one_each, truth, whole_number
from .base import IDENTITY, Block, Factorization
from .curve_packing import bucket_table, kernel_breaks
from .euler_angles import check_sequence, euler_angles, euler_rotations
from .joint import Joint

OUTSIDE = {"extend": layout.OUTSIDE_EXTEND, "error": layout.OUTSIDE_ERROR}
# Closer to gimbal lock than this, angles turn up to ten times as fast as the body.
LEAST_MARGIN = 0.1


@dataclass(frozen=True, eq=False, repr=False)
class SplineSurface(Joint):
    """G(q) = product of six exponentials whose angles and lengths are tensor-product B-splines of q, eq. 25.

    Attributes:
        values: control values (m_1, ..., m_n, 6), n = 1, 2 or 3: angles [rad] of the three rotations, then x, y, z [m].
        order: of each direction, 4 to 20 (3 is only C1: kinematics, with a warning); one number for all.
        knots: (m_i + order_i,) for each direction; None: even over [0, 1], clamped where the direction is open.
        periodic: which directions are closed. An angle that returns whole turns later counts as closed.
        sequence: axes of the angles, three letters of x, y, z, each in the frame after the ones before. If the first
            and third axis align, the joint is singular; it warns nearby: choose another sequence.
        rotation_first: rotations before translations; otherwise (x, y, z) is the position in the fixed frame.
        moving: the last direction is time [s], not a degree of freedom: the surface deforms. Its coordinate keeps its
            velocity (1) whatever the forces.
        outside: ``"extend"`` along straight lines beyond an open end, or ``"error"``.
    """

    values: Any
    order: Any = 4
    knots: Any = None
    periodic: Any = False
    sequence: str = "xyz"
    rotation_first: bool = False
    moving: bool = False
    outside: str = "extend"
    type: ClassVar[str] = "spline_surface"

    def __post_init__(self) -> None:
        values = finite(self.values, "surface values")
        directions = values.ndim - 1
        if not 1 <= directions <= 3 or values.shape[-1] != 6:
            raise ModelError(f"surface values must have shape (m_1[, m_2[, m_3]], 6), got {values.shape}")
        moving = truth(self.moving, "spline surface moving")
        if moving and directions == 1:
            raise ModelError("a moving spline surface needs a direction besides time, got one direction")
        chosen(self.outside, OUTSIDE, "spline surface outside")
        check_sequence(self.sequence, "spline surface")
        orders, periodic, knots = self._checked_directions(values.shape[:-1])
        _check_distinct(values, periodic, directions - moving)
        names = [f"q_{i + 1}" for i in range(directions)]
        units = ["1"] * directions
        if moving:
            names[-1], units[-1] = "time", "s"
        changes = {
            "values": values,
            "order": orders,
            "periodic": periodic,
            "knots": knots,
            "moving": moving,
            "rotation_first": truth(self.rotation_first, "spline surface rotation_first"),
            "coordinate_names": tuple(names),
            "coordinate_units": tuple(units),
        }
        for name, value in changes.items():
            object.__setattr__(self, name, value)
        self.lock()
        margin = self.gimbal_margin()
        if margin < LEAST_MARGIN:
            warnings.warn(
                f"a spline surface comes within {np.degrees(np.arcsin(margin)):.1f} degrees of the singularity of its "
                f"angles {self.sequence!r}: choose another sequence",
                stacklevel=3,
            )

    def _checked_directions(
        self, counts: tuple[int, ...]
    ) -> tuple[tuple[int, ...], tuple[bool, ...], tuple[FloatArray, ...]]:
        """Order, closedness and knots of each direction, given its number of control values."""
        directions = len(counts)
        orders = tuple(
            whole_number(k, "spline surface order") for k in one_each(self.order, directions, "surface order")
        )
        periodic = tuple(
            truth(p, "spline surface periodic")
            for p in one_each(self.periodic, directions, "surface periodic")
        )
        for order in orders:
            if not 3 <= order <= layout.SURFACE_MOST_ORDER:
                raise ModelError(f"surface order must be 3 to {layout.SURFACE_MOST_ORDER}, got {order}")
        if min(orders) == 3:
            warnings.warn(
                "a spline surface of order 3 is only C1: its accelerations jump, use it for kinematics",
                stacklevel=4,
            )
        given = [None] * directions if self.knots is None else self.knots
        count = len(given) if isinstance(given, list | tuple) or np.ndim(given) else repr(given)[:80]
        if count != directions:
            raise ModelError(f"spline surface knots must be one list a direction ({directions}), got {count}")
        knots = tuple(
            _checked_knots(given[i], counts[i], orders[i], periodic[i], i) for i in range(directions)
        )
        return orders, periodic, knots

    @classmethod
    def from_frames(
        cls, frames: Any, *, sequence: str = "xyz", rotation_first: bool = False, **options: Any
    ) -> Any:
        """The joint with the control values of frames (m_1, ..., m_n, 4, 4); angles are unwrapped along them.

        Other options as in the class. The surface meets control frames only at corners of open directions.
        """
        frames = lie.check_frames(frames, "control frame")
        check_sequence(sequence, "spline surface")
        angles = euler_angles(sequence, frames[..., :3, :3])
        for axis in range(frames.ndim - 2):
            angles = np.unwrap(angles, axis=axis)
        position = frames[..., :3, 3]
        if rotation_first:
            position = np.einsum("...ji,...j->...i", frames[..., :3, :3], position)
        values = np.concatenate([angles, position], axis=-1)
        return cls(values, sequence=sequence, rotation_first=rotation_first, **options)

    def __repr__(self) -> str:
        shape = " x ".join(map(str, self.values.shape[:-1]))
        return f"SplineSurface({shape} control values, order={self.order}, periodic={self.periodic})"

    @property
    def prescribed(self) -> tuple[bool, ...]:
        return tuple(name == "time" for name in self.coordinate_names)

    @property
    def control_frames(self) -> FloatArray:
        """Pose of each control value, (m_1, ..., m_n, 4, 4)."""
        frames = np.zeros((*self.values.shape[:-1], 4, 4))
        rotation, position = euler_rotations(self.sequence, self.values[..., :3]), self.values[..., 3:]
        if self.rotation_first:
            position = np.einsum("...ij,...j->...i", rotation, position)
        frames[..., :3, :3], frames[..., :3, 3], frames[..., 3, 3] = rotation, position, 1.0
        return frames

    @property
    def domain(self) -> FloatArray:
        """First and last value of each direction (n, 2), or one period of a closed one."""
        ends = [
            (knots[order - 1], knots[order - 1] + period if period else knots[len(knots) - order])
            for knots, order, period in zip(self.knots, self.order, self.periods)
        ]
        return np.array(ends)

    @property
    def periods(self) -> tuple[float, ...]:
        """Length of one turn of each direction, 0 where it is open."""
        return tuple(
            float(knots[len(knots) - order] - knots[0]) if closed else 0.0
            for knots, order, closed in zip(self.knots, self.order, self.periodic)
        )

    @property
    def range(self) -> FloatArray:
        range_ = self.domain
        range_[list(self.periodic)] = [-np.inf, np.inf]
        return range_

    @property
    def kinematic_only(self) -> str:
        least = min(self.order)
        return "" if least >= 4 else f"(order {least}): dynamics needs order >= 4"

    def angles_and_lengths(self, q: Any) -> FloatArray:
        """The six splines of eq. 25 (..., 6) at q (..., n): three angles about the axes of `sequence`, each in the
        frame after the ones before, then x, y, z.

        Raises:
            ModelError: q has the wrong shape or is not finite.
        """
        q = finite(q, "surface coordinates")
        directions = self.num_coordinates
        if q.ndim == 0 or q.shape[-1] != directions:
            raise ModelError(f"spline surface coordinates must have shape (..., {directions}), got {q.shape}")
        places = q.reshape(-1, directions)
        result = np.broadcast_to(self.net, (len(places), *self.net.shape))
        for i, (knots, order, period) in enumerate(zip(self.unrolled_knots, self.order, self.periods)):
            x, (lower, upper) = places[:, i], self.domain[i]
            if period:
                x = lower + np.mod(x - lower, period)
            inside = np.clip(x, lower, upper)
            bases = splines.basis(knots, order, inside)
            bases = bases + (x - inside)[:, None] * splines.basis(knots, order, inside, 1)
            result = np.einsum("nj,nj...->n...", bases, result)
        return result.reshape(*q.shape[:-1], 6)

    def gimbal_margin(self) -> float:
        """Distance of the middle angle from gimbal lock: its least |cos| (|sin| where first axis = third).

        Sampled at four points a knot span in each direction.
        """
        angles = self.net[..., 1]
        for axis, (knots, order) in enumerate(zip(self.unrolled_knots, self.order)):
            breaks = np.unique(knots[order - 1 : len(knots) - order + 1])
            places = np.interp(np.arange(4 * (len(breaks) - 1) + 1) / 4.0, np.arange(len(breaks)), breaks)
            bases = splines.basis(knots, order, places)
            angles = np.moveaxis(np.tensordot(bases, angles, (1, axis)), 0, axis)
        margin = np.sin(angles) if self.sequence[0] == self.sequence[2] else np.cos(angles)
        return float(np.abs(margin).min())

    @cached_property
    def net(self) -> FloatArray:
        """Control values with the first order - 1 of each closed direction repeated, their angles plus whole turns."""
        net: FloatArray = self.values
        for axis, (order, closed) in enumerate(zip(self.order, self.periodic)):
            if closed:
                count = net.shape[axis]
                turns = np.zeros((*net.shape[:axis], 1, *net.shape[axis + 1 :]))
                rise = np.take(net, [-1], axis) - np.take(net, [0], axis)
                turns[..., :3] = 2.0 * np.pi * np.round(rise[..., :3] / (2.0 * np.pi))
                extra = np.arange(order - 1)
                again = np.take(net, extra % count, axis) + turns
                net = np.concatenate([net, again], axis)
        return net

    @cached_property
    def unrolled_knots(self) -> tuple[FloatArray, ...]:
        return tuple(
            splines.unrolled_knots(knots, order) if closed else knots
            for knots, order, closed in zip(self.knots, self.order, self.periodic)
        )

    def factorization(self) -> Factorization:
        directions = self.values.ndim - 1
        tables = [
            _direction_table(knots, order, period)
            for knots, order, period in zip(self.unrolled_knots, self.order, self.periods)
        ]
        header = np.zeros(layout.SURFACE_HEADER)
        header[layout.SURFACE_DIRECTIONS] = directions
        header[layout.SURFACE_ROTATION_FIRST] = self.rotation_first
        header[layout.SURFACE_SIGN] = 1.0
        header[layout.SURFACE_OUTSIDE] = OUTSIDE[self.outside]
        header[layout.SURFACE_AXES : layout.SURFACE_AXES + 3] = ["xyz".index(axis) for axis in self.sequence]
        starts = layout.SURFACE_HEADER + np.cumsum([0, *map(len, tables)])
        header[layout.SURFACE_TABLES : layout.SURFACE_TABLES + directions] = starts[:-1]
        counts = (*self.net.shape[:-1], 1, 1)[:3]
        header[layout.SURFACE_COUNTS : layout.SURFACE_COUNTS + 3] = counts
        header[layout.SURFACE_VALUES] = starts[-1]
        data = np.concatenate([header, *tables, self.net.ravel(), [0.0]])  # kernels read four numbers at once
        return Factorization((Block(layout.SPLINE_SURFACE, 0, IDENTITY, data),), IDENTITY)


def _checked_knots(knots: Any, count: int, order: int, periodic: bool, direction: int) -> FloatArray:
    name = f"knots of direction {direction + 1} of a spline surface"
    if count < order:
        raise ModelError(
            f"direction {direction + 1} of a spline surface of order {order} needs at least {order} control values, "
            f"got {count}"
        )
    if knots is None:
        default = splines.periodic_knots if periodic else splines.clamped_knots
        knots = default(count, order)
    array = finite_array(knots, (count + order,), name)
    return splines.check_knots(array, order, periodic, name)


def _check_distinct(values: FloatArray, periodic: tuple[bool, ...], directions: int) -> None:
    """ModelError if neighbours along a degree of freedom coincide, across a seam too: the joint would stop."""
    for axis in range(directions):
        following = np.roll(values, -1, axis=axis)
        steps = following - values
        last = (slice(None),) * axis + (-1,)
        if periodic[axis]:  # angles may differ by whole turns
            steps[last][..., :3] -= 2.0 * np.pi * np.round(steps[last][..., :3] / (2.0 * np.pi))
        distances = np.linalg.norm(steps, axis=-1)
        if not periodic[axis]:
            distances[last] = np.inf
        if not (distances > 1e-12).all():
            where = np.unravel_index(int(np.argmin(distances)), distances.shape)
            place = tuple(int(i) for i in where)
            other = tuple((i + (k == axis)) % values.shape[k] for k, i in enumerate(place))
            raise ModelError(
                f"control values {place} and {other} of a spline surface coincide "
                f"(distance {distances[where]:.3g}): the joint would stand still there"
            )


def _direction_table(knots: FloatArray, order: int, period: float) -> FloatArray:
    """One direction for the kernels: header, buckets, breaks, and each span's bases (see kernels.joints.surface)."""
    breaks, first, cumulative = splines.span_polynomials(knots, order, len(knots) - order)
    ones = np.zeros((len(first), 1, order))
    ones[:, 0, 0] = 1.0
    bases = -np.diff(np.concatenate([ones, cumulative, np.zeros_like(ones)], axis=1), axis=1)
    buckets, table = bucket_table(breaks)
    header = np.zeros(layout.SPLINE_HEADER)
    header[layout.SPLINE_LOWER], header[layout.SPLINE_UPPER] = breaks[0], breaks[-1]
    header[layout.SPLINE_PERIOD], header[layout.SPLINE_SPANS] = period, len(first)
    header[layout.SPLINE_BUCKETS], header[layout.SPLINE_ORDER] = buckets, order
    header[layout.SPLINE_BUCKET_SCALE] = buckets / (breaks[-1] - breaks[0])
    pieces = np.concatenate([first[:, None].astype(np.float64), bases.reshape(len(first), -1)], axis=1)
    return np.concatenate([header, table, kernel_breaks(breaks), pieces.ravel()])


def inverted_surface(data: FloatArray) -> FloatArray:
    """Data of a surface block for the inverse motion: opposite factors in reverse order."""
    result = data.copy()
    result[layout.SURFACE_SIGN] = -data[layout.SURFACE_SIGN]
    result[layout.SURFACE_ROTATION_FIRST] = 1.0 - data[layout.SURFACE_ROTATION_FIRST]
    axes = slice(layout.SURFACE_AXES, layout.SURFACE_AXES + 3)
    result[axes] = data[axes][::-1]
    start = int(data[layout.SURFACE_VALUES])
    values = data[start:-1].reshape(-1, 6)
    result[start:-1] = values[:, [2, 1, 0, 3, 4, 5]].ravel()
    return result
