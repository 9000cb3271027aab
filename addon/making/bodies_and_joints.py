"""Creates bodies, joints and control frames: functions of the operators, also for scripts.

Matrices and lengths are in Blender units; masses and inertias in SI.
"""

from collections.abc import Iterable, Sequence
from itertools import chain

import bpy
import numpy as np
from bpy.types import Object, Scene
from mathutils import Matrix

from ..blender import physics_access, scales, units
from ..blender.physics_access import model_error
from ..data import body_reference, references, schema
from ..data import stored_joints as joints
from ..data.collection import collection_of
from ..data.joints import match_coordinates
from ..data.references import Body
from ..reading import masses
from ..reading import scene as scene_to_model
from ..sliders import driver_empties, sliders
from . import joint_frames, rest_poses

#: properties that show, when set, that the user chose a body's mass
MASS = ("mass", "center_of_mass", "inertia_diagonal", "inertia_products")


def check_own(body: Body) -> None:
    """ModelError for a body that is linked from another file."""
    if body.object.library is not None:
        raise model_error(f"{body.name} is linked; make a library override first")


def make_body(
    scene: Scene,
    body: Body,
    *,
    motion: str = "HELD",
    density: float | None = None,
    shape: Object | None = None,
    mass: float | None = None,
    center: Sequence[float] | np.ndarray | None = None,
    inertia: Sequence[float] | np.ndarray | None = None,
) -> None:
    """Make an object or pose bone a body.

    Args:
        motion: "HELD" (fixed) or "FREE", for a body without a joint.
        density: [kg/m^3], for the mass of the mesh (of `shape`, else the object's own).
        mass, center, inertia: given instead: [kg], (3,) in Blender units in the body's axes, (3,) or (3, 3) [kg m^2].
            A new bone without any has those of a capsule along it.

    Raises:
        ModelError: the body is linked from another file.
    """
    check_own(body)
    settings = body.data.body
    if body.bone:
        body_reference.ensure_uid(body.pose_bone)
    settings.enabled = True
    settings.motion = motion
    if shape is not None:
        settings.shape = shape
    if density is not None:
        settings.density = density
    mesh = settings.shape or (None if body.bone else body.object)
    has_mesh = mesh is not None and mesh.type == "MESH"
    settings.mass_source = "MESH" if has_mesh and mass is None else "MANUAL"
    chosen = any(settings.is_property_set(name) for name in MASS)
    given = any(each is not None for each in (mass, center, inertia))
    if body.bone and not (chosen or has_mesh or given):
        mass, center, inertia = masses.capsule_along(scene, body)
    if mass is not None:
        settings.mass = mass
    if center is not None:
        settings.center_of_mass = tuple(center)
    if inertia is not None:
        matrix = np.diag(inertia) if np.ndim(inertia) == 1 else np.array(inertia, dtype=np.float64)
        settings.inertia_diagonal = tuple(np.diag(matrix))
        settings.inertia_products = (matrix[0, 1], matrix[0, 2], matrix[1, 2])
    body.data.channels.baked = body.data.channels.baked
    _store_records(body.object)
    schema.stamp(body.data, body.object.condyle, scene.condyle)


def _store_records(item: Object) -> None:
    """Store an object's empty records of bakes: a library override can only change stored properties."""
    item.condyle.channels.baked = item.condyle.channels.baked
    item.condyle.bake.influence = item.condyle.bake.influence


def remove_body(body: Body) -> None:
    """Make a body an ordinary object or bone again; its settings are kept."""
    body.data.body.enabled = False


def fill_in_mass(scene: Scene, body: Body) -> None:
    """Copy the mass properties of the body's mesh to its manual settings; ModelError without a mesh."""
    settings = body.data.body
    found = masses.mass_properties(scene, body)
    settings.mass = found.mass
    settings.center_of_mass = tuple(found.center / units.length_scale(scene))
    settings.inertia_diagonal = tuple(np.diag(found.inertia))
    settings.inertia_products = (found.inertia[0, 1], found.inertia[0, 2], found.inertia[1, 2])


def add_joint(
    scene: Scene,
    parent: Body | None,
    child: Body,
    kind: str = "spline_curve",
    matrix: Matrix | list[list[float]] | np.ndarray | None = None,
    name: str = "",
    closes_loop: bool = False,
    update: bool = True,
) -> Object | None:
    """Add a joint between two bodies, or between the world (parent None) and a body.

    Args:
        kind: a joint type of physics.
        matrix: world matrix (4, 4) of the joint's frame; the child's present pose if None.
        name: of the Empty; composed of the bodies' names if empty.
        closes_loop: whether the child already has another joint.
        update: as of `attach`.

    Returns:
        The Empty that is the joint's frame, in Blender a child of the parent.

    Raises:
        ModelError: parent and child are the same, the child has a joint, or a transform is not rigid with uniform
            scale.
    """
    if parent is not None and references.same(parent, child):
        raise model_error(f"{child.name} cannot be joined to itself")
    if not closes_loop and references.joint_of(scene, child) is not None:
        raise model_error(f"{child.name} already has a joint; remove it, or add one that closes a loop")
    check_joints([(parent, child)])
    found = units.split_scale(child.matrix if matrix is None else matrix, "the joint's frame", child.owner)[0]
    world = Matrix(found.tolist())
    _keep_shape(scene, child)
    for body in (parent, child):
        if body is not None and not body.data.body.enabled:
            make_body(scene, body)
    called = name or (f"{parent.name} - {child.name}" if parent else child.name)
    item = new_empty(scene, called, "PLAIN_AXES", child.object)
    item.empty_display_size = 0.25 * max(typical_length(child), 1e-6)
    attach(item, parent, world, update)
    settings = item.condyle.joint
    settings.enabled = True
    settings.closes_loop = closes_loop
    settings.to_world = parent is None
    references.point_at(settings.parent, parent)
    references.point_at(settings.child, child)
    settings.type, settings.torque_keeps_axes = kind, True
    match_coordinates(settings)
    if kind in {"spline_curve", "spline_surface"}:
        for row in settings.coordinates:
            row.limits = "RANGE"
        settings.length_scale = max(typical_length(child), 1e-6)
    else:
        take_rest_pose(item, world)
    rest_poses.note(item)
    schema.stamp(item.condyle, scene.condyle)
    return item


def check_joints(pairs: Iterable[tuple[Body | None, Body]]) -> None:
    """ModelError where parents or children of new joints are linked, or not rigid with uniform scale."""
    for body in chain.from_iterable(pairs):
        if body is not None:
            check_own(body)
            units.split_scale(body.matrix, body.name, body.owner)


def remove_joint(scene: Scene, item: Object) -> None:
    """Delete a joint with its control frames and sliders; bodies and their animation are kept."""
    settings = item.condyle.joint
    if settings.driven:
        sliders.set_driven(scene, item, False)
    for index in reversed(range(len(settings.frames))):
        remove_control_frame(item, index)
    driver_empties.remove(item)
    bpy.data.objects.remove(item)


def typical_length(body: Body) -> float:
    """A typical length of the body, in Blender units: its bone's length, or half its object's largest side."""
    if body.bone:
        return float(body.pose_bone.bone.length)
    largest = 0.5 * max(body.object.dimensions)
    return largest if largest > 0.0 else 1.0


def attach(item: Object, parent: Body | None, world: Matrix, update: bool = True) -> None:
    """Parent an Empty to a body in Blender, at a world matrix.

    Args:
        update: whether to evaluate the scene, which takes longer the larger it is; else its world matrix alone is set.
    """
    if parent is not None:
        item.parent = parent.object
        if parent.bone:
            item.parent_type, item.parent_bone = "BONE", parent.bone
            end = Matrix.Translation((0.0, parent.pose_bone.bone.length, 0.0))
            if parent.pose_bone.bone.use_relative_parent:
                end = parent.pose_bone.bone.matrix_local.inverted()
            item.matrix_parent_inverse = (parent.matrix @ end).inverted()
        else:
            item.matrix_parent_inverse = _effect_on_child(item).inverted()
    item.rotation_mode = "QUATERNION"
    item.matrix_world = world
    item.matrix_basis = world
    if update:
        bpy.context.view_layer.update()


def _effect_on_child(item: Object) -> Matrix:
    """Matrix by which an object's parent moves it; a curve with a path moves its children to the path's start."""
    parent = item.parent
    if parent.type != "CURVE" or not parent.data.use_path:
        return parent.matrix_world.copy()
    item.matrix_parent_inverse = item.matrix_basis = Matrix()
    bpy.context.view_layer.update()
    return item.matrix_world.copy()


def _keep_shape(scene: Scene, child: Body) -> None:
    """Let a bone below others that may stretch inherit their volume alone: with Blender's default it is sheared where
    it turns, and its children are moved. One that a constraint stretches may begin away from its parent's tail.
    """
    bone = child.pose_bone
    is_own = bone is not None and not (child.object.data.library or child.object.data.override_library)
    if is_own and bone.bone.use_connect and scales.is_scaled(bone):
        scene.condyle.simulation.disconnect_bones = True
    if is_own and bone.bone.inherit_scale == "FULL" and scales.may_stretch(bone.parent):
        bone.bone.inherit_scale = "AVERAGE"


def take_rest_pose(item: Object, world: Matrix | None = None) -> None:
    """Let the child's present pose be the pose at coordinates 0."""
    settings = item.condyle.joint
    child = joint_frames.child_of(item)
    frame = units.split_scale(item.matrix_world if world is None else world, f"joint {item.name!r}", item)[0]
    pose = (
        physics_access.physics().lie.inverse(frame @ _pose_at_zero(item))
        @ units.split_scale(child.matrix, child.name, child.owner)[0]
    )
    settings.child_in_joint = tuple(pose.ravel())
    rest_poses.note(item)


def _pose_at_zero(item: Object) -> np.ndarray:
    """Pose (4, 4) of a joint's moving frame at coordinates 0, in Blender units; on an ellipsoid it is not identity.

    Identity for an incomplete joint, or one whose range excludes 0.
    """
    scene = bpy.context.scene
    try:
        joint = scene_to_model.read_joint(scene, item)
        pose = joint.transform(joint.from_readings(np.zeros(joint.num_coordinates)))
    except physics_access.physics().CondyleError:
        return np.eye(4)
    return units.to_blender(pose, scene)


def add_control_frame(
    scene: Scene,
    item: Object,
    matrix: Matrix | np.ndarray | None = None,
    index: int | None = None,
    empty: Object | None = None,
) -> Object:
    """Add a control frame to a joint.

    Args:
        matrix: its world matrix (4, 4); if None, the joint's moving frame at the child's present pose.
        index: its index in the list; None: last.
        empty: an Empty that is in no list yet; a new one if None.

    Returns:
        The Empty.
    """
    settings = item.condyle.joint
    if matrix is None:
        matrix = joints.frame_of_child(item, joint_frames.child_of(item))
        if not len(settings.frames):
            rest_poses.note(item)
    world = units.split_scale(matrix, "the control point")[0]
    index = len(settings.frames) if index is None else int(np.clip(index, 0, len(settings.frames)))
    empty = frame_empty(scene, item, index) if empty is None else empty
    settings.frames.add().object = empty
    settings.frames.move(len(settings.frames) - 1, index)
    settings.active_frame = index
    settings.knots.clear()  # the knots of a fit no longer match: use natural parameterization
    place_frame(item, empty, physics_access.physics().lie.inverse(joint_frames.pose_of(item)) @ world)
    bpy.context.view_layer.update()  # updates the Empty's world matrix
    return empty


def insert_between(scene: Scene, item: Object, index: int) -> Object:
    """Add a control frame halfway between number index and the next; ModelError without a next."""
    settings = item.condyle.joint
    frames = scene_to_model.control_frames(scene, item)
    following = (index + 1) % len(frames) if settings.periodic else index + 1
    if not 0 <= index < len(frames) or following >= len(frames):
        raise model_error(f"joint {item.name!r}: no control point after number {index} to insert one before")
    lie = physics_access.physics().lie
    middle = frames[index] @ lie.exp(0.5 * lie.log(lie.inverse(frames[index]) @ frames[following]))
    return add_control_frame(scene, item, joint_frames.pose_of(item) @ middle, index + 1)


def remove_control_frame(item: Object, index: int) -> None:
    """Remove a control frame from the list and delete its Empty."""
    settings = item.condyle.joint
    if not 0 <= index < len(settings.frames):
        raise model_error(f"joint {item.name!r} has no control point {index}")
    empty = settings.frames[index].object
    settings.frames.remove(index)
    settings.knots.clear()
    last = max(0, len(settings.frames) - 1)
    if settings.active_frame > last:  # setting it changes the selection
        settings.active_frame = last
    if empty is not None and empty.condyle.frame_of == item:
        bpy.data.objects.remove(empty)


def set_control_frames(
    scene: Scene, item: Object, frames: np.ndarray, knots: Sequence[float] | np.ndarray | None = None
) -> None:
    """Replace all control frames by frames (m, 4, 4) in the joint's frame, in Blender units; reuses the Empties."""
    settings = item.condyle.joint
    while len(settings.frames) > len(frames):
        remove_control_frame(item, len(settings.frames) - 1)
    for index, pose in enumerate(frames):
        if index == len(settings.frames):
            settings.frames.add()
        row = settings.frames[index]
        if not references.in_scene(scene, row.object):
            row.object = frame_empty(scene, item, index)
        elif row.object.name.startswith(f"{item.name} Row "):  # formerly in a grid
            row.object.name = frame_name(item, index)
        place_frame(item, row.object, pose)
    joint_frames.set_knots(settings, () if knots is None else knots)
    settings.active_frame = max(0, min(settings.active_frame, len(frames) - 1))
    bpy.context.view_layer.update()


def place_frame(item: Object, empty: Object, pose: np.ndarray) -> None:
    """Put a control frame's Empty at a pose (4, 4) in the joint's frame, in Blender units."""
    base, scale = units.split_scale(item.matrix_world, f"joint {item.name!r}", item)
    if empty.parent == item and empty.parent_type == "OBJECT":
        before = np.linalg.inv(units.array4(empty.matrix_parent_inverse))
        empty.matrix_basis = Matrix((before @ units.scaled_translation(pose, 1.0 / scale)).tolist())
    else:
        empty.matrix_world = Matrix((base @ pose).tolist())


def frame_name(item: Object, index: int) -> str:
    """Name of the Empty of a curve's control frame."""
    return f"{item.name} Frame {index:02d}"


def frame_empty(scene: Scene, item: Object, index: int) -> Object:
    """Create an Empty for a control frame, not yet in a list."""
    empty = new_empty(scene, frame_name(item, index), "PLAIN_AXES", item)
    empty.parent = item
    empty.rotation_mode = "QUATERNION"
    empty.empty_display_size = 0.25 * item.empty_display_size
    empty.condyle.frame_of = item
    schema.stamp(empty.condyle)
    return empty


def new_empty(scene: Scene, name: str, display: str, owner: Object | None = None) -> Object:
    """Create an Empty in the collection of joints and connections of an object."""
    empty = bpy.data.objects.new(name, None)
    empty.empty_display_type = display
    collection_of(scene, owner).objects.link(empty)
    _store_records(empty)
    return empty


def drive(scene: Scene, item: Object, driven: bool = True) -> None:
    """Turn driving of the child by sliders (custom properties of the joint's Empty) on or off.

    The property of a single coordinate is "coordinate"; several are named by reading: "coordinate x" ...
    """
    sliders.set_driven(scene, item, driven)
