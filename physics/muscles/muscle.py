"""A muscle: path, mass and force, as one checked value that packs itself for the kernels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..errors import ModelError
from ..joints.functions import record_with
from ..kernels.muscles import layout as at
from ..registry import described
from ..validation import NOT_NEGATIVE, SHARE, TRUTH, check_fields, listed, number, of_kind, optional
from .coupling import carriers, common_body, inner_span, joint_of, slides
from .force_law import ForceLaw
from .mass import MassPoints
from .path import PathPoint
from .wrapping import Wrap, number_shared

ROUNDING = 0.4


def _rounding(value: Any, name: str) -> float:
    return number(value, name, not_negative=True, most=0.5)


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
        wraps_once: whether an obstacle of several wraps is passed on one stretch of the path at a time, as in OpenSim:
            the first whose line meets it, else that which becomes the least longer. Length and pull jump where another
            takes over.
    """

    name: str
    path: tuple[PathPoint | Wrap, ...]
    masses: MassPoints | None = field(default=None, metadata=optional(of_kind(MassPoints)))
    tension: float | str = 0.0
    velocity_terms: bool = field(default=True, metadata=TRUTH)
    law: ForceLaw | None = field(default=None, metadata=optional(of_kind(ForceLaw)))
    activation: float | None = field(default=None, metadata=optional(SHARE))
    rounding: float = field(default=ROUNDING, metadata={"check": _rounding})
    armature: float = field(default=0.0, metadata=NOT_NEGATIVE)
    wraps_once: bool = field(default=False, metadata=TRUTH)

    def __post_init__(self) -> None:
        of = f"of muscle {self.name!r:.80}"
        object.__setattr__(self, "path", _checked_path(self.path, of))
        check_fields(self, f" {of}")
        if self.law is None and self.activation is not None:
            raise ModelError(f"the activation {of} needs a law, got {self.activation:g}")
        if not isinstance(self.tension, str):
            called = f"the {'tension' if self.law is None else 'excitation'} {of}"
            pull = number(self.tension, called, not_negative=True)
            object.__setattr__(self, "tension", pull)
            if self.law is not None:
                self.law.checked_excitation(pull, called)

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
        values = described(self)
        pull = {"tension" if self.law is None else "excitation": values.pop("tension")}
        usual = {each.name: each.default for each in fields(self)}
        return {key: value for key, value in values.items() if value != usual[key]} | pull

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
        massive = self.masses is not None
        records = {key: wrap.packed(index, frames, massive) for key, wrap in self.strands.items()}
        if self.wraps_once:
            number_shared(records.values())
        for number_, point in enumerate(self.points):
            row, used = point.packed(index, coordinates, frames, size)
            bodies.append(int(row[at.VIA_BODY]))
            size += len(used)
            parts.append(used)
            if number_ in self.strands:
                wrap = self.strands[number_]
                row[at.VIA_STRAND] = size
                record = records[number_]
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
        numbers = {
            at.MUSCLE_VIA_COUNT: len(self.points),
            at.MUSCLE_VIAS: at.MUSCLE_HEADER,
            at.MUSCLE_SPAN_COUNT: len(span),
            at.MUSCLE_ACTING_COUNT: len(acting),
            at.MUSCLE_MASS_COUNT: self.num_points,
            at.MUSCLE_INPUT: inputs[self.tension] if isinstance(self.tension, str) else -1.0,
            at.MUSCLE_TENSION: 0.0 if isinstance(self.tension, str) else self.tension,
            at.MUSCLE_VELOCITY_TERMS: self.velocity_terms,
            at.MUSCLE_ROUNDING: self.rounding,
            at.MUSCLE_KEPT: kept,
            at.MUSCLE_ARMATURE: self.armature,
        }
        if inner is not None:
            numbers |= {at.MUSCLE_BASE: inner.base, at.MUSCLE_INNER_COUNT: len(inner.coordinates)}
        header[[*numbers]] = [*numbers.values()]
        behind = {
            at.MUSCLE_SPAN: span,
            at.MUSCLE_ACTING: acting,
            at.MUSCLE_INNER: None if inner is None else [*inner.coordinates, *inner.owners],
            at.MUSCLE_MASSES: masses,
            at.MUSCLE_LAW: None if self.law is None else self.law.record,
        }
        record = record_with(np.concatenate([header, *rows, *parts]), behind)
        record[at.MUSCLE_SIZE] = len(record)
        return record

    @staticmethod
    def _span(bodies: Sequence[int], rows: Sequence[FloatArray], body_int: Any) -> list[int]:
        """Indices of the coordinates that move the muscle, increasing."""
        carrying = {carrier for body in {*bodies} for carrier in carriers(body_int, body)}
        moved = {d for carrier in carrying for d in joint_of(body_int, carrier)}
        return sorted(moved.union(*map(slides, rows)))

    @staticmethod
    def _longer_by(
        span: Sequence[int], bodies: Sequence[int], rows: Sequence[FloatArray], body_int: Any
    ) -> list[int]:
        """The coordinates of `span` that can change the length: without those that carry the whole path along."""
        common = common_body(bodies, body_int)
        carrying = {d for carrier in carriers(body_int, common) for d in joint_of(body_int, carrier)}
        carrying.difference_update(*map(slides, rows))
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
    """ModelError if a conditional point has different wraps on both sides: without it both would have to be one."""
    for before, item, after in zip(items, items[1:], items[2:]):
        if (
            isinstance(before, Wrap)
            and isinstance(after, Wrap)
            and getattr(item, "condition", None) is not None
            and before.to_dict() != after.to_dict()
        ):
            raise ModelError(
                f"a point {of} with a condition on {item.condition.coordinate!r} lies between two wraps that differ: "
                "put all their obstacles into the wrap before or after it"
            )
