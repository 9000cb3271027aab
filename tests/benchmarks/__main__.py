"""Measure speed: `python -m tests.benchmarks --json FILE`; one key per ratio, with spread in "details"."""

import argparse
import importlib.util
import json
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import physics as ph
from tests.verification.report import environment, write_beside

from . import (
    chains,
    compile_time,
    contacts,
    gradients,
    linkages,
    muscles,
    opensim_muscles,
    peers,
    pinocchio_cpp,
    reaching,
    soft,
    trees,
    unjitted,
    worlds,
    wrapping,
)
from .timing import ROUNDS, Contestant, Spread, alternate

SIZES = (1, 7, 30, 100)
# required module, end of the key, function that makes the peer
PEERS = (
    ("pinocchio", "pinocchio_cpp", peers.pinocchio_cpp),
    ("pinocchio", "pinocchio_loop", peers.pinocchio_loop),
    ("mujoco", "mujoco_step", peers.mujoco_step),
)


class Report:
    """Collects ratios and prints them at once."""

    def __init__(self, rounds: int) -> None:
        self.rounds = rounds
        self.ratios: dict[str, float] = {}
        self.details: dict[str, Any] = {}
        self.notes: list[str] = []

    def race(self, ours: Contestant, *others: tuple[str, Contestant]) -> None:
        """Time one contestant against others in turns; each key gets the median of the paired ratios."""
        if not others:
            return
        # a substitute for several programs has one name, and runs once
        contestants = {each.name: each for each in (ours, *(other for _, other in others))}
        taken = alternate(tuple(contestants.values()), self.rounds)
        for key, other in others:
            ratio = Spread.of(taken[ours.name] / taken[other.name])
            self.ratios[key] = ratio.median
            times = {name: Spread.of(1e6 * taken[name]).__dict__ for name in (ours.name, other.name)}
            self.details[key] = {"ratio": ratio.__dict__, "microseconds a step": times}
            words = ", ".join(f"{name} {entry['median']:.3g} us" for name, entry in times.items())
            print(f"{key:44} {ratio}   [{words}]", flush=True)

    def figure(self, key: str, value: float, details: Any, words: str) -> None:
        """Add a figure that is not a ratio."""
        self.ratios[key] = value
        self.details[key] = details
        print(f"{key:44} {value:.4g}   {words}", flush=True)

    def note(self, text: str) -> None:
        """Add a note for the reader, such as a missing peer."""
        self.notes.append(text)
        print(text, flush=True)

    def as_json(self) -> bytes:
        """The keys at the top level, with everything else beside them."""
        whole = self.ratios | {"details": self.details, "notes": self.notes, "environment": environment()}
        return json.dumps(whole, indent=1, allow_nan=False).encode()


def installed(module: str) -> bool:
    """Whether a module can be imported."""
    return importlib.util.find_spec(module) is not None


def against_peers(report: Report) -> None:
    """Chains and trees of hinges against the installed engines."""
    present = []
    for module, name, make in PEERS:
        if not installed(module):
            report.note(f"{module} is not installed: no keys over_{name}")
        else:
            present.append((name, make))
    if not present:
        return
    if installed("pinocchio"):
        made, words = pinocchio_cpp.library()
        report.note(f"Pinocchio in C++: {words}" + ("" if made else ", so its Python loop is used instead"))
    races = {f"rollout_revolute_{n}": trees.chain(chains.hinge_axes(n), chains.bend(n)) for n in SIZES}
    races |= {name: trees.Tree(parents) for name, parents in trees.PARENTS.items()}
    for race, tree in races.items():
        others = {f"{race}_over_{name}": make(tree) for name, make in present}
        peers.check_agreement(tree, tuple(others.values()))
        ours = chains.rollout(race, tree.model(), tree.start)
        report.race(ours, *((key, peer.contestant) for key, peer in others.items()))


def kinematics_and_samples(report: Report) -> None:
    """Inverse kinematics against a plain loop around Pinocchio, and inverse dynamics a frame."""
    for size in (7, 30) if installed("pinocchio") else ():
        reach = reaching.Reach(size)
        ours, loop = reach.ours(), reach.pinocchio_loop()
        reach.check(ours, loop)
        report.race(ours, (f"ik_{size}_over_pinocchio_loop", loop))
    frames = reaching.sampled(7)
    taken = Spread.of(1e6 * alternate((frames,), report.rounds)[frames.name])
    report.figure("inverse_dynamics_frame_us", taken.median, taken.__dict__, f"[{taken}]")


def with_constraints(report: Report) -> None:
    """Closed loops and contacts against MuJoCo's and fewer of them; an implicit step against an explicit one."""
    if installed("mujoco"):
        report.race(linkages.ours(), ("constrained_over_mujoco_step", linkages.mujoco_step()))
        report.race(linkages.ours(200), ("loops_200_over_mujoco", linkages.mujoco_step(200)))
        for count in (64, 100):
            pile = contacts.ours(f"{count} spheres", contacts.piled(count))
            peer = contacts.pile_in_mujoco(count)
            report.race(pile, (f"contacts_{count}_spheres_over_mujoco", peer))
        stack = contacts.ours("20 boxes", contacts.stacked(20))
        report.race(stack, ("stack_20_over_mujoco", contacts.stack_in_mujoco(20)))
    report.race(linkages.ours(200), ("fourbars_200_over_100", linkages.ours(100)))
    ladders = {count: linkages.ours_in_one_tree(count) for count in (80, 160)}
    report.race(ladders[160], ("loops_160_over_80_in_one_tree", ladders[80]))
    lying = {count: contacts.ours(f"{count} spheres", contacts.apart(count)) for count in (200, 400)}
    report.race(lying[400], ("resting_spheres_400_over_200", lying[200]))
    model = chains.revolute(7)
    start = chains.bend(7)
    steps = {name: chains.rollout(name, model, start, name) for name in ("sdirk2", "rk4")}
    report.race(steps["sdirk2"], ("sdirk2_over_rk4", steps["rk4"]))
    long = {
        n: chains.rollout(f"{n} by sdirk2", chains.revolute(n), chains.bend(n), "sdirk2") for n in (50, 100)
    }
    report.race(long[100], ("implicit_100_over_50", long[50]))


def against_opensim(report: Report) -> None:
    """Lengths and moment arms of whole models' muscles against OpenSim."""
    if not installed("opensim"):
        report.note("opensim is not installed: no key muscles_over_opensim")
        return
    whole = opensim_muscles.subjects()
    if not whole:
        report.note("OpenSim's models are not beside this checkout: no key muscles_over_opensim")
        return
    opensim_muscles.check_agreement(whole)
    report.note(f"muscles of {', '.join(subject.name for subject in whole)}")
    report.race(opensim_muscles.ours(whole), ("muscles_over_opensim", opensim_muscles.opensim_calls(whole)))


def on_two_threads(report: Report) -> None:
    """Wall-clock time of 64 rollouts one after another, over that on two threads."""
    model = trees.Tree(trees.PARENTS["humanoid"]).model()
    starts = [model.state(q=q) for q in 0.1 * np.random.default_rng(5).standard_normal((64, 30))]
    whole = 2000 * chains.STEP
    run = partial(ph.simulate_many, model, starts, duration=whole, dt=chains.STEP, record_interval=whole)
    taken = np.empty((report.rounds, 2))
    for row in [np.empty(2), *taken]:  # once to warm up
        for column in range(2):
            began = time.perf_counter()
            run(threads=1 + column)
            row[column] = time.perf_counter() - began
    speedup = Spread.of(taken[:, 0] / taken[:, 1])
    report.figure("rollouts_64_speedup_2_threads", speedup.median, speedup.__dict__, f"[{speedup}]")


def against_ourselves(report: Report) -> None:
    """Spline joints against hinges, many control frames against few, long chains against short ones, muscles."""
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
    report.race(muscles.massive(), ("muscle_mass_over_massless", muscles.massless()))
    long = muscles.chain(96)
    report.race(
        long,
        ("muscle_mass_96_over_massless", muscles.chain(96, 0)),
        ("massive_96_over_48", muscles.chain(48)),
    )
    for name in wrapping.SHAPES:
        key = "wrap_smooth_over_geodesic" if name == "cylinder" else f"wrap_smooth_over_geodesic_{name}"
        report.race(wrapping.smooth(name), (key, wrapping.shortest(name)))
    for name in wrapping.SURFACES:
        report.race(wrapping.length(name), (f"wrap_length_{name}_over_cylinder", wrapping.length("cylinder")))
    report.race(wrapping.network(), ("wrap_network_over_geodesic", wrapping.shortest("cylinder")))
    details = report.details["wrap_network_over_geodesic"]["microseconds a step"]["network"]
    report.figure(
        "wrap_network_microseconds", details["median"], details, "us, 20 points with all derivatives"
    )


def backwards(report: Report) -> None:
    """A gradient over its simulation, and one by ten times as many parameters over that."""
    few, many = gradients.gradient(1), gradients.gradient(10)
    report.race(few, ("adjoint_over_simulation", gradients.simulation()))
    report.race(many, ("adjoint_300_over_30_parameters", few))


def many_worlds(report: Report) -> None:
    """10,000 runs of 20 steps against MuJoCo's rollouts; worlds in lanes against one by one."""
    if installed("mujoco"):
        many = worlds.Worlds()
        report.race(many.ours(), ("simulate_many_10000_over_mujoco_rollout", many.mujoco_rollout()))
    key = "worlds_lanes_over_single"
    for size in (7, 30):
        report.race(worlds.hinges(size, True), (f"{key}_{size}", worlds.hinges(size, False)))
    both = {str(size): report.ratios[f"{key}_{size}"] for size in (7, 30)}
    report.figure(key, max(both.values()), both, "the larger of both")


def soft_bodies(report: Report) -> None:
    """A block of tetrahedra on a hinge against MuJoCo's flex, at 5 ms, and a body on a sheet that bends or not."""
    for end, method in (("", "rk4"), ("_sdirk2", "sdirk2"), ("_linear", "linearly_implicit_euler")):
        rigid = soft.on_a_sheet(method, False)
        report.race(soft.on_a_sheet(method, True), (f"flexible_over_rigid_sheet{end}", rigid))
    if installed("mujoco"):
        flex = soft.mujoco_flex()
        soft.check(soft.ours(), flex)
        for end, method in (("", "linearly_implicit_euler"), ("_bdf1", "bdf1"), ("_sdirk2", "sdirk2")):
            report.race(soft.ours(method), (f"soft_208_nodes{end}_over_mujoco", flex))


def without_numba(report: Report) -> None:
    """Time of a step in plain Python over that of a jitted one; ``numba_support`` states the range to users."""
    plain, jitted = unjitted.seconds(False), unjitted.seconds(True)
    for name in plain:
        times = {"plain": 1e6 * plain[name], "jitted": 1e6 * jitted[name]}
        words = f"[{times['plain']:.3g} us a step over {times['jitted']:.3g} us]"
        report.figure(f"unjitted_over_jitted_{name}", plain[name] / jitted[name], times, words)


def compilation(report: Report) -> None:
    """Time to the first simulation in a fresh process, of each kernel, and until every kernel has been called."""
    cold, warm = compile_time.cold_and_warm(compile_time.SIMULATION)
    all_cold, all_warm = compile_time.cold_and_warm(compile_time.EVERYTHING)
    for name, times in (("cold", cold), ("warm", warm), ("all_cold", all_cold), ("all_warm", all_warm)):
        report.figure(
            f"compile_{name}_s", times["total"], times, f"[{times['processor']:.3g} s of processor time]"
        )
    words = "[before compile_all_warm_s: SciPy, which only adaptive integrators need]"
    report.figure("import_scipy_s", all_warm["libraries"], all_warm, words)
    seconds = {str(count): compile_time.ahead(count) for count in (1, 2)}
    report.figure("compile_ahead_s", seconds["2"], seconds, f"[two processes; one: {seconds['1']:.3g} s]")
    print("    cold, each kernel without the kernels that it calls:")
    for kernel, seconds in sorted(cold["kernels"].items(), key=lambda item: -item[1]):
        print(f"    {kernel:40} {seconds:.2f} s")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run every benchmark and write the ratios."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--json", type=Path, default=Path("out/bench.json"), help="file for the ratios")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="runs of each contestant")
    options = parser.parse_args(arguments)
    report = Report(options.rounds)
    against_peers(report)
    against_ourselves(report)
    with_constraints(report)
    kinematics_and_samples(report)
    against_opensim(report)
    on_two_threads(report)
    many_worlds(report)
    soft_bodies(report)
    backwards(report)
    without_numba(report)
    compilation(report)
    write_beside(options.json, report.as_json())
    print(f"ratios in {options.json}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
