"""A model of physics as bodies and joints of a Blender scene, made with the add-on's own functions and settings."""

from collections.abc import Mapping, Sequence
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix

import physics as ph
from addon.data import collection
from addon.data.joints import match_coordinates
from addon.data.references import Body
from addon.making import bodies_and_joints
from addon.reading import scene as scene_to_model
from physics._typing import FloatArray

from . import SceneError
from .production import Made, Progress, bake_shown, check, energy_drift

# The scene stores masses, frames and coordinates in single precision (6e-8). Accelerations are small compared with the
# forces that cancel in them: their error is a few hundred times larger.
SAME_ACCELERATION = 1e-4


def shifted_poses(model: ph.Model, state: ph.State, shift: Sequence[float]) -> dict[str, FloatArray]:
    """Poses (4, 4) of a model's bodies in a state, shifted [m]."""
    poses = ph.body_poses(model, state).copy()
    poses[:, :3, 3] += shift
    return dict(zip(model.body_names, poses))


def place_bodies(
    objects: Mapping[str, bpy.types.Object],
    model: ph.Model,
    state: ph.State,
    shift: Sequence[float] = (0.0, 0.0, 0.0),
) -> None:
    """Put each body's object at its pose in a state, shifted."""
    for name, pose in shifted_poses(model, state, shift).items():
        objects[name].rotation_mode = "QUATERNION"
        objects[name].matrix_basis = Matrix(pose.tolist())
    bpy.context.view_layer.update()


def add_bodies(
    scene: bpy.types.Scene, model: ph.Model, state: ph.State, objects: Mapping[str, bpy.types.Object]
) -> dict[str, bpy.types.Object]:
    """Put each body's object at its start, and make bodies and joints; returns the joints' Empties by body.

    Bodies of one parent whose joints run along the same curve share its control frames. A composite joint's second
    curve belongs to the child: its frames are children of an Empty that is attached to the child.
    """

    poses = ph.body_poses(model, state)
    place_bodies(objects, model, state)
    joints: dict[str, bpy.types.Object] = {}
    owners: dict[tuple[int, int], bpy.types.Object] = {}
    for number, body in enumerate(model.bodies):
        child = Body(objects[body.name])
        bodies_and_joints.make_body(scene, child, mass=body.mass, center=body.com, inertia=body.inertia)
        parent = None if body.parent < 0 else Body(objects[model.body_names[body.parent]])
        base = np.eye(4) if parent is None else poses[body.parent]
        empty = bodies_and_joints.add_joint(
            scene, parent, child, body.joint.type, base @ body.joint_in_parent, f"{body.name} joint"
        )
        empty.condyle.joint.child_in_joint = tuple(body.body_in_joint.ravel())
        parts = body.joint.joints if isinstance(body.joint, ph.joints.Composite) else (body.joint,)
        holders = [body.parent, number]  # bodies that own the first and the second curve
        for part in parts:
            row = empty.condyle.joint if len(parts) == 1 else empty.condyle.joint.parts.add()
            row.type, row.inverted = inner(part).type, part is not inner(part)
            if isinstance(inner(part), ph.joints.SplineCurve):
                key = (holders.pop(0), id(inner(part)))
                own = empty if key[0] == body.parent else None
                if key not in owners:
                    owners[key] = own or outline_empty(child)
                    hold_frames(scene, owners[key], inner(part))
                if owners[key] is not empty:
                    row.frames_of = owners[key]
            elif isinstance(part, ph.joints.Hinge | ph.joints.Slider):
                row.axis = part.axis
        match_coordinates(empty.condyle.joint)
        set_coordinates(empty, body, state, model.coordinate_slice(body.name))
        joints[body.name] = empty
    bpy.context.view_layer.update()
    return joints


def inner(joint: ph.joints.Joint) -> ph.joints.Joint:
    """The joint inside an inverted joint; other joints unchanged."""
    return joint.joint if isinstance(joint, ph.joints.Inverted) else joint


def outline_empty(body: Any) -> bpy.types.Object:
    """An Empty in the axes of a body and fixed to it."""

    empty = bpy.data.objects.new(f"{body.name} outline", None)
    bpy.data.collections[collection.COLLECTION].objects.link(empty)
    bodies_and_joints.attach(empty, body, body.matrix.copy())
    return empty


def hold_frames(scene: bpy.types.Scene, owner: bpy.types.Object, curve: ph.joints.SplineCurve) -> None:
    """Give an Empty the control frames of a curve, naturally parameterized."""

    settings = owner.condyle.joint
    settings.order, settings.periodic, settings.length_scale = curve.order, curve.periodic, curve.length_scale
    bodies_and_joints.set_control_frames(scene, owner, curve.frames)
    for frame in settings.frames:
        frame.object.empty_display_size = 0.01
        frame.object.hide_set(len(settings.frames) > 40)  # dozens of axes would hide everything else


def set_coordinates(empty: bpy.types.Object, body: ph.Body, state: ph.State, where: slice) -> None:
    """Damping, limits and start of each coordinate."""
    rows = empty.condyle.joint.coordinates
    if body.limit_restitution is not None:
        empty.condyle.joint.hard_limits = True
        empty.condyle.joint.restitution = float(np.max(body.limit_restitution))
    own = body.joint.range
    for index, row in enumerate(rows):
        row.damping = body.damping[index]
        row.start, row.start_speed = state.q[where][index], state.qd[where][index]
        row.lower, row.upper = np.clip(body.limits[index], -1e6, 1e6)
        whole = np.array_equal(body.limits[index], own[index])
        unlimited = np.isinf(body.limits[index]).all()
        row.limits = "NONE" if unlimited else "RANGE" if whole else "CUSTOM"


def check_same_model(scene: bpy.types.Scene, model: ph.Model, state: ph.State) -> float:
    """Largest relative difference between the first accelerations of `model` and of the model that the add-on reads;
    raises SceneError if it is more than single precision explains.
    """

    read = scene_to_model.read(scene)
    found = {body.name: read.model.coordinate_slice(body.name) for body in read.model.bodies}
    wanted = ph.forward_dynamics(model, state)
    shown = ph.forward_dynamics(read.model, read.state)
    apart = [np.abs(shown[found[name]] - wanted[model.coordinate_slice(name)]) for name in model.body_names]
    error = float(np.concatenate(apart).max() / np.abs(wanted).max())
    if not error < SAME_ACCELERATION:
        raise SceneError(f"the scene accelerates otherwise than its model, by {error:.1e} of the largest")
    return error


def bake_checked(made: Made, progress: Progress, drift: float) -> tuple[Any, dict[str, str]]:
    """Bake; returns the report and figures of the energy. Raises SceneError if the energy rises, or, without damping,
    changes by more than `drift` of the largest kinetic energy.
    """
    found = energy_drift(made.scene, list(made.joints.values()), progress)
    check("the energy drift without damping", found, 0.0, drift)
    report, shown = bake_shown(made.scene, progress)
    total = report.energy[:, 2]
    rise = float(np.diff(total).max()) / float(report.energy[:, 0].max())
    check("the largest rise of the energy over the kinetic", rise, -1.0, 5e-3)
    return report, {
        "bake against simulation": f"{shown:.1e}, m and matrix entries",
        "energy drift, undamped, RK4": f"{found:.1e} of the largest kinetic",
        "energy, damped": f"{total[0]:.3f} to {total[-1]:.3f} J, largest rise {rise:.1e} of the kinetic",
    }
