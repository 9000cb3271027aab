"""Beads on flower-shaped wires that spin about the vertical (Lee & Terzopoulos 2008, Fig. 5a). No Blender.

The beads of one wire are fixed to the frame that travels along it; those of the other are free to spin about it: a
spline curve times a hinge about the curve's tangent.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

import physics as ph
from physics._typing import FloatArray

PETALS, PETAL_DEPTH = 5, 0.36
MEAN_RADIUS = 0.20  # m
CONTROL_FRAMES = 24 * PETALS
WIRE_MASS, WIRE_RADIUS = 0.6, 0.004  # kg, m
BEAD_MASS = 0.06  # kg
BEAD_RING, BEAD_THICKNESS = 0.0125, 0.0075  # m
KNOB = (0.0, 0.026, 0.0)  # m, in the bead's axes: x along the wire, y outward in the flower's plane
BEAD_CENTER = (0.0, 0.012, 0.0)
BEAD_INERTIA = (1.6e-5, 1.2e-5, 1.8e-5)  # kg m^2 about the centre of mass
LENGTH_SCALE = 0.02  # m that count as a radian along the curve: about the bead's radius of gyration
FRICTION = 0.03  # N s/m against sliding
HINGE_DAMPING = 2e-5  # N m s against spinning about the wire


@dataclass(frozen=True)
class Flower:
    """A wire with three beads: its name and middle [m], whether its beads spin freely about it, their initial polar
    angles, and the wire's initial angular speed [rad/s], which only the beads change.
    """

    name: str
    center: tuple[float, float, float]
    free: bool
    starts: tuple[float, float, float]
    spin: float

    @property
    def wire(self) -> str:
        return f"{self.name} wire"

    def bead(self, number: int) -> str:
        return f"{self.name} bead {number + 1}"

    @property
    def joint(self) -> ph.joints.Joint:
        """The joint of its beads on the wire."""
        return bead_joint(self.free)


FLOWERS = (
    Flower("Fixed", (-0.33, 0.0, 0.0), False, (0.615, 2.447, 2.717), 2.25),
    Flower("Free", (0.33, 0.0, 0.0), True, (0.884, 2.306, 5.981), 2.39),
)
BEADS = range(3)


def flower_frames(angles: FloatArray) -> FloatArray:
    """Frames (n, 4, 4) on the flower at polar angles (n,): x along the wire, z the normal of its plane."""
    turn = PETALS * (angles - 0.5 * np.pi)  # one petal points upward
    radius = MEAN_RADIUS * (1.0 + PETAL_DEPTH * np.cos(turn))
    slope = -MEAN_RADIUS * PETAL_DEPTH * PETALS * np.sin(turn)
    outward = np.column_stack([np.cos(angles), np.zeros_like(angles), np.sin(angles)])
    around = np.column_stack([-np.sin(angles), np.zeros_like(angles), np.cos(angles)])
    tangent = slope[:, None] * outward + radius[:, None] * around
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
    normal = np.broadcast_to([0.0, 1.0, 0.0], tangent.shape)
    frames = np.broadcast_to(np.eye(4), (len(angles), 4, 4)).copy()
    frames[:, :3, :3] = np.stack([tangent, np.cross(normal, tangent), normal], axis=-1)
    frames[:, :3, 3] = radius[:, None] * outward
    return frames


@cache
def wire_curve() -> ph.joints.SplineCurve:
    """The closed curve of every bead, in the wire's axes; its control frames lie on the flower."""
    angles = np.linspace(0.0, 2.0 * np.pi, CONTROL_FRAMES, endpoint=False)
    return ph.joints.SplineCurve(flower_frames(angles), periodic=True, length_scale=LENGTH_SCALE)


def bead_joint(free: bool) -> ph.joints.Joint:
    """The curve; for a bead free to spin times a hinge about its tangent."""
    curve = wire_curve()
    return ph.joints.Composite((curve, ph.joints.Hinge((1.0, 0.0, 0.0)))) if free else curve


def curve_poses(count: int) -> FloatArray:
    """Poses (count, 4, 4) all along the curve."""
    curve = wire_curve()
    return np.asarray(curve.transform(np.linspace(0.0, curve.period, count, endpoint=False)[:, None]))


def coordinate(angle: float) -> float:
    """Coordinate at which the curve passes the polar angle."""
    curve = wire_curve()
    q = np.linspace(0.0, curve.period, 4001)
    points = np.asarray(curve.transform(q[:, None]))[:, :3, 3]
    apart = np.angle(np.exp(1j * (np.arctan2(points[:, 2], points[:, 0]) - angle)))
    return float(q[np.argmin(np.abs(apart))])


def wire_inertia() -> FloatArray:
    """Inertia of the thin wire about its middle (3, 3) [kg m^2]."""
    points = curve_poses(2000)[:, :3, 3]
    shares = np.linalg.norm(np.roll(points, -1, axis=0) - np.roll(points, 1, axis=0), axis=1)
    shares *= WIRE_MASS / shares.sum()
    second = np.einsum("n,ni,nj->ij", shares, points, points)
    return np.asarray(np.trace(second) * np.eye(3) - second)


def damping(free: bool) -> FloatArray:
    """Damping of a bead's coordinates: friction along the wire, for a coordinate of LENGTH_SCALE metres."""
    along = FRICTION * LENGTH_SCALE**2
    return np.array([along, HINGE_DAMPING] if free else [along])


def build_model(flowers: tuple[Flower, ...] = FLOWERS, friction: float = 1.0) -> ph.Model:
    """The wires on their upright hinges and the beads on the wires; `friction` multiplies all damping."""
    builder = ph.ModelBuilder()
    for flower in flowers:
        place = np.eye(4)
        place[:3, 3] = flower.center
        wire = builder.add_body(
            flower.wire,
            joint=ph.joints.Hinge(),
            joint_in_parent=place,
            mass=WIRE_MASS,
            inertia=wire_inertia(),
        )
        for number in BEADS:
            builder.add_body(
                flower.bead(number), parent=wire, joint=flower.joint, mass=BEAD_MASS, com=BEAD_CENTER,
                inertia=np.diag(BEAD_INERTIA), damping=friction * damping(flower.free),
            )  # fmt: skip
    return builder.build()


def start(model: ph.Model, flowers: tuple[Flower, ...] = FLOWERS) -> ph.State:
    """First state: the wires spin, the beads are at rest on them."""
    q = {}
    for flower in flowers:
        for number in BEADS:
            along = coordinate(flower.starts[number])
            q[flower.bead(number)] = [along, 0.0] if flower.free else [along]
    return model.state(q=q, qd={flower.wire: flower.spin for flower in flowers})
