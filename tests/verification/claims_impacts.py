"""Impacts of rigid bodies: a rod's end on the floor in closed form, trees with friction, energy that never grows."""

from typing import Any

import numpy as np
from numpy.random import Generator

import physics as ph
from physics._typing import FloatArray
from physics.contacts import Plane

from .claim import Measurement, claim
from .generators import random_body, unit_vector
from .plane_models import LENGTH, MASS, PLANE, THETA

SOURCE = "Ertl et al. 1993, eqs. 6-7"
ANGLES = np.radians((10.0, 35.0, 60.0, 85.0, 110.0, 150.0, 175.0))
STICKING = 1e3  # a friction large enough to stick in all impacts here
INSTANT = 1e-6  # s, of free flight without gravity: velocities change by the impact only


def rod(friction: float, restitution: float) -> ph.Model:
    """A weightless rod in the plane x, z, whose lower end may touch the floor z = 0."""
    builder = ph.ModelBuilder(gravity=(0.0, 0.0, 0.0))
    inertia = np.diag([0.5, 1.0, 1.0]) * THETA[0]
    body = builder.add_body(
        "rod", joint=ph.joints.Planar(), joint_in_parent=PLANE, mass=MASS[0], inertia=inertia
    )
    end = [(-0.5 * LENGTH[0], 0.0, 0.0)]
    builder.add_contact("floor", body, end, Plane(), friction=friction, restitution=restitution)
    return builder.build()


def blow(lever: FloatArray, before: FloatArray, friction: float, restitution: float) -> FloatArray:
    """c_x, c_z of an impact whose end, at the lever (x, z) from the mass centre, leaves with -e times its speed.

    Eqs. 7 with two more equations: the end's speed along z, and along x one of three: c_x = 0 without friction
    (elastic: energy is conserved), no speed if the end sticks, or c_x = mu c_z against sliding that continues.
    """
    x, z = lever
    inverse = np.array(
        [
            [1.0 / MASS[0] + z * z / THETA[0], -x * z / THETA[0]],
            [-x * z / THETA[0], 1.0 / MASS[0] + x * x / THETA[0]],
        ]
    )
    end = np.array([before[0] - z * before[2], before[1] + x * before[2]])
    if friction == STICKING:
        return -np.linalg.solve(inverse, end * [1.0, 1.0 + restitution])
    along = np.array([-friction * np.sign(end[0]), 1.0])
    return -(1.0 + restitution) * end[1] / (inverse[1] @ along) * along


def change(lever: FloatArray, blow: FloatArray) -> FloatArray:
    """Change of x', z', phi' by an impact: eqs. 7a, 7b, 7c."""
    turn = lever[0] * blow[1] - lever[1] * blow[0]
    return np.array([blow[0] / MASS[0], blow[1] / MASS[0], turn / THETA[0]])


def meeting(
    rng: Generator, lever: FloatArray, friction: float, restitution: float
) -> tuple[FloatArray, FloatArray]:
    """x', z', phi' before and after a rod's end strikes the floor, by eqs. 7.

    Draws again if the end would have to be pulled to come to rest: the floor cannot pull.
    """
    while True:
        sliding = (1.0 if friction == STICKING else 4.0) * rng.choice([-1.0, 1.0])
        fall, spin = -rng.uniform(0.5, 3.0), rng.normal()
        before = np.array([sliding + lever[1] * spin, fall - lever[0] * spin, spin])
        force = blow(lever, before, friction, restitution)
        if abs(force[0]) <= 0.5 * STICKING * force[1]:
            return before, before + change(lever, force)


def rod_differences(friction: float, restitution: float) -> dict[str, float]:
    """Largest differences from the closed form, relative to the largest speed, over angles and speeds; and errors of
    the balances of momentum and energy.
    """
    rng = np.random.default_rng(21)
    model = rod(friction, restitution)
    mass = np.array([MASS[0], MASS[0], THETA[0]])
    worst = {"speeds": 0.0, "moment about the end": 0.0, "energy": 0.0}
    for angle in np.repeat(ANGLES, 8):
        lever = -0.5 * LENGTH[0] * np.array([np.cos(angle), np.sin(angle)])
        before, expected = meeting(rng, lever, friction, restitution)
        state = model.state(q=[0.0, -lever[1], angle], qd=before)
        after = ph.simulate(model, state, INSTANT, INSTANT).qd[-1]
        momentum = mass * (after - before)
        size = np.abs(before).max()
        differences = {
            "speeds": np.abs(after - expected).max() / size,
            "moment about the end": abs(momentum[2] - lever[0] * momentum[1] + lever[1] * momentum[0])
            / np.abs(momentum).max(),
        }
        # work of the impulse with the mean of the end's speeds before and after
        mean = 0.5 * (before + after)
        work = momentum[:2] @ [mean[0] - lever[1] * mean[2], mean[1] + lever[0] * mean[2]]
        kinetic = 0.5 * mass @ np.square([before, after]).T
        differences["energy"] = abs(kinetic[1] - kinetic[0] - work) / kinetic[0]
        if friction == 0.0 and restitution == 1.0:
            differences["energy"] = abs(kinetic[1] - kinetic[0]) / kinetic[0]
        for name, value in differences.items():
            worst[name] = max(worst[name], float(value))
    return worst


def rod_claim(friction: float, restitution: float) -> Measurement:
    worst = rod_differences(friction, restitution)
    return Measurement(max(worst.values()), worst)


ROD = (
    "impact of a rod's end on the floor against eqs. 7, seven angles and eight speeds each, {}: largest relative "
    "difference of the speeds after it, of the angular momentum about the end, of the energy balance"
)


for name, what, friction, restitution in (
    ("elastic", "elastic (c_x = 0, energy conserved)", 0.0, 1.0),
    ("inelastic", "inelastic (the end comes to rest)", STICKING, 0.0),
    ("between", "without friction and with a restitution of 0.6", 0.0, 0.6),
    ("sliding", "inelastic with a friction of 0.05, sliding continues", 0.05, 0.0),
):
    laws = {"friction": friction, "restitution": restitution}
    claim(f"impacts.rod_{name}", ROD.format(what), source=SOURCE, at_most=1e-12, **laws)(rod_claim)


KINDS = ("hinge", "slider", "universal", "spherical", "spline_curve", "planar", "free")
BODIES = 8


def struck_tree(rng: Generator, contacts: int, friction: bool) -> tuple[Any, Any, float]:
    """A tree in which a point of some bodies touches a wall of its own, and a state in which all hit their walls.

    Restitutions and frictions differ between contacts, or there is one restitution (returned) and no friction.
    """
    bodies = [random_body(rng, KINDS) for _ in range(BODIES)]
    parents = [int(rng.integers(k)) for k in range(1, BODIES)]

    def tree() -> Any:
        builder = ph.ModelBuilder(gravity=9.81 * unit_vector(rng))
        for k, body in enumerate(bodies):
            builder.add_body(f"body {k}", f"body {parents[k - 1]}" if k else None, **body)
        return builder

    plain = tree().build()
    state = plain.state(
        q=rng.uniform(0.2, 0.8, plain.num_coordinates), qd=rng.normal(size=plain.num_coordinates)
    )
    poses, builder, common = ph.body_poses(plain, state), tree(), float(rng.random())
    for index in rng.choice(np.arange(BODIES), contacts, replace=False):
        point = 0.3 * rng.standard_normal(3)
        jacobian = ph.body_jacobian(plain, state, f"body {index}") @ state.qd
        going = poses[index][:3, :3] @ (jacobian[3:] + np.cross(jacobian[:3], point))
        wall = np.eye(4)
        wall[:3, 2] = -going / np.linalg.norm(going)  # nearly head on, so that slip may reverse
        wall[:3, 2] += 0.7 * unit_vector(rng)
        wall[:3, 2] /= np.linalg.norm(wall[:3, 2])
        wall[:3, 0] = np.cross(unit_vector(rng), wall[:3, 2])
        wall[:3, 0] /= np.linalg.norm(wall[:3, 0])
        wall[:3, 1] = np.cross(wall[:3, 2], wall[:3, 0])
        wall[:3, 3] = poses[index][:3, :3] @ point + poses[index][:3, 3]
        builder.add_contact(
            f"wall {index}",
            f"body {index}",
            [point],
            Plane(),
            pose=wall,
            friction=float(rng.uniform(0.1, 1.5)) if friction else 0.0,
            restitution=float(rng.choice([0.0, rng.random(), 1.0])) if friction else common,
        )
    return builder.build(), state, common


# Largest difference of the speeds of two steps, relative to the speeds, that smooth forces may cause.
SMOOTH_CHANGE = 1e-4


def instant(model: Any, state: Any, dt: float) -> Any:
    """Velocities (nv,) after an impact at the start, without the effect of smooth forces in a step.

    Extrapolated from steps of dt and dt / 2, up to terms in dt^2. With friction an impact may have several solutions,
    of which round-off selects one: uses two steps with the same one.
    """
    whole = ph.simulate(model, state, dt, dt).qd[-1]
    for halvings in range(1, 8):
        step = dt / 2**halvings
        half = ph.simulate(model, state, step, step).qd[-1]
        if np.abs(half - whole).max() <= SMOOTH_CHANGE * np.abs(half).max():
            break
        last, whole = whole, half
    else:
        whole = last
    return 2.0 * half - whole


def struck(rng: Generator, contacts: int, friction: bool) -> tuple[float, float]:
    """Relative growth of the kinetic energy, and the change of momentum that the walls' impulses cannot explain."""
    model, state, _ = struck_tree(rng, contacts, friction)
    after = instant(model, state, 1e-7)
    matrix = ph.mass_matrix(model, state)
    change = matrix @ (after - state.qd)
    size = np.linalg.norm(np.abs(matrix) @ np.abs(after - state.qd))  # magnitude of the terms that cancel
    kinetic = [0.5 * qd @ matrix @ qd for qd in (state.qd, after)]
    columns = []
    for contact in model.contacts:
        pose = ph.body_poses(model, state)[contact.body]
        name = model.body_names[contact.body]
        jacobian = ph.body_jacobian(model, state, name)
        at = jacobian[3:] + np.cross(jacobian[:3].T, contact.points[0]).T
        at = pose[:3, :3] @ at
        columns.append(at if friction else contact.pose[:3, 2:].T @ at)
    directions = np.vstack(columns).T
    directions = directions / np.linalg.norm(directions, axis=0)
    left = change - directions @ np.linalg.lstsq(directions, change, rcond=None)[0]
    return float((kinetic[1] - kinetic[0]) / kinetic[0]), float(np.linalg.norm(left) / size)


STRUCK = (
    "{{count}} random trees of 8 bodies that hit one to three walls at once, {}: largest growth of the kinetic energy, "
    "and change of momentum beyond the walls' impulses, both relative"
)
ROUGH = STRUCK.format("with friction of 0.1 to 1.5 and restitutions of 0 to 1, all different")
SMOOTH = STRUCK.format("without friction, one restitution for all")


@claim("impacts.smooth_trees", SMOOTH, at_most=1e-8, count=30, friction=False, seed=3)
@claim("impacts.trees", ROUGH, at_most=1e-8, cost="slow", count=2000, friction=True, seed=2)
@claim("impacts.trees_quick", ROUGH, at_most=1e-8, count=30, friction=True, seed=1)
def struck_trees(count: int, friction: bool, seed: int) -> Measurement:
    """{count} random trees of 8 bodies that hit one to three walls at once, {LAWS[friction]}: largest growth of the
    kinetic energy, and change of momentum beyond the walls' impulses, both relative.
    """
    rng = np.random.default_rng(seed)
    found = np.array([struck(rng, 1 + index % 3, friction) for index in range(count)])
    worst = found.max(axis=0)
    details = {
        "growth of energy": worst[0],
        "momentum aside": worst[1],
        "most energy lost": -found[:, 0].min(),
    }
    return Measurement(float(worst.max()), details)


KANE_ANGLES, KANE_FRICTION, KANE_RESTITUTION = np.radians((20.0, 30.0)), 0.5, 0.7


def kane_pendulum() -> tuple[ph.Model, Any]:
    """A double pendulum of rods of 1 m and 1 kg, its tip just at the rough floor, and J (2, 2) of the tip's speeds
    (along the normal, along the floor).
    """
    down = np.eye(4)
    down[2, 3] = -1.0
    floor = np.eye(4)
    floor[2, 3] = -np.cos(KANE_ANGLES).sum()
    builder, parent = ph.ModelBuilder(gravity=(0.0, 0.0, 0.0)), None
    rod = {"mass": 1.0, "com": (0.0, 0.0, -0.5), "inertia": np.diag([1.0, 1.0, 1e-3]) / 12.0}
    for name in ("upper", "lower"):
        place = None if parent is None else down
        parent = builder.add_body(
            name, parent, joint=ph.joints.Hinge((0, -1, 0)), joint_in_parent=place, **rod
        )
    laws = {"friction": KANE_FRICTION, "restitution": KANE_RESTITUTION}
    builder.add_contact("floor", "lower", [(0, 0, -1)], Plane(), pose=floor, **laws)
    both = np.array([[np.sin(angle), np.cos(angle)] for angle in KANE_ANGLES]).T
    return builder.build(), both @ np.array([[1.0, 0.0], [1.0, 1.0]])  # of the hinge's coordinates


def newtons_blow(matrix: FloatArray, speeds: FloatArray) -> FloatArray:
    """Impulses (along the normal, along the floor) by Newton's law with Coulomb friction."""
    aim = np.array([(1.0 + KANE_RESTITUTION) * speeds[0], speeds[1]])
    sticking: FloatArray = -np.linalg.solve(matrix, aim)
    if abs(sticking[1]) <= KANE_FRICTION * sticking[0]:
        return sticking
    for way in (-1.0, 1.0):
        along = np.array([1.0, -way * KANE_FRICTION])
        sliding: FloatArray = -aim[0] / (matrix[0] @ along) * along
        if sliding[0] > 0.0 and way * (speeds + matrix @ sliding)[1] >= 0.0:
            return sliding
    raise ValueError(f"no impulses at speeds {speeds}")


@claim("impacts.kane", source="Kane & Levinson 1985", at_most=1e-12)
def kane() -> Measurement:
    """Double pendulum whose tip strikes rough ground, 200 speeds of the upper rod: largest growth of the kinetic
    energy, relative (the growth by Newton's law of restitution is in the details).
    """
    model, jacobian = kane_pendulum()
    q = [KANE_ANGLES[0], KANE_ANGLES[1] - KANE_ANGLES[0]]
    matrix = ph.mass_matrix(model, model.state(q=q))
    answers = jacobian @ np.linalg.solve(matrix, jacobian.T)
    grown, newton = -np.inf, 0.0
    for rate in np.linspace(-1.0, 1.0, 200):
        before = np.array([rate, -0.2 - rate])
        speeds = jacobian @ before
        if speeds[0] >= 0.0:
            continue
        state = model.state(q=q, qd=before)
        dt = 1e-9  # so short that the pendulum's motion has no effect
        after = ph.simulate(model, state, dt, dt).qd[-1]
        free = before + dt * ph.forward_dynamics(model, state)
        kinetic = [0.5 * qd @ matrix @ qd for qd in (free, after)]
        grown = max(grown, float((kinetic[1] - kinetic[0]) / kinetic[0]))
        blow = newtons_blow(answers, speeds)
        newton = max(newton, float(blow @ (speeds + 0.5 * answers @ blow)) / kinetic[0])
    return Measurement(grown, {"growth after Newton's law": newton})
