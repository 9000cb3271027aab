"""Strands over one ellipsoid or torus: geodesics by integration, exact derivatives all the same."""

import math
from typing import Any

import numpy as np
import pytest

from physics.geometry import lie
from physics.kernels.wrapping import layout as wrap_layout
from physics.muscles.obstacles import Cylinder, Ellipsoid, Sphere, SphereCappedCylinder, Torus
from physics.muscles.wrapping import Wrap

from .strands import Motion, at_rest, largest_error, polyline, solve

FINITE_DIFFERENCES = 1e-7
PARTS = (0.05, 0.45, 0.8)
RADII = np.array([0.1, 0.06, 0.14])
ELLIPSOID, TORUS = Ellipsoid(radii=RADII), Torus(major_radius=0.12, minor_radius=0.04)
CAPSULE = SphereCappedCylinder(radius=0.1, length=0.2)
ENDS = {
    "capsule": [((-0.3, 0.03, 0.02), (0.3, 0.05, 0.05)), ((-0.15, 0.0, -0.15), (0.12, 0.03, 0.3))],
    "ellipsoid": [((-0.25, 0.04, 0.03), (0.2, 0.02, -0.05)), ((0.02, 0.2, 0.15), (0.03, -0.2, 0.0))],
    "torus": [((0.13, 0.03, -0.2), (0.11, -0.02, 0.25)), ((-0.09, 0.09, -0.2), (-0.12, 0.02, 0.15))],
}
OBSTACLES = {"ellipsoid": ELLIPSOID, "torus": TORUS, "capsule": CAPSULE}


def cases() -> list[Any]:
    return [(OBSTACLES[name], *map(np.array, ends)) for name, given in ENDS.items() for ends in given]


def test_a_round_ellipsoid_is_a_sphere() -> None:
    p, s = np.array([-0.3, 0.05, 0.02]), np.array([0.25, 0.04, -0.05])
    for smoothing in (0.0, 1e-3):
        strand = at_rest(Wrap(Sphere(radius=0.1), smoothing), p, s)
        other = at_rest(Wrap(Ellipsoid(radii=(0.1, 0.1, 0.1)), smoothing), p, s)
        assert other.length == pytest.approx(strand.length, abs=1e-13)
        assert np.abs(other.gradient - strand.gradient).max() < 1e-13
        for part in (0.2, 0.42, 0.5, 0.9):
            x, _, _, tangent, jacobian = strand.point(part * strand.length)
            y, _, _, other_tangent, other_jacobian = other.point(part * strand.length)
            assert np.abs(x - y).max() < 1e-13
            assert np.abs(tangent - other_tangent).max() < 1e-12
            assert np.abs(jacobian - other_jacobian).max() < 1e-12


@pytest.mark.parametrize("obstacle, p, s", cases())
def test_shortest(obstacle: Any, p: Any, s: Any) -> None:
    """Unit speed, ends at the ends, on the surface or outside it; bent within the surface it becomes longer."""
    strand = at_rest(Wrap(obstacle, 0.0), p, s)
    assert strand.status == wrap_layout.WRAPPED
    points = polyline(strand, 1000)
    assert np.abs(points[[0, -1]] - [p, s]).max() < 1e-14
    assert np.linalg.norm(np.diff(points, axis=0), axis=1).sum() == pytest.approx(strand.length, rel=1e-6)
    if obstacle is ELLIPSOID:
        depth = 1.0 - np.linalg.norm(points / RADII, axis=1)
    elif obstacle is CAPSULE:
        on_axis = np.array([0.0, 0.0, 1.0]) * np.clip(points[:, 2:], -0.1, 0.1)
        depth = 0.1 - np.linalg.norm(points - on_axis, axis=1)
    else:
        depth = 0.04 - np.hypot(np.hypot(points[:, 0], points[:, 1]) - 0.12, points[:, 2])
    assert depth.max() < 1e-12
    assert (np.abs(depth) < 1e-12).sum() > 10


@pytest.mark.parametrize("smoothing", [0.0, 2e-2])
@pytest.mark.parametrize("obstacle, p, s", cases())
def test_derivatives(obstacle: Any, p: Any, s: Any, smoothing: float) -> None:
    rng = np.random.default_rng(1)
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = lie.so3_exp(rng.normal(size=3)), rng.normal(size=3)
    ends = [pose[:3, :3] @ x + pose[:3, 3] for x in (p, s)]
    step = 1e-4 if smoothing == 0.0 else 2e-5
    assert (
        largest_error(Wrap(obstacle, smoothing), Motion(ends, [pose], rng), PARTS, step) < FINITE_DIFFERENCES
    )


@pytest.mark.parametrize("name", OBSTACLES)
def test_through_attach_and_detach(name: str) -> None:
    """The raw path's Jacobian jumps where the line begins to touch, the smooth one's does not; a warm start and a
    cold one agree all the way.
    """
    wraps = [Wrap(OBSTACLES[name], smoothing) for smoothing in (0.0, 2e-3)]
    p, s = map(np.array, ENDS[name][0])
    away = np.array([-1.0, 0.0, 0.0]) if name == "torus" else np.array([0.0, 1.0, 0.0])
    frame = np.array([[1.0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]])
    own = [np.zeros(wrap.workspace_size) for wrap in wraps]
    jumps, seen = [0.0, 0.0], [set(), set()]  # type: ignore[var-annotated]
    last: list[Any] = [None, None]
    for shift in np.linspace(0.0, 0.08, 1601):
        ends = np.concatenate([p + shift * away, s + shift * away])
        for k, wrap in enumerate(wraps):
            strand = solve(wrap, ends, frame, own=own[k])
            seen[k].add(strand.status)
            jacobian = strand.point(0.45 * strand.length)[4]
            if last[k] is not None:
                jumps[k] = max(jumps[k], float(np.abs(jacobian - last[k]).max()))
            last[k] = jacobian
            if round(shift * 20000) % 100 == 0:
                assert strand.length == pytest.approx(solve(wrap, ends, frame).length, abs=1e-13)
    assert seen == [{wrap_layout.STRAIGHT, wrap_layout.WRAPPED}] * 2
    # the jump is passed in steps of 0.05 mm, 80 of them within the smoothing
    assert jumps[0] > 0.3
    assert jumps[1] < 0.05


@pytest.mark.parametrize("obstacle, p, s", cases())
def test_same_state_same_bits(obstacle: Any, p: Any, s: Any) -> None:
    """Whatever path a strand had before."""
    wrap = Wrap(obstacle, 5e-4)
    own, frame = np.zeros(wrap.workspace_size), np.array([[1.0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]])
    for k in range(40):
        shift = 0.04 * math.sin(0.7 * k) * np.array([1.0, -0.5, 0.3])
        ends = np.concatenate([p + shift, s - shift])
        warm, cold = solve(wrap, ends, frame, own=own), solve(wrap, ends, frame)
        assert warm.length == cold.length and (warm.gradient == cold.gradient).all()


@pytest.mark.parametrize("obstacle, p, s", cases())
def test_a_length_alone_has_the_derivatives_of_its_points(obstacle: Any, p: Any, s: Any) -> None:
    """Jacobi fields give length and rates, lanes all points: one path by two integrations, whose steps leave 1e-12 of
    a length. The last step of Newton's method, of 1e-8, leaves as much in second derivatives.
    """
    rng = np.random.default_rng(4)
    strand = solve(Wrap(obstacle, 1e-6), *Motion([p, s], [np.eye(4)], rng)(0.0))
    first = strand.length, strand.rate, strand.second
    strand.point(0.5 * strand.length)  # lays the lanes, which replace all three
    length, rate, curvature = strand.own[wrap_layout.LENGTH : wrap_layout.LENGTH + 3]
    assert length == pytest.approx(first[0], rel=1e-12)
    assert rate == pytest.approx(first[1], abs=1e-10)
    assert curvature == pytest.approx(first[2] - strand.gradient @ strand.accelerations, rel=1e-7)


def test_capsule_where_it_is_a_cylinder_or_a_sphere() -> None:
    """Away from the seams lengths are those of its parts; sides are those of cylinders."""
    p, s = map(np.array, ENDS["capsule"][0])
    for side in ("shorter", "clockwise", "counterclockwise", "+y", "-y"):
        ours = at_rest(Wrap(SphereCappedCylinder(radius=0.1, length=0.6, side=side), 0.0), p, s)
        theirs = at_rest(Wrap(Cylinder(radius=0.1, side=side), 0.0), p, s)
        assert ours.length == pytest.approx(theirs.length, abs=1e-12)
    place = np.eye(4)
    place[2, 3] = 0.1
    p, s = np.array([-0.2, 0.02, 0.17]), np.array([0.2, 0.05, 0.19])
    ours = at_rest(Wrap(CAPSULE, 0.0), p, s)
    theirs = at_rest(Wrap(Sphere(radius=0.1, frame=place), 0.0), p, s)
    assert ours.status == wrap_layout.WRAPPED
    assert ours.length == pytest.approx(theirs.length, abs=1e-12)
