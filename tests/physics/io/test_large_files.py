"""Large files are read in linear time. Bounds are processor time, four times what a busy machine takes alone; what
grew with the square of the size took several times the bound.
"""

import json
import time

import numpy as np
import pytest

import physics as ph
from physics.constraints import PointConstraint
from tests.physics.io.osim import body, coordinate, joint, offset, write


@pytest.fixture
def clock():
    """Fails the test that takes more seconds of the processor than it says."""
    began, most = time.process_time(), []
    yield most
    assert time.process_time() - began < most[0]


def chain(count, **more):
    rest = {"joint": {"type": "hinge", "axis": [0, 0, 1]}, "mass": 1.0, "inertia": np.eye(3).tolist()}
    bodies = [{"name": f"b{k}", "parent": f"b{k - 1}" if k else None, **rest} for k in range(count)]
    return {"format": "condyle-model", "version": 1, "bodies": bodies, **more}


def test_a_model_of_8000_bodies(tmp_path, clock):
    (tmp_path / "chain.json").write_text(json.dumps(chain(8000)))
    assert ph.load_model(tmp_path / "chain.json").model.num_bodies == 8000
    clock.append(8.0)


def test_a_model_of_many_forces_and_constraints(tmp_path, clock):
    count = 2000
    at = {"point": [0, 0, 0], "other": None, "other_point": [0, 0, 0]}
    document = chain(
        count,
        inputs=[{"name": f"i{k}"} for k in range(count)],
        springs=[{"name": f"s{k}", "body": f"b{k}", "stiffness": 1.0, **at} for k in range(count)],
        forces=[
            {"type": "body_damping", "name": f"f{k}", "body": f"b{k}", "linear": 1.0} for k in range(count)
        ],
        controllers=[{"name": f"c{k}", "body": f"b{k}", "stiffness": 1.0} for k in range(count)],
        constraints=[
            {"name": f"p{k}", **PointConstraint(f"b{k}", f"b{k + 1}").to_dict()} for k in range(count - 1)
        ],
    )
    (tmp_path / "model.json").write_text(json.dumps(document))
    model = ph.load_model(tmp_path / "model.json").model
    assert (len(model.springs), len(model.controllers), len(model.constraints)) == (count, count, count - 1)
    clock.append(10.0)


def test_a_table_of_50000_columns(tmp_path, clock):
    columns = {f"c{k}": np.array([1.0, 2.0]) for k in range(50_000)}
    ph.write_storage(tmp_path / "wide.sto", np.array([0.0, 1.0]), columns)
    assert len(ph.read_storage(tmp_path / "wide.sto").columns) == 50_000
    clock.append(4.0)


@pytest.mark.parametrize("path", ["/bodyset/arm/", ""])
def test_2000_frames_in_each_other(tmp_path, clock, path):
    """Each is turned by 1 mrad about z and moved by 1 mm along x in the one before: points of a circle of 1 m."""
    count, turn = 2000, 1e-3
    frames = [offset("f0", "/bodyset/arm")]
    frames += [offset(f"f{k}", f"{path}f{k - 1}", f"{turn} 0 0", f"0 0 {turn}") for k in range(1, count)]
    arm = body("arm", rest=f"<components>{''.join(frames)}</components>")
    hinge = joint("PinJoint", "elbow", "/ground", "arm", coordinate("flexion"))
    read = ph.read_opensim(write(tmp_path / "frames.osim", arm, hinge))
    pose = read.frames[f"/bodyset/arm/f{count - 1}"].pose
    places = turn * np.exp(1j * turn * np.arange(count - 1))  # the sum of all steps
    found = complex(pose[0, 3], pose[1, 3])
    assert abs(found - places.sum()) < 1e-11  # 2000 steps of round-off of numbers up to 2
    clock.append(4.0)
