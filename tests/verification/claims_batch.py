"""Claims about batches of .blend files: kills cost only time."""

import os
from functools import cache

from .claim import Measurement, Skipped, claim
from .claims_addon import figures

KILLS = "50 kills of the whole process group at random moments, in runs of 20 shots, two at once"


@cache
def killed() -> dict[str, float]:
    """The effects of the kills."""
    if os.name == "nt":
        raise Skipped("kills a POSIX process group")
    return figures("batch_kills")


@claim("batch.kills", at_most=0.0, cost="slow")
def kills() -> Measurement:
    """Changed inputs, incomplete outputs, animation unlike the undisturbed run's, leftover files: {KILLS}."""
    found = killed()
    harm = ("inputs changed", "outputs broken", "animation differs", "left over")
    if found["kills"] < 50 or found["rounds"] < 1:
        raise RuntimeError(f"only {found['kills']} kills in {found['rounds']} rounds")
    return Measurement(sum(found[name] for name in harm), found)
