"""Wobbling masses (Ertl et al. 1993, eq. 16): rotations, momentum, energy."""

import numpy as np
import pytest

import physics as ph

NUMBERS = {
    "stiffness_along": 4e4,
    "stiffness_across": 1e4,
    "damping_along": 0.0,
    "damping_across": 0.0,
    "stiffness_rotation": 3.0,
    "damping_rotation": 0.0,
}


def segment(builder, joint=None):
    inertial = {"mass": 2.0, "com": (0.05, 0, 0.2), "inertia": np.diag([0.05, 0.05, 0.01])}
    builder.add_body("bone", joint=joint or ph.joints.Fixed(), **inertial)


def wobbling(gravity=(0, 0, 0), joint=None, normal=None, **changes):
    builder = ph.ModelBuilder(gravity=gravity)
    segment(builder, joint=joint)
    settings = {"mass": 3.0, "inertia": np.diag([0.06, 0.06, 0.02])}
    builder.add_wobbling_mass("flesh", "bone", axis=(0, 0, 1), normal=normal, **NUMBERS | changes, **settings)
    return builder.build()


@pytest.mark.parametrize("normal", [None, (0, 1, 0)])
def test_small_rotations_swing_and_decay_as_the_linear_formula_says(normal):
    inertia, stiffness, damping = 0.06, 3.0, 0.02
    model = wobbling(normal=normal, damping_rotation=damping)
    decay = damping / (2.0 * inertia)
    rate = np.sqrt(stiffness / inertia - decay**2)
    angle = 1e-4
    # about y: the rotation vector's axes are those of the joint, x along the segment
    axes = model.bodies[1].joint_in_parent[:3, :3]
    d = 2 if normal else 3 + int(np.argmax(np.abs(axes[1])))
    q = np.zeros(model.num_coordinates)
    q[d] = angle
    result = ph.simulate(model, model.state(q=q), 2.0, 1e-3, "rk4")
    t = result.t
    expected = angle * np.exp(-decay * t) * (np.cos(rate * t) + decay / rate * np.sin(rate * t))
    # the formula is exact for rotations about one axis; RK4 at 1 / 900 of the period
    assert np.abs(result.q[:, d] - expected).max() < 1e-8 * angle + 1e-12
    others = np.delete(result.q, d, axis=1)
    assert np.abs(others).max() < 1e-12


def test_action_is_reaction():
    """Free in space, bone and flesh keep momentum and angular momentum, whatever wobbles."""
    model = wobbling(joint=ph.joints.Free(), damping_along=20.0, damping_across=30.0, damping_rotation=0.05)
    rng = np.random.default_rng(0)
    state = model.state(q=0.02 * rng.normal(size=12), qd=rng.normal(size=12))
    result = ph.simulate(model, state, 0.5, 1e-3, "rk4", record_interval=0.5)
    totals = []
    for q, qd in zip(result.q, result.qd):
        at = model.state(q=q, qd=qd)
        poses, total = ph.body_poses(model, at), np.zeros(6)
        for i, body in enumerate(model.bodies):
            twist = ph.body_jacobian(model, at, body.name) @ qd
            h = body.mass * (twist[3:] + np.cross(twist[:3], body.com))
            angular = body.inertia @ twist[:3] + np.cross(body.com, h)
            rotation, place = poses[i][:3, :3], poses[i][:3, 3]
            total += [*(rotation @ angular + np.cross(place, rotation @ h)), *(rotation @ h)]
        totals.append(total)
    # to the integrator's error
    assert np.abs(totals[1] - totals[0]).max() < 1e-8 * np.abs(totals[0]).max()
    assert result.energy[-1, 2] < 0.99 * result.energy[0, 2]


@pytest.mark.parametrize("normal", [None, (0, 1, 0)])
def test_energy_never_grows(normal):
    """Dropped on the ground: strongly damped flesh on a bone; from step to step energy may grow by round-off alone."""
    model = wobbling(
        gravity=(0, 0, -9.81),
        joint=ph.joints.Translational(),
        normal=normal,
        damping_along=60.0,
        damping_across=40.0,
        damping_rotation=0.3,
    )
    builder = ph.ModelBuilder.from_dict(model.to_dict())
    builder.add_ground(
        "floor", "bone", [(0, 0, 0), (0.1, 0, 0)], stiffness=2e5, exponent=1.5, damping=200.0, friction=0.4
    )
    model = builder.build()
    q = np.zeros(model.num_coordinates)
    q[2] = 0.05
    q[-1] = 0.1
    result = ph.simulate(model, model.state(q=q, qd=0.1 * np.ones(len(q))), 0.4, 1e-4, "rk4")
    energy = result.energy[:, 2]
    # where the point touches or leaves, the force has a kink and RK4 errs most
    assert np.diff(energy).max() < 1e-6 * energy[0]
    assert energy[-1] < energy.max()


def test_undamped_energy_stays():
    model = wobbling(joint=ph.joints.Free())
    rng = np.random.default_rng(1)
    state = model.state(q=0.02 * rng.normal(size=12), qd=rng.normal(size=12))
    result = ph.simulate(model, state, 1.0, 1e-3, "rk4")
    assert np.abs(result.energy[:, 2] / result.energy[0, 2] - 1.0).max() < 1e-8


def test_wobbling_masses_come_back_from_a_file(tmp_path):
    model = wobbling(normal=(1, 0, 0))
    ph.save_model(model, tmp_path / "model.json")
    assert ph.load_model(tmp_path / "model.json").model == model


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"segment": "rib"}, "segment of wobbling mass 'flesh' is missing: 'rib'"),
        ({"axis": (0, 0, 0)}, "axis of wobbling mass 'flesh' must not be the zero vector"),
        ({"normal": (0, 0, 1)}, "normal of wobbling mass 'flesh' must be across its axis"),
        ({"mass": 0.0}, "mass of body 'flesh' must be positive, got 0"),
        (
            {"stiffness_rotation": -1.0},
            "stiffness_rotation of wobbling mass 'flesh' must not be negative, got -1",
        ),
        ({"damping_across": -1.0}, "damping_across of force 'flesh' must not be negative, got -1"),
        ({"com": (0, 0, np.nan)}, "com of wobbling mass 'flesh' must be finite"),
    ],
)
def test_bad_wobbling_masses_are_named_and_not_added(changes, words):
    builder = ph.ModelBuilder()
    segment(builder)
    values = {"segment": "bone", "mass": 1.0, "inertia": np.eye(3), "axis": (0, 0, 1)} | NUMBERS | changes
    with pytest.raises(ph.ModelError, match=words):
        builder.add_wobbling_mass("flesh", **values)
    assert len(builder.bodies) == 1 and not builder.forces
