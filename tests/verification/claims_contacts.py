"""Rest, slip and rebound on rigid obstacles: stacks, slopes at the friction angle, rods that come to rest."""

from functools import cache
from typing import Any

import numpy as np

import physics as ph
from physics._typing import FloatArray
from physics.contacts import Box, Plane
from physics.geometry import lie

from .claim import Measurement, claim

HALF = 0.1  # m, of a cube's edge
CORNERS = HALF * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
STEP = 1e-3
SHORT, LONG = 0.2, 10.0  # s
RESIDUAL_SOURCE = "own; |l - proj_K(l - r u)| / |l| of the step's impulses"


def cube(builder: ph.ModelBuilder, name: str, mass: float = 1.0) -> None:
    inertia = mass * (2.0 * HALF) ** 2 / 6.0 * np.eye(3)
    builder.add_body(name, joint=ph.joints.Free(), mass=mass, inertia=inertia)


def slope(angle: float, azimuth: float, friction: float) -> tuple[ph.Model, Any]:
    """A cube at rest on a plane that descends in the direction of the azimuth."""
    pose = np.eye(4)
    turn = lie.so3_exp(np.array([0.0, 0.0, azimuth]))
    pose[:3, :3] = turn @ lie.so3_exp(np.array([0.0, angle, 0.0])) @ turn.T
    builder = ph.ModelBuilder()
    cube(builder, "cube")
    sole = CORNERS[CORNERS[:, 2] < 0.0]
    builder.add_contact("slope", "cube", sole, Plane(), pose=pose, friction=friction)
    model = builder.build()
    return model, model.state(q=np.concatenate([HALF * pose[:3, 2], lie.so3_log(pose[:3, :3])]))


def slips(angle: float, azimuth: float, friction: float) -> bool:
    """Whether the cube slides down by more than a micrometre in a tenth of a second."""
    model, state = slope(angle, azimuth, friction)
    end = ph.simulate(model, state, 0.1, STEP, record_interval=0.1).q[-1, :3]
    return bool(np.linalg.norm(end - state.q[:3]) > 1e-6)


def angle_of_slip(azimuth: float, friction: float, within: float) -> float:
    """Angle of slip [rad] by bisection, to within a tolerance in degrees."""
    edge = np.arctan(friction)
    lower, upper = edge - np.radians(0.5), edge + np.radians(0.5)
    if slips(lower, azimuth, friction) or not slips(upper, azimuth, friction):
        return float("nan")
    while upper - lower > np.radians(within):
        middle = 0.5 * (lower + upper)
        if slips(middle, azimuth, friction):
            upper = middle
        else:
            lower = middle
    return float(0.5 * (lower + upper))


def slip_errors(frictions: tuple[float, ...], within: float) -> Measurement:
    azimuths = 2.0 * np.pi * np.arange(16) / 16.0 + 0.1
    details = {}
    for friction in frictions:
        found = [angle_of_slip(azimuth, friction, within) for azimuth in azimuths]
        details[f"friction {friction:g}"] = float(np.degrees(np.abs(found - np.arctan(friction)).max()))
    return Measurement(max(details.values()), details)


SLIP = (
    "cube on a slope, friction {}, in 16 directions: largest difference of the angle at which it slips from the "
    "friction angle (a four-sided pyramid would be degrees off)"
)
# A tenth of a degree is promised; the bisection stops at a fiftieth or a thousandth.
for name, numbers, frictions, within, bound in (
    ("slip_quick", "0.4", (0.4,), 0.02, {"at_most": 0.03}),
    ("slip", "0.05, 0.2, 0.4 and 0.8", (0.05, 0.2, 0.4, 0.8), 1e-3, {"at_most": 0.01, "cost": "slow"}),
):
    kept = {"unit": "degrees", "source": "Coulomb's cone", "frictions": frictions, "within": within}
    claim(f"contacts.{name}", SLIP.format(numbers), **bound, **kept)(slip_errors)


def stack(masses: FloatArray) -> tuple[ph.Model, Any]:
    """A stack of cubes, each on four points slightly inside its corners."""
    builder = ph.ModelBuilder()
    sole = CORNERS[CORNERS[:, 2] < 0.0] * [0.9, 0.9, 1.0]
    for k, mass in enumerate(masses):
        cube(builder, f"cube {k}", float(mass))
        on: dict[str, Any] = {"friction": 0.5}
        obstacle: Any = Plane()
        if k:
            on["other"], obstacle = f"cube {k - 1}", Box((HALF, HALF, HALF))
        builder.add_contact(f"sole {k}", f"cube {k}", sole, obstacle, **on)
    model = builder.build()
    q = np.zeros(6 * len(masses))
    q[2::6] = HALF * (1.0 + 2.0 * np.arange(len(masses)))
    return model, model.state(q=q)


@cache
def stands(duration: float) -> dict[str, dict[str, float]]:
    """Movement and residual of ten equal cubes, and of ten whose masses increase upwards to ten times the lowest."""
    found = {}
    for name, masses in (("equal", np.ones(10)), ("growing upwards", np.linspace(1.0, 10.0, 10))):
        model, state = stack(masses)
        result = ph.simulate(model, state, duration, STEP)
        found[name] = {
            "movement": float(np.abs(result.q - state.q).max()),
            "residual": result.info["constraints"]["residual"],
            "rows": result.info["constraints"]["most_rows"],
        }
    return found


def largest(found: dict[str, dict[str, float]], key: str) -> Measurement:
    return Measurement(max(entry[key] for entry in found.values()), found)


@claim("contacts.stack", unit="m, rad", at_most=1e-9, cost="slow", duration=LONG)
@claim("contacts.stack_quick", unit="m, rad", at_most=1e-9, duration=SHORT)
def stack_movement(duration: float) -> Measurement:
    """Two stacks of ten cubes, equal and ten times as heavy at the top, {duration:g} s at 1 ms: largest movement."""
    return largest(stands(duration), "movement")


ROD, RODS_END = 0.5, 1.0  # m; s of rest that are checked


def dropped_rod(restitution: float, angle: float) -> tuple[ph.Model, Any]:
    """A plane rod over a rough floor, with spheres of 1 cm at its ends."""
    plane = np.eye(4)
    plane[:3, :3] = lie.so3_exp(np.array([0.5 * np.pi, 0.0, 0.0]))
    builder = ph.ModelBuilder()
    inertial = {"mass": 1.0, "inertia": np.diag([1e-3, 1.0, 1.0]) * ROD**2 / 12.0}
    builder.add_body("rod", joint=ph.joints.Planar(), joint_in_parent=plane, **inertial)
    ends = [(-0.5 * ROD, 0.0, 0.0), (0.5 * ROD, 0.0, 0.0)]
    builder.add_contact("floor", "rod", ends, Plane(), radius=0.01, friction=0.4, restitution=restitution)
    model = builder.build()
    return model, model.state(q=[0.0, 0.5, angle], qd=[1.0, 0.0, 2.0])


@cache
def dropped(duration: float, restitutions: tuple[float, ...]) -> dict[str, dict[str, float]]:
    """For rods that bounce and come to rest: movement in the last second, depth, residual, growth of energy."""
    found = {}
    for restitution in restitutions:
        for angle in (0.2, 1.0):
            model, state = dropped_rod(restitution, angle)
            result = ph.simulate(model, state, duration, STEP)
            late = result.t >= duration - RODS_END
            energy = result.energy[:, 2]
            ends = result.poses[:, 0, 2, 3, None] + 0.5 * ROD * np.outer(
                result.poses[:, 0, 2, 0], [-1.0, 1.0]
            )
            found[f"restitution {restitution:g}, angle {angle:g}"] = {
                "movement": float(np.ptp(result.q[late], axis=0).max()),
                "depth [m]": max(0.0, 0.01 - float(ends.min())),
                "residual": result.info["constraints"]["residual"],
                "growth": float(np.diff(energy).max() / np.ptp(energy)),
                "steps in contact": result.info["constraints"]["steps_with_contact"],
            }
    return found


@claim("contacts.bouncing_rod", unit="m, rad", at_most=1e-10)
def bouncing_rod() -> Measurement:
    """Rod thrown onto a rough floor, restitution 0, 0.5, two angles, 4 s at 1 ms: movement in the last second."""
    return largest(dropped(4.0, (0.0, 0.5)), "movement")


@claim("contacts.residual", source=RESIDUAL_SOURCE, at_most=1e-9, cost="slow", duration=LONG)
@claim("contacts.residual_quick", source=RESIDUAL_SOURCE, at_most=1e-9, duration=SHORT)
def all_residuals(duration: float) -> Measurement:
    """Largest residual of any step of stacks of ten cubes ({duration:g} s), of cubes on slopes a degree and a
    thousandth of one on either side of the friction angle, of bouncing rods.
    """
    found = {f"stack, {name}": entry["residual"] for name, entry in stands(duration).items()}
    found |= {f"rod, {name}": entry["residual"] for name, entry in dropped(4.0, (0.0, 0.5)).items()}
    for shift in (-1.0, -1e-3, 1e-3, 1.0):
        model, state = slope(np.arctan(0.4) + np.radians(shift), 0.7, 0.4)
        run = ph.simulate(model, state, 0.5, STEP, record_interval=0.5)
        found[f"slope {shift:g} degrees over the edge"] = run.info["constraints"]["residual"]
    return Measurement(max(found.values()), found)
