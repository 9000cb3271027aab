"""Bad wishes give one error that names the thing and its value, before anything is computed."""

import numpy as np
import pytest

import physics as ph
from tests.verification.fitting_data import wandering_poses

POSES = wandering_poses(np.random.default_rng(0), 10)
SKEWED = np.eye(6) + np.eye(6, k=1)
BAD = {
    "metric zero": ({"metric": np.zeros((6, 6))}, "metric must be positive definite, its eigenvalues are"),
    "metric negative": ({"metric": np.diag([1, 1, 1, 1, 1, -1.0])}, "metric must be positive definite"),
    "metric skewed": ({"metric": SKEWED}, "metric must be symmetric, got"),
    "metric small": ({"metric": np.eye(3)}, r"metric must have shape \(6, 6\), got \(3, 3\)"),
    "metric text": ({"metric": "energy"}, "metric must be numbers, got 'energy'"),
    "metric NaN": ({"metric": np.full((6, 6), np.nan)}, "metric must be finite"),
    "metric keys": ({"metric": {"mass": 1.0}}, "needs the keys rotation and translation, or .* got mass"),
    "metric mass": ({"metric": {"mass": 0, "com": (0, 0, 0), "inertia": np.eye(3)}}, "mass of the metric .* got 0"),
    "metric weight": ({"metric": {"rotation": -1.0, "translation": 1.0}}, "must be positive, got .*-1.0"),
    "metric twice": ({"metric": np.eye(6), "length_scale": 1.0}, "metric and length_scale 1.0"),
    "weights": ({"weights": np.r_[np.ones(9), -1.0]}, "weights must not be negative, got -1 for pose 9"),
    "weights all 0": ({"weights": np.zeros(10)}, "must not all be 0"),
    "weights short": ({"weights": np.ones(9)}, r"weights must have shape \(10,\), got \(9,\)"),
    "pinned beyond": ({"pinned": [3, 10]}, "pinned pose 10 does not exist: there are 10"),
    "pinned half": ({"pinned": [0.5]}, r"pinned .*, got \[0.5\]"),
    "pinned mask": ({"pinned": [True, False]}, r"pinned .* 10 .*, got shape \(2,\)"),
    "pinned too many": ({"pinned": range(10), "num_frames": 5}, "the 60 equations .* 5 control frames"),
    "ends one": ({"ends": "straight"}, "ends must be two conditions"),
    "ends bent": ({"ends": ("bent", None)}, r"ends\[0\] must be a twist, 'straight', .* got 'bent'"),
    "ends still": ({"ends": (None, np.zeros(6))}, r"ends\[1\] twist must not be zero"),
    "ends short": ({"ends": ((1, 2, 3), None)}, r"ends\[0\] twist must have shape \(6,\), got \(3,\)"),
    "ends key": ({"ends": ({"speed": 1}, None)}, r"ends\[0\] .*, got speed"),
    "ends closed": ({"ends": ("straight", None), "periodic": True}, "ends .*, got 'straight'"),
    "robust": ({"robust": "cauchy"}, "robust must be one of huber, tukey, got 'cauchy'"),
    "robust scale": ({"robust_scale": 0.1}, "robust_scale .*, got 0.1"),
    "robust scale 0": ({"robust": "huber", "robust_scale": 0.0}, "robust_scale must be positive, got 0"),
    "within one": ({"within": 1e-3}, r"within must have shape \(2,\), got \(\)"),
    "within 0": ({"within": (1e-3, 0.0)}, "positive metres and radians, got 0.001 m and 0 rad"),
    "within, frames": ({"within": (1e-3, 0.1), "num_frames": 8}, "leave out num_frames, got 8"),
    "coordinate": ({"coordinate": "time"}, "coordinate must be one of parameter, arc_length, angle, got 'time'"),
    "axis missing": ({"coordinate": "angle"}, "needs an axis"),
    "axis for nothing": ({"axis": (0, 0, 1)}, "no other does: got 'parameter'"),
    "axis 0": ({"coordinate": "angle", "axis": (0, 0, 0)}, "axis must not be the zero vector"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD)
def test_bad_wishes_are_named(kind):
    keywords, message = BAD[kind]
    with pytest.raises(ph.FitError, match=message):
        ph.fit_curve(**{"poses": POSES, **keywords})


def test_an_unknown_keyword_is_told():
    with pytest.raises(TypeError, match="smoothness"):
        ph.fit_curve(POSES, smoothness=1.0)
