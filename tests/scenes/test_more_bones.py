"""Hip bone, foot and the bones of the shoulder: closed, in one piece, of an adult's size, and apart in the joints."""

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from blender_scenes import shoulder_model
from blender_scenes.anatomy import bones, hip_and_foot, shoulder

# name -> mesh with faces of 3 mm and the span of adults' sizes: volume [litres], longest extent [m]
MESHES = {
    "hip bone": (lambda: hip_and_foot.hip_bone(3e-3), (0.15, 0.50), (0.20, 0.26)),
    "foot": (lambda: hip_and_foot.foot(3e-3), (0.10, 0.35), (0.21, 0.26)),
    "scapula": (lambda: shoulder.scapula(2.5e-3), (0.04, 0.15), (0.14, 0.18)),
    "clavicle": (
        lambda: shoulder.clavicle(shoulder_model.clavicle_length(), 2.5e-3),
        (0.012, 0.05),
        (0.13, 0.19),
    ),
    "humerus": (lambda: shoulder.humerus(3e-3), (0.10, 0.25), (0.29, 0.36)),
    "sternum": (lambda: shoulder.sternum(3e-3), (0.03, 0.12), (0.14, 0.20)),
    "vertebra": (lambda: shoulder.vertebra(3e-3), (0.01, 0.06), (0.05, 0.09)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MESHES)
def test_bone_is_closed_and_whole_and_of_an_adults_size(name):
    make, litres, length = MESHES[name]
    mesh = make()
    directed = np.vstack([mesh.faces[:, [k, (k + 1) % 4]] for k in range(4)])
    count = len(mesh.vertices)
    there, back = (np.sort(directed @ weights) for weights in ((count, 1), (1, count)))
    np.testing.assert_array_equal(
        there, back
    )  # every edge is run through as often in one sense as in the other
    ones = np.ones(len(directed))
    assert connected_components(coo_array((ones, tuple(directed.T)), shape=(count, count)))[0] == 1
    assert litres[0] < 1e3 * mesh.volume() < litres[1]
    assert length[0] < np.ptp(mesh.vertices, axis=0).max() < length[1]


def test_head_of_the_femur_is_free_in_its_socket():
    socket = hip_and_foot.hip_bone_shape()
    directions = np.random.default_rng(1).normal(size=(1500, 3))
    head = 22.5e-3 * directions / np.linalg.norm(directions, axis=1, keepdims=True)
    assert socket(head).min() > 1.5e-3  # of the 3 mm between the two spheres, the rest is blending


def test_talus_is_free_under_the_tibia():
    foot = hip_and_foot.foot(6e-3).vertices @ np.linalg.inv(bones.BLENDER_FROM_OPENSIM).T
    ankle = 1e-3 * np.array(hip_and_foot.ANKLE)
    top = foot[foot[:, 1] > -0.02]
    for degrees in (-40.0, 0.0, 60.0):  # the foot's whole way up and down
        turn = bones.rotation_matrix((0.0, 0.0, -np.radians(degrees)))
        assert bones.tibia_shape()(top @ turn.T + ankle).min() > -1e-3


def test_humerus_is_free_in_the_scapula():
    directions = np.random.default_rng(2).normal(size=(1500, 3))
    head = 22e-3 * directions / np.linalg.norm(directions, axis=1, keepdims=True)
    assert shoulder.scapula_shape()(head + shoulder_model.SHOULDER).min() > 0.0
