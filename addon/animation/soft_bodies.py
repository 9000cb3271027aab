"""Soft bodies of a shot in the model of its simulation. Numbers alone."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..blender import physics_access
from . import depths
from .scene_model import SceneModel, SoftShape

GRAVITY = np.array([0.0, 0.0, -9.80665])  # by which sags are meant, whatever the scene's
# Where this share of its vertices bears its weight, a soft body is this share of its size deep in what it lies on.
BEARING, DEEP = 0.05, 0.01
DISSIPATION = 2.0  # s/m: it does not bounce from about 1 m/s on


def added(read: SceneModel, motions: Mapping[str, Any] | None, method: str) -> SceneModel:
    """A model with its soft bodies, which start at the speed of their carriers.

    Raises:
        ModelError: the method does not simulate them, or the model has what their steps do not have.
    """
    if not read.soft:
        return read
    physics = physics_access.physics()
    builder = physics.ModelBuilder.from_dict(read.model.to_dict())
    poses = physics_access.part("dynamics").body_poses
    bodies, now = poses(read.model, read.model.state()), poses(read.model, read.state)
    for shape in read.soft:
        touched = _touched(read.model, now, shape)
        builder.add_soft_body(shape.name, **_arguments(read.model, bodies, shape, touched))
    model = builder.build()
    physics_access.part("integrators.soft").check_soft(
        model, physics_access.part("integrators").INTEGRATORS[method]
    )
    state, rates = read.state, np.array(read.state.qd)
    for name, motion in (motions or {}).items():
        where = model.coordinate_slice(name)
        if motion.kind == "position" and motion.holds_at(state.time):
            rates[where] = [motion.rate(column, state.time) for column in range(where.stop - where.start)]
    return replace(read, model=model, state=model.state(state.q, rates, state.time))


def _touched(model: Any, now: np.ndarray, shape: SoftShape) -> list[str]:
    """Names of the colliders that a soft body touches: not those of its carriers, nor bounded ones that it begins in.

    now: poses (nb, 4, 4) of the bodies at the start.
    """
    own, inverse, found = set(shape.attached.values()), physics_access.physics().lie.inverse, list[str]()
    for each in model.colliders:
        world = each.pose if each.body < 0 else now[each.body] @ each.pose
        carries = each.body >= 0 and model.body_names[each.body] in own
        deep = depths.depth_of(shape.vertices, inverse(world), 0.0, each.shape, each.margin)
        if not carries and deep < depths.BEGINS:
            found.append(each.name)
    return found


def _arguments(model: Any, bodies: np.ndarray, shape: SoftShape, touched: list[str]) -> dict[str, Any]:
    """Arguments of `add_soft_body`; bodies: poses (nb, 4, 4) of the model in its default state. touched: colliders."""
    given, tuning = shape.settings, {}
    held = np.array(sorted(shape.attached))
    statics = physics_access.part("soft.statics")
    unit = statics.sag(shape.nodes, shape.tets, held, given["poisson"], given["density"], GRAVITY)
    tuning["young"] = given["young"] if "young" in given else unit / (given["sag"] * shape.size)
    # a spring that sags by s swings with the angular frequency sqrt(g / s)
    slowest = np.sqrt(-GRAVITY[2] * tuning["young"] / unit)
    tuning["damping"] = 2.0 * given["damping"] / slowest
    nodes = _by_default(model, bodies, shape)
    if touched:
        embedding = physics_access.part("soft.embedding")
        found = embedding.embedded(shape.nodes, shape.tets, shape.vertices, shape.name)
        volumes = embedding.shape_gradients(shape.nodes, shape.tets)[1]
        weight = -GRAVITY[2] * given["density"] * volumes.sum()
        tuning["ground"] = {
            "stiffness": weight / (BEARING * len(shape.vertices) * DEEP * shape.size),
            "dissipation": DISSIPATION,
            "friction": given["friction"],
            "colliders": touched,
            "points": found.places(nodes),
        }
    return {
        "nodes": nodes,
        "tets": shape.tets,
        **{name: given[name] for name in ("poisson", "density", "law")},
        "attached": dict(shape.attached),
        **tuning,
    }


def _by_default(model: Any, bodies: np.ndarray, shape: SoftShape) -> np.ndarray:
    """Places (n, 3) of the nodes while the model is in its default state: attached ones as their bodies, free ones by
    1 / distance^2 from the attached ones of each.
    """
    groups = []
    for name, pose in shape.poses.items():
        change = bodies[model.index(name)] @ np.linalg.inv(pose)
        on = [node for node, body in shape.attached.items() if body == name]
        groups.append((shape.nodes[on], shape.nodes @ change[:3, :3].T + change[:3, 3]))
    return physics_access.part("soft.states").blended(shape.nodes, groups)
