"""A joint from two meshes, through the operator."""

import bpy
import numpy as np
import pytest
from mathutils import Matrix

surfaces = pytest.importorskip(
    "tests.physics.fitting.surfaces"
)  # is not in the suite of an installed extension

GAP, RADIUS, SCALE = 0.004, 0.022, 0.5
PLATE = [(-0.06, -0.05, 0), (0.06, -0.05, 0), (0.06, 0.05, 0), (-0.06, 0.05, 0)], [(0, 1, 2, 3)]


@pytest.fixture
def bones(scene):
    """A plate beneath two rollers, in axes of their own and scaled; the rollers are active."""
    scene.unit_settings.scale_length = 0.01
    vertices, triangles = surfaces.condyles(0.03, RADIUS, 0.014, 0.044)
    place, items = Matrix.Translation((5.0, 3.0, 1.0)) @ Matrix.Rotation(0.7, 4, (1.0, 2.0, 3.0)), {}
    for name, (points, faces), down in (
        ("Rollers", (vertices, triangles), 0.0),
        ("Plate", PLATE, -RADIUS - GAP),
    ):
        data = bpy.data.meshes.new(name)
        data.from_pydata((np.asarray(points) * 100.0 / SCALE).tolist(), [], np.asarray(faces).tolist())
        items[name] = bpy.data.objects.new(name, data)
        scene.collection.objects.link(items[name])
        items[name].matrix_world = (
            place @ Matrix.Translation((0.0, 0.0, 100.0 * down)) @ Matrix.Scale(SCALE, 4)
        )
        items[name].select_set(True)
    bpy.context.view_layer.objects.active = items["Rollers"]
    bpy.context.view_layer.update()
    return items["Rollers"], items["Plate"]


def height(rollers, plate):
    """The plate's place along its own normal in the rollers' axes [m], and the normal (3,)."""
    pose = np.array(rollers.matrix_world.inverted() @ plate.matrix_world)
    normal = pose[:3, 2] / np.linalg.norm(pose[:3, 2])
    return -normal @ pose[:3, 3] * SCALE / 100.0, normal


def test_the_slider_moves_the_child_along_the_parent_s_surface(bones):
    options = {"upper": 1.5, "num_frames": 6, "keep_gap": False, "gap": 100.0 * GAP}
    assert bpy.ops.condyle.joint_from_meshes(**options) == {"FINISHED"}
    joint = next(item for item in bpy.data.objects if item.condyle.joint.enabled)
    settings = joint.condyle.joint
    assert settings.child.object == bones[1] and settings.driven
    assert settings.coordinates[0].title == "Flexion" and len(settings.frames) == 6
    assert (settings.coordinates[0].lower, settings.coordinates[0].upper) == pytest.approx((0.0, 1.5))
    for angle in (0.0, 0.7, 1.4):
        joint["coordinate"] = angle
        joint.update_tag()
        bpy.context.view_layer.update()
        far, normal = height(*bones)
        assert np.arccos(normal[2]) == pytest.approx(angle, abs=5e-3)
        assert far == pytest.approx(np.hypot(0.03 * normal[0], RADIUS * normal[2]) + GAP, abs=1e-4)
    with pytest.raises(RuntimeError, match="Plate already has a joint"):
        bpy.ops.condyle.joint_from_meshes(**options)


def test_other_selections_are_refused(bones):
    bones[1].select_set(False)
    with pytest.raises(RuntimeError, match="Select two mesh objects"):
        bpy.ops.condyle.joint_from_meshes()
