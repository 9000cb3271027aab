"""Torques of ball and free joints: about the axes of the joint's frame through any number of turns; in files of earlier
versions on the rotation vector.
"""

import bpy
import numpy as np
import pytest

from tests.addon.live.test_run import Hand

from ..keying import make_keys

SPIN = (0.4, -0.3, 0.8)  # N m


@pytest.fixture
def whirl(part, scene, make, body, authoring):
    """Makes a box that a ball or free joint connects to an arm that turns, or to the world; its axes are oblique."""

    def made(kind="spherical", flipped=False, to_world=False):
        arm, rod = make.box("Arm", (0.3, 0.0, 0.0), (0.6, 0.1, 0.1)), make.box("Rod", (0.6, 0, 0.2))
        place = np.eye(4)
        hinge = authoring.add_joint(scene, None, body(arm), "hinge", place.copy(), name="Hinge")
        hinge.condyle.joint.coordinates[0].start_speed = 0.7
        turn = part("blender.physics_access").part("geometry.lie").so3_exp(np.array((0.3, 0.5, -0.2)))
        place[:3, :3], place[:3, 3] = turn, (0.6, 0.0, 0.2)  # the mass centre of the rod
        on = None if to_world else body(arm)
        joint = authoring.add_joint(scene, on, body(rod), kind, place, name="Ball")
        joint.condyle.joint.inverted = flipped
        for row, torque in zip(turning(joint), SPIN):
            row.torque = torque
        scene.condyle.simulation.gravity = (0, 0, 0)
        scene.frame_start, scene.frame_end = 1, 40
        make.update()
        return joint

    return made


def turning(joint):
    return [row for row in joint.condyle.joint.coordinates if row.label.startswith("r_")]


def pushed(part, scene):
    """Forces and inputs (nv + inputs,) at the first frame, of the model that is read."""
    read = part("reading.scene").read(scene)
    return read.model, part("reading.input_values").torques(scene, read, np.arange(1.0, 3.0))[0]


def test_ten_turns_without_a_jump(part, scene, make, whirl, ph):
    """Where the rotation vector changes its chart, the acceleration of the body does not notice it."""
    joint = whirl()
    for number in range(3):
        for frame in (1, 40):
            joint.keyframe_insert(f"condyle.joint.coordinates[{number}].torque", frame=frame)
    make_keys(joint, "CONSTANT")
    run = part("jobs.bake").bake_now(scene).result
    model, tau = pushed(part, scene)
    assert run.info["chart_changes"] >= 10
    own = model.coordinate_slice("Rod")
    beyond = np.flatnonzero(np.linalg.norm(run.q[:, own], axis=1) > np.pi)
    assert len(beyond) > 1
    for row in beyond:
        r, rate, *_ = ph.exponential_coordinates.reparametrize(run.q[row, own], run.qd[row, own])
        other = np.array(run.q[row]), np.array(run.qd[row])
        other[0][own], other[1][own] = r, rate
        here, there = (spun_up(ph, model, *each, tau) for each in ((run.q[row], run.qd[row]), other))
        assert np.abs(here - there).max() < 1e-9 * np.abs(here).max()
        was, jumped = (
            spun_up(ph, model, *each, np.append([0.0, *SPIN], np.zeros(3)))
            for each in ((run.q[row], run.qd[row]), other)
        )
        assert np.abs(was - jumped).max() > 1e-3 * np.abs(was).max()  # as in files of earlier versions


def spun_up(ph, model, q, qd, tau):
    """Angular acceleration of the rod in its axes (3,)."""
    state = model.state(q=q, qd=qd)
    qdd = ph.forward_dynamics(model, state, tau)
    return (ph.body_jacobian(model, state, "Rod") @ qdd + ph.body_bias(model, state, "Rod"))[:3]


def test_a_live_run_and_a_bake_agree(part, scene, make, whirl):
    whirl()
    report = Hand(part, scene, record=True, duration=0.5).walk()
    live, count = report.baked.result, len(report.frames)
    part("jobs.bake").free_bake(scene)
    whole = part("jobs.bake").bake_now(scene).result
    rows = min(count, len(whole.t))
    assert live.q[:rows].tobytes() == whole.q[:rows].tobytes() and np.abs(whole.q[-1]).max() > 1.0


@pytest.mark.parametrize("to_world", [False, True])
@pytest.mark.parametrize("flipped", [False, True])
@pytest.mark.parametrize("kind", ["spherical", "free"])
def test_they_push_sliders_as_the_figures_say(part, scene, make, whirl, ph, kind, flipped, to_world):
    """From rest as on the sliders; the generalized forces that figures show do what the motors do."""
    whirl(kind, flipped, to_world)
    model, tau = pushed(part, scene)
    nv, rng = model.num_coordinates, np.random.default_rng(3)
    names = [f"torque of Rod.r_{axis}" for axis in "xyz"]
    assert [name for name in model.input_names if name in names] == names
    for q in (np.zeros(nv), rng.normal(size=nv)):
        on = part("reading.joint_motors").on_coordinates(model, q[None], tau[None])[0]
        state = model.state(q=q, qd=rng.normal(size=nv))
        alike = ph.forward_dynamics(model, state, on) - ph.forward_dynamics(model, state, tau)
        assert np.abs(alike).max() < 1e-9 * np.abs(ph.forward_dynamics(model, state, tau)).max()
        if not q.any():
            columns = [model.coordinate_index(f"Rod.r_{axis}") for axis in "xyz"]
            np.testing.assert_allclose(on[columns], SPIN, rtol=1e-6)  # single precision


def test_files_of_earlier_versions_keep_torques_on_the_rotation_vector(part, scene, make, whirl, ph):
    """They have not stored how torques act; to the bit."""
    joint = whirl()
    assert joint.condyle.joint.torque_keeps_axes
    joint.condyle.joint.property_unset("torque_keeps_axes")
    scene.frame_set(1)
    model, tau = pushed(part, scene)
    assert model.num_inputs == 0 and not model.forces
    np.testing.assert_allclose(tau, (0.0, *SPIN), rtol=1e-6)
    run = part("jobs.bake").bake_now(scene).result
    assert run.model.to_dict() == model.to_dict() and run.info["chart_changes"] > 0
    bpy.data.objects["Ball"].condyle.joint.torque_keeps_axes = True
    part("jobs.bake").free_bake(scene)
    assert np.abs(part("jobs.bake").bake_now(scene).result.q - run.q).max() > 0.1
