"""A ball on a trampoline, a bead on a springy wire: they bend these, and energy only falls. No Blender."""

import numpy as np

from blender_scenes import trampoline_model as model


def test_ball_and_bead_bend_what_carries_them():
    of = model.model()
    result = model.run(of, 0.01, 0.6)
    assert (np.diff(result.energy[:, 2]) < 0.0).all()
    sheet = model.sheet_points(result.soft["Trampoline"].nodes, 33)
    wire = model.wire_points(result.soft["Wire"].nodes, 65)
    assert 0.05 < -sheet[..., 2].min() < 0.12
    assert 0.01 < (wire[0, :, 2] - wire[..., 2]).max() < 0.05
    # what is fixed stays
    np.testing.assert_allclose(sheet[:, 0], sheet[:1, 0].repeat(len(sheet), axis=0), atol=1e-15)
    # the ball is on the sheet, between its points
    place = result.poses[-1, 0, :3, 3]
    assert np.linalg.norm(sheet[-1] - place, axis=-1).min() < 0.02
