"""Blocks of tetrahedra, free or bolted to two bodies, and their force by complex numbers."""

import itertools
from typing import Any

import numpy as np

import physics as ph

MATERIAL: dict[str, Any] = {"young": 2e4, "poisson": 0.4, "density": 1000.0}


def grid(nx: int, ny: int, nz: int, size: float) -> tuple[Any, Any]:
    """Nodes of a block of cubes, and six tetrahedra for each."""
    nodes = np.array([*itertools.product(range(nx + 1), range(ny + 1), range(nz + 1))]) * size
    tets = []
    for corner in itertools.product(range(nx), range(ny), range(nz)):
        for axes in itertools.permutations(range(3)):
            path = [np.array(corner)]
            for axis in axes:
                path.append(path[-1] + np.eye(3, dtype=int)[axis])
            tet = [(i * (ny + 1) + j) * (nz + 1) + k for i, j, k in path]
            even = np.linalg.det(np.eye(3)[list(axes)]) > 0
            tets.append(tet if even else [tet[0], tet[2], tet[1], tet[3]])
    return nodes, np.array(tets)


def free_block(
    gravity: Any = (0.0, 0.0, -9.81), damping: Any = 0.0, springs: bool = False, **more: Any
) -> ph.Model:
    """A body, and a block of eight cubes' corners without any attachment; with springs along its tetrahedra's edges."""
    builder = ph.ModelBuilder(gravity)
    builder.add_body("post", joint=ph.joints.Slider((1, 0, 0)), mass=1.0, inertia=np.eye(3))
    nodes, tets = grid(2, 1, 1, 0.05)
    edges = sorted({(a, b) for tet in tets.tolist() for a, b in itertools.combinations(sorted(tet), 2)})
    rows = [(a, b, 30.0, 0.9 * np.linalg.norm(nodes[a] - nodes[b])) for a, b in edges] if springs else None
    builder.add_soft_body("block", nodes, tets=tets, springs=rows, damping=damping, **MATERIAL, **more)
    return builder.build()


def bolted(
    young: float = 2e4, damping: Any = 0.0, joint: Any = None, ground: Any = None, **more: Any
) -> ph.Model:
    """Two bodies in a row, and a block with its ends attached to them."""
    builder, joint = ph.ModelBuilder(), joint or ph.joints.Hinge((0, 1, 0))
    place = np.eye(4)
    place[0, 3] = 0.15
    solid = {"joint": joint, "com": (0.075, 0.0, 0.0)}
    builder.add_body("a", mass=0.3, inertia=6e-4 * np.eye(3), **solid)
    builder.add_body("b", "a", joint_in_parent=place, mass=0.2, inertia=4e-4 * np.eye(3), **solid)
    nodes, tets = grid(6, 1, 1, 0.05)
    nodes = nodes - [0.0, 0.025, 0.025]
    ends = {k: "a" if x < 0.03 else "b" for k, x in enumerate(nodes[:, 0]) if not 0.03 < x < 0.27}
    material = {**MATERIAL, "young": young, "damping": damping, "ground": ground, **more}
    builder.add_soft_body("block", nodes, tets=tets, attached=ends, **material)
    return builder.build()


def lame(body: Any) -> tuple[float, float]:
    """Lame's mu and lambda."""
    return (
        body.young / 2.0 / (1.0 + body.poisson),
        body.young * body.poisson / (1.0 + body.poisson) / (1.0 - 2.0 * body.poisson),
    )


def complex_force(body: Any, places: Any) -> Any:
    """Elastic force at complex places, with the polar decomposition by Higham's iteration."""
    mu, bulk = lame(body)
    force = np.zeros_like(places)
    for tet in body.tets:
        home = (body.nodes[tet[1:]] - body.nodes[tet[0]]).T
        inverse = np.linalg.inv(home)
        gradient = (places[tet[1:]] - places[tet[0]]).T @ inverse
        if body.law == "neo_hookean":  # Smith, de Goes & Kim 2018, eq. 14 and sec. 3.4
            a, b, c = gradient.T
            slope = np.stack([np.cross(b, c), np.cross(c, a), np.cross(a, b)], axis=1)
            shear, own = 4.0 / 3.0 * mu, bulk + 5.0 / 6.0 * mu
            pressure = own * (a @ slope[:, 0] - 1.0 - shear / own + shear / own / 4.0)
            stress = shear * (1.0 - 1.0 / ((gradient * gradient).sum() + 1.0)) * gradient + pressure * slope
        else:
            turn = gradient
            for _ in range(30):
                turn = 0.5 * (turn + np.linalg.inv(turn).T)
            strain = turn.T @ gradient - np.eye(3)
            stress = turn @ (2.0 * mu * strain + bulk * np.trace(strain) * np.eye(3))
        own = -np.linalg.det(home) / 6.0 * stress @ inverse.T
        force[tet[1:]] += own.T
        force[tet[0]] -= own.sum(axis=1)
    return force


def linear_stiffness(body: Any) -> Any:
    """Matrix (3 n, 3 n) of linear elasticity."""
    mu, bulk = lame(body)
    law = np.diag([2.0 * mu] * 3 + [mu] * 3)
    law[:3, :3] += bulk
    linear = np.zeros((3 * len(body.nodes),) * 2)
    for tet in body.tets:
        edges = body.nodes[tet[1:]] - body.nodes[tet[0]]
        g = np.linalg.inv(edges).T
        g = np.vstack([-g.sum(axis=0), g])
        strain = np.zeros((6, 12))
        for a, (x, y, z) in enumerate(g):
            strain[:, 3 * a : 3 * a + 3] = [[x, 0, 0], [0, y, 0], [0, 0, z], [0, z, y], [z, 0, x], [y, x, 0]]
        rows = (3 * tet[:, None] + np.arange(3)).ravel()
        linear[np.ix_(rows, rows)] += np.linalg.det(edges) / 6.0 * strain.T @ law @ strain
    return linear
