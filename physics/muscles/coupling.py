"""Which coordinates the masses of muscles couple, and in which order the kernels eliminate them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..kernels import layout
from ..kernels.muscles import layout as at


@dataclass(frozen=True)
class Inner:
    """The coordinates that move parts of a path against the body `base` (-1: the world), and their joints' bodies."""

    base: int
    coordinates: list[int]
    owners: list[int]


def common_body(bodies: Sequence[int], body_int: Any) -> int:
    """The last body that carries all of these, or is one of them; -1 for the world."""
    common = bodies[0]
    for body in bodies:
        while body != common:  # parents come first: the later one cannot carry the other
            if body > common:
                body = int(body_int[body, layout.PARENT])
            else:
                common = int(body_int[common, layout.PARENT])
    return common


def preorder(body_int: Any) -> list[int]:
    """The bodies with each subtree whole, parents first."""
    children: list[list[int]] = [[] for _ in range(len(body_int) + 1)]
    for i, parent in enumerate(body_int[:, layout.PARENT].tolist()):
        children[parent].append(i)
    result, waiting = [], children[-1][::-1]
    while waiting:
        result.append(waiting.pop())
        waiting += children[result[-1]][::-1]
    return result


def carriers(body_int: Any, body: int) -> Iterator[int]:
    """A body and all that carry it; none for the world (-1)."""
    while body >= 0:
        yield body
        body = int(body_int[body, layout.PARENT])


def slides(row: FloatArray) -> set[int]:
    """The coordinates that move a path point with this row in its body."""
    return {int(d) for d in row[at.VIA_COORDINATES : at.VIA_COORDINATES + 3] if d >= 0}


def joint_of(body_int: Any, body: int) -> list[int]:
    first = int(body_int[body, layout.DOF_START])
    return list(range(first, first + int(body_int[body, layout.DOF_COUNT])))


def inner_span(
    span: Sequence[int], bodies: Sequence[int], rows: Sequence[FloatArray], body_int: Any, carried: bool
) -> Inner:
    """Of a path on these bodies that the coordinates `span` move; not carried: all of them, against the world."""
    order = preorder(body_int)
    owner = {d: body for body in order for d in joint_of(body_int, body)}
    base = -1
    if carried:
        outer = [int(body_int[owner[d], layout.PARENT]) for row in rows for d in slides(row)]
        base = common_body([*bodies, *outer], body_int)
    carrying = {*carriers(body_int, base)}
    rank = {body: k for k, body in enumerate(order)}
    inner = sorted((d for d in span if owner[d] not in carrying), key=lambda d: (rank[owner[d]], d))
    return Inner(base, inner, [owner[d] for d in inner])


def inner_of(record: FloatArray) -> Inner:
    """As `inner_span`, from a muscle's record."""
    first, count = int(record[at.MUSCLE_INNER]), int(record[at.MUSCLE_INNER_COUNT])
    numbers = record[first : first + 2 * count].astype(int).tolist()
    return Inner(int(record[at.MUSCLE_BASE]), numbers[:count], numbers[count:])


class Couplings:
    """What is coupled when each joint is eliminated (see ``kernels.dynamics.coupled``).

    Attributes:
        order: bodies, tips first. others: for each body the coordinates beyond its joint that its subtree is coupled
            with, last first.
    """

    def __init__(self, inners: Sequence[Inner], body_int: Any) -> None:
        self.body_int, self.order = body_int, preorder(body_int)[::-1]
        self.rank = {body: -k for k, body in enumerate(self.order)}
        self.joints = {body: joint_of(body_int, body) for body in self.order}
        self.owner = {d: body for body in self.order for d in self.joints[body]}
        self.others: dict[int, list[int]] = {}
        rows: dict[int, set[int]] = {d: set() for d in self.owner}
        for inner in inners:
            for k, d in enumerate(inner.coordinates):
                rows[d].update(inner.coordinates[:k])
                if inner.base >= 0:
                    rows[d].update(self._between(self.owner[d], inner.base))
        twists: dict[int, set[int]] = {body: set() for body in self.order}
        for body in self.order:
            own = set(self.joints[body])
            beyond = twists[body].union(*(rows[d] for d in own)) - own
            found = sorted(beyond, key=lambda d: (self.rank[self.owner[d]], d), reverse=True)
            self.others[body] = found
            for k, e in enumerate(found):
                rows[e].update(found[k + 1 :])
            self._pass_on(body, rows, twists)

    def _pass_on(self, body: int, rows: dict[int, set[int]], twists: dict[int, set[int]]) -> None:
        parent = int(self.body_int[body, layout.PARENT])
        for e in self.others[body] if parent >= 0 else ():
            if not self.within(e, parent):
                twists[parent].add(e)
            elif self.owner[e] != parent:
                rows[e].update(self._between(self.owner[e], parent))

    def within(self, coordinate: int, parent: int) -> bool:
        """Whether a coordinate of `others` of a child moves the parent or a body beyond it."""
        return self.rank[self.owner[coordinate]] >= self.rank[parent]

    def _between(self, body: int, base: int) -> list[int]:
        """Coordinates from the body's parent back to, without, the base."""
        _, *outer = carriers(self.body_int, body)
        return [d for carrier in outer if carrier > base for d in self.joints[carrier]]

    @property
    def work(self) -> int:
        """About how many products the elimination has."""
        return sum(
            len(self.joints[body]) * len(found) * (14 + len(found)) for body, found in self.others.items()
        )

    def table(self, start: int, place: int) -> FloatArray:
        """The table of ``kernels.layout``, which begins at start in the data; place: in the workspace."""
        places: dict[tuple[int, int], int] = {}
        for body in self.order:
            for e in self.others[body]:
                places[body, e] = place
                place += layout.COUPLED_TWIST
        numbers: list[int] = []
        begins = []
        for body in self.order:
            begins.append(start + len(self.order) + len(numbers))
            numbers += [body, len(self.others[body])]
            parent = int(self.body_int[body, layout.PARENT])
            for e in self.others[body]:
                outer = -1 if parent < 0 else places.get((parent, e), 0)
                if outer > 0 and self.within(e, parent):
                    outer = 0
                numbers += [e, places[body, e], outer, self.owner[e]]
        return np.array(begins + numbers, dtype=np.float64)
