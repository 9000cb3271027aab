"""Loops within small groups of bodies, solved cluster by cluster, against factors of all their rows at once."""

import numpy as np
import pytest

import physics as ph
from physics import constraints
from physics.constraints import packing
from physics.constraints.loops import local_loops
from physics.kernels.constraints import layout, loops_layout
from tests.benchmarks.linkages import ladder
from tests.physics.constraints.mechanisms import pose


def both(monkeypatch, model, state, **options):
    """The same motion by clusters and by dense factors."""
    runs = []
    for fewest in (1, 10**9):
        monkeypatch.setattr(packing, "FEWEST_LOCAL", fewest)
        runs.append(ph.simulate(model, state, 0.2, 1e-3, **options))
    return runs


def agree(runs, size=1.0):
    """Both methods solve the same equations: what differs is round-off, and how projection ends at 1e-12."""
    one, other = runs
    np.testing.assert_allclose(one.q, other.q, rtol=0.0, atol=size * 1e-9)
    np.testing.assert_allclose(one.qd, other.qd, rtol=0.0, atol=size * 1e-7)
    for run in runs:
        assert run.info["constraints"]["residual"] < 1e-9 and run.info["constraints"]["drift_left"] < 1e-9


@pytest.mark.parametrize("integrator", ["symplectic_euler", "rk4", "sdirk2"])
def test_a_ladder_of_four_bars(monkeypatch, integrator):
    """Hinges close planar loops with five rows, of which two are independent."""
    model, state = ladder(12)
    runs = both(monkeypatch, model, state, integrator=integrator)
    agree(runs)
    forces = [run.constraint_forces["loop 3"][:, :2] for run in runs]
    np.testing.assert_allclose(*forces, rtol=1e-6, atol=1e-6)


def tangled():
    """Loops that overlap, one to the ground, one between two trees, and a free body."""
    builder = ph.ModelBuilder(gravity=(0.0, -9.81, 0.0))
    rng = np.random.default_rng(4)

    def add(name, parent, joint, place=(0.0, -0.3, 0.0)):
        body = {"mass": 1.0, "com": (0.0, -0.15, 0.02), "inertia": np.diag([0.02, 0.01, 0.02])}
        builder.add_body(name, parent, joint=joint, joint_in_parent=pose(place), damping=0.01, **body)

    ball, free, hinge = ph.joints.Spherical, ph.joints.Free, ph.joints.Hinge((0.0, 0.0, 1.0))
    add("a", None, ball())
    add("b", "a", ball())
    add("c", "b", hinge)
    add("d", "b", ball(), (0.1, -0.3, 0.0))
    add("e", "c", hinge)
    add("f", "d", ball())
    add("tip", "f", hinge)
    add("free", None, free(), (0.0, 0.0, 0.0))
    add("held", "free", hinge)
    model = builder.build()
    q = 0.3 * rng.normal(size=model.num_coordinates)
    frames = dict(zip(model.body_names, ph.body_poses(model, model.state(q=q)), strict=True))

    def tie(name, body, other, kind):
        """A constraint that the state already meets."""
        place = np.eye(4)
        place[:3, 3] = (0.0, -0.2, 0.05)
        end = frames[body] @ place
        there = end if other is None else np.linalg.inv(frames[other]) @ end
        if kind == "point":
            one = constraints.PointConstraint(body, other, point=place[:3, 3], other_point=there[:3, 3])
        else:
            one = constraints.HingeConstraint(body, other, frame=place, other_frame=there)
        builder.add_constraint(name, one)

    tie("over", "e", "d", "point")
    tie("again", "c", "f", "point")
    tie("ground", "a", None, "hinge")
    tie("trees", "held", "tip", "point")
    model = builder.build()
    return model, model.state(q=q)


@pytest.mark.parametrize("integrator", ["symplectic_euler", "rk4"])
def test_loops_that_overlap_and_tie_trees(monkeypatch, integrator):
    model, state = tangled()
    assert local_loops(model.arrays, model.constraint_arrays[0]) is not None
    agree(both(monkeypatch, model, state, integrator=integrator))


def test_clusters_are_the_bodies_whose_loops_overlap():
    model, _ = tangled()
    loops = local_loops(model.arrays, model.constraint_arrays[0])
    clusters, members = loops[loops_layout.CLUSTERS], loops[loops_layout.MEMBERS]
    found = [
        {model.body_names[i] for i in members[row[loops_layout.FIRST] : row[loops_layout.END]]}
        for row in clusters
    ]
    assert {"a", "b", "d", "f", "tip", "free", "held", "c", "e"} in found
    model, _ = ladder(3)
    clusters = local_loops(model.arrays, model.constraint_arrays[0])[loops_layout.CLUSTERS]
    assert clusters[:, loops_layout.CARRIER].tolist() == [-1, 1, 4]
    assert (clusters[:, loops_layout.END] - clusters[:, loops_layout.FIRST] == 3).all()


def test_a_prescribed_coordinate_takes_dense_factors(monkeypatch):
    model, state = ladder(12)
    motion = ph.Motion([0.0, 0.1, 0.2], [state.q[0], state.q[0] + 0.01, state.q[0]])
    one, other = both(monkeypatch, model, state, motions={"left 0": motion})
    assert one.q.tobytes() == other.q.tobytes()


def test_where_other_things_resist_there_are_no_clusters():
    model, _ = ladder(12)
    assert len(packing.make_system(model.arrays, model.constraint_arrays)) == layout.SYSTEM_LOOPS
    assert len(packing.make_system(model.arrays, model.constraint_arrays, local=True)) > layout.SYSTEM_LOOPS
    bounded = ph.ModelBuilder.from_dict(model.to_dict())
    data = bounded.build().to_dict()
    data["bodies"][0]["limits"] = [[-1.0, 1.0]]
    stopped = ph.ModelBuilder.from_dict(data).build()
    assert local_loops(stopped.arrays, stopped.constraint_arrays[0]) is None
