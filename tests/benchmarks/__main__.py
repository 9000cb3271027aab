"""Measure speed: `python -m tests.benchmarks --json FILE`; one key a ratio, with spread in "details"."""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.verification.report import environment, write_beside

from . import chains, compile_time
from .timing import ROUNDS, Contestant, Spread, alternate

SIZES = (1, 7, 30, 100)
PEERS = (
    ("pinocchio", "pinocchio_loop", chains.pinocchio_loop),
    ("mujoco", "mujoco_step", chains.mujoco_step),
)


class Report:
    """Collects ratios and prints them as they come."""

    def __init__(self, rounds: int) -> None:
        self.rounds = rounds
        self.ratios: dict[str, float] = {}
        self.details: dict[str, Any] = {}
        self.notes: list[str] = []

    def race(self, ours: Contestant, *others: tuple[str, Contestant]) -> None:
        """Time one contestant against others in turns; each key gets the median of the paired ratios."""
        if not others:
            return
        taken = alternate((ours, *(other for _, other in others)), self.rounds)
        for key, other in others:
            ratio = Spread.of(taken[ours.name] / taken[other.name])
            self.ratios[key] = ratio.median
            times = {name: Spread.of(1e6 * taken[name]).__dict__ for name in (ours.name, other.name)}
            self.details[key] = {"ratio": ratio.__dict__, "microseconds a step": times}
            words = ", ".join(f"{name} {entry['median']:.3g} us" for name, entry in times.items())
            print(f"{key:44} {ratio}   [{words}]", flush=True)

    def figure(self, key: str, value: float, details: Any, words: str) -> None:
        """A figure that is no ratio."""
        self.ratios[key] = value
        self.details[key] = details
        print(f"{key:44} {value:.4g}   {words}", flush=True)

    def note(self, text: str) -> None:
        """Something that the reader must know, such as a missing peer."""
        self.notes.append(text)
        print(text, flush=True)

    def as_json(self) -> bytes:
        """The keys at the top level, everything else beside them."""
        whole = self.ratios | {"details": self.details, "notes": self.notes, "environment": environment()}
        return json.dumps(whole, indent=1, allow_nan=False).encode()


def installed(module: str) -> bool:
    """Whether a module is there to import."""
    return importlib.util.find_spec(module) is not None


def against_peers(report: Report) -> None:
    """Hinge chains against the engines that are installed."""
    present = []
    for module, name, make in PEERS:
        if not installed(module):
            report.note(f"{module} is not installed: no rollout_revolute_N_over_{name}")
        else:
            present.append((name, make))
    for size in SIZES:
        peers = {f"rollout_revolute_{size}_over_{name}": make(size) for name, make in present}
        chains.check_agreement(size, tuple(peers.values()))
        ours = chains.rollout(f"{size} hinges", chains.revolute(size), chains.bend(size))
        report.race(ours, *((key, peer.contestant) for key, peer in peers.items()))


def against_ourselves(report: Report) -> None:
    """Spline joints against hinges, many control frames against few, long chains against short ones."""
    hinges = {n: chains.rollout(f"{n} hinges", chains.revolute(n), chains.bend(n)) for n in (30, 100, 1000)}
    report.race(hinges[1000], ("bodies_1000_over_100", hinges[100]))
    frames = {}
    for count in (8, 1000):
        model = chains.spline(30, count)
        frames[count] = chains.rollout(f"30 splines of {count} frames", model, chains.middle(model))
    patches = chains.surfaces(30)
    surface = chains.rollout("30 spline surfaces", patches, chains.middle(patches))
    report.race(surface, ("surface_over_revolute_30", hinges[30]))
    ends = {}
    for count in (1, 10, 100):
        model = chains.spline(count)
        ends[count] = chains.rollout(f"{count} splines", model, chains.middle(model))
    report.race(ends[100], ("splines_100_over_1", ends[1]), ("splines_100_over_10", ends[10]))
    report.race(frames[8], ("rollout_spline_30_over_revolute_30", hinges[30]))
    report.race(frames[1000], ("control_frames_1000_over_8", frames[8]))


def compilation(report: Report) -> None:
    """Time to the first simulation in a fresh process, and of each kernel."""
    cold, warm = compile_time.cold_and_warm()
    for name, times in (("cold", cold), ("warm", warm)):
        report.figure(
            f"compile_{name}_s", times["total"], times, f"[{times['processor']:.3g} s of processor time]"
        )
    print("    cold, each kernel with those that it calls:")
    for kernel, seconds in sorted(cold["kernels"].items(), key=lambda item: -item[1]):
        print(f"    {kernel:40} {seconds:.2f} s")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run every benchmark and write the ratios."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--json", type=Path, default=Path("out/bench.json"), help="file for the ratios")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="times that each contestant runs")
    options = parser.parse_args(arguments)
    report = Report(options.rounds)
    against_peers(report)
    against_ourselves(report)
    compilation(report)
    write_beside(options.json, report.as_json())
    print(f"ratios in {options.json}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
