"""Force elements against differences: forces against energy and power, tangents against the wrenches themselves."""

import numpy as np
import pytest

import physics as ph
from physics.kernels import layout
from physics.kernels.forces.elements import element_forces, element_tangent
from physics.kernels.joints.kinematics import outward
from tests.physics.dynamics.test_derivatives import difference
from tests.physics.generators import random_pose, random_rotation, random_state, random_tree

GROUNDS, MOUNTS = ("ground", "ground on a body"), ("mount", "mount in the world")
BUSHINGS = ("bushing", "bushing in the world", "bushing measured in its body")
SPHERES = ("sphere", "smooth sphere", "smooth sphere on a body")
WRENCHES = ("wrench", "turning wrench", "turning wrench on two", "wrench that turns with the other")
KINDS = ("spring", *WRENCHES, "body damping", *GROUNDS, *MOUNTS, *BUSHINGS, *SPHERES)
#: effect, shape and falloff
FIELDS = (
    "field wind plane cone",
    "field force point sphere",
    "field force line tube",
    "field vortex point tube",
    "field vortex plane sphere",
    "field drag line cone",
)


def add(builder, rng, kind, **changes):
    """One element of a kind between bodies of different trees, where it has two."""
    numbers = {"stiffness": rng.uniform(50.0, 200.0), "damping": rng.uniform(1.0, 3.0)} | changes
    if kind == "spring":
        builder.add_spring(kind, "body_3", rng.normal(size=3), "body_6", rng.normal(size=3), **numbers)
    elif "mount" in kind:
        names = ("stiffness_along", "stiffness_across", "damping_along", "damping_across")
        damp = 0.0 if changes.get("damping") == 0.0 else 1.0
        values = dict(zip(names, rng.uniform(1.0, 3.0, 4) * [20.0, 10.0, damp, damp]))
        other = None if "world" in kind else "body_6"
        builder.add_mount(
            kind, "body_3", rng.normal(size=3), other, rng.normal(size=3), axis=rng.normal(size=3), **values
        )
    elif "bushing" in kind:
        damp = 0.0 if changes.get("damping") == 0.0 else 1.0
        elastic = [ph.joints.Polynomial(rng.normal(size=4) * 20.0) for _ in range(6)]
        frames = [random_pose(rng, 0.5), random_pose(rng, 0.5)]
        options = {
            "measured_in": "body" if "measured" in kind else "other",
            "damping": damp * rng.uniform(size=6),
        }
        other = None if "world" in kind else "body_6"
        builder.add_bushing(
            kind, "body_3", other, elastic=elastic, frame=frames[0], other_frame=frames[1], **options
        )
    elif "sphere" in kind:
        damp = 0.0 if changes.get("damping") == 0.0 else 1.0
        names = ("dissipation", "static_friction", "dynamic_friction", "viscous_friction")
        values = dict(zip(names, damp * np.array([0.3, 0.8, 0.5, 0.2])))
        plane = random_pose(rng, 0.2)
        plane[:3, 3] += 4.0 * plane[:3, 2]
        if "smooth" in kind:
            values |= {"offset": 0.05, "depth_steepness": 0.3, "speed_steepness": 0.2}
        other = "body_6" if "body" in kind else None
        options = {"plane": plane, "other": other, "stiffness": 20.0, "transition_speed": 1.0}
        builder.add_sphere_contact(kind, "body_3", rng.normal(size=3) * 0.3, 0.4, **options, **values)
    elif "field" in kind:
        _, effect, shape, falloff = kind.split()
        options = {"effect": effect, "shape": shape, "falloff": falloff, "squared": float(shape == "point")}
        fading = {"power": 1.3, "least": 0.1, "radial_power": 0.8, "radial_least": 0.05, "radial_most": 500.0}
        numbers = {"strength": 1.7, "mass": 30.0, "unit": 0.4, "flow": 0.6, "linear": 0.3}
        point, frame = rng.normal(size=3), random_pose(rng, 0.5)
        builder.add_force_field(kind, "body_3", point, "body_6", frame=frame, **options, **numbers, **fading)
    elif "wrench" in kind:
        axes = "body" if "turning" in kind else "other" if "other" in kind else "world"
        options = {"axes": axes, "other": "body_6" if "two" in kind or "other" in kind else None}
        moment, force, point = rng.normal(size=(3, 3))
        builder.add_wrench(kind, "body_3", moment, force, 7.0, point=point, **options)
    elif kind == "body damping":
        builder.add_body_damping(kind, "body_3", angular=0.7, linear=2.0)
    else:
        plane = random_pose(rng, 0.2)
        plane[:3, 3] += 1.5 * plane[:3, 2]  # over most of the points, which so press into it
        values = {"exponent": rng.uniform(1.0, 2.5), "friction": 0.6, "radius": 0.1, "smooth_speed": 0.5}
        other = "body_6" if "body" in kind else None
        builder.add_ground(
            kind, "body_3", rng.normal(size=(6, 3)) * 0.3, plane=plane, other=other, **values, **numbers
        )


def model_with(seed, *kinds, **changes):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 7, ("hinge", "spherical", "universal", "free"))
    builder = ph.ModelBuilder.from_dict(tree.to_dict())
    for kind in kinds:
        add(builder, rng, kind, **changes)
    return rng, tree, builder.build()


def wrenches(model, work, nv):
    """Wrenches of all elements on the bodies, in the poses and with the velocities that work holds."""
    work = work.copy()
    count = model.num_bodies
    force = layout.FORCE + np.array(layout.TWIST)
    work[:count, force] = 0.0
    body_int, _, _, data, _ = model.arrays
    element_forces(body_int, data, model.with_inputs(None), nv, work)
    return -work[:count, force]


def tangents(model, work, nv, eta, nu):
    """Changes of the wrenches of all elements on the bodies (nb, 6), for displacements and changes of velocities."""
    body_int, _, _, data, _ = model.arrays
    tau, changes, row = (
        model.with_inputs(None),
        np.zeros((model.num_bodies, 6)),
        int(data[layout.ELEMENT_ROWS]),
    )
    moves = np.concatenate([np.hstack([eta, nu]), np.zeros((1, 12))])  # the world, number -1, keeps still
    for _ in range(int(data[layout.ELEMENT_COUNT])):
        bodies = int(data[row + layout.ELEMENT_BODY]), int(data[row + layout.ELEMENT_OTHER])
        given = [tuple(map(float, half)) for body in bodies for half in (moves[body, :6], moves[body, 6:])]
        found = element_tangent(body_int, data, tau, nv, row, work, tuple(given))
        for body, change in zip(bodies, found):
            if body >= 0:
                changes[body] += change
        row += int(data[row + layout.ELEMENT_SIZE])
    return changes


def displaced(model, work, eta, nu):
    """The same workspace with the bodies moved by exp(eta) about their trees' reference points, their twists by nu."""
    work = work.copy()
    for i in range(model.num_bodies):
        pose = np.eye(4)
        columns = work[i, : layout.VELOCITY].reshape(4, 4)  # each with room for four numbers
        pose[:3] = columns[:, :3].T
        columns[:, :3] = (ph.lie.exp(eta[i]) @ pose)[:3].T
        work[i, layout.VELOCITY + np.array(layout.TWIST)] += nu[i]
    return work


@pytest.mark.parametrize("kind", (*KINDS, *FIELDS))
@pytest.mark.parametrize("seed", range(3))
def test_tangents_are_the_slopes_of_the_wrenches(kind, seed):
    rng, _, model = model_with(seed, kind)
    state = random_state(rng, model)
    spaces = model.workspace().clear()
    outward(model.arrays, np.array(state.q), np.array(state.qd), *spaces)
    nb, nv = model.num_bodies, model.num_coordinates
    eta, nu = rng.normal(size=(nb, 6)), rng.normal(size=(nb, 6))
    found = tangents(model, spaces[0], nv, eta, nu)
    step = 1e-6
    ahead, behind = (wrenches(model, displaced(model, spaces[0], s * eta, s * nu), nv) for s in (step, -step))
    slopes = (ahead - behind) / (2.0 * step)
    assert kind == "wrench" or np.abs(found).max() > 0.1  # a plane that nothing touches would prove nothing
    # central differences: step^2 of truncation, 1e-16 / step of round-off, and forces of hundreds of newtons
    assert np.abs(found - slopes).max() < 1e-7 * max(np.abs(slopes).max(), 1.0)


@pytest.mark.parametrize(
    "kind", ["spring", "wrench", "ground", "ground on a body", "mount", *BUSHINGS, "sphere"]
)
def test_forces_are_the_slope_of_the_energy(kind):
    changes = {} if kind == "wrench" else {"damping": 0.0}
    rng, tree, model = model_with(4, kind, **changes)
    if kind == "wrench":  # a moment has no energy
        description = model.to_dict()
        description["forces"][0]["moment"] = [0.0, 0.0, 0.0]
        model = ph.ModelBuilder.from_dict(description).build()
    state = model.state(q=random_state(rng, model).q)  # at rest: no friction
    force = ph.inverse_dynamics(tree, state) - ph.inverse_dynamics(model, state)
    step = 1e-6
    slopes = [
        (
            ph.energy(model, model.state(q=state.q + step * e)).potential
            - ph.energy(model, model.state(q=state.q - step * e)).potential
            - ph.energy(tree, model.state(q=state.q + step * e)).potential
            + ph.energy(tree, model.state(q=state.q - step * e)).potential
        )
        / (2.0 * step)
        for e in np.eye(model.num_coordinates)
    ]
    assert np.abs(force).max() > 0.1
    # differences of energies of some hundred joules
    assert np.abs(force + slopes).max() < 1e-6 * np.abs(force).max()


@pytest.mark.parametrize("kind", ["spring", "body damping", "ground", "ground on a body", "mount"])
@pytest.mark.parametrize("seed", range(3))
def test_damping_and_friction_only_take_energy(kind, seed):
    rng, tree, model = model_with(seed, kind)
    state = random_state(rng, model)
    power = state.qd @ (ph.inverse_dynamics(tree, state) - ph.inverse_dynamics(model, state))
    step = 1e-6

    def stored(s):
        at = model.state(q=state.q + s * state.qd)
        return ph.energy(model, at).potential - ph.energy(tree, at).potential

    kept = (stored(step) - stored(-step)) / (2.0 * step)
    assert power + kept < -1e-6  # what elements give the bodies, and what they store


def test_action_is_reaction_also_between_trees():
    rng, _, model = model_with(2, "spring", "ground on a body", "mount", WRENCHES[-1])
    state = random_state(rng, model)
    spaces = model.workspace().clear()
    outward(model.arrays, np.array(state.q), np.array(state.qd), *spaces)
    found = wrenches(model, spaces[0], model.num_coordinates)
    total = np.zeros(6)
    for i in range(model.num_bodies):
        lever = spaces[0][model.arrays[0][i, layout.ROOT], layout.REFERENCE : layout.REFERENCE + 3]
        total += [*(found[i, :3] + np.cross(lever, found[i, 3:])), *found[i, 3:]]
    assert np.abs(found).max() > 1.0 and np.abs(total).max() < 1e-12 * np.abs(found).max()


def test_wrenches_are_told_by_name():
    """They do to the coordinates what the elements do, through the bodies' jacobians."""
    rng, tree, model = model_with(8, *KINDS)
    state = random_state(rng, model)
    poses, force = ph.body_poses(model, state), np.zeros(model.num_coordinates)
    told = ph.force_wrenches(model, state)
    assert list(told) == list(KINDS)
    for element in (*model.springs, *model.forces):
        for body, wrench in zip((element.body, getattr(element, "other", -1)), told[element.name]):
            if body >= 0:
                rotation, place = poses[body][:3, :3], poses[body][:3, 3]
                moment = wrench[:3] - np.cross(place, wrench[3:])
                here = np.concatenate([rotation.T @ moment, rotation.T @ wrench[3:]])
                force += ph.body_jacobian(model, state, model.body_names[body]).T @ here
    expected = ph.inverse_dynamics(tree, state) - ph.inverse_dynamics(model, state)
    assert np.abs(force - expected).max() < 1e-12 * np.abs(expected).max()


def test_wrenches_and_dampings_against_the_jacobian():
    rng, tree, _ = model_with(5)
    moment, force, point = rng.normal(size=(3, 3))
    for axes in ("world", "body"):
        builder = ph.ModelBuilder.from_dict(tree.to_dict())
        builder.add_input("share", 0.5)
        builder.add_wrench("wrench", "body_4", moment, force, "share", point=point, axes=axes)
        model = builder.build()
        state = random_state(rng, model)
        pose = ph.body_poses(model, state)[4]
        turn = np.eye(3) if axes == "body" else pose[:3, :3].T  # the jacobian is in body axes
        here = np.concatenate([turn @ moment + np.cross(point, turn @ force), turn @ force])
        given = ph.body_jacobian(model, state, "body_4").T @ here
        for share in (0.5, -2.0):
            torque = ph.inverse_dynamics(tree, state) - ph.inverse_dynamics(model, state, inputs=[share])
            assert np.abs(torque - share * given).max() < 1e-12 * np.abs(given).max()
    assert ph.energy(model, state) == ph.energy(tree, state)


def test_forward_is_the_inverse_of_inverse_dynamics_with_all_elements():
    rng, _, model = model_with(3, *KINDS)
    state, tau = random_state(rng, model), rng.normal(size=model.num_coordinates)
    qdd = ph.forward_dynamics(model, state, tau)
    assert np.abs(ph.inverse_dynamics(model, state, qdd) - tau).max() < 1e-10 * np.abs(qdd).max()


@pytest.mark.parametrize("kind", KINDS)
def test_derivatives_of_inverse_dynamics_count_them(kind):
    rng, _, model = model_with(6, kind)
    # differences of fourth order, of forces of some hundred newtons
    assert difference(model, random_state(rng, model), rng.normal(size=model.num_coordinates)) < 1e-7


def block(mass=2.0, size=0.1, **changes):
    """A cube that slides and falls without turning; its corners below are on the ground."""
    builder = ph.ModelBuilder()
    builder.add_body(
        "cube", joint=ph.joints.Translational(), mass=mass, inertia=np.eye(3) * mass * size**2 / 6.0
    )
    corners = [(x * size / 2, y * size / 2, -size / 2) for x in (-1, 1) for y in (-1, 1)]
    values = {"stiffness": 1e4, "damping": 50.0, "friction": 0.5} | changes
    builder.add_ground("ground", "cube", corners, **values)
    return builder.build()


def test_block_rests_where_the_ground_carries_it():
    model = block(exponent=1.5, friction=0.0)
    result = ph.simulate(model, model.state(q=[0, 0, 0.05]), 2.0, 1e-3, "rk4", record_interval=0.1)
    depth = (2.0 * 9.81 / 4.0 / 1e4) ** (1.0 / 1.5)
    assert abs(result.q[-1, 2] - (0.05 - depth)) < 1e-9


def test_sliding_block_slows_by_mu_g_and_the_angle_of_its_path_does_not_matter():
    model = block()
    depth = 2.0 * 9.81 / 4.0 / 1e4
    for angle in np.linspace(0.0, 1.5, 4):
        along = np.array([np.cos(angle), np.sin(angle)])
        state = model.state(q=[0, 0, 0.05 - depth], qd=[*along, 0.0])
        result = ph.simulate(model, state, 0.1, 1e-3, "rk4")
        # steady pressure: a constant deceleration, which a fourth-order method follows to round-off
        assert np.abs(result.qd[-1, :2] - along * (1.0 - 0.5 * 9.81 * 0.1)).max() < 1e-10


def test_ground_never_pulls():
    model = block(damping=1e4)
    state = model.state(q=[0, 0, 0.045], qd=[0, 0, 1.0])  # leaves faster than the ground can follow
    assert np.allclose(ph.forward_dynamics(model, state), [0, 0, -9.81], rtol=0, atol=1e-12)


def test_point_of_the_plane_s_frame_does_not_matter():
    builder = ph.ModelBuilder()
    builder.add_body("table", joint=ph.joints.Free(), mass=3.0, inertia=np.eye(3))
    builder.add_body("ball", joint=ph.joints.Free(), mass=1.0, inertia=np.eye(3) * 0.1)
    rotation = random_rotation(np.random.default_rng(0))
    accelerations = []
    for shift in (0.0, 0.7):
        plane = np.eye(4)
        plane[:3, :3] = rotation
        plane[:3, 3] = shift * rotation[:, 0] - shift * rotation[:, 1]
        made = ph.ModelBuilder.from_dict(builder.build().to_dict())
        made.add_ground(
            "top",
            "ball",
            (0, 0, 0),
            stiffness=1e3,
            friction=0.4,
            damping=3.0,
            radius=0.2,
            plane=plane,
            other="table",
        )
        model = made.build()
        state = model.state(q={"ball": [*(0.1 * rotation[:, 2]), 0.3, 0.1, 0.2]}, qd=np.linspace(-1, 1, 12))
        accelerations.append(ph.forward_dynamics(model, state))
    assert np.abs(accelerations[0] - accelerations[1]).max() < 1e-12 * np.abs(accelerations[0]).max()


def test_elements_come_back_from_a_file(tmp_path):
    _, _, model = model_with(1, *KINDS)
    ph.save_model(model, tmp_path / "model.json")
    again = ph.load_model(tmp_path / "model.json").model
    assert again == model and [f.name for f in again.forces] == list(KINDS[1:])
