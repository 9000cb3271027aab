"""A block of 208 nodes and 648 tetrahedra on a hinge: ours and MuJoCo's flex with its integrator `discrete`; and a body
on a sheet that bends and on the same as a joint.
"""

from functools import cache
from typing import Any

import numpy as np

import physics as ph
from tests.physics.soft.blocks import grid
from tests.physics.soft.test_flexible_surface import drum, sheet

from .timing import Contestant, simulating

STEP = 5e-3
COUNTS = (12, 3, 3)  # cubes, of six tetrahedra each
SIZE, MASS, YOUNG, POISSON, DAMPING = 0.05, 5.0, 1e5, 0.4, 1e-3
BAR = {"mass": 0.3, "radius": 0.01, "length": 0.15}
# of the angle after a quarter of a second: MuJoCo gives all nodes the same mass, and each has its own integrator
AGREEMENT = 0.1


@cache
def block() -> ph.Model:
    """A bar on a hinge with the block, of which the first sixteen nodes belong to the bar (as `pin` in MuJoCo)."""
    builder = ph.ModelBuilder()
    mass, radius, length = BAR["mass"], BAR["radius"], BAR["length"]
    across, along = mass * radius**2 / 2.0, mass * (radius**2 / 4.0 + length**2 / 12.0)
    builder.add_body(
        "bar",
        joint=ph.joints.Hinge((0, 1, 0)),
        mass=mass,
        com=(length / 2.0, 0.0, 0.0),
        inertia=np.diag([across, along, along]),
    )
    nodes, tets = grid(*COUNTS, SIZE)
    nodes = nodes - [0.0, 1.5 * SIZE, 1.5 * SIZE]
    pinned = dict.fromkeys(np.flatnonzero(nodes[:, 0] == 0.0).tolist(), "bar")
    volume = SIZE**3 * np.prod(COUNTS)
    material: dict[str, Any] = {"young": YOUNG, "poisson": POISSON, "damping": DAMPING}
    builder.add_soft_body("soft", nodes, tets=tets, density=MASS / volume, attached=pinned, **material)
    return builder.build()


def ours(method: str = "linearly_implicit_euler") -> Contestant:
    """`simulate` with one of the implicit methods."""
    return simulating(f"soft block, {method}", block(), block().state(), STEP, method)


def on_a_sheet(method: str, bends: bool) -> Contestant:
    """A body on a square sheet of 9 x 9 control points with a fixed rim, or on the rigid one."""
    model = drum(damping=1e-3)
    if not bends:
        builder, (body,) = ph.ModelBuilder(), model.bodies
        alike: dict[str, Any] = {"mass": body.mass, "com": body.com, "inertia": body.inertia}
        builder.add_body(body.name, joint=sheet().surface, **alike)
        model = builder.build()
    start = model.state({"ball0.q_1": 0.3, "ball0.q_2": 0.45})
    return simulating(f"{'flexible' if bends else 'rigid'} sheet, {method}", model, start, 5e-4, method)


def mujoco_flex() -> Contestant:
    """MuJoCo's `mj_step`: `discrete` is the one of its integrators that is stable at this step."""
    import mujoco

    copy = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{STEP}" integrator="discrete" solver="CG" tolerance="1e-6"/>'
        '<size memory="64M"/><worldbody><body name="bar"><joint type="hinge" axis="0 1 0"/>'
        f'<geom type="capsule" fromto="0 0 0 {BAR["length"]} 0 0" size="{BAR["radius"]}" mass="{BAR["mass"]}"'
        ' contype="0" conaffinity="0"/>'
        f'<flexcomp type="grid" count="{" ".join(str(n + 1) for n in COUNTS)}" spacing="{SIZE} {SIZE} {SIZE}"'
        f' pos="{0.5 * SIZE * COUNTS[0]} 0 0" dim="3" name="soft" mass="{MASS}" radius=".001" rigid="false">'
        f'<elasticity young="{YOUNG}" poisson="{POISSON}" damping="{DAMPING}"/>'
        '<contact selfcollide="none" contype="0" conaffinity="0"/>'
        f'<pin gridrange="0 0 0 0 {COUNTS[1]} {COUNTS[2]}"/></flexcomp></body></worldbody></mujoco>'
    )
    data = mujoco.MjData(copy)

    def run(steps: int) -> Any:
        mujoco.mj_resetData(copy, data)
        mujoco.mj_step(copy, data, nstep=steps)
        return data.qpos[0]

    return Contestant("MuJoCo flex", run)


def check(mine: Contestant, peer: Contestant) -> None:
    """Check that both hinges turn alike.

    Raises:
        RuntimeError: the angles differ by more than AGREEMENT, relative.
    """
    result: Any = mine.run(50)
    here, there = float(result.q[-1, 0]), float(np.asarray(peer.run(50)))
    if not abs(here - there) <= AGREEMENT * abs(there):
        raise RuntimeError(f"the soft block's hinge: {here:g} rad here, {there:g} rad in MuJoCo")
