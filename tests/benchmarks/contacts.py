"""Spheres that lie in a box or apart, and a stack of boxes, in our engine and in MuJoCo with elliptic cones."""

from functools import cache
from typing import Any

import numpy as np

import physics as ph
from physics._typing import FloatArray
from physics.contacts import Box, Plane, Sphere

from .timing import Contestant, simulating

STEP = 1e-3
LEAST = 60  # steps of a round: a few of a pile's cost many times as much as the others
RADIUS, MASS, FRICTION = 0.1, 1.0, 0.5
INERTIA = 0.4 * MASS * RADIUS**2
SETTLING = 0.4  # seconds in which spheres fall into their box
HALF, TAPER = 0.1, 0.02  # of the stack's lowest box, and by how much each is smaller
ABOUT = {"radius": RADIUS, "friction": FRICTION}


def add_sphere(builder: ph.ModelBuilder, name: str) -> None:
    """A free sphere above the ground."""
    builder.add_body(name, joint=ph.joints.Free(), mass=MASS, inertia=INERTIA * np.eye(3))
    builder.add_contact(f"{name} on ground", name, [[0.0, 0.0, 0.0]], Plane(), **ABOUT)


@cache
def apart(count: int) -> tuple[Any, Any]:
    """Spheres that lie on the ground without touching each other, and their state."""
    builder, q = ph.ModelBuilder(), np.zeros((count, 6))
    for i in range(count):
        add_sphere(builder, f"{i}")
        q[i, :3] = 3.0 * RADIUS * (i % 20), 3.0 * RADIUS * (i // 20), RADIUS
    model = builder.build()
    return model, model.state(q=q.ravel())


def walls(width: float) -> list[tuple[FloatArray, FloatArray]]:
    """Places and inward normals of four walls."""
    normals = [np.array([x, y, 0.0]) for x, y in ((-1.0, 0.0), (1.0, 0.0), (0.0, -1.0), (0.0, 1.0))]
    return [(-width * normal, normal) for normal in normals]


def in_box(count: int) -> tuple[Any, FloatArray, float]:
    """Spheres in a box that is open above, their first coordinates, and the box's half width."""
    builder, q = ph.ModelBuilder(), np.zeros((count, 6))
    side = round(count ** (1.0 / 3.0) + 0.2)
    width = 1.02 * side * RADIUS
    for i in range(count):
        add_sphere(builder, f"{i}")
        for k, (place, normal) in enumerate(walls(width)):
            pose = np.eye(4)
            pose[:3, :3] = np.column_stack([np.cross([0.0, 0.0, 1.0], normal), [0.0, 0.0, 1.0], normal])
            pose[:3, 3] = place
            builder.add_contact(f"{i} on wall {k}", f"{i}", [[0.0, 0.0, 0.0]], Plane(), pose=pose, **ABOUT)
        for j in range(i):
            other = {"other": f"{j}", **ABOUT}
            builder.add_contact(f"{i} on {j}", f"{i}", [[0.0, 0.0, 0.0]], Sphere(RADIUS), **other)
        place = i % side - 0.5 * side + 0.5, i // side % side - 0.5 * side + 0.5, i // side**2
        q[i, :3] = 2.04 * RADIUS * np.array(place) + [0.0, 0.0, 1.05 * RADIUS]
    q[:, :2] += 0.02 * RADIUS * np.random.default_rng(0).uniform(-1.0, 1.0, (count, 2))
    return builder.build(), q.ravel(), width


@cache
def piled(count: int) -> tuple[Any, Any]:
    """Spheres in a box, and where they have fallen into it."""
    model, q, _ = in_box(count)
    end = ph.simulate(model, model.state(q=q), SETTLING, STEP, record_interval=SETTLING)
    return model, model.state(q=end.q[-1])


@cache
def stacked(count: int) -> tuple[Any, Any]:
    """Boxes on each other, each a little smaller, and the state in which they stand."""
    builder, q, top = ph.ModelBuilder(), np.zeros((count, 6)), 0.0
    corners = np.array([[x, y, -1.0] for x in (-1.0, 1.0) for y in (-1.0, 1.0)])
    for i in range(count):
        half = HALF * (1.0 - TAPER * i)
        mass = 8000.0 * half**3
        builder.add_body(
            f"{i}", joint=ph.joints.Free(), mass=mass, inertia=mass * (2.0 * half) ** 2 / 6.0 * np.eye(3)
        )
        below: Any = Plane() if i == 0 else Box([half + HALF * TAPER] * 3)
        builder.add_contact(
            f"{i}", f"{i}", half * corners, below, other=f"{i - 1}" if i else None, friction=FRICTION
        )
        q[i, 2] = top + half
        top += 2.0 * half
    model = builder.build()
    return model, model.state(q=q.ravel())


def ours(name: str, scene: tuple[Any, Any]) -> Contestant:
    """Symplectic Euler, with the exact impulses of all contacts."""
    return simulating(name, *scene, STEP, least=LEAST)


def mujoco(name: str, scene: tuple[Any, Any], geometries: list[str], fixed: str = "") -> Contestant:
    """MuJoCo's `mj_step` from the same poses, with elliptic cones and soft contacts; a geometry for each body."""
    import mujoco

    model, state = scene
    free = "".join(f"<body><freejoint/>{geometry}</body>" for geometry in geometries)
    copy = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{STEP}" cone="elliptic"/>'
        f'<default><geom friction="{FRICTION} 0 0" condim="3"/></default>'
        f'<worldbody><geom type="plane" size="0 0 1"/>{fixed}{free}</worldbody></mujoco>'
    )
    data = mujoco.MjData(copy)
    poses, rotation = ph.body_poses(model, state), np.zeros(4)
    start = np.zeros((len(poses), 7))
    for place, pose in zip(start, poses, strict=True):
        mujoco.mju_mat2Quat(rotation, pose[:3, :3].ravel())
        place[:3], place[3:] = pose[:3, 3], rotation

    def run(steps: int) -> Any:
        mujoco.mj_resetData(copy, data)
        data.qpos[:] = start.ravel()
        mujoco.mj_step(copy, data, nstep=steps)
        return data.qpos

    return Contestant(name, run, LEAST)


def pile_in_mujoco(count: int) -> Contestant:
    """The pile of `piled`; walls are planes."""
    fixed = "".join(
        f'<geom type="plane" size="0 0 1" pos="{p[0]} {p[1]} 0" zaxis="{n[0]} {n[1]} 0"/>'
        for p, n in walls(in_box(count)[2])
    )
    ball = f'<geom type="sphere" size="{RADIUS}" mass="{MASS}"/>'
    return mujoco("mj_step", piled(count), [ball] * count, fixed)


def stack_in_mujoco(count: int) -> Contestant:
    """The stack of `stacked`."""
    halves = [HALF * (1.0 - TAPER * i) for i in range(count)]
    boxes = [f'<geom type="box" size="{h} {h} {h}" mass="{8000.0 * h**3}"/>' for h in halves]
    return mujoco("mj_step", stacked(count), boxes)
