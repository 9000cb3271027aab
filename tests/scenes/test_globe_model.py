"""The coasts of the globe and the planes along them. No Blender."""

import numpy as np
import pytest

import physics as ph
from blender_scenes import globe_model
from blender_scenes.coastlines import AFRICA, FLOWN, LANDS
from blender_scenes.globe_model import ALTITUDE, RADIUS
from tests.scenes import energy_bounds


@pytest.mark.parametrize("land", LANDS)
def test_coast_stays_on_the_globe(land):
    poses = globe_model.curve_poses(land, 500)
    # every control frame is one turn about the middle away from the next, so the curve between them is, too
    np.testing.assert_allclose(np.linalg.norm(poses[:, :3, 3], axis=1), RADIUS, rtol=1e-13)
    np.testing.assert_allclose(poses[:, :3, 2], poses[:, :3, 3] / RADIUS, atol=1e-13)


def test_smoothed_coast_keeps_to_its_points():
    line = globe_model.smoothed(AFRICA, np.radians(0.2))
    apart = np.linalg.norm(line[:, None] - globe_model.directions(AFRICA), axis=2).min(axis=0)
    assert np.degrees(apart).max() < 4.0
    assert np.degrees(np.median(apart)) < 1.0


def test_lands_do_not_overlap():
    lines = {land: globe_model.curve_poses(land, 400)[:, :3, 3] for land in LANDS}
    names = list(lines)
    for index, one in enumerate(names):
        for other in names[:index]:
            gap = np.linalg.norm(lines[one][:, None] - lines[other], axis=2).min()
            assert gap > 2e-3, f"{one} and {other} are {1e3 * gap:.1f} mm apart"


def test_planes_keep_their_height_and_the_energy_its_bound():
    model = globe_model.build_model(friction=0.0)
    result = ph.simulate(model, globe_model.start(model), duration=1.0, dt=1e-3, record_interval=0.02)
    height = np.linalg.norm(result.poses[:, 1:, :3, 3], axis=2)
    np.testing.assert_allclose(height, RADIUS + ALTITUDE, rtol=1e-12)
    assert result.energy[:, 1].min() > energy_bounds.globe(model)
    assert result.poses.shape[1] == 1 + len(FLOWN)
