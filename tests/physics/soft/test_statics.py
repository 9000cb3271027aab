"""How far soft bodies sag: as a simulation of them comes to rest."""

import numpy as np
import pytest

import physics as ph
from physics.soft import statics


def bar(young):
    """A bar of three cubes that sticks out of a wall: its model, nodes, tetrahedra and held nodes."""
    ends = (0.0, 0.1)
    places = [(3.0 * x, y, z) for x in ends for y in ends for z in ends]
    faces = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    nodes, tets = ph.soft_lattice(places, faces, 0.1)
    builder = ph.ModelBuilder()
    builder.add_body("wall", joint=ph.joints.Fixed(), mass=1.0, com=(0, 0, 0), inertia=np.eye(3))
    fixed = np.flatnonzero(nodes[:, 0] < 1e-9)
    material = {"young": young, "poisson": 0.3, "density": 1000.0}
    builder.add_soft_body(
        "bar",
        nodes,
        tets=tets,
        damping=(20.0, 1e-3),
        attached=dict.fromkeys(fixed.tolist(), "wall"),
        **material,
    )
    return builder.build(), nodes, tets, fixed


def test_a_simulated_bar_comes_to_rest_where_its_sag_is():
    young = 1e8
    model, nodes, tets, fixed = bar(young)
    found = statics.sag(nodes, tets, fixed, 0.3, 1000.0, model.gravity) / young
    result = ph.simulate(model, model.state(), 1.5, 5e-3, "linearly_implicit_euler", record_interval=0.75)
    moved = np.linalg.norm(result.soft["bar"].nodes[-1] - nodes, axis=1).max()
    # the simulated one turns with its slope, 4e-4 here, the statics do not
    assert moved == pytest.approx(found, rel=1e-4)


def test_what_nothing_holds_has_no_sag():
    _, nodes, tets, _ = bar(1e6)
    with pytest.raises(ph.ModelError, match="nothing holds"):
        statics.sag(nodes, tets, np.array([], dtype=int), 0.3, 1000.0, np.array([0, 0, -9.81]))
    twice, more = np.concatenate([nodes, nodes + (0, 5, 0)]), np.concatenate([tets, tets + len(nodes)])
    with pytest.raises(ph.ModelError, match="attached to nothing"):
        statics.sag(twice, more, np.flatnonzero(nodes[:, 0] < 1e-9), 0.3, 1e3, np.array([0, 0, -9.81]))
