"""Runs claims one by one; a claim that fails or raises does not stop the others."""

import math
import time
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .claim import Claim, Measurement, Skipped

HELD, FAILED, BROKEN, SKIPPED = "held", "failed", "error", "skipped"


@dataclass(frozen=True)
class Outcome:
    """The outcome of one claim."""

    claim: Claim
    status: str
    measurement: Measurement
    seconds: float
    reason: str = ""

    @property
    def line(self) -> str:
        """One line for the terminal."""
        figure = f"{self.measurement.figure:.4g}" if self.status in (HELD, FAILED) else self.reason
        bound = f"({self.claim.bound} {self.claim.unit})"
        return f"{self.status:8}{self.claim.id:48} {figure} {bound} {self.seconds:.1f} s"


def run_claim(claim: Claim) -> Outcome:
    """Measure one claim and judge the figure."""
    start = time.perf_counter()
    measurement, reason = Measurement(math.nan), ""
    try:
        measurement = claim.measure()
        status = HELD if claim.holds(measurement.figure) else FAILED
    except Skipped as skipped:
        status, reason = SKIPPED, str(skipped)
    except Exception as error:  # reported as this claim's failure; the others still run
        first_line = (str(error).splitlines() or [""])[0]
        status, reason = BROKEN, f"{type(error).__name__}: {first_line}"
        traceback.print_exc()
    return Outcome(claim, status, measurement, time.perf_counter() - start, reason)


def run_claims(claims: Iterable[Claim]) -> Iterator[Outcome]:
    """Measure claims in order, yielding each outcome at once."""
    for claim in claims:
        yield run_claim(claim)
