"""What carries simulated bodies, or touches them, and is not simulated: where the model has it.

It stands in the world, or on the simulated body that carries it in Blender. Where it is animated there it is
followed: the model has a body for it, with a free joint that `followed` moves as Blender does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain

import numpy as np
from bpy.types import Object, Scene

from ..animation.scene_model import Leaders
from ..blender import compat, physics_access, units
from ..data import colliders, findings, force_fields, references, soft_bodies
from ..data.feedback import ALONG
from ..data.findings import Finding
from ..data.references import Body, Handle, Key, key_of
from . import muscle_points


def simulated(scene: Scene) -> dict[Key, Object | None]:
    """The bodies of a scene that a simulation moves, with the joints that carry them (None: it is free)."""
    found: dict[Key, Object | None] = {}
    for item in references.carrying_joints(scene):
        child = references.resolve(item.condyle.joint.child)
        if child is not None:
            found.setdefault(key_of(child), item)
    for body in references.bodies_of(scene):
        if body.data.body.motion == "FREE":
            found.setdefault(key_of(body), None)
    return found


def wanted(scene: Scene) -> list[Body]:
    """All that is not simulated and that something simulated hangs on or touches, each once."""
    moving = simulated(scene)
    there = (body for body in _wanted(scene) if body is not None and references.in_scene(scene, body.object))
    found = {key_of(body): body for body in there}
    for item in references.joints_of(scene):  # where what it hangs on stretches, it moves on that
        above = placed_by(item)
        if above is not None and key_of(above) not in moving:
            found[key_of(Body(item))] = Body(item)
    return [body for key, body in found.items() if key not in moving]


def placed_by(item: Object) -> Body | None:
    """The parent of a joint whose Empty moves with it in Blender, too; else None."""
    settings = item.condyle.joint
    parent = None if settings.to_world else references.resolve(settings.parent)
    return parent if parent is not None and references.same(references.carrier(Body(item)), parent) else None


def _wanted(scene: Scene) -> Iterator[Body | None]:
    for item in references.joints_of(scene):
        joint = item.condyle.joint
        yield Body(item) if joint.to_world else references.resolve(joint.parent)
        for law in (each for each in joint.feedback_laws if each.active and each.signal in ALONG):
            yield from map(references.resolve, (law.point, law.origin))
    for item in references.connections_of(scene):
        settings = item.condyle.connection
        if settings.active and settings.kind != "coupling":
            yield Body(held_by(item)) if settings.to_world else references.resolve(settings.other)
            yield references.resolve(settings.body)
    yield from colliders.in_use(scene)
    yield from map(Body, force_fields.in_use(scene))
    for item in soft_bodies.in_use(scene):
        yield from soft_carriers(scene, item)
    for item in muscle_points.muscles_of(scene):
        muscle = item.condyle.muscle
        if muscle.active:
            yield from (Body(row.obstacle) for row in muscle.obstacles if row.obstacle is not None)
            hooks = (each for each in item.modifiers if each.type == "HOOK" and each.object is not None)
            yield from (references.there(each.object, each.subtarget) for each in hooks)


def soft_carriers(scene: Scene, item: Object) -> list[Body]:
    """What the nodes of a soft body may be attached to: the bones that its skin names, its parent, else all bodies."""
    shown = references.live(item)
    rig = next((each.object for each in shown.modifiers if each.type == "ARMATURE" and each.object), None)
    if rig is None and shown.parent_type == "ARMATURE":
        rig = shown.parent
    if rig is not None and rig.pose is not None:
        record = references.object_in(scene, rig.session_uid)
        bones = [group.name for group in shown.vertex_groups if group.name in rig.pose.bones]
        if record is not None and bones:
            return [Body(record, bone) for bone in bones]
    parent = references.blender_parent(Body(item))
    if parent is not None:
        return [references.there(parent.object, parent.bone)]
    return [body for body in references.bodies_of(scene) if body.object != item]


def held_by(item: Object) -> Object:
    """What a connection that is held to the world is placed by: its Empty, or the surface of a ground."""
    ground = item.condyle.connection.ground
    is_ground = item.condyle.connection.kind == "ground"
    return ground.surface if is_ground and ground.surface is not None else item


def base_of(body: Body, moving: Mapping[Key, Object | None]) -> Body | None:
    """The simulated body that carries another in Blender; None: the world, also where joints hang it on that other."""
    above = next((each for each in carrying(body) if key_of(each) in moving), None)
    return None if above is None or hangs_on(above, body, moving) else above


def circle(item: Object, moving: Mapping[Key, Object | None]) -> Finding | None:
    """A finding where a joint's parent is carried in Blender by what hangs on it: nothing holds that."""
    parent = None if item.condyle.joint.to_world else references.resolve(item.condyle.joint.parent)
    for body in () if parent is None else chain([parent], carrying(parent)):
        if key_of(body) in moving:
            if references.same(body, parent) or not hangs_on(body, parent, moving):
                return None
            found = findings.about(
                item, "parent-on-child", joint=item.name, parent=parent.name, body=body.name
            )
            return replace(found, is_error=True)
        copies = (each for each in body.owner.constraints if each.type == "COPY_TRANSFORMS")
        if any(each.influence == 1.0 and compat.acts(body.object, each) for each in copies):
            return None  # it is not where Blender's parent takes it
    return None


def carrying(body: Body, base: Body | None = None) -> Iterator[Body]:
    """What carries a body in Blender, from the nearest on, up to its base."""
    above = references.carrier(body)
    while above is not None and not references.same(above, base):
        yield above
        above = references.carrier(above)


def hangs_on(body: Body, other: Body, moving: Mapping[Key, Object | None]) -> bool:
    """Whether joints hang a simulated body, in turn, on another body."""
    known: set[Key] = set()
    above: Body | None = body
    while above is not None and key_of(above) not in known:
        known.add(key_of(above))
        if key_of(above) not in moving:
            above = references.carrier(above)
            continue
        joint = moving[key_of(above)]
        settings = None if joint is None else joint.condyle.joint
        above = None if settings is None else Body(joint)
        if settings is not None and not settings.to_world:
            above = references.resolve(settings.parent)
        if references.same(above, other):
            return True
    return False


class Carriers:
    """Tells on which bodies of a model things are.

    Args:
        moving: of `simulated`. followed: what is animated, see `Leaders`.
    """

    def __init__(self, scene: Scene, moving: Mapping[Key, Object | None], followed: Leaders) -> None:
        self.moving = moving
        self._followed: dict[Key, Body] = {}
        for handle, leader in followed.leaders.items():
            body, led_by = handle.find_in(scene), leader.find_in(scene)
            if body is not None and led_by is not None:
                self._followed[key_of(body)] = led_by

    def leaders(self) -> Iterator[tuple[Body, Body | None]]:
        """The bodies that are followed, each once, and the simulated ones that carry them (None: the world)."""
        for body in {key_of(leader): leader for leader in self._followed.values()}.values():
            yield body, base_of(body, self.moving)

    def simulates(self, body: Body) -> bool:
        """Whether a simulation moves a body."""
        return key_of(body) in self.moving

    def base(self, body: Body | None) -> Body | None:
        """The body of the model that another is, or is rigidly carried by; None: the world."""
        if body is None or self.simulates(body):
            return body
        return self._followed.get(key_of(body)) or base_of(body, self.moving)

    def under(self, item: Object, body: Body | None) -> Body | None:
        """As `base`, of what carries a joint or connection; it hangs on the object that it is placed by if this is
        animated, without a parent (None), or where its parent stretches.
        """
        return self._followed.get(key_of(Body(item))) or (None if body is None else self.base(body))

    def name(self, base: Body | None) -> str | None:
        """Name in the model of one of its bodies; None: of the world."""
        if base is None:
            return None
        return base.name if self.simulates(base) else name_of(base)

    def on(self, body: Body | None) -> tuple[str | None, np.ndarray]:
        """Name and pose now (4, 4), in Blender units, of the `base` of a body."""
        base = self.base(body)
        return self.name(base), muscle_points.pose_of(base)


def name_of(body: Body) -> str:
    """Name in the model of a body that is followed: joints that close loops have bodies with names of their Empties."""
    return f"{body.name} (animated)"


def joint_of(leader: Handle, followed: Leaders) -> physics_access.Joint:
    """The joint of what is followed: a free one. What turns far has a hinge on it, so that the rest stays within half a
    turn: near whole turns rotation vectors swing around.
    """
    joints = physics_access.physics().joints
    axis = followed.axes.get(leader)
    return joints.Free() if axis is None else joints.Composite((joints.Free(), joints.Hinge(axis)))


def relative(body: Body, base: Body | None) -> np.ndarray:
    """Pose (4, 4) of a body in another (None: in the world) as the scene is evaluated now, in Blender units."""
    own = units.split_scale(body.matrix, body.name, body.owner)[0]
    return physics_access.physics().lie.inverse(muscle_points.pose_of(base)) @ own
