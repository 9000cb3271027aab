"""Checks whether a curve can be a joint: C2, with a Jacobian that never vanishes (Lee & Terzopoulos 2008, sec. 5)."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..errors import ModelError
from ..geometry import splines
from ..joints import SplineCurve
from ..joints.curve_coordinate import Curve
from ..joints.spline_sites import Sites, derivatives

# samples in each knot span that bracket the minima of the speed, and halvings of a bracket
SAMPLES = 64
HALVINGS = 50
# a speed below this share of the mean counts as zero; a jump of the Hessian counts from this share of the largest on
STILL = 1e-6
JUMP = 1e-8


@dataclass(frozen=True)
class CurvePlace:
    """A place on a curve.

    Attributes:
        q: the joint's coordinate. parameter: the knots' parameter.
        frames: the control frames on either side.
        value: the speed |s|, the jump of h = ds/dq, or |h|, per unit of the parameter and in the joint's metric.
        share: value relative to the curve's mean speed, or largest |h|.
    """

    q: float
    parameter: float
    frames: tuple[int, int]
    value: float
    share: float

    def __str__(self) -> str:
        return f"q = {self.q:.6g} (between control frames {self.frames[0]} and {self.frames[1]})"


@dataclass(frozen=True)
class CurveCheck:
    """The result of `check_curve`.

    Attributes:
        jumps: where ds/dq jumps, so that the curve is not C2.
        stops: where S vanishes.
        slowest: where |S| is smallest.
        sharpest: where |ds/dq| is largest.
        ends: |ds/dq| at the ends of an open curve; it jumps to 0 where the joint extends beyond them.
    """

    jumps: tuple[CurvePlace, ...]
    stops: tuple[CurvePlace, ...]
    slowest: CurvePlace
    sharpest: CurvePlace
    ends: tuple[CurvePlace, ...]

    @property
    def ok(self) -> bool:
        """Whether the whole curve meets both requirements."""
        return not self.jumps and not self.stops

    @property
    def problems(self) -> tuple[str, ...]:
        """One sentence for each place where a requirement fails."""
        return (
            *(f"not C2: ds/dq jumps by {place.share:.3g} of its largest at {place}" for place in self.jumps),
            *(f"S vanishes: the joint stands still at {place}" for place in self.stops),
        )

    def report(self) -> dict[str, Any]:
        """JSON-able summary."""
        return {
            "ok": self.ok,
            "c2": not self.jumps,
            "never_still": not self.stops,
            "problems": list(self.problems),
            **asdict(self),
        }


def check_curve(joint: SplineCurve) -> CurveCheck:
    """Check both requirements on a curve joint, and name the places where they fail.

    Jumps are checked at every knot, from both sides. Minima of |s|, where s . h changes its sign, are found to
    round-off; of two stops within a `SAMPLES`-th of a knot span one may be missed.

    Raises:
        ModelError: the argument is not a spline curve.
    """
    if not isinstance(joint, SplineCurve):
        raise ModelError(f"check_curve needs a spline curve joint, got {getattr(joint, 'type', joint)!r:.80}")
    curve = Curve(joint.frames, joint.knots, joint.order, joint.periodic)
    metric, breaks = joint.twist_metric, curve.breaks
    share = np.arange(SAMPLES) / SAMPLES
    u = np.append((breaks[:-1, None] + np.diff(breaks)[:, None] * share).ravel(), breaks[-1])
    u = np.unique(np.concatenate([u, _slowest_places(curve, joint, u)]))
    s, h = derivatives(joint.frames, curve.sites(u))
    speed, bend = metric.norm(s), metric.norm(h)
    mean, most = float(speed.mean()), float(bend.max())
    jumps = _jumps(curve, joint, breaks)
    size = metric.norm(jumps[1])
    low = np.flatnonzero(
        (speed <= STILL * mean) & (speed <= np.roll(speed, 1)) & (speed <= np.roll(speed, -1))
    )
    inner = breaks[[0, -1]] if not joint.periodic else np.zeros(0)
    slow, sharp = int(np.argmin(speed)), int(np.argmax(bend))
    return CurveCheck(
        jumps=tuple(
            _place(joint, at, value, most)
            for at, value in zip(jumps[0], size)
            if value > JUMP * max(most, mean / (breaks[-1] - breaks[0]))
        ),
        stops=tuple(_place(joint, u[k], speed[k], mean) for k in low),
        slowest=_place(joint, u[slow], speed[slow], mean),
        sharpest=_place(joint, u[sharp], bend[sharp], most),
        ends=tuple(_place(joint, at, bend[0 if k == 0 else -1], most) for k, at in enumerate(inner)),
    )


def _slowest_places(curve: Curve, joint: SplineCurve, u: FloatArray) -> FloatArray:
    """Parameters between increasing u where |s| has a minimum: s . h rises through zero there."""

    def rate(places: FloatArray) -> FloatArray:
        return joint.twist_metric.inner(*derivatives(joint.frames, curve.sites(places)))

    values = rate(u)
    left = np.flatnonzero((values[:-1] < 0.0) & (values[1:] >= 0.0))
    low, high = u[left], u[left + 1]
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        falling = rate(middle) < 0.0
        low, high = np.where(falling, middle, low), np.where(falling, high, middle)
    return np.concatenate([low, high])


def _jumps(curve: Curve, joint: SplineCurve, breaks: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Knots inside the range, including the seam of a closed curve, and the jump of ds/dq at each (n, 6)."""
    before = breaks[1:] if joint.periodic else breaks[1:-1]
    left = Sites.at(before, joint.knots, joint.order, joint.periodic, from_left=True)
    jump = derivatives(joint.frames, curve.sites(before))[1] - derivatives(joint.frames, left)[1]
    return before, jump


def _place(joint: SplineCurve, parameter: float, value: float, whole: float) -> CurvePlace:
    count = len(joint.frames)
    places = splines.greville(joint.knots, joint.order)
    if joint.periodic:
        turn = joint.knots[count] - joint.knots[0]
        parameter_in = places[0] + np.mod(parameter - places[0], turn)
        first = int(np.searchsorted(places, parameter_in, side="right")) - 1
        pair = first, (first + 1) % count
    else:
        first = int(np.clip(np.searchsorted(places, parameter, side="right") - 1, 0, count - 2))
        pair = first, first + 1
    share = float(value / whole) if whole > 0.0 else 0.0
    return CurvePlace(float(joint.coordinate_at(parameter)), float(parameter), pair, float(value), share)
