"""Slopes of muscles for implicit methods: exact for every kind of path, law and mass."""

from dataclasses import replace

import numpy as np
import pytest

import physics as ph
from physics.integrators.base import carry
from physics.integrators.implicit import implicit_workspace
from physics.joints.functions import Polynomial, Wave
from physics.kernels import layout
from physics.kernels.muscles import layout as muscle_layout
from physics.kernels.muscles.states import set_implicit
from physics.kernels.stepping import implicit_stage
from physics.muscles import Condition, MassPoints, Millard, Moving, PathPoint, Tension, Thelen
from physics.muscles.obstacles import Cylinder, Ellipsoid, Sphere, SphereCappedCylinder, Torus
from physics.muscles.wrapping import Wrap
from tests.physics.dynamics.test_derivatives import difference, slope

from .test_wrapping_rows import ROWS

INERTIA = np.diag([0.02, 0.03, 0.025])
STEP = 1e-4
# Differences of fourth order: the error of their own is the fourth power of STEP over that of the few millimetres in
# which smoothed paths and seams change, and the round-off of geodesics, 1e-13, is divided by it.
ACCURACY = 1e-9

OBSTACLES = {
    "sphere": ([Sphere(radius=0.1)], (-0.3, 0.05, 0.02), (0.25, 0.04, -0.05)),
    "cylinder": ([Cylinder(radius=0.1)], (-0.3, 0.05, 0.02), (0.25, 0.04, -0.15)),
    "capsule": ([SphereCappedCylinder(radius=0.1, length=0.2)], (-0.15, 0.0, -0.15), (0.12, 0.03, 0.3)),
    "ellipsoid": ([Ellipsoid(radii=(0.1, 0.06, 0.14))], (-0.25, 0.04, 0.03), (0.2, 0.02, -0.05)),
    "torus": ([Torus(major_radius=0.12, minor_radius=0.04)], (0.13, 0.03, -0.2), (0.11, -0.02, 0.25)),
    **ROWS,
}
PATHS = {
    "straight": lambda: [PathPoint("base", (0.1, 0.02, -0.2)), PathPoint("end", (0.05, 0.03, 0.1))],
    "points": lambda: [
        PathPoint(None, (0.1, 0.2, 0.3)),
        PathPoint("base", (0.1, 0.02, -0.2)),
        PathPoint("middle", (0.1, -0.05, 0.0), Condition("middle.angle", -1.0, 1.0)),
        PathPoint("middle", (0.2, -0.05, 0.0), Condition("middle.angle", 2.0, 3.0)),
        PathPoint("end", (0.05, 0.03, 0.1)),
    ],
    "moving": lambda: [
        PathPoint("base", (0.1, 0.02, -0.2)),
        PathPoint(
            "middle",
            (
                Moving("middle.angle", Wave(0.02, 0.03, 0.1)),
                0.02,
                Moving("middle.angle", Polynomial((0, 0.2, 0.3))),
            ),
        ),
        PathPoint("end", (Moving("base.angle_2", Polynomial((0.05, 0.1, 0.0, 0.2))), 0.03, 0.1)),
    ],
}
SMOOTHINGS = {"smooth": 5e-3, "geodesic": 0.0}
MASSES = {
    "massless": None,
    "lumped": MassPoints(masses=(0.4,), offsets=(0.0,), shares=(0.45,)),
    "uniform": MassPoints.uniform(0.3, 9),
    "belly": MassPoints.belly(0.3, 6, tendons=(0.1, 0.05), tendon_masses=(0.02, 0.03)),
}


def tree(paths, **options):
    """Three bodies about joints of one, two and three coordinates, and a muscle for each path."""
    builder, parent = ph.ModelBuilder(), None
    for name, joint in (
        ("base", ph.joints.Universal((1, 0, 0), (0, 1, 0.2))),
        ("middle", ph.joints.Hinge((0, 1, 0.3))),
        ("end", ph.joints.Spherical()),
    ):
        builder.add_body(name, parent, joint=joint, mass=1.0, inertia=INERTIA, com=(0.05, 0.02, -0.1))
        parent = name
    for k, path in enumerate(paths):
        builder.add_muscle(f"m{k}", path, **options)
    return builder.build()


def around(name, smoothing):
    """A path from the base over obstacles of the middle to the end."""
    obstacles, start, stop = OBSTACLES[name]
    carried = [replace(obstacle, body="middle") for obstacle in obstacles]
    return [PathPoint("base", start), Wrap(carried, smoothing), PathPoint("end", stop)]


def states(model, seed=1):
    """A state near rest, where all that the paths are laid round is in the way, and accelerations."""
    rng, n = np.random.default_rng(seed), model.num_coordinates
    return model.state(0.08 * rng.normal(size=n), rng.normal(size=n)), rng.normal(size=n)


@pytest.mark.parametrize("mass", MASSES)
@pytest.mark.parametrize("path", PATHS)
def test_paths_without_obstacles(path, mass):
    model = tree([PATHS[path]()], tension=3.0, masses=MASSES[mass])
    assert difference(model, *states(model), STEP) < ACCURACY


@pytest.mark.parametrize("kind", SMOOTHINGS)
@pytest.mark.parametrize("obstacle", OBSTACLES)
def test_paths_over_obstacles(obstacle, kind):
    path = around(obstacle, SMOOTHINGS[kind])
    model, massive = tree([path], tension=3.0), tree([path], tension=3.0, masses=MASSES["uniform"])
    state, qdd = states(model)
    ends = ph.muscle_polyline(model, state, "m0")[[0, -1]]
    assert ph.muscle_lengths(model, state).lengths[0] > np.linalg.norm(ends[1] - ends[0]) + 1e-3
    assert difference(model, state, qdd, STEP) < ACCURACY
    assert difference(massive, state, qdd, STEP) < ACCURACY


def test_without_velocity_terms():
    for path in (PATHS["moving"](), around("sphere", None)):
        model = tree([path], masses=MASSES["uniform"], velocity_terms=False)
        assert difference(model, *states(model), STEP) < ACCURACY


def test_what_carries_the_whole_path_changes_no_slope():
    """A massless path within bodies that a coordinate carries together is not looked at for that coordinate."""
    model = tree([PATHS["straight"](), PATHS["points"](), PATHS["moving"]()])
    data, row, acting = model.arrays[3], int(model.arrays[3][layout.MUSCLE_ROWS]), []
    for _ in range(3):
        first = row + int(data[row + muscle_layout.MUSCLE_ACTING])
        count = int(data[row + muscle_layout.MUSCLE_ACTING_COUNT])
        acting.append(data[first : first + count].astype(int).tolist())
        row += int(data[row + muscle_layout.MUSCLE_SIZE])
    assert acting == [[2, 3, 4, 5], [0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5]]
    gradients = ph.muscle_lengths(model, states(model)[0]).gradients
    for row_, found in zip(gradients, acting):
        others = np.setdiff1d(np.arange(6), found)
        assert np.abs(row_[others]).max(initial=0.0) < 1e-16 < np.abs(row_[found]).min()


LAW = {
    "max_isometric_force": 100.0,
    "optimal_fibre_length": 0.12,
    "tendon_slack_length": 0.44,
    "pennation": 0.3,
}
LAWS = {
    "tension": Tension(80.0),
    "millard": Millard(**LAW),
    "millard_rigid": Millard(**LAW, rigid_tendon=True),
    "thelen": Thelen(**LAW),
    "thelen_rigid": Thelen(**LAW, rigid_tendon=True),
}


def stage(model, state, step):
    """An implicit stage that begins at a state, with the workspaces that the kernels of Newton's method take."""
    implicit, spaces = implicit_workspace(model), model.workspace().clear()
    vectors, nv = implicit[3], model.num_coordinates
    vectors[implicit_stage.BASE, :nv], vectors[implicit_stage.BASE_QD, :nv] = state.q, state.qd
    given = vectors[implicit_stage.GIVEN_FORCE]
    given[: nv + model.num_inputs] = model.with_inputs(None)
    carry(model, state, given)
    set_implicit(model.arrays[3], given, nv + model.num_inputs, step)
    return implicit, spaces


def pulled(law, mass):
    """A limb with a muscle by a law over a sphere, with half the activation."""
    model = tree(
        [around("sphere", 5e-3)],
        law=law,
        masses=MASSES[mass],
        **({} if law.state_names == () else {"activation": 0.5}),
    )
    return model, states(model)[0]


@pytest.mark.parametrize("mass", ["massless", "uniform"])
@pytest.mark.parametrize("law", LAWS)
def test_newtons_matrix_is_that_of_the_residual(law, mass):
    """With states of muscles that go along: those at the end of the stage, whatever it leads to."""
    model, state = pulled(LAWS[law], mass)
    step, x = 0.01, np.linspace(-1.0, 1.0, model.num_coordinates)
    implicit, spaces = stage(model, state, step)
    right, matrix = np.zeros(len(x)), np.zeros((len(x), len(x)))
    assert implicit_stage.make_matrix(model.arrays, None, step, x, right, implicit, spaces)
    implicit_stage.step_matrix(None, step, implicit[0], spaces[1], matrix)

    def residual(a):
        found = np.zeros(len(x))
        assert implicit_stage.evaluate_residual(model.arrays, None, step, a, found, implicit[3], spaces)
        return -found

    expected = slope(residual, x, STEP / step)
    np.testing.assert_allclose(matrix, expected, atol=ACCURACY * np.abs(expected).max())


def test_newton_converges_quadratically():
    """From no acceleration at all, pulled hard; corrections in the scale of velocities."""
    model, state = pulled(LAWS["millard"], "uniform")
    step, sizes = 0.02, np.zeros(12)
    implicit, spaces = stage(model, state, step)
    assert implicit_stage.solve_stage(model.arrays, None, step, implicit, spaces, sizes)
    sizes = step * sizes[:4]  # 0.46, 9e-3, 1.5e-5, 3e-11
    assert sizes[0] > 0.1 and (sizes[1:] > 0.0).all() and (sizes[1:] < 0.5 * sizes[:-1] ** 2).all()
