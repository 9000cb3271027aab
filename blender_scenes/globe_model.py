"""Aeroplanes along the coastlines of a globe that turns on its tilted axis (Lee & Terzopoulos 2008, Fig. 5b).

No Blender. Each coast is a closed spline curve; two axes of every control frame lie in the globe's tangent plane, one
of them, x, along the coast.
"""

from functools import cache

import numpy as np

import physics as ph
from physics._typing import FloatArray

from .coastlines import FLOWN, LANDS, Coast

RADIUS = 0.25  # m
TILT = np.radians(23.4)
SPACING = np.radians(1.5)  # between control frames along a coast, at most
SMOOTHING = np.radians(3.0)  # width of smoothing; less on small islands, a fortieth of the way round
GLOBE_MASS = 3.0  # kg, a thin shell
SPIN = 1.2  # rad/s of the globe at first
PLANE_MASS = 0.05  # kg
PLANE_INERTIA = (6e-6, 8e-6, 1.3e-5)  # kg m^2, about nose, wing and mast
ALTITUDE = 0.012  # m, of a plane's middle above its coast
LENGTH_SCALE = 0.014  # m that count as a radian along a curve: about a plane's radius of gyration
FRICTION = 0.01  # N s/m along a coast
AXLE_FRICTION = 2e-3  # N m s
GLOBE = "Globe"
#: first place of each plane along its coast, as a share of the way round, and its first speed [m/s]
STARTS = {
    "Africa": (0.22, -0.9),
    "South America": (0.35, -0.8),
    "North America": (0.10, 1.2),
    "Eurasia": (0.36, -0.6),
    "Australia": (0.02, 1.3),
    "Greenland": (0.0, -0.8),
}


def plane(land: str) -> str:
    """Name of the plane of a coast."""
    return f"{land} plane"


def directions(coast: Coast) -> FloatArray:
    """Unit vectors (n, 3) from the globe's middle: longitude 0 along x, the north pole along z."""
    longitude, latitude = np.radians(np.array(coast, dtype=np.float64)).T
    return np.column_stack(
        [np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude)]
    )


def smoothed(coast: Coast, spacing: float = SPACING) -> FloatArray:
    """The coast as a smooth closed line of unit vectors (n, 3), evenly apart by at most `spacing` radians.

    The polyline through the points is averaged with a Gaussian weight along it, which rounds its bends, and projected
    onto the sphere.
    """
    points = directions(coast)
    around = float(np.linalg.norm(np.roll(points, -1, axis=0) - points, axis=1).sum())
    smoothing = min(SMOOTHING, around / 40.0)
    dense = evenly(points, 0.1 * smoothing)
    # share that remains of each wave after the smoothing, ten points long
    turn = 2.0 * np.pi * np.fft.rfftfreq(len(dense)) * 10.0
    spectrum = np.fft.rfft(dense, axis=0) * np.exp(-0.5 * turn**2)[:, None]
    soft = np.fft.irfft(spectrum, len(dense), axis=0)
    return evenly(soft / np.linalg.norm(soft, axis=1, keepdims=True), spacing)


def evenly(line: FloatArray, spacing: float) -> FloatArray:
    """Unit vectors (k, 3) along a closed line of unit vectors (n, 3), evenly apart by at most `spacing` radians."""
    closed = np.vstack([line, line[:1]])
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(closed, axis=0), axis=1))])
    places = np.linspace(0.0, way[-1], max(8, int(np.ceil(way[-1] / spacing))), endpoint=False)
    even = np.column_stack([np.interp(places, way, closed[:, axis]) for axis in range(3)])
    return np.asarray(even / np.linalg.norm(even, axis=1, keepdims=True))


def coast_frames(coast: Coast) -> FloatArray:
    """Control frames (n, 4, 4) on the coast: x along it, z outward."""
    outward = smoothed(coast)
    along = np.roll(outward, -1, axis=0) - np.roll(outward, 1, axis=0)
    along -= np.einsum("ij,ij->i", along, outward)[:, None] * outward
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    frames = np.broadcast_to(np.eye(4), (len(outward), 4, 4)).copy()
    frames[:, :3, :3] = np.stack([along, np.cross(outward, along), outward], axis=-1)
    frames[:, :3, 3] = RADIUS * outward
    return frames


@cache
def coast_curve(land: str) -> ph.joints.SplineCurve:
    """The closed curve along a coast, in the globe's axes."""
    return ph.joints.SplineCurve(coast_frames(LANDS[land]), periodic=True, length_scale=LENGTH_SCALE)


def curve_poses(land: str, count: int) -> FloatArray:
    """Poses (count, 4, 4) all along a coast."""
    curve = coast_curve(land)
    return np.asarray(curve.transform(np.linspace(0.0, curve.period, count, endpoint=False)[:, None]))


def axle() -> FloatArray:
    """Pose (4, 4) of the globe's hinge: its z axis tilted to the right."""
    return np.asarray(ph.lie.exp(np.array([0.0, TILT, 0.0, 0.0, 0.0, 0.0])))


def build_model(friction: float = 1.0) -> ph.Model:
    """The globe on its axle and a plane on each coast; `friction` multiplies all damping."""
    builder = ph.ModelBuilder()
    globe = builder.add_body(
        GLOBE, joint=ph.joints.Hinge(), joint_in_parent=axle(), mass=GLOBE_MASS,
        inertia=np.eye(3) * (2.0 / 3.0 * GLOBE_MASS * RADIUS**2), damping=friction * AXLE_FRICTION,
    )  # fmt: skip
    above = np.eye(4)
    above[2, 3] = ALTITUDE
    for land in FLOWN:
        builder.add_body(
            plane(land), parent=globe, joint=coast_curve(land), body_in_joint=above, mass=PLANE_MASS,
            inertia=np.diag(PLANE_INERTIA), damping=friction * FRICTION * LENGTH_SCALE**2,
        )  # fmt: skip
    return builder.build()


def start(model: ph.Model) -> ph.State:
    """First state: the globe turns, each plane flies."""
    q = {plane(land): [share * coast_curve(land).period] for land, (share, _) in STARTS.items()}
    speeds = {plane(land): [speed / LENGTH_SCALE] for land, (_, speed) in STARTS.items()}
    return model.state(q=q, qd={GLOBE: SPIN, **speeds})
