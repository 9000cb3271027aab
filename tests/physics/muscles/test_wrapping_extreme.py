"""Random poses, ends close to long and flat obstacles, sides that take the long way round: nearly all have a path."""

import numpy as np
import pytest

from physics.kernels.wrapping import layout as wrap_layout
from physics.muscles.obstacles import Ellipsoid, Torus
from physics.muscles.wrapping import Wrap

from .poses import pose
from .strands import at_rest, polyline


# of 2000 poses each 0.00 %, 0.15 % and 0.2 % are left without a path
@pytest.mark.parametrize("name", ["ellipsoid", "capsule", "torus"])
def test_a_path_is_found_and_keeps_outside(name: str) -> None:
    """Outside of what is convex, that is: what a ring does not hold may run through its tube."""
    smoothing = 5e-4
    rng, unsolved, wrapped = np.random.default_rng(5), 0, 0
    for _ in range(150):
        obstacle, outside, p, q = pose(name, rng)
        strand = at_rest(Wrap(obstacle, smoothing), p, q)
        assert strand.length >= np.linalg.norm(q - p) - 1e-12
        unsolved += strand.status == wrap_layout.UNSOLVED
        wrapped += strand.status == wrap_layout.WRAPPED
        if (
            name != "torus" and strand.status != wrap_layout.UNSOLVED
        ):  # a smooth path dives by a fifth of the smoothing length at most
            assert outside(polyline(strand, 400)).min() > -0.25 * smoothing
    assert unsolved <= 1
    assert wrapped > 50


def test_what_does_not_go_through_a_ring_is_straight() -> None:
    """Both ends on one side of its plane, and the line between them outside of the ring."""
    ring = Torus(major_radius=0.1, minor_radius=0.03)
    p, q = np.array([0.118, -0.123, 0.068]), np.array([0.129, 0.166, 0.101])
    strand = at_rest(Wrap(ring, 0.0), p, q)
    assert strand.status == wrap_layout.STRAIGHT
    assert strand.length == pytest.approx(np.linalg.norm(q - p), abs=1e-15)
    strand = at_rest(
        Wrap(ring, 0.0), p, q * (1.0, 1.0, -1.0)
    )  # on the other side: the path is hooked into the hole
    assert strand.status == wrap_layout.WRAPPED
    far = np.hypot(*polyline(strand, 200)[:, :2].T)
    assert far.min() < 0.1 - 0.9 * 0.03


def test_no_jumps_between_geodesics_over_a_narrow_ellipsoid() -> None:
    """A ligament's surface (Lenhart et al. 2015, MCLp5), far narrower than its path is long: a length changes by no
    more than the end moves.
    """
    wrap = Wrap(Ellipsoid(radii=(0.025, 0.0054, 0.0053)), 0.0)
    first, last = np.array([0.0296, 0.0906, 0.1467]), np.array([0.0336, 0.128, 0.1555])
    q = np.array([-0.00399, -0.00363, -0.00505])
    ends = first + np.linspace(0.0, 1.0, 400)[:, None] * (last - first)
    lengths = [at_rest(wrap, p, q).length for p in ends]
    assert np.abs(np.diff(lengths)).max() <= np.linalg.norm(last - first) / 399 + 1e-12
