"""Units, rigid poses with scale, and mass properties by volume integrals."""

import numpy as np
import pytest

CUBE = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
FACES = np.array(
    [
        *[(0, 1, 3), (0, 3, 2), (4, 7, 5), (4, 6, 7), (0, 5, 1), (0, 4, 5)],
        *[(2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)],
    ]
)


@pytest.mark.small
def test_a_box_far_from_the_origin_has_the_mass_properties_of_a_box(part):
    size, place, density = np.array((0.2, 0.3, 0.7)), np.array((10.0, -20.0, 5.0)), 1234.0
    found = part("blender.units").mesh_mass_properties(CUBE * size + place, FACES, density, "Box")
    mass = density * size.prod()
    squares = size**2
    assert np.isclose(found.mass, mass, rtol=1e-12)
    assert np.allclose(found.center, place + size / 2, rtol=0, atol=1e-12)
    expected = np.diag(mass / 12.0 * (squares.sum() - squares))
    # integrals about a vertex nearby, float64
    assert np.allclose(found.inertia, expected, rtol=0, atol=1e-12 * mass)


def test_a_turned_tetrahedron_against_monte_carlo_free_formulas(part):
    """Scaling a solid by s scales its mass by s^3 and its inertia by s^5; turning it turns the inertia."""
    units = part("blender.units")
    corners = np.array([[0.0, 0, 0], [1, 0.1, 0], [0.2, 1, 0], [0.1, 0.3, 1]])
    faces = np.array([(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)])
    turn, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))
    turn *= np.linalg.det(turn)
    small = units.mesh_mass_properties(corners, faces, 1.0, "T")
    large = units.mesh_mass_properties(2.0 * corners @ turn.T + 3.0, faces, 1.0, "T")
    assert np.isclose(large.mass, 8.0 * small.mass)
    assert np.allclose(large.inertia, 32.0 * turn @ small.inertia @ turn.T, atol=1e-13)
    assert np.allclose(small.center, corners.mean(axis=0))


@pytest.mark.small
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda v, f: (v, f[:-1]), "not closed"),
        (lambda v, f: (v, np.vstack([f[:-1], f[-1:, ::-1]])), "not closed"),
        (lambda v, f: (v, f[:, ::-1]), "inside out"),
        (lambda v, f: (v * [1, 1, 0], f), "no volume"),
        (lambda v, f: (v, f[:0]), "no faces"),
    ],
)
def test_meshes_without_a_volume_are_refused(part, ph, change, message):
    vertices, faces = change(CUBE, FACES)
    with pytest.raises(ph.ModelError, match=f"^Femur: .*{message}"):
        part("blender.units").mesh_mass_properties(vertices, faces, 1000.0, "Femur")


@pytest.mark.parametrize("density", [0.0, -1.0, float("nan"), float("inf")])
def test_a_density_that_is_none_is_refused(part, ph, density):
    with pytest.raises(ph.ModelError, match="Femur: density must be positive, got"):
        part("blender.units").mesh_mass_properties(CUBE, FACES, density, "Femur")


def test_poses_lose_uniform_scale_and_nothing_else(part, make):
    pose = make.smooth_poses(5)[3]
    matrix = pose.copy()
    matrix[:3, :3] *= 0.37
    rigid, scale = part("blender.units").split_scale(matrix, "Bone")
    assert np.allclose(rigid, pose, atol=1e-14) and np.isclose(scale, 0.37)


@pytest.mark.parametrize(
    ("linear", "message"),
    [
        (np.diag((1.0, 2.0, 1.0)), r"Bone: non-uniform scale \(1, 2, 1\)"),
        (np.diag((1.0, 1.0, -1.0)), "its scale is negative"),
        (np.zeros((3, 3)), "its scale is zero"),
        (np.array([[1.0, 0.5, 0.0], [0.0, 0.75**0.5, 0.0], [0.0, 0.0, 1.0]]), "sheared"),
        (np.full((3, 3), np.nan), "not finite"),
    ],
)
def test_what_is_not_rigid_with_uniform_scale_is_refused(part, ph, linear, message):
    matrix = np.eye(4)
    matrix[:3, :3] = linear
    with pytest.raises(ph.ModelError, match=message):
        part("blender.units").split_scale(matrix, "Bone")


def test_times_follow_the_frame_rate(part, scene):
    units = part("blender.units")
    scene.render.fps, scene.render.fps_base = 30, 1.001
    assert np.isclose(units.frames_per_second(scene), 30.0 / 1.001, rtol=1e-7)  # fps_base is float32
    assert np.isclose(units.frame_times(np.arange(10.0, 41.0), scene)[-1], 1.001, rtol=1e-7)


def test_inverses_and_orthogonal_factors_are_those_of_numpy(part):
    units = part("blender.units")
    random = np.random.default_rng(4)
    matrices = np.tile(np.eye(4), (200, 1, 1))
    matrices[:, :3] = random.standard_normal((200, 3, 4))
    exact = np.linalg.inv(matrices)
    # both lose as many digits as the condition number has
    np.testing.assert_allclose(units.inverses(matrices), exact, rtol=1e-9, atol=1e-9 * np.abs(exact).max())
    np.testing.assert_allclose(units.inverses(matrices[0]), exact[0], rtol=1e-9, atol=1e-9)
    left, _, right = np.linalg.svd(matrices[:, :3, :3])
    turns = left @ right
    for scale, bend in ((1.0, 0.0), (0.01, 1e-7), (100.0, 1e-4), (3.0, 0.1)):
        linear = scale * (turns + bend * random.standard_normal(turns.shape))
        left, _, right = np.linalg.svd(linear)
        np.testing.assert_allclose(units.orthogonal(linear), left @ right, atol=1e-13)
    with pytest.raises(np.linalg.LinAlgError):
        units.inverses(np.zeros((1, 4, 4)))


@pytest.mark.parametrize(
    ("scale", "message"),
    [
        (
            (-1.0, 1.0, 1.0),
            r"C: its parent P has negative scale, .* \(-1, 1, 1\); apply that scale \(Ctrl\+A\)",
        ),
        ((1.0, 0.0, 1.0), r"C: its parent P has a scale of zero \(1, 0, 1\); make it greater"),
        ((1.0, 2.0, 1.0), r"C: its parent P has non-uniform scale \(1, 2, 1\); apply that scale"),
    ],
)
def test_a_scale_is_told_of_the_object_that_has_it(part, scene, make, ph, scale, message):
    """Of a parent where it comes from there, and of the object itself where it is its own."""
    parent = make.empty("P")
    child = make.empty("C", parent)
    parent.scale = scale
    make.update()
    with pytest.raises(ph.ModelError, match=message):
        part("blender.units").split_scale(child.matrix_world, "C", child)
    parent.scale, child.scale = (1.0, 1.0, 1.0), scale
    make.update()
    with pytest.raises(ph.ModelError, match=r"^C: (its scale is|non-uniform scale)"):
        part("blender.units").split_scale(child.matrix_world, "C", child)


def told(part, ph, item, name):
    pose_bone = name != item.name
    owner = item.pose.bones[name] if pose_bone else item
    matrix = item.matrix_world @ owner.matrix if pose_bone else item.matrix_world
    with pytest.raises(ph.ModelError) as caught:
        part("blender.units").split_scale(matrix, name, owner)
    return str(caught.value)


@pytest.mark.parametrize(("inherit", "size"), [("FULL", 2.0), ("AVERAGE", 2.0), ("NONE", 1.0)])
def test_a_bone_has_the_volume_that_it_inherits(part, scene, make, ph, inherit, size):
    bones = {"Root": ((0, 0, 2), (0, 0, 1.5), None), "A": ((0, 0, 1.5), (0, 0, 1), "Root")}
    rig = make.armature("Rig", bones)
    rig.data.bones["A"].inherit_scale = inherit
    rig.pose.bones["Root"].scale = (1, 8, 1)
    make.update()
    units, scales = part("blender.units"), part("blender.scales")
    bone = rig.pose.bones["A"]
    assert units.split_scale(rig.matrix_world @ bone.matrix, "A", bone)[1] == pytest.approx(size, rel=1e-6)
    assert not scales.may_stretch(bone)
    rig.pose.bones["Root"].keyframe_insert("scale")
    assert scales.may_stretch(bone) == (inherit == "FULL")
    rig.scale = (1, 1, 3)
    make.update()
    assert "its parent Rig has non-uniform scale (1, 1, 3)" in told(part, ph, rig, "A")


def test_the_worst_scale_on_the_way_out_is_to_blame(part, scene, make, ph):
    parent = make.empty("P")
    child = make.empty("C", parent)
    parent.scale, child.scale = (2, 1, 1), (1, 1, 1.00015)
    make.update()
    assert "its parent P has non-uniform scale (2, 1, 1)" in told(part, ph, child, "C")


def test_what_bones_and_constraints_stretch_has_the_nearest_pose(part, scene, make, ph):
    """And the scale of its volume; of two scales the one that can be applied is told."""
    goal, parent = make.empty("Goal"), make.empty("P")
    child = make.empty("C", parent)
    goal.scale, child.rotation_euler = (1, 8, 1), (0.0, 0.0, 0.5)
    copying = parent.constraints.new("COPY_SCALE")
    copying.target = goal
    make.update()
    left, _, right = np.linalg.svd(np.array(child.matrix_world)[:3, :3])
    pose, scale = part("blender.units").split_scale(child.matrix_world, "C", child)
    np.testing.assert_allclose(pose[:3, :3], left @ right, atol=1e-12)
    assert scale == pytest.approx(2.0, rel=1e-6)
    with pytest.raises(ph.ModelError, match="C: non-uniform scale"):  # whose it is, is not known
        part("blender.units").split_scale(child.matrix_world, "C")
    copying.mute, parent.scale = True, (1, 8, 1)
    make.update()
    assert "its parent P has non-uniform scale (1, 8, 1)" in told(part, ph, child, "C")
    goal.scale, copying.mute, parent.scale = (1, 0, 1), False, (1, 1, 1)
    make.update()
    found = told(part, ph, child, "C")
    assert (
        "its parent P has a scale of zero (1, 0, 1)" in found
        and "the constraint 'Copy Scale' gives it that" in found
    )


@pytest.mark.small
@pytest.mark.parametrize(
    ("metres", "told"),
    [
        (0.0, "under 0.001 mm"),
        (1.234e-5, "0.0123 mm"),
        (0.0421, "42.1 mm"),
        (0.9994, "999 mm"),
        (0.9996, "1 m"),
        (2.0134, "2.01 m"),
        (2013.4, "2,013 m"),
    ],
)
def test_lengths_for_people_have_no_powers_of_ten(part, metres, told):
    assert part("blender.units").told_length(metres) == told


@pytest.mark.parametrize(
    ("metres", "angle", "told"),
    [(0.004, 1e-7, "4 mm"), (1e-9, 0.1, "5.7°"), (0.004, 0.1, "4 mm and 5.7°"), (0.0, 0.0, "under 0.001 mm")],
)
def test_of_a_distance_and_an_angle_what_is_next_to_nothing_is_not_told(part, metres, angle, told):
    assert part("blender.units").told_apart(metres, angle) == told
