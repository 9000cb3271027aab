"""A joint as a chain of rigid motions that Blender's drivers can make, each moved by sliders.

Every joint is a product of exponentials whose exponents are functions of its coordinates. Functions of one number
become curves of drivers; functions of two or three become sums of products of such curves, exactly for splines and to
1e-9 for others, by singular value decomposition. numpy only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..blender import physics_access
from ..curves.slopes import of_even
from . import factor_poses

#: samples per radian of a function of one number: cubics a fortieth of a radian long follow a turn to 1e-8 radius
DENSITY = 40.0
#: the same for functions of two numbers, for 1e-7
GRID_DENSITY = 24.0


@dataclass(frozen=True, eq=False)
class Curve:
    """A function of u = weights . readings: cubics between places (n,) by values (n,) or (n, c) and rates there."""

    weights: dict[int, float]
    places: np.ndarray
    values: np.ndarray
    rates: np.ndarray


def sampled(weights: dict[int, float], places: np.ndarray, values: np.ndarray) -> Curve:
    """A curve through values at even places."""
    columns = values.reshape(len(values), -1)
    rates = of_even(columns).rates / (places[1] - places[0])
    return Curve(weights, places, values, rates.reshape(values.shape))


Term = tuple[Curve, ...]  # a product
Sum = list[Term]


@dataclass
class Motion:
    """Motion of one Empty: a constant frame, a shift, then a rotation in one of three forms.

    Attributes:
        frame: constant pose (4, 4) before it.
        shift: x, y, z, each a sum of products of curves.
        turns: angles about axes "x", "y", "z" in order, each axis once.
        poses: rotations as quaternions (n, 4), functions of one number.
        vector: first reading and sign of a rotation vector, and its limit of physics or None.
    """

    frame: np.ndarray
    shift: tuple[Sum, Sum, Sum] = field(default_factory=lambda: ([], [], []))
    turns: dict[str, Sum] = field(default_factory=dict)
    quaternions: Curve | None = None
    vector: tuple[int, float, Any] | None = None

    @property
    def is_turned(self) -> bool:
        return bool(self.turns) or self.quaternions is not None or self.vector is not None


class Row:
    """Collects motions; constant frames between them are multiplied until a motion needs them."""

    def __init__(self) -> None:
        self.motions = [Motion(np.eye(4))]
        self.rest = np.eye(4)

    def constant(self, pose: np.ndarray) -> None:
        self.rest = self.rest @ pose

    def shift(self, direction: np.ndarray, terms: Sum) -> None:
        if self.motions[-1].is_turned:
            self._begin()
        along = self.rest[:3, :3] @ direction
        axes = np.flatnonzero(np.abs(along) > 1e-14)
        if any(self.motions[-1].shift[axis] for axis in axes):
            self.motions.append(Motion(np.eye(4)))  # another Empty is simpler than a sum in a channel
        for axis in axes:
            self.motions[-1].shift[axis].extend(scaled(term, along[axis]) for term in terms)

    def turn(self, axis: np.ndarray, terms: Sum) -> None:
        """Turn about an axis through the origin."""
        along = int(np.argmax(np.abs(axis)))
        if abs(axis[along]) < 1.0 - 1e-14:
            frame = np.eye(4)
            frame[:3, :3] = physics_access.part("joints.base").rotation_to(axis)
            self.constant(frame)
            self.turn(np.array([0.0, 0.0, 1.0]), terms)
            self.constant(frame.T)
            return
        letter = "xyz"[along]
        motion = self.motions[-1]
        taken = motion.quaternions is not None or motion.vector is not None or letter in motion.turns
        if taken or not self._is_clear():
            self._begin()
        self.motions[-1].turns[letter] = [scaled(term, axis[along]) for term in terms]

    def move(self, weights: dict[int, float], places: np.ndarray, poses: np.ndarray) -> None:
        """Any motion (n, 4, 4) that is a function of one number."""
        self._turnable()
        lie = physics_access.physics().lie
        for axis in range(3):
            values = poses[:, axis, 3]
            if np.abs(values).max() > 1e-14:
                self.motions[-1].shift[axis].append((sampled(weights, places, values),))
        quaternions = lie.continuous_quaternions(lie.quaternion_from_matrix(poses[:, :3, :3]))
        self.motions[-1].quaternions = sampled(weights, places, quaternions)

    def vector(
        self,
        first: int,
        sign: float,
        limit: physics_access.ReachCone | physics_access.RotationLimit | None = None,
    ) -> None:
        self._turnable()
        self.motions[-1].vector = (first, sign, limit)

    def finished(self) -> list[Motion]:
        if not self._is_clear():
            self._begin()
        return self.motions

    def _is_clear(self) -> bool:
        return bool(np.abs(self.rest - np.eye(4)).max() < 1e-14)

    def _turnable(self) -> None:
        if self.motions[-1].is_turned or not self._is_clear():
            self._begin()

    def _begin(self) -> None:
        last = self.motions[-1]
        if last.is_turned or any(last.shift):  # otherwise the motion is constant and includes this constant
            self.motions.append(Motion(self.rest))
        else:
            last.frame = last.frame @ self.rest
        self.rest = np.eye(4)


def scaled(term: Term, factor: float) -> Term:
    """A product times a number."""
    first = term[0]
    return (Curve(first.weights, first.places, factor * first.values, factor * first.rates), *term[1:])


def motions_of(joint: physics_access.Joint, ranges: np.ndarray, after: np.ndarray) -> list[Motion]:
    """The motions of a joint in order; the last may be constant.

    Args:
        joint: of physics. ranges: (n, 2), of each reading, in SI.
        after: constant pose (4, 4) after the joint.
    """
    row = Row()
    if joint.num_coordinates == 1:
        places = even_places(ranges[0, 0], ranges[0, 1], _least(joint))
        row.move({0: 1.0}, places, factor_poses.along(joint, places) @ after)
    else:
        _add(row, joint, ranges, 0, 1.0)
        row.constant(after)
    return row.finished()


def natural_ranges(joint: physics_access.Joint) -> np.ndarray:
    """Ranges of the readings (n, 2): `joint.range`, and one turn where it is periodic."""
    joints = physics_access.physics().joints
    if isinstance(joint, joints.Composite):
        return np.concatenate([natural_ranges(part).reshape(-1, 2) for part in joint.joints])
    if isinstance(joint, joints.Inverted):
        return natural_ranges(joint.joint)
    if isinstance(joint, joints.SplineCurve):
        return np.array([joint.domain])
    if isinstance(joint, joints.SplineSurface):
        return np.array(joint.domain)
    return np.array(joint.range)


def even_places(lower: float, upper: float, least: int = 64) -> np.ndarray:
    """Places, `least` or more stretches apart, at which a function of one number is sampled."""
    count = int(np.clip(round(DENSITY * (upper - lower)), least, 4000))
    return np.linspace(lower, upper, count + 1)


def _least(joint: physics_access.Joint) -> int:
    """As of `even_places`: differences over a curve's knot, where the third derivative jumps, need more."""
    joints = physics_access.physics().joints
    if isinstance(joint, joints.Composite):
        return max(map(_least, joint.joints))
    if isinstance(joint, joints.Inverted):
        return _least(joint.joint)
    return 32 * (len(joint.frames) + 4) if isinstance(joint, joints.SplineCurve) else 64


def _add(row: Row, joint: physics_access.Joint, ranges: np.ndarray, first: int, sign: float) -> None:
    """Add a joint, or with sign -1 its inverse, whose readings begin at `first`."""
    joints = physics_access.physics().joints
    if isinstance(joint, joints.Inverted):
        _add(row, joint.joint, ranges, first, -sign)
    elif isinstance(joint, joints.RollPitchYaw):
        _add(row, joints.Euler(), ranges, first, -sign)
    elif isinstance(joint, joints.Composite):
        starts = first + np.cumsum([0, *(part.num_coordinates for part in joint.joints)])
        parts = list(zip(joint.joints, starts.tolist()))
        for part, start in parts if sign > 0 else parts[::-1]:
            _add(row, part, ranges, start, sign)
    elif isinstance(joint, joints.Euler):
        angles = list(enumerate(joint.sequence, first))
        for reading, letter in angles if sign > 0 else angles[::-1]:
            row.turn(_axis(letter), [(_line({reading: 1.0}, sign),)])
    elif isinstance(joint, joints.SplineSurface):
        _add_surface(row, joint, first, sign)
    elif isinstance(joint, joints.SplineCurve):
        places = even_places(ranges[first, 0], ranges[first, 1], _least(joint))
        poses = factor_poses.along(joint if sign > 0 else joints.Inverted(joint), places)
        if np.abs(poses[:, :3, :3] - np.eye(3)).max() < 1e-14:
            for axis in range(3):
                row.shift(_axis("xyz"[axis]), _curve_terms({first: 1.0}, places, poses[:, axis, 3]))
        else:
            row.move({first: 1.0}, places, poses)
    else:
        inverse = joints.Inverted(joint) if sign < 0 else joint
        limits = dict(joint.rotation_limits)
        _add_factors(row, inverse, ranges, first, limits)


def _axis(letter: str) -> np.ndarray:
    return np.eye(3)["xyz".index(letter)]


def _line(weights: dict[int, float], slope: float) -> Curve:
    """A straight line through 0, which continues beyond its ends."""
    return sampled(weights, np.array([-1.0, 1.0]), np.array([-slope, slope]))


def _add_surface(row: Row, joint: physics_access.SplineSurface, first: int, sign: float) -> None:
    """Three shifts and three turns, each a tensor-product spline: a sum of products of functions of one direction."""
    directions = _bases(joint, first)
    sums = [_separated(directions, sign * joint.net[..., k]) for k in range(6)]
    turns = [(_axis(letter), terms) for letter, terms in zip(joint.sequence, sums[:3])]
    shifts = [(_axis(letter), terms) for letter, terms in zip("xyz", sums[3:])]
    steps = [(row.turn, turns), (row.shift, shifts)]
    rotation_first = joint.rotation_first if sign > 0 else not joint.rotation_first
    for add, pieces in steps if rotation_first else steps[::-1]:
        for axis, terms in pieces if sign > 0 else pieces[::-1]:
            add(axis, terms)


Direction = tuple[int, np.ndarray, np.ndarray, np.ndarray]


def _bases(joint: physics_access.SplineSurface, first: int) -> list[Direction]:
    """Bases of a surface's directions: cubic splines are cubics between knots, higher orders need places between."""
    splines = physics_access.part("geometry.splines")
    found = []
    for axis, (knots, order) in enumerate(zip(joint.unrolled_knots, joint.order)):
        breaks = np.unique(knots[order - 1 : len(knots) - order + 1])
        parts = 1 if order <= 4 else 24
        places = np.interp(np.arange(parts * (len(breaks) - 1) + 1) / parts, np.arange(len(breaks)), breaks)
        bases = [splines.basis(knots, order, places, derivative) for derivative in (0, 1)]
        found.append((first + axis, places, *bases))
    return found


def _separated(directions: list[Direction], values: np.ndarray) -> Sum:
    """sum values_ij.. B_i(q_1) B_j(q_2) .. as a sum of products of curves.

    Args:
        directions: of each the reading, places (n,), bases there (n, m) and their rates. values: (m_1, m_2, ...).
    """
    reading, places, bases, rates = directions[0]
    if len(directions) == 1:
        return [(Curve({reading: 1.0}, places, bases @ values, rates @ values),)]
    left, sizes, right = np.linalg.svd(values.reshape(len(values), -1), full_matrices=False)
    terms: Sum = []
    for column, size, others in zip(left.T, sizes, right):
        if size > 1e-9 * max(sizes[0], 1e-3):
            curve = Curve({reading: 1.0}, places, bases @ (size * column), rates @ (size * column))
            inner = _separated(directions[1:], others.reshape(values.shape[1:]))
            terms += [_product(curve, term) for term in inner]
    return terms


def _product(curve: Curve, term: Term) -> Term:
    """A product without its constant factors."""
    for one, others in ((curve, term), (term[0], (curve, *term[1:]))):
        if _is_constant(one):
            return scaled(others, float(one.values[0]))
    return (curve, *term)


def _is_constant(curve: Curve) -> bool:
    """Whether a curve is constant; a piece that swings out and back has equal ends, but its rates are not 0."""
    swing = max(np.ptp(curve.values), np.abs(curve.rates).max() * np.ptp(curve.places))
    return bool(swing <= 1e-12 * np.abs(curve.values).max())


def _add_factors(
    row: Row, joint: physics_access.Joint, ranges: np.ndarray, first: int, limits: dict[int, Any]
) -> None:
    """The factors of a joint as the kernels have them."""
    layout = physics_access.part("kernels.layout")
    parts = joint.factorization()
    for block in parts.blocks:
        row.constant(block.frame)
        reading = first + block.coordinate
        if block.kind == layout.ROTATION_VECTOR:
            row.vector(reading, float(block.data[0]), limits.get(block.coordinate))
        elif block.kind == layout.SCREW:
            rate, lead = block.data
            if lead != 0.0:
                row.shift(_axis("z"), [(_line({reading: 1.0}, lead),)])
            if rate != 0.0:
                row.turn(_axis("z"), [(_line({reading: 1.0}, rate),)])
        elif block.kind == layout.OF_TWO:
            _add_of_two(row, block, ranges[reading : reading + 2], reading)
        else:
            _add_function(row, block, ranges, reading)
    row.constant(parts.after)


def _add_of_two(row: Row, block: physics_access.Block, ranges: np.ndarray, reading: int) -> None:
    """A turn by an angle of two coordinates, or a shift, smooth in both."""
    grids = [np.linspace(a, b, 2 * int(np.ceil(0.5 * GRID_DENSITY * (b - a))) + 9) for a, b in ranges]
    values = factor_poses.values_of_two(block, *np.meshgrid(*grids, indexing="ij", sparse=True))
    rate = float(block.data[3])
    if rate != 0.0:
        values = rate * np.unwrap(np.unwrap(values, axis=0), axis=1)
    cardinal = [sampled({}, grid, np.eye(len(grid))) for grid in grids]
    directions = [(reading + k, each.places, each.values, each.rates) for k, each in enumerate(cardinal)]
    if rate != 0.0:
        row.turn(block.data[:3], _separated(directions, values))
    else:
        row.shift(block.data[4:7], _separated(directions, values))


def _add_function(row: Row, block: physics_access.Block, ranges: np.ndarray, reading: int) -> None:
    """A turn or shift, or both at once, by a function of a sum of coordinates."""
    given, function = factor_poses.weights_and_function(block)
    weights = {reading + k: float(weight) for k, weight in enumerate(given) if weight != 0.0}
    twist = factor_poses.twist(block)
    if not weights:
        value = factor_poses.function_values(function, np.zeros(1))
        row.constant(physics_access.physics().lie.exp(value[0] * twist))
        return
    ends = np.array([weight * ranges[k] for k, weight in weights.items()])
    places = even_places(float(ends.min(axis=1).sum()), float(ends.max(axis=1).sum()))
    size = float(np.linalg.norm(twist[:3]))
    if size > 0.0 and twist[3:].any():
        values = factor_poses.function_values(function, places)
        row.move(weights, places, physics_access.physics().lie.exp(np.multiply.outer(values, twist)))
        return
    if factor_poses.is_straight(function):
        places = places[[0, -1]]
    values = factor_poses.function_values(function, places)
    if np.abs(values).max() <= 1e-14:
        return
    if size > 0.0:
        angles = size * values
        middle = 0.5 * (angles[(len(angles) - 1) // 2] + angles[len(angles) // 2])
        angles -= 2.0 * np.pi * round(middle / (2.0 * np.pi))
        row.turn(twist[:3] / size, _curve_terms(weights, places, angles))
        return
    for axis in range(3):
        row.shift(_axis("xyz"[axis]), _curve_terms(weights, places, twist[3 + axis] * values))


def _curve_terms(weights: dict[int, float], places: np.ndarray, values: np.ndarray) -> Sum:
    """One curve, or none if it is zero; a straight line needs its ends only."""
    size = np.abs(values).max()
    if size <= 1e-14:
        return []
    if len(values) > 2 and np.abs(np.diff(values, 2)).max() < 1e-12 * size:
        places, values = places[[0, -1]], values[[0, -1]]
    return [(sampled(weights, places, values),)]
