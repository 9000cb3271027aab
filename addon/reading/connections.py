"""Reads a connection's Empty into a constraint, spring or ground of physics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from bpy.types import Object, Scene

from ..blender import physics_access, units
from ..blender.physics_access import model_error
from ..data import references
from ..data.connection_kinds import KINDS, has_end, joins_places
from ..data.connections import GroundProperties
from ..data.references import Body
from ..data.stored_joints import json_object
from . import meshes
from .carriers import Carriers, held_by


@dataclass(frozen=True)
class Sides:
    """Names of the bodies of the model on both sides (None: the world) and the frames (4, 4) there [m]; whether the
    connection's body is the other one.
    """

    body: str | None
    other: str | None
    on_body: np.ndarray
    on_other: np.ndarray
    turned: bool = False

    def swapped(self) -> Sides:
        return Sides(self.other, self.body, self.on_other, self.on_body, not self.turned)

    @property
    def point(self) -> np.ndarray:
        return self.on_body[:3, 3]

    @property
    def other_point(self) -> np.ndarray:
        return self.on_other[:3, 3]


@dataclass(frozen=True)
class Coordinates:
    """A joint of the model for couplings: its body's name, the joint, and its start coordinates (n,)."""

    body: str
    joint: Any
    start: np.ndarray


def add_all(
    scene: Scene, builder: physics_access.ModelBuilder, known: Carriers, joints: Mapping[int, Coordinates]
) -> tuple[str, ...]:
    """Add every active connection of the scene to a model builder.

    Args:
        known: of the model's bodies. joints: by session uid of their Empties.

    Returns:
        Names of the constraints.

    Raises:
        ModelError: a connection cannot be read; names it. The scene is unchanged.
    """
    for item in references.connections_of(scene):
        settings = item.condyle.connection
        if not settings.active:
            continue
        name = item.name
        try:
            if settings.kind == "coupling":
                builder.add_constraint(name, _coupling(item, joints))
                continue
            sides = _sides(scene, item, known)
            if settings.kind == "spring":
                builder.add_spring(
                    name, sides.body, sides.point, sides.other, sides.other_point, **_spring(scene, item)
                )
            elif settings.kind == "ground":
                _add_ground(scene, item, builder, sides)
            elif settings.kind == "bushing":
                builder.add_bushing(
                    name,
                    sides.body,
                    sides.other,
                    elastic=[*settings.turn_stiffness, *settings.shift_stiffness],
                    damping=[*settings.turn_damping, *settings.shift_damping],
                    frame=sides.on_body,
                    other_frame=sides.on_other,
                    measured_in="body" if sides.turned else "other",
                )
            else:
                length = _length(scene, item)
                builder.add_constraint(
                    name, constraint(scene, item, sides, length, units.length_scale(scene))
                )
        except physics_access.physics().CondyleError as error:
            text = str(error)
            raise model_error(
                text if repr(name) in text else f"{KINDS[settings.kind].label} {name!r}: {text}"
            ) from error
    return tuple(builder.constraints)


def _sides(scene: Scene, item: Object, known: Carriers) -> Sides:
    """Bodies and frames of a connection in the evaluated scene; what stands still counts as the world."""
    settings, called = item.condyle.connection, f"connection {item.name!r}"
    references.check_evaluated(item, called)
    body, other = references.resolve(settings.body), references.resolve(settings.other)
    references.check_role(scene, called, body, "body")
    if settings.to_world:
        other = None
    else:
        references.check_role(scene, called, other, "other body")
    if references.same(body, other):
        raise model_error("it has the same body on both sides")
    frame, end = placed(scene, item)
    bases = [known.base(body), known.under(held_by(item), other)]
    if not any(base is not None and known.simulates(base) for base in bases):
        raise model_error(
            f"neither {body.name} nor the other side is simulated: add a joint to one of them, or make it Simulated"
        )
    names = [known.name(base) for base in bases]
    poses = [units.to_metres(_in_body(*each), scene) for each in zip((end, frame), bases)]
    sides = Sides(names[0], names[1], poses[0], poses[1])
    if sides.body is not None:
        return sides
    if KINDS[settings.kind].sided:
        raise model_error(
            f"{body.name}, whose points it constrains, is fixed: add a joint to it, or make it Simulated"
        )
    return sides.swapped()


def _in_body(pose: np.ndarray, body: Body | None) -> np.ndarray:
    if body is None:
        return pose
    base, _ = units.split_scale(body.matrix, body.name, body.owner)
    return physics_access.physics().lie.inverse(base) @ pose


def placed(scene: Scene, item: Object) -> tuple[np.ndarray, np.ndarray]:
    """Frame of a connection and its end on the body (4, 4) in the evaluated scene's world, in Blender units."""
    settings = item.condyle.connection
    frame, _ = units.split_scale(item.matrix_world, f"connection {item.name!r}", item)
    if settings.kind == "ground" and settings.ground.surface is not None:
        frame = _plane_of(scene, settings.ground.surface)
    is_joined = joins_places(settings)
    if not has_end(settings):
        return frame, frame
    end = frame.copy()
    if references.in_scene(scene, settings.end):
        references.check_evaluated(settings.end, f"its end {settings.end.name!r}")
        if is_joined:
            return frame, units.split_scale(settings.end.matrix_world, settings.end.name, settings.end)[0]
        end[:3, 3] = settings.end.matrix_world.translation
    elif is_joined or settings.kind == "ground":
        other = "turn off Own Places" if is_joined else "choose other Points"
        raise model_error(f"its end is missing: press Add End, or {other}")
    elif not KINDS[settings.kind].sided:
        body = references.resolve(settings.body)
        if body is not None:
            end[:3, 3] = body.matrix.translation
    return frame, end


def _plane_of(scene: Scene, surface: Object) -> np.ndarray:
    """Pose (4, 4) of an object's x-y plane, without its scale."""
    if not references.in_scene(scene, surface):
        raise model_error(f"its surface {surface.name!r} is not in scene {scene.name!r}")
    references.check_evaluated(surface, f"its surface {surface.name!r}")
    matrix = units.array4(surface.matrix_world)
    normal = np.cross(matrix[:3, 0], matrix[:3, 1])
    along, length = matrix[:3, 0], float(np.linalg.norm(normal))
    if not length > 0.0:
        raise model_error(f"its surface {surface.name!r} has no plane: its scale is zero along x or y")
    frame = np.eye(4)
    frame[:3, 2] = normal / length
    frame[:3, 0] = along / np.linalg.norm(along)
    frame[:3, 1] = np.cross(frame[:3, 2], frame[:3, 0])
    frame[:3, 3] = matrix[:3, 3]
    return frame


def _length(scene: Scene, item: Object) -> float:
    """Length of a rod or spring [m]."""
    settings = item.condyle.connection
    if not settings.as_placed:
        return float(settings.length) * units.length_scale(scene)
    frame, end = placed(scene, item)
    return float(np.linalg.norm(end[:3, 3] - frame[:3, 3])) * units.length_scale(scene)


def constraint(
    scene: Scene, item: Object, sides: Sides, length: float, metres: float
) -> physics_access.Constraint:
    """The constraint of physics between two sides.

    Args:
        length: of a rod, in the sides' units. metres: these units per Blender unit.
    """
    settings, kinds = item.condyle.connection, physics_access.part("constraints")
    kind = "weld" if settings.kind == "bushing" else settings.kind  # which is drawn so
    bodies, points = (sides.body, sides.other), (sides.point, sides.other_point)
    if settings.kind == "point":
        return kinds.PointConstraint(*bodies, *points)
    if settings.kind == "distance":
        return kinds.DistanceConstraint(*bodies, *points, length, settings.sense)
    plane = (sides.body, sides.point, sides.other, sides.on_other, settings.unilateral)
    if settings.kind == "planar_connector":
        return kinds.PlanarConnector(*plane)
    if settings.kind == "segmented_planar_connector":
        return kinds.SegmentedPlanarConnector(*plane, metres * corners(scene, item))
    return kinds.REGISTRY[kind](*bodies, sides.on_body, sides.on_other)


def corners(scene: Scene, item: Object) -> np.ndarray:
    """Corners (m, 2) of a bent plane, along x and z of its Empty, in Blender units."""
    settings = item.condyle.connection
    if settings.profile is None:
        return np.array([row.place for row in settings.corners], dtype=np.float64).reshape(-1, 2)
    if not references.in_scene(scene, settings.profile):
        raise model_error(f"its profile {settings.profile.name!r} is not in scene {scene.name!r}")
    splines = settings.profile.data.splines
    if not len(splines):
        raise model_error(f"its profile {settings.profile.name!r} has no points")
    spline = splines[0]
    points = [point.co[:3] for point in (spline.bezier_points if spline.type == "BEZIER" else spline.points)]
    base = physics_access.physics().lie.inverse(units.split_scale(item.matrix_world, item.name, item)[0])
    matrix = base @ units.array4(settings.profile.matrix_world)
    found = np.array(points, dtype=np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
    return found[:, [0, 2]]


def _coupling(item: Object, joints: Mapping[int, Coordinates]) -> physics_access.Constraint:
    settings = item.condyle.connection
    coupling = settings.coupling
    follower, start = coordinate(coupling.joint, coupling.coordinate, joints, "joint")
    leader, leader_start = coordinate(coupling.leader, coupling.leader_coordinate, joints, "leading joint")
    functions = physics_access.part("joints.functions")
    if coupling.curve:
        function = functions.function_from_dict(json_object(coupling.curve, "its curve"))
    else:  # as_placed: the offset keeps the start values
        offset = start - coupling.ratio * leader_start if settings.as_placed else 0.0
        function = functions.Linear(1.0, offset)
    return physics_access.part("constraints").CouplingConstraint(follower, {leader: coupling.ratio}, function)


def coordinate(
    item: Object | None, number: int, joints: Mapping[int, Coordinates], what: str
) -> tuple[str, float]:
    """Name in the model and start of a joint's coordinate of this number, from 1."""
    found = None if item is None else joints.get(item.session_uid)
    if found is None:
        raise model_error(
            f"its {what} is missing; choose one"
            if item is None
            else f"its {what} {item.name!r} is no joint of the scene"
        )
    joint = found.joint
    if joint.reading_names != joint.coordinate_names:
        raise model_error(
            f"its {what} {item.name!r} cannot be used: its readings ({', '.join(joint.reading_names)}) differ from its "
            "simulated coordinates"
        )
    if not 1 <= number <= joint.num_coordinates:
        raise model_error(
            f"its {what} {item.name!r} has {joint.num_coordinates} coordinates, but number {number} is chosen"
        )
    return f"{found.body}.{joint.coordinate_names[number - 1]}", float(found.start[number - 1])


def _spring(scene: Scene, item: Object) -> dict[str, float]:
    settings = item.condyle.connection
    return {"stiffness": settings.stiffness, "damping": settings.damping, "rest_length": _length(scene, item)}


def _add_ground(scene: Scene, item: Object, builder: physics_access.ModelBuilder, sides: Sides) -> None:
    settings = item.condyle.connection.ground
    body = references.resolve(item.condyle.connection.body)
    metres = units.length_scale(scene)
    points = sides.point[None] if settings.points == "END" else metres * touching_points(settings, body)
    if settings.contact == "BALL":
        law = json_object(settings.law, "the text of its law") if settings.law else {}
        ball: dict[str, Any] = dict.fromkeys(("static_friction", "dynamic_friction"), settings.friction) | law
        ball |= {"type": "sphere_contact", "body": sides.body, "other": sides.other, "plane": sides.on_other}
        ball |= {"radius": settings.radius * metres, "stiffness": settings.stiffness}
        names = [item.name, *(f"{item.name} {number}" for number in range(2, len(points) + 1))]
        builder.read_forces([{**ball, "name": name, "center": at} for name, at in zip(names, points)])
        return
    shared: dict[str, Any] = {
        "other": sides.other,
        "radius": settings.radius * metres,
        "friction": settings.friction,
    }
    if settings.contact == "RIGID":
        plane = physics_access.part("contacts").Plane()
        builder.add_contact(
            item.name,
            sides.body,
            points,
            plane,
            pose=sides.on_other,
            restitution=settings.restitution,
            **shared,
        )
        return
    builder.add_ground(
        item.name,
        sides.body,
        points,
        plane=sides.on_other,
        stiffness=settings.stiffness,
        exponent=settings.exponent,
        damping=settings.damping,
        smooth_speed=settings.smooth_speed,
        **shared,
    )


def touching_points(settings: GroundProperties, body: Body, evaluated: bool = True) -> np.ndarray:
    """Points (n, 3) of a body that can touch the ground, in the body's frame, in Blender units.

    Args:
        evaluated: use the mesh with its modifiers; False for drawing, which must not evaluate.
    """
    if settings.points == "ORIGIN":
        return np.zeros((1, 3))
    shape = body.data.body.shape or (body.object if not body.bone else None)
    if shape is None and body.bone and settings.points == "EXTREME":
        return _ends_of_bone(body)
    if shape is None or shape.type != "MESH":
        raise model_error(f"{body.name} has no mesh with points to touch the ground; choose Origin")
    references.check_evaluated(shape, f"{body.name}: its shape {shape.name!r}")
    vertices = meshes.mesh_arrays(shape)[0] if evaluated else meshes.stored_vertices(shape)
    if settings.points == "GROUP":
        vertices = vertices[meshes.in_group(shape, settings.vertex_group, len(vertices))]
    base = physics_access.physics().lie.inverse(units.split_scale(body.matrix, body.name, body.owner)[0])
    matrix = base @ units.array4(shape.matrix_world)
    points = vertices @ matrix[:3, :3].T + matrix[:3, 3]
    if settings.points == "EXTREME" and len(points):
        points = points[outermost(points, settings.num_points)]
    if not len(points):
        raise model_error(f"{body.name}: {shape.name!r} has no vertices to touch the ground")
    return points


def _ends_of_bone(body: Body) -> np.ndarray:
    """Head and tail (2, 3) of a bone, in its own frame, in Blender units."""
    length = body.pose_bone.bone.length * float(np.cbrt(abs(body.matrix.determinant())))
    return np.array([[0.0, 0.0, 0.0], [0.0, length, 0.0]])


def outermost(points: np.ndarray, count: int) -> np.ndarray:
    """Indices of the points (n, 3) farthest along each of `count` directions spread over a sphere, from 6 on with those
    along the axes.
    """
    k = np.arange(count) + 0.5
    height = 1.0 - 2.0 * k / count
    turn = np.pi * (1.0 + np.sqrt(5.0)) * k
    ring = np.sqrt(1.0 - height**2)
    directions = np.stack([ring * np.cos(turn), ring * np.sin(turn), height], axis=1)
    if count >= 6:
        directions = np.concatenate([directions[: count - 6], np.eye(3), -np.eye(3)])
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    return np.unique(np.argmax((points - middle) @ directions.T, axis=0))
