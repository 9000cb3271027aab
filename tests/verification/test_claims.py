"""Every claim as a test, with the same functions and bounds."""

import pytest

from . import catalogue
from .claim import Claim, Skipped

CLAIMS, IMPORT_ERRORS = catalogue.load()
#: tests/fuzz runs these sweeps, from the same seed for as long
SWEPT = {f"reliability.{name}" for name in ("files", "arguments", "mechanisms", "scenes")}


def as_parameter(claim: Claim) -> object:
    marks = [pytest.mark.slow] if claim.cost == "slow" else []
    if claim.unit == "s":  # seconds on a busy machine mean nothing: `build.py verify` measures them
        marks.append(pytest.mark.skip(reason="a claim in seconds is measured by `build.py verify` only"))
    return pytest.param(claim, id=claim.id, marks=marks)


def test_every_module_of_claims_imports() -> None:
    assert not IMPORT_ERRORS


@pytest.mark.parametrize("claim", [as_parameter(claim) for claim in CLAIMS if claim.id not in SWEPT])
def test_claim(claim: Claim) -> None:
    try:
        measured = claim.measure()
    except Skipped as skipped:
        pytest.skip(str(skipped))
    assert claim.holds(measured.figure), (
        f"{claim.statement}: measured {measured.figure:g} {claim.unit}, claimed {claim.bound}; "
        f"details: {dict(measured.details)}"
    )
