"""The part of ModelBuilder that collects soft bodies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..bodies.body import Body
from ..bodies.names import NameIndex
from ..errors import ModelError
from .body import SoftBody, make_soft_body


class SoftBuilder:
    """The soft bodies of `ModelBuilder`, which provides `body_numbers`."""

    body_numbers: Any

    def __init__(self) -> None:
        super().__init__()
        self.soft_bodies: list[SoftBody] = []
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
    ) -> SoftBody:
        """Add a soft body: nodes with corotated linear tetrahedra and springs between them (Wang 2022, sec. 4.6.3).

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
            attached: {node: body added before, or its name}; the others are free.
            ground: {"stiffness": [N/m] a node, ...}: a deformable plane that pushes nodes out; further keys are
                attributes of `soft.ground.NodeGround`.
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
            self.body_numbers(),
        )
        if name in self._soft_by_name(self.soft_bodies):
            raise ModelError(f"there is a soft body named {name!r} already")
        self.soft_bodies.append(body)
        return body
