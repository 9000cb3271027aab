"""Every integrator against its order, on a tree and on a closed loop; stiff springs; errors of adaptive methods."""

from functools import cache
from typing import Any

import numpy as np

import physics as ph
from physics._typing import FloatArray

from .claim import Measurement, Plot, claim
from .generators import chain, links, unit_vector
from .mechanisms import crossed_four_bar

SPAN = 0.5
ORDERS = {
    "forward_euler": 1,
    "symplectic_euler": 1,
    "textbook_symplectic_euler": 1,
    "linearly_implicit_euler": 1,
    "spring_implicit_euler": 1,
    "bdf1": 1,
    "sdirk2": 2,
    "rk4": 4,
}
NUMBERS = {1: (1600, 3200, 6400, 12800), 2: (100, 200, 400, 800), 4: (50, 100, 200, 400)}  # of steps
ADAPTIVE = ("RK45", "DOP853", "LSODA", "Radau", "BDF")


def sprung_chain() -> tuple[Any, Any]:
    """Four hinges with springs and dampers in the joints and between points of the rods."""
    rng = np.random.default_rng(8)
    builder, parent = ph.ModelBuilder(), None
    for index, link in enumerate(links(4)):
        joint = ph.joints.Hinge(unit_vector(rng))
        parent = builder.add_body(f"link {index}", parent, joint=joint, stiffness=2.0, damping=0.02, **link)
    for index in range(2):
        ends = (f"link {index}", [0.1, 0.0, -0.1], f"link {index + 2}", [0.1, 0.0, -0.2])
        builder.add_spring(f"spring {index}", *ends, stiffness=60.0, damping=0.5, rest_length=0.2)
    model = builder.build()
    return model, model.state(q=rng.uniform(-0.5, 0.5, 4), qd=rng.normal(size=4))


MODELS = {"chain": sprung_chain, "four-bar": crossed_four_bar}


def end(model: Any, state: Any, integrator: str, dt: float = 1e-3, **options: Any) -> FloatArray:
    """Coordinates and velocities after SPAN."""
    result = ph.simulate(model, state, SPAN, dt, integrator, record_interval=SPAN, **options)
    return np.concatenate([result.q[-1], result.qd[-1]])


@cache
def exact(name: str) -> FloatArray:
    """Solution by DOP853 at a tenth of the tested tolerance (1e-10)."""
    return end(*MODELS[name](), "DOP853", rtol=1e-11, atol=1e-12)


def errors(name: str, integrator: str) -> tuple[FloatArray, FloatArray]:
    model, state = MODELS[name]()
    steps = SPAN / np.array(NUMBERS[ORDERS[integrator]])
    return steps, np.array([np.linalg.norm(end(model, state, integrator, dt) - exact(name)) for dt in steps])


TABLE = (
    "slope of the error over the step against DOP853 at a tolerance of 1e-11, {}, for every method with a fixed step "
    "(orders 1: the explicit and linearly implicit Euler methods, BDF1; 2: SDIRK2; 4: RK4): largest deviation from "
    "the order, relative"
)
CHAIN, FOUR_BAR = TABLE.format("four sprung and damped links"), TABLE.format("four-bar linkage")


# A twentieth of the order: the effect of the next error term at these steps.
@claim("integrators.orders_four_bar", FOUR_BAR, at_most=0.05, name="four-bar")
@claim("integrators.orders_chain", CHAIN, at_most=0.05, name="chain")
def table(name: str, chosen: tuple[str, ...] = tuple(ORDERS)) -> Measurement:
    """Largest deviation of the slope of a method's errors from its order, relative to the order."""
    details: dict[str, Any] = {}
    lines = {}
    worst = 0.0
    for integrator in chosen:
        steps, found = errors(name, integrator)
        slope = float(np.polyfit(np.log(steps), np.log(found), 1)[0])
        details[integrator] = {"order": slope, "errors": dict(zip(steps.tolist(), found.tolist()))}
        lines[f"{integrator}: {slope:.2f}"] = (steps.tolist(), found.tolist())
        worst = max(worst, abs(slope / ORDERS[integrator] - 1.0))
    title = f"Error of every method, {name}"
    plot = Plot(f"orders_{name}", title, "step [s]", "error after half a second", lines, "xy")
    return Measurement(worst, details, (plot,))


@cache
def extrapolated(name: str) -> FloatArray:
    """By RK4 at 0.2 and 0.1 ms and Richardson extrapolation, independent of SciPy's methods."""
    coarse, fine = (end(*MODELS[name](), "rk4", dt) for dt in (2e-4, 1e-4))
    return fine + (fine - coarse) / (2.0**4 - 1.0)


# About a hundred steps, each within the tolerance, of values of 10; low-order methods take the most steps.
@claim("integrators.adaptive_tight", unit="rad, rad/s", at_most=1e-7)
def adaptive_tight() -> Measurement:
    """Error after half a second of the adaptive methods on four sprung links and on the four-bar linkage, tolerances
    1e-10 relative and 1e-12 absolute, against extrapolated RK4: largest.
    """
    found = {
        f"{model}, {name}": float(
            np.linalg.norm(end(*MODELS[model](), name, rtol=1e-10, atol=1e-12) - extrapolated(model))
        )
        for model in MODELS
        for name in ADAPTIVE
    }
    return Measurement(max(found.values()), found)


STIFFNESS = 1e6  # N m/rad in the joints, N/m across them
STEPS = 300


def stiff_chain() -> tuple[Any, Any]:
    """Three links with springs in and across the joints, too stiff for visible motion; no damping."""
    rng = np.random.default_rng(6)
    builder, parent = ph.ModelBuilder(), None
    for index, link in enumerate(links(3)):
        joint = ph.joints.Hinge(unit_vector(rng))
        parent = builder.add_body(f"link {index}", parent, joint=joint, stiffness=STIFFNESS, **link)
    ends = ("link 0", [0.1, 0.0, -0.1], "link 2", [0.1, 0.0, -0.2])
    builder.add_spring("spring", *ends, stiffness=STIFFNESS, damping=0.0, rest_length=0.4)
    model = builder.build()
    return model, model.state(q=1e-3 * rng.normal(size=3))


def bears(integrator: str, dt: float) -> bool:
    """Whether the energy of the stiff chain above its minimum never exceeds twice the initial one."""
    model, state = stiff_chain()
    try:
        energy = ph.simulate(model, state, STEPS * dt, dt, integrator).energy[:, 2]
    except ph.DivergedError:
        return False
    above = energy - lowest()
    return bool(np.isfinite(above).all() and (above <= 2.0 * above[0]).all())


@cache
def lowest() -> float:
    """Energy of the stiff chain in equilibrium, which backward Euler reaches."""
    model, state = stiff_chain()
    return float(ph.simulate(model, state, 10.0, 0.1, "bdf1").energy[-1, 2])


@cache
def explicit_limit() -> float:
    """The largest stable step of symplectic Euler on the stiff chain, by bisection to a thousandth [s]."""
    lower, upper = 1e-6, 1.0
    while upper > 1.001 * lower:
        middle = float(np.sqrt(lower * upper))
        if bears("symplectic_euler", middle):
            lower = middle
        else:
            upper = middle
    return lower


@claim("integrators.stiff_springs", source="Wang 2022, eqs. 4.80-4.82", at_least=100.0)
def stiff_springs() -> Measurement:
    """Largest stable step of linearly implicit Euler, BDF1 and SDIRK2 over that of symplectic Euler (measured), three
    links with springs of {STIFFNESS:g} N m/rad and N/m and no damping, energy never above twice the initial one in
    {STEPS} steps: least of the three.
    """
    limit = explicit_limit()
    details: dict[str, Any] = {"symplectic Euler's largest step [s]": limit}
    for name in ("linearly_implicit_euler", "bdf1", "sdirk2"):
        borne = 0.0
        for times in (1.0, 10.0, 100.0, 1000.0):
            if not bears(name, times * limit):
                break
            borne = times
        details[name] = borne
    return Measurement(min(value for key, value in details.items() if "[s]" not in key), details)


LINKS, TIMES = 20, (4e-3, 2e-3, 1e-3)


def given_and_fed(dt: float) -> float:
    """Largest difference of an angle between a chain with half of its joints prescribed and the same chain under the
    forces that this needs.
    """
    from scipy.interpolate import make_interp_spline

    rng = np.random.default_rng(11)
    axes = [unit_vector(rng) for _ in range(LINKS)]
    model = chain(LINKS, lambda index: ph.joints.Hinge(axes[index]))
    grid = np.linspace(0.0, SPAN, 126)  # multiples of the steps
    motions = {
        f"link {k}": ph.Motion(grid, 8.0 * np.cos(9.0 * grid + k), kind="acceleration")
        for k in range(0, LINKS, 2)
    }
    start = model.state(q=0.3 * np.cos(np.arange(LINKS)))
    held = ph.simulate(model, start, SPAN, dt, "rk4", motions=motions)
    forces = make_interp_spline(held.t, held.efforts, k=5)
    again = ph.simulate(
        model, start, SPAN, integrator="DOP853", tau=lambda t: forces(t), record_interval=dt, rtol=1e-10
    )
    return float(np.abs(held.q - again.q).max())


@claim("integrators.motions_fed_back", source="Wang 2022, sec. 4.6.5", at_least=2.9)
def motions_fed_back() -> Measurement:
    """A chain of 20 links with half of its joints on prescribed accelerations for 0.5 s of RK4, and the same chain
    under the forces that this needs, by DOP853: order in which the largest difference of an angle decreases with the
    step (the forces are those of a step's last stage, of third order).
    """
    found = [given_and_fed(dt) for dt in TIMES]
    slope = float(np.polyfit(np.log(TIMES), np.log(found), 1)[0])
    return Measurement(slope, {"differences [rad]": dict(zip(TIMES, found))})
