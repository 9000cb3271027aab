"""Limits of rotations, Euler angles and coordinates, giving way as springs or stopping the motion by impulses."""

import numpy as np
import pytest

import physics as ph
from physics.kernels import layout
from physics.kernels.forces import limits
from tests.physics.generators import random_inertia


def derivative(function, r, step=1e-5):
    """Fourth-order central differences of a function of r (3,)."""
    slopes = []
    for e in step * np.eye(3):
        slopes.append(
            (8.0 * (function(r + e) - function(r - e)) - function(r + 2.0 * e) + function(r - 2.0 * e))
            / (12.0 * step)
        )
    return np.array(slopes)


def row_of(kind, parameters):
    """Data with one limit on the coordinates from 0 on, as the kernels read it."""
    row = np.zeros(layout.LIMIT_WIDTH)
    row[layout.LIMIT_KIND] = kind
    row[layout.LIMIT_PARAMETERS : layout.LIMIT_PARAMETERS + len(parameters)] = parameters
    return row


def test_gradients_of_rotation_limits_are_derivatives():
    rng = np.random.default_rng(0)
    checked = 0
    for _ in range(300):
        r, axis, most = rng.normal(size=3), rng.normal(size=3), rng.uniform(0.5, 3.0, 3)
        r *= rng.uniform(0.3, 3.4) / np.linalg.norm(r)
        rows = [
            row_of(layout.LIMIT_CONE, [*axis / np.linalg.norm(axis), 1.0]),
            row_of(layout.LIMIT_ROTATION, most),
        ]
        for axes in ((2, 1, 0), (0, 1, 0), (1, 2, 0)):
            rows += [row_of(layout.LIMIT_ANGLE, [*axes, k, rng.choice([-1, 1]), 0.1]) for k in range(3)]
        for given in rows:
            gradient = np.array(limits.limit_value(given, 0, r)[1])
            if np.abs(gradient).max() > 5.0 or abs(np.linalg.norm(r) - np.pi) < 0.01:
                continue  # near gimbal lock or the kink of the total rotation differences are no measure
            expected = derivative(lambda x, given=given: limits.limit_value(given, 0, x)[0], r)
            assert np.abs(gradient - expected).max() < 1e-7
            checked += 1
    assert checked > 2000


def test_cone_agrees_with_the_paper():
    """The kernel works with the angle, Kim, Lee & Park 2014 with its cosine: g and its gradient, eqs. 52 and 60."""
    rng = np.random.default_rng(1)
    for _ in range(50):
        r, axis = rng.normal(size=3), rng.normal(size=3)
        cone = ph.joints.ReachCone(axis, 0.8)
        left, gradient, _ = limits.limit_value(row_of(layout.LIMIT_CONE, [*cone.axis, 0.8]), 0, r)
        tilt = 0.8 - left
        assert np.isclose(np.cos(tilt) - np.cos(0.8), cone.value(r), atol=1e-14)
        assert np.abs(np.sin(tilt) * np.array(gradient) - cone.gradient(r)).max() < 1e-13


def top(joint, **options):
    """A heavy body on a ball joint at the origin, hanging on its side of z."""
    builder = ph.ModelBuilder(gravity=(0, 0, -9.81))
    inertia = np.diag([0.02, 0.02, 0.01])
    builder.add_body("top", joint=joint, mass=1.0, com=(0, 0, 0.3), inertia=inertia, **options)
    return builder.build()


def tilt(result):
    return np.arccos(np.clip(result.poses[:, 0, 2, 2], -1.0, 1.0))


@pytest.mark.parametrize("restitution", [None, 0.0, 0.5])
def test_socket_holds_a_falling_top(restitution):
    joint = ph.joints.Spherical(limit=ph.joints.ReachCone((0, 0, 1), 0.6))
    model = top(joint, limit_restitution=restitution)
    state = model.state(q=[0.1, 0.05, 0.0], qd=[0.0, 0.0, 3.0])
    result = ph.simulate(model, state, 3.0, 1e-3)
    assert tilt(result).max() > 0.59
    # compliant: the stop gives way by a few degrees; hard: at second order where it slides along the curved limit
    assert tilt(result).max() < (0.75 if restitution is None else 0.6001)
    if restitution is not None:
        # the energy falls at impacts and wavers by the order of the method between them
        assert np.diff(result.energy[:, 2]).max() < 1e-3 * np.ptp(result.energy[:, 1])


def test_total_rotation_is_bounded_direction_by_direction():
    most = np.array([0.4, 0.8, 0.6])
    model = top(ph.joints.Spherical(limit=ph.joints.RotationLimit(most)), limit_restitution=0.0)
    result = ph.simulate(model, model.state(q=[0.1, 0.05, 0.1], qd=[0.5, -0.3, 2.0]), 2.0, 1e-3)
    angle = np.linalg.norm(result.q, axis=1)
    reach = np.linalg.norm(most * result.q / angle[:, None], axis=1)
    # left at second order of the step where it slides along the curved limit, and come back to
    assert -1e-4 < (angle - reach).max() < 5e-4


def test_angles_of_a_gimbal_have_limits():
    joint = ph.joints.Euler("zyx")
    bounds = [(-0.5, 0.5), (-0.3, 0.4), (None, None)]
    for restitution, beyond in ((None, 0.15), (0.2, 1e-4)):
        model = top(joint, limits=bounds, limit_restitution=restitution)
        result = ph.simulate(model, model.state(q=[0.1, 0.2, 0.0], qd=[0.0, 1.0, 2.0]), 2.0, 1e-3)
        angles = model.readings(result.q)
        assert np.abs(angles[:, 0]).max() > 0.45
        assert np.abs(angles[:, 0]).max() < 0.5 + beyond
        assert angles[:, 1].max() < 0.4 + beyond and angles[:, 1].min() > -0.3 - beyond


def test_elastic_stop_keeps_the_energy():
    builder = ph.ModelBuilder(gravity=(0, 0, 0))
    inertia = random_inertia(np.random.default_rng(3), 1.0)
    builder.add_body(
        "bar", joint=ph.joints.Hinge(), mass=1.0, inertia=inertia, limits=(-0.5, 0.5), limit_restitution=1.0
    )
    model = builder.build()
    for integrator in ("symplectic_euler", "forward_euler", "rk4"):
        result = ph.simulate(model, model.state(qd=[2.0]), 5.0, 1e-3, integrator)
        assert np.sum(np.diff(np.sign(result.qd[:, 0])) != 0) == 10
        assert np.ptp(result.energy[:, 0]) < 1e-12
        assert np.abs(result.q).max() < 0.5 + 1e-3 * 2.0  # forward Euler sees the limit a step late
    with pytest.raises(ph.ModelError, match="hard limits"):
        ph.simulate(model, model.state(qd=[2.0]), 1.0, integrator="DOP853")


def test_compliant_rotation_limit_stores_its_energy():
    """Without damping the stop gives back what it took: energy is kept at the order of RK4."""
    joint = ph.joints.Spherical(limit=ph.joints.ReachCone((0, 0, 1), 0.5))
    model = top(joint, limit_stiffness=200.0, limit_damping=0.0)
    state = model.state(q=[0.2, 0.1, 0.0], qd=[0.5, 0.0, 2.0])
    drift = [np.ptp(ph.simulate(model, state, 1.0, dt, "rk4").energy[:, 2]) for dt in (2e-3, 2e-4)]
    # the force has a corner where the stop begins: second order of the step there
    assert drift[0] < 1e-3 and drift[1] < 0.1 * drift[0]


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: top(ph.joints.Hinge(), limits=(0, 1), limit_restitution=1.5), "got 1.5"),
        (lambda: top(ph.joints.Hinge(), limits=(0, 1), limit_restitution=-0.1), "must not be negative"),
        (lambda: ph.joints.RotationLimit((1.0, 0.0, 1.0)), r"must lie in \(0, pi\]"),
        (lambda: ph.joints.ReachCone((0, 0, 1), 4.0), "at most pi"),
        (lambda: ph.joints.Spherical(limit="cone"), "got 'cone'"),
        (lambda: ph.joints.from_dict({"type": "spherical", "limit": {"type": "cone"}}), "unknown limit type"),
    ],
)
def test_bad_limits_are_named(make, words):
    with pytest.raises((ph.ModelError, ph.FormatError), match=words):
        make()


def test_limits_are_written_and_read():
    cone = ph.joints.Spherical(limit=ph.joints.ReachCone((0, 1, 1), 0.6))
    model = top(cone, limit_restitution=0.3)
    again = ph.ModelBuilder.from_dict(model.to_dict()).build()
    assert again == model and again.joints[0] == cone
