"""The mechanisms of Lee & Terzopoulos 2008, Fig. 5, built as in the scenes: largest steps, and the time of a step."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import physics as ph
from blender_scenes import beads_model, globe_model, letters_model
from tests.benchmarks.timing import Contestant, Spread, alternate
from tests.scenes import energy_bounds

from .claim import Measurement, claim
from .knee import knee_model, released
from .step_search import largest_step

SOURCE = "Lee & Terzopoulos 2008, sec. 7"
FRICTIONS = (1.0, 20.0)  # multiples of the scene's
Case = tuple[Any, Any, float]  # a mechanism, its state, a lower bound of its potential energy [J]


def beads(number: int, friction: float) -> Case:
    """One wire with its beads: 0 fixed to its frame, 1 free to spin about it."""
    flowers = (beads_model.FLOWERS[number],)
    model = beads_model.build_model(flowers, friction)
    return model, beads_model.start(model, flowers), energy_bounds.beads(model, flowers)


def globe(friction: float) -> Case:
    model = globe_model.build_model(friction)
    return model, globe_model.start(model), energy_bounds.globe(model)


def letters(double: bool, friction: float) -> Case:
    """One chain; the datum is its energy at rest, after twenty seconds of three times the friction."""
    kinds = (double,)
    calmed = letters_model.build_model(kinds, 3.0)
    start = letters_model.start(calmed, kinds)
    still = ph.simulate(calmed, start, duration=20.0, dt=2.5e-4, record_interval=0.05).energy
    model = letters_model.build_model(kinds, friction)
    return model, letters_model.start(model, kinds), float(min(still[:, 1].min(), still[-1, 2]))


def steps(make: Callable[[float], Case], integrator: str, frictions: tuple[float, ...]) -> Measurement:
    """Largest step [ms] at the scene's friction; at multiples of it in the details."""
    found = {friction: largest_step(*make(friction), integrator) for friction in frictions}
    return Measurement(
        found[1.0], {f"at {friction:g} times the friction": step for friction, step in found.items()}
    )


BEADS = "three beads of 60 g {} a spinning flower-shaped wire"
BEADS_FRICTION = f"sliding friction {beads_model.FRICTION:g} N s/m"
FREE_FRICTION = f"{BEADS_FRICTION} and {beads_model.HINGE_DAMPING:g} N m s against spinning"
GLOBE = "six aeroplanes of 50 g along the coasts of a turning globe"
GLOBE_FRICTION = f"sliding friction {globe_model.FRICTION:g} N s/m"
LETTERS = "the chain of letters with {} joints, no bounce at the ends of the curves"
LETTERS_FRICTION = (
    f"sliding friction {letters_model.FRICTION:g} N s/m, {letters_model.PIN_FRICTION:g} N m s at the pin"
)
LETTERS_PAPER = "the paper states 20 to 100 ms for its scenes, damping not given"
PAPER = "the paper states {} ms, damping not given; 20 times the friction reaches that"
MECHANISMS = (
    (
        "beads_fixed",
        BEADS.format("fixed to the frame of"),
        BEADS_FRICTION,
        PAPER.format(100),
        partial(beads, 0),
    ),
    ("beads_free", BEADS.format("free to spin about"), FREE_FRICTION, PAPER.format(100), partial(beads, 1)),
    ("globe", GLOBE, GLOBE_FRICTION, PAPER.format(20), globe),
    (
        "letters_single",
        LETTERS.format("single"),
        LETTERS_FRICTION,
        LETTERS_PAPER,
        partial(letters, False),
    ),
    (
        "letters_double",
        LETTERS.format("double"),
        LETTERS_FRICTION,
        LETTERS_PAPER,
        partial(letters, True),
    ),
)
for method, bounds in (("forward", (8.0, 14.0, 8.0, 2.5, 0.4)), ("symplectic", (7.0, 11.0, 4.5, 2.0, 0.5))):
    for (kind, what, friction, paper, make), bound in zip(MECHANISMS, bounds):
        text = (
            f"largest step of {method} Euler on {what}, {friction}: 10 s with the energy never above twice the initial "
            f"({paper})"
        )
        kept = {
            "unit": "ms",
            "source": SOURCE,
            "at_least": bound,
            "cost": "slow",
            "integrator": f"{method}_euler",
        }
        frictions = (1.0,) if kind.startswith("letters") else FRICTIONS
        claim(f"steps.{kind}_{method}_euler", text, **kept, make=make, frictions=frictions)(steps)


def time_of_a_step(build: Callable[[], Any], start: Callable[[Any], Any]) -> Measurement:
    """Seconds per step of symplectic Euler in a rollout, without writing its result."""
    model = build()
    state = start(model)

    def run(count: int) -> object:
        return ph.simulate(model, state, duration=count * 1e-4, dt=1e-4, record_interval=count * 1e-4)

    taken = alternate((Contestant("step", run),))["step"]
    spread = Spread.of(taken)
    return Measurement(
        spread.median, {"quartiles": (spread.lower, spread.upper), "coordinates": model.num_coordinates}
    )


CHAIN = (False,)
for scene, what, paper, bound, model, begin in (
    (
        "knee",
        "the knee, 1 coordinate",
        "6 ms, 2.6 GHz Core 2",
        5e-6,
        lambda: knee_model(4),
        lambda m: released(m, 4),
    ),
    (
        "beads",
        "two wires and six beads, 11 coordinates",
        "none",
        2e-5,
        beads_model.build_model,
        beads_model.start,
    ),
    (
        "globe",
        "globe and six planes, 7 coordinates",
        "none",
        2e-5,
        globe_model.build_model,
        globe_model.start,
    ),
    (
        "letters",
        "chain of letters with single joints, 8 coordinates",
        "49 ms, 2.6 GHz Core 2",
        2e-5,
        lambda: letters_model.build_model(CHAIN),
        lambda m: letters_model.start(m, CHAIN),
    ),
):
    text = f"seconds per step, {what}, symplectic Euler (paper: {paper})"
    kept = {"unit": "s", "source": SOURCE, "at_most": bound}
    claim(f"speed.step_{scene}", text, **kept, build=model, start=begin)(time_of_a_step)


# m between the control frames next to the corner
CORNER_SPACINGS = (0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)
CORNER_DROP = 0.25  # m
CORNER_MASS, CORNER_INERTIA = 0.06, 1.6e-5


def corner(spacing: float, leg: float = 0.6, coarse: float = 0.05) -> Any:
    """A V of two legs at 45 degrees with frames at `spacing` on both sides of the corner; each next spacing is twice as
    large, up to `coarse`. Naturally parameterized in the metric of a bead's kinetic energy.
    """
    away, step = [spacing], spacing
    while away[-1] < leg:
        step = min(2.0 * step, max(coarse, spacing))
        away.append(away[-1] + step)
    places = np.array([-distance for distance in away[::-1]] + [0.0, *away])
    frames = np.broadcast_to(np.eye(4), (len(places), 4, 4)).copy()
    for frame, place in zip(frames, places):
        frame[:3, :3] = ph.lie.so3_exp(np.array([0.0, -0.25 * np.pi * np.sign(place), 0.0]))
        frame[[0, 2], 3] = np.sqrt(0.5) * place, np.sqrt(0.5) * abs(place)
    return ph.joints.SplineCurve(frames, length_scale=float(np.sqrt(CORNER_INERTIA / CORNER_MASS)))


@claim("steps.corner_of_clustered_frames", source="Lee & Terzopoulos 2008, sec. 8", at_most=0.8, cost="slow")
def corner_of_clustered_frames() -> Measurement:
    """Radius of the sharpest right-angled corner for which a step of symplectic Euler is stable, over the distance in a
    step, corners of 0.5 to 50 mm by clustered control frames, no damping: 10 s with the energy never above twice the
    initial; the step must shrink as soon as the bead travels more than about a radius in one.
    """
    ratios, details = [], {}
    for spacing in CORNER_SPACINGS:
        joint = corner(spacing)
        builder = ph.ModelBuilder()
        builder.add_body("bead", joint=joint, mass=CORNER_MASS, inertia=np.eye(3) * CORNER_INERTIA)
        model = builder.build()
        q = np.linspace(*joint.range[0], 20001)
        points = np.asarray(joint.transform(q[:, None]))[:, :3, 3]
        begin = int(np.argmin(np.abs(points[:10000, 2] - points[:, 2].min() - CORNER_DROP)))
        datum = float(9.81 * CORNER_MASS * points[:, 2].min())
        step = largest_step(model, model.state(q=[q[begin]]), datum, "symplectic_euler")
        slope = np.gradient(points, q, axis=0)
        length = np.linalg.norm(slope, axis=1)
        turn = np.linalg.norm(np.gradient(slope / length[:, None], q, axis=0), axis=1) / length
        radius, speed = 1e3 / turn.max(), np.sqrt(2.0 * 9.81 * CORNER_DROP)
        ratios.append(radius / (step * speed) if step > 0.0 else np.inf)
        details[f"radius {radius:.2f} mm"] = {"step [ms]": step, "radius / way": ratios[-1]}
    return Measurement(float(max(ratios)), details)
