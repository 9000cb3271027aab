"""Bounds below the potential energy of mechanisms of the scenes [J]."""

import numpy as np

import physics as ph
from blender_scenes import beads_model, globe_model


def beads(model: ph.Model, flowers: tuple[beads_model.Flower, ...] = beads_model.FLOWERS) -> float:
    """Every bead at the lowest place of its wire, its knob down."""
    heights = beads_model.curve_poses(2000)[:, 2, 3]
    reach = np.linalg.norm(beads_model.BEAD_CENTER)
    depth = sum(flower.center[2] + heights.min() - reach for flower in flowers) * len(beads_model.BEADS)
    wires = sum(flower.center[2] for flower in flowers)
    return float(-model.gravity[2] * (beads_model.BEAD_MASS * depth + beads_model.WIRE_MASS * wires))


def globe(model: ph.Model) -> float:
    """Every plane as low as its coast comes as the globe turns."""
    axle, lowest = globe_model.axle(), 0.0
    pole = axle[:3, 2]
    for land in globe_model.FLOWN:
        poses = globe_model.curve_poses(land, 4000)
        points = (poses[:, :3, 3] + globe_model.ALTITUDE * poses[:, :3, 2]) @ axle[:3, :3].T
        along = points @ pole
        aside = np.linalg.norm(points - along[:, None] * pole, axis=1)
        lowest += float((along * pole[2] - aside * np.sqrt(1.0 - pole[2] ** 2)).min())
    return -float(model.gravity[2]) * globe_model.PLANE_MASS * lowest
