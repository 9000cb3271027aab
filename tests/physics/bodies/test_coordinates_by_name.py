"""States by the names of coordinates and bodies, and the index of a coordinate."""

import numpy as np
import pytest

import physics as ph
from physics.errors import ModelError


def leg():
    builder, unit = ph.ModelBuilder(), {"mass": 1.0, "inertia": np.eye(3)}
    builder.add_body("hip", joint=ph.joints.Spherical(), **unit)
    builder.add_body("knee", "hip", joint=ph.joints.Hinge(), **unit)
    builder.add_body("ankle", "knee", joint=ph.joints.Universal(), **unit)
    return builder.build()


MODEL = leg()
FIRST = MODEL.coordinate_names[MODEL.coordinate_slice("ankle").start]


def test_coordinates_bodies_and_indices():
    state = MODEL.state(q={"knee.angle": 1.2, "hip": [0.1, 0.2, 0.3], FIRST: -0.4}, qd={"knee.angle": 2.0})
    assert state.q.tolist() == [0.1, 0.2, 0.3, 1.2, -0.4, 0.0]
    assert state.qd.tolist() == [0.0, 0.0, 0.0, 2.0, 0.0, 0.0]
    assert MODEL.state(q={MODEL.bodies[1].name: 1.2}).q[3] == 1.2
    for k, name in enumerate(MODEL.coordinate_names):
        assert MODEL.coordinate_index(name) == k


def test_unknown_names_and_near_ones():
    with pytest.raises(ModelError, match=r"'kne\.angle'; did you mean 'knee\.angle'"):
        MODEL.state(q={"kne.angle": 1.0})
    with pytest.raises(ModelError, match=r"'knee_angle'; did you mean 'knee\.angle'"):
        MODEL.coordinate_index("knee_angle")
    with pytest.raises(ModelError, match=r"'zzz'; there are hip\..*knee\.angle"):
        MODEL.state(qd={"zzz": 1.0})
    for name in (3, None, "knee"):
        with pytest.raises(ModelError, match="no coordinate is named"):
            MODEL.coordinate_index(name)


@pytest.mark.parametrize(
    "given, words",
    [
        ({"knee": 1.0, "knee.angle": 1.0}, r"q of 'knee\.angle' is given twice"),
        ({"knee.angle": [1.0, 2.0]}, r"q of 'knee\.angle'"),
        ({"knee.angle": np.nan}, r"q of 'knee\.angle'"),
        ({"hip": 1.0}, "q of 'hip'"),
    ],
)
def test_bad_values_are_named(given, words):
    with pytest.raises(ModelError, match=words):
        MODEL.state(q=given)
