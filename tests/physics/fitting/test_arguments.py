"""Bad input gives one error that names the thing and its value, before anything is computed."""

import numpy as np
import pytest

import physics as ph
from tests.verification.fitting_data import wandering_poses

POSES = wandering_poses(np.random.default_rng(0), 10)
Q = np.arange(10.0)


def changed(index, value):
    poses = POSES.copy()
    poses[index] = value
    return poses


def with_nan():
    poses = POSES.copy()
    poses[3, 0, 3] = np.nan
    return poses


SKEWED = np.eye(6) + np.eye(6, k=1)
KNOTS = ph.splines.clamped_knots(8, 4, 0.0, 9.0)
BAD = {
    "NaN pose": ({"poses": with_nan()}, "pose 3 is not finite"),
    "scaled pose": ({"poses": changed(2, np.diag([2.0, 2.0, 2.0, 1.0]))}, "pose 2 has no proper rotation"),
    "not poses": ({"poses": np.zeros((10, 6))}, r"pose .*shape \(10, 6\)"),
    "one matrix": ({"poses": np.eye(4)}, r"poses must have shape \(N, 4, 4\), got \(4, 4\)"),
    "no poses": ({"poses": np.zeros((0, 4, 4))}, "at least 2 poses, got 0"),
    "one pose": ({"poses": POSES[:1]}, "at least 2 poses, got 1"),
    "coincident": ({"poses": changed(4, POSES[3])}, "poses 3 and 4 coincide"),
    "closed by a copy": ({"poses": changed(9, POSES[0]), "periodic": True}, "poses 9 and 0 coincide"),
    "q equal": ({"q": [0, 1, 2, 2, 4, 5, 6, 7, 8, 9]}, "q must increase, got 2 before 2 at 3"),
    "q reversed": ({"q": -Q}, "q must increase, got -0 before -1 at 1"),
    "q NaN": ({"q": np.where(Q == 5, np.nan, Q)}, r"q must be finite, got nan at \[5\]"),
    "q too short": ({"q": Q[:-1]}, r"q must have shape \(10,\), got \(9,\)"),
    "few frames": ({"num_frames": 3}, r"num_frames must be at least 4 \(the order\), got 3"),
    "half a frame": ({"num_frames": 7.5}, "num_frames must be a whole number, got 7.5"),
    "no number of frames": ({"num_frames": "eight"}, "num_frames must be a whole number, got 'eight'"),
    "too many frames": ({"num_frames": 11}, "10 poses .* 11 control frames"),
    "order 2": ({"order": 2}, "order must be at least 3, got 2"),
    "order 21": ({"order": 21, "num_frames": 24}, "order must be at most 20, got 21"),
    "smoothing 1": ({"smoothing": 1.0}, r"smoothing must lie in \[0, 1\), got 1"),
    "smoothing negative": ({"smoothing": -0.1}, r"smoothing must lie in \[0, 1\), got -0.1"),
    "smoothing NaN": ({"smoothing": np.nan}, "smoothing must be finite, got nan"),
    "length scale": ({"length_scale": 0.0}, "length_scale must be positive, got 0"),
    "tolerance": ({"tolerance": -1e-9}, "tolerance must be positive, got -1e-09"),
    "iterations": ({"max_iterations": 0}, "max_iterations must be at least 1, got 0"),
    "outside": ({"outside": "wrap"}, "outside must be one of .* got 'wrap'"),
    "knots too few": ({"q": Q, "knots": KNOTS[:-1]}, r"knots must have shape \(12,\), got \(11,\)"),
    "knots falling": ({"q": Q, "knots": KNOTS[::-1]}, "knots must not decrease, got 9 before"),
    "knots empty": ({"q": Q, "knots": np.ones(12)}, r"knots .* \[1, 1\]"),
    "q outside": ({"q": Q + 1.0, "knots": KNOTS}, r"q from 1 to 10 leaves the knots' range \[0, 9\]"),
    "no period": ({"q": Q, "periodic": True}, "needs `end`"),
    "periodic in words": ({"periodic": "no"}, "periodic must be True or False, got 'no'"),
    "end without q": ({"periodic": True, "end": 9.0}, "end .*, got 9.0"),
    "short period": ({"q": Q, "periodic": True, "end": 9.0}, "must end after the last pose at 9, got 9"),
    "knots twice": ({"q": Q, "knots": np.where(KNOTS[5] == KNOTS, KNOTS[6], KNOTS)}, "inside the range must increase"),
    "clamped, closed": ({"knots": KNOTS, "periodic": True}, "knots inside the range must increase, got 9 twice"),
    "not periodic": ({"knots": np.arange(12.0) ** 2, "periodic": True}, "knots of a periodic curve must repeat"),
    "other period": (
        {"q": Q, "periodic": True, "end": 10.0, "knots": ph.splines.periodic_knots(8, 4, 0.0, 11.0)},
        "the period from 0 to 10 is not that of the knots, 11",
    ),
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
def test_bad_input_is_named(kind):
    keywords, message = BAD[kind]
    with pytest.raises(ph.FitError, match=message):
        ph.fit_curve(**{"poses": POSES, **keywords})


def test_coincident_poses_are_fine_where_parameters_are_given():
    fit = ph.fit_curve(changed(4, POSES[3]), q=Q)
    assert fit.converged


def test_a_curve_that_stands_still_makes_no_joint():
    with pytest.raises(ph.FitError, match="control frames 0 and 1 coincide"):
        ph.fit_curve(np.tile(np.eye(4), (10, 1, 1)), q=Q)


def test_an_unknown_keyword_is_told():
    with pytest.raises(TypeError, match="smoothness"):
        ph.fit_curve(POSES, smoothness=1.0)
