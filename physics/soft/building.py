"""The part of ModelBuilder that collects soft bodies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..bodies.body import Body
from ..bodies.names import NameIndex
from ..errors import ModelError
from ..forces.base import checked_name
from .body import SoftBody, make_flexible_surface, make_soft_body
from .surface import make_surface_law


class SoftBuilder:
    """The soft bodies of `ModelBuilder`, which provides `body_numbers`."""

    body_numbers: Any
    bodies: list[Body]
    default_pose: Callable[[int], FloatArray]

    def __init__(self) -> None:
        super().__init__()
        self.soft_bodies: list[SoftBody] = []
        self.flexible_surfaces: list[SoftBody] = []
        self._soft_by_name = NameIndex()

    def add_soft_body(
        self,
        name: str,
        nodes: Any,
        *,
        tets: Any = None,
        springs: Any = None,
        young: float | None = None,
        poisson: float = 0.3,
        density: float,
        damping: Any = 0.0,
        attached: Mapping[int, Body | str] | Any = None,
        ground: Mapping[str, Any] | Any = None,
        law: str = "corotated",
    ) -> SoftBody:
        """Add a soft body: nodes with tetrahedra and springs between them (Wang 2022, sec. 4.6.3).

        Each element's mass is shared equally by its nodes. That of attached ones moves with their bodies.

        Args:
            name: unique among soft bodies, not empty.
            nodes: places (n, 3) [m] in the world, unstrained, while the model is in its default state
                (`Model.state()`).
            tets: numbers of the four nodes of each tetrahedron (m, 4), of positive volume: the last three are seen
                counterclockwise from outside the first's opposite side.
            springs: rows (node, node, EA, rest): the force is EA [N] times the strain, rest is the length [m] without.
            young: Young's modulus [Pa]. poisson: Poisson's ratio, below 0.5; tetrahedra lock near it.
            density: of the tetrahedra [kg/m^3], while springs have no mass; of springs alone [kg/m].
            damping: of the stiffness [s]: as stress by strain rate, it never feeds energy; or a pair, that of the mass
                [1/s] first.
            attached: {node: body added before, or its name, or None for the world}; the others are free.
            ground: {"stiffness": [N/m] a node, ...}: a deformable plane that pushes nodes out; further keys are
                attributes of `soft.ground.NodeGround`.
            law: of the tetrahedra: "corotated" linear elasticity, or "neo_hookean", the stable law of Smith, de Goes &
                Kim 2018, for large strain: stiffer as it is flattened, and its force never jumps.
        """
        body = make_soft_body(
            name,
            nodes,
            tets,
            springs,
            young,
            poisson,
            density,
            damping,
            attached,
            ground,
            law,
            self.body_numbers(),
        )
        self._refuse_taken(name)
        self.soft_bodies.append(body)
        return body

    def add_flexible_surface(
        self,
        name: str,
        bodies: Any,
        *,
        density: float,
        tension: float = 0.0,
        bending: float = 0.0,
        damping: Any = 0.0,
        fixed: Any = "ends",
    ) -> SoftBody:
        """Let the spline surface on which bodies are bend under them (Lee & Terzopoulos 2008, sec. 8).

        Its control points move in the world, with the mass and stiffness of a membrane or a wire whose form at rest is
        that of the joint; angles of the joint stay. Bodies press it by their weight and inertia, and its carrier
        feels its forces.

        Args:
            name: unique among soft bodies, not empty.
            bodies: those on it, added before, or their names, with the same joint, parent and `joint_in_parent`; the
                joint is a `joints.FlexibleSurface`.
            density: [kg/m^2], of a wire [kg/m]. tension: [N/m], of a wire [N]. bending: [N m], of a wire [N m^2].
            damping: of the stiffness [s], or a pair, that of the mass [1/s] first.
            fixed: control points that move with the parent of the bodies: "ends", those at the ends of open directions;
                "clamped", also those next to these; or truths (m_1[, m_2]).
        """
        what = f"flexible surface {checked_name(name, 'flexible surface')!r}"
        self._refuse_taken(name)
        laws, known = [each.surface for each in self.flexible_surfaces if each.surface], self.body_numbers()
        law = make_surface_law(bodies, density, tension, bending, fixed, what, known, self.bodies, laws)
        pose = np.eye(4) if law.parent is None else self.default_pose(known[law.parent])
        surface = make_flexible_surface(name, law, damping, pose)
        self.flexible_surfaces.append(surface)
        return surface

    def _refuse_taken(self, name: str) -> None:
        if any(name == each.name for each in self.flexible_surfaces) or name in self._soft_by_name(
            self.soft_bodies
        ):
            raise ModelError(f"there is a soft body named {name!r} already")
