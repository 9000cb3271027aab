"""A recorded walk of a subject with a share of the shank's mass in four ankle muscles (Wang 2022, sec. 6.2.8)."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import physics as ph
from physics.muscles import Cylinder, MassPoints, PathPoint, Wrap

from .claim import Skipped

MODELS = Path(__file__).resolve().parents[3] / "shared" / "models"
SUBJECT = MODELS / "gait10dof18musc_subject01.osim"
WALK = MODELS / "subject01_walk_IK.mot"
FORCES = MODELS / "subject01_walk_grf.mot"
CUTOFF = 6.0  # Hz, usual for gait
NUM_POINTS = 20
LOADED = 20.0  # N: least force of ground contact

# masses of cadaver muscles [g] (Ward et al. 2009), and the part of the path with the belly
MUSCLES = {
    "soleus": (275.8, 0.05, 0.70),
    "gastrocnemius medialis": (113.5, 0.05, 0.55),
    "gastrocnemius lateralis": (62.2, 0.05, 0.55),
    "tibialis anterior": (80.1, 0.05, 0.60),
}
# points of the subject's model; the lateral head mirrors the medial one; cylinders placed manually at the condyles
HEEL = (0.0, 0.0318396, -0.00544355)
HEADS = {"gastrocnemius medialis": -0.02696, "gastrocnemius lateralis": 0.02696}
CONDYLE, CONDYLE_RADIUS = (-0.0045, -0.4645), 0.019


def beside(path: Path) -> Path:
    """The path; raises Skipped if there is no such file."""
    if not path.exists():
        raise Skipped(f"{path.name} is not beside this checkout")
    return path


def path(muscle: str) -> list[Any]:
    """Paths of the right leg: type I, II, and III over a cylinder on the femur."""
    if muscle == "soleus":
        return [PathPoint("tibia_r", (-0.00237246, -0.151541, 0.00701851)), PathPoint("calcn_r", HEEL)]
    if muscle == "tibialis anterior":
        return [
            PathPoint("tibia_r", (0.0176946, -0.160536, 0.011368)),
            PathPoint("tibia_r", (0.0325224, -0.390565, -0.0174969)),
            PathPoint("calcn_r", (0.119758, 0.0182821, -0.0313261)),
        ]
    frame = np.eye(4)
    frame[:3, 3] = [*CONDYLE, 0.0]
    condyle = Cylinder(body="femur_r", frame=frame, radius=CONDYLE_RADIUS, side="counterclockwise")
    return [
        PathPoint("femur_r", (-0.0217976, -0.450751, HEADS[muscle])),
        Wrap(condyle),
        PathPoint("calcn_r", HEEL),
    ]


def subject(share: float) -> ph.Model:
    """The subject with this share of the right shank's mass in its muscles; the shank keeps its mass centre."""
    builder = read().builder
    builder = ph.ModelBuilder.from_dict(builder.build().to_dict())
    number = next(k for k, body in enumerate(builder.bodies) if body.name == "tibia_r")
    shank = builder.bodies[number]
    moved = share * shank.mass
    builder.bodies[number] = replace(
        shank, mass=(1.0 - share) * shank.mass, inertia=(1.0 - share) * shank.inertia
    )
    total = sum(mass for mass, _, _ in MUSCLES.values())
    for name, (mass, start, end) in MUSCLES.items():
        masses = MassPoints.uniform(moved * mass / total, NUM_POINTS, start, end) if share else None
        builder.add_muscle(name, path(name), masses=masses)
    return builder.build()


@cache
def read() -> Any:
    """The subject's model read from OpenSim's file, without its muscles."""
    return ph.read_opensim(beside(SUBJECT), muscles=False, limits=False)


def samples(model: ph.Model) -> tuple[Any, Any]:
    """Times (n,) and coordinates (n, nv) of the walk."""
    return ph.motion_samples(read(), model, ph.read_storage(beside(WALK)))


def swing() -> tuple[float, float]:
    """Times at which the right foot leaves the ground and returns, the last of the record [s]."""
    forces = ph.read_storage(beside(FORCES))
    loaded = forces.columns["ground_force_vy"] > LOADED
    change = np.nonzero(np.diff(loaded.astype(int)))[0] + 1
    down = change[loaded[change]][-1]
    up = change[~loaded[change] & (change < down)][-1]
    return float(forces.times[up]), float(forces.times[down])
