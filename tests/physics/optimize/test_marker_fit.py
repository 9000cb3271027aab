"""A spline knee, and the leg around it, from markers."""

import re
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import physics as ph
from physics.optimize.marker_fit import _check_free, _check_markers
from physics.optimize.marker_steps import Problem
from physics.optimize.marker_unknowns import Unknowns
from tests.physics.leg import knee, leg

MODELS = Path(__file__).resolve().parents[4] / "shared" / "models"
NOISE = 5e-3  # m, of each coordinate of a marker
BODIES = ["femur"] * 4 + ["tibia"] * 4 + ["foot"] * 4
OFFSETS = np.array(
    [(0, -0.02, 0.08), (0.09, -0.2, 0.03), (0, -0.4, 0.05), (0, -0.4, -0.05)]
    + [(0.05, -0.05, 0), (-0.01, -0.04, 0.05), (0, -0.4, 0.04), (0, -0.39, -0.04)]
    + [(0.1, -0.03, 0.03), (0.15, -0.02, -0.03), (-0.04, -0.02, 0.02), (0.05, 0, 0.04)]
)
EVERYTHING = "control_frames", "joint_frames", "lengths", "offsets"


def with_joint(model: ph.Model, joint: Any, body: str = "tibia") -> ph.Model:
    """The model with another joint, within its range."""
    other = replace(model.bodies[model.index(body)], joint=joint, limits=joint.range).lock()
    return model.altered(bodies=[other if each.name == body else each for each in model.bodies])


def hinge(curve: ph.joints.SplineCurve) -> ph.joints.SplineCurve:
    """A screw from one end of the range to the other, displaced by 15 mm and 5 degrees: no knee."""
    first, last = curve.transform(curve.domain[:, None])
    share = (ph.splines.greville(curve.knots, curve.order) - curve.domain[0]) / np.ptp(curve.domain)
    way = ph.lie.exp(ph.lie.log(ph.lie.inverse(first) @ last) * share[:, None])
    return replace(curve, frames=first @ ph.lie.exp([0.06, -0.06, 0.03, 0.01, -0.01, 0.005]) @ way)


@cache
def motion(frames: int = 60) -> np.ndarray:
    """The leg swings, and bends its knee between 15 and 85 per cent of its range."""
    s, q = np.linspace(0.0, 2.0 * np.pi, frames, endpoint=False), np.zeros((frames, 6))
    q[:, :3] = np.stack([0.2 * np.sin(s), 0.1 * np.sin(2.0 * s), 0.4 * np.sin(s)], axis=1)
    q[:, 3] = knee().domain[0] + np.ptp(knee().domain) * (0.5 - 0.35 * np.cos(s))
    q[:, 4:] = np.stack([0.2 * np.sin(s + 1.0), 0.1 * np.cos(s)], axis=1)
    return q


def markers(
    model: ph.Model, q: Any, bodies: Any, offsets: Any, noise: float = 0.0, gaps: float = 0.0, seed: int = 0
) -> np.ndarray:
    """What a motion shows (T, m, 3)."""
    rng, index = np.random.default_rng(seed), [model.index(name) for name in bodies]
    poses = np.array([ph.body_poses(model, model.state(row)) for row in q])[:, index]
    places = (poses[..., :3, :3] @ offsets[..., None])[..., 0] + poses[..., :3, 3]
    places += noise * rng.normal(size=places.shape)
    places[rng.uniform(size=places.shape[:2]) < gaps] = np.nan
    return places


def apart(fit: ph.JointFit, curve: ph.joints.SplineCurve, q: np.ndarray) -> tuple[float, float]:
    """Largest distance [m] and angle [rad] of a fit from a curve over a range of its coordinate."""
    found = ph.project(
        fit.joint, curve.transform(np.linspace(q.min(), q.max(), 51)[:, None]), length_scale=0.1
    )
    return float(found.translation.max()), float(found.rotation.max())


def problem(model: ph.Model, places: Any, free: Any, offsets: Any = OFFSETS, lock: Any = ()) -> Problem:
    data = _check_markers(model, places, BODIES, offsets, np.linspace(0.5, 1.5, len(BODIES)))
    return Problem(Unknowns(model, 1, data, _check_free(free), lock), data, 0.3, NOISE)


def deviations(task: Problem, q: Any, row: Any = None) -> np.ndarray:
    """Standard deviations (P,) of the numbers, by the Cramér-Rao bound with the spreads as a prior."""
    normal = task.normal(task.at(np.zeros(len(task.unknowns.spread)) if row is None else row, q))
    gains = np.linalg.solve(normal.poses, normal.both)
    inverse = np.linalg.inv(normal.numbers - np.einsum("tnp,tnr->pr", normal.both, gains))
    return NOISE * np.sqrt(np.diag(inverse) * 0.7 / task.markers.seen.sum())


def test_derivatives_agree_with_differences():
    q, rng = motion()[::12], np.random.default_rng(1)
    task = problem(
        with_joint(leg(), hinge(knee())), markers(leg(), q, BODIES, OFFSETS, NOISE, 0.2), EVERYTHING, lock=[2]
    )
    row = 0.02 * rng.normal(size=len(task.unknowns.spread))
    place, numbers, step = task.at(row, q), len(row), 1e-6
    by_number, by_q, errors = task.rows(place)

    ways = rng.normal(size=(4, numbers + q.size))

    def slopes(function: Any) -> np.ndarray:
        return np.array([(function(step * way) - function(-step * way)) / (2.0 * step) for way in ways])

    def moved(way: np.ndarray) -> Any:
        return task.at(row + way[:numbers], q + way[numbers:].reshape(q.shape))

    def weighted(way: np.ndarray) -> np.ndarray:
        at = moved(way)
        return (task.root[..., None] * task.errors(at.row, at.model, at.q)[0]).reshape(errors.shape)

    by = ways[:, :numbers] @ np.moveaxis(by_number, 2, 0).reshape(numbers, -1)
    by += np.einsum("trn,ktn->ktr", by_q, ways[:, numbers:].reshape(-1, *q.shape)).reshape(by.shape)
    # round-off of central differences is 1e-16 / 1e-6 times the values, their error 1e-12 times third derivatives
    np.testing.assert_allclose(slopes(weighted).reshape(by.shape), by, rtol=0.0, atol=1e-9)
    bend = slopes(lambda way: task.unknowns.bend(row + way[:numbers])[0])
    np.testing.assert_allclose(bend, ways[:, :numbers] @ task.unknowns.bend(row)[1].T, rtol=0.0, atol=1e-8)
    normal = task.normal(place)
    cost = 2.0 * ways @ np.append(normal.right, normal.pulls)
    np.testing.assert_allclose(slopes(lambda way: moved(way).cost), cost, rtol=0.0, atol=1e-9)
    # the steps of all frames solve the whole system, to what keeps undetermined coordinates: 1e-12
    step, steps = normal.solve(0.0)
    right = normal.numbers @ step + np.einsum("tnp,tn->p", normal.both, steps)
    np.testing.assert_allclose(right, -normal.right, rtol=0.0, atol=1e-9 * np.abs(normal.right).max())
    pulls = np.einsum("tnm,tm->tn", normal.poses, steps) + normal.both @ step
    np.testing.assert_allclose(pulls, -normal.pulls, rtol=0.0, atol=1e-9 * np.abs(normal.pulls).max())


def test_markers_without_noise_give_the_knee_back():
    fit = ph.fit_joint_to_motion(
        with_joint(leg(), hinge(knee())), "tibia", markers(leg(), motion(), BODIES, OFFSETS), BODIES, OFFSETS,
        smoothing=1e-9,
    )  # fmt: skip
    distance, angle = apart(fit, knee(), motion()[:, 3])
    # as far as smoothing pulls it, and as a curve with the start's parametrization can follow
    assert distance < 1e-4 and angle < 1e-3 and fit.rms < 2e-5 and fit.converged
    assert fit.model == with_joint(leg(), fit.joint)


@pytest.mark.parametrize("gaps", [0.0, 0.2])
def test_a_knee_from_noisy_markers(gaps):
    """A small motion, so the bound is statistics': 1.2 mm and 0.5 degrees are the standard deviation at its ends."""
    shown = markers(leg(), motion(), BODIES, OFFSETS, NOISE, gaps)
    fit = ph.fit_joint_to_motion(with_joint(leg(), hinge(knee())), "tibia", shown, BODIES, OFFSETS)
    distance, angle = apart(fit, knee(), motion()[:, 3])
    assert distance < 5e-3 and angle < np.radians(2.0) and fit.converged
    assert np.array_equal(np.isnan(fit.residual), np.isnan(shown[..., 0]))
    assert fit.rms == pytest.approx(np.sqrt(3.0) * NOISE, rel=0.15)  # less what 6 coordinates a frame take up


def test_lengths_and_offsets_are_found_together_with_the_curve():
    rng, places = np.random.default_rng(3), [np.array(each.joint_in_parent) for each in leg().bodies]
    places[2][:3, 3] *= 0.93
    bodies = [replace(each, joint_in_parent=place) for each, place in zip(leg().bodies, places)]
    start = with_joint(leg().altered(bodies=bodies), hinge(knee()))
    given = OFFSETS + 8e-3 * rng.normal(size=OFFSETS.shape)
    free = {"control_frames": None, "lengths": 0.1, "offsets": 8e-3}
    shown = markers(leg(), motion(), BODIES, OFFSETS, NOISE)
    fit = ph.fit_joint_to_motion(start, "tibia", shown, BODIES, given, free=free)
    task = problem(leg(), shown, free)
    limits = 4.0 * deviations(task, motion())  # of normal errors 6e-5 are beyond
    length = -fit.model.bodies[2].joint_in_parent[1, 3] / 0.43
    assert abs(length - 1.0) < limits[task.unknowns.parts[2]][0] < 0.07
    errors = (fit.offsets - OFFSETS).ravel()
    assert (np.abs(errors) < limits[task.unknowns.parts[3]]).all()
    assert np.sqrt(np.square(errors).mean()) < 0.6 * 8e-3


def test_an_angle_stays_the_coordinate_and_files_hold_the_joint(tmp_path):
    flexion = {"coordinate": "angle", "axis": (0.0, 0.0, 1.0)}
    start = with_joint(leg(), replace(hinge(knee()), **flexion))
    shown = markers(leg(), motion(), BODIES, OFFSETS, 1e-3)
    fit = ph.fit_joint_to_motion(start, "tibia", shown, BODIES, OFFSETS)
    assert fit.joint.coordinate == "angle" and (fit.model.bodies[1].limits == fit.joint.range).all()
    again = markers(fit.model, fit.q, BODIES, fit.offsets)
    assert np.linalg.norm(again - shown, axis=2) == pytest.approx(fit.residual, abs=1e-9)
    ph.save_model(fit.model, tmp_path / "leg.json")
    assert ph.load_model(tmp_path / "leg.json").model == fit.model
    ball = with_joint(fit.model, ph.joints.Spherical(), "femur")  # OpenSim has no cone of limits
    report = ph.write_opensim(ball, tmp_path / "leg.osim", tolerance=1e-5)
    read = ph.read_opensim(tmp_path / "leg.osim").build()
    look = np.linspace(*fit.joint.domain, 201)[:, None]
    written, ours = (
        each.joint_in_parent @ each.joint.transform(look) @ each.body_in_joint
        for each in (read.bodies[read.index("tibia")], fit.model.bodies[1])
    )
    apart = ph.lie.inverse(written) @ ours
    assert 0.0 < report.errors["tibia"] <= 1e-5
    assert np.linalg.norm(apart[:, :3, 3], axis=1).max() < 1e-5
    assert np.linalg.norm(ph.lie.so3_log(apart[:, :3, :3]), axis=1).max() < 1e-5


def test_progress_cancels_and_too_few_steps_are_named():
    shown = markers(leg(), motion(), BODIES, OFFSETS, NOISE)
    given = with_joint(leg(), hinge(knee())), "tibia", shown, BODIES, OFFSETS
    with pytest.raises(ph.CancelledError, match="after 2 steps") as caught:
        ph.fit_joint_to_motion(*given, progress=lambda steps, error: steps < 2)
    assert caught.value.result.steps == 2 and not caught.value.result.converged
    assert ph.fit_joint_to_motion(*given, most_steps=1).reason == "1 steps did not suffice"


SHOWN = np.zeros((8, 12, 3))
ON_A_LINE = np.array(OFFSETS)
ON_A_LINE[4:8] = np.outer(np.arange(4.0), (0.0, 0.1, 0.0))


def hidden(*index: Any) -> np.ndarray:
    places = SHOWN.copy()
    places[index] = np.nan
    return places


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"joint": "shin"}, "no body is named 'shin'"),
        ({"joint": "foot"}, "joint of body 'foot' must be a spline curve, got 'universal'"),
        ({"markers": np.zeros((8, 12))}, r"markers must have shape \(T, m, 3\), got \(8, 12\)"),
        ({"markers": hidden(3)}, "frame 3 has no marker: all are NaN"),
        ({"markers": hidden(slice(None), 5)}, "marker 5 is never seen: all are NaN"),
        (
            {"markers": hidden(2, 5, 1)},
            r"marker 5 in frame 2 must be finite or NaN throughout, got \[0.0, nan, 0.0\]",
        ),
        (
            {"markers": hidden(slice(5), slice(4, 6))},
            "3 frames show 3 markers of body 'tibia'.* order 5 needs 5",
        ),
        ({"attached": BODIES[1:]}, "attached must name the body of each of 12 markers, got 11"),
        ({"attached": [*BODIES[1:], "toe"]}, "no body is named 'toe'"),
        ({"attached": ["foot"] * 2 + BODIES[2:]}, "body 'femur' needs 3 markers or more, got 2"),
        ({"offsets": OFFSETS[1:]}, r"offsets must have shape \(12, 3\), got \(11, 3\)"),
        ({"offsets": ON_A_LINE}, "markers of body 'tibia' are on a line"),
        ({"weights": -np.ones(12)}, "weights must not be negative, got -1 at 0"),
        ({"free": ["control_frame"]}, "'control_frame' is not known; did you mean 'control_frames'"),
        ({"free": []}, "free must name what to find"),
        ({"free": {"offsets": -1.0}}, "spread of 'offsets' must be positive, got -1.0"),
        ({"free": {"joint_frames": 0.1}}, r"spread of 'joint_frames' must have shape \(2,\), got \(\)"),
        ({"lock": ["toe"]}, "lock must name bodies or numbers of markers, got 'toe'"),
        ({"smoothing": 1.0}, r"smoothing must lie in \[0, 1\), got 1"),
        ({"noise": 0.0}, "noise must be positive, got 0"),
        ({"progress": 1}, "progress must be a function, got 1"),
    ],
)
def test_bad_input_is_named_before_anything_is_computed(changed, message, monkeypatch):
    monkeypatch.setattr(sys.modules["physics.optimize.marker_fit"], "Unknowns", None)
    given = {
        "model": leg(),
        "joint": "tibia",
        "markers": SHOWN,
        "attached": BODIES,
        "offsets": OFFSETS,
    } | changed
    with pytest.raises(ph.FitError, match=message):
        ph.fit_joint_to_motion(**given)


def test_a_knee_alone_that_moves_to_the_ends_of_its_range():
    """A frame whose only coordinate is at an end, where its markers would take it farther, determines none."""
    builder = ph.ModelBuilder()
    builder.add_body("tibia", joint=knee(), mass=1.0, inertia=0.01 * np.eye(3))
    model, q = builder.build(), np.linspace(*knee().domain, 40)[:, None]
    shown = markers(model, q, BODIES[4:8], OFFSETS[4:8], NOISE)
    start = with_joint(model, hinge(knee()))
    fit = ph.fit_joint_to_motion(start, "tibia", shown, BODIES[4:8], OFFSETS[4:8])
    # 3 numbers of 5 mm a marker; 5 % as the standard deviation of that root of 480 is 3 %
    assert fit.converged and fit.rms == pytest.approx(np.sqrt(3.0) * NOISE, rel=0.05)


@pytest.mark.skipif(not MODELS.is_dir(), reason="the folder of models is not beside this checkout")
@pytest.mark.parametrize("gaps", [0.0, 0.2])
def test_a_knee_from_a_recorded_walk(gaps):
    """Eight walks of 151 frames with markers of 5 mm noise: within 1 mm and 1 degree over the range of the motion. The
    standard deviation by the Cramér-Rao bound is 1.3 mm at the range's end with one walk, 0.5 mm with eight.
    """
    read = ph.read_opensim(MODELS / "gait10dof18musc_subject01.osim")
    model = read.build()
    _, walk = ph.motion_samples(read, model, ph.read_storage(MODELS / "subject01_walk_IK.mot"))
    column, angles = model.coordinate_index("tibia_r.knee_angle_r"), np.linspace(-2.1, 0.2, 40)
    true = ph.fit_curve(model.bodies[2].joint.transform(angles[:, None]), angles, num_frames=8).joint
    model = with_joint(model.altered(muscles=()), true, "tibia_r")
    bodies = [f"{name}_{side}" for side in "rl" for name in ("femur", "tibia", "talus") for _ in range(4)]
    at_pelvis = np.array([(0.02, 0.03, 0.13), (0.02, 0.03, -0.13), (-0.15, 0.03, 0.05), (-0.15, 0.03, -0.05)])
    offsets = np.concatenate([OFFSETS, OFFSETS * (1, 1, -1), at_pelvis])
    bodies += ["pelvis"] * 4
    shown = markers(model, np.tile(walk, (8, 1)), bodies, offsets, NOISE, gaps)
    # a knee of another subject: smaller by 15 per cent, 15 mm and 5 degrees off
    frames = true.frames.copy()
    frames[:, :3, 3] *= 0.85
    off = ph.lie.exp([0, 0, 0, 0.01, -0.01, 0.008]) @ frames @ ph.lie.exp([0.06, -0.06, 0, 0, 0, 0])
    start = with_joint(model, replace(true, frames=off), "tibia_r")
    fit = ph.fit_joint_to_motion(start, "tibia_r", shown, bodies, offsets, smoothing=0.9)
    distance, angle = apart(fit, true, walk[:, column])
    assert distance < 1e-3 and angle < np.radians(1.0) and fit.converged


def test_the_example_of_the_page_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).resolve().parents[3] / "docs" / "rig-a-knee.md").read_text("utf-8")
    (code,) = re.findall(r"```python\n((?:(?!```).)*?fit_joint_to_motion.*?)```", page, re.DOTALL)
    exec(compile(code, "rig-a-knee.md", "exec"), {})
    assert re.match(r"0\.\d\d mm, no step lowers the cost", capsys.readouterr().out)
    assert ph.load_model("leg.json").model.body_names == ("thigh", "shin") and Path("leg.osim").exists()
