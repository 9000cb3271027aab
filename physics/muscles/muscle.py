"""A muscle: path, mass and force, as one checked value that packs itself for the kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..errors import ModelError
from ..forces.base import checked_name
from ..kernels import layout
from ..kernels.muscles import layout as at
from ..validation import listed, number, truth
from .coupling import common_body, inner_span
from .force_law import ForceLaw
from .mass import MassPoints
from .path import PathPoint
from .wrapping import Wrap

ROUNDING = 0.4


@dataclass(frozen=True)
class Muscle:
    """Pulls along its path with its tension; its mass points follow the path as it strains (Wang 2022, ch. 5).

    Attributes:
        name: unique among the model's muscles.
        path: two or more points from origin to insertion, with a `Wrap` between two of them where the path runs over
            obstacles.
        masses: None without mass.
        tension: [N], a number, or the name of an input that it follows; with a law its excitation instead.
        law: the force law (`Millard`, `Thelen`, ...); None: the tension.
        rounding: length over which mass points round the path's bends, from 0 (none: their velocities, and the mass
            matrix, jump at each bend) to 0.5, in units of l m / (l + m). l and m are the lengths of the strands on both
            sides, parts on obstacles included.
        activation: initial activation in [0, 1]; None: the least that the law allows.
        velocity_terms: whether the quadratic velocity vector of its mass (Wang 2022, eq. 5.6) counts. Without it the
            motion is wrong, for comparison only.
        armature: inertia of its length A [kg], as of a spindle that winds it: energy A L'^2 / 2, no weight, A J^T J in
            the mass matrix (MuJoCo's tendon armature). In addition to masses.
    """

    name: str
    path: tuple[PathPoint | Wrap, ...]
    masses: MassPoints | None = None
    tension: float | str = 0.0
    velocity_terms: bool = True
    law: ForceLaw | None = None
    activation: float | None = None
    rounding: float = ROUNDING
    armature: float = 0.0

    @property
    def has_inertia(self) -> bool:
        """Whether it has mass or armature."""
        return self.masses is not None or self.armature > 0.0

    @property
    def state_names(self) -> tuple[str, ...]:
        """``muscle.state`` for each state of its law."""
        return () if self.law is None else tuple(f"{self.name}.{name}" for name in self.law.state_names)

    @property
    def mass(self) -> float:
        """[kg]; 0 without mass points."""
        return 0.0 if self.masses is None else self.masses.mass

    @property
    def num_points(self) -> int:
        """Number of mass points."""
        return 0 if self.masses is None else len(self.masses.masses)

    @property
    def points(self) -> tuple[PathPoint, ...]:
        """The path's points, without wraps."""
        return tuple(item for item in self.path if isinstance(item, PathPoint))

    @property
    def strands(self) -> dict[int, Wrap]:
        """The path's wraps, by the index of the point before each."""
        result, number_ = {}, -1
        for item in self.path:
            if isinstance(item, Wrap):
                result[number_] = item
            else:
                number_ += 1
        return result

    def to_dict(self) -> dict[str, Any]:
        """JSON-able description."""
        described: dict[str, Any] = {"name": self.name, "path": [point.to_dict() for point in self.path]}
        if self.law is None:
            described["tension"] = self.tension
        else:
            described |= {"law": self.law.to_dict(), "excitation": self.tension}
            if self.activation is not None:
                described["activation"] = self.activation
        if self.masses is not None:
            described["masses"] = self.masses.to_dict()
        if self.rounding != ROUNDING:
            described["rounding"] = self.rounding
        if self.armature:
            described["armature"] = self.armature
        if not self.velocity_terms:
            described["velocity_terms"] = False
        return described

    def packed(
        self,
        index: Mapping[str, int],
        coordinates: Mapping[str, int],
        inputs: Mapping[str, int],
        frames: Sequence[FloatArray],
        body_int: Any,
        place: int,
        kept: int,
        carried: bool,
    ) -> FloatArray:
        """The record for the kernels (``kernels.muscles.layout``).

        Args:
            index, coordinates, inputs: indices of bodies, coordinates and inputs by name.
            frames: poses of body frames in their link frames. body_int: the model's bodies (``kernels.layout``).
            place, kept: offsets in the workspace of its strands' records and of its mass points' forces.
            carried: whether a body carries the path's mass along.
        """
        size = at.MUSCLE_HEADER + at.VIA_WIDTH * len(self.points)
        rows, parts, bodies = [], [], []
        for number_, point in enumerate(self.points):
            row, used = point.packed(index, coordinates, frames, size)
            bodies.append(int(row[at.VIA_BODY]))
            size += len(used)
            parts.append(used)
            if number_ in self.strands:
                wrap = self.strands[number_]
                row[at.VIA_STRAND] = size
                record = wrap.packed(index, frames, massive=self.masses is not None)
                bodies += [int(body) for body in record[1 : 1 + int(record[0])]]
                parts += [np.array([record[0], place, wrap.workspace_size]), record]
                size += at.STRAND_HEADER + len(record)
                place += at.place_size(int(record[0]), wrap.workspace_size)
            rows.append(row)
        span = self._span(bodies, rows, body_int)
        acting = span if self.masses is not None else self._longer_by(span, bodies, rows, body_int)
        inner = None
        if self.has_inertia:
            inner = inner_span(span, bodies, rows, body_int, carried and not self.strands)
        masses = np.zeros(0)
        if self.masses is not None:
            masses = np.stack([self.masses.masses, self.masses.offsets, self.masses.shares], axis=1).ravel()
        header = np.zeros(at.MUSCLE_HEADER)
        header[at.MUSCLE_VIA_COUNT], header[at.MUSCLE_VIAS] = len(self.points), at.MUSCLE_HEADER
        header[at.MUSCLE_SPAN_COUNT], header[at.MUSCLE_SPAN] = len(span), size
        size += len(span)
        header[at.MUSCLE_ACTING_COUNT], header[at.MUSCLE_ACTING] = len(acting), size
        size += len(acting)
        if inner is not None:
            header[at.MUSCLE_BASE], header[at.MUSCLE_INNER] = inner.base, size
            header[at.MUSCLE_INNER_COUNT] = len(inner.coordinates)
            size += 2 * len(inner.coordinates)
        header[at.MUSCLE_MASS_COUNT], header[at.MUSCLE_MASSES] = self.num_points, size
        header[at.MUSCLE_INPUT] = -1.0
        if isinstance(self.tension, str):
            header[at.MUSCLE_INPUT] = inputs[self.tension]
        else:
            header[at.MUSCLE_TENSION] = self.tension
        header[at.MUSCLE_VELOCITY_TERMS] = self.velocity_terms
        header[at.MUSCLE_ROUNDING], header[at.MUSCLE_KEPT] = self.rounding, kept
        header[at.MUSCLE_ARMATURE] = self.armature
        law = np.zeros(0) if self.law is None else self.law.record
        if len(law):
            header[at.MUSCLE_LAW] = size + len(masses)
        header[at.MUSCLE_SIZE] = size + len(masses) + len(law)
        more = [] if inner is None else [*inner.coordinates, *inner.owners]
        numbers = np.array(span + acting + more, dtype=np.float64)
        return np.concatenate([header, *rows, *parts, numbers, masses, law])

    @staticmethod
    def _span(bodies: Sequence[int], rows: Sequence[FloatArray], body_int: Any) -> list[int]:
        """Indices of the coordinates that move the muscle, increasing."""
        result: set[int] = set()
        for body in bodies:
            while body >= 0:
                first, count = body_int[body, layout.DOF_START], body_int[body, layout.DOF_COUNT]
                result |= set(range(int(first), int(first + count)))
                body = int(body_int[body, layout.PARENT])
        for row in rows:
            moved_by = row[at.VIA_COORDINATES : at.VIA_COORDINATES + 3]
            result |= {int(d) for d in moved_by if d >= 0}
        return sorted(result)

    @staticmethod
    def _longer_by(
        span: Sequence[int], bodies: Sequence[int], rows: Sequence[FloatArray], body_int: Any
    ) -> list[int]:
        """The coordinates of `span` that can change the length: without those that carry the whole path along."""
        common = common_body(bodies, body_int)
        carrying: set[int] = set()
        while common >= 0:
            first, count = body_int[common, layout.DOF_START], body_int[common, layout.DOF_COUNT]
            carrying |= set(range(int(first), int(first + count)))
            common = int(body_int[common, layout.PARENT])
        for row in rows:
            carrying -= set(row[at.VIA_COORDINATES : at.VIA_COORDINATES + 3].astype(int))
        return [d for d in span if d not in carrying]


def _checked_path(path: Any, of: str) -> tuple[Any, ...]:
    """The points and wraps of a path; ModelError where they do not make one."""
    items = tuple(listed(path, f"the path {of}"))
    points = [item for item in items if isinstance(item, PathPoint)]
    for before, item in zip((None, *items), items):
        if not isinstance(item, PathPoint | Wrap):
            raise ModelError(f"the path {of} must be made of path points and wraps, got {item!r:.80}")
        if isinstance(item, Wrap) and (not isinstance(before, PathPoint) or item is items[-1]):
            raise ModelError(f"a wrap {of} must lie between two path points")
    if len(points) < 2:
        raise ModelError(f"the path {of} needs at least an origin and an insertion, got {len(points)} points")
    for end, point in (("origin", points[0]), ("insertion", points[-1])):
        if point.condition is not None:
            raise ModelError(f"the {end} {of} must have no condition, got {point.condition!r:.80}")
    _check_conditions(items, of)
    bodies = {point.body for point in points}
    bodies |= {body for item in items if isinstance(item, Wrap) for body in item.bodies}
    if len(bodies) == 1 and not any(point.moves for point in points):
        raise ModelError(f"all points {of} are on body {points[0].body!r}: it would move nothing")
    return items


def _check_conditions(items: Sequence[Any], of: str) -> None:
    """ModelError if a conditional point has obstacles on both sides: without it both wraps would have to be one."""
    for before, item, after in zip(items, items[1:], items[2:]):
        if (
            isinstance(before, Wrap)
            and isinstance(after, Wrap)
            and getattr(item, "condition", None) is not None
        ):
            raise ModelError(
                f"a point {of} with a condition on {item.condition.coordinate!r} lies between two wraps: put all their "
                "obstacles into the wrap before or after it"
            )


def make_muscle(
    name: Any,
    path: Any,
    masses: Any,
    tension: Any,
    velocity_terms: Any,
    law: Any,
    activation: Any,
    rounding: Any,
    armature: Any,
) -> Muscle:
    """Check everything that does not depend on the model; ModelError names muscle, thing and value."""
    of = f"of muscle {checked_name(name, 'muscle')!r}"
    items = _checked_path(path, of)
    if masses is not None and not isinstance(masses, MassPoints):
        raise ModelError(f"the masses {of} must be MassPoints, got {masses!r:.80}")
    if law is not None and not isinstance(law, ForceLaw):
        raise ModelError(f"the law {of} must be a force law, got {law!r:.80}")
    if not isinstance(tension, str):
        what = "tension" if law is None else "excitation"
        tension = number(tension, f"{what} {of}", not_negative=True)
        if law is not None:
            law.checked_excitation(tension, f"the excitation {of}")
    if activation is not None:
        activation = number(activation, f"activation {of}")
        if law is None or not 0.0 <= activation <= 1.0:
            raise ModelError(f"the activation {of} must lie in [0, 1] and needs a law, got {activation:g}")
    wanted = truth(velocity_terms, f"velocity_terms {of}")
    rounding = number(rounding, f"rounding {of}", not_negative=True)
    if rounding > 0.5:
        raise ModelError(f"the rounding {of} must lie from 0 to 0.5, got {rounding:g}")
    inertia = number(armature, f"armature {of}", not_negative=True)
    return Muscle(name, items, masses, tension, wanted, law, activation, rounding, inertia)
