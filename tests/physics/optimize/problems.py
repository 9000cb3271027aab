"""Motions with objectives and parameters for tests of gradients, and differences of their losses."""

import numpy as np

import physics as ph
from physics.optimize.control_frames import Displaced
from physics.optimize.gradient import make_task
from physics.optimize.steps import Motion
from tests.physics.generators import TREE_KINDS, random_pose, random_state, random_tree

IMPLICIT = ("bdf1", "sdirk2")
SPAN, STEP = 0.04, 1e-3
# The differences of fourth order have an error of about (share of the number)^4, and their losses one of about 1e-13,
# by the tolerance of Newton's iteration: with this share of each number both are small.
SHARE = 1e-3


def loss(task):
    """Of a task's motion."""
    rows = task._simulated(task.state, task.steps, 1)
    return task.objective.evaluate(task.span(0, rows, Displaced(task.model, ()))).value


def differences(task, share=SHARE):
    """Five-point differences (n,) of a task's loss by all numbers of its parameters."""
    row, found = task.places.read(task.values), []
    for each, part in zip(task.places.parameters, task.places.slices):
        size = float(np.abs(row[part]).max())
        step = share * (size if each.kind in ("mass", "inertia", "radii", "law") else max(size, 1.0))
        if each.kind in ("position", "points", "radii", "law"):
            # at the knots of splines forces have kinks, and so have smoothed paths: few differences reach over one
            step *= 0.1
        for k in range(part.start, part.stop):
            losses = {}
            for side in (-2, -1, 1, 2):
                moved = row.copy()
                moved[k] += side * step
                losses[side] = loss(task.with_values(moved))
            far, near = losses[2] - losses[-2], losses[1] - losses[-1]
            found.append((8.0 * near - far) / (12.0 * step))
    return np.array(found)


def errors(task, share=SHARE):
    """{parameter: largest difference from five-point differences, relative to the largest of them}."""
    value, slopes = task.evaluate()
    found, expected = task.places.read(slopes), differences(task, share)
    result = {}
    for each, part in zip(task.places.parameters, task.places.slices):
        # a derivative far below the others drowns in the round-off of the loss
        least = 1e-4 * abs(value) + 1e-12
        off = np.abs(found[part] - expected[part]).max()
        result[each] = off / max(np.abs(expected[part]).max(), least)
    return result


def of_coordinate(name):
    """A parameter of each kind that belongs to a coordinate."""
    kinds = "torque", "position", "speed", "stiffness", "rest", "damping"
    return [ph.Parameter(kind, name) for kind in kinds]


def of_body(name):
    """A parameter of each kind that belongs to a body."""
    return [ph.Parameter(kind, name) for kind in ("mass", "center", "inertia")]


def everything_wanted(rng, body, coordinate):
    """A sum of all objectives."""
    objectives = ph.objectives

    def energy_of_springs(t, q, qd, tau):
        return (
            0.5 * q @ q + t * qd @ tau[: len(q)],
            q,
            t * tau[: len(q)],
            t * np.append(qd, tau[len(q) :] * 0.0),
        )

    whole = objectives.Reach(body, rng.normal(size=3), point=rng.normal(size=3)) + 0.3 * objectives.Rest()
    whole += 0.1 * objectives.Path(body, [0.01, 0.02, 0.03], rng.normal(size=(3, 3)), point=(0.1, 0.0, 0.2))
    whole += objectives.Pose({coordinate: 0.2}, time=0.02) + 0.1 * objectives.Effort()
    whole += 0.5 * objectives.Aim(body, rng.normal(size=3), rng.normal(size=3), rng.normal(size=3), 0.02)
    whole += 2.0 * objectives.Frame(body, random_pose(rng), length=0.5, time=0.02)
    return (
        whole + objectives.Custom(energy_of_springs) + 0.1 * objectives.Custom(energy_of_springs, time=0.01)
    )


def random_task(seed, integrator, kinds=TREE_KINDS):
    """A random tree under a table of torques, with all objectives and a parameter of every kind."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 4, kinds)
    state = random_state(rng, model)
    state = model.state(q=state.q, qd=np.where(model.prescribed, 1.0, 0.5 * state.qd))
    name = str(rng.choice(model.coordinate_names))
    table = ph.Table([0.0, 0.02, 0.03], rng.normal(size=(3, model.num_coordinates)))
    parameters = [*of_coordinate(name), *of_body(model.body_names[-1]), ph.Parameter("gravity")]
    wanted = everything_wanted(rng, model.body_names[-1], name)
    nv, times = model.num_coordinates, [0.01, 0.035]
    roots = rng.normal(size=(2, nv, nv))
    wanted += ph.objectives.Follow(times, rng.normal(size=(2, nv)), roots @ roots.swapaxes(1, 2))
    return make_task(Motion(model, state, SPAN, STEP, integrator, table), wanted, parameters)
