"""Strands over one sphere or cylinder: lengths in closed form, exact derivatives, smoothness."""

import math
from typing import Any

import numpy as np
import pytest

from physics.geometry import lie
from physics.kernels.wrapping import layout as wrap_layout
from physics.muscles.obstacles import Cylinder, Sphere
from physics.muscles.wrapping import Wrap

from .strands import Motion, at_rest, largest_error, polyline, solve

RADIUS = 0.1
FINITE_DIFFERENCES = 1e-7  # what is asked for; round-off and step leave about 1e-9 where nothing turns fast
PARTS = (0.05, 0.3, 0.5, 0.7, 0.95)
SHAPES = {
    "sphere": Sphere(radius=RADIUS),
    "cylinder": Cylinder(radius=RADIUS),
    "cylinder_by_point": Cylinder(radius=RADIUS, side=(1.0, 0.5, 0.0)),
}


def pose_of(rng: np.random.Generator) -> np.ndarray:
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = lie.so3_exp(rng.normal(size=3)), rng.normal(size=3)
    return pose


def wrapped_pairs(wrap: Wrap, rng: np.random.Generator, count: int) -> list[Any]:
    """Ends in an obstacle's frame whose path wraps, well away from where the sphere's plane is not determined."""
    found: list[Any] = []
    while len(found) < count:
        p, s = rng.normal(size=(2, 3)) * [0.3, 0.3, 0.2]
        far = min(math.hypot(*p[:2]), math.hypot(*s[:2])) > 1.3 * RADIUS
        aligned = np.linalg.norm(np.cross(p, s)) < 0.3 * np.linalg.norm(p) * np.linalg.norm(s)
        if far and not aligned and at_rest(wrap, p, s).status == wrap_layout.WRAPPED:
            found.append((p, s))
    return found


def test_sphere_length() -> None:
    start, stop = np.array([-0.3, 0.05, 0.0]), np.array([0.2, 0.05, 0.0])
    strand = at_rest(Wrap(Sphere(radius=RADIUS), 0.0), start, stop)
    a, b = np.linalg.norm(start), np.linalg.norm(stop)
    arc = math.acos(start @ stop / (a * b)) - math.acos(RADIUS / a) - math.acos(RADIUS / b)
    assert strand.length == pytest.approx(
        math.sqrt(a * a - RADIUS**2) + RADIUS * arc + math.sqrt(b * b - RADIUS**2), abs=1e-15
    )


@pytest.mark.parametrize("smoothing", [0.0, 1e-3])
@pytest.mark.parametrize("name", SHAPES)
def test_points_lie_where_they_should(name: str, smoothing: float) -> None:
    """Ends at the ends, unit speed, no deeper than the smoothing in the surface, never."""
    rng = np.random.default_rng(0)
    wrap = Wrap(SHAPES[name], smoothing)
    for p, s in wrapped_pairs(wrap, rng, 4):
        strand = at_rest(wrap, p, s)
        points = polyline(strand, 2000)
        assert np.abs(points[0] - p).max() < 1e-15
        assert np.abs(points[-1] - s).max() < 1e-15
        chords = np.linalg.norm(np.diff(points, axis=0), axis=1).sum()
        # a polygon's chords are short by (angle of one)^2 / 24; rounding moves points by less than the smoothing
        assert chords == pytest.approx(strand.length, rel=1e-6 if smoothing == 0.0 else 1e-4)
        away = np.linalg.norm(points[:, : (3 if name == "sphere" else 2)], axis=1)
        assert away.min() > RADIUS - 1e-15


@pytest.mark.parametrize("smoothing", [0.0, 0.03])
@pytest.mark.parametrize("name", SHAPES)
def test_derivatives(name: str, smoothing: float) -> None:
    rng = np.random.default_rng(1)
    wrap = Wrap(SHAPES[name], smoothing)
    for p, s in wrapped_pairs(wrap, rng, 4):
        pose = pose_of(rng)
        ends = [pose[:3, :3] @ x + pose[:3, 3] for x in (p, s)]
        # with rounding the fourth derivative jumps where it begins: a shorter step then
        step = 1e-4 if smoothing == 0.0 else 2e-5
        assert largest_error(wrap, Motion(ends, [pose], rng), PARTS, step) < FINITE_DIFFERENCES


def test_straight() -> None:
    rng = np.random.default_rng(2)
    pose = np.eye(4)
    wrap = Wrap(Cylinder(radius=RADIUS, side="+x"), 1e-3)
    ends = [(0.2, -0.3, 0.1), (0.25, 0.3, -0.1)]
    strand = at_rest(wrap, *map(np.array, ends))
    assert strand.status == wrap_layout.STRAIGHT
    assert strand.length == pytest.approx(math.dist(*ends), rel=1e-15)
    assert largest_error(wrap, Motion(ends, [pose], rng), PARTS) < FINITE_DIFFERENCES


def test_third_derivative_is_continuous() -> None:
    """Along a motion through attach and detach differences of x'' shrink with the step everywhere."""
    wrap = Wrap(Cylinder(radius=RADIUS, side="+x"), 0.02)

    def bias(t: float) -> Any:
        ends = np.array([RADIUS - 0.03 + 0.06 * t, -0.3, 0.0, RADIUS - 0.03 + 0.06 * t, 0.25, 0.05])
        rates = np.array([0.06, 0, 0, 0.06, 0, 0, 0, 0, 0, 0, 0, 0])
        strand = solve(wrap, ends, np.array([[1.0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]]), rates)
        return np.concatenate([strand.point(part * strand.length, 0.3)[2] for part in (0.35, 0.45, 0.5)])

    coarse, fine = (np.stack([bias(t) for t in np.linspace(0.0, 1.0, k + 1)]) for k in (200, 400))
    jumps = [np.abs(np.diff(x, axis=0)).max() for x in (coarse, fine)]
    assert jumps[1] < 0.55 * jumps[0]


def test_an_end_inside() -> None:
    strand = at_rest(
        Wrap(Cylinder(radius=RADIUS), 0.0), np.array([0.05, 0.0, 0.0]), np.array([-0.3, 0.02, 0.0])
    )
    assert strand.status in (wrap_layout.INSIDE, wrap_layout.STRAIGHT)
    assert strand.length == pytest.approx(math.hypot(0.35, 0.02))


def test_sides() -> None:
    p, s = np.array([0.02, -0.3, 0.0]), np.array([0.03, 0.3, 0.0])
    bulges = {}
    for side in ("shorter", "counterclockwise", "clockwise", "+x", "-x"):
        strand = at_rest(Wrap(Cylinder(radius=RADIUS, side=side), 0.0), p, s)
        bulges[side] = strand.point(0.5 * strand.length)[0][0]
    assert all(bulges[side] > 0.0 for side in ("shorter", "counterclockwise", "+x"))
    assert all(bulges[side] < 0.0 for side in ("clockwise", "-x"))
    strand = at_rest(Wrap(Sphere(radius=RADIUS, side="-x"), 0.0), p, s)
    assert strand.point(0.5 * strand.length)[0][0] < -0.99 * RADIUS


def test_a_cylinder_that_ends() -> None:
    """Wrapped where the arc's middle is on it, straight where it lies beyond an end."""
    p, s = np.array([0.02, -0.3, 0.1]), np.array([0.02, 0.3, 0.3])
    for length, status in ((0.5, wrap_layout.WRAPPED), (0.3, wrap_layout.STRAIGHT)):
        assert at_rest(Wrap(Cylinder(radius=RADIUS, length=length)), p, s).status == status


def test_a_hint_forces_only_from_the_wrong_half() -> None:
    """OpenSim's rule: a line that misses is straight if an end lies on the right half, or the obstacle is round."""
    for kind, status in ((Cylinder, wrap_layout.WRAPPED), (Sphere, wrap_layout.STRAIGHT)):
        wrap = Wrap(kind(radius=RADIUS, side="+x"), 0.0)
        found = [at_rest(wrap, np.array([x, -0.3, 0.0]), np.array([-0.5, 0.3, 0.0])) for x in (0.01, -0.01)]
        assert [strand.status for strand in found] == [wrap_layout.STRAIGHT, status]
        assert (polyline(found[1])[:, 0].max() > 0.99 * RADIUS) == (kind is Cylinder)
