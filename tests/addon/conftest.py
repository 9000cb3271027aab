"""Small scenes for the tests of the add-on, and poses to bake that no simulation has to make first."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest


def box(name: str, location: Any = (0, 0, 0), size: Any = (0.1, 0.1, 0.4)) -> Any:
    """A closed box as a mesh object in the current scene, evaluated."""
    import bmesh
    import bpy

    mesh = bpy.data.meshes.new(name)
    shape = bmesh.new()
    bmesh.ops.create_cube(shape, size=1.0)
    for vertex in shape.verts:
        vertex.co = [coordinate * side for coordinate, side in zip(vertex.co, size)]
    shape.to_mesh(mesh)
    shape.free()
    item = bpy.data.objects.new(name, mesh)
    item.location = location
    bpy.context.scene.collection.objects.link(item)
    update()
    return item


def empty(name: str, parent: Any = None) -> Any:
    """An Empty in the current scene."""
    import bpy

    item = bpy.data.objects.new(name, None)
    item.parent = parent
    bpy.context.scene.collection.objects.link(item)
    return item


LIMB = {"A": ((0, 0, 1), (0, 0, 0.5), None), "B": ((0, 0, 0.5), (0, 0, 0), "A")}


def armature(name: str, bones: dict[str, tuple[Any, Any, str | None]] = LIMB, connect: bool = False) -> Any:
    """An armature object, evaluated; bones: {name: (head, tail, parent's name)}."""
    import bpy

    item = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    bpy.context.scene.collection.objects.link(item)
    bpy.context.view_layer.objects.active = item
    bpy.ops.object.mode_set(mode="EDIT")
    for bone_name, (head, tail, parent) in bones.items():
        bone = item.data.edit_bones.new(bone_name)
        bone.head, bone.tail, bone.roll = head, tail, 0.3
        if parent:
            bone.parent = item.data.edit_bones[parent]
            bone.use_connect = connect
    bpy.ops.object.mode_set(mode="OBJECT")
    update()
    return item


def update() -> None:
    """Evaluate the scene."""
    import bpy

    bpy.context.view_layer.update()


def smooth_poses(count: int, seed: int = 0, turn: float = 2.0, reach: float = 0.5) -> np.ndarray:
    """A smooth motion (count, 4, 4) with rotations up to some `turn` radians and shifts up to `reach`."""
    random = np.random.default_rng(seed)
    time = np.linspace(0.0, 1.0, count)[:, None]
    rate, phase = random.uniform(2.0, 5.0, 6), random.uniform(0.0, 6.0, 6)
    waves = np.sin(rate * time + phase)
    poses = np.tile(np.eye(4), (count, 1, 1))
    for pose, wave in zip(poses, waves):
        vector = turn * wave[:3]
        angle = float(np.linalg.norm(vector))
        x, y, z = vector / angle
        cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        pose[:3, :3] = np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross
        pose[:3, 3] = reach * wave[3:]
    return poses


def keyed_knee(num_keys: int = 13, scale: float = 1.0, parented: bool = True) -> tuple[Any, Any]:
    """Two boxes; the lower is keyed on its way along a hinge that slides: 0 to 120 degrees. Lengths times `scale`."""
    import bpy

    thigh = box("Thigh", (0, 0, 0.45 * scale), np.array((0.1, 0.1, 0.4)) * scale)
    shank = box("Shank", (0, 0, 0), np.array((0.08, 0.08, 0.38)) * scale)
    if parented:
        shank.parent = thigh
    shank.rotation_mode = "QUATERNION"
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 49
    update()
    for number, angle in enumerate(np.radians(np.linspace(0.0, 120.0, num_keys))):
        middle = np.array((0.0, 0.0, -0.22)) + np.array((-0.004 * angle, 0.0, 0.003 * angle**2))
        place = middle + np.array((-np.sin(angle), 0.0, -np.cos(angle))) * 0.2
        shank.location = place * scale + (0.0 if parented else np.array((0, 0, 0.45 * scale)))
        shank.rotation_quaternion = (np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0)
        for path in ("location", "rotation_quaternion"):
            shank.keyframe_insert(path, frame=1 + 4 * number)
    scene.frame_set(1)
    return thigh, shank


def driven_arm(part: Any, scene: Any) -> tuple[Any, str]:
    """Boxes "Up", on a driven hinge, and "Low" that hangs from it by another: the first joint's Empty, its slider."""
    body, authoring = part("data.references").Body, part("making.bodies_and_joints")
    upper, lower = box("Up", (0, 0, 0.7)), box("Low", (0, 0, 0.3))

    def at(height: float) -> np.ndarray:
        return np.array([[1.0, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, height], [0, 0, 0, 1]])

    joint = authoring.add_joint(scene, None, body(upper), "hinge", at(0.9), name="Shoulder")
    authoring.add_joint(scene, body(upper), body(lower), "hinge", at(0.5), name="Elbow")
    authoring.drive(scene, joint, True)
    for each in (upper, lower):
        each.condyle.body.density = 100.0
    (slider,) = part("data.joints").slider_names(joint.condyle.joint)
    return joint, slider


def bake_and_motions(part: Any, scene: Any) -> tuple[Any, dict[str, Any]]:
    """Bake; the report, and the motions that led bodies, by their names."""
    requests, motions = part("blender.physics_access").part("worker.requests"), {}
    simulate = requests.simulate

    def seen(*arguments: Any, **options: Any) -> Any:
        motions.update(options["motions"])
        return simulate(*arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(requests, "simulate", seen)
        return part("jobs.bake").bake_now(scene), motions


def driven_knee(part: Any, scene: Any) -> tuple[Any, Any, Any]:
    """Two boxes and a spline curve joint with four control frames, driven: (thigh, shank, joint's Empty)."""
    body, authoring = part("data.references").Body, part("making.bodies_and_joints")
    scene.frame_start, scene.frame_end = 1, 5
    thigh, shank = box("Thigh", (0, 0, 0.45)), box("Shank", (0, 0, 0))
    joint = authoring.add_joint(scene, body(thigh), body(shank), name="Knee")
    for angle in (0.0, 0.4, 0.8, 1.2):
        pose = np.eye(4)
        pose[:3, :3] = [[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]]
        pose[:3, 3] = (-0.2 * np.sin(angle), 0, 0.2 - 0.2 * np.cos(angle))
        authoring.add_control_frame(scene, joint, pose)
    authoring.take_rest_pose(joint)
    authoring.drive(scene, joint, True)
    return thigh, shank, joint


CUSTOM = """{"coordinates": ["knee_angle"], "units": ["rad"], "rotations": [
    {"axis": [1, 0, 0], "function": {"type": "linear", "slope": 1.0, "offset": 0.1}, "coordinate": "knee_angle"},
    {"axis": [0, 1, 0], "function": {"type": "linear", "slope": 0.0, "offset": 0.0}, "coordinate": null},
    {"axis": [0, 0, 1], "function": {"type": "linear", "slope": 0.2, "offset": 0.0}, "coordinate": "knee_angle"}],
    "translations": [
    {"axis": [1, 0, 0], "function": {"type": "polynomial", "coefficients": [0.02, 0.01, 0]},
     "coordinate": "knee_angle"},
    {"axis": [0, 1, 0], "function": {"type": "linear", "slope": 0.0, "offset": 0.3}, "coordinate": null},
    {"axis": [0, 0, 1], "function": {"type": "linear", "slope": 0.0, "offset": 0.0}, "coordinate": null}]}"""


def shaped(part: Any, scene: Any, joint: Any, number: int) -> str:
    """Give a joint the type of this number with all that the type needs; returns the type's name."""
    name = sorted(part("data.joint_types").TYPES)[number]
    settings, authoring = joint.condyle.joint, part("making.bodies_and_joints")
    settings.type, settings.axis = name, (1, 0, 0)
    settings.semi_axes, settings.skew, settings.winging = (0.3, 0.2, 0.4), 0.2, 0.4
    settings.winging_origin, settings.winging_direction, settings.custom_text = (0.1, -0.05), 0.3, CUSTOM
    settings.neutral = (0.1, 0.2, 0.3)
    if name in {"spline_curve", "composite"}:
        for turn in range(4):
            authoring.add_control_frame(scene, joint, on_ball(0.2 * turn, 0.0))
    if name == "spline_surface":
        settings.grid, settings.sequence = (4, 5, 1), "xyz"
        for turn in range(4):
            for tilt in range(5):
                authoring.add_control_frame(scene, joint, on_ball(0.2 * turn, 0.15 * tilt))
    if name == "composite":
        for kind in ("hinge", "planar", "spline_curve", "euler"):
            settings.parts.add().type = kind
        settings.parts[1].inverted = True
    return name


def on_ball(turn: float, tilt: float, radius: float = 0.5) -> np.ndarray:
    """A pose on a ball, turned about x and then about y, z outward."""
    a, b = np.array([np.cos(turn), np.sin(turn)]), np.array([np.cos(tilt), np.sin(tilt)])
    pose = np.eye(4)
    pose[:3, :3] = [[1, 0, 0], [0, a[0], -a[1]], [0, a[1], a[0]]] @ np.array(
        [[b[0], 0, b[1]], [0, 1, 0], [-b[1], 0, b[0]]]
    )
    pose[:3, 3] = radius * pose[:3, 2]
    return pose


@pytest.fixture
def make() -> SimpleNamespace:
    """Makers of small scenes."""
    return SimpleNamespace(
        box=box,
        empty=empty,
        armature=armature,
        update=update,
        smooth_poses=smooth_poses,
        keyed_knee=keyed_knee,
        driven_arm=driven_arm,
        bake_and_motions=bake_and_motions,
        driven_knee=driven_knee,
        shaped=shaped,
        on_ball=on_ball,
    )


@pytest.fixture
def body(part):
    """The add-on's class of bodies."""
    return part("data.references").Body


@pytest.fixture
def authoring(part):
    """The add-on's module that makes bodies and joints."""
    return part("making.bodies_and_joints")


@pytest.fixture
def knee(part, scene, make):
    """A driven knee: (thigh, shank, joint's Empty)."""
    return make.driven_knee(part, scene)


@pytest.fixture
def arm(part, scene, make, body, authoring):
    """An upper box, held, and a lower one on a hinge about y; a muscle in front of both."""
    import mathutils

    upper, lower = make.box("Upper", (0, 0, 0.5)), make.box("Lower", (0, 0, 0.05))
    joint = authoring.add_joint(
        scene, body(upper), body(lower), "hinge", mathutils.Matrix.Translation((0, 0, 0.27)), name="Elbow"
    )
    joint.condyle.joint.axis = (0, 1, 0)
    scene.frame_end = 21
    muscle = part("making.muscles").add_muscle(
        scene, [(body(upper), (0.06, 0, 0.65)), (body(lower), (0.06, 0, 0.1))], "Biceps"
    )
    muscle.condyle.muscle.law.max_force = 60.0
    return upper, lower, joint, muscle


@pytest.fixture
def swing(part, scene, make, body, authoring):
    """A bob on a hinge whose action has keys of its own: of its place, turn and size; and another slot beside it."""
    scene.frame_start, scene.frame_end = 5, 13
    top, bob = make.box("Top", (0, 0, 1.0)), make.box("Bob", (0.3, 0, 0.6))
    for frame in (1, 4, 9, 20, 30):
        bob.location.x, bob.rotation_euler.y = 0.3 + 0.001 * frame, 0.02 * frame
        bob.scale = (1, 1, 1)
        for path in ("location", "rotation_euler", "scale", "color"):
            bob.keyframe_insert(path, frame=frame)
    compat = part("blender.compat")
    curves = list(compat.curves_in_use(bob))
    turned = next(curve for curve in curves if curve.data_path == "rotation_euler" and curve.array_index == 1)
    turned.modifiers.new("CYCLES")
    turned.keyframe_points[1].interpolation = "ELASTIC"
    turned.keyframe_points[3].handle_left_type = "VECTOR"
    turned.update()
    action = bob.animation_data.action
    if compat.has_slots(action):
        slot = action.slots.new(id_type="OBJECT", name="Stranger")
        part("blender.compat").new_curves(action, slot, "location", [0], "Theirs")[0].keyframe_points.insert(
            3.0, 4.0
        )
    scene.frame_set(5)
    make.update()
    joint = authoring.add_joint(scene, body(top), body(bob), "hinge", name="Hip")
    return top, bob, joint


@pytest.fixture
def folder(tmp_path):
    """Three inputs that need not be .blend files where no child opens them; one has a space and an umlaut."""
    for name in ("a", "b", "Knie größer"):
        (tmp_path / f"{name}.blend").write_bytes(f"content of {name}".encode())
    return tmp_path


@pytest.fixture
def baked(part, scene, make, body):
    """A knee with keys of its own, baked: (thigh, shank, joint's Empty)."""
    thigh, shank = make.keyed_knee()
    scene.frame_end = 7
    joint = part("making.bodies_and_joints").add_joint(scene, body(thigh), body(shank), name="Knee")
    part("jobs.bake").fit_now(scene, joint)
    joint.condyle.joint.coordinates[0].damping = 0.1
    part("jobs.bake").bake_now(scene)
    return thigh, shank, joint
