"""Imports an OpenSim model as bodies, joints, obstacles and muscles of the scene.

All bodies are children of one Empty, the file's ground, turned so that the file's y axis points up. Unsupported parts
are listed as warnings.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from bpy.types import Object, Scene
from mathutils import Matrix

from ..blender import physics_access, units
from ..data import findings, schema
from ..data import stored_joints as joints
from ..data.joint_types import TYPES
from ..data.joints import JointProperties, match_coordinates
from ..data.references import Body
from . import bodies_and_joints, connections, opensim_bones, opensim_motions
from .demo_shapes import free_spot
from .opensim_muscles import add_muscles
from .opensim_state import Imported, Standing, joint_of, target_of

#: y, which is up in OpenSim's models, becomes z
Y_UP = np.array([[1.0, 0, 0, 0], [0, 0, -1.0, 0], [0, 1.0, 0, 0], [0, 0, 0, 1.0]])
# Tolerance [m, radians] of an imported joint read back from the scene; Blender stores matrices as float32.
READ_BACK = 1e-5
MET = 1e-5  # tolerance of constraints at the start [m, rad]
SHOWN = 0.03  # m, half the size of the Empties of joints and connections
AROUND = 0.1  # m, typical extent of bones and muscles beyond the origins of bodies


def import_model(
    scene: Scene, path: str, geometry: Sequence[str] = (), allow_welds: bool = False
) -> Imported:
    """Import an ``.osim`` file at the scene's origin, or beside the objects there.

    Args:
        geometry: folders of meshes, in addition to the file's own.
        allow_welds: whether joints of unknown kinds become welds.

    Raises:
        FormatError, ModelError: the file is invalid; the scene is unchanged. OSError: it cannot be read.
    """
    ph = physics_access.physics()
    read = ph.read_opensim(path, geometry=[Path(folder) for folder in geometry], allow_welds=allow_welds)
    model = read.build()
    start = {name: float(each.prescribed(0.0)) for name, each in read.coordinates.items() if each.prescribed}
    state, given = read.state(model, start), read.state(model, start, assembled=False)
    gravity = np.asarray(model.gravity, dtype=np.float64)
    up = Y_UP if abs(gravity[1]) >= np.abs(gravity).max() else np.eye(4)
    worlds: dict[str | None, np.ndarray] = {None: up}
    for name, pose in zip(model.body_names, ph.body_poses(model, state)):
        worlds[name] = up @ pose
    places = np.array([pose[:3, 3] for pose in worlds.values()])
    shift = np.eye(4)
    shift[:3, 3] = free_spot(scene, places.min(axis=0), places.max(axis=0), np.zeros(3), AROUND)
    worlds = {name: shift @ pose for name, pose in worlds.items()}
    standing = Standing(scene, read, model, state, worlds)
    ground = _body_empty(standing, None, read.name or Path(path).stem, None)
    unled = physics_access.part("io.opensim_joints").UNLED
    notes = [_note(each) for each in read.warnings if not each.startswith(unled)]
    hints = list(read.notes)
    if np.abs(state.q - given.q).max(initial=0.0) > MET:
        hints.append("the coordinates at the start are changed, to meet the constraints")
    notes += [replace(_note(each), is_hint=True) for each in hints]
    imported = Imported(ground, warnings=notes)
    for body in model.bodies:
        imported.bodies[body.name] = _body_empty(standing, body, body.name, ground)
    bpy.context.view_layer.update()
    for body in model.bodies:
        _add_joint(standing, imported, body)
    _add_constraints(standing, imported)
    _add_forces(standing, imported)
    opensim_bones.add(standing, imported)
    add_muscles(standing, imported)
    scene.condyle.simulation.gravity = tuple(up[:3, :3] @ gravity)
    schema.stamp(scene.condyle)
    if start:
        bpy.context.view_layer.update()
        opensim_motions.add(standing, imported)
    bpy.context.view_layer.update()
    imported.warnings[:] = findings.gathered(imported.warnings)
    return imported


def _note(message: str) -> findings.Finding:
    return findings.about(None, "import-note", message=message[:1].upper() + message[1:])


def _body_empty(
    standing: Standing, body: physics_access.Body | None, name: str, ground: Object | None
) -> Object:
    scene = standing.scene
    item = bodies_and_joints.new_empty(scene, name, "PLAIN_AXES")
    item.empty_display_size = 0.05 / units.length_scale(scene)
    world = standing.matrix(None if body is None else body.name)
    bodies_and_joints.attach(item, None if ground is None else Body(ground), world, update=False)
    if body is None:
        bodies_and_joints.make_body(scene, Body(item), mass=1.0)
        return item
    com = np.asarray(body.com) / units.length_scale(scene)
    bodies_and_joints.make_body(
        scene, Body(item), mass=float(body.mass), center=com, inertia=_storable(np.asarray(body.inertia))
    )
    return item


def _storable(inertia: np.ndarray) -> np.ndarray:
    """An inertia, a millionth more where the round-off of float32 could break its triangle inequality."""
    least, middle, most = np.linalg.eigvalsh(inertia)
    return inertia + max(1e-6 * most - (least + middle - most), 0.0) * np.eye(3)


def _add_joint(standing: Standing, made: Imported, body: physics_access.Body) -> None:
    scene, model = standing.scene, standing.model
    parent = None if body.parent < 0 else model.bodies[body.parent].name
    frame = standing.matrix(parent, body.joint_in_parent)
    item = bodies_and_joints.add_joint(
        scene,
        target_of(made, parent),
        Body(made.bodies[body.name]),
        "fixed",
        frame,
        name=f"{body.name} joint",
        update=False,
    )
    item.empty_display_size = SHOWN / units.length_scale(scene)
    made.joints[body.name] = item
    settings = item.condyle.joint
    if not set_joint(settings, body.joint, units.length_scale(scene)):
        kind = body.joint.type
        made.warnings.append(findings.about(item, "import-joint-type", body=body.name, type=kind))
        return
    settings.child_in_joint = tuple(units.to_blender(body.body_in_joint, scene).ravel())
    where = model.coordinate_slice(body.name)
    known = {each.coordinate: (name, each.range) for name, each in standing.read.coordinates.items()}
    readings = body.joint.readings(standing.state.q[where][None])[0] if body.joint.num_coordinates else ()
    for k, row in enumerate(settings.coordinates):
        row.start = float(readings[k])
        row.start_speed = float(standing.state.qd[where][k])
        row.stiffness, row.rest, row.damping = (
            float(getattr(body, name)[k]) for name in ("stiffness", "rest", "damping")
        )
        laws = {name: law[k].to_dict() for name in joints.LAWS if (law := getattr(body, name))[k] is not None}
        if laws:
            row.laws = json.dumps(laws)
        row.limits = "NONE"
        name, (row.lower, row.upper) = known.get(
            f"{body.name}.{body.joint.coordinate_names[k]}", ("", (row.lower, row.upper))
        )
        row.title = name.rpartition("/")[2]
        if np.isfinite(body.limits[k]).any():
            row.limits = "CUSTOM"
            row.lower, row.upper = (float(np.clip(value, -1e6, 1e6)) for value in body.limits[k])
    _check(standing, made, body, item)


def _check(standing: Standing, made: Imported, body: physics_access.Body, item: Object) -> None:
    """Warn if the joint in the scene differs from the file's."""
    found = joints.read_joint(standing.scene, item)
    q = np.asarray(standing.state.q[standing.model.coordinate_slice(body.name)])
    if found.num_coordinates == body.joint.num_coordinates:
        away = np.abs(found.transform(q) - body.joint.transform(q)).max()
        if away <= READ_BACK:
            return
    made.warnings.append(findings.about(item, "import-joint", body=body.name))


def _add_constraints(standing: Standing, made: Imported) -> None:
    for name, constraint in standing.model.constraints.items():
        if constraint.type in ("point", "weld", "distance", "planar_connector"):
            _tie(standing, made, name, constraint, constraint.type)
        elif constraint.type != "coupling" or not _couple(standing, made, name, constraint):
            found = findings.about(None, "import-constraint-type", name=name, type=constraint.type)
            made.warnings.append(found)


def _tie(standing: Standing, made: Imported, name: str, tie: Any, kind: str) -> None:
    """Import a constraint or force between two bodies as a connection of a kind, or warn that it is left out."""
    body, other, metres = tie.body, tie.other, units.length_scale(standing.scene)
    if kind in ("spring", "bushing", "ground"):  # by numbers, -1: the world
        body, other = ([*standing.model.body_names, None][each] for each in (body, other))
    if kind in ("weld", "bushing"):
        ends: Any = tie.other_frame, tie.frame
        if kind == "bushing" and tie.measured_in == "body":  # which carries the Empty
            ends, body, other = ends[::-1], other, body
        frames = np.array([standing.worlds[name] @ end for name, end in zip((other, body), ends)])
    elif kind in ("ground", "planar_connector"):
        plane, point = (tie.plane, tie.center) if kind == "ground" else (tie.frame, tie.point)
        frames = np.array([standing.worlds[other] @ plane, standing.worlds[body]])
        frames[1, :3, 3] += frames[1, :3, :3] @ point
    else:
        frames = np.array([np.eye(4), np.eye(4)])
        frames[0, :3, 3] = (standing.worlds[other] @ np.append(tie.other_point, 1.0))[:3]
        frames[1, :3, 3] = (standing.worlds[body] @ np.append(tie.point, 1.0))[:3]
    apart = float(np.abs(frames[0] - frames[1]).max())
    has_length = kind in ("distance", "spring")
    if kind in ("point", "weld") and apart > MET:
        made.warnings.append(findings.about(None, "import-constraint-apart", name=name, apart=apart))
        return
    matrix = Matrix(units.to_blender(frames[0], standing.scene).tolist())
    end = units.to_blender(frames[1], standing.scene)
    if kind not in ("point", "weld", "bushing"):
        end = end[:3, 3]
    item = connections.add_connection(
        standing.scene, target_of(made, other), target_of(made, body), kind, matrix, end, name
    )
    item.empty_display_size = SHOWN / metres
    settings = item.condyle.connection
    settings.as_placed = not has_length
    if kind == "distance":
        settings.sense, settings.length = tie.sense, tie.length / metres
    if kind == "spring":
        settings.length = tie.rest_length / metres
        settings.stiffness, settings.damping = tie.stiffness, tie.damping
    if kind == "ground":
        ground, own = settings.ground, {"plane", "stiffness", "radius", "count", "center", "dynamic_friction"}
        ground.points, ground.contact, ground.radius = "END", "BALL", tie.radius / metres
        ground.stiffness, ground.friction = tie.stiffness, tie.dynamic_friction
        ground.law = json.dumps({name: getattr(tie, name) for name in tie.row if name not in own})
        connections.set_end(standing.scene, item, end)
    if kind == "bushing":
        slopes = [each.slope for each in tie.elastic]
        settings.turn_stiffness, settings.shift_stiffness = slopes[:3], slopes[3:]
        settings.turn_damping, settings.shift_damping = tie.damping[:3], tie.damping[3:]


def _add_forces(standing: Standing, made: Imported) -> None:
    """Import springs, linear bushings and contact of spheres; warn of other forces, and name actuators."""
    for spring in standing.model.springs:
        _tie(standing, made, spring.name, spring, "spring")
    for force in standing.model.forces:
        linear = all(each.type == "linear" and not each.offset for each in getattr(force, "elastic", ()))
        kind = {"bushing": "bushing", "sphere_contact": "ground"}.get(force.type)
        if kind and linear:
            _tie(standing, made, force.name, force, kind)
            continue
        code = "import-actuator" if force.type == "wrench" else "import-force"
        told = findings.about(None, code, name=force.name, type=force.type.replace("_", " "))
        made.warnings.append(replace(told, is_hint=force.type == "wrench"))


def _couple(standing: Standing, made: Imported, name: str, constraint: Any) -> bool:
    """Import a coordinate that follows one other as a connection; returns whether it is supported."""
    if constraint.more or len(constraint.drivers) != 1:
        return False
    (leader, weight), *_ = constraint.drivers.items()
    ends = [joint_of(standing, coordinate) for coordinate in (constraint.coordinate, leader)]
    if ends[0][0] == ends[1][0]:
        return False
    (follower, number), (lead, lead_number) = ends
    bodies = [Body(made.bodies[each]) for each in (follower, lead)]
    place = made.joints[follower].matrix_world
    item = connections.add_connection(standing.scene, bodies[1], bodies[0], "coupling", place, name=name)
    item.empty_display_size = SHOWN / units.length_scale(standing.scene)
    settings = item.condyle.connection.coupling
    settings.coordinate, settings.leader_coordinate = number, lead_number
    if constraint.function.type == "linear":
        settings.ratio = float(weight * constraint.function.slope)
    else:
        settings.ratio, settings.curve = float(weight), json.dumps(constraint.function.to_dict())
    return True


#: settings of a joint with the same names and values as in physics
SAME = (
    *("sequence", "rotation_first", "skew", "semi_axes", "winging", "normal"),
    *("winging_origin", "winging_direction", "rod_length", "neutral"),
)


AXES = {"axis": "axis", "axis_1": "axis", "axis_2": "axis_2"}


#: parameters of a joint that the settings represent or have by default
KNOWN = {"type", "limit", "coordinates", *SAME, *AXES}


#: entries of joints on an ellipsoid that are its semi-axes, the settings' semi_axes
LENGTHS = {"ellipsoid": ("a", "b", "c"), "scapulothoracic": ("radii",)}


def _in_units(described: dict[str, Any], metres: float) -> dict[str, Any]:
    """A joint on an ellipsoid by the names of the settings, in Blender units."""
    axes = np.ravel([described.pop(key) for key in LENGTHS[described["type"]]])
    described["semi_axes"] = tuple(axes / metres)
    if "winging_origin" in described:
        described["winging_origin"] = tuple(np.array(described["winging_origin"]) / metres)
    return described


def set_joint(settings: JointProperties, joint: Any, metres: float = 1.0) -> bool:
    """Set a joint's settings to a joint of physics; returns False, changing nothing, if it is not supported.

    Args:
        metres: length of a unit of the scene.
    """
    inverted = joint.type == "inverted"
    if inverted:
        joint = joint.joint
    described = joint.to_dict()
    if joint.type == "ellipsoid" and min(joint.a, joint.b, joint.c) < 0.0:
        return False
    if "rod_length" in described:
        described["rod_length"] /= metres
    if joint.type in LENGTHS:
        described = _in_units(described, metres)
    plain = {key for key in described if key not in KNOWN and described[key] is not None}
    if joint.type not in TYPES or (joint.type != "custom" and plain):
        return False
    settings.type = joint.type
    settings.inverted = inverted
    if joint.type == "custom":
        settings.custom_text = json.dumps({key: value for key, value in described.items() if key != "type"})
    else:
        for key, value in described.items():
            if key in AXES:
                setattr(settings, AXES[key], tuple(value))
            elif key in SAME:
                setattr(settings, key, value)
    match_coordinates(settings)
    return True
