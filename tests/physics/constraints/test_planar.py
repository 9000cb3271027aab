"""Connectors against what the guide says of their surfaces."""

import json
import pickle

import numpy as np
import pytest

import physics as ph
from physics.constraints import PlanarConnector, SegmentedPlanarConnector, from_dict
from tests.physics.generators import random_pose, random_tree

CORNERS = [(-2.0, 1.0), (-0.5, 0.0), (0.5, 0.3), (0.6, 2.0), (3.0, 2.0)]


def connectors(rng, model):
    """One of each kind, between two bodies and to the world."""
    names = list(model.body_names)
    for other in (names[0], None):
        options = {"point": rng.normal(size=3), "other": other, "frame": random_pose(rng)}
        yield PlanarConnector(names[-1], **options)
        yield SegmentedPlanarConnector(names[-1], segments=CORNERS, **options)


def test_plane_is_z_of_its_frame():
    """A box's corner over a slope (ArtiSynth's guide, table 3.12)."""
    builder = ph.ModelBuilder()
    builder.add_body("box", joint=ph.joints.Free(), mass=1.0, inertia=np.eye(3))
    model = builder.build()
    slope = np.eye(4)
    slope[:3, :3] = ph.lie.so3_exp(np.array([0.0, 0.5, 0.0]))
    connector = PlanarConnector("box", point=(0.1, 0.2, 0.3), frame=slope, unilateral=True)
    state = model.state([1.0, 2.0, 3.0, 0.0, 0.0, 0.0])
    normal = np.array([np.sin(0.5), 0.0, np.cos(0.5)])
    assert np.allclose(connector.value(model, state), normal @ [1.1, 2.2, 3.3], atol=1e-14)
    assert np.allclose(connector.jacobian(model, state)[0, :3], normal, atol=1e-14)


def test_segments_have_the_guides_normals_and_go_on_beyond_the_ends():
    connector = SegmentedPlanarConnector("box", segments=CORNERS)
    for k, (before, after) in enumerate(zip(np.array(CORNERS[:-1]), np.array(CORNERS[1:]))):
        u = np.array([*(after - before)])
        expected = np.cross([u[0], 0.0, u[1]], [0.0, 1.0, 0.0]) / np.linalg.norm(u)  # eq. 3.30
        middle = 0.5 * (before + after)
        value, normal = connector.surface(np.array([middle[0], 7.0, middle[1]]) + 0.01 * expected)
        assert np.allclose(normal, expected, atol=1e-15) and abs(value - 0.01) < 1e-14, k
    value, _ = connector.surface(np.array([100.0, 0.0, 2.5]))
    assert abs(value - 0.5) < 1e-12
    beyond = np.array([-2.0, 0.0, 1.0]) + 50.0 * np.array([-1.5, 0.0, 1.0]) / np.hypot(1.5, 1.0)
    assert abs(connector.surface(beyond)[0]) < 1e-12


def test_value_is_continuous_around_a_corner():
    """Behind an outer corner several segments are equally near; inside a corner their planes are equally far."""
    connector = SegmentedPlanarConnector("box", segments=[(-1.0, 0.0), (0.0, 0.0), (1.0, -1.0)])
    angles = np.linspace(0.0, 2.0 * np.pi, 100001)
    values = np.array(
        [connector.surface(np.array([0.3 * np.cos(a), 0.0, 0.3 * np.sin(a)]))[0] for a in angles[::10]]
    )
    steps = np.abs(np.diff(values))
    assert steps.max() < 0.3 * 2.0 * np.pi / 1e4 * 1.01  # no faster than the point moves


def test_descriptions_come_back():
    rng = np.random.default_rng(1)
    model = random_tree(rng, 3)
    for connector in connectors(rng, model):
        again = from_dict(json.loads(json.dumps(connector.to_dict())))
        assert again == connector and hash(again) == hash(connector) and type(again) is type(connector)
        copy = pickle.loads(pickle.dumps(connector))
        assert copy == connector
        with pytest.raises(ValueError, match="read-only"):
            copy.point[0] = 1.0


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: PlanarConnector(""), "must be a body or its name"),
        (lambda: PlanarConnector("a", other="a"), "needs two bodies, got 'a' twice"),
        (lambda: PlanarConnector("a", point=(0, 0)), "point of a planar connector must have shape"),
        (lambda: PlanarConnector("a", frame=np.zeros((4, 4))), "frame of a planar connector"),
        (lambda: PlanarConnector("a", unilateral="no"), "unilateral of a planar connector .* got 'no'"),
        (lambda: SegmentedPlanarConnector("a"), "segments of a segmented planar connector"),
        (lambda: SegmentedPlanarConnector("a", segments=[(0, 0)]), "at least 2 corners"),
        (lambda: SegmentedPlanarConnector("a", segments=[(0, 0), (0, 0)]), "corners 0 and 1 .* coincide"),
        (lambda: SegmentedPlanarConnector("a", segments=[(0, np.nan), (0, 0)]), "must be finite, got nan"),
    ],
)
def test_bad_values_are_named(make, words):
    with pytest.raises(ph.ModelError, match=words):
        make()


def test_bad_descriptions_and_bodies_are_named():
    with pytest.raises(ph.FormatError, match="unknown constraint type 'rope'"):
        from_dict({"type": "rope"})
    with pytest.raises(ph.FormatError, match="unknown key 'colour'"):
        from_dict({"type": "planar_connector", "body": "a", "colour": "red"})
    with pytest.raises(ph.FormatError, match="body"):
        from_dict({"type": "planar_connector"})
    model = random_tree(np.random.default_rng(0), 2)
    with pytest.raises(ph.ModelError, match="no body is named 'toe'"):
        PlanarConnector("toe").value(model, model.state())
