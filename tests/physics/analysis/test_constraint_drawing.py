"""Constraints, springs and ground are drawn where they are, with true distances."""

import numpy as np
import pytest

import physics as ph
from physics import constraints
from physics.analysis.constraint_drawing import drawing, ground, slack, spring
from physics.joints.symbols import ROLES
from tests.physics.constraints.mechanisms import pose

PLACES = {"a": pose((0.4, 0.1, 0.2), (0.2, 0.3, 0.1)), "b": pose((1.0, 0.0, 0.5), (0.0, 1.0, 0.0))}
FRAME = pose((0.1, 0.2, 0.3), (0.5, 0.0, 0.2))
CONSTRAINTS = {
    "point": constraints.PointConstraint("a", "b", (0.1, 0, 0), (0, 0.2, 0)),
    "hinge": constraints.HingeConstraint("a", "b", FRAME, FRAME),
    "weld": constraints.WeldConstraint("a", None, FRAME, FRAME),
    "distance": constraints.DistanceConstraint("a", "b", (0.1, 0, 0), (0, 0.2, 0), length=0.5),
    "planar_connector": constraints.PlanarConnector("a", (0.1, 0, 0), "b", FRAME),
    "segmented_planar_connector": constraints.SegmentedPlanarConnector(
        "a", (0.1, 0, 0), "b", FRAME, segments=[(-1, 0), (0, 0), (1, 0.5)]
    ),
    "rolling": None,
    "coupling": constraints.CouplingConstraint("a.angle", {"b.angle": 2.0}),
}


def test_every_type_of_the_registry_is_named_here():
    assert set(CONSTRAINTS) == set(constraints.REGISTRY)


@pytest.mark.parametrize("kind", [name for name, each in CONSTRAINTS.items() if each is not None])
def test_a_drawing_is_finite_and_has_known_roles(kind):
    shown = drawing(CONSTRAINTS[kind], PLACES, 0.2)
    assert np.isfinite(shown.points).all() and set(shown.roles) <= set(ROLES)
    assert (len(shown.lines) == 0) == (kind == "coupling")


@pytest.mark.parametrize("kind", ["planar_connector", "segmented_planar_connector"])
def test_connectors_are_drawn_on_their_surface(kind):
    constraint = CONSTRAINTS[kind]
    inverse = ph.lie.inverse(PLACES["b"] @ FRAME)
    ends = drawing(constraint, PLACES, 0.2).segments("surface", "path").reshape(-1, 3)
    heights = [constraint.surface(inverse[:3, :3] @ end + inverse[:3, 3])[0] for end in ends]
    assert np.abs(heights).max() < 1e-12


def test_rods_ropes_and_struts_show_their_length():
    ends = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    for sense, length in (("rope", 1.5), ("strut", 0.5)):
        rod = constraints.DistanceConstraint("a", length=length, sense=sense)
        shown = drawing(rod, {"a": pose(ends[1])}, 0.2)
        stop = shown.segments("limit").reshape(-1, 3).mean(axis=0)
        np.testing.assert_allclose(stop, [length, 0.0, 0.0], atol=0.05)
        assert (np.ptp(shown.segments("path")[..., 2]) > 0.1) == (sense == "rope")
    bow = slack(ends, 1.05)
    assert np.linalg.norm(np.diff(bow, axis=0), axis=1).sum() == pytest.approx(1.05, rel=0.01)


def test_a_spring_goes_from_end_to_end_and_a_ground_shows_its_points():
    start, end = np.array([0.1, 0.2, 0.3]), np.array([0.5, -0.2, 0.4])
    coil = spring(start, end, 0.1).segments("path")
    np.testing.assert_allclose(coil[[0, -1], [0, 1]], [start, end], atol=1e-12)
    assert "path" not in spring(start, start).roles
    points = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 1.0]])
    shown = ground(FRAME, points, 0.1)
    assert np.ptp(shown.segments("value")[..., 0]) > 1.0


def test_a_drawing_needs_poses_and_a_size():
    with pytest.raises(ph.ModelError, match="needs the pose of body 'a'"):
        drawing(CONSTRAINTS["point"], {"b": np.eye(4)})
    with pytest.raises(ph.ModelError, match="size of a drawing"):
        drawing(CONSTRAINTS["point"], PLACES, 0.0)
