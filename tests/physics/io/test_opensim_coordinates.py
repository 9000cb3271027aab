"""OpenSim's coordinates that are held, or that follow time."""

import numpy as np
import pytest

import physics as ph
from tests.physics.io.osim import GROUND, body, coordinate, joint, write


def test_a_range_of_one_value_is_a_limit(tmp_path):
    """Without limits it is free, as in OpenSim."""
    rest = "<range>0.7 0.7</range><clamped>true</clamped>"
    path = write(tmp_path / "m.osim", body("a"), joint("PinJoint", "j", GROUND, "a", coordinate("q", rest)))
    assert ph.read_opensim(path).build().prescribed.tolist() == [True]
    assert ph.read_opensim(path, limits=False).build().prescribed.tolist() == [False]


def test_a_coordinate_prescribed_by_a_function_of_time(tmp_path):
    """It follows its function where the simulation gets its motion; the other one swings with it."""
    sine = "<Sine><amplitude>0.3</amplitude><phase>0.5</phase><offset>0.1</offset></Sine>"
    rest = f"<prescribed_function>{sine}</prescribed_function><prescribed>true</prescribed>"
    made = joint("PinJoint", "j", GROUND, "a", coordinate("q", rest))
    made += joint("PinJoint", "k", "a", "b", coordinate("r"))
    read = ph.read_opensim(write(tmp_path / "m.osim", body("a") + body("b"), made))
    model = read.build()
    assert len(read.warnings) == 1 and not model.prescribed.any()
    motions = read.motions(np.linspace(0.0, 1.0, 101))
    assert list(motions) == ["a.angle"]
    result = ph.simulate(model, read.state(model), duration=1.0, dt=1e-3, motions=motions)
    follows = 0.1 + 0.3 * np.sin(result.t + 0.5)
    # a cubic's fourth order: 0.3 * 0.01^4 * 5 / 384 inside
    assert np.abs(result.q[:, 0] - follows).max() < 1e-8
    assert np.ptp(result.q[:, 1]) > 0.1
    with pytest.raises(ph.ModelError):
        read.motions([0.0, 0.0])
