"""Mass points that slide past a bend beside obstacles: smooth, exact, and on the path away from it."""

from typing import Any

import numpy as np
import pytest

import physics as ph
from physics._typing import FloatArray
from physics.muscles import MassPoints, Moving, PathPoint
from physics.muscles.obstacle import Obstacle
from physics.muscles.obstacles import Cylinder, Ellipsoid, Sphere, SphereCappedCylinder
from physics.muscles.wrapping import Wrap
from tests.physics.dynamics.test_derivatives import difference

from .strands import at_rest
from .test_corners import check_dynamics, check_points
from .test_slopes import ACCURACY, MASSES, OBSTACLES, PATHS, SMOOTHINGS, STEP, around, states, tree

ACROSS = np.eye(4)[:, [0, 2, 1, 3]] * [1, 1, -1, 1]  # its z is the hinges' y
SPEED = np.array([2.0, -3.0])


def placed(x: float, z: float) -> FloatArray:
    frame = np.eye(4)
    frame[:3, 3] = x, 0.0, z
    return frame


AHEAD: dict[str, Any] = {"body": "lower", "frame": ACROSS, "side": "+x"}
BALL = Sphere(radius=0.025, body="lower", frame=placed(0.0, -0.05), side="+x")
WRAPS: dict[str, list[Obstacle]] = {
    "cylinder": [Cylinder(radius=0.03, **AHEAD)],
    "sphere": [Sphere(radius=0.03, **AHEAD)],
    "capsule": [SphereCappedCylinder(radius=0.03, length=0.1, **AHEAD)],
    "ellipsoid": [Ellipsoid(radii=(0.03, 0.05, 0.06), **AHEAD)],
    "row": [Cylinder(radius=0.03, **AHEAD), BALL],
    "near": [  # 2 mm from the third point
        Cylinder(radius=0.03, body="lower", frame=placed(0.03, -0.075) @ ACROSS, side="+x")
    ],
}


def arm(
    wrap: str, rounding: float = 0.4, smoothing: float | None = None, both: bool = False, count: int = 24
) -> ph.Model:
    """Two bars on skew hinges; a muscle over four points, with obstacles at the second hinge between the inner ones;
    with both also a ball before the second point.
    """
    builder = ph.ModelBuilder()
    for k, (name, parent) in enumerate((("upper", None), ("lower", "upper"))):
        link = {"joint": ph.joints.Hinge((0, 1, 0.1 * k)), "mass": 0.3, "inertia": 0.004 * np.eye(3)}
        builder.add_body(name, parent, joint_in_parent=placed(0.0, -0.2 * k), com=(0, 0, -0.1), **link)
    path = [
        PathPoint(None, (0.05, 0.0, 0.1)),
        *([Wrap(Sphere(radius=0.02, frame=placed(0.04, 0.04), side="+x"))] if both else []),
        PathPoint("upper", (0.05, 0.003, -0.1)),
        Wrap(WRAPS[wrap], smoothing),
        PathPoint("lower", (0.05, -0.004, -0.1)),
        PathPoint("lower", (0.02, 0.0, -0.15)),
    ]
    builder.add_muscle("cord", path, masses=MassPoints.uniform(0.4, count), rounding=rounding)
    return builder.build()


def off_the_path(model: ph.Model, raw: ph.Model, q: FloatArray) -> Any:
    """Which mass points do not lie on the path itself."""
    places = [ph.muscle_points(each, each.state(q), "cord").positions for each in (model, raw)]
    return np.linalg.norm(places[0] - places[1], axis=1) > 1e-5


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("smoothing", [None, 0.0])
@pytest.mark.parametrize("wrap", WRAPS)
def test_points_at_bends_have_exact_jacobians_and_biases(
    wrap: str, smoothing: float | None, both: bool
) -> None:
    """Before, in and behind the windows, and on the obstacles."""
    model, raw = (arm(wrap, rounding, smoothing, both) for rounding in (0.4, 0.0))
    for q in np.array([[0.5, 0.3], [0.4, 0.6], [-0.2, 0.9]]):
        check_points(model, "cord", q, SPEED)
        assert 4 <= off_the_path(model, raw, q).sum() <= 10


@pytest.mark.parametrize("wrap", WRAPS)
def test_places_and_jacobians_are_smooth_along_the_path(wrap: str) -> None:
    """Differences from one of 3000 mass points to the next; at a kink the direction leaps."""
    q = np.array([0.4, 0.7])
    kinks, jumps = {}, {}
    for rounding in (0.0, 0.4):
        points = ph.muscle_points(model := arm(wrap, rounding, count=3000), model.state(q), "cord")
        step = np.linalg.norm(np.diff(points.positions, axis=0), axis=1).mean()
        kinks[rounding] = np.linalg.norm(np.diff(points.positions, 2, axis=0), axis=1).max() / step
        jumps[rounding] = np.abs(np.diff(points.jacobians, axis=0)).max()
    assert kinks[0.0] > 0.2 > 0.02 > kinks[0.4]
    assert jumps[0.0] > 10.0 * jumps[0.4]


@pytest.mark.parametrize("obstacle", OBSTACLES)
@pytest.mark.parametrize("kind", SMOOTHINGS)
def test_strands_go_on_straight_past_their_ends(obstacle: str, kind: str) -> None:
    obstacles, start, stop = OBSTACLES[obstacle]
    strand = at_rest(Wrap(obstacles, SMOOTHINGS[kind]), start, stop)
    for end, inward in ((0.0, 1.0), (strand.length, -1.0)):
        x, _, _, tangent, jacobian = strand.point(end)
        inside, outside = strand.point(end + 0.01 * inward), strand.point(end - 0.03 * inward)
        np.testing.assert_allclose(outside[0], x - 0.03 * inward * tangent, atol=1e-13)
        np.testing.assert_allclose(outside[3], tangent, atol=1e-13)
        expected = jacobian - 3.0 * (inside[4] - jacobian)
        np.testing.assert_allclose(outside[4], expected, atol=1e-10)


@pytest.mark.parametrize("both", [False, True])
def test_dynamics_are_those_of_the_points(both: bool) -> None:
    check_dynamics(arm("row", both=both), np.array([0.4, 0.9]), SPEED, np.array([3.0, -2.0]))


@pytest.mark.parametrize("velocity_terms", [True, False])
@pytest.mark.parametrize("obstacle", ["sphere", "ellipsoid", "to and fro"])
def test_slopes_are_exact(obstacle: str, velocity_terms: bool) -> None:
    """Of a path with points that move beside obstacles, and one with a point between two rows of them."""
    start, wrap, stop = around(obstacle, 5e-3)
    ball = Wrap(Sphere(radius=0.05, body="base", frame=placed(-0.3, 0.1)), 5e-3)
    last = PATHS["moving"]()[-1]
    path = [PathPoint(None, (-0.4, 0.1, 0.3)), ball, start, wrap, stop, last]
    model = tree([path], masses=MASSES["belly"], velocity_terms=velocity_terms, rounding=0.5)
    assert isinstance(last.position[0], Moving)
    assert difference(model, *states(model), STEP) < ACCURACY


def test_energy_is_kept_past_bends() -> None:
    """Over ten seconds in which mass points slide past both bends dozens of times."""
    drift = {}
    for rounding in (0.0, 0.4):
        model = arm("cylinder", rounding)
        energy = ph.simulate(model, model.state([0.5, 0.9]), 10.0, 1e-3, integrator="sdirk2").energy
        drift[rounding] = np.ptp(energy[:, 2]) / np.ptp(energy[:, 0])
    assert drift[0.4] < 3e-5  # of the swing
    assert drift[0.0] > 100.0 * drift[0.4]
