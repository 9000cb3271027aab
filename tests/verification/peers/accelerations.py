"""Initial accelerations of models with all their forces, ours and OpenSim's, and the causes of what differs.

    CONDYLE_OPENSIM_MODELS=FOLDER .venvs/peers/bin/python -m tests.verification.peers.accelerations

compares each model in the folder in a process of its own and prints a row for each that differs, then the tables of
docs/file-formats.md.
"""

import multiprocessing
import os
import tempfile
from collections import defaultdict
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
import opensim
import pytest

import physics as ph
from physics.muscles.force_law import STATES
from tests.physics.io.test_public_models import loaded, places, welded, with_our_inertias

from . import quiet_opensim
from .jumps import PATHS

SAME = 1e-6  # of the largest acceleration
REST = 1e-9  # [rad/s^2, m/s^2]: a model at rest
LENGTH = 1e-9  # [m]: round-off of a path
FORCE = 1e-7  # of a muscle's largest force: OpenSim's equilibrium has a tolerance of 1e-8 of it
NEAR = 1e-3  # [m]: within which lengths of paths over surfaces are counted
REST_FORCE = 1e-6  # [N]: OpenSim's equilibrium of Schutte's muscles ends at 0.01 N
PATIENCE = 300.0  # [s]
CAUSES = ("path", "law not read", "fibre", "law", "moving point", "other force")


class Pair:
    """Ours and OpenSim's model of a file, which has our inertias, at its initial coordinates and speeds.

    Raises:
        pytest.skip.Exception: OpenSim does not load it, or there is nothing to compare.
    """

    def __init__(self, path: Path) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.peer, self.theirs, path = loaded(path, Path(folder))
            self.read = ph.read_opensim(path, limits=False, allow_welds=True, smoothing=0.0)
        if not self.read.builder.bodies or welded(self.read):
            pytest.skip("it builds no model, or has a weld for a joint")
        self.model = self.read.build()
        self.theirs = with_our_inertias(self.peer, self.read, self.model)
        forces = self.peer.getForceSet()
        self.muscles = {muscle.getName(): muscle for muscle in self.peer.getMuscleList()}
        self.forces = dict(self.muscles)
        self.forces |= {forces.get(k).getName(): forces.get(k) for k in range(forces.getSize())}
        self.ours, self.slots = places(self.peer, type(self.theirs)(self.theirs), self.read, self.model)
        if not self.slots:
            pytest.skip("it has no coordinates")
        self.peer.realizeVelocity(self.theirs)
        self.q, self.qd = self.read.state(self.model).q.copy(), np.zeros(self.model.num_coordinates)
        self.q[self.ours] = self.theirs.getQ().to_numpy()[self.slots]
        self.qd[self.ours] = self.theirs.getQDot().to_numpy()[self.slots]
        self.state = self.model.state(self.q, self.qd)
        for muscle in self.muscles.values():
            try:
                muscle.computeEquilibrium(self.theirs)
            except RuntimeError:  # it stays at its default length
                continue

    def off(self, without: Collection[str] = (), fibres: bool = False) -> float:
        """Largest difference of the accelerations without some muscles, as a share of the largest; 0: at rest.

        fibres: whether ours have OpenSim's lengths.
        """
        for name in without:
            self.forces[name].setAppliesForce(self.theirs, False)
        self.peer.realizeAcceleration(self.theirs)
        theirs = self.theirs.getQDotDot().to_numpy()[self.slots]
        whole = self.model.to_dict()
        whole["muscles"] = [each for each in whole.get("muscles", []) if each["name"] not in without]
        model = ph.ModelBuilder.from_dict(whole).build()
        given = {
            f"{name}.fibre_length": muscle.getFiberLength(self.theirs)
            for name, muscle in self.muscles.items()
            if fibres and f"{name}.fibre_length" in model.muscle_state_names
        }
        state = model.state(self.q, self.qd, muscle_states=given)
        ours = ph.constrained_dynamics(model, state).qdd[self.ours]
        away = float(np.abs(ours - theirs).max())
        return 0.0 if away < REST else away / float(np.abs(theirs).max() or 1.0)

    def path(self, name: str) -> Any:
        """OpenSim's force along a path."""
        kinds = (getattr(opensim, kind).safeDownCast(self.forces[name]) for kind in PATHS)
        return next((kind for kind in kinds if kind is not None), None)

    def paths(self) -> dict[str, tuple[float, float]]:
        """Our lengths less OpenSim's, and OpenSim's less the chords between its own points [m], of all paths."""
        lengths = ph.muscle_lengths(self.model, self.state).lengths
        found = {}
        for muscle, length in zip(self.model.muscles, lengths):
            force = self.path(muscle.name)
            if force is not None:
                theirs = force.getLength(self.theirs)
                points = force.getGeometryPath().getCurrentPath(self.theirs)
                placed = [
                    points.get(k).getLocationInGround(self.theirs).to_numpy() for k in range(points.getSize())
                ]
                chords = np.linalg.norm(np.diff(placed, axis=0), axis=1).sum()
                found[muscle.name] = (float(length - theirs), float(theirs - chords))
        return found

    def laws(self) -> set[str]:
        """Muscles whose force at OpenSim's length, speed and fibre is another one than OpenSim's."""
        self.peer.realizeDynamics(self.theirs)
        found = set()
        for muscle in self.model.muscles:
            other, largest = self.muscles.get(muscle.name), getattr(muscle.law, "max_isometric_force", 0.0)
            if other is not None and largest and muscle.state_names:
                length, speed = other.getLength(self.theirs), other.getLengtheningSpeed(self.theirs)
                states = [other.getActivation(self.theirs), other.getFiberLength(self.theirs)]
                ours = muscle.law.force(length, speed, states=states[: len(muscle.law.state_names)])
                if not abs(ours - other.getTendonForce(self.theirs)) < FORCE * largest:
                    found.add(muscle.name)
        return found

    def rest(self) -> dict[str, float]:
        """Our tension at rest less OpenSim's [N] at its length and activation, of muscles with elastic tendons."""
        found = {}
        for muscle in self.model.muscles:
            other = self.muscles.get(muscle.name)
            if other is not None and muscle.law is not None and muscle.law.state_names == STATES:
                length, active = other.getLength(self.theirs), other.getActivation(self.theirs)
                force = muscle.law.force(length, states=muscle.law.initial_states(length, active))
                found[muscle.name] = float(force - other.getTendonForce(self.theirs))
        return found

    def surfaces(self, name: str) -> str:
        """What a path may wrap over."""
        names = {wrap.wrap_object for wrap in self.read.muscles[name].wraps}
        kinds = [self.read.wrap_objects[each].kind for each in names if self.read.wrap_objects[each].active]
        return "several surfaces" if len(kinds) > 1 else f"one {kinds[0]}" if kinds else "no surface"


def compared(path: Path) -> dict[str, Any]:
    """What is found about a file: differences without muscles of more and more causes, and those muscles.

    "skipped": why there is nothing to compare. "off": of accelerations, as shares of the largest. "paths": differences
    of lengths and surfaces. "causes": {cause: muscles} of those that were switched off.
    """
    quiet_opensim()
    try:
        pair = Pair(path)
    except pytest.skip.Exception as error:
        return {"skipped": str(error)}
    lengths = pair.paths()
    found: dict[str, Any] = {"paths": {name: (*lengths[name], pair.surfaces(name)) for name in lengths}}
    found |= {"off": [pair.off()], "causes": {}}
    if np.isnan(pair.theirs.getQDotDot().to_numpy()).any():
        return {"skipped": "OpenSim's accelerations are no numbers"}
    read, of = pair.read.muscles, {cause: set[str]() for cause in CAUSES}
    of["path"] = {name for name, (away, _) in lengths.items() if not abs(away) < LENGTH}
    of["law not read"] = {
        each.name
        for each in pair.model.muscles
        if each.name in pair.muscles and not getattr(each.law, "max_isometric_force", 0.0)
    }
    of["law"] = pair.laws()
    found["rest"] = pair.rest()
    of["fibre"] = {each for each, force in found["rest"].items() if abs(force) > REST_FORCE}
    of["moving point"] = {name for name in read if any(point.moves for point in read[name].points)}
    of["other force"] = set(lengths)
    off: set[str] = set()
    for cause in CAUSES:
        if found["off"][-1] < SAME:
            break
        new = (of[cause] & set(lengths)) - off
        if new or cause == "fibre":
            off |= new if cause != "fibre" else set()
            found["off"].append(pair.off(off, fibres=cause not in CAUSES[:2]))
            if new or not found["off"][-1] > 0.5 * found["off"][-2]:
                found["causes"][cause] = sorted(new)
    return found


def report(path: Path, pipe: Any) -> None:
    """Send what is found about a file, or the error."""
    try:
        pipe.send(compared(path))
    except Exception as error:  # of OpenSim, of any kind
        pipe.send({"skipped": f"{type(error).__name__}: {error}"[:200]})


def found_in(path: Path) -> dict[str, Any]:
    """As `compared`, in a process of its own: defaults of a file stay in OpenSim for the next one."""
    here, there = multiprocessing.get_context("fork").Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=report, args=(path, there))
    process.start()
    there.close()
    try:
        found: dict[str, Any] = here.recv() if here.poll(PATIENCE) else {"skipped": "it takes too long"}
    except EOFError:
        found = {"skipped": "OpenSim ends the process"}
    process.kill()
    process.join()
    return found


def by_origin(rows: dict[str, dict[str, Any]]) -> None:
    """Print a row for each folder: files, compared ones, the same, and the same without some muscles."""
    print(
        "origin | compared | paths over surfaces within 1 mm | same accelerations | others but for some muscles"
    )
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for name, row in rows.items():
        for origin in (name.split("/")[0], "all"):
            groups[origin] += [row] if "off" in row else []
    for origin, own in groups.items():
        over = [away for row in own for away, _, kind in row["paths"].values() if kind != "no surface"]
        near = sum(abs(away) < NEAR for away in over)
        same = sum(row["off"][0] < SAME for row in own)
        others = sum(row["off"][-1] < SAME for row in own) - same
        print(origin, len(own), f"{near} of {len(over)}", f"{same} of {len(own)}", others, sep=" | ")


def by_cause(rows: dict[str, dict[str, Any]]) -> None:
    """Print a row for each cause: models, muscles, and how lengths of paths differ."""
    print(
        "cause | models | muscles | ours shorter | OpenSim's below its chords | longer | median, largest [m]"
    )
    groups: dict[str, list[tuple[str, float, float]]] = defaultdict(list)
    for name, row in rows.items():
        for cause, muscles in row.get("causes", {}).items():
            for muscle in muscles:
                away, beyond, kind = row["paths"][muscle]
                groups[kind if cause == "path" else cause].append((name, away, beyond))
            if not muscles:
                groups[cause].append((name, 0.0, 0.0))
    for cause, each in groups.items():
        sizes = np.array([abs(away) for _, away, _ in each] or [0.0])
        shorter = sum(away < -LENGTH for _, away, _ in each)
        chords = sum(away > LENGTH and beyond < -LENGTH for _, away, beyond in each)
        longer = sum(away > LENGTH and not beyond < -LENGTH for _, away, beyond in each)
        numbers = [len({name for name, _, _ in each}), len(each), shorter, chords, longer]
        print(cause, *numbers, f"{np.median(sizes):.2g}, {sizes.max():.2g}", sep=" | ")
    rest = [
        abs(row["rest"][name]) for row in rows.values() for name in row.get("causes", {}).get("fibre", ())
    ]
    print(
        "tension at rest with OpenSim's path, of those with other fibres: largest difference [N] |",
        max(rest, default=0.0),
    )


def main(folder: Path) -> None:
    """Compare all models in a folder."""
    rows: dict[str, dict[str, Any]] = {}
    for path in sorted(folder.rglob("*.osim")):
        row = rows[str(path.relative_to(folder))] = found_in(path)
        if "off" not in row or row["off"][0] >= SAME:
            shares = ", ".join(f"{share:.1e}" for share in row.get("off", ()))
            print(path.relative_to(folder), row.get("skipped") or shares, *row.get("causes", ()), sep=" | ")
    by_origin(rows)
    by_cause(rows)


if __name__ == "__main__":
    main(Path(os.environ["CONDYLE_OPENSIM_MODELS"]))
