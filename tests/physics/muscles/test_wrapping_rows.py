"""Strands over several obstacles in a row."""

from typing import Any

import numpy as np
import pytest

import physics as ph
from physics.geometry import lie
from physics.kernels.wrapping import layout as wrap_layout
from physics.kernels.wrapping.places import ON
from physics.muscles import PathPoint
from physics.muscles.obstacles import Cylinder, DoubleCylinder, Ellipsoid, Sphere, SphereCappedCylinder
from physics.muscles.wrapping import Wrap

from .strands import Motion, at_rest, largest_error, polyline, solve

FINITE_DIFFERENCES = 1e-7


def frame(position: Any, turn: Any = (0.0, 0.0, 0.0)) -> np.ndarray:
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = lie.so3_exp(np.array(turn)), position
    return pose


LEFT = Cylinder(radius=0.05, side="+y")
RIGHT = Cylinder(radius=0.05, frame=frame((0.2, 0, 0), (0.3, 0.2, 0)), side="-y")
ROWS = {
    "two cylinders": (
        [
            Cylinder(radius=0.05),
            Cylinder(radius=0.04, frame=frame((0.2, -0.03, 0), (0.3, 0.2, 0)), side="clockwise"),
        ],
        (-0.2, -0.02, 0.0),
        (0.4, -0.06, 0.05),
    ),
    "to and fro": ([LEFT, RIGHT], (-0.2, -0.02, 0.0), (0.4, 0.06, 0.05)),
    "double cylinder": (
        [
            DoubleCylinder(
                radius=0.05,
                side="+y",
                second_radius=0.05,
                second_frame=frame((0.2, 0, 0), (0.3, 0.2, 0)),
                second_side="-y",
            )
        ],
        (-0.2, -0.02, 0.0),
        (0.4, 0.06, 0.05),
    ),
    "three shapes": (
        [
            Sphere(radius=0.05),
            Cylinder(radius=0.04, frame=frame((0.15, 0, 0), (1.2, 0.2, 0))),
            Ellipsoid(radii=(0.05, 0.03, 0.06), frame=frame((0.3, -0.02, 0.02), (0.3, 1, 0.2))),
        ],
        (-0.2, -0.04, 0.0),
        (0.45, -0.08, 0.05),
    ),
}


@pytest.mark.parametrize("smoothing", [0.0, 1e-2])
@pytest.mark.parametrize("name", ROWS)
def test_rows(name: str, smoothing: float) -> None:
    """Ends at the ends, unit speed where not rounded; derivatives exact."""
    obstacles, start, stop = ROWS[name]
    wrap = Wrap(obstacles, smoothing)
    strand = at_rest(wrap, np.array(start), np.array(stop))
    assert strand.status == wrap_layout.WRAPPED
    points = polyline(strand, 400)
    assert np.abs(points[[0, -1]] - [start, stop]).max() < 1e-15
    chords = np.linalg.norm(np.diff(points, axis=0), axis=1)
    if smoothing == 0.0:
        assert np.abs(chords * 400 / strand.length - 1.0).max() < 1e-4
    rng = np.random.default_rng(3)
    motion = Motion([start, stop], [place for place, _ in wrap.parts], rng)
    step = 1e-4 if smoothing == 0.0 else 2e-5
    assert largest_error(wrap, motion, (0.05, 0.3, 0.45, 0.6, 0.9), step) < FINITE_DIFFERENCES


def test_double_cylinder_is_two_cylinders() -> None:
    lengths = [
        at_rest(Wrap(ROWS[name][0]), np.array(ROWS[name][1]), np.array(ROWS[name][2])).length
        for name in ("to and fro", "double cylinder")
    ]
    assert lengths[0] == pytest.approx(lengths[1], abs=1e-15)


def test_parallel_cylinders_in_closed_form() -> None:
    """A belt crossed between two equal cylinders: all in one plane."""
    r, far = 0.05, 0.2
    wrap = Wrap([LEFT, Cylinder(radius=r, frame=frame((far, 0, 0)), side="-y")], 0.0)
    strand = at_rest(wrap, np.array([-0.2, 0.0, 0.0]), np.array([0.4, 0.0, 0.0]))
    tangent = np.sqrt(0.2**2 - r * r)
    inner = np.sqrt(far * far - 4.0 * r * r)
    angle = np.arcsin(r / 0.2) + np.arcsin(2.0 * r / far)  # how far the line turns on each
    assert strand.length == pytest.approx(2.0 * tangent + inner + 2.0 * r * angle, abs=1e-14)


def test_both_of_two_that_overlap() -> None:
    """The path over the first alone touches it inside the second; over both it is the same from either end, and in
    neither.
    """
    small = Cylinder(radius=0.03, side="+y")
    big = Cylinder(radius=0.06, frame=frame((0.05, -0.01, 0.0)), side="+y")
    start, stop = np.array([-0.1, -0.05, 0.0]), np.array([0.3, -0.3, 0.0])
    alone = at_rest(Wrap(small, 0.0), start, stop)
    assert np.linalg.norm(polyline(alone) - big.frame[:3, 3], axis=1).min() < 0.9 * big.radius
    there, back = at_rest(Wrap([small, big], 0.0), start, stop), at_rest(Wrap([big, small], 0.0), stop, start)
    assert there.length == pytest.approx(back.length, abs=1e-13)
    for each in (small, big):
        # the polyline's points lie on the path, to round-off
        assert np.linalg.norm(polyline(there) - each.frame[:3, 3], axis=1).min() > each.radius - 1e-12


@pytest.mark.parametrize("smoothing", [0.0, 1e-3])
def test_the_middle_one_lets_go(smoothing: float) -> None:
    """A middle cylinder is lowered until the path leaves it; warm and cold starts agree, nothing leaps but the raw
    path's Jacobian.
    """
    outer = [Cylinder(radius=0.05, side="+y"), Cylinder(radius=0.05, frame=frame((0.4, 0, 0)), side="+y")]
    middle = Cylinder(radius=0.05, frame=frame((0.2, 0.0, 0.0), (0.2, 0.3, 0.0)), side="+y")
    wrap = Wrap([outer[0], middle, outer[1]], smoothing)
    frames = np.stack([np.concatenate([f[:3, :3].ravel(), f[:3, 3]]) for f, _ in wrap.parts])
    ends = np.array([-0.2, -0.1, 0.0, 0.6, -0.1, 0.02])
    own = np.zeros(wrap.workspace_size)
    last, jump, counts = None, 0.0, set()
    for k, y in enumerate(np.linspace(5e-3, -5e-3, 401)):
        frames[1, 10] = y
        strand = solve(wrap, ends, frames, own=own)
        assert strand.status == wrap_layout.WRAPPED
        counts.add(int(np.count_nonzero(own[wrap_layout.FRAMES + 36 :][:3] == ON)))
        jacobian = strand.point(0.48 * strand.length)[4]
        if last is not None:
            jump = max(jump, np.abs(jacobian - last).max())
        last = jacobian
        if k % 20 == 0:
            cold = solve(wrap, ends, frames)
            assert strand.length == pytest.approx(cold.length, abs=1e-14)
            assert np.abs(strand.gradient - cold.gradient).max() < 1e-12
    assert counts == {2, 3}
    # smooth: the whole change of about 1 goes over 2 mm, 80 steps, at most twice as fast as on average
    assert jump > 0.4 if smoothing == 0.0 else jump < 0.04


def humps(heights: Any, radius: float = 0.03, gap: float = 0.12) -> list[Any]:
    """Parallel cylinders in a row, to be run over."""
    places = ((gap * i, y, 0.0) for i, y in enumerate(heights))
    return [Cylinder(radius=radius, frame=frame(place), side="+y") for place in places]


def test_solved_while_the_smooth_path_lets_go_of_one() -> None:
    """As the end rises the path leaves the last cylinders one by one: there is one throughout, and its length and
    gradient are smooth.
    """
    wrap = Wrap(humps((-0.01485307, -0.00495046, -0.00316314, 0.00659937)), 6e-3)
    heights = np.linspace(0.03, 0.06, 601)
    start = (-0.15, 0.013677868891312466, 0.0)
    strands = [at_rest(wrap, start, (0.51, y, 0.0)) for y in heights]
    assert wrap_layout.UNSOLVED not in {strand.status for strand in strands}
    slopes = np.array([strand.gradient[4] for strand in strands])
    step = heights[1] - heights[0]
    lengths = np.array([strand.length for strand in strands])
    assert np.abs(np.diff(lengths) - 0.5 * step * (slopes[1:] + slopes[:-1])).max() < 1e-10
    # the slope's slope, at most about 1 / m and changing over millimetres, leaps nowhere
    assert np.abs(np.diff(slopes, 2)).max() < 1e-4


@pytest.mark.parametrize("y", [0.036, 0.0426, 0.044, 0.0455, 0.05])
def test_derivatives_while_the_path_lets_go_of_one(y: float) -> None:
    """Obstacles and ends move; points on links between pieces, too."""
    wrap = Wrap(humps((-0.01485307, -0.00495046, -0.00316314, 0.00659937)), 6e-3)
    ends = ((-0.15, 0.013677868891312466, 0.0), (0.51, y, 0.0))
    motion = Motion(ends, [place for place, _ in wrap.parts], np.random.default_rng(3), 0.03)
    assert largest_error(wrap, motion, (0.1, 0.2, 0.3, 0.45, 0.6, 0.9), 1e-4) < FINITE_DIFFERENCES


def test_shortest_over_collinear_tops() -> None:
    """Obstacles that the path only just touches, up to round-off."""
    wrap = Wrap(humps((0.0, 0.0, 0.0, 0.0), 0.04, 0.15), 0.0)
    three = Wrap(humps((0.0, 0.0), 0.04, 0.45), 0.0)  # the outer ones alone
    for y in np.linspace(-0.02, 0.06, 17):
        ends = ((-0.2, 0.02, 0.0), (0.65, y, 0.0))
        strand = at_rest(wrap, *ends)
        assert strand.status == wrap_layout.WRAPPED
        assert strand.length == pytest.approx(at_rest(three, *ends).length, abs=1e-14)


# a path over a sphere and an ellipsoid that just touches a sphere-capped cylinder beside its seam
TOUCHING = (
    [
        Sphere(radius=0.04, frame=frame((-0.2, 0.03, 0.0))),
        Ellipsoid(radii=(0.04, 0.02, 0.05), frame=frame((-0.12, 0.03, 0.0), (0.1, 0.2, 0.1))),
        SphereCappedCylinder(
            radius=0.04, length=0.05, frame=frame((0.0, 0.0, 0.0), (0.0, np.pi / 2 + 0.1, 0.0))
        ),
    ],
    ((-0.45, 0.05, 0.0), (0.3, -0.01, 0.01)),
    8e-3,
)


@pytest.mark.parametrize("smoothing", [0.0, 5e-4])
def test_a_surface_of_two_strands_is_left_to_the_first_that_meets_it(smoothing: float) -> None:
    """Also where the other strand touches a second one; with mass both strands have points."""
    builder = ph.ModelBuilder()
    builder.add_body("b", joint=ph.joints.Hinge((0, 0, 1)), mass=1.0, inertia=np.eye(3))
    shared = Cylinder(radius=0.03)
    other = Cylinder(radius=0.02, frame=frame((-0.1, 0.02, 0)), side="+y")
    start, middle = PathPoint(None, (-0.2, 0.01, 0.0)), PathPoint(None, (0.05, 0.02, 0.0))
    rows = {"once": ((shared, other), True), "both": ((shared, other), False), "left": ((other,), False)}
    for name, (row, once) in rows.items():
        wraps = Wrap(shared, smoothing), Wrap(row, smoothing)
        path = [start, wraps[0], middle, wraps[1], PathPoint("b", (0.2, -0.05, 0.02))]
        builder.add_muscle(name, path, wraps_once=once, mass=0.1, num_points=5)
    model = builder.build()
    longer = []
    for angle in (-3.0, -2.5, -2.0, -0.5):
        state = model.state(q=[angle])
        found = ph.muscle_lengths(model, state)
        # a row of two over one, and one alone: round-off
        assert found.lengths[0] == pytest.approx(found.lengths[2], abs=1e-14)
        assert np.abs(found.moment_arms[0] - found.moment_arms[2]).max() < 1e-13
        points = [ph.muscle_points(model, state, name).positions for name in ("once", "left")]
        assert np.abs(points[0] - points[1]).max() < 1e-13
        longer.append(found.lengths[1] - found.lengths[0])
    assert max(longer) > 1e-3


def test_an_end_of_a_cylinder_in_a_row_counts_between_contacts_alone() -> None:
    """From the point between two surfaces both tangent points of a path on the first would be beyond its end: Newton's
    method then found no path, and the strand was straight.
    """
    other = Ellipsoid(
        radii=(0.035, 0.02, 0.02), side="+z", frame=frame((-0.015, -0.0297, 0), (-0.896, -1.934, 0.16))
    )
    ends = np.array([0.0034, 0.0061, 0.012]), np.array([-0.101, -0.0536, 0.0676])
    short, endless = (
        at_rest(Wrap([Cylinder(radius=0.003, length=length, side="+x", always=True), other], 0.0), *ends)
        for length in (0.03, None)
    )
    assert short.status == wrap_layout.WRAPPED and short.length == endless.length
