"""A machine that walks on twelve legs after Theo Jansen: one shaft drives all of them. No Blender.

The proportions are those that Jansen states for the legs of his beach animals (Jansen 2007, "The Great Pretender", the
"holy numbers"), here in centimetres. Six cranks 60 degrees apart each drive a rear and a front leg.
Each leg closes three loops: the crank's angle determines its six links.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

import physics as ph
from physics import constraints
from physics._typing import FloatArray

Bar = tuple[FloatArray, FloatArray]

UNIT = 0.01  # m; Jansen gives proportions
PIVOT_ASIDE, PIVOT_BELOW, CRANK = 38.0 * UNIT, 7.8 * UNIT, 15.0 * UNIT  # his a, l, m
TOP_ROD, LOW_ROD = 50.0 * UNIT, 61.9 * UNIT  # j, k: from the crank
PIVOT_TOP, PIVOT_OUTER, TOP_OUTER = 41.5 * UNIT, 40.1 * UNIT, 55.8 * UNIT  # b, d, e: the upper triangle
PIVOT_LOW, OUTER_HEEL = 39.3 * UNIT, 39.4 * UNIT  # c, f
LOW_HEEL, HEEL_FOOT, LOW_FOOT = 36.7 * UNIT, 65.7 * UNIT, 49.0 * UNIT  # g, h, i: the lower triangle

PLACES = (-0.60, -0.40, -0.20, 0.20, 0.40, 0.60)  # of the cranks along the shaft, y [m]
PHASES = np.radians((0.0, 120.0, 240.0, 180.0, 300.0, 60.0))  # of the cranks
REAR, FRONT = -1.0, 1.0
DENSITY, TUBE = 0.25, 0.009  # of the links: kg/m, radius [m]
FRAME_MASS, FRAME_SIZE = 6.0, (0.38, 0.66, 0.05)  # kg, half sizes [m]
SHAFT_MASS, SHAFT_RADIUS = 3.0, 0.02  # kg, m
FOOT = 0.018  # radius of the rubber at a foot [m]
GROUND = {"stiffness": 4e4, "exponent": 1.0, "damping": 250.0, "friction": 0.8, "smooth_speed": 0.05}

SPEED, RAMP = np.radians(-200.0), 1.0  # of the shaft [rad/s], reached in this many seconds
SECONDS = 6.0
TIME_STEP = 1.0 / 960.0  # s; a frame is 40 steps, so that every sample is at a step


@dataclass(frozen=True)
class Leg:
    """One leg in the pose in which the coordinates are zero; points (2,) are x and z in the frame's axes [m].

    Attributes:
        name: prefix of its bodies' names. place: its y [m].
        pivot: on the frame. pin: of the crank. top, outer: of the upper triangle. low, heel, foot: of the lower one.
    """

    name: str
    place: float
    pivot: FloatArray
    pin: FloatArray
    top: FloatArray
    outer: FloatArray
    low: FloatArray
    heel: FloatArray
    foot: FloatArray

    def bars(self) -> dict[str, list[Bar]]:
        """The bars of each body; the first point is its origin."""
        return {
            "upper": [(self.pivot, self.top), (self.top, self.outer), (self.outer, self.pivot)],
            "link": [(self.pivot, self.low)],
            "top rod": [(self.pin, self.top)],
            "low rod": [(self.pin, self.low)],
            "lower": [(self.low, self.heel), (self.heel, self.foot), (self.foot, self.low)],
            "rear rod": [(self.outer, self.heel)],
        }

    def body(self, part: str) -> str:
        return f"{self.name} {part}"


PARENTS = {
    "upper": "Frame",
    "link": "Frame",
    "top rod": "Shaft",
    "low rod": "Shaft",
    "lower": "link",
    "rear rod": "upper",
}
LOOPS = (("top rod", "upper", "top"), ("low rod", "link", "low"), ("rear rod", "lower", "heel"))


def crossing(first: FloatArray, radius: float, second: FloatArray, other: float, side: float) -> FloatArray:
    """Intersection of circles about two points (2,): left of the line from the first to the second for side 1."""
    way = second - first
    apart = float(np.hypot(*way))
    along = (apart**2 + radius**2 - other**2) / (2.0 * apart)
    away = np.sqrt(radius**2 - along**2)
    return first + (along * way + side * away * np.array([-way[1], way[0]])) / apart


def make_leg(name: str, place: float, side: float, angle: float) -> Leg:
    """The rear (`REAR`) or front leg (`FRONT`) for a crank at an angle from x towards z [rad]."""
    mirror = np.array([-side, 1.0])  # Jansen's drawing is that of the rear leg
    pin = mirror * CRANK * np.array([np.cos(angle), np.sin(angle)])
    pivot = np.array([-PIVOT_ASIDE, -PIVOT_BELOW])
    top = crossing(pivot, PIVOT_TOP, pin, TOP_ROD, 1.0)
    low = crossing(pivot, PIVOT_LOW, pin, LOW_ROD, -1.0)
    outer = crossing(pivot, PIVOT_OUTER, top, TOP_OUTER, 1.0)
    heel = crossing(outer, OUTER_HEEL, low, LOW_HEEL, -1.0)
    foot = crossing(heel, HEEL_FOOT, low, LOW_FOOT, -1.0)
    return Leg(name, place, *(mirror * point for point in (pivot, pin, top, outer, low, heel, foot)))


@cache
def legs() -> tuple[Leg, ...]:
    """All twelve."""
    return tuple(
        make_leg(f"{'Rear' if side == REAR else 'Front'} leg {number + 1}", place, side, phase)
        for number, (place, phase) in enumerate(zip(PLACES, PHASES))
        for side in (REAR, FRONT)
    )


def in_space(point: FloatArray, place: float) -> FloatArray:
    """A point of a leg's plane (3,)."""
    return np.array([point[0], place, point[1]])


def shifted(point: FloatArray) -> FloatArray:
    """A frame (4, 4) at a point (3,), with unrotated axes."""
    frame = np.eye(4)
    frame[:3, 3] = point
    return frame


def bars_body(bars: Sequence[Bar], origin: FloatArray) -> dict[str, object]:
    """Mass, mass centre and inertia of tubes, about an origin (2,) in their plane."""
    mass, first, second = 0.0, np.zeros(3), np.zeros((3, 3))
    for begin, end in bars:
        a, b = in_space(begin - origin, 0.0), in_space(end - origin, 0.0)
        own, middle, way = DENSITY * np.linalg.norm(b - a), 0.5 * (a + b), b - a
        mass, first = mass + own, first + own * middle
        second += own * (np.outer(middle, middle) + np.outer(way, way) / 12.0 + 0.25 * TUBE**2 * np.eye(3))
    com = first / mass
    second -= mass * np.outer(com, com)
    return {"mass": mass, "com": com, "inertia": np.trace(second) * np.eye(3) - second}


def frame_inertia() -> FloatArray:
    """Inertia (3, 3) of the frame, as a box."""
    squares = np.square(FRAME_SIZE)
    return np.diag(FRAME_MASS / 3.0 * (squares.sum() - squares))


def shaft_inertia() -> FloatArray:
    """Inertia (3, 3) of the shaft with its cranks, whose pins are spread evenly about it."""
    across = SHAFT_MASS * (FRAME_SIZE[1] ** 2 / 3.0 + 0.25 * CRANK**2)
    return np.diag([across, 0.5 * SHAFT_MASS * CRANK**2, across])


def build_model(which: Sequence[Leg] | None = None, walks: bool = True) -> ph.Model:
    """Frame, shaft and legs; the frame is fixed in the world unless it walks."""
    builder = ph.ModelBuilder()
    root = ph.joints.Free() if walks else ph.joints.Fixed()
    builder.add_body("Frame", joint=root, mass=FRAME_MASS, inertia=frame_inertia())
    turning = ph.joints.Hinge((0.0, -1.0, 0.0))  # from x towards z
    builder.add_body("Shaft", "Frame", joint=turning, mass=SHAFT_MASS, inertia=shaft_inertia())
    for leg in legs() if which is None else which:
        bars = leg.bars()
        for part, parent in PARENTS.items():
            origin = bars[part][0][0]
            at = in_space(origin, leg.place)
            if parent in bars:
                at, parent = in_space(origin - bars[parent][0][0], 0.0), leg.body(parent)
            solid = bars_body(bars[part], origin)
            builder.add_body(leg.body(part), parent, joint=turning, joint_in_parent=shifted(at), **solid)
        for part, other, point in LOOPS:
            ends = [
                shifted(in_space(getattr(leg, point) - bars[name][0][0], 0.0)) @ UPRIGHT
                for name in (part, other)
            ]
            closed = constraints.HingeConstraint(leg.body(part), leg.body(other), *ends)
            builder.add_constraint(f"{leg.name} {point}", closed)
        if walks:
            builder.add_ground(
                f"{leg.name} ground",
                leg.body("lower"),
                in_space(leg.foot - leg.low, 0.0),
                radius=FOOT,
                **GROUND,
            )
    return builder.build()


# z along y: the hinges' axis
UPRIGHT = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, -1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])


def start(model: ph.Model) -> ph.State:
    """First state: at rest, the lowest feet just on the ground."""
    height = FOOT - min(leg.foot[1] for leg in legs())
    return model.state(q={"Frame": [0.0, 0.0, height, 0.0, 0.0, 0.0]})


def drive(seconds: float = SECONDS) -> dict[str, ph.Motion]:
    """The shaft's motion: its speed rises smoothly, then is constant."""
    times = np.linspace(0.0, seconds, max(int(np.ceil(seconds / 0.05)), 1) + 1)
    share = np.minimum(times / RAMP, 1.0)
    # speed 3 s^2 - 2 s^3 of the full one, integrated
    turned = RAMP * (share**3 - 0.5 * share**4) + np.maximum(times - RAMP, 0.0)
    return {"Shaft": ph.Motion(times, SPEED * turned)}


def closure(model: ph.Model, poses: FloatArray) -> float:
    """Largest error of the hinges that close the loops in poses (n, nb, 4, 4): distance of the two halves' middles [m],
    or component between their axes.
    """
    largest = 0.0
    for hinge in model.constraints.values():
        first = poses[:, model.index(hinge.body)] @ hinge.frame
        second = poses[:, model.index(hinge.other)] @ hinge.other_frame
        largest = max(largest, float(np.abs((first - second)[:, :3, 2:]).max()))
    return largest


def foot_points(model: ph.Model, poses: FloatArray) -> FloatArray:
    """Middles of the feet's rubber (legs, n, 3) in poses (n, nb, 4, 4)."""
    return np.array([poses[:, ground.body] @ np.append(ground.points[0], 1.0) for ground in model.forces])[
        ..., :3
    ]
