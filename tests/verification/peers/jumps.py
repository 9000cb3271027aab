"""Along random motions of a model: where lengths and moment arms of our muscles jump, and whether OpenSim's do there.

    CONDYLE_OPENSIM_MODELS=FOLDER .venvs/peers/bin/python -m tests.verification.peers.jumps

prints a row for each model in the folder, and the jumps that OpenSim does not have.
"""

import os
import tempfile
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import opensim
import pytest

import physics as ph
from physics.io.opensim_parts import follow_drivers
from tests.physics.io.test_public_models import loaded, places

from . import quiet_opensim

MOTIONS, POSES = 20, 50
ARM, LENGTH = 2e-3, 2e-5  # a jump of a slope and of a length [m], far above what both change over
SHORT = 2e-6  # [rad]
WIDE = 5e-3  # [rad] about a jump in which OpenSim's may be, as its paths end at tolerances
FAR = 0.1  # [rad] likewise, where its path ends on a cylinder or turns over an ellipsoid at another pose than ours
STEPS = {WIDE: 2.5e-4, FAR: 1e-3}  # [rad] of OpenSim's lengths, well above their noise
SHARE = 0.5  # of our jump that OpenSim's has at least
EQUAL = 1e-6  # [m]: two paths are equally long where the one becomes the other, to SHORT times a slope
PATHS = ("PathActuator", "PathSpring", "Ligament", "Blankevoort1991Ligament")


@dataclass
class Jump:
    """A jump of a muscle in a motion: of its length and of its slope [m], and whose it is."""

    muscle: str
    motion: int
    place: float
    length: float
    arm: float
    whose: str = "alone"

    def change(self, step: float) -> float:
        """Of the mean slope over a step."""
        return max(abs(self.arm), abs(self.length) / step)


class Motion:
    """Our lengths and slopes from one random pose to the next, by the farthest coordinate's way."""

    def __init__(self, model: ph.Model, start: np.ndarray, stop: np.ndarray) -> None:
        self.model, self.start, self.step = model, start, stop - start
        self.way = float(np.abs(self.step).max(initial=0.0)) or 1.0
        self.state = model.state()

    def q(self, s: float) -> np.ndarray:
        q = (self.start + s / self.way * self.step)[None]
        follow_drivers(self.model, q, np.zeros_like(q))
        return q[0]

    def at(self, s: float) -> np.ndarray:
        found = ph.muscle_lengths(self.model, replace(self.state, q=self.q(s)))
        rate = (self.q(s + 1e-6) - self.q(s)) / 1e-6
        return np.array([found.lengths, -found.moment_arms @ rate])

    def jumps(self) -> list[tuple[int, float, float, float]]:
        """Number of the muscle, place, jumps of length and slope."""
        knots = np.linspace(0.0, self.way, POSES + 1)
        values = [self.at(s) for s in knots]
        every = np.ones(len(self.model.muscles), dtype=bool)
        return [
            jump for k in range(POSES) for jump in self.between(*knots[k : k + 2], *values[k : k + 2], every)
        ]

    def between(
        self, u: float, v: float, x: np.ndarray, y: np.ndarray, of: np.ndarray
    ) -> list[tuple[int, float, float, float]]:
        """Jumps of muscles among `of` between u and v."""
        slope = y[1] - x[1]
        length = y[0] - x[0] - 0.5 * (v - u) * (x[1] + y[1])
        of = of & ((np.abs(slope) > ARM) | (np.abs(length) > LENGTH))
        if not of.any() or v - u < SHORT:
            return [(int(k), u, float(length[k]), float(slope[k])) for k in np.flatnonzero(of)]
        middle = 0.5 * (u + v)
        z = self.at(middle)
        return self.between(u, middle, x, z, of) + self.between(middle, v, z, y, of)


class Sweep:
    """Ours and OpenSim's model of a file.

    Raises:
        pytest.skip.Exception: OpenSim does not load it.
    """

    def __init__(self, path: Path) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.peer, self.state, path = loaded(path, Path(folder))
            self.read = ph.read_opensim(path, limits=False, allow_welds=True, smoothing=0.0)
        self.model = self.read.build()
        self.ours, self.slots = places(self.peer, self.state, self.read, self.model)
        forces = self.peer.getForceSet()
        listed = [forces.get(k) for k in range(forces.getSize())]
        self.forces = {each.getName(): each for each in (*self.peer.getMuscleList(), *listed)}  # any place

    def ranges(self) -> np.ndarray:
        """Least and largest coordinates (2, nv); those that are held stay."""
        found = np.tile(self.read.state(self.model).q, (2, 1))
        for coordinate in self.read.coordinates.values():
            k = self.model.coordinate_index(coordinate.coordinate)
            if not (coordinate.locked or self.model.prescribed[k]):
                found[:, k] = np.clip(coordinate.range, -np.pi, np.pi)
        return found

    def length(self, muscle: str, q: np.ndarray) -> float:
        """OpenSim's length."""
        for mine, slot in zip(self.ours, self.slots):
            self.state.updQ().set(slot, float(q[mine]))
        self.peer.realizePosition(self.state)
        kinds = (getattr(opensim, kind).safeDownCast(self.forces[muscle]) for kind in PATHS)
        return float(next(kind for kind in kinds if kind is not None).getLength(self.state))

    def theirs(self, motion: Motion, muscle: str, place: float, wide: float) -> float:
        """Largest change of slope of OpenSim's length about a place."""
        step = STEPS[wide]
        around = place + np.arange(-wide, wide + step, step)
        slopes = np.diff([self.length(muscle, motion.q(s)) for s in around]) / step
        return float(max(np.abs(slopes[k:] - slopes[:-k]).max() for k in (1, 2)))

    def judge(self, motion: Motion, jump: Jump) -> str:
        """Whose jump it is: "both", also OpenSim's "nearby", of two "equal" paths of ours, or ours "alone"."""
        for wide, whose in ((WIDE, "both"), (FAR, "nearby")):
            if self.theirs(motion, jump.muscle, jump.place, wide) >= SHARE * jump.change(STEPS[wide]):
                return whose
        return "equal" if abs(jump.length) < EQUAL else "alone"

    def jumps(self, motions: int = MOTIONS) -> list[Jump]:
        """All jumps of ours in so many random motions, each once in a range as wide as where OpenSim's may be."""
        rng, found = np.random.default_rng(0), []
        for number in range(motions):
            knots = rng.uniform(*self.ranges(), (2, self.model.num_coordinates))
            motion = Motion(self.model, *knots)
            largest: dict[tuple[int, int], Jump] = {}
            for k, place, length, arm in motion.jumps():
                jump = Jump(self.model.muscles[k].name, number, place, length, arm)
                key = k, round(place / WIDE)
                largest[key] = max(jump, largest.get(key, jump), key=lambda each: each.change(STEPS[WIDE]))
            for jump in largest.values():
                jump.whose = self.judge(motion, jump)
            found += largest.values()
        return found


WHOSE = ("both", "nearby", "equal", "alone")


def main(folder: Path) -> None:
    """Print a table of all models in a folder."""
    quiet_opensim()
    print("model | muscles | over surfaces | jumps |", " | ".join(WHOSE))
    for path in sorted(folder.rglob("*.osim")):
        try:
            sweep = Sweep(path)
        except pytest.skip.Exception as error:
            print(f"{path.relative_to(folder)} | {error}")
            continue
        muscles, found = sweep.model.muscles, sweep.jumps()
        counts = Counter(jump.whose for jump in found)
        numbers = [len(muscles), sum(bool(muscle.strands) for muscle in muscles), len(found)]
        print(path.relative_to(folder), *numbers, *(counts[whose] for whose in WHOSE), sep=" | ", flush=True)
        for jump in found:
            if jump.whose in ("equal", "alone"):
                print("   ", jump)


if __name__ == "__main__":
    main(Path(os.environ["CONDYLE_OPENSIM_MODELS"]))
