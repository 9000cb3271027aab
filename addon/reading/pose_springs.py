"""Springs that pull bodies to their animation (`SpringProperties`), by a frequency and a damping ratio.

With w = 2 pi times the frequency the stiffness of a joint's coordinates is k = n I w^2. I is the largest principal
moment about the joint of all that hangs on it, as the scene stands (its mass, where a coordinate is a length), and n
the number of springs one behind the other on the longest way through it. A single body swings exactly so. In a chain
each joint alone would swing with w sqrt(n), so the chain's slowest swing is w by Dunkerley's estimate, sum of all
1 / w_i^2, from which it is 0 to 22 % faster. Damping is 2 zeta k / w: the slowest swing has the damping ratio zeta.

In a long chain the other swings are some thousand times as fast, too fast for an explicit step h. So springs act by
their values at its end: implicitly, (M + h c + h^2 k) q'' = k (target - q) - (c + h k) q', which is a rotor of inertia
h (c + h k) on the coordinate and a damper c + h k. It adds h w / 2 to the damping ratio: 0.006 at 2 Hz with 1 ms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from bpy.types import Object, Scene

from ..animation.scene_model import PoseSpring
from ..blender import compat, physics_access, units
from ..blender.physics_access import model_error
from ..data import frame_times, references
from ..data.references import Body
from ..data.stored_joints import child_in_joint
from .masses import soft_name

#: methods that treat springs explicitly, in steps of a fixed length
EXPLICIT = {"symplectic_euler", "forward_euler", "rk4", "event_driven"}
#: rotations and places that a pose tells at once
PLAIN = {"spherical", "translational"}


@dataclass(frozen=True)
class Sprung:
    """A body of the model with the Empty of its joint, and that body's number."""

    body: Body
    joint: Object
    number: int


def is_on(item: Object) -> bool:
    """Whether a spring pulls the child of a joint to its animation; the joint's controller does so instead of it."""
    settings = item.condyle.joint
    if settings.closes_loop or settings.controller.enabled:
        return False
    child = references.resolve(settings.child)
    return child is not None and bool(child.data.body.spring.enabled)


def leads(item: Object) -> bool:
    """Whether a spring pulls the child of a joint to a pose that may change with time."""
    return is_on(item) and (item.condyle.joint.type not in PLAIN or not stands(item))


def stands(item: Object) -> bool:
    """Whether a joint's child keeps its pose on the parent: that carries it in Blender, and nothing moves it there."""
    settings = item.condyle.joint
    child = references.resolve(settings.child)
    parent = None if settings.to_world else references.resolve(settings.parent)
    if child is None or parent is None or not references.same(references.carrier(child), parent):
        return False
    if child.bone and not child.pose_bone.bone.use_inherit_rotation:
        return False
    if settings.driven or any(compat.acts(child.object, each) for each in child.owner.constraints):
        return False
    if child.bone and any(child.pose_bone in chain for _, _, chain in compat.ik_chains(child.object)):
        return False
    data = child.object.animation_data
    if data is None:
        return True
    if data.nla_tracks:
        return False
    curves = (*compat.curves_in_use(child.object), *data.drivers)
    paths = ("location", "rotation", "scale") if not child.bone else (child.path_prefix,)
    return not any(curve.data_path.startswith(paths) for curve in curves)


def settles(item: Object) -> bool:
    """Whether a joint with a spring starts settled."""
    return bool(item.condyle.joint.start_from == "SETTLED" and is_on(item))


def add(
    scene: Scene,
    builder: physics_access.ModelBuilder,
    bodies: Mapping[str, Body],
    joints: Mapping[str, Object],
) -> tuple[dict[str, np.ndarray], tuple[PoseSpring, ...]]:
    """Add the springs of all bodies that have one; the coordinates (n,) of bodies that start where these pull them to,
    and the springs.

    Args:
        bodies: the scene's by their names in the model. joints: the Empties that carry them, by the same names.
    """
    numbers = {body.name: number for number, body in enumerate(builder.bodies)}
    sprung = [Sprung(bodies[name], item, numbers[name]) for name, item in joints.items() if is_on(item)]
    starts: dict[str, np.ndarray] = {}
    if not sprung:
        return starts, ()
    settings, made = scene.condyle.simulation, list[PoseSpring]()
    step = frame_times.step(scene) if settings.integrator in EXPLICIT else 0.0
    targets = _targets(scene, [each.joint for each in sprung if not leads(each.joint)])
    for each, carried in zip(sprung, _carried(scene, builder, bodies, sprung)):
        body, own = builder.bodies[each.number], each.body.data.body
        mass = body.mass + sum(other.mass for other in builder.bodies if other.name == soft_name(body.name))
        names = each.body.handle(), body.name, each.joint.name
        spring = PoseSpring(*names, own, carried, np.array(body.armature), step, mass)
        gains = spring.gains(own)
        builder.bodies[each.number] = replace(body, armature=gains.pop("armature"))
        builder.bodies[each.number].lock()
        target = targets.get(each.joint.session_uid)
        builder.add_controller(each.joint.name, body.name, **gains, target=0.0 if target is None else target)
        if target is not None and settles(each.joint):
            starts[body.name] = target
        made.append(spring)
    return starts, tuple(made)


def _targets(scene: Scene, items: Sequence[Object]) -> dict[int, np.ndarray]:
    """Coordinates (n,) of joints, by session uid, in the poses that their children keep."""
    if not items:
        return {}
    bases, worlds, rests = [], [], []
    for item in items:
        child = references.resolve(item.condyle.joint.child)
        bases.append(units.split_scale(item.matrix_world, f"joint {item.name!r}", item)[0])
        worlds.append(units.split_scale(child.matrix, child.name, child.owner)[0])
        rests.append(child_in_joint(item))
    lie = physics_access.physics().lie
    poses = lie.inverse(np.array(bases)) @ np.array(worlds) @ lie.inverse(np.array(rests))
    turns, places = lie.so3_log(poses[:, :3, :3]), poses[:, :3, 3] * units.length_scale(scene)
    return {
        item.session_uid: turn if item.condyle.joint.type == "spherical" else place
        for item, turn, place in zip(items, turns, places)
    }


def _carried(
    scene: Scene, builder: physics_access.ModelBuilder, bodies: Mapping[str, Body], sprung: Sequence[Sprung]
) -> list[np.ndarray]:
    """n I of the coordinates (n,) of each body with a spring; nan where they are neither angles nor lengths."""
    parents = [body.parent for body in builder.bodies]
    poses = _poses(scene, builder, bodies)
    masses, moments, inertias = _composites(builder, parents, poses)
    rows = _in_a_row(parents, {each.number for each in sprung})
    found = []
    for each in sprung:
        settings, joint = each.body.data.body.spring, builder.bodies[each.number].joint
        if not set(joint.coordinate_units) <= {"rad", "m"}:
            if settings.strength == "STIFFNESS":
                found.append(np.full(joint.num_coordinates, np.nan))
                continue
            raise model_error(
                f"{each.body.name}: its joint {each.joint.name!r} has coordinates that are neither angles nor lengths, "
                "so its spring has no Frequency; choose Strength By: Stiffness"
            )
        mass, k = masses[each.number], each.number
        place = units.array4(each.joint.matrix_world)[:3, 3] * units.length_scale(scene)
        moment = _about(mass, moments[k], inertias[k], place)
        found.append(rows[k] * np.array([mass if unit == "m" else moment for unit in joint.coordinate_units]))
    return found


def _poses(scene: Scene, builder: physics_access.ModelBuilder, bodies: Mapping[str, Body]) -> np.ndarray:
    """World poses (n, 4, 4) of the model's bodies [m]; soft parts lie where their bodies are."""
    poses = np.tile(np.eye(4), (len(builder.bodies), 1, 1))
    for k, body in enumerate(builder.bodies):
        if body.name in bodies:
            there = bodies[body.name]
            poses[k] = units.to_metres(units.split_scale(there.matrix, there.name, there.owner)[0], scene)
        elif body.parent >= 0:
            poses[k] = poses[body.parent]
    return poses


def _composites(
    builder: physics_access.ModelBuilder, parents: Sequence[int], poses: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each body with all that hangs on it: mass (n,), first moment (n, 3) and inertia (n, 3, 3), of the world's
    origin and axes.
    """
    turns = poses[:, :3, :3]
    masses = np.array([body.mass for body in builder.bodies])
    places = (
        np.einsum("kij,kj->ki", poses[:, :3, :3], [body.com for body in builder.bodies]) + poses[:, :3, 3]
    )
    inertias = turns @ np.array([body.inertia for body in builder.bodies]) @ turns.swapaxes(1, 2)
    inertias += masses[:, None, None] * _squares(places)
    moments = masses[:, None] * places
    for k in reversed(range(len(parents))):
        if parents[k] >= 0:
            for values in (masses, moments, inertias):
                values[parents[k]] += values[k]
    return masses, moments, inertias


def _squares(places: np.ndarray) -> np.ndarray:
    """Inertias (..., 3, 3) of unit masses at places (..., 3) about the origin."""
    square = np.sum(places * places, axis=-1)[..., None, None]
    return np.asarray(square * np.eye(3) - places[..., :, None] * places[..., None, :])


def _about(mass: float, moment: np.ndarray, inertia: np.ndarray, place: np.ndarray) -> float:
    """Largest principal moment about a place (3,) of what has this inertia (3, 3) about the origin."""
    middle = moment / mass
    moved = inertia - mass * _squares(middle) + mass * _squares(middle - place)
    return float(np.linalg.eigvalsh(moved)[-1])


def _in_a_row(parents: Sequence[int], sprung: set[int]) -> list[int]:
    """Number of springs on the longest way through each body, from the first behind one without a spring."""
    above, below = [0] * len(parents), [0] * len(parents)
    for k, parent in enumerate(parents):
        above[k] = (above[parent] if parent >= 0 else 0) + 1 if k in sprung else 0
    for k in reversed(range(len(parents))):
        if k in sprung and parents[k] >= 0:
            below[parents[k]] = max(below[parents[k]], below[k] + 1)
    return [up + down for up, down in zip(above, below)]
