"""The event-driven method against closed forms: order between impacts and in contact, error against tolerance."""

from typing import Any

import numpy as np
from scipy.special import ellipj, ellipk

import physics as ph
from physics._typing import FloatArray
from physics.geometry import lie

from .claim import Measurement, Plot, claim

GRAVITY, MASS, LEVER, INERTIA = 9.81, 1.0, 0.5, 0.1
PACE = np.sqrt(MASS * GRAVITY * LEVER / (INERTIA + MASS * LEVER**2))  # of small oscillations [rad/s]
HIGH, LOW = 2.0, 1.0  # rad: initial angles of the pendulums
LOOK = 10.0  # the longest step in free motion, in units of dt
ARM = {"mass": MASS, "com": (0.0, 0.0, -LEVER), "inertia": INERTIA * np.eye(3)}


def quarter(highest: float) -> float:
    """A quarter of a pendulum's period [s]."""
    return float(ellipk(np.sin(0.5 * highest) ** 2) / PACE)


def swing(highest: float, times: FloatArray) -> FloatArray:
    """Angle and rate (2, n) of a pendulum released at an angle, by Jacobi's elliptic functions."""
    modulus = np.sin(0.5 * highest)
    sine, cosine, _, _ = ellipj(PACE * (quarter(highest) - times), modulus**2)
    return np.array([2.0 * np.arcsin(modulus * sine), -2.0 * PACE * modulus * cosine])


def bounce(times: FloatArray) -> FloatArray:
    """As `swing`, with an elastic stop at the lowest point: the same motion, mirrored there."""
    free = swing(HIGH, times)
    return free * np.sign(free[0])


def bouncing() -> tuple[Any, Any]:
    """A pendulum with an elastic stop at its lowest point."""
    builder = ph.ModelBuilder(gravity=(0.0, 0.0, -GRAVITY))
    builder.add_body("arm", joint=ph.joints.Hinge((0, 1, 0)), limits=(0.0, 3.0), limit_restitution=1.0, **ARM)
    model = builder.build()
    return model, model.state(q=[HIGH])


def turned(angle: float, z: float = 0.0) -> FloatArray:
    """A frame at a height, rotated about y."""
    frame = np.eye(4)
    frame[:3, :3], frame[2, 3] = lie.so3_exp(np.array([0.0, angle, 0.0])), z
    return frame


def pendulum_on_beam() -> tuple[Any, Any]:
    """A pendulum at the end of a level beam that rests on a hard stop: the whole motion is in contact."""
    builder, hinge = ph.ModelBuilder(gravity=(0.0, 0.0, -GRAVITY)), ph.joints.Hinge((0, 1, 0))
    beam = ARM | {"mass": 5.0, "joint_in_parent": turned(-0.5 * np.pi)}
    builder.add_body("beam", joint=hinge, limits=(-1.0, 0.0), limit_restitution=0.3, **beam)
    builder.add_body("arm", "beam", joint=hinge, joint_in_parent=turned(0.5 * np.pi, -1.0), **ARM)
    model = builder.build()
    return model, model.state(q=[0.0, LOW])


def bouncing_error(duration: float, dt: float, tolerance: float, interval: float | None = None) -> float:
    """Largest error of angle or rate at the samples, without the rates at an end that is an impact."""
    model, state = bouncing()
    interval = duration if interval is None else interval
    run = ph.simulate(
        model, state, duration, dt, "event_driven", record_interval=interval, rtol=tolerance, atol=tolerance
    )
    return float(np.abs(np.array([run.q[:, 0], run.qd[:, 0]]) - bounce(run.t)).max())


def contact_error(dt: float) -> float:
    """Error of the pendulum on the beam after half a second."""
    model, state = pendulum_on_beam()
    run = ph.simulate(model, state, 0.5, dt, "event_driven", record_interval=0.5)
    return float(np.abs(np.array([run.q[-1, 1], run.qd[-1, 1]]) - swing(LOW, run.t[-1:])[:, 0]).max())


def order(label: str, steps: Any, errors: list[float]) -> tuple[float, Plot]:
    """Slope of the error over the step, and its plot."""
    slope = float(np.polyfit(np.log(steps), np.log(errors), 1)[0])
    title = "Event-driven method, against closed forms"
    line = {f"{label}: {slope:.2f}": (list(steps), errors)}
    return slope, Plot("orders_event_driven", title, "longest step [s]", "error", line, "xy")


FLIGHT_STEPS = np.array([4.0, 6.0, 8.0, 12.0, 16.0])  # to the lowest point
CONTACT_STEPS = (4e-3, 2e-3, 1e-3, 5e-4)  # s


# Eighth order, less the next error term at these steps.
@claim("integrators.event_driven_flight", at_most=9.0, at_least=7.5)
def flight() -> Measurement:
    """Order of the event-driven method in free motion (DOP853): a pendulum before its first impact, with the longest
    step fixed by dt and a tolerance without effect, against Jacobi's elliptic functions.
    """
    steps = quarter(HIGH) / FLIGHT_STEPS
    errors = [bouncing_error(0.97 * quarter(HIGH), step / LOOK, 1.0) for step in steps]
    slope, plot = order("free motion", steps, errors)
    return Measurement(slope, {"errors": dict(zip(steps.tolist(), errors))}, (plot,))


# An impact is found on the interpolant, of seventh order, at a random place within the step.
@claim("integrators.event_driven_impacts", at_least=6.0)
def over_impacts() -> Measurement:
    """Order of the event-driven method over impacts: a pendulum with an elastic stop at its lowest point, ten quarters
    of its period, a tolerance without effect, against the mirrored closed form.
    """
    steps = quarter(HIGH) / FLIGHT_STEPS
    errors = [bouncing_error(9.5 * quarter(HIGH), step / LOOK, 1.0, 0.01) for step in steps]
    slope, plot = order("over impacts", steps, errors)
    return Measurement(slope, {"errors": dict(zip(steps.tolist(), errors))}, (plot,))


@claim("integrators.event_driven_contact", at_most=0.05)
def in_contact() -> Measurement:
    """Order of the event-driven method during contact (symplectic Euler): a pendulum at the end of a beam that rests on
    a hard stop, against the closed form: deviation from 1.
    """
    errors = [contact_error(dt) for dt in CONTACT_STEPS]
    slope, plot = order("in contact", CONTACT_STEPS, errors)
    return Measurement(abs(slope - 1.0), {"errors": dict(zip(CONTACT_STEPS, errors))}, (plot,))


TOLERANCES = tuple(10.0**-k for k in range(6, 12))


# One or two hundred steps, each within the tolerance of rates of up to 10 rad/s.
@claim("integrators.event_driven_tolerance", at_most=2e3)
def tolerance() -> Measurement:
    """Error of the event-driven method over its tolerance, 1e-6 to 1e-11: the pendulum and its elastic stop over 20 s,
    18 impacts, dt of 20 ms: largest.
    """
    errors = {bound: bouncing_error(20.0, 0.02, bound, 0.01) for bound in TOLERANCES}
    return Measurement(max(error / bound for bound, error in errors.items()), {"errors": errors})


# Round-off: at steps of 10 ms the eighth-order error vanishes.
@claim("impacts.event_driven_pendulum", unit="rad, rad/s", source="Ertl et al. 1993, eqs. 5-7", at_most=1e-11)
def pendulum() -> float:
    """Pendulum with an elastic stop at its lowest point, 20 s and 18 impacts of the event-driven method at 1 ms,
    against Jacobi's elliptic functions: largest error.
    """
    return bouncing_error(20.0, 1e-3, 1e-8, 0.01)
