"""Tests of the stopwatch with contestants of known speed; the races run in `build.py bench`."""

import json
import time
from pathlib import Path

import numpy as np
import pytest

from . import __main__ as command
from . import contacts, gradients, linkages, muscles, pinocchio_cpp, reaching, soft, trees, worlds, wrapping
from .timing import Contestant, Spread, alternate


def spinner(name: str, step: float, setup: float) -> Contestant:
    """Occupies the processor for a known time per step, and for a set-up time."""

    def run(steps: int) -> None:
        end = time.process_time() + setup + step * steps
        while time.process_time() < end:
            pass

    return Contestant(name, run)


def test_setting_up_does_not_count() -> None:
    taken = alternate((spinner("slow", 4e-4, 2e-3), spinner("fast", 1e-4, 6e-3)), rounds=5)
    # The processor's clock may be coarse; if set-up counted, the ratio would be about 2.
    assert Spread.of(taken["slow"] / taken["fast"]).median == pytest.approx(4.0, rel=0.15)


def test_spread_is_median_and_quartiles() -> None:
    assert Spread.of(np.arange(5.0)) == Spread(median=2.0, lower=1.0, upper=3.0)


def test_report_has_one_key_a_ratio() -> None:
    report = command.Report(rounds=1)
    report.race(spinner("ours", 1e-4, 0.0), ("ours_over_theirs", spinner("theirs", 2e-4, 0.0)))
    report.note("a peer is missing")
    written = json.loads(report.as_json())
    assert written["ours_over_theirs"] == report.details["ours_over_theirs"]["ratio"]["median"]
    assert written["notes"] == ["a peer is missing"]


def test_missing_peers_are_noted_and_have_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "installed", lambda module: False)
    report = command.Report(rounds=1)
    command.against_peers(report)
    assert report.ratios == {} and len(report.notes) == len(command.PEERS)


def test_trees_are_what_they_are_called() -> None:
    for name, size in (("humanoid", 30), ("hand", 25)):
        parents = trees.PARENTS[name]
        assert len(parents) == size and all(parent < index for index, parent in enumerate(parents))
        assert trees.Tree(parents).model().num_coordinates == size


def test_without_a_compiler_the_reason_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(pinocchio_cpp, "prefix", lambda: tmp_path)
    monkeypatch.setattr(pinocchio_cpp.shutil, "which", lambda name: None)
    assert pinocchio_cpp.library.__wrapped__() == (None, "there is no C++ compiler")


@pytest.mark.slow
def test_contestants_run() -> None:
    pytest.importorskip("numba")
    shapes = [make(name) for name in wrapping.SHAPES for make in (wrapping.smooth, wrapping.shortest)]
    shapes += [wrapping.length(name) for name in wrapping.SURFACES]
    scenes = contacts.apart(3), contacts.stacked(3), contacts.piled(8)
    for each in (
        *shapes,
        wrapping.network(),
        muscles.massive(),
        muscles.massless(),
        linkages.ours(),
        gradients.gradient(2),
        gradients.simulation(),
        reaching.sampled(3),
        worlds.Worlds().ours(),
        worlds.hinges(7, True),
        soft.ours(),
        soft.on_a_sheet("rk4", True),
        soft.on_a_sheet("rk4", False),
        *(contacts.ours("contacts", scene) for scene in scenes),
    ):
        each.run(2)
    reach = reaching.Reach(7)
    reach.check(reach.ours())
