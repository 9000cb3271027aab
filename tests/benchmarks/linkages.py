"""Independent four-bar linkages, closed by the same constraints in our engine and in MuJoCo."""

from functools import cache
from typing import Any

import numpy as np

import physics as ph

from .chains import STEP
from .timing import Contestant, simulating

COUNT = 5
CRANK, COUPLER, ROCKER, BASE = 1.0, 2.0, 1.5, 2.0
START = (1.2, -1.0, -1.8)  # crank, coupler and rocker, each relative to the previous one; closed afterwards
RADIUS = 0.02


@cache
def linkages(count: int = COUNT) -> tuple[Any, Any]:
    """So many linkages in the x-y plane as one model, loops closed by points, and a state that satisfies them."""
    builder = ph.ModelBuilder(gravity=(0.0, -9.81, 0.0))
    for k in range(count):
        parent: str | None = None
        for name, length, start in (
            ("crank", CRANK, 0.0),
            ("coupler", COUPLER, CRANK),
            ("rocker", ROCKER, COUPLER),
        ):
            place = np.eye(4)
            place[0, 3], place[2, 3] = start, float(k) if parent is None else 0.0
            moments = np.diag([RADIUS, length**2 / 12.0, length**2 / 12.0])
            body = f"{name} {k}"
            inertial = {"mass": 1.0, "com": (length / 2.0, 0.0, 0.0), "inertia": moments}
            builder.add_body(body, parent, joint=ph.joints.Hinge(), joint_in_parent=place, **inertial)
            parent = body
        end = ph.constraints.PointConstraint(
            parent, point=(ROCKER, 0.0, 0.0), other_point=(BASE, 0.0, float(k))
        )
        builder.add_constraint(f"loop {k}", end)
    model = builder.build()
    return model, ph.assemble(model, model.state(list(START) * count))


@cache
def ladder(count: int) -> tuple[Any, Any]:
    """Four-bars hung on each other in one tree, each a pair of cranks on the bar before, and a state."""
    builder = ph.ModelBuilder(gravity=(0.0, -9.81, 0.0))
    long, wide = 0.5, 0.4

    def add(name: str, parent: str | None, x: float, y: float, length: tuple[float, float]) -> None:
        place, (across, down) = np.eye(4), length
        place[:2, 3] = x, y
        moments = np.diag([1e-3 + down**2 / 12.0, 1e-3 + across**2 / 12.0, (across**2 + down**2) / 12.0])
        inertial = {"mass": 1.0, "com": (across / 2.0, -down / 2.0, 0.0), "inertia": moments}
        builder.add_body(name, parent, joint=ph.joints.Hinge(), joint_in_parent=place, **inertial)

    parent: str | None = None
    for k in range(count):
        add(f"left {k}", parent, 0.0, 0.0, (0.0, long))
        add(f"bar {k}", f"left {k}", 0.0, -long, (wide, 0.0))
        add(f"right {k}", parent, wide, 0.0, (0.0, long))
        end, start = np.eye(4), np.eye(4)
        end[1, 3], start[0, 3] = -long, wide
        closure = ph.constraints.HingeConstraint(f"right {k}", f"bar {k}", frame=end, other_frame=start)
        builder.add_constraint(f"loop {k}", closure)
        parent = f"bar {k}"
    model = builder.build()
    return model, model.state([0.2, -0.2, 0.2] * count)


def ours_in_one_tree(count: int) -> Contestant:
    """`ours` on a ladder."""
    return simulating(f"ladder of {count} four-bars", *ladder(count), STEP)


def ours(count: int = COUNT) -> Contestant:
    """Symplectic Euler with constraint impulses, and projection onto the constraints after each step."""
    return simulating(f"{count} four-bars", *linkages(count), STEP)


def mujoco_step(count: int = COUNT) -> Contestant:
    """MuJoCo's `mj_step` on the same linkages, closed by `connect` (soft, like all its constraints)."""
    import mujoco

    _, state = linkages(count)
    trees = []
    for k in range(count):
        nested = ""
        for length, start in ((ROCKER, COUPLER), (COUPLER, CRANK), (CRANK, 0.0)):
            height = k if start == 0.0 else 0
            moments = f"{RADIUS} {length**2 / 12.0} {length**2 / 12.0}"
            name = f'name="rocker{k}"' if length == ROCKER else ""
            nested = (
                f'<body {name} pos="{start} 0 {height}"><joint type="hinge" axis="0 0 1"/>'
                f'<inertial pos="{length / 2.0} 0 0" mass="1" diaginertia="{moments}"/>{nested}</body>'
            )
        trees.append(nested)
    loops = "".join(f'<connect body1="rocker{k}" anchor="{ROCKER} 0 0"/>' for k in range(count))
    copy = mujoco.MjModel.from_xml_string(
        f'<mujoco><option gravity="0 -9.81 0" timestep="{STEP}"/><worldbody>{"".join(trees)}</worldbody>'
        f"<equality>{loops}</equality></mujoco>"
    )
    data = mujoco.MjData(copy)

    def run(steps: int) -> Any:
        mujoco.mj_resetData(copy, data)
        data.qpos[:] = state.q
        mujoco.mj_step(copy, data, nstep=steps)
        return data.qpos

    return Contestant("mj_step", run)
