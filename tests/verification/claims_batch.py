"""Claims about batches of .blend files: kills cost nothing but time."""

from __future__ import annotations

import os
from functools import cache

from .claim import Measurement, Skipped, claim
from .claims_addon import figures

KILLS = "100 kills of the whole group of processes at random moments, over runs of 20 shots, two at once"


@cache
def killed() -> dict[str, float]:
    """What the kills did."""
    if os.name == "nt":
        raise Skipped("kills a group of processes as POSIX has it")
    return figures("batch_kills")


@claim(
    "batch.kills",
    f"inputs that changed, outputs not whole, animation unlike the undisturbed run's, files left over: {KILLS}",
    cost="slow",
    at_most=0.0,
)
def kills() -> Measurement:
    found = killed()
    harm = ("inputs changed", "outputs broken", "animation differs", "left over")
    if found["kills"] < 100 or found["rounds"] < 1:
        raise RuntimeError(f"only {found['kills']} kills in {found['rounds']} rounds")
    return Measurement(sum(found[name] for name in harm), found)
