"""Feedback laws of a model: what adds to a torque or an input, in proportion to a signal of the state."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from .. import registry
from .._typing import FloatArray
from ..errors import ModelError
from ..kernels.stepping import feedback_layout as law
from ..validation import NUMBER, POSITIVE, TRUTH, check_fields, one_of, unit_axis, vector
from .base import link_points

SIGNALS = ("coordinate", "point", "center", "touch")
PLACE = vector(3, listed=True)
DIRECTION: dict[str, Any] = {"check": lambda value, name: tuple(unit_axis(value, name).tolist())}


@dataclass(frozen=True)
class Feedback:
    """Adds gain (signal - level) touch to a torque or an input of the model.

    Every step of a fixed-step method evaluates it at its beginning and holds it to its end, as a digital controller
    does (`kernels.stepping.feedback`).

    Attributes:
        name: unique among the model's laws. of: the coordinate (``"shank.angle"``) or input that it changes.
        gain: in units of that by the signal's. level: of the signal, at which the law adds nothing.
        signal: ``"coordinate"``: its value [rad or m]; ``"point"``: of a body, from that of the other one, along the
            direction [m]; ``"center"``: the mass centre of all bodies, likewise; ``"touch"``: that of the gate.
        rate: whether the signal is the rate of that.
        coordinate, body, point: what it measures; point in the body's frame [m].
        other, other_point: from where, None: the world. direction: unit vector in the world's axes.
        gate: the body whose touch with compliant ground (`Ground`, `SphereContact`) multiplies the law, None: none.
        load: force along the ground's normals from which on the touch is 1 [N].
    """

    name: str
    of: str
    gain: float = field(metadata=NUMBER)
    level: float = field(default=0.0, metadata=NUMBER)
    signal: str = field(default="coordinate", metadata=one_of(*SIGNALS))
    rate: bool = field(default=False, metadata=TRUTH)
    coordinate: str | None = None
    body: str | None = None
    point: tuple[float, ...] = field(default=(0.0, 0.0, 0.0), metadata=PLACE)
    other: str | None = None
    other_point: tuple[float, ...] = field(default=(0.0, 0.0, 0.0), metadata=PLACE)
    direction: tuple[float, ...] = field(default=(0.0, 0.0, 1.0), metadata=DIRECTION)
    gate: str | None = None
    load: float = field(default=1.0, metadata=POSITIVE)

    def __post_init__(self) -> None:
        check_fields(self, f" of feedback {self.name!r}")

    def check(
        self,
        driven: Iterable[str],
        coordinates: Iterable[str],
        bodies: Iterable[str],
        grounded: Iterable[str],
    ) -> None:
        """ModelError if it names what is not among inputs and coordinates that forces move, all coordinates, bodies,
        and bodies over compliant ground.
        """
        if self.rate and self.signal == "touch":
            raise ModelError(f"signal 'touch' of feedback {self.name!r} has no rate")
        none = (None,)
        for what, known in (
            ("of", driven),
            ("coordinate", coordinates if self.signal == "coordinate" else (*none, *coordinates)),
            ("body", bodies if self.signal == "point" else (*none, *bodies)),
            ("other", (*none, *bodies)),
            ("gate", grounded if self.signal == "touch" else (*none, *grounded)),
        ):
            if (value := getattr(self, what)) not in tuple(known):
                names = ", ".join(str(each) for each in known if each is not None)
                raise ModelError(
                    f"{what!r} of feedback {self.name!r} cannot be {value!r}; known are: {names}"
                )

    def to_dict(self, names: Any = None) -> dict[str, Any]:
        """JSON-able description without what is as by default; it has bodies by name, and needs no names."""
        usual = {each.name: each.default for each in fields(self)}
        return {
            key: value for key, value in registry.to_dict(self).items() if getattr(self, key) != usual[key]
        }


def pack_feedback(model: Any) -> tuple[Any, ...]:
    """What the tables of a model have beside times and values: laws (n, 20), what they hold, and the ranges of inputs;
    nothing without laws. Each run needs its own.
    """
    if not model.feedback_laws:
        return ()
    names = (*model.coordinate_names, *model.input_names)
    least, most = np.full(len(names), -np.inf), np.full(len(names), np.inf)
    for muscle in model.muscles:
        if isinstance(muscle.tension, str):
            column = names.index(muscle.tension)
            if muscle.law is None:
                least[column] = 0.0
            else:
                most[column] = min(most[column], muscle.law.most_excitation)
    for each in model.feedback_laws:
        if each.of not in names:
            raise ModelError(f"feedback {each.name!r} acts on {each.of!r}, which the model does not have")
    laws = np.array([_row(model, each, names) for each in model.feedback_laws])
    return ((laws, np.zeros(len(names)), (least, most)),)


def _row(model: Any, each: Feedback, names: tuple[str, ...]) -> FloatArray:
    """A law for the kernels."""
    row, frames = np.zeros(law.WIDTH), model.body_frames
    ends = [-1 if name is None else model.index(name) for name in (each.body, each.other, each.gate)]
    row[[law.OF, law.GAIN, law.LEVEL]] = names.index(each.of), each.gain, each.level
    row[[law.SIGNAL, law.RATE, law.LOAD]] = SIGNALS.index(each.signal), each.rate, each.load
    row[[law.BODY, law.OTHER, law.GATE]] = ends
    if each.coordinate is not None:
        row[law.COORDINATE] = names.index(each.coordinate)
    row[law.POINT : law.POINT + 3] = link_points(np.array(each.point), ends[0], frames)
    row[law.OTHER_POINT : law.OTHER_POINT + 3] = link_points(np.array(each.other_point), ends[1], frames)
    row[law.DIRECTION : law.DIRECTION + 3] = each.direction
    row[law.WHOLE] = sum(body.mass for body in model.bodies)
    return row
