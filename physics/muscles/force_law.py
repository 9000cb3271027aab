"""Force laws of muscles: force along the path from its length, speed, excitation and internal states."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from .. import kernels
from .._typing import FloatArray
from ..errors import ModelError
from ..geometry.immutable import Value
from ..kernels.muscles import hill_layout
from ..validation import finite_array, number

STATES = ("activation", "fibre_length")


class ForceLaw(Value):
    """Base of the force laws: frozen dataclasses with a ``type``, checked when they are made."""

    type: ClassVar[str]
    most_excitation: ClassVar[float] = np.inf  # larger ones are refused; Hill's laws clip them to [0, 1]

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "record", self.record)  # raises now if a curve is impossible

    @cached_property
    def record(self) -> FloatArray:
        """Record for the kernels, with offsets from its beginning (``kernels.muscles.hill_layout``)."""
        raise TypeError(f"{type(self).__name__} must define record")

    @property
    def useful_excitations(self) -> tuple[float, float]:
        """Least and greatest one: those beyond act as these, once the activation has followed, or are refused."""
        return 0.0, self.most_excitation

    @property
    def state_names(self) -> tuple[str, ...]:
        """Names of its states: none, ``activation``, or ``activation`` and ``fibre_length``."""
        return STATES[: int(self.record[hill_layout.LAW_STATES])]

    def initial_states(self, length: float, activation: float | None = None) -> FloatArray:
        """States of a muscle at rest (num states,).

        Args:
            length: of the path [m]. activation: in [0, 1]; the least one by default.
        """
        hill = kernels.muscles.hill
        count = len(self.state_names)
        if not count:
            return np.zeros(0)
        least = float(self.record[hill_layout.MIN_ACTIVATION])
        a = least if activation is None else min(max(number(activation, "activation"), least), 1.0)
        length = number(length, "length of a path")
        states = [a] if count == 1 else [a, float(hill.muscle_equilibrium(self.record, 0, length, a))]
        return np.array(states)

    def force(self, length: Any, speed: Any = 0.0, excitation: Any = 0.0, states: Any = None) -> float:
        """Force along the path [N] at a length [m], its rate [m/s] and an excitation; states as `initial_states`."""
        hill = kernels.muscles.hill
        return float(hill.muscle_force(self.record, 0, *self._arguments(length, speed, excitation, states)))

    def state_rates(
        self, length: Any, speed: Any = 0.0, excitation: Any = 0.0, states: Any = None
    ) -> FloatArray:
        """Rates of the states (num states,) [1/s, m/s]."""
        hill = kernels.muscles.hill
        rates = hill.muscle_state_rates(self.record, 0, *self._arguments(length, speed, excitation, states))
        return np.array(rates[: len(self.state_names)])

    def energies(
        self, length: Any, speed: Any = 0.0, excitation: Any = 0.0, states: Any = None
    ) -> tuple[float, float, float, float]:
        """Energies of tendon and passive element [J], power of the active element [W], loss in the damper [W].

        The sum of both energies changes at the rate force times speed + power - loss.
        """
        hill = kernels.muscles.hill
        a, b, c, d = hill.muscle_energy(self.record, 0, *self._arguments(length, speed, excitation, states))
        return float(a), float(b), float(c), float(d)

    def _arguments(self, length: Any, speed: Any, excitation: Any, states: Any) -> tuple[float, ...]:
        length = number(length, "length of a path", positive=True)
        count = len(self.state_names)
        excitation = self.checked_excitation(number(excitation, "excitation"), "excitation")
        values = self.initial_states(length) if states is None else finite_array(states, (count,), "states")
        both = (*values.tolist(), 0.0, 0.0)[:2]
        return length, number(speed, "speed of a path"), excitation, *both

    def checked_excitation(self, excitation: float, name: str) -> float:
        """Return the excitation; ModelError if it exceeds the law's largest one."""
        if excitation > self.most_excitation:
            raise ModelError(
                f"{name} is {excitation:g}: the largest excitation of a {self.type} is {self.most_excitation:g}"
            )
        return excitation

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "record"}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(state)
