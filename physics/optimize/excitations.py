"""Torques of a motion shared among muscles: static optimization (Crowninshield & Brand 1981; Anderson & Pandy 2001)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from .._typing import FloatArray, IntArray
from ..analysis.muscle_readings import muscle_lengths
from ..bodies.state import State
from ..constraints import CouplingConstraint
from ..dynamics.samples import SampledDynamics
from ..errors import MissingDependencyError, ModelError
from ..kernels.muscles import hill_layout
from ..model.checks import inputs_alone
from ..model.model import Model
from ..muscles import ForceLaw, Tension
from ..muscles.hill import Hill
from ..muscles.muscle import Muscle
from ..validation import finite_array, float_array, instance, listed, near_names, rising, truth


class Excitations(NamedTuple):
    """Result of `excitations`, for T samples and the muscles that share.

    Attributes:
        muscles: their names. activations: (T, muscles). forces: along their paths (T, muscles) [N].
        reserves: generalized forces (T, nv) that no muscle provides; 0 at coupled coordinates.
        inputs: (T, nv + num_inputs), reserves and activations as values of a `Table`. times: (T,) [s].
    """

    muscles: tuple[str, ...]
    activations: FloatArray
    forces: FloatArray
    reserves: FloatArray
    inputs: FloatArray
    times: FloatArray


def excitations(
    model: Model, motion: SampledDynamics, *, reserves: Any = 1.0, bounds: Any = None, passive: bool = True
) -> Excitations:
    """Activations of muscles that give a motion's torques: in each sample those with the least sum of squares.

    A muscle's force is its activation times the active force of its fibre at full activation, at the motion's length
    and speed on a tendon that does not stretch. What activations cannot give, reserves do; (reserve / strength)^2
    counts in the sum.

    Args:
        model: with muscles that have a law and an input; other forces act as they do in the motion.
        motion: of `inverse_dynamics_of_samples` with this model.
        reserves: strengths [N m, N]: one for all coordinates, or {coordinate: strength}, others 1. Infinite: muscles
            need not move the coordinate.
        bounds: (least, greatest) of all activations; None: from the law's least one to 1.
        passive: whether passive elements and dampers of fibres pull too.

    Raises:
        ModelError: an invalid argument; no muscle that shares, or one with an input whose law has no largest force;
            constraints other than couplings. MissingDependencyError: without SciPy.
    """
    try:
        from scipy.optimize import lsq_linear
    except ImportError as error:
        raise MissingDependencyError("excitations needs SciPy, which is not installed") from error
    instance(model, Model, "model")
    truth(passive, "passive")
    times, (q, qd, tau) = _checked(model, motion)
    team = _Team(model, bounds)
    joints = _Joints(model)
    weights = 1.0 / _strengths(model, reserves)[joints.free]
    activations, forces = np.zeros((2, len(q), len(team.names)))
    inputs = np.tile(inputs_alone(model, None), (len(q), 1))
    chart = np.zeros(model.num_bodies, dtype=np.int64)
    for k, time in enumerate(times.tolist()):
        state = State(q[k], qd[k], time, chart)
        arms, strength, beside, at_rest = team.read(state)
        if not passive:
            beside[:] = 0.0
        spread = joints.spread(state)
        wanted = spread.T @ (tau[k] + arms.T @ (at_rest - beside))
        given = spread.T @ (arms.T * strength) @ team.own
        matrix = np.vstack([np.diag(np.sqrt(team.own.sum(axis=0))), weights[:, None] * given])
        sides = np.concatenate([np.zeros(len(team.inputs)), weights * wanted])
        found = lsq_linear(matrix, sides, team.ends(strength, beside), "bvls", tol=1e-14, max_iter=1000)
        if not found.success:
            raise ModelError(f"sample {k}: no least sum of squares was found: {found.message}")
        activations[k] = team.own @ found.x
        forces[k] = strength * activations[k] + beside
        inputs[k, joints.free] = wanted - given @ found.x
        inputs[k, team.columns] = found.x
    return Excitations(team.names, activations, forces, inputs[:, : q.shape[1]].copy(), inputs, times)


def crossed(model: Model, muscle: Muscle) -> set[str]:
    """Names of the coordinates that may change a muscle's length: of the joints between the bodies of its points and
    surfaces and the last one that carries these all, those that move its points, and those that drive coupled ones.
    """
    bodies = {point.body for point in muscle.points}
    bodies |= {body for wrap in muscle.strands.values() for body in wrap.bodies}
    ways = list[set[int]]()
    for body in bodies:
        way, index = set[int](), -1 if body is None else model.index(body)
        while index >= 0:
            way.add(index)
            index = int(model.parent[index])
        ways.append(way)
    between = ways[0].union(*ways) - ways[0].intersection(*ways)
    names = model.coordinate_names
    found = {name for k in between for name in names[model.coordinate_slice(model.body_names[k])]}
    found.update(name for point in muscle.points for name in point.coordinates)
    couplings = [each for each in model.constraints.values() if isinstance(each, CouplingConstraint)]
    for _ in couplings:  # a driver may be coupled itself
        for each in couplings:
            if each.coordinate in found:
                found.update(name for drivers, _ in each.terms for name in drivers)
    return found


def _checked(model: Model, motion: SampledDynamics) -> tuple[FloatArray, list[FloatArray]]:
    """Times, and q, q' and tau of a motion of this model."""
    instance(motion, SampledDynamics, "motion")
    times = rising(motion.times, "times of the motion")
    shape = (len(times), model.num_coordinates)
    return times, [
        finite_array(getattr(motion, name), shape, f"{name} of the motion") for name in ("q", "qd", "tau")
    ]


def _strengths(model: Model, reserves: Any) -> FloatArray:
    """Strength of each coordinate's reserve (nv,), perhaps infinite."""
    names, strengths = model.coordinate_names, np.ones(model.num_coordinates)
    given = reserves if isinstance(reserves, Mapping) else dict.fromkeys(names, reserves)
    for name, value in given.items():
        if name not in names:
            raise ModelError(f"reserves: no coordinate is named {name!r}{near_names(name, names)}")
        strength = float_array(value, f"reserve of {name!r}")
        if strength.shape != () or not strength > 0.0:
            raise ModelError(f"reserve of {name!r} must be one positive number, got {value!r:.80}")
        strengths[names.index(name)] = strength
    return strengths


class _Joints:
    """The coordinates that a motion is free to move; couplings move others."""

    def __init__(self, model: Model) -> None:
        self.model, names = model, model.coordinate_names
        self.couplings: list[CouplingConstraint] = []
        for name, each in model.constraints.items():
            if not isinstance(each, CouplingConstraint):
                raise ModelError(
                    f"muscles share no forces in a model with the constraint {name!r}: use a tree"
                )
            self.couplings.append(each)
        self.coupled = [names.index(each.coordinate) for each in self.couplings]
        self.free: IntArray = np.setdiff1d(np.arange(len(names)), self.coupled)

    def spread(self, state: State) -> FloatArray:
        """Derivatives (nv, free) of all coordinates by the free ones."""
        result = np.zeros((self.model.num_coordinates, len(self.free)))
        result[self.free, range(len(self.free))] = 1.0
        if self.couplings:
            _, jacobian, _ = self.model.evaluate_constraints(state, self.couplings)
            result[self.coupled] = -np.linalg.solve(jacobian[:, self.coupled], jacobian[:, self.free])
        return result


class _Team:
    """The muscles that share torques, and their inputs."""

    def __init__(self, model: Model, bounds: Any) -> None:
        self.model, self.places = model, []
        for place, muscle in enumerate(model.muscles):
            if isinstance(muscle.tension, str):
                if not isinstance(muscle.law, (Hill, Tension)):
                    raise ModelError(
                        f"muscle {muscle.name!r} shares no torques: it has no law with a largest force"
                    )
                self.places.append(place)
        if not self.places:
            raise ModelError("no muscle of the model has an input and a law: there is none to share torques")
        self.muscles = [model.muscles[place] for place in self.places]
        self.names = tuple(muscle.name for muscle in self.muscles)
        self.inputs = list(dict.fromkeys(str(muscle.tension) for muscle in self.muscles))
        #: which input is each muscle's (muscles, inputs)
        self.own = np.array(
            [[float(muscle.tension == name) for name in self.inputs] for muscle in self.muscles]
        )
        self.columns = [model.num_coordinates + model.input_names.index(name) for name in self.inputs]
        self.idle = self.own @ inputs_alone(model, None)[self.columns]
        self.laws: list[ForceLaw] = [muscle.law for muscle in self.muscles if muscle.law is not None]
        self.least = np.array([law.useful_excitations[0] for law in self.laws])
        self.most = 1.0
        if bounds is not None:
            pair = listed(bounds, "bounds")
            ends = finite_array(pair, (2,), "bounds")
            if not 0.0 <= ends[0] < ends[1] <= 1.0:
                raise ModelError(f"bounds must be (least, greatest) activation in [0, 1], got {bounds!r:.80}")
            self.least, self.most = np.full(len(self.laws), ends[0]), float(ends[1])

    def read(self, state: State) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Moment arms (muscles, nv); active force at full activation, force beside it, and that of a muscle at rest,
        as it acts in the motion (muscles,).
        """
        read = muscle_lengths(self.model, state)
        forces = np.zeros((3, len(self.laws)))
        for i, (place, law) in enumerate(zip(self.places, self.laws)):
            length, rate = float(read.lengths[place]), float(read.rates[place])
            begun = law.initial_states(length, self.muscles[i].activation)
            forces[2, i] = law.force(length, rate, self.idle[i], begun)
            forces[:2, i] = (
                fibre_forces(law, length, rate)
                if isinstance(law, Hill)
                else (law.force(length, 0.0, 1.0), 0.0)
            )
        return read.moment_arms[self.places], *forces

    def ends(self, strength: FloatArray, beside: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Least and greatest activation of each input; below the least a muscle would push."""
        pushing = np.divide(-beside, strength, out=np.zeros_like(beside), where=strength > 0.0)
        least = np.where(self.own > 0.0, np.maximum(self.least, pushing)[:, None], 0.0).max(axis=0)
        most = np.full(len(self.inputs), self.most)
        # the ends of a search must differ
        return np.minimum(least, most - 1e-9), most


def fibre_forces(law: Hill, length: float, rate: float) -> tuple[float, float]:
    """Forces along the path [N] of a fibre on a rigid tendon: active at full activation; passive and damping."""
    at = law.record
    along, height = length - at[hill_layout.SLACK_LENGTH], at[hill_layout.HEIGHT]
    fibre = float(np.hypot(along, height)) if along > 0.0 else 0.0
    moves = fibre > at[hill_layout.MIN_FIBRE]
    fibre = max(fibre, float(at[hill_layout.MIN_FIBRE]))
    cosine = float(np.sqrt(1.0 - (height / fibre) ** 2))
    speed = rate * cosine / at[hill_layout.MAX_SPEED] if moves else 0.0
    normal, along_path = fibre / at[hill_layout.OPTIMAL_LENGTH], at[hill_layout.MAX_FORCE] * cosine
    active = law.curve("active", normal)[0] * law.curve("velocity", speed)[0]
    passive = law.curve("passive", normal)[0] + at[hill_layout.DAMPING] * speed
    return float(along_path * active), float(along_path * passive)
