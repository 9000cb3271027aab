"""Ranking of muscles by the effect of their mass on a motion (Wang 2022, sec. 7.3)."""

from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from .._typing import FloatArray
from ..bodies.body import Body, point_inertia
from ..dynamics import body_poses, inverse_dynamics
from ..errors import ModelError
from ..model.model import Model
from ..muscles.muscle import Muscle
from ..muscles.states import check_tendons_of_samples, path_lengths
from ..muscles.wrapping import Wrap
from ..validation import chosen, finite_array, float_array, instance
from .muscle_readings import muscle_number, muscle_points

BASES = ("lumped", "massless")
# A coordinate whose forces stay below this share of the largest one is ignored.
IDLE = 1e-6


class SampledMotion(Protocol):
    """A motion in samples (T, nv), such as the result of `inverse_dynamics_of_samples`."""

    q: FloatArray
    qd: FloatArray
    qdd: FloatArray


class MuscleMassEffect(NamedTuple):
    """Effect of a muscle's mass on the generalized forces of a motion.

    Attributes:
        muscle: its name. mass: [kg].
        share: the largest change of a generalized force, relative to that force's peak in the motion.
        coordinate: name of the coordinate of that force.
        changes: largest change of each generalized force (nv,).
    """

    muscle: str
    mass: float
    share: float
    coordinate: str
    changes: FloatArray


def rank_muscle_masses(
    model: Model, motion: SampledMotion, against: str = "lumped"
) -> list[MuscleMassEffect]:
    """Muscles by the effect of their mass on the generalized forces of a motion, in decreasing order.

    Args:
        model: with muscles, some of which have mass.
        motion: with q, qd and qdd (T, nv).
        against: reference model. ``"lumped"``: each mass point is fixed to the body of the origin or insertion,
            whichever is nearer along the path, at its place in the first sample, as in simulators without muscle mass.
            ``"massless"``: without the muscle's mass.

    Raises:
        ModelError: bad shapes or numbers, an unknown reference, a path shorter than its tendons.
        JointRangeError: as `inverse_dynamics`.
    """
    chosen(against, BASES, "against")
    nv = instance(model, Model, "model").num_coordinates
    if not all(hasattr(motion, name) for name in ("q", "qd", "qdd")):
        raise ModelError(f"motion must have q, qd and qdd, got {motion!r:.80}")
    count = float_array(motion.q, "q of the motion").shape[0] if np.ndim(motion.q) else 0
    parts = tuple(
        finite_array(getattr(motion, name), (count, nv), f"{name} of the motion")
        for name in ("q", "qd", "qdd")
    )
    if not count:
        raise ModelError("a motion needs at least one sample, got none")
    check_tendons_of_samples(model, parts[0])
    whole = _forces(model, parts)
    peaks = np.abs(whole).max(axis=0)
    judged = peaks > IDLE * peaks.max(initial=0.0)
    found = []
    for muscle in model.muscles:
        if not muscle.num_points:
            continue
        changes = np.abs(whole - _forces(_without(model, muscle, parts[0][0], against), parts)).max(axis=0)
        shares = np.where(judged, changes / np.where(judged, peaks, 1.0), 0.0)
        most = int(np.argmax(shares))
        name = model.coordinate_names[most]
        found.append(MuscleMassEffect(muscle.name, muscle.mass, float(shares[most]), name, changes))
    return sorted(found, key=lambda effect: -effect.share)


def _forces(model: Model, parts: tuple[FloatArray, ...]) -> FloatArray:
    q, qd, qdd = parts
    return np.array([inverse_dynamics(model, model.state(q[k], qd[k]), qdd[k]) for k in range(len(q))])


def _without(model: Model, muscle: Muscle, q: FloatArray, against: str) -> Model:
    """The model without the mass of this muscle on its path, and with the path unchanged."""
    bodies = list(model.bodies)
    if against == "lumped" and muscle.masses is not None:
        places = muscle_points(model, model.state(q), muscle.name).positions
        poses = _poses(model, q)
        length = path_lengths(model, q)[muscle_number(model, muscle.name)]
        near = muscle.masses.offsets + muscle.masses.shares * length < 0.5 * length
        for end, mine in ((muscle.points[0], near), (muscle.points[-1], ~near)):
            if end.body is not None and mine.any():
                k = model.index(end.body)
                local = (places[mine] - poses[k, :3, 3]) @ poses[k, :3, :3]
                bodies[k] = _with_masses(bodies[k], muscle.masses.masses[mine], local)
    path = tuple(
        replace(item, smoothing=item.smoothing_length(massive=True)) if isinstance(item, Wrap) else item
        for item in muscle.path
    )
    bare = replace(muscle, path=path, masses=None)
    muscles = [bare if known is muscle else known for known in model.muscles]
    return model.altered(bodies=bodies, muscles=muscles)


def _poses(model: Model, q: FloatArray) -> FloatArray:
    return body_poses(model, model.state(q))


def _with_masses(body: Body, masses: FloatArray, places: FloatArray) -> Body:
    """The body with point masses (n,) fixed at places (n, 3) in its frame."""
    total = body.mass + float(masses.sum())
    com = (body.mass * np.asarray(body.com) + masses @ places) / total
    inertia = np.array(body.inertia) + point_inertia(body.mass, np.asarray(body.com) - com)
    for mass, place in zip(masses, places):
        inertia = inertia + point_inertia(float(mass), place - com)
    changed: dict[str, Any] = {"mass": total, "com": com, "inertia": inertia}
    return replace(body, **changed)
