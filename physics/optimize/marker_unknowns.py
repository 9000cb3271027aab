"""Numbers that a fit to markers searches, and how markers move with them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ..bodies.body import Body
from ..fitting.linearization import Sites, hessian_jacobian, pose_jacobian
from ..fitting.parameterization import quadrature
from ..geometry import lie, splines
from ..geometry.twist_metric import TwistMetric
from ..joints import SplineCurve
from ..joints.spline_sites import derivatives, poses
from ..model.model import Model
from ..validation import instance

ACROSS = 5  # directions in which a control frame moves


@dataclass(frozen=True, eq=False)
class Markers:
    """Recorded places (T, m, 3) [m], 0 where they are not `seen` (T, m); each one's body (m,), offset in it (m, 3) [m],
    and weight (m,).
    """

    places: FloatArray
    seen: BoolArray
    bodies: IntArray
    offsets: FloatArray
    weights: FloatArray


def carried(frames: FloatArray, points: FloatArray) -> FloatArray:
    """How points (T, n, 3) of the world move with body twists of frames (T, 4, 4) that carry them, (T, n, 3, 6)."""
    turn = np.broadcast_to(frames[:, None, :3, :3], (*points.shape, 3))
    return np.concatenate([-lie.hat(points - frames[:, None, :3, 3]) @ turn, turn], axis=-1)


def across(curve: SplineCurve, metric: TwistMetric) -> FloatArray:
    """Twists (m, 6, 5) of each control frame, orthonormal in the metric, across the curve.

    They leave out the one along it where the frame acts most, at its Greville abscissa: frames that move along the
    curve change its parametrization alone, which markers cannot show.
    """
    places = splines.greville(curve.knots, curve.order)
    places = places if curve.periodic else np.clip(places, *curve.domain)
    sites = Sites.at(places, curve.knots, curve.order, curve.periodic)
    there = lie.adjoint(lie.inverse(curve.frames) @ poses(curve.frames, sites))
    along = metric.scaled((there @ derivatives(curve.frames, sites)[0][..., None])[..., 0])
    return np.swapaxes(metric.unscaled(np.linalg.svd(along[:, None])[2][:, 1:]), 1, 2)


def beyond(model: Model, body: int) -> BoolArray:
    """Which bodies (nb,) a body's joint moves."""
    result = np.zeros(model.num_bodies, dtype=np.bool_)
    for i, parent in enumerate(model.parent):
        result[i] = i == body or (parent >= 0 and result[parent])
    return result


class Unknowns:
    """The numbers (P,), 0 for what is given: of control frames, of joints' frames, of lengths, of offsets.

    Attributes:
        curve: of the fitted joint, by its parameter. body: that joint's. metric: of the curve's twists.
        basis: twists (m, 6, 5) of the control frames; none if they are not free.
        placed, stretched: bodies whose joints' frames, and lengths, are free. moved: markers with free offsets.
        parts: slices of the four kinds. spread: of each number (P,).
    """

    def __init__(
        self, model: Model, body: int, markers: Markers, free: dict[str, Any], lock: Collection[Any]
    ) -> None:
        self.model, self.body, self.markers = model, body, markers
        self.curve: SplineCurve = instance(model.bodies[body].joint, SplineCurve, "joint")
        arms = markers.offsets[markers.bodies == body] - lie.inverse(model.bodies[body].body_in_joint)[:3, 3]
        size = float(np.sqrt(np.square(arms).sum() / len(arms))) if len(arms) else 1.0
        self.metric = TwistMetric.of_length(size)
        self.basis = across(self.curve, self.metric)[: len(self.curve.frames) * ("control_frames" in free)]
        others = [
            i for i in np.flatnonzero(model.parent >= 0) if i != body and model.body_names[i] not in lock
        ]
        self.placed = others if "joint_frames" in free else []
        far = [i for i in others if model.bodies[i].joint_in_parent[:3, 3].any()]
        self.stretched = far if "lengths" in free else []
        count = len(markers.bodies) if "offsets" in free else 0
        self.moved = [i for i in range(count) if i not in lock]
        rows = [
            np.full(ACROSS * len(self.basis), free.get("control_frames", 1.0)),
            np.tile(np.repeat(free.get("joint_frames", np.ones(2)), 3), len(self.placed)),
            np.full(len(self.stretched), free.get("lengths", 1.0)),
            np.full(3 * len(self.moved), free.get("offsets", 1.0)),
        ]
        self.spread: FloatArray = np.concatenate(rows)
        self.parts = [slice(int(a), int(b)) for a, b in pairwise(np.cumsum([0, *map(len, rows)]))]
        knots, order, periodic = self.curve.knots, self.curve.order, self.curve.periodic
        self.inner, self.inner_weights = quadrature(knots, order, periodic)
        self.given = derivatives(self.curve.frames, self.inner)[1]
        self.subtrees = [beyond(model, i)[markers.bodies] for i in range(model.num_bodies)]

    def _twists(self, row: FloatArray) -> FloatArray:
        """Twists (m, 6) that move the control frames."""
        result: FloatArray = (self.basis @ row[self.parts[0]].reshape(-1, ACROSS, 1))[..., 0]
        return result

    def frames(self, row: FloatArray) -> FloatArray:
        """Control frames (m, 4, 4)."""
        result: FloatArray = self.curve.frames
        return result @ lie.exp(self._twists(row)) if len(self.basis) else result

    def offsets(self, row: FloatArray) -> FloatArray:
        """Offsets of the markers (m, 3)."""
        result = self.markers.offsets.copy()
        result[self.moved] += row[self.parts[3]].reshape(-1, 3)
        return result

    def bodies(self, row: FloatArray) -> list[Body]:
        """The model's bodies with these numbers."""
        places = {i: np.array(self.model.bodies[i].joint_in_parent) for i in (*self.placed, *self.stretched)}
        for i, share in zip(self.stretched, row[self.parts[2]]):
            places[i][:3, 3] *= 1.0 + share
        for i, twist in zip(self.placed, row[self.parts[1]].reshape(-1, 6)):
            places[i] = places[i] @ lie.exp(twist)
        result = list(self.model.bodies)
        for i, place in places.items():
            result[i] = replace(result[i], joint_in_parent=place).lock()
        result[self.body] = replace(result[self.body], joint=replace(self.curve, frames=self.frames(row)))
        return result

    def slopes(
        self, row: FloatArray, model: Model, q: FloatArray, at: FloatArray, points: FloatArray
    ) -> FloatArray:
        """Derivatives (T, m, 3, P) of the markers' points (T, m, 3) in the world by the numbers, which the model has.
        q: of the fitted joint (T,). at: poses of the bodies (T, nb, 4, 4).
        """
        result, marked = np.zeros((*points.shape, len(row))), self.subtrees[self.body]
        if len(self.basis):
            frame = at[:, self.body] @ lie.inverse(model.bodies[self.body].body_in_joint)
            sites = Sites.at(q, self.curve.knots, self.curve.order, self.curve.periodic)
            by = self._by_number(pose_jacobian(self.frames(row), sites), sites, row)
            result[:, marked, :, self.parts[0]] = carried(frame, points[:, marked]) @ by[:, None]
        for k, i in enumerate(self.placed):
            part = slice(self.parts[1].start + 6 * k, self.parts[1].start + 6 * k + 6)
            frame = at[:, model.parent[i]] @ model.bodies[i].joint_in_parent
            by = lie.right_jacobian(row[part])
            result[:, self.subtrees[i], :, part] = carried(frame, points[:, self.subtrees[i]]) @ by
        for k, i in enumerate(self.stretched, self.parts[2].start):
            way = at[:, model.parent[i], :3, :3] @ self.model.bodies[i].joint_in_parent[:3, 3]
            result[:, self.subtrees[i], :, k : k + 1] = way[:, None, :, None]
        for k, i in enumerate(self.moved):
            first = self.parts[3].start + 3 * k
            result[:, i, :, first : first + 3] = at[:, self.markers.bodies[i], :3, :3]
        return result

    def _by_number(self, blocks: FloatArray, sites: Sites, row: FloatArray) -> FloatArray:
        """Blocks (n, order, 6, 6) for body twists of the frames that act at sites as (n, 6, 5 m) for their numbers."""
        steps = lie.right_jacobian(self._twists(row)) @ self.basis
        result = np.zeros((len(blocks), len(steps), 6, ACROSS))
        for k, index in enumerate(sites.index.T):
            result[np.arange(len(blocks)), index] += blocks[:, k] @ steps[index]
        return np.swapaxes(result, 1, 2).reshape(len(blocks), 6, -1)

    def bend(self, row: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Numbers (n,) whose squares add up to the integral of |h - h_0|^2, with the Hessians h of the curve and h_0 of
        the joint given, in metres at the markers' distance from the joint; their derivatives (n, P).
        """
        h, blocks = hessian_jacobian(self.frames(row), self.inner)
        root = self.metric.length_scale * np.sqrt(self.inner_weights)[:, None]
        slopes = np.zeros((h.size, len(row)))
        if len(self.basis):
            by = root[..., None] * self._by_number(self.metric.left(blocks), self.inner, row)
            slopes[:, self.parts[0]] = by.reshape(h.size, -1)
        return (root * self.metric.scaled(h - self.given)).ravel(), slopes
