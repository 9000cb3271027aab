"""The starfish: its coarse mesh and skin, and that it crawls. No Blender."""

import numpy as np
import pytest

from blender_scenes import starfish_model as model


def test_coarse_mesh_fills_the_star_and_holds_the_skin():
    nodes, tets, bodies = model.coarse()
    assert nodes.shape == (222, 3) and len(bodies) == 72
    volumes = np.linalg.det(nodes[tets[:, 1:]] - nodes[tets[:, :1]]) / 6.0
    assert volumes.min() > 0.0
    skin = model.skin()
    assert len(skin.vertices) == pytest.approx(7909, rel=0.01)  # as in the paper
    assert 0.6 * volumes.sum() < skin.volume() < volumes.sum()  # round sections in rectangles
    fifth = model.turned(1)
    moved = nodes @ fifth.T
    assert np.abs(moved[:, None] - nodes).max(axis=2).min(axis=1).max() < 1e-12


@pytest.mark.parametrize("method", ["linearly_implicit_euler", "sdirk2"])
def test_it_crawls_by_the_work_of_its_joints(method):
    of = model.build_model()
    assert of.num_coordinates - 6 == 20
    result = model.crawl(of, model.TIME_STEP, method, 2.0 * model.PERIOD)
    given = model.work(result)
    lost = given - (result.energy[:, 2] - result.energy[0, 2])
    # efforts at the ends of steps: the work is off by the first order of the step
    assert lost.min() > -0.01 * given[-1]
    assert result.soft["starfish"].depth.max() < 3e-3
    x = result.poses[:, 0, 0, 3]
    assert x[-1] - x[round(model.PERIOD / model.TIME_STEP)] > 0.035
