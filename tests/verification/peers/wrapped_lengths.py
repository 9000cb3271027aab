"""Lengths of paths over surfaces against OpenSim's own points, at random poses: which differ, and why.

    CONDYLE_OPENSIM_MODELS=FOLDER .venvs/peers/bin/python -m tests.verification.peers.wrapped_lengths

prints a table for all different models in the folder. OpenSim's points on a cylinder are not where the path is the
shortest: it is compared with the shortest one between the same points of the path, round the same way.
"""

import hashlib
import os
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import opensim
import pytest

import physics as ph
from physics.io.opensim_parts import follow_drivers

from . import quiet_opensim
from .jumps import PATHS, Sweep

OVER = re.compile(rb"<PathWrap[ >]")  # in a file with paths over surfaces
POSES = 20
SAME = 1e-6  # of the length
EXACT = ("cylinder", "sphere")  # over one of these OpenSim's path is the shortest one, or has its points
TURN = "more than a turn in OpenSim"
ORDER = "OpenSim's path crosses itself, in a sense that depends on the order of the ends"


@dataclass
class Found:
    """Our length of a path in a pose and the one that OpenSim's points give [m]; why OpenSim's is no shortest one."""

    muscle: str
    kind: str
    ours: float
    theirs: float
    cause: str

    @property
    def same(self) -> bool:
        return abs(self.ours - self.theirs) <= SAME * self.theirs


@dataclass
class Arc:
    """Between points k and k + 1 of a path on a cylinder or sphere: all points in the surface's frame."""

    k: int
    points: np.ndarray
    radius: float
    length: float

    def shortest(self) -> float:
        """Length from the point before to the point after over a cylinder, round the same way."""
        before, first, last, after = self.points[self.k - 1 : self.k + 3]
        sides = [a[0] * b[1] - a[1] * b[0] for a, b in ((first, first - before), (last, after - last))]
        sense = float(np.sign(max(sides, key=abs)))
        far = np.hypot(*before[:2]), np.hypot(*after[:2])
        angles = [
            np.arctan2(x[1], x[0]) + side * sense * np.arccos(min(self.radius / r, 1.0))
            for x, r, side in ((before, far[0], 1.0), (after, far[1], -1.0))
        ]
        wound = sense * (angles[1] - angles[0]) % (2.0 * np.pi)
        wound = 0.0 if wound > 2.0 * np.pi - SAME else wound
        straight = sum(np.sqrt(max(r * r - self.radius**2, 0.0)) for r in far)
        return float(np.hypot(straight + self.radius * wound, after[2] - before[2]))

    def cause(self, quadrant: str) -> str:
        """Why OpenSim's path round a cylinder is not the one of the same rule from the other end."""
        before, after = self.points[self.k - 1][:2], self.points[self.k + 2][:2]
        if self.length > 2.0 * np.pi * self.radius:
            return TURN
        if quadrant == "all":
            return ""
        along = "xy".index(quadrant[-1])
        aside = 1 - along
        apart = before[along] * after[along] < 0.0 and before[aside] * after[aside] > 0.0
        return ORDER if apart and min(abs(before[aside]), abs(after[aside])) > self.radius else ""


def compare(sweep: Sweep, poses: int = POSES) -> Iterator[Found]:
    """All muscles over surfaces at random poses."""
    rng = np.random.default_rng(5)
    q = rng.uniform(*sweep.ranges(), (poses, sweep.model.num_coordinates))
    follow_drivers(sweep.model, q, np.zeros_like(q))
    names = [muscle.name for muscle in sweep.model.muscles]
    for row in q:
        lengths = ph.muscle_lengths(sweep.model, sweep.model.state(q=row)).lengths
        for name, ours in zip(names, lengths):
            wraps = [sweep.read.wrap_objects[wrap.wrap_object] for wrap in sweep.read.muscles[name].wraps]
            active = [wrap for wrap in wraps if wrap.active]
            if not active:
                continue
            sweep.length(name, row)  # poses OpenSim's model
            kind = active[0].kind if len(active) == 1 else "several"
            theirs, cause = own_length(sweep, name, kind, active[0].quadrant)
            yield Found(name, kind, float(ours), theirs, cause)


def own_length(sweep: Sweep, muscle: str, kind: str, quadrant: str) -> tuple[float, str]:
    """Length of the path through OpenSim's points; why it is no shortest one."""
    forces = (getattr(opensim, each).safeDownCast(sweep.forces[muscle]) for each in PATHS)
    path = next(each for each in forces if each is not None).getGeometryPath().getCurrentPath(sweep.state)
    points = [path.get(k) for k in range(path.getSize())]
    places = np.array([point.getLocationInGround(sweep.state).to_numpy() for point in points])
    surfaces = [point.getWrapObject() for point in points]
    parts, cause = np.linalg.norm(np.diff(places, axis=0), axis=1), ""
    for k, (first, last) in enumerate(pairwise(surfaces)):
        if not (first and last and first.getName() == last.getName()):
            continue
        along = opensim.PathWrapPoint.safeDownCast(points[k + 1]).getWrapLength(sweep.state)
        parts[k] = along
        if first.getConcreteClassName() == "WrapCylinder":
            pose = matrix(first.getFrame().getTransformInGround(sweep.state)) @ matrix(first.getTransform())
            radius = opensim.WrapCylinder.safeDownCast(first).get_radius()
            arc = Arc(k, (places - pose[:3, 3]) @ pose[:3, :3], radius, along)
            if kind == "cylinder":
                parts[k - 1], parts[k], parts[k + 1] = arc.shortest(), 0.0, 0.0
                cause = arc.cause(quadrant)
    return float(parts.sum()), cause


def matrix(transform: Any) -> np.ndarray:
    """(4, 4)."""
    pose = np.eye(4)
    for i in range(3):
        pose[i] = [*(transform.R().get(i, j) for j in range(3)), transform.p().get(i)]
    return pose


def different(folder: Path) -> Iterator[Path]:
    """The files with paths over surfaces, each content once."""
    seen = set()
    for path in sorted(folder.rglob("*.osim")):
        content = path.read_bytes()
        if OVER.search(content) and hashlib.sha256(content).digest() not in seen:
            seen.add(hashlib.sha256(content).digest())
            yield path


def main(folder: Path) -> None:
    """Print a table of all models in a folder."""
    quiet_opensim()
    rows: dict[tuple[str, str], list[Found]] = defaultdict(list)
    files = 0
    for path in different(folder):
        try:
            found = list(compare(Sweep(path)))
        except pytest.skip.Exception:
            continue
        files += 1
        for each in found:
            rows[each.kind, "" if each.same else each.cause or "else"].append(each)
    print(f"{files} files, {POSES} poses")
    print("| over | cause | paths | difference: median, largest [mm] |\n|---|---|---|---|")
    for (kind, cause), found in sorted(rows.items()):
        apart = 1e3 * np.array([abs(each.ours - each.theirs) for each in found])
        print(f"| {kind} | {cause} | {len(found)} | {np.nanmedian(apart):.2g}, {np.nanmax(apart):.2g} |")
        worst = max(found, key=lambda each: abs(each.ours - each.theirs))
        print("   ", worst.muscle) if cause == "else" and kind in EXACT else None


if __name__ == "__main__":
    main(Path(os.environ["CONDYLE_OPENSIM_MODELS"]))
