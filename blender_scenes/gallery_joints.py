"""One of every joint: the exhibits of the gallery, the range of each coordinate, and its sweep. No Blender.

A new joint in the registry of `physics.joints` is shown with its defaults if it needs no settings; otherwise it needs
an entry in `exhibits`.
"""

from dataclasses import MISSING, dataclass, fields
from functools import cache
from typing import Any

import numpy as np

from physics import joints
from physics._typing import FloatArray
from physics.geometry import lie
from physics.joints import Joint

SWEEP_FRAMES = 240  # frames of the whole sweep, divided evenly between the coordinates
REACH = 0.055  # m from the joint to the tip of the moving part
UNIT_TEXT = {"rad": (180.0 / np.pi, "°", 0), "m": (1e3, " mm", 0), "1": (1.0, "", 1), "s": (1.0, " s", 1)}


@dataclass(frozen=True)
class Exhibit:
    """A joint as it is shown.

    Attributes:
        title: its name.
        joint: the joint.
        ranges: lower and upper reading of each coordinate [rad, m or 1].
        rest: readings between the sweeps; None: zero, or the middle of a range that does not contain zero inside.
        part: the moving part: an "arm" from the joint's middle or a "dart" there; the "wire" of an inverted curve.
        fixture: the static part: a "post", the "wire" or the "surface" that the frame passes over, or a "frame".
    """

    title: str
    joint: Joint
    ranges: tuple[tuple[float, float], ...]
    part: str = "arm"
    fixture: str = "post"
    rest: tuple[float, ...] | None = None

    @property
    def rest_readings(self) -> FloatArray:
        if self.rest is not None:
            return np.array(self.rest, dtype=np.float64)
        return np.array([0.0 if low < 0.0 < high else 0.5 * (low + high) for low, high in self.ranges])

    def pose(self, readings: FloatArray) -> FloatArray:
        """Poses (..., 4, 4) of the moving frame in the fixed one at readings (..., n)."""
        return np.asarray(self.joint.transform(self.joint.from_readings(readings)))

    def along(self, coordinate: int, count: int = 49) -> FloatArray:
        """Readings (count, n) with one coordinate going from its lower to its upper end, the others at rest."""
        readings = np.tile(self.rest_readings, (count, 1))
        readings[:, coordinate] = np.linspace(*self.ranges[coordinate], count)
        return readings

    def over(self, count: int = 25) -> FloatArray:
        """Readings (count, count, n) over the ranges of the first two coordinates, the others at rest."""
        readings = np.tile(self.rest_readings, (count, count, 1))
        first, second = (np.linspace(*limits, count) for limits in self.ranges[:2])
        readings[..., 0], readings[..., 1] = first[:, None], second[None, :]
        return readings

    def sweep(self) -> FloatArray:
        """Readings (SWEEP_FRAMES + 1, n): each coordinate in turn up, down and back to rest, smoothly."""
        readings = np.tile(self.rest_readings, (SWEEP_FRAMES + 1, 1))
        ends = np.linspace(0, SWEEP_FRAMES, len(self.ranges) + 1).round().astype(int)
        for k, (low, high) in enumerate(self.ranges):
            rest = readings[0, k]
            wave = np.sin(2.0 * np.pi * np.linspace(0.0, 1.0, ends[k + 1] - ends[k] + 1))
            readings[ends[k] : ends[k + 1] + 1, k] += np.where(wave > 0.0, high - rest, rest - low) * wave
        return readings

    def captions(self) -> list[str]:
        """A line a coordinate: its name and its range."""
        lines = []
        for name, unit, limits in zip(
            self.joint.reading_names, self.joint.reading_units, self.ranges, strict=True
        ):
            factor, sign, digits = UNIT_TEXT[unit]
            low, high = (f"{factor * value:.{digits}f}".replace("-", "\u2212") for value in limits)
            lines.append(f"{name.replace('_', ' ')}  {low} … {high}{sign}")
        return lines


def degrees(*pairs: tuple[float, float]) -> tuple[tuple[float, float], ...]:
    return tuple((float(np.radians(low)), float(np.radians(high))) for low, high in pairs)


def both_ways(*values: float) -> tuple[tuple[float, float], ...]:
    return tuple((-value, value) for value in values)


def turns(*values: float) -> tuple[tuple[float, float], ...]:
    return degrees(*both_ways(*values))


def curved_frames(points: FloatArray, roll: FloatArray) -> FloatArray:
    """Frames (n, 4, 4) at points (n, 3): x along the way, z upward, rolled about x by `roll` (n,) [rad]."""
    along = np.gradient(points, axis=0)
    x = along / np.linalg.norm(along, axis=1, keepdims=True)
    y = np.cross([0.0, 0.0, 1.0], x)
    y /= np.linalg.norm(y, axis=1, keepdims=True)
    frames = np.tile(np.eye(4), (len(points), 1, 1))
    frames[:, :3, :3] = np.stack([x, y, np.cross(x, y)], axis=-1)
    frames[:, :3, 3] = points
    vectors = np.zeros((len(points), 3))
    vectors[:, 0] = roll
    frames[:, :3, :3] = frames[:, :3, :3] @ lie.so3_exp(vectors)
    return frames


def winding_curve() -> joints.SplineCurve:
    """A curve that rises, bends and twists by a quarter turn."""
    share = np.linspace(0.0, 1.0, 8)
    points = np.column_stack(
        [0.13 * (share - 0.5), 0.035 * np.sin(2.0 * np.pi * share), 0.03 * np.sin(np.pi * share)]
    )
    return joints.SplineCurve(curved_frames(points, 0.5 * np.pi * share), length_scale=0.05)


def hilly_surface() -> joints.SplineSurface:
    """A patch with a hill and a hollow; the frame is about upright on it."""
    share = np.linspace(-1.0, 1.0, 7)
    x, y = np.meshgrid(share, share, indexing="ij")
    height = 0.03 * (x**3 - x - 0.6 * y**2)
    slope_x, slope_y = 0.03 * (3.0 * x**2 - 1.0) / 0.06, -0.036 * y / 0.06
    values = np.zeros((7, 7, 6))
    values[..., 0], values[..., 1] = np.arctan(slope_y), -np.arctan(slope_x)
    values[..., 3], values[..., 4], values[..., 5] = 0.06 * x, 0.06 * y, height
    return joints.SplineSurface(values)


def rolling_joint() -> joints.Custom:
    """A joint that turns about y while it shifts forward and rises, as a knee's condyles roll and slide."""
    angles = np.linspace(0.0, 2.0, 6)
    none = (joints.Linear(0.0), None)
    rotations = (((0, 1, 0), joints.Linear(1.0), "flexion"), ((1, 0, 0), *none), ((0, 0, 1), *none))
    forward = joints.CubicSpline(angles, 0.03 * np.sin(0.8 * angles))
    lift = joints.CubicSpline(angles, 0.02 * (1.0 - np.cos(angles)))
    translations = (((1, 0, 0), forward, "flexion"), ((0, 1, 0), *none), ((0, 0, 1), lift, "flexion"))
    return joints.Custom(("flexion",), rotations, translations)


def of_curve(curve: joints.SplineCurve) -> tuple[tuple[float, float], ...]:
    ((low, high),) = np.asarray(curve.range)
    return ((float(low), float(high)),)


@cache
def exhibits() -> tuple[Exhibit, ...]:
    """The gallery in its order."""
    curve = winding_curve()
    spinning = joints.Composite((curve, joints.Hinge((1.0, 0.0, 0.0))))
    return (
        Exhibit("Solid", joints.Fixed(), ()),
        Exhibit("Hinge", joints.Hinge(), turns(100)),
        Exhibit("Reversed hinge", joints.ReversedHinge(), turns(100)),
        Exhibit("Slider", joints.Slider((1.0, 0.0, 0.0)), both_ways(0.05), "dart", "wire"),
        Exhibit("Helical", joints.Helical(pitch=0.008), turns(270)),
        Exhibit("Cylindrical", joints.Cylindrical(), (*turns(90), (-0.03, 0.03))),
        Exhibit("Slotted hinge", joints.SlottedHinge(), ((-0.025, 0.025), *turns(75)), "arm", "wire"),
        Exhibit("Universal", joints.Universal((0, 0, 1), (0, 1, 0)), turns(75, 50)),
        Exhibit("Skewed universal", joints.SkewedUniversal(np.radians(30.0)), turns(75, 50)),
        Exhibit("Roll-pitch", joints.RollPitch(), turns(75, 50)),
        Exhibit("Gimbal (Euler angles)", joints.Euler(), turns(75, 50, 90)),
        Exhibit("Roll-pitch-yaw", joints.RollPitchYaw(), turns(75, 50, 90)),
        Exhibit("Spherical", joints.Spherical(), turns(90, 50, 75)),
        Exhibit(
            "Spherical, tilt limit", joints.Spherical(limit=joints.ReachCone((0, 0, 1), np.radians(40.0))),
            turns(40, 40, 120),
        ),
        Exhibit(
            "Spherical, rotation limit", joints.Spherical(limit=joints.RotationLimit(np.radians([90.0, 50.0, 75.0]))),
            turns(90, 50, 75),
        ),
        Exhibit("Planar", joints.Planar(), (*both_ways(0.045, 0.045), *turns(90)), "dart", "surface"),
        Exhibit("Planar translation", joints.PlanarTranslation(), both_ways(0.045, 0.045), "dart", "surface"),
        Exhibit("Translational", joints.Translational(), both_ways(0.045, 0.045, 0.03), "dart", "frame"),
        Exhibit(
            "Free", joints.Free(), (*both_ways(0.045, 0.045, 0.03), *turns(90, 50, 75)), "dart", "frame"
        ),
        Exhibit("Elliptic", joints.Elliptic(0.06, 0.035), turns(180), "dart", "wire"),
        Exhibit(
            "Ellipsoid", joints.Ellipsoid(0.055, 0.045, 0.04, normal="true"), turns(60, 50, 75, 25),
            "dart", "surface",
        ),
        Exhibit(
            "Scapulothoracic", joints.Scapulothoracic((0.045, 0.055, 0.04), (0.0, 0.01)),
            turns(60, 50, 60, 25), "dart", "surface",
        ),
        Exhibit(
            "Constant curvature", joints.ConstantCurvature(0.06), turns(60, 60, 60), "arm", "wire"
        ),
        Exhibit("Custom (OpenSim)", rolling_joint(), degrees((0, 100)), rest=(0.0,)),
        Exhibit("Spline curve", curve, of_curve(curve), "dart", "wire"),
        Exhibit("Inverted curve", joints.Inverted(curve), of_curve(curve), "wire", "dart"),
        Exhibit(
            "Composite: curve, hinge", spinning, (*of_curve(curve), *turns(120)), "dart", "wire"
        ),
        Exhibit("Spline surface", hilly_surface(), ((0.0, 1.0), (0.0, 1.0)), "dart", "surface"),
    )  # fmt: skip


def whole_gallery() -> tuple[Exhibit, ...]:
    """The exhibits, and plain ones of registered types without an exhibit that can be made without settings."""
    shown = {exhibit.joint.type for exhibit in exhibits()}
    others = []
    for kind in sorted(set(joints.REGISTRY) - shown):
        joint_class = joints.REGISTRY[kind]
        if all(has_default(field) for field in fields(joint_class)):
            others.append(plain_exhibit(kind, joint_class()))
    return (*exhibits(), *others)


def has_default(field: Any) -> bool:
    return not field.init or field.default is not MISSING or field.default_factory is not MISSING


def plain_exhibit(kind: str, joint: Joint) -> Exhibit:
    """A joint swept over its range, or over a short range if that is open."""
    ranges = [
        (low if np.isfinite(low) else -0.5, high if np.isfinite(high) else 0.5)
        for low, high in joint.range.reshape(-1, 2)
    ]
    return Exhibit(kind.replace("_", " ").capitalize(), joint, tuple(ranges))
