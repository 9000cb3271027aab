"""Measure every claim and write the report: `python -m tests.verification --out FOLDER [--quick]`."""

import argparse
import fnmatch
import sys
from collections.abc import Sequence
from pathlib import Path

from . import catalogue, report, runner


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the claims and write the report; returns 1 if any of them fails, 2 if none was selected."""
    parser = argparse.ArgumentParser(prog="python -m tests.verification", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the report")
    parser.add_argument("--quick", action="store_true", help="only the claims that are quick to measure")
    parser.add_argument(
        "--only",
        default="*",
        metavar="PATTERN",
        help="claims whose id matches or contains this, e.g. 'energy.*'",
    )
    options = parser.parse_args(arguments)

    claims, import_errors = catalogue.load()
    chosen = [
        claim
        for claim in claims
        if (fnmatch.fnmatch(claim.id, options.only) or options.only in claim.id)
        and (claim.cost == "quick" or not options.quick)
    ]
    for module, error in import_errors.items():
        print(f"{module} cannot be imported: {type(error).__name__}: {error}", file=sys.stderr)
    if not chosen and not import_errors:
        print(f"no claim matches {options.only!r}", file=sys.stderr)
        return 2
    outcomes = []
    for outcome in runner.run_claims(chosen):
        print(outcome.line, flush=True)
        outcomes.append(outcome)
    report.write_report(outcomes, import_errors, options.out)
    bad = [outcome for outcome in outcomes if outcome.status in (runner.FAILED, runner.BROKEN)]
    skipped = sum(outcome.status == runner.SKIPPED for outcome in outcomes)
    seconds = sum(outcome.seconds for outcome in outcomes)
    print(
        f"{len(outcomes)} claims in {seconds:.0f} s: {len(bad)} failed, {skipped} skipped; "
        f"report in {options.out / 'verification.md'}"
    )
    return 1 if bad or import_errors else 0


if __name__ == "__main__":
    sys.exit(main())
