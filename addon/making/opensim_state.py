"""State of an import from OpenSim."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from mathutils import Matrix

from ..blender import units
from ..blender.physics_access import model_error
from ..data import findings
from ..data.references import Body


@dataclass
class Imported:
    """Objects of an import.

    Attributes:
        ground: the Empty that is the ancestor of all. bodies: by name in the file. joints: Empties by name of the body
            that each moves. muscles, obstacles: by name in the file. warnings: about differences from the file.
    """

    ground: Any
    bodies: dict[str, Any] = field(default_factory=dict)
    joints: dict[str, Any] = field(default_factory=dict)
    muscles: dict[str, Any] = field(default_factory=dict)
    obstacles: dict[str, Any] = field(default_factory=dict)
    warnings: list[findings.Finding] = field(default_factory=list)


@dataclass(frozen=True)
class Standing:
    """A model of physics at its start, and its place in the scene.

    Attributes:
        read: result of `read_opensim`. model, state: at default values. worlds: pose (4, 4) [m] of each body in the
            scene's axes by name, None for the ground.
    """

    scene: Any
    read: Any
    model: Any
    state: Any
    worlds: dict[str | None, np.ndarray]

    def matrix(self, body: str | None, pose: np.ndarray | None = None) -> Matrix:
        """World matrix in Blender units of a pose (4, 4) in a body's frame."""
        world = self.worlds[body] if pose is None else self.worlds[body] @ pose
        return Matrix(units.to_blender(world, self.scene).tolist())

    def place(self, body: str | None, point: list[float]) -> np.ndarray:
        """World place (3,) in Blender units of a point (3,) in a body's frame."""
        world = self.worlds[body] @ np.append(np.asarray(point, dtype=np.float64), 1.0)
        return world[:3] / units.length_scale(self.scene)


def target_of(made: Imported, body: str | None) -> Body:
    """The object of a body of the file; None: the ground's."""
    return Body(made.ground if body is None else made.bodies[body])


def joint_of(standing: Standing, coordinate: str) -> tuple[str, int]:
    """Body and number from 1 of a coordinate ``body.coordinate``."""
    for body in standing.model.bodies:
        names = [f"{body.name}.{name}" for name in body.joint.coordinate_names]
        if coordinate in names:
            return body.name, names.index(coordinate) + 1
    raise model_error(f"there is no coordinate {coordinate!r}")
