"""What points of soft bodies touch, as arrays for the kernels (`kernels.soft.touching`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .. import kernels
from .._typing import FloatArray, IntArray
from ..errors import ModelError
from ..joints.curve_packing import kernel_poses
from ..validation import near_names
from .body import SoftBody


def pack_touching(
    soft: Sequence[SoftBody],
    places: Sequence[IntArray],
    numbers: Mapping[tuple[int, int], int],
    colliders: Sequence[Any],
    frames: Sequence[FloatArray],
) -> tuple[Any, ...] | None:
    """The arrays, None where nothing is touched.

    Args:
        places: of the nodes of each soft body in the kernels' order. numbers: of blocks by the nodes' places, the
            greater first. colliders: of the model. frames: of bodies in their link frames.
    """
    nodes, blocks, weights, shapes = [], [], [], list[FloatArray]()
    skins, laws, obstacles, touched = [], [], list[list[int]](), list[list[float]]()
    first = size = 0
    for each, place in zip(soft, places):
        ground = each.ground
        if ground is None:
            continue
        own, shares = _points(each, place)
        nodes.append(own)
        weights.append(shares)
        pairs = [(a, b) for a in range(4) for b in range(a + 1)]
        blocks.append([[numbers[row[a], row[b]] for a, b in pairs] for row in own.tolist()])
        begun = len(obstacles)
        for body, kind, parameters, pose, friction, margin in _obstacles(each, colliders):
            pose = pose if body < 0 else frames[body] @ pose
            obstacles.append([body, size])
            touched.append([friction, ground.radius + margin])
            shapes.append(np.concatenate([[kind], kernel_poses(pose[None])[0], parameters]))
            size += len(shapes[-1])
        skins.append([first, first + len(own), begun, len(obstacles)])
        spread = float(np.abs(shares).sum(axis=1).max())
        laws.append([ground.stiffness, ground.dissipation, ground.smooth_speed, spread])
        first += len(own)
    if not skins:
        return None
    arrays: list[Any] = [*(np.concatenate(each) for each in (nodes, blocks, weights)), np.array(skins)]
    arrays += [np.array(laws), np.array(obstacles), np.array(touched), np.concatenate(shapes)]
    for array in arrays:
        array.flags.writeable = False
    return tuple(np.ascontiguousarray(array) for array in arrays)


def _points(body: SoftBody, place: IntArray) -> tuple[IntArray, FloatArray]:
    """Nodes (p, 4), rising, and weights (p, 4) of what touches: the nodes themselves, or the points."""
    if body.ground is None or body.ground.points is None:
        shares = np.zeros((len(place), 4))
        shares[:, 0] = 1.0
        return np.repeat(place[:, None], 4, axis=1), shares
    embedding = body.embed(body.ground.points)
    nodes = place[embedding.nodes]
    order = np.argsort(nodes, axis=1)
    return np.take_along_axis(nodes, order, axis=1), np.take_along_axis(embedding.weights, order, axis=1)


def _obstacles(body: SoftBody, colliders: Sequence[Any]) -> Any:
    """Body, kind, parameters, pose in its frame, friction and margin of each obstacle; ModelError where one is none."""
    ground = body.ground
    if ground is None:
        return
    if ground.plane is not None:
        yield -1, kernels.contact.layout.PLANE, np.zeros(0), ground.plane, ground.friction, 0.0
    known: dict[str, Any] = {each.name: each for each in colliders}
    for name in ground.colliders:
        if name not in known:
            raise ModelError(
                f"ground of soft body {body.name!r}: no collider is named {name!r}{near_names(name, known)}"
            )
        found, shape = known[name], known[name].shape
        kind = getattr(shape, "kind", None)  # hulls and meshes have none
        if kind is None:
            raise ModelError(f"soft body {body.name!r} cannot touch collider {name!r}: a {shape.type}")
        friction = float(np.sqrt(ground.friction * found.friction))
        yield found.body, kind, shape.parameters(), found.pose, friction, found.margin


def touched_workspace(touching: tuple[Any, ...] | None) -> tuple[FloatArray, IntArray]:
    """Room for a touch of every point with every obstacle of its soft body (``TOUCHES``, ``TOUCHED``)."""
    at = kernels.soft.layout
    skins = np.zeros((0, 4), dtype=np.int64) if touching is None else touching[at.SKINS]
    most = int(((skins[:, 1] - skins[:, 0]) * (skins[:, 3] - skins[:, 2])).sum())
    return np.zeros((most, at.TOUCH_WIDTH)), np.zeros((most + 1, 4), dtype=np.int64)
