"""Every joint: S and dS are the derivatives of G, and what files say of a joint makes the same joint."""

import json
import pickle

import numpy as np
import pytest

import physics as ph
from tests.physics.generators import JOINT_KINDS, loop_frames, random_coordinates, random_joint, smooth_frames

# Sixth-order central differences: the error is about h^6 of the seventh derivative plus 1e-16 / h; h = 1e-2 balances
# them for curves whose spans are as long as a radian.
STENCIL = ((1, 0.75), (2, -0.15), (3, 1.0 / 60.0))


def derivative(function, q, i, h=2e-3):
    total = 0.0
    for step, weight in STENCIL:
        ahead, behind = q.copy(), q.copy()
        ahead[i] += step * h
        behind[i] -= step * h
        total = total + weight * (function(ahead) - function(behind))
    return total / h


def inside(joint, q, margin=0.02):
    """Keep the stencil between two knots, where a spline is a polynomial."""
    q = q.copy()
    parts = joint.joints if isinstance(joint, ph.joints.Composite) else (joint,)
    d = 0
    for part in parts:
        bare = part.joint if isinstance(part, ph.joints.Inverted) else part
        if isinstance(bare, ph.joints.SplineSurface):
            for i, (knots, period) in enumerate(zip(bare.unrolled_knots, bare.periods)):
                lower, upper = bare.domain[i]
                breaks = np.unique(np.clip(knots, lower, upper))
                if period:
                    breaks = breaks + np.floor((q[d + i] - lower) / period) * period
                span = np.clip(np.searchsorted(breaks, q[d + i]) - 1, 0, len(breaks) - 2)
                q[d + i] = np.clip(q[d + i], breaks[span] + margin, breaks[span + 1] - margin)
        if isinstance(part, ph.joints.SplineCurve):
            knots = np.unique(part.knots)
            if part.periodic:
                turn = np.floor((q[d] - knots[0]) / part.period) * part.period
                knots = knots + turn
            span = np.clip(np.searchsorted(knots, q[d]) - 1, 0, len(knots) - 2)
            q[d] = np.clip(q[d], knots[span] + margin, knots[span + 1] - margin)
        if isinstance(part, ph.joints.Custom):
            for _, function, name in part.translations:
                if isinstance(function, ph.joints.CubicSpline):
                    k = d + part.coordinates.index(name)
                    near = min(function.x, key=lambda x, k=k: abs(x - q[k]))
                    if abs(near - q[k]) < margin:
                        q[k] = near + margin
        d += part.num_coordinates
    return q


@pytest.mark.parametrize("kind", JOINT_KINDS)
def test_jacobian_and_hessian_are_derivatives(kind):
    rng = np.random.default_rng(sum(map(ord, kind)))
    for _ in range(10):
        joint = random_joint(rng, kind)
        q = inside(joint, random_coordinates(rng, joint))
        pose, jacobian, hessian = joint.evaluate(q)
        assert np.allclose(pose, joint.transform(q), atol=1e-14)
        for i in range(joint.num_coordinates):
            rate = derivative(joint.transform, q, i)
            twist = ph.lie.inverse(pose) @ rate
            column = [twist[2, 1], twist[0, 2], twist[1, 0], *twist[:3, 3]]
            assert np.allclose(jacobian[:, i], column, atol=1e-10)
            assert np.allclose(
                hessian[:, :, i], derivative(lambda x, joint=joint: joint.evaluate(x)[1], q, i), atol=1e-9
            )


@pytest.mark.parametrize("kind", JOINT_KINDS)
def test_description_makes_the_same_joint(kind):
    joint = random_joint(np.random.default_rng(5), kind)
    again = ph.joints.from_dict(json.loads(json.dumps(joint.to_dict())))
    assert again == joint and hash(again) == hash(joint)
    assert pickle.loads(pickle.dumps(joint)) == joint


@pytest.mark.parametrize("order", [7, 12, 20])
@pytest.mark.parametrize("periodic", [False, True])
def test_curves_of_high_order(order, periodic):
    rng = np.random.default_rng(order)
    frames = loop_frames(rng, 24) if periodic else smooth_frames(rng, 24)
    joint = ph.joints.SplineCurve(frames, order=order, periodic=periodic)
    assert ph.joints.from_dict(json.loads(json.dumps(joint.to_dict()))) == joint
    lower, upper = (0.0, joint.period) if periodic else joint.range[0]
    for q in rng.uniform(lower + 0.1, upper - 0.1, (5, 1)):
        transform, subspace, hessian = joint.evaluate(q)
        rate = ph.lie.inverse(transform) @ derivative(joint.transform, q, 0)
        # as smooth as this the stencil errs by some 1e-11 over knots, too
        assert np.allclose(rate[:3, 3], subspace[3:, 0], atol=1e-8)
        assert np.allclose(ph.lie.vee(rate[:3, :3]), subspace[:3, 0], atol=1e-8)
        assert np.allclose(
            derivative(lambda x: joint.evaluate(x)[1], q, 0)[:, 0], hessian[:, 0, 0], atol=1e-7
        )


def test_spline_meets_its_end_frames():
    frames = smooth_frames(np.random.default_rng(0), 8)
    for order in (4, 5, 6, 8):
        joint = ph.joints.SplineCurve(frames, order=order)
        lower, upper = joint.range[0]
        assert np.allclose(joint.transform([lower]), frames[0], atol=1e-14)
        assert np.allclose(joint.transform([upper]), frames[-1], atol=1e-13)


def test_natural_parameterization_gives_unit_speed_on_even_motion():
    """Frames at equal steps of one screw: the speed |s| is 1 everywhere but near the clamped ends (three spans)."""
    twist = np.array([0.0, 0.0, 1.0, 0.3, 0.0, 0.1])
    frames = ph.lie.exp(np.linspace(0.0, 3.0, 12)[:, None] * twist)
    joint = ph.joints.SplineCurve(frames)
    lower, upper = joint.range[0]
    speeds = [np.linalg.norm(joint.evaluate(q)[1]) for q in np.linspace(lower + 1.6, upper - 1.6, 20)]
    assert np.allclose(speeds, 1.0, atol=1e-12)


@pytest.mark.parametrize("order, least", [(4, 0.6), (5, 0.55), (6, 0.5)])
def test_natural_knots_of_a_closed_curve_follow_uneven_frames(order, least):
    """Frames crowded on one side of a circle, angular speed 0.707 where |s| is 1; a frame off it is 0.51 to 0.89."""
    angles = 2.0 * np.pi * np.arange(16) / 16
    angles = angles + 0.6 * np.sin(angles)
    frames = ph.lie.exp(angles[:, None] * np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0]))
    frames[:, :3, 3] = np.stack([np.cos(angles), np.sin(angles), 0.0 * angles], axis=1)
    joint = ph.joints.SplineCurve(frames, order=order, periodic=True)
    speeds = [np.linalg.norm(joint.evaluate(q)[1][:3]) for q in np.linspace(0.0, joint.period, 200)]
    assert min(speeds) > least and max(speeds) < 1.0 / (2.0 * least)


def test_periodic_curve_repeats_and_is_smooth_across_the_seam():
    joint = ph.joints.SplineCurve(loop_frames(np.random.default_rng(1), 10), periodic=True)
    for q in (-0.7, 0.0, 1.3):
        here, around = joint.evaluate(q), joint.evaluate(q + 3.0 * joint.period)
        for a, b in zip(here, around):
            assert np.allclose(a, b, atol=1e-11)
    before, after = joint.evaluate(-1e-9), joint.evaluate(1e-9)
    for a, b in zip(before, after):
        assert np.allclose(a, b, atol=1e-6)


def test_outside_the_range():
    frames = smooth_frames(np.random.default_rng(2), 7)
    extended = ph.joints.SplineCurve(frames)
    lower, upper = extended.range[0]
    pose, jacobian, hessian = extended.evaluate(upper + 0.5)
    edge = extended.evaluate(upper)
    assert np.allclose(pose, edge[0] @ ph.lie.exp(0.5 * edge[1][:, 0]), atol=1e-13)
    assert np.allclose(jacobian, edge[1], atol=1e-13) and np.allclose(hessian, 0.0)
    clamped = ph.joints.SplineCurve(frames, outside="clamp")
    pose, jacobian, _ = clamped.evaluate(lower - 1.0)
    assert np.allclose(pose, frames[0], atol=1e-14) and not jacobian.any()
    with pytest.raises(ph.JointRangeError, match="range"):
        ph.joints.SplineCurve(frames, outside="error").evaluate(upper + 1e-3)


def test_bad_input_is_named():
    frames = smooth_frames(np.random.default_rng(3), 6)
    twice = frames.copy()
    twice[3] = twice[2]
    broken = frames.copy()
    broken[4, 0, 0] = np.nan
    cases = [
        (lambda: ph.joints.SplineCurve(twice), "frames 2 and 3 coincide"),
        (lambda: ph.joints.SplineCurve(broken), "4"),
        (lambda: ph.joints.SplineCurve(frames[:3]), "at least 4"),
        (lambda: ph.joints.SplineCurve(frames, order=7), "7"),
        (lambda: ph.joints.SplineCurve(frames, knots=np.arange(10.0)[::-1]), "decrease"),
        (lambda: ph.joints.SplineCurve(frames, knots=np.zeros(10)), "empty"),
        (lambda: ph.joints.SplineCurve(frames, knots=ph.splines.clamped_knots(6, 4), periodic=True), "twice"),
        (lambda: ph.joints.SplineCurve(frames, outside="bounce"), "bounce"),
        (lambda: ph.joints.Hinge((0, 0, 0)), "zero"),
        (lambda: ph.joints.Universal((1, 0, 0), (2, 0, 0)), "differ"),
        (lambda: ph.joints.Composite(()), "no parts"),
        (lambda: ph.joints.Euler("zzx"), "zzx"),
        (lambda: ph.joints.Elliptic(1.0, 0.0), "b must be positive, got 0"),
        (lambda: ph.joints.Inverted("hinge"), "inverted joint .*, got 'hinge'"),
        (lambda: ph.joints.SkewedUniversal(np.pi / 2), "axes must differ"),
        (lambda: ph.joints.CubicSpline([0, 1, 1], [0, 1, 2]), "must increase, got 1 before 1"),
        (lambda: ph.joints.Custom((), (), ()), "different names"),
        (lambda: ph.joints.Hinge().evaluate(np.nan), "finite"),
        (lambda: ph.joints.from_dict({"type": "hinge", "axle": [1, 0, 0]}), "axle"),
        (lambda: ph.joints.from_dict({"type": "hook"}), "hook"),
    ]
    for make, words in cases:
        with pytest.raises((ph.ModelError, ph.FormatError), match=words):
            make()


def test_order_three_is_for_kinematics():
    with pytest.warns(UserWarning, match="C1"):
        joint = ph.joints.SplineCurve(smooth_frames(np.random.default_rng(4), 6), order=3)
    builder = ph.ModelBuilder()
    builder.add_body("bone", joint=joint, mass=1.0, inertia=np.eye(3))
    model = builder.build()
    with pytest.raises(ph.ModelError, match="kinematics only"):
        ph.simulate(model, model.state(), 0.1)


def test_functions_against_differences_and_their_ends():
    joints = ph.joints
    x = np.array([0.0, 0.5, 1.1, 1.4, 2.0, 2.2])
    y = np.sin(3.0 * x)
    functions = [
        joints.Linear(2.0, -1.0),
        joints.Wave(0.3, -0.7, 0.1),
        joints.Polynomial((1.0, -2.0, 0.5, 0.3)),
        joints.TangentAngle(2.0, 0.7),
        joints.CubicSpline(x, y),
        joints.CubicSpline(x, y, "natural"),
    ]
    for function in functions:
        for q in (-0.8, 0.2, 0.9, 1.7, 3.1, 7.0):
            value, slope, curve = function.derivatives(q)
            assert value == function(q)
            h = 1e-5
            assert np.isclose(slope, (function(q + h) - function(q - h)) / (2 * h), atol=1e-8)
            rise = function.derivatives(q + h)[1] - function.derivatives(q - h)[1]
            assert np.isclose(curve, rise / (2 * h), atol=1e-7)
        assert joints.function_from_dict(json.loads(json.dumps(function.to_dict()))) == function
    for spline in functions[4:]:
        assert np.allclose(spline(x), y, atol=1e-14)
        end = spline.derivatives(x[-1] + 1.0)
        assert end[2] == 0.0 and np.isclose(end[0], y[-1] + end[1], atol=1e-13)
    assert abs(functions[5].derivatives(x[0] + 1e-9)[2]) < 1e-6


def test_tangent_angle_goes_on_over_whole_turns():
    ellipse = ph.joints.TangentAngle(3.0, 0.5)
    turns = ellipse(np.linspace(0.0, 4.0 * np.pi, 400))
    assert np.all(np.diff(turns) > 0.0) and np.isclose(turns[-1], 4.0 * np.pi, atol=1e-12)


def test_elliptic_joint_is_the_papers():
    """Eqs. 17-20 as printed."""
    a, b = 1.3, 0.6
    joint = ph.joints.Elliptic(a, b)
    for q in (-2.0, 0.0, 0.7, 2.9):
        pose, s, ds = joint.evaluate(q)
        phi = np.arctan2(b * np.sin(q), a * np.cos(q))
        assert np.allclose(pose[:3, 3], [a * np.sin(q), -b * np.cos(q), 0.0], atol=1e-15)
        turn = ph.lie.so3_exp(np.array([0.0, 0.0, phi]))
        assert np.allclose(pose[:3, :3], turn, atol=1e-15)
        rate = a * b / (a**2 * np.cos(q) ** 2 + b**2 * np.sin(q) ** 2)
        assert np.allclose(s[:, 0], [0, 0, rate, *(turn.T @ [a * np.cos(q), b * np.sin(q), 0])], atol=1e-14)
        bend = [(b * rate - a) * np.sin(q), (b - a * rate) * np.cos(q), 0.0]
        assert np.allclose(ds[3:, 0, 0], turn.T @ bend, atol=1e-14)


def test_ellipsoid_is_the_guides():
    """Position of sec. 3.4.11; surface frame Rx Ry (eq. 3.29), its z axis as the guide has it."""
    a, b, c = 0.9, 0.5, 0.7
    joint = ph.joints.Ellipsoid(a, b, c)
    for psi, gamma in ((0.0, 0.0), (0.4, -0.8), (-1.1, 0.5)):
        pose = joint.transform([psi, gamma, 0.0, 0.0])
        expected = [a * np.sin(gamma), -b * np.sin(psi) * np.cos(gamma), c * np.cos(psi) * np.cos(gamma)]
        assert np.allclose(pose[:3, 3], expected, atol=1e-15)
        assert np.allclose(pose[:3, 2], np.array(expected) / [a, b, c], atol=1e-15)
    turned = joint.transform([0.0, 0.0, 0.3, 0.2])[:3, :3]
    about_z, about_x = (ph.lie.so3_exp(np.array(r)) for r in ([0, 0, 0.3], [0.2, 0, 0]))
    assert np.allclose(turned, about_z @ about_x, atol=1e-15)


def test_skewed_universal_is_the_guides_matrix():
    skew, theta, phi = 0.5, 0.7, -0.4
    ca, sa, ct, st, cp, sp = (f(x) for x in (skew, theta, phi) for f in (np.cos, np.sin))
    vp, beta = 1.0 - cp, ca**2 + sa**2 * cp
    expected = [
        [ct * cp - st * sa * sp, -st * beta - sa * ct * sp, ca * (ct * sp - sa * st * vp)],
        [st * cp + ct * sa * sp, ct * beta - sa * st * sp, ca * (st * sp + sa * ct * vp)],
        [-ca * sp, ca * sa * vp, sa**2 + ca**2 * cp],
    ]
    pose = ph.joints.SkewedUniversal(skew).transform([theta, phi])
    assert np.allclose(pose[:3, :3], expected, atol=1e-15)


@pytest.mark.parametrize("kind", ["hinge", "spline_curve", "periodic_curve", "composite", "ellipsoid"])
def test_inverted_joint_is_the_inverse(kind):
    rng = np.random.default_rng(11)
    joint = random_joint(rng, kind)
    inverted = ph.joints.Inverted(joint)
    for _ in range(5):
        q = random_coordinates(rng, joint)
        assert np.allclose(inverted.transform(q) @ joint.transform(q), np.eye(4), atol=1e-13)
        beyond = q + 10.0  # splines go on along the twist of their end
        assert np.allclose(inverted.transform(beyond) @ joint.transform(beyond), np.eye(4), atol=1e-11)
    again = ph.joints.Inverted(inverted)
    assert np.allclose(again.evaluate(q)[2], joint.evaluate(q)[2], atol=1e-12)
