"""Lengths and moment arms of the muscles of whole models, here and in OpenSim."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import physics as ph
from physics._typing import FloatArray

from .timing import Contestant

MODELS = Path(__file__).resolve().parents[3] / "shared" / "models"
FILES = ("arm26.osim", "leg6dof9musc.osim", "gait10dof18musc_subject01.osim")
POSES = 600
# differences of moment arms due to OpenSim's approximate surfaces, by model with wrapping paths [m]
AGREEMENT = {"arm26.osim": 2e-2}


@dataclass(frozen=True)
class Subject:
    """A model in both engines, at the same poses.

    Attributes:
        model: ours. peer, state: OpenSim's. values: (poses, nv) in our order, theirs in OpenSim's.
        arms: (muscle, coordinate) that a muscle spans, as OpenSim's objects. pairs: their indices in our model.
    """

    name: str
    model: Any
    peer: Any
    state: Any
    values: FloatArray
    theirs: FloatArray
    arms: Sequence[tuple[Any, Any]]
    pairs: Sequence[tuple[int, int]]


def subjects() -> list[Subject]:
    """Every available model."""
    return [_subject(file) for file in FILES if (MODELS / file).exists()]


def _subject(file: str) -> Subject:
    import opensim

    from tests.verification.peers import quiet_opensim
    from tests.verification.peers.test_opensim_models import coordinates_of, order

    quiet_opensim()
    peer = opensim.Model(str(MODELS / file))
    state = peer.initSystem()
    read = ph.read_opensim(MODELS / file, limits=False)
    model = read.build()
    coordinates = coordinates_of(peer, state)
    places = order(peer, state, read, model)
    low = np.array([max(coordinate.getRangeMin(), -1.5) for coordinate in coordinates])
    high = np.array([min(coordinate.getRangeMax(), 1.5) for coordinate in coordinates])
    # back and forth through the ranges, as in motions, each coordinate at its own rate
    phase = 2.0 * np.pi * np.arange(POSES)[:, None] / POSES
    turns = np.arange(len(low)) % 3 + 1
    theirs = low + (high - low) * (0.5 + 0.5 * np.sin(turns * phase + np.arange(len(low))))
    values = np.empty_like(theirs)
    values[:, places] = theirs
    found = ph.muscle_lengths(model, model.state(q=values[0]))
    pairs = [(k, d) for k, d in np.argwhere(found.gradients != 0.0).tolist()]
    arms = [(peer.getMuscles().get(model.muscles[k].name), coordinates[places.index(d)]) for k, d in pairs]
    return Subject(file, model, peer, state, values, theirs, arms, pairs)


def ours(whole: Sequence[Subject]) -> Contestant:
    """The kernel, called from Python for each pose of each model."""
    from physics.kernels.muscles.readings import muscle_lengths as kernel

    prepared = []
    for subject in whole:
        model = subject.model
        spaces = model.workspace(moment_arms=True).clear()
        lengths = np.zeros((len(model.muscles), 3))
        gradients = np.zeros((len(model.muscles), model.num_coordinates))
        still = np.zeros(model.num_coordinates)
        prepared.append(
            (model.arrays, np.ascontiguousarray(subject.values), still, lengths, gradients, spaces)
        )

    def run(steps: int) -> Any:
        for step in range(steps):
            for arrays, values, still, lengths, gradients, spaces in prepared:
                kernel(arrays, values[step % POSES], still, still, lengths, gradients, *spaces)
        return prepared

    return Contestant("ours", run)


def opensim_calls(whole: Sequence[Subject]) -> Contestant:
    """OpenSim's paths and its solver of moment arms, for the coordinates that a muscle spans."""

    def run(steps: int) -> Any:
        total = 0.0
        for step in range(steps):
            for subject in whole:
                set_pose(subject, step % POSES)
                for muscle, coordinate in subject.arms:
                    total += muscle.getLength(subject.state)
                    total += muscle.computeMomentArm(subject.state, coordinate)
        return total

    return Contestant("OpenSim", run)


def set_pose(subject: Subject, pose: int) -> None:
    """Set OpenSim's model to a pose."""
    numbers = subject.state.updQ()
    for k, value in enumerate(subject.theirs[pose]):
        numbers.set(k, float(value))
    subject.peer.realizePosition(subject.state)


def check_agreement(whole: Sequence[Subject]) -> None:
    """Check that both measure the same; RuntimeError if lengths or moment arms differ."""
    for subject in whole:
        close = AGREEMENT.get(subject.name, 1e-9)
        set_pose(subject, 0)
        found = ph.muscle_lengths(subject.model, subject.model.state(q=subject.values[0]))
        for (muscle, coordinate), (k, d) in zip(subject.arms, subject.pairs):
            length = abs(muscle.getLength(subject.state) - found.lengths[k])
            arm = abs(muscle.computeMomentArm(subject.state, coordinate) - found.moment_arms[k, d])
            if not max(length, arm) <= close:
                raise RuntimeError(
                    f"{subject.name}: {muscle.getName()} differs by {length:g} m, its arm by {arm:g}"
                )
