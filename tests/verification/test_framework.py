"""Tests of the framework that judges the claims."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from . import __main__ as command
from . import catalogue, report, runner
from .claim import Claim, Measurement, Plot, Skipped, claim
from .stencils import differentiate


def make(function, at_most=1.0, at_least=None, cost="quick", id="example.figure"):
    return Claim(id, "an example", "m", "own", cost, at_most, at_least, function)


def fails():
    raise RuntimeError("broken on purpose")


def skips():
    raise Skipped("nothing to measure with")


EXAMPLES = [
    make(lambda: 0.5, id="example.held"),
    make(lambda: 2.0, id="example.failed"),
    make(fails, id="example.broken"),
    make(skips, id="example.skipped"),
    make(lambda: Measurement(0.1, {"worst": np.float64(0.1)}), id="example.last", cost="slow"),
]


@pytest.mark.parametrize(
    ("figure", "at_least", "at_most", "holds"),
    [
        (1.0, None, 1.0, True),
        (1.1, None, 1.0, False),
        (1.0, 1.0, None, True),
        (0.9, 1.0, None, False),
        (0.95, 0.9, 1.1, True),
        (math.nan, None, 1.0, False),
        (-math.inf, None, 1.0, False),
    ],
)
def test_bounds(figure, at_least, at_most, holds):
    assert make(lambda: figure, at_most, at_least).holds(figure) is holds


def test_one_failure_does_not_stop_the_others():
    statuses = [outcome.status for outcome in runner.run_claims(EXAMPLES)]
    assert statuses == [runner.HELD, runner.FAILED, runner.BROKEN, runner.SKIPPED, runner.HELD]


def test_report_is_strict_json_and_a_table(tmp_path: Path):
    outcomes = list(runner.run_claims(EXAMPLES))
    report.write_report(outcomes, {"claims_lost": ImportError("gone")}, tmp_path)
    written = json.loads((tmp_path / "verification.json").read_text(), parse_constant=pytest.fail)
    assert [entry["status"] for entry in written["claims"]] == [outcome.status for outcome in outcomes]
    assert written["claims"][0]["at_most"] == 1.0 and written["claims"][0]["at_least"] is None
    assert written["import_errors"] == {"claims_lost": "ImportError: gone"}
    table = (tmp_path / "verification.md").read_text()
    assert all(example.id in table for example in EXAMPLES)


def test_claims_that_name_one_plot_share_a_picture(tmp_path: Path):
    pytest.importorskip("matplotlib")
    lines = [Plot("orders", "Orders", "step", "error", {name: ([1, 2], [1, 4])}, "xy") for name in "ab"]
    outcomes = [runner.run_claim(make(lambda line=line: Measurement(0.0, {}, (line,)))) for line in lines]
    (plot,) = report.merge_plots(outcomes)
    assert list(plot.lines) == ["a", "b"]
    (picture,) = report.draw_plots([plot], tmp_path)
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "code", "statuses"),
    [
        (["--only", "example.held"], 0, ["held"]),
        (["--only", "example.*", "--quick"], 1, ["held", "failed", "error", "skipped"]),
        (["--only", "no such claim"], 2, None),
    ],
)
def test_command(tmp_path: Path, monkeypatch, arguments, code, statuses):
    monkeypatch.setattr(catalogue, "load", lambda: (EXAMPLES, {}))
    assert command.main(["--out", str(tmp_path), *arguments]) == code
    if statuses is not None:
        written = json.loads((tmp_path / "verification.json").read_text())
        assert [entry["status"] for entry in written["claims"]] == statuses


@pytest.mark.parametrize("options", [{}, {"at_most": 1.0, "cost": "free"}])
def test_a_claim_without_bound_or_with_unknown_cost_is_refused(options):
    with pytest.raises(ValueError, match=r"example\.refused"):
        claim("example.refused", "an example", **options)


@pytest.mark.parametrize("x", [0.3, 0.3 + 1e-9, 0.306, 0.35, 0.399, 0.4])
@pytest.mark.parametrize("span", [(0.3, 0.4), (-math.inf, math.inf)])
def test_stencils_stay_within_their_span_and_differentiate(x, span):
    def function(value):
        assert span[0] - 1e-12 <= value <= span[1] + 1e-12
        return np.array([math.sin(3.0 * value), math.exp(value)])

    expected = [3.0 * math.cos(3.0 * x), math.exp(x)]
    # Truncation errors: (3 step)^8 / 630 of the central stencil and (3 step)^8 / 9 of one-sided ones, step 0.02.
    assert differentiate(function, x, *span, step=0.02) == pytest.approx(expected, abs=1e-10)
