"""Double pendulums whose muscle, as heavy as either bone, wraps over a cylinder at the middle joint. No Blender.

Wang 2022, Fig. 6.5 and secs. 6.2.3-6.2.4: origin, insertion, radius and first rotation of the cylinder differ between
pendulums; the last has half of a muscle's mass on each bone instead.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

import physics as ph
from physics._typing import FloatArray
from physics.geometry import lie
from physics.muscles import Cylinder, PathPoint, Wrap

LENGTH, MASS, THICKNESS = 0.4, 1.0, 0.016  # of a bone [m, kg, m]
NUM_POINTS = 20
TIME_STEP, SECONDS = 1e-3, 10.0
START = np.radians([35.0, 25.0])
SMOOTHING = 0.012  # m, 1.8 % of the muscle's length: a heavy muscle must not lift off within a step
BONES = ("Proximal", "Distal")


@dataclass(frozen=True)
class Variant:
    """A pendulum of the group.

    Attributes:
        origin: in the proximal bone, insertion: in the distal bone [m].
        radius: of the cylinder, which is fixed to the proximal bone [m].
        turn: of the cylinder's axis from the hinges' axis, about x, then about z [rad].
    """

    origin: tuple[float, float, float]
    insertion: tuple[float, float, float]
    radius: float
    turn: tuple[float, float]


GROUP = (
    Variant((0.06, 0.00, -0.05), (0.03, 0.00, -0.30), 0.050, (0.0, 0.0)),
    Variant((0.08, 0.03, -0.08), (0.03, -0.03, -0.25), 0.060, (0.0, 0.0)),
    Variant((0.06, -0.03, -0.03), (0.04, 0.04, -0.32), 0.040, (0.4, 0.0)),
    Variant((0.10, 0.00, -0.10), (0.04, 0.02, -0.20), 0.075, (0.0, 0.5)),
    Variant((0.05, 0.04, -0.15), (0.02, 0.00, -0.34), 0.035, (-0.5, 0.3)),
)


def cylinder_frame(variant: Variant) -> FloatArray:
    """Frame (4, 4) of the cylinder in the proximal bone; its axis is z."""
    frame = np.eye(4)
    across = lie.so3_exp(np.array([-0.5 * np.pi, 0.0, 0.0]))  # z onto the hinges' axis, y
    about_x, about_z = variant.turn
    turn = lie.so3_exp(np.array([0.0, 0.0, about_z])) @ lie.so3_exp(np.array([about_x, 0.0, 0.0]))
    frame[:3, :3] = turn @ across
    frame[:3, 3] = [0.0, 0.0, -LENGTH]
    return frame


def path(
    variant: Variant, wraps: bool = True, smoothing: float | None = SMOOTHING, network: Any = None
) -> list[Any]:
    """The path over the cylinder, or (type II) through a point in front of it."""
    ends = PathPoint("Proximal", variant.origin), PathPoint("Distal", variant.insertion)
    if not wraps:
        return [ends[0], PathPoint("Proximal", (variant.radius, 0.0, -LENGTH)), ends[1]]
    over = Cylinder(
        body="Proximal", frame=cylinder_frame(variant), radius=variant.radius, side="counterclockwise"
    )
    return [ends[0], Wrap(over, smoothing, network), ends[1]]


def build_model(
    variant: Variant | None,
    *,
    wraps: bool = True,
    smoothing: float | None = SMOOTHING,
    velocity_terms: bool = True,
    masses: Any = None,
    network: Any = None,
) -> ph.Model:
    """A double pendulum; without a variant, the one whose muscle's mass is on its bones."""
    builder = ph.ModelBuilder()
    mass = MASS if variant else 1.5 * MASS
    round_, across = 0.5 * mass * THICKNESS**2, mass * (LENGTH**2 / 12.0 + THICKNESS**2 / 4.0)
    parent, place = None, np.eye(4)
    for name in BONES:
        builder.add_body(
            name, parent, joint=ph.joints.Hinge((0.0, 1.0, 0.0)), joint_in_parent=place, mass=mass,
            com=(0.0, 0.0, -0.5 * LENGTH), inertia=np.diag([across, across, round_]),
        )  # fmt: skip
        parent, place = name, np.eye(4)
        place[2, 3] = -LENGTH
    if variant:
        weight = {"mass": MASS, "num_points": NUM_POINTS} if masses is None else {"masses": masses}
        builder.add_muscle(
            "Muscle", path(variant, wraps, smoothing, network), velocity_terms=velocity_terms, **weight
        )
    return builder.build()


def swing(
    model: ph.Model, seconds: float = SECONDS, integrator: str = "sdirk2", dt: float = TIME_STEP
) -> ph.Result:
    """The motion from rest."""
    return ph.simulate(model, model.state(q=START), seconds, dt, integrator)


def drift(result: ph.Result) -> float:
    """Largest change of the energy over the range of the kinetic energy."""
    kinetic, _, total = result.energy.T
    return float(np.abs(total - total[0]).max() / np.ptp(kinetic))
