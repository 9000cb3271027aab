"""On which side a path passes, and where it is straight: a table with OpenSim 4.6 and MuJoCo.

The obstacles are about z, with side +x. MuJoCo has no ellipsoids; OpenSim's paths over these are plane sections, and
its cylinders neglect the helix. A capsule longer than the path is as the cylinder.
"""

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

import physics as ph
from physics.kernels.wrapping import layout as wrap_layout
from physics.muscles.obstacles import (
    Cylinder,
    Ellipsoid,
    Sphere,
    SphereCappedCylinder,
    Torus,
    obstacle_from_dict,
)
from physics.muscles.wrapping import Wrap

from .strands import Motion, at_rest, largest_error, solve

RADIUS = 0.05
SHAPES: dict[str, Any] = {
    "sphere": Sphere(radius=RADIUS, side="+x"),
    "cylinder": Cylinder(radius=RADIUS, side="+x"),
    "capsule": SphereCappedCylinder(radius=RADIUS, length=0.5, side="+x"),
    "long": Ellipsoid(radii=(RADIUS, RADIUS, 0.5), side="+x"),
    "round": Ellipsoid(radii=(RADIUS, RADIUS, 0.0501), side="+x"),
}
# the table has seven digits; OpenSim's plane sections over ellipsoids are off by up to 0.9 mm here, and arms by 1.7 mm
NEAR = {"sphere": 1e-7, "cylinder": 1e-7, "capsule": 1e-7, "long": 9e-4, "round": 9e-4}
NEAR_ARM = {"sphere": 1e-7, "cylinder": 1e-7, "capsule": 1e-7, "long": 1.7e-3, "round": 1.7e-3}


def on(angle: float, far: float = RADIUS) -> tuple[float, float, float]:
    return far * math.cos(angle), far * math.sin(angle), 0.0


# the ends; lengths and moment arms, as the last end turns about z, over a sphere (both peers), a cylinder (MuJoCo), the
# long and the round ellipsoid (OpenSim); nan where the peer has no arm. `peers.test_wrapping_sides` makes them.
NAN = math.nan
CASES: dict[str, Any] = {
    "no end behind": (
        ((0.04, 0.12, 0.01), (0.02, -0.1, -0.01)),
        ((0.2259301, 0.0497576), (0.2259411, 0.0498037), (0.2259411, 0.0498139), (0.2259298, 0.0497580)),
    ),
    "one end behind": (
        ((0.04, 0.12, 0.01), (-0.0973503801370002, -0.08076449397588989, -0.01)),
        ((0.3014781, 0.0498319), (0.3015058, 0.0498899), (0.3022817, 0.0499809), (0.3006475, 0.0481825)),
    ),
    "both ends behind": (
        ((-0.01, 0.12, 0.01), (-0.02, -0.1, -0.01)),
        ((0.2602501, 0.0497212), (0.2602537, 0.0498521), (0.2602581, 0.0498804), (0.2601566, 0.0496339)),
    ),
    # MuJoCo's goes round a sphere as well
    "a line past the wrong side, both ends behind": (
        ((-0.08, 0.12, 0.01), (-0.07, -0.1, -0.01)),
        ((0.2211334, -0.0741634), (0.3459513, 0.0499164), (0.2211334, -0.0741634), (0.2211334, -0.0741634)),
    ),
    "a line past the right side": (((0.2, 0.12, 0.01), (0.05, -0.1, -0.01)), 4 * ((0.2670206, 0.0973708),)),
    "an end inside": (((0.03, 0.01, 0.01), (-0.02, -0.1, -0.01)), 4 * ((0.1224745, 0.0228619),)),
    "an end on the surface": (
        (on(1.0), on(-1.0, 0.1)),
        (2 * ((0.1342427, 0.05),) + 2 * ((0.1342418, 0.0500002),)),
    ),
    "both ends on the surface": (
        (on(1.0), on(-1.0)),
        ((0.1, 0.05), (0.1, NAN), (0.0999976, NAN), (0.0999976, NAN)),
    ),
}
COLUMN = {"sphere": 0, "cylinder": 1, "capsule": 1, "long": 2, "round": 3}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", SHAPES)
def test_lengths_and_moment_arms_of_the_peers(name: str, case: str) -> None:
    ends, values = CASES[case]
    p, q = map(np.array, ends)
    length, arm = values[COLUMN[name]]
    strand = at_rest(Wrap(SHAPES[name], 0.0), p, q)
    assert strand.length == pytest.approx(length, abs=NEAR[name])
    assert math.isnan(arm) or arm_about((0.0, 0.0, 1.0), strand, q) == pytest.approx(arm, abs=NEAR_ARM[name])
    # smoothed by 0.1 mm: on the surface the path dives by at most a fifth of this
    smooth = at_rest(Wrap(SHAPES[name], 1e-4), p, q)
    assert smooth.length == pytest.approx(length, abs=NEAR[name] + 1e-4)


def arm_about(axis: Any, strand: Any, q: np.ndarray) -> float:
    """Of the last end q, about an axis through the origin."""
    return float(-strand.gradient[3:6] @ np.cross(axis, q))


RING = Torus(major_radius=0.09, minor_radius=0.03)
# the ends; length and arm about y in OpenSim, which takes a straight cylinder along the ring's tangent in place of the
# tube: exact in a plane with the axis, too short by how far the path leaves that [m]
RINGS: dict[str, Any] = {
    "through the middle": ((0.01, 0.0, -0.12), (0.02, 0.01, 0.1), 0.2204541, 0.0154227, 1e-7),
    "on the tube": ((0.08, 0.0, -0.12), (0.09, 0.0, 0.1), 0.2262132, 0.0558545, 1e-7),
    "across the tube's middle": ((0.095, 0.0, -0.12), (0.1, 0.0, 0.1), 0.2331207, 0.0527970, 1e-7),
    "past the tube": ((0.2, 0.0, -0.1), (0.25, 0.0, 0.1), 0.3981231, 0.0049583, 1e-7),
    "on one side of the ring": ((0.05, 0.0, 0.05), (0.02, 0.01, 0.1), 0.0591608, 0.0676123, 1e-7),
    "aslant": ((0.1, 0.03, -0.15), (0.07, -0.02, 0.1), 0.2606666, NAN, 2e-5),
    "skew": ((0.09, 0.06, -0.1), (0.05, -0.05, 0.12), 0.2504264, NAN, 2e-4),
}


@pytest.mark.parametrize("case", RINGS)
def test_through_a_ring(case: str) -> None:
    p, q = map(np.array, RINGS[case][:2])
    length, arm, near = RINGS[case][2:]
    strand = at_rest(Wrap(RING, 0.0), p, q)
    assert strand.length == pytest.approx(length, abs=near)
    assert math.isnan(arm) or arm_about((0.0, 1.0, 0.0), strand, q) == pytest.approx(arm, abs=near)


# heights of both ends, whether OpenSim wraps: it lets go where both tangent points are beyond an end
@pytest.mark.parametrize(
    "low, high, wrapped", [(0.04, 0.06, True), (0.06, -0.06, True), (0.06, 0.06, False), (0.0, 0.2, False)]
)
def test_past_the_end_of_a_cylinder(low: float, high: float, wrapped: bool) -> None:
    """The tangent points of the first path are at 49.0 and 51.0 mm, the end is at 50 mm."""
    p, q = np.array([0.02, 0.12, low]), np.array([0.02, -0.12, high])
    strand = at_rest(Wrap(Cylinder(radius=RADIUS, length=0.1, side="+x"), 0.0), p, q)
    assert (strand.status == wrap_layout.WRAPPED) == wrapped


def test_where_a_path_is_beyond_the_end_of_a_cylinder() -> None:
    """OpenSim's plane of both ends has the first tangent point at 17.8 mm, the path at 25.3 mm: it is wrapped over a
    cylinder that ends in between.
    """
    p, q = np.array([-0.07, -0.03, 0.0]), np.array([0.07, -0.03, 0.1])
    angle = math.atan2(p[1], p[0]) - math.acos(RADIUS / math.hypot(p[0], p[1]))
    height = q[2] * (RADIUS * math.cos(angle) - p[0]) / (q[0] - p[0])
    for half, status in ((1.001 * height, wrap_layout.WRAPPED), (0.999 * height, wrap_layout.STRAIGHT)):
        strand = at_rest(Wrap(Cylinder(radius=RADIUS, length=2.0 * half, side="+y"), 0.0), p, q)
        assert strand.status == status


@pytest.mark.parametrize("name", SHAPES)
def test_always_on_a_side(name: str) -> None:
    """A line past the other side is straight unless the path is always to pass on this one, as a cylinder's path with a
    direction of turning: all in one plane, where all surfaces have one section.
    """
    p, q = np.array([0.04, 0.12, 0.0]), np.array([-0.3, -0.1, 0.0])
    assert at_rest(Wrap(SHAPES[name], 0.0), p, q).length == pytest.approx(math.dist(p, q), abs=1e-15)
    round_ = at_rest(Wrap(Cylinder(radius=RADIUS, side="clockwise"), 0.0), p, q)
    always = at_rest(Wrap(dataclasses.replace(SHAPES[name], always=True), 0.0), p, q)
    assert always.status == wrap_layout.WRAPPED
    # the ellipsoids' geodesics are integrated, from a guess that may leave the plane by round-off
    assert always.length == pytest.approx(round_.length, abs=1e-11)


# ends and OpenSim 4.6's GeometryPath over a cylinder with quadrant +x, in one plane; the line is nearest to the axis
# behind the last end, or before the first
@pytest.mark.parametrize("p, q, length", [
    ((-0.04, -0.12, 0.0), (-0.1, -0.02, 0.0), 0.3555085980),
    ((-0.06, -0.02, 0.0), (-0.04, -0.12, 0.0), 0.3315400092),
])  # fmt: skip
def test_always_round_a_cylinder_that_is_behind_the_line(p: Any, q: Any, length: float) -> None:
    always = Wrap(Cylinder(radius=RADIUS, side="+x", always=True), 0.0)
    assert at_rest(always, np.array(p), np.array(q)).length == pytest.approx(length, abs=1e-9)
    assert at_rest(always, np.array(q), np.array(p)).length == pytest.approx(length, abs=1e-9)


# ends and OpenSim 4.6's length: both lie between the tangents along the side, where it goes counterclockwise from the
# end on that side, whichever comes first; in the last two one end lies beyond a tangent
@pytest.mark.parametrize("p, q, length", [
    ((0.055, 0.04, 0.0), (-0.07, -0.03, 0.0), 0.1694578903),
    ((0.055, -0.04, 0.0), (-0.07, 0.03, 0.0), 0.1918483403),
    ((0.07, 0.02, 0.0), (-0.2, 0.04, 0.0), 0.2771049931),
    ((0.07, 0.02, 0.0), (-0.2, 0.0, 0.0), 0.2831372804),
    ((0.07, 0.06, 0.0), (-0.2, 0.0, 0.0), 0.3478343261),
    ((0.07, 0.02, 0.0), (-0.2, -0.06, 0.0), 0.3049328809),
])  # fmt: skip
def test_the_sense_round_a_cylinder_with_an_end_on_either_half(p: Any, q: Any, length: float) -> None:
    """A sense from the line alone jumps where the line is along the side: by 38 mm between the third and the fourth."""
    always = Wrap(Cylinder(radius=RADIUS, side="+x", always=True), 0.0)
    assert at_rest(always, np.array(p), np.array(q)).length == pytest.approx(length, abs=1e-9)
    assert at_rest(always, np.array(q), np.array(p)).length == pytest.approx(length, abs=1e-9)


def test_a_path_that_would_cross_itself_is_straight() -> None:
    """A biceps of a full-body model: both ends far aside, the last one most. OpenSim's is straight, too, as its path
    would cross itself beyond the ends of the cylinder; the line's sense gives 0.62 m more.
    """
    p, q = np.array([-0.002138, 0.292288, 0.03941]), np.array([0.013962, 0.309834, -0.004022])
    always = Wrap(Cylinder(radius=0.0198, length=0.0456, side="+x", always=True), 0.0)
    assert at_rest(always, p, q).length == pytest.approx(math.dist(p, q), abs=1e-15)


# ends, place of the second cylinder, both sides, OpenSim 4.6's length (its iteration ends at changes of 0.5 mm)
@pytest.mark.parametrize("p, q, place, sides, length", [
    ((-0.05, -0.04, 0.0), (-0.19, 0.2, 0.0), (-0.04, 0.0, 0.0), ("+y", "-y"), 0.3940793),
    ((0.01, 0.03, 0.0), (-0.19, 0.0, 0.0), (-0.05, -0.04, 0.0), ("-x", "+x"), 0.2503470),
])  # fmt: skip
def test_the_sense_is_that_between_the_contacts(
    p: Any, q: Any, place: Any, sides: Any, length: float
) -> None:
    """From the middle of the line between two cylinders a side may give the other sense than from the contacts."""
    frames = np.array([[*np.eye(3).ravel(), *origin] for origin in ((0.0, 0.0, 0.0), place)])
    wrap = Wrap(tuple(Cylinder(radius=0.01, side=side, always=True) for side in sides), 0.0)
    strand = solve(wrap, np.concatenate([p, q]), frames)
    assert strand.status == wrap_layout.WRAPPED
    assert strand.length == pytest.approx(length, abs=5e-4)


def test_always_round_a_cylinder_without_a_jump() -> None:
    """As an end moves through the wrong half, both ways round are as long where both ends and the axis are in line."""
    always = Wrap(Cylinder(radius=RADIUS, side="+x", always=True), 0.0)
    ends = np.array(
        [[-0.1 - 0.04 * math.cos(s), 0.05 + 0.04 * math.sin(s), 0.0] for s in np.linspace(0, 6.28, 2001)]
    )
    lengths = np.array([at_rest(always, np.array([-0.04, -0.12, 0.0]), q).length for q in ends])
    assert np.abs(np.diff(lengths)).max() < 1.0001 * np.linalg.norm(np.diff(ends, axis=0), axis=1).max()


def test_always_needs_a_side() -> None:
    for wrong in ({"always": True}, {"always": 1, "side": "+x"}):
        with pytest.raises(ph.ModelError, match="always"):
            Sphere(radius=RADIUS, **wrong)
    obstacle = Ellipsoid(radii=(0.1, 0.2, 0.3), side=(1.0, 2.0, 0.0), always=True)
    assert obstacle_from_dict(obstacle.to_dict()).to_dict() == obstacle.to_dict()
    assert obstacle_from_dict({"type": "sphere", "radius": 0.1}).always is False


def test_an_ellipsoid_aside_of_its_line_is_passed_the_shorter_way() -> None:
    """The line of arm26's BIClong lies aside of the middle at a shoulder angle of -1.5 rad: 70.34 mm in OpenSim, and
    3.7 mm more the other way.
    """
    p, q = np.array([0.0049, 0.0296, 0.0149]), np.array([-0.0032, -0.0194, -0.0122])
    strand = at_rest(Wrap(Ellipsoid(radii=(0.025, 0.02, 0.02), side="-y"), 0.0), p, q)
    assert strand.length == pytest.approx(0.0703415, abs=1e-4)


BEHIND = np.eye(4)
BEHIND[:3, 3] = 0.1, -0.2, 0.0
ALONG = np.eye(4)[[0, 2, 1, 3]]
ALONG[0] *= -1.0
ROW: dict[str, Any] = {name: [shape] for name, shape in SHAPES.items()} | {
    "two": [SHAPES["cylinder"], Cylinder(radius=0.04, frame=BEHIND, side="+x")],
    "two ellipsoids": [SHAPES["round"], Ellipsoid(radii=(0.03, 0.04, 0.05), frame=BEHIND)],
    "always": [Ellipsoid(radii=(0.05, 0.04, 0.07), side="+x", always=True)],
    "any side": [Ellipsoid(radii=(0.05, 0.04, 0.07))],
    "along": [SphereCappedCylinder(radius=0.05, length=0.05, frame=ALONG)],
    "torus": [Torus(major_radius=0.09, minor_radius=0.03)],
}


@pytest.mark.parametrize("smoothing", [0.0, 5e-4])
@pytest.mark.parametrize("name", ROW)
def test_the_same_bits_whatever_came_before(name: str, smoothing: float) -> None:
    """As an end goes round the back and jumps back, each path is bit for bit the one found without any before it."""
    wrap = Wrap(ROW[name], smoothing)
    own = np.zeros(wrap.workspace_size)
    frames = np.stack([np.concatenate([pose[:3, :3].ravel(), pose[:3, 3]]) for pose, _ in wrap.parts])
    angles = np.linspace(-1.0, -3.3, 47)
    for angle in [*angles, *np.random.default_rng(3).permutation(angles)]:
        ends = np.array([0.04, 0.12, 0.01, *on(angle, 0.13)[:2], -0.01])
        before, anew = solve(wrap, ends, frames, own=own), solve(wrap, ends, frames)
        assert before.length == anew.length and np.array_equal(before.gradient, anew.gradient)
        assert before.second == anew.second


@pytest.mark.parametrize("radii", [(0.05, 0.04, 0.07), (0.02, 0.04, 0.08)])
def test_the_shortest_way_over_an_ellipsoid(radii: Any) -> None:
    """As the line moves about the middle, where all ways round are almost as long: the length never jumps, which the
    shortest path's does not. In each step it changes by no more than the ends move.
    """
    wrap, turn = Wrap(Ellipsoid(radii=radii), 0.0), np.linspace(0.0, 2.0 * math.pi, 1200)
    near = 0.01 * np.stack([np.cos(turn), np.sin(2.0 * turn), np.sin(turn)], 1)
    ends = np.concatenate([near + [0.06, -0.05, 0.14], near[:, ::-1] - [0.06, -0.05, 0.14]], 1)
    frames = np.concatenate([np.eye(3).ravel(), np.zeros(3)])[None]
    own = np.zeros(wrap.workspace_size)
    strands = [solve(wrap, end, frames, own=own) for end in ends]
    steps = np.linalg.norm(np.diff(ends, axis=0).reshape(-1, 2, 3), axis=2).sum(axis=1)
    assert all(strand.status == wrap_layout.WRAPPED for strand in strands)
    # a round-off of 1e-12 m beside the ends' motion
    assert np.all(np.abs(np.diff([strand.length for strand in strands])) < steps + 1e-12)


@pytest.mark.parametrize("name", SHAPES)
def test_derivatives_on_the_surface_and_inside(name: str) -> None:
    frame = np.eye(4)
    rng = np.random.default_rng(6)
    strand = at_rest(Wrap(SHAPES[name], 0.0), *map(np.array, (on(1.0), on(-1.0, 0.1))))
    # along the surface, where the length has derivatives; round-off by the slope of the tangent's length, 1e-16 / 1e-5
    t = np.array([-math.sin(1.0), math.cos(1.0), 0.0])
    assert strand.gradient[:3] @ t == pytest.approx(1.0, abs=1e-8)
    assert np.isfinite(strand.gradient).all()
    for depth in (5e-5, 1.5e-4):  # where a smoothed path straightens
        ends = [on(1.0, RADIUS - depth), on(-1.0, 0.1)]
        # the radius falls a hundred times as fast as the end goes in
        assert largest_error(Wrap(SHAPES[name]), Motion(ends, [frame], rng, 0.02), (0.3, 0.9), 1e-6) < 1e-5


@pytest.mark.parametrize("length", [0.05, 0.3])
def test_a_polyline_has_vertices_where_the_path_attaches(length: float) -> None:
    """Both tangent points of a path over one circle, at 30 evenly spaced points or at two next to each other."""
    builder = ph.ModelBuilder()
    body = builder.add_body("b", joint=ph.joints.Hinge((0, 0, 1)), mass=1.0, inertia=np.eye(3))
    wrap = Wrap(Cylinder(radius=RADIUS, side="+x"), 0.0)
    away = math.sqrt(RADIUS**2 + length**2)
    ends = [(*on(angle, away)[:2], 0.0) for angle in (1.5, -1.5)]
    builder.add_muscle("m", [ph.muscles.PathPoint(None, ends[0]), wrap, ph.muscles.PathPoint(body, ends[1])])
    model = builder.build()
    points = ph.muscle_polyline(model, model.state(), "m")
    first = 1.5 - math.atan2(length, RADIUS)
    for angle in (first, -first):
        assert np.linalg.norm(points - on(angle), axis=1).min() < 1e-15
    assert len(points) == 32 and np.all(np.diff(points[:, 1]) < 0.0)
