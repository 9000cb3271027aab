"""Hyper-reduced coordinates of a model: many coordinates as functions of a few, held by couplings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..errors import ModelError
from ..joints.functions import Function, Linear
from ..validation import number
from .coupling import CouplingConstraint

# A direction with less than this share of its largest entry left is a combination of others.
DEPENDENT = 1e-10
# How much larger another entry must be to lead in place of a coordinate that is h, but for its rest.
RATHER_ITSELF = 10.0


@dataclass(frozen=True, eq=False)
class Reduction:
    """Coordinates q = rest + sum of directions h (Wang 2022, eqs. 4.84-4.86), each h by its name.

    Attributes:
        directions: {h: {coordinate: its change by h, or a function of h that is added}}.
        rest: {coordinate: value where all h are 0}, 0 if missing; one without directions stands still there.
        leaders: the coordinates (nh,) that lead. couplings: the constraint of each other one, by its name.
    """

    directions: Mapping[str, Mapping[str, float | Function]] = field(default_factory=dict)
    rest: Mapping[str, float] = field(default_factory=dict)
    leaders: tuple[str, ...] = field(init=False, repr=False)
    couplings: Mapping[str, CouplingConstraint] = field(init=False, repr=False)
    _by_leaders: tuple[FloatArray, FloatArray, FloatArray] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        moved = dict.fromkeys([*(name for each in self.directions.values() for name in each), *self.rest])
        table = [[each.get(name, 0.0) for each in self.directions.values()] for name in moved]
        linear = [[0.0 if isinstance(entry, Function) else entry for entry in row] for row in table]
        matrix = np.array(linear).reshape(len(moved), len(self.directions))
        may_lead = np.array([row == flat for row, flat in zip(table, linear)], np.bool_)
        rows, rates, inverse = _eliminated(matrix, may_lead, [*self.directions])
        leaders = tuple([*moved][row] for row in rows)
        offsets = np.array([self.rest.get(name, 0.0) for name in leaders])

        def term(row: FloatArray, function: Function) -> tuple[dict[str, float], Function]:
            drivers = {name: float(weight) for name, weight in zip(leaders, row) if weight}
            return drivers or {leaders[0]: 0.0}, function

        couplings: dict[str, CouplingConstraint] = {}
        for name, row, entries in zip(moved, rates, table):
            functions = [(inverse[k], each) for k, each in enumerate(entries) if isinstance(each, Function)]
            if any((change * offsets).any() for change, _ in functions):
                raise ModelError(f"{name!r} follows a function: the rest of {', '.join(leaders)} must be 0")
            shift = Linear(1.0, self.rest.get(name, 0.0) - float((row * offsets).sum()))
            if name not in leaders:
                more = [term(*each) for each in functions]
                couplings[name] = CouplingConstraint(name, *term(row, shift), more)
        vars(self).update(leaders=leaders, couplings=couplings, _by_leaders=(matrix[rows], offsets, inverse))

    @property
    def given(self) -> list[Reduction]:
        """Itself, if it has an h."""
        return [self] if self.directions else []

    def expanded(self, q: Any, qd: Any) -> tuple[Any, Any]:
        """Positions and velocities by name, with those of the coordinates in place of those of h, 0 if missing."""
        if not self.directions or not all(isinstance(each, Mapping | None) for each in (q, qd)):
            return q, qd
        q, qd, (along, offsets, _) = dict(q or {}), dict(qd or {}), self._by_leaders
        h, hd = ([number(each.pop(h, 0.0), f"state of {h!r}") for h in self.directions] for each in (q, qd))
        place, speed = along @ h + offsets, along @ hd
        moved = dict(zip(self.leaders, zip(place, speed)))
        moved |= {name: each.followed(self.leaders, place, speed) for name, each in self.couplings.items()}
        for name, (place, speed) in moved.items():
            if {name, name.rpartition(".")[0]} & (q.keys() | qd.keys()):
                raise ModelError(
                    f"{name!r} moves with {', '.join(self.directions)}: leave it out of a state by name"
                )
            q[name], qd[name] = place, speed
        return q, qd

    def coordinates(self, names: Sequence[str], q: FloatArray, rates: bool = False) -> FloatArray:
        """h (..., nh), or their rates, of all coordinates (..., nv), which have these names."""
        _, offsets, change = self._by_leaders
        led = q[..., [names.index(name) for name in self.leaders]]
        return (led if rates else led - offsets) @ change.T

    def to_dict(self) -> dict[str, Any]:
        """JSON-able arguments of `ModelBuilder.reduce`."""
        plain = {
            h: {name: x.to_dict() if isinstance(x, Function) else x for name, x in each.items()}
            for h, each in self.directions.items()
        }
        return {"directions": plain, "rest": dict(self.rest)}


def _eliminated(
    matrix: FloatArray, may_lead: Any, names: list[str]
) -> tuple[list[int], FloatArray, FloatArray]:
    """Rows that lead (nh,), directions (n, nh) by these, and h (nh, nh) by these.

    Columns are eliminated with complete pivoting, entry after entry: the same bits on every machine.
    """
    n, count = matrix.shape
    both, rows, open_ = np.concatenate([matrix, np.eye(count)]), [0] * count, np.ones(count, np.bool_)
    largest = np.abs(matrix).max(axis=0, initial=1e-300)
    itself = ((matrix == 1.0).sum(axis=1) == 1) & ((matrix != 0.0).sum(axis=1) == 1)
    favour = np.where(itself, RATHER_ITSELF, 1.0) * may_lead
    for _ in range(count):
        score = favour[:, None] * np.where(open_, np.abs(both[:n]) / largest, 0.0)
        row, k = divmod(int(score.argmax()), count) if n else (0, 0)
        if not n or not score[row, k] > DEPENDENT:
            raise ModelError(
                f"direction {names[int(np.argmax(open_))]!r} moves no coordinate in proportion, or is a combination of "
                "others: leave it out; where functions alone move, use HyperReduced"
            )
        both[:, k] /= both[row, k]
        both -= both[:, k, None] * np.where(np.arange(count) == k, 0.0, both[row])
        rows[k], open_[k], favour[row] = row, False, 0.0
    return rows, both[:n], both[n:]


NO_REDUCTION = Reduction()
