"""Hill-type muscles (Millard et al. 2013; Thelen 2003; De Groote et al. 2016; Schutte 1993), and a plain tension."""

import math
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from .. import kernels, registry
from .._typing import FloatArray
from ..errors import ModelError
from ..joints import CubicSpline, Function, function_from_dict
from ..joints.functions import record_with
from ..kernels.muscles import hill_layout
from ..validation import NOT_NEGATIVE, NUMBER, POSITIVE, SHARE, TRUTH, number, optional
from . import hill_curves
from .cord import FUNCTION, Cord
from .force_law import ForceLaw

MAX_PENNATION = math.acos(0.1)  # rad: the steepest fibres
SHORTEST = 0.01  # of the optimal length: least length of fibres, unless another bound is larger
UNDAMPED = 1e-3  # less damping counts as none
CURVES = ("active", "passive", "tendon", "velocity")  # as numbered in `kernels.muscles.law_curves`
PASSIVE_SHAPE = 4.0  # of De Groote's passive curve, which is 0 at the least length, over the optimal one
LEAST_LENGTH = 0.2
LEAST_FACTOR = 0.1  # least active force and slopes of an undamped fibre on an elastic tendon


def _pennation(value: Any, name: str) -> float:
    angle = number(value, name, not_negative=True)
    if angle >= MAX_PENNATION:
        raise ModelError(f"{name} must be below {MAX_PENNATION:.4g} rad, got {angle:g}")
    return angle


SOME_ACTIVATION: dict[str, Any] = {"check": partial(number, positive=True, most=1.0)}


@dataclass(frozen=True)
class Tension(ForceLaw):
    """Pulls with excitation times max_force [N], without delay and at any length; excitations above 1 are refused."""

    max_force: float = field(metadata=NOT_NEGATIVE)
    type: ClassVar[str] = "tension"
    most_excitation: ClassVar[float] = 1.0

    @cached_property
    def record(self) -> FloatArray:
        return np.array([hill_layout.TENSION, 0.0, self.max_force])


@dataclass(frozen=True)
class Fibre(ForceLaw):
    """What every muscle's fibres and tendon are first given by; see `Millard`."""

    max_isometric_force: float = field(metadata=NOT_NEGATIVE)
    optimal_fibre_length: float = field(metadata=POSITIVE)
    tendon_slack_length: float = field(metadata=POSITIVE)
    pennation: float = field(default=0.0, metadata={"check": _pennation})
    max_contraction_velocity: float = field(default=10.0, metadata=POSITIVE)


class Hill(Fibre):
    """Base of the muscles with fibres and a tendon."""

    activation_time: float
    deactivation_time: float
    minimum_activation: float
    rigid_tendon: bool

    @property
    def useful_excitations(self) -> tuple[float, float]:
        return float(self.record[hill_layout.MIN_ACTIVATION]), 1.0

    def curve(self, name: str, x: Any) -> tuple[FloatArray, FloatArray]:
        """A curve of the law and its slope, each in the shape of x.

        Args:
            name: ``"active"`` and ``"passive"``: force of the fibre over the largest isometric one, by its length over
                the optimal one; ``"tendon"``: the tendon's, by its length over the slack one; ``"velocity"``: active
                force at full activation over that at rest, by the fibre's speed over the largest one (shortening is
                negative).

        Raises:
            ModelError: an unknown name, or x is not finite.
        """
        if name not in CURVES:
            raise ModelError(
                f"no curve of a {self.type} law is named {name!r:.80}; there are {', '.join(CURVES)}"
            )
        places = np.asarray(x, dtype=np.float64)
        if not np.isfinite(places).all():
            raise ModelError(f"a curve of a {self.type} law needs finite numbers")
        found = np.empty((places.size, 2))
        kernels.muscles.law_curves.law_curve(self.record, CURVES.index(name), places.ravel().copy(), found)
        return found[:, 0].reshape(places.shape), found[:, 1].reshape(places.shape)

    def _head(self, kind: int, damping: float, least_activation: float, least_length: float) -> list[float]:
        """The head of the record; least_length: a bound of the fibre's length besides that by its pennation [m]."""
        height = self.optimal_fibre_length * math.sin(self.pennation)
        shortest = max(height / math.sin(MAX_PENNATION), least_length, SHORTEST * self.optimal_fibre_length)
        return [
            kind,
            1.0 if self.rigid_tendon else 2.0,
            self.max_isometric_force,
            self.optimal_fibre_length,
            self.tendon_slack_length,
            height,
            self.max_contraction_velocity * self.optimal_fibre_length,
            damping,
            self.activation_time,
            self.deactivation_time,
            least_activation,
            shortest,
        ]


@dataclass(frozen=True)
class Millard(Hill):
    """The damped equilibrium muscle of Millard et al. 2013 with its default curves; OpenSim's names in brackets.

    Curves are C2. Activation is first order; its rate has a kink where excitation and activation cross. An undamped
    fibre (damping below 0.001) on an elastic tendon needs a positive activation, active force and slope at both ends of
    the force-velocity curve: these are then bounded from below.

    Attributes:
        max_isometric_force: [N]. optimal_fibre_length, tendon_slack_length: [m].
        pennation: angle of the fibres at their optimal length [rad]; their height is constant.
        max_contraction_velocity: [optimal lengths / s]. damping: of the fibre, over the largest force [fiber_damping].
        activation_time, deactivation_time: time constants [s]. minimum_activation: in [0, 1].
        rigid_tendon: a tendon that does not stretch; the fibre then has no state [ignore_tendon_compliance].
        active_low, active_knee, active_high, active_slope, active_least: of the active force-length curve.
        concentric_slope, concentric_near_slope, isometric_slope, eccentric_slope, eccentric_near_slope,
            eccentric_force, concentric_curviness, eccentric_curviness: of the force-velocity curve.
        passive_strain_zero, passive_strain_one, passive_low_stiffness, passive_stiffness (None: 2 over the span of
            strains), passive_curviness: of the passive force-length curve.
        tendon_strain, tendon_stiffness (None: 1.375 / strain), tendon_toe_force, tendon_curviness: of the tendon's.
    """

    damping: float = field(default=0.1, metadata=NOT_NEGATIVE)
    activation_time: float = field(default=0.010, metadata=POSITIVE)
    deactivation_time: float = field(default=0.040, metadata=POSITIVE)
    minimum_activation: float = field(default=0.01, metadata=SHARE)
    rigid_tendon: bool = field(default=False, metadata=TRUTH)
    active_low: float = field(default=0.4441, metadata=NUMBER)
    active_knee: float = field(default=0.73, metadata=NUMBER)
    active_high: float = field(default=1.8123, metadata=POSITIVE)
    active_slope: float = field(default=0.8616, metadata=NOT_NEGATIVE)
    active_least: float = field(default=0.0, metadata=NOT_NEGATIVE)
    concentric_slope: float = field(default=0.0, metadata=NOT_NEGATIVE)
    concentric_near_slope: float = field(default=0.25, metadata=NOT_NEGATIVE)
    isometric_slope: float = field(default=5.0, metadata=POSITIVE)
    eccentric_slope: float = field(default=0.0, metadata=NOT_NEGATIVE)
    eccentric_near_slope: float = field(default=0.15, metadata=NOT_NEGATIVE)
    eccentric_force: float = field(default=1.4, metadata=POSITIVE)
    concentric_curviness: float = field(default=0.6, metadata=SHARE)
    eccentric_curviness: float = field(default=0.9, metadata=SHARE)
    passive_strain_zero: float = field(default=0.0, metadata=NUMBER)
    passive_strain_one: float = field(default=0.7, metadata=NUMBER)
    passive_low_stiffness: float = field(default=0.2, metadata=NUMBER)
    passive_stiffness: float | None = field(default=None, metadata=optional(POSITIVE))
    passive_curviness: float = field(default=0.75, metadata=SHARE)
    tendon_strain: float = field(default=0.049, metadata=POSITIVE)
    tendon_stiffness: float | None = field(default=None, metadata=optional(POSITIVE))
    tendon_toe_force: float = field(default=2.0 / 3.0, metadata=NUMBER)
    tendon_curviness: float = field(default=0.5, metadata=SHARE)
    type: ClassVar[str] = "millard"

    @property
    def singular(self) -> bool:
        """Whether only the active element keeps the fibre's speed finite."""
        return self.damping < UNDAMPED and not self.rigid_tendon

    @cached_property
    def record(self) -> FloatArray:
        damping = self.damping if self.damping >= UNDAMPED else 0.0
        least = max(self.minimum_activation, 0.01) if self.singular else self.minimum_activation
        shortest = self.active_low * self.optimal_fibre_length
        head, pieces = self._head(hill_layout.MILLARD, damping, least, shortest), self._curves()
        # where each curve begins, in the order of ``hill_layout.ACTIVE_CURVE`` and those that follow it
        starts = len(head) + len(pieces) + np.cumsum([0, *map(len, pieces[:-1])])
        return np.concatenate([head, starts, *pieces])

    def _curves(self) -> list[FloatArray]:
        span = self.passive_strain_one - self.passive_strain_zero
        fibre = 2.0 / span if self.passive_stiffness is None and span else self.passive_stiffness or 0.0
        tendon = 1.375 / self.tendon_strain if self.tendon_stiffness is None else self.tendon_stiffness
        lowest = LEAST_FACTOR if self.singular else 0.0
        flat = self.singular and min(self.concentric_slope, self.eccentric_slope) < LEAST_FACTOR
        sides = (
            (self.concentric_slope, self.concentric_near_slope, self.concentric_curviness),
            (self.eccentric_slope, self.eccentric_near_slope, self.eccentric_curviness),
        )
        concentric, eccentric = ((0.5 * near if flat else slope, near, bend) for slope, near, bend in sides)
        least = max(self.active_least, lowest)
        active = (self.active_low, self.active_knee, self.active_high, self.active_slope, least)
        strains = (self.passive_strain_zero, self.passive_strain_one)
        passive = (*strains, self.passive_low_stiffness, fibre, self.passive_curviness)
        stretch = (self.tendon_strain, tendon, self.tendon_toe_force, self.tendon_curviness)
        return [
            hill_curves.active_force_length(*active),
            hill_curves.passive_force_length(*passive),
            hill_curves.tendon_force_length(*stretch),
            hill_curves.force_velocity(self.eccentric_force, self.isometric_slope, concentric, eccentric),
        ]


@dataclass(frozen=True)
class Thelen(Hill):
    """Thelen's muscle (2003) as in OpenSim; OpenSim's names in brackets.

    The active curve is smooth; passive force, tendon and force-velocity relation are as smooth as Thelen's formulas:
    their slopes jump at the fibre's optimal length, at the tendon's slack length and where shortening begins.

    Attributes:
        max_isometric_force ... minimum_activation, rigid_tendon: as of `Millard`.
        tendon_strain: at the largest force [FmaxTendonStrain]. passive_strain: likewise [FmaxMuscleStrain].
        active_shape, passive_shape: of the force-length curves [KshapeActive, KshapePassive].
        concentric_shape, eccentric_force: of the force-velocity relation [Af, Flen].
        eccentric_share: of that force, beyond which the relation is linear [fv_linear_extrap_threshold].
    """

    activation_time: float = field(default=0.015, metadata=POSITIVE)
    deactivation_time: float = field(default=0.050, metadata=POSITIVE)
    minimum_activation: float = field(default=0.01, metadata=SOME_ACTIVATION)
    rigid_tendon: bool = field(default=False, metadata=TRUTH)
    tendon_strain: float = field(default=0.04, metadata=POSITIVE)
    passive_strain: float = field(default=0.6, metadata=POSITIVE)
    active_shape: float = field(default=0.45, metadata=POSITIVE)
    passive_shape: float = field(default=5.0, metadata=POSITIVE)
    concentric_shape: float = field(default=0.25, metadata=POSITIVE)
    eccentric_force: float = field(default=1.4, metadata=POSITIVE)
    eccentric_share: float = field(default=0.95, metadata=POSITIVE)
    type: ClassVar[str] = "thelen"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.eccentric_force > 1.0:
            raise ModelError(f"eccentric_force must be above 1, got {self.eccentric_force:g}")
        if not 1.0 / self.eccentric_force < self.eccentric_share < 1.0:
            raise ModelError(
                f"eccentric_share must lie between 1 / eccentric_force and 1, got {self.eccentric_share:g}"
            )

    @cached_property
    def record(self) -> FloatArray:
        head = self._head(hill_layout.THELEN, 0.0, self.minimum_activation, 0.0)
        of_length = (self.tendon_strain, self.passive_strain, self.active_shape, self.passive_shape)
        return np.array(
            [*head, *of_length, self.concentric_shape, self.eccentric_force, self.eccentric_share]
        )


@dataclass(frozen=True)
class DeGroote(Hill):
    """The smooth muscle of De Groote et al. 2016 as in OpenSim; OpenSim's names in brackets.

    Its curves have no corners; the tendon is slack below its slack length. An elastic tendon leaves no damping of the
    fibre, as OpenSim's explicit mode. Beyond 25 times the largest speed the force-velocity relation is linear.

    Attributes:
        max_isometric_force ... minimum_activation, rigid_tendon: as of `Millard`.
        damping: of a fibre on a rigid tendon.
        tendon_strain, passive_strain: at the largest force [..._strain_at_one_norm_force].
        active_width: of the active curve [active_force_width_scale].
        activation_smoothing: of the switch between both time constants [activation_dynamics_smoothing].
        passive: whether the fibre has a passive force [ignore_passive_fiber_force].
    """

    damping: float = field(default=0.0, metadata=NOT_NEGATIVE)
    activation_time: float = field(default=0.015, metadata=POSITIVE)
    deactivation_time: float = field(default=0.060, metadata=POSITIVE)
    minimum_activation: float = field(default=0.01, metadata=SOME_ACTIVATION)
    rigid_tendon: bool = field(default=False, metadata=TRUTH)
    tendon_strain: float = field(default=0.049, metadata=POSITIVE)
    passive_strain: float = field(default=0.6, metadata=POSITIVE)
    active_width: float = field(default=1.0, metadata=POSITIVE)
    activation_smoothing: float = field(default=0.1, metadata=POSITIVE)
    passive: bool = field(default=True, metadata=TRUTH)
    type: ClassVar[str] = "degroote"

    @cached_property
    def record(self) -> FloatArray:
        rate = PASSIVE_SHAPE / self.passive_strain
        offset = math.exp(rate * (LEAST_LENGTH - 1.0))
        scale = 1.0 / (math.exp(PASSIVE_SHAPE) - offset) if self.passive else 0.0
        damping = self.damping if self.rigid_tendon else 0.0
        head = self._head(hill_layout.DEGROOTE, damping, self.minimum_activation, 0.0)
        tendon = math.log(6.0) / self.tendon_strain
        return np.array([*head, tendon, rate, offset, scale, self.active_width, self.activation_smoothing])


# OpenSim's curves of Schutte's muscle
SCHUTTE_ACTIVE = CubicSpline(
    [-5.307692, -4.307692, -1.923077, -0.884615, -0.269231, 0.230769, 0.461538, 0.52725, 0.62875, 0.71875]
    + [0.86125, 1.045, 1.2175, 1.43875, 1.5, 1.615385, 2.0, 2.961538, 3.692308, 5.461538, 9.901902],
    [0.012188, 0.021899, 0.036466, 0.052493, 0.075312, 0.114158, 0.157859, 0.226667, 0.636667, 0.856667]
    + [0.95, 0.993333, 0.77, 0.246667, 0.193821, 0.133252, 0.072683, 0.044417, 0.036341, 0.021899, 0.007332],
)
SCHUTTE_TENDON = CubicSpline(
    [-10.0, -0.002, -0.001, 0.0, 0.00131, 0.00281, 0.00431, 0.00581, 0.00731, 0.00881, 0.0103, 0.0118, 0.0123]
    + [9.2, 9.201, 9.202, 20.0],
    [0.0, 0.0, 0.0, 0.0, 0.0108, 0.0257, 0.0435, 0.0652, 0.0915, 0.123, 0.161, 0.208, 0.227] + 4 * [345.0],
)


@dataclass(frozen=True)
class Schutte(Hill):
    """Schutte's muscle (1993) as in OpenSim; OpenSim's names in brackets.

    Attributes:
        max_isometric_force ... pennation, damping (positive), rigid_tendon: as of `Millard`.
        max_contraction_velocity: [1 / time_scale]. activation_time: at full excitation, [time_scale / (activation1 +
            activation2)]. deactivation_time: [time_scale / activation2].
        active_curve, passive_curve: by the fibre's length over the optimal one; no passive curve: exp(8 x - 12).
        tendon_curve: by the tendon's strain; the tendon is slack below 0.
    """

    damping: float = field(default=0.1, metadata=POSITIVE)
    activation_time: float = field(default=0.1 / 9.126854, metadata=POSITIVE)
    deactivation_time: float = field(default=0.1 / 1.459854, metadata=POSITIVE)
    minimum_activation: float = field(default=0.0, metadata=SHARE)
    rigid_tendon: bool = field(default=False, metadata=TRUTH)
    active_curve: Function = field(default=SCHUTTE_ACTIVE, metadata=FUNCTION)
    passive_curve: Function | None = field(default=None, metadata=optional(FUNCTION))
    tendon_curve: Function = field(default=SCHUTTE_TENDON, metadata=FUNCTION)
    type: ClassVar[str] = "schutte"

    @cached_property
    def record(self) -> FloatArray:
        head = self._head(hill_layout.SCHUTTE, self.damping, self.minimum_activation, 0.0)
        curves = enumerate(
            (self.active_curve, self.passive_curve, self.tendon_curve), hill_layout.ACTIVE_CURVE
        )
        records = {k: f and f.integral("a curve of a muscle") for k, f in curves}
        return record_with(np.array([*head, 0.0, 0.0, 0.0]), records)


#: every force law by its ``type``
LAWS: dict[str, type[ForceLaw]] = registry.by_type(Tension, Millard, Thelen, DeGroote, Schutte, Cord)


def law_from_dict(description: Any) -> ForceLaw:
    """The law described by ``ForceLaw.to_dict``; FormatError if a key or the type is unknown."""
    curves = "elastic", "viscosity", "damper", "active_curve", "passive_curve", "tendon_curve"
    read = dict.fromkeys(curves, _function)
    return registry.from_dict(description, LAWS, "a force law", read)


def _function(description: Any) -> Function | None:
    return None if description is None else function_from_dict(description)
