"""A starfish: a skeleton of twenty joints in a soft body whose embedded skin crawls on the ground. No Blender.

After Wang 2022, Figs. 6.1 and 6.2. Of each arm the hinge that swings it and the one that lifts it are prescribed, the
two beyond are passive. Four arms press down as they sweep back, and are lifted as they reach ahead.
"""

from functools import cache
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

import physics as ph
from physics._typing import FloatArray

from .anatomy.implicit import tube, union
from .anatomy.surface import Mesh, mesh_from_shape

IntArray = NDArray[np.int64]

SECONDS, TIME_STEP, PERIOD = 6.0, 5e-3, 1.5
ARMS, STATIONS = 5, 10
FLAT = 0.5  # height over width of a section
RING = 0.048  # of the corners between the arms, from the middle [m]
TIP = 0.155
JOINTS = (0.030, 0.045, 0.080, 0.115)  # of an arm, from the middle [m]
# stations whose nodes belong to segments of the skeleton
CARRIED = {2: 2, 5: 3, 8: 4}
SOFT = {"young": 3e4, "poisson": 0.4, "density": 1050.0, "damping": 0.01}
GROUND = {"stiffness": 20.0, "dissipation": 2.0, "friction": 0.8, "smooth_speed": 2e-3}
HINGE = {"stiffness": 0.02, "damping": 2e-3}
BONE, DISC = 0.004, 0.03  # kg
CELL = 3.9e-3
SWING, PRESS, LIFT = 0.42, 0.10, 0.35  # rad


def half_width(r: float | FloatArray) -> FloatArray:
    """Of the coarse mesh at a distance from the middle along an arm [m]."""
    return np.interp(r, [along()[0], TIP], [RING * np.sin(np.pi / ARMS), 0.010])


@cache
def along() -> tuple[float, ...]:
    """Distances of the stations from the middle; the first is that of the ring."""
    return tuple(np.linspace(RING * np.cos(np.pi / ARMS), 0.148, STATIONS + 1).tolist())


def turned(arm: int) -> FloatArray:
    """Rotation (3, 3) to the axes of an arm."""
    c, s = np.cos(2.0 * np.pi * arm / ARMS), np.sin(2.0 * np.pi * arm / ARMS)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def segments() -> list[tuple[float, float]]:
    """Ends of an arm's segments, from the middle [m]."""
    return list(zip(JOINTS, (*JOINTS[1:], TIP - 0.015)))


def underside() -> float:
    return -FLAT * float(half_width(along()[0]))


@cache
def coarse() -> tuple[FloatArray, IntArray, dict[int, str]]:
    """Nodes (n, 3), tetrahedra (m, 4), and the bodies of the nodes that belong to the skeleton."""
    low = underside()
    nodes, bodies = [np.array([0.0, 0.0, z]) for z in (low, -low)], {0: "disc", 1: "disc"}
    ring = RING * np.array([np.cos(np.pi / ARMS), np.sin(np.pi / ARMS)])
    corners = np.empty((ARMS, STATIONS + 2, 2, 2), dtype=np.int64)
    for arm in range(ARMS):
        for k, z in enumerate((low, -low)):
            corners[arm, 0, 1, k] = corners[(arm + 1) % ARMS, 0, 0, k] = len(nodes)
            bodies[len(nodes)] = "disc"
            nodes.append(turned(arm) @ [*ring, z])
    for arm in range(ARMS):
        for s, r in enumerate((*along()[1:], TIP), 1):
            for j in range(2):
                for k in range(2):
                    width = float(half_width(r))
                    if s > STATIONS and j == 1:  # the tip is an edge
                        corners[arm, s, j, k] = corners[arm, s, 0, k]
                        continue
                    corners[arm, s, j, k] = len(nodes)
                    aside = 0.0 if s > STATIONS else (2 * j - 1) * width
                    if s in CARRIED:
                        bodies[len(nodes)] = f"arm {arm} {CARRIED[s]}"
                    nodes.append(turned(arm) @ [r, aside, low + 2.0 * FLAT * width * k])
    tets = [tet for arm in range(ARMS) for tet in _tets(corners[arm])]
    points = np.array(nodes)
    volumes = np.linalg.det(points[tets][:, 1:] - points[tets][:, :1])
    return points, np.array([t if v > 0 else [t[1], t[0], *t[2:]] for t, v in zip(tets, volumes)]), bodies


def _tets(corner: IntArray) -> list[list[int]]:
    """Of an arm with its sector of the disc, from the corners (stations, 2, 2)."""
    (left, left_top), (right, right_top) = corner[0].tolist()
    found = [[0, left, right, right_top], [0, left, right_top, left_top], [0, left_top, right_top, 1]]
    for s in range(len(corner) - 1):
        for axes in permutations(range(3)):
            place, tet = np.zeros(3, dtype=int), [int(corner[s, 0, 0])]
            for axis in axes:
                place[axis] = 1
                tet.append(int(corner[s + place[0], place[1], place[2]]))
            if len(set(tet)) == 4:
                found.append(tet)
    return found


@cache
def skin() -> Mesh:
    """The fine mesh: five tapering arms, blended, flat below."""
    arms = []
    for arm in range(ARMS):
        r = np.linspace(0.0, TIP - 0.012, 8)
        size = 0.96 * half_width(np.maximum(r, along()[0]))
        size[r < along()[0]] *= 0.9
        path = np.column_stack([r, 0.0 * r, underside() / FLAT + size])
        arms.append(tube(path @ turned(arm).T, size))
    whole = union(arms, 0.004)
    box = np.array([TIP + 0.01, TIP + 0.01, 0.05])
    mesh = mesh_from_shape(whole, -box, box, CELL)
    return Mesh(mesh.vertices * [1.0, 1.0, FLAT], mesh.faces)


def build_model(crawls: bool = True) -> ph.Model:
    """Skeleton and soft body, the skin just above the ground z = 0; 3 cm above unless it crawls."""
    builder = ph.ModelBuilder()
    height = np.eye(4)
    height[2, 3] = 0.0005 - skin().vertices[:, 2].min() + (0.0 if crawls else 0.03)
    inertia = 0.5 * DISC * 0.03**2 * np.diag([0.5, 0.5, 1.0])
    builder.add_body("disc", joint=ph.joints.Free(), joint_in_parent=height, mass=DISC, inertia=inertia)
    for arm in range(ARMS):
        parent, before = "disc", 0.0
        for k, r in enumerate(JOINTS, 1):
            at = np.eye(4)
            at[:3, :3] = turned(arm) if k == 1 else np.eye(3)
            at[:3, 3] = at[:3, :3] @ [r - before, 0.0, 0.0]
            length = segments()[k - 1][1] - r
            slender = BONE * np.diag([0.01, 1.0, 1.0]) * length**2 / 3.0
            name, axis = f"arm {arm} {k}", (0.0, 0.0, 1.0) if k == 1 else (0.0, -1.0, 0.0)
            builder.add_body(
                name, parent, joint=ph.joints.Hinge(axis), joint_in_parent=at, mass=BONE,
                com=(0.5 * length, 0.0, 0.0), inertia=slender, **HINGE,
            )  # fmt: skip
            parent, before = name, r
    nodes, tets, bodies = coarse()
    up = height[:3, 3]
    ground = {**GROUND, "points": skin().vertices + up}
    builder.add_soft_body("starfish", nodes + up, tets=tets, attached=bodies, ground=ground, **SOFT)
    return builder.build()


def gait(seconds: float = SECONDS) -> dict[str, ph.Motion]:
    """Of the hinges that swing and lift the arms; the first arm, which points ahead, only rises with the others."""
    times = np.linspace(0.0, seconds, round(seconds / 0.05) + 1)
    phase, begun = 2.0 * np.pi * times / PERIOD, np.minimum(times / PERIOD, 1.0)
    begun = begun * begun * (3.0 - 2.0 * begun)
    motions = {}
    for arm in range(ARMS):
        sense = np.sign(np.round(np.sin(2.0 * np.pi * arm / ARMS), 6))
        # lifted, with positive cosine, while it reaches ahead
        lift = np.where(np.cos(phase) > 0.0, LIFT, PRESS) * np.cos(phase)
        motions[f"arm {arm} 1"] = ph.Motion(times, -sense * SWING * begun * np.sin(phase))
        motions[f"arm {arm} 2"] = ph.Motion(times, begun * lift * (1.0 if sense else 0.3))
    return motions


def crawl(
    model: ph.Model, interval: float, method: str = "linearly_implicit_euler", seconds: float = SECONDS
) -> ph.Result:
    """The motion, with a sample every interval [s]."""
    return ph.simulate(
        model, model.state(), seconds, TIME_STEP, method, motions=gait(seconds), record_interval=interval
    )


def work(result: ph.Result) -> FloatArray:
    """What prescribed joints have given (T,) [J], from a sample a step: efforts hold over the step before them."""
    turned_by = np.diff(result.q, axis=0)
    return np.concatenate([[0.0], np.cumsum((result.efforts[1:] * turned_by).sum(axis=1))])
