"""Adds joints from presets: sized by the bodies' bounding boxes, with limits, damping and rest, driven by sliders."""

from __future__ import annotations

import re

import bpy
import numpy as np
from bpy.types import Object, Scene

from ..baked import ik_chains
from ..blender import physics_access, units
from ..data import stored_joints as joints
from ..data.joints import match_coordinates, slider_names
from ..data.references import Body
from ..reading import masses
from ..sliders import sliders
from . import bodies_and_joints, joint_places, presets_bodies, presets_curves
from .presets import BY_NAME, Preset
from .presets_placing import Box, box_of, frame_of

DENSITY = 1000.0  # kg/m^3, for bodies without a closed mesh: water in half of their bounding box
DAMPING_RATIO = 0.15  # of the child's swing about the joint
BEAD_DECAY = 0.5  # 1/s, decay rate of the speed of a bead on a wire
DOOR_SPEED = 2.0  # rad/s, start speed of a new door, since gravity does not move it
BESIDE = 0.2  # on a side if farther from the parent's middle plane than this share of half its diagonal
OWN_START = 0.35  # start of new bodies as a share of the range, so that a bake moves them


def add(scene: Scene, name: str, parent: Body, child: Body) -> Object | None:
    """Add a joint between two bodies, driven by its sliders.

    Args:
        name: see `presets.PRESETS`.

    Returns:
        The joint's Empty.

    Raises:
        ModelError: as of `bodies_and_joints.add_joint`; a bead has no wire; or the child's mass cannot be read.
    """
    preset = BY_NAME[name]
    if preset.anchor == "WIRE" and child.object.type == "CURVE" and parent.object.type != "CURVE":
        parent, child = child, parent
    boxes = box_of(parent), box_of(child)
    shape = presets_curves.of(preset, parent, boxes[1])
    on_left = _is_left(child, *boxes)
    frame = units.array4(parent.matrix) if shape.in_parent else frame_of(preset, *boxes, on_left)
    frame = units.split_scale(frame, parent.name)[0]
    late = ik_chains.why_late(scene, child, parent)
    if late:
        raise physics_access.model_error(late)
    known = [body.data.body.enabled for body in (parent, child)]
    if known[1]:
        masses.mass_properties(scene, child)  # before anything is changed
    title = preset.label.partition(" (")[0]
    joint = bodies_and_joints.add_joint(scene, parent, child, kind=preset.kind, matrix=frame, name=title)
    for body, box, before in zip((parent, child), boxes, known):
        if not before:
            weigh(scene, body, box)
    _shape(scene, joint, preset, shape, frame, boxes, on_left)
    settle(scene, joint, preset, child, boxes[1], on_left)
    if not shape.in_parent:
        bodies_and_joints.take_rest_pose(joint)
    sliders.set_driven(scene, joint, True)
    joint_places.begin_as_shown(scene, joint)
    if shape.in_parent:
        _start_near(scene, joint, boxes[1])
    return joint


def add_with_bodies(scene: Scene, name: str) -> Object:
    """Add a preset with new simple bodies, a little bent so that a bake moves it; returns the joint's Empty."""
    preset = BY_NAME[name]
    joint = add(scene, name, *presets_bodies.make(scene, preset))
    settings = joint.condyle.joint
    for slider, row in list(zip(slider_names(settings), settings.coordinates))[:1]:
        ui = joint.id_properties_ui(slider).as_dict()
        if row.limits != "NONE" and preset.anchor != "WIRE":
            joint[slider] = ui["min"] + OWN_START * (ui["max"] - ui["min"])
    joint.update_tag()
    if preset.anchor == "EDGE":
        sliders.start_here(scene, joint)
        settings.coordinates[0].start_speed = DOOR_SPEED
    bpy.context.view_layer.update()
    return joint


def weigh(scene: Scene, body: Body, box: Box) -> None:
    """Set the mass from the mesh if it is closed, else from the bounding box."""
    try:
        masses.mass_properties(scene, body)
        by_mesh = body.data.body.mass_source == "MESH"
    except physics_access.physics().CondyleError:
        by_mesh = False
    if by_mesh:
        return
    length = units.length_scale(scene)
    sides = 2.0 * np.maximum(box.half, 0.02 * box.half.max()) * length
    mass = 0.5 * DENSITY * float(np.prod(sides))
    squares = mass / 12.0 * sides**2
    middle = np.linalg.inv(units.split_scale(body.matrix, body.name, body.owner)[0]) @ [*box.middle, 1.0]
    settings = body.data.body
    settings.mass_source, settings.mass = "MANUAL", mass
    settings.center_of_mass = tuple(middle[:3])
    settings.inertia_diagonal = tuple(squares.sum() - squares)
    settings.inertia_products = (0.0, 0.0, 0.0)


def _shape(
    scene: Scene,
    joint: Object,
    preset: Preset,
    shape: presets_curves.Curve,
    frame: np.ndarray,
    boxes: tuple[Box, Box],
    on_left: bool,
) -> None:
    """Fill in the settings of the joint's type."""
    settings = joint.condyle.joint
    parent, child = boxes
    if preset.kind == "spline_curve":
        settings.periodic = shape.closed
        settings.length_scale = shape.length_scale
        if shape.angle:
            settings.fit.coordinate, settings.fit.angle_axis = "ANGLE", (1.0, 0.0, 0.0)
        bodies_and_joints.set_control_frames(scene, joint, shape.frames)
        match_coordinates(settings)
    elif preset.kind == "euler":
        settings.sequence = "xyz"
    elif preset.kind == "universal":
        settings.axis = (1.0, 0.0, 0.0)
        inward = (0.0, 0.0, -1.0 if on_left else 1.0)  # pronation turns the thumb inward on both sides
        settings.axis_2 = inward if preset.name == "elbow" else (0.0, 1.0, 0.0)
    elif preset.kind == "hinge":
        settings.axis = (1.0, 0.0, 0.0)
    elif preset.kind == "composite":
        radius = 0.1 * 2.0 * child.reach(-frame[:3, 1])  # distance of the axes: a tenth of the thumb's length
        circle = settings.parts.add()
        circle.type, circle.semi_axes = "elliptic", (radius, radius, radius)
        turn = settings.parts.add()
        turn.type, turn.axis = "hinge", (1.0, 0.0, 0.0)
        match_coordinates(settings)
    elif preset.kind == "scapulothoracic":
        x, y, z = frame[:3, :3].T
        out = float((child.middle - parent.middle) @ z)
        settings.semi_axes = (parent.reach(x), parent.reach(y), out)


def settle(scene: Scene, joint: Object, preset: Preset, child: Body, box: Box, on_left: bool) -> None:
    """Set titles, limits, damping and rest of the coordinates."""
    found = masses.mass_properties(scene, child)
    length = units.length_scale(scene)
    reach = 2.0 * float(np.linalg.norm(box.half)) * length
    moment = found.mass * 9.81 * 0.5 * reach  # of its weight, stretched out horizontally [N m]
    inertia = found.mass * reach**2 / 3.0  # of a rod about its end [kg m^2]
    for row, wanted in zip(joint.condyle.joint.coordinates, preset.coordinates):
        reversed_ = on_left and bool(wanted.on_left)
        row.title = wanted.on_left if reversed_ else wanted.title
        if preset.anchor == "WIRE":
            row.limits = "NONE" if joint.condyle.joint.periodic else "RANGE"
            row.damping = BEAD_DECAY * found.mass * (joint.condyle.joint.length_scale * length) ** 2
            continue
        row.limits = "RANGE" if preset.kind == "spline_curve" else "CUSTOM"
        lower, upper = (-wanted.upper, -wanted.lower) if reversed_ else (wanted.lower, wanted.upper)
        row.lower, row.upper = np.radians(lower), np.radians(upper)
        row.damping = 2.0 * DAMPING_RATIO * np.sqrt(moment * inertia)
        row.rest = np.radians(-wanted.rest if reversed_ else wanted.rest)
        row.stiffness = wanted.hold * moment


def _is_left(child: Body, parent: Box, box: Box) -> bool:
    """Whether a child is on the figure's left: by its name, else by its side of its parent; by its side of the world if
    it is below or above the parent. The middle counts as right.
    """
    words = re.split(r"[^a-z]+", child.name.rpartition("/")[2].lower())
    named = [word in {"l", "left"} for word in words if word in {"l", "left", "r", "right"}]
    if named:
        return named[-1]
    aside = box.middle[0] - parent.middle[0]
    if abs(aside) < BESIDE * float(np.linalg.norm(box.half)):
        aside = box.middle[0]
    return bool(aside > 1e-6 * float(np.linalg.norm(box.half)))


def _start_near(scene: Scene, joint: Object, box: Box) -> None:
    """Set the slider of a wire to the place nearest to the bead."""
    curve = joints.read_joint(scene, joint)
    lower, upper = sliders.slider_ranges(joint, curve)[0]
    q = np.linspace(lower, upper, 201)
    places = units.split_scale(joint.matrix_world, joint.name, joint)[0] @ units.to_blender(
        curve.transform(q[:, None]), scene
    )
    closest = int(np.argmin(np.linalg.norm(places[:, :3, 3] - box.middle, axis=1)))
    joint[slider_names(joint.condyle.joint)[0]] = float(q[closest])
    joint.update_tag()
    bpy.context.view_layer.update()
