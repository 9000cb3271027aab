"""Bodies that begin inside the ground: hard ground refuses them, soft ground pushes them out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..animation import inputs as forcing
from ..animation.scene_model import SceneModel
from ..blender import physics_access, units
from ..data import findings
from ..data.findings import Finding
from . import falling

# Depth in hard ground [m] from which a simulation refuses to begin (`PASSED_AT_START` of `physics.starting`, which
# Blender's process does not import).
REFUSED = 1e-3
# Soft ground that could send what lies in it out of itself faster than this [m/s] is told: half a millimetre high; if
# it does so with more than this [m/s²]: levers, springs and torques may press a body in with more than its weight.
THROWN, PUSHED = 0.1, 1.0


@dataclass(frozen=True)
class Inside:
    """A body that begins inside ground: its number in the model, that ground's name, how deep [m], and whether the
    ground is hard; of soft ground also the deepest point in the body's frame (3,) and the ground's normal there (3,).
    """

    body: int
    ground: str
    depth: float
    is_hard: bool
    point: np.ndarray | None = None
    normal: np.ndarray | None = None

    def finding(self, read: SceneModel) -> Finding:
        """The line for people."""
        code, name = "deep-start" if self.is_hard else "deep-soft-start", read.model.body_names[self.body]
        depth = units.told_length(self.depth)
        return findings.about(read.handle_of(self.body), code, body=name, depth=depth, ground=self.ground)


def check(
    read: SceneModel, standing: Sequence[falling.Standing], forces: Callable[[], np.ndarray | None]
) -> list[Finding]:
    """What begins inside ground.

    Args:
        standing: of the bodies of the model. forces: gives generalized forces and inputs then, or None.
    """
    if not _has_ground(read.model):
        return []
    led, poses = (
        {each.name for each in read.leaders},
        physics_access.physics().body_poses(read.model, read.state),
    )
    shown: set[int] = set()
    for entry, stands in zip(read.bodies, standing):
        index = entry.index
        if stands.is_held:
            led.add(entry.name)
        by_animation = not stands.starts_as_set or entry.name in led
        if by_animation or read.model.bodies[index].parent in shown:
            shown.add(index)
            poses[index] = stands.pose
    soft = list(_in_soft(read.model, poses, led))
    if soft and not shown:
        soft = _thrown(read.model, read.state, forces(), soft, led)
    # what is off its constraints is led onto them first, maybe out of the ground
    sure = not read.model.constraints
    hard = [replace(each.finding(read), is_error=sure) for each in _in_hard(read.model, poses)]
    return [*hard, *(each.finding(read) for each in soft)]


def warnings(read: SceneModel, led: Collection[str], inputs: physics_access.Table | None) -> list[Finding]:
    """Findings about what soft ground will push out of itself, from the state in which a run begins.

    led: names of the bodies whose joints follow their animation there. inputs: the `Table` that drives it, or None.
    """
    model, state = read.model, read.state
    if not _has_ground(model):
        return []
    soft = list(_in_soft(model, physics_access.physics().body_poses(model, state), led))
    forces = forcing.sampled(model, inputs, np.array([state.time]))[0]
    return [each.finding(read) for each in _thrown(model, state, forces, soft, led)]


def _thrown(
    model: physics_access.Model,
    state: physics_access.State,
    forces: np.ndarray | None,
    soft: list[Inside],
    led: Collection[str],
) -> list[Inside]:
    """What is in soft ground without what rests there; of what hangs together with something led that is not known."""
    together = falling.together(model, falling.of_bodies(model))
    led_there = {int(together[model.index(name)]) for name in led}
    free = [each for each in soft if int(together[each.body]) not in led_there]
    pushed = {each.body for each in _pushed(model, state, forces, free)} if free else set()
    resting = {each.body for each in free} - pushed
    return [each for each in soft if each.body not in resting]


def _pushed(
    model: physics_access.Model, state: physics_access.State, forces: np.ndarray | None, soft: list[Inside]
) -> list[Inside]:
    """Those of what is in soft ground that begin to leave it; all where forces cannot be told apart from impacts."""
    physics = physics_access.physics()
    try:
        if model.constraints or model.contacts:
            qdd = physics.constrained_dynamics(model, state, forces).qdd
        else:
            qdd = physics.forward_dynamics(model, state, forces)
    except physics.CondyleError:
        return soft
    found = []
    for each in soft:
        twist = physics.body_jacobian(model, state, model.body_names[each.body]) @ qdd
        if (twist[3:] + np.cross(twist[:3], each.point)) @ each.normal > PUSHED:
            found.append(each)
    return found


def refuse(read: SceneModel) -> None:
    """ModelError where a simulation would refuse to begin in this state, as far as that is known without one."""
    if read.model.contacts and not read.model.constraints:
        poses = physics_access.physics().body_poses(read.model, read.state)
        for each in _in_hard(read.model, poses):
            raise physics_access.model_error(each.finding(read).text)


def _has_ground(model: physics_access.Model) -> bool:
    return bool(model.contacts) or any(
        isinstance(each, physics_access.part("forces").Ground) for each in model.forces
    )


def _in_hard(model: physics_access.Model, poses: np.ndarray) -> Iterator[Inside]:
    """The deepest contact of each body that is too deep to begin there."""
    deepest: dict[int, Inside] = {}
    for contact in model.contacts:
        depth = float(_depths(poses, contact, contact.pose, contact.radii).max())
        if depth > REFUSED and (contact.body not in deepest or depth > deepest[contact.body].depth):
            deepest[contact.body] = Inside(contact.body, contact.name, depth, True)
    yield from deepest.values()


def _in_soft(model: physics_access.Model, poses: np.ndarray, led: Container[str]) -> Iterator[Inside]:
    """Of bodies that hang together the one that is deepest in soft ground, where that holds more energy than it takes
    to lift them all out: more than under their own weight at rest, when it holds no more than half of that.
    """
    together, gravity = (
        falling.together(model, falling.of_bodies(model)),
        float(np.linalg.norm(model.gravity)),
    )
    masses = np.array([body.mass for body in model.bodies])
    energy: dict[int, float] = {}
    deepest: dict[int, Inside] = {}
    for ground in model.forces:
        if not isinstance(ground, physics_access.part("forces").Ground):
            continue
        if not any(_moves(model, body, led) for body in (ground.body, ground.other)):
            continue
        depths = np.maximum(_depths(poses, ground, ground.plane, ground.radius), 0.0)
        if not depths.any():
            continue
        group, power, depth = int(together[ground.body]), ground.exponent + 1.0, float(depths.max())
        energy[group] = energy.get(group, 0.0) + ground.stiffness / power * float((depths**power).sum())
        if group not in deepest or depth > deepest[group].depth:
            point = ground.points[int(depths.argmax())]
            normal = poses[ground.body][:3, :3].T @ _in_world(poses, ground, ground.plane)[:3, 2]
            deepest[group] = Inside(ground.body, ground.name, depth, False, point, normal)
    for group, found in deepest.items():
        mass = float(masses[together == group].sum())
        if energy[group] > mass * (gravity * found.depth + 0.5 * THROWN**2):
            yield found


def _depths(
    poses: np.ndarray,
    touching: physics_access.Contact | physics_access.Ground,
    plane: np.ndarray,
    radius: float | np.ndarray,
) -> np.ndarray:
    """How deep [m] points (n,) of a body are in a plane; negative outside."""
    pose = poses[touching.body]
    points = touching.points @ pose[:3, :3].T + pose[:3, 3]
    plane = _in_world(poses, touching, plane)
    return np.asarray(radius - (points - plane[:3, 3]) @ plane[:3, 2])


def _in_world(
    poses: np.ndarray, touching: physics_access.Contact | physics_access.Ground, plane: np.ndarray
) -> np.ndarray:
    return plane if touching.other < 0 else poses[touching.other] @ plane


def _moves(model: physics_access.Model, body: int, led: Container[str]) -> bool:
    """Whether forces can move a body of the model (-1: the world)."""
    while body >= 0:
        if model.bodies[body].joint.num_coordinates and model.body_names[body] not in led:
            return True
        body = model.bodies[body].parent
    return False
