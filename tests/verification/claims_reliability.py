"""Claims about reliability: what was tried and went wrong; `claims_batch` has the kills of a batch."""

import importlib.util

from tests.fuzz.sweeps import swept

from .claim import Measurement, Skipped, claim
from .claims_addon import figures

SECONDS = 20.0


@claim("reliability.files", at_least=50, cost="slow", name="files", tried="damaged files and messages read")
@claim("reliability.arguments", at_least=50, cost="slow", name="arguments", tried="calls with bad arguments")
@claim("reliability.mechanisms", at_least=5, cost="slow", name="mechanisms", tried="random mechanisms run")
@claim("reliability.scenes", at_least=1, cost="slow", name="scenes", tried="hostile scenes baked and saved")
def survived(name: str, tried: str) -> Measurement:
    """{tried} in {SECONDS:g} s, with documented errors at most and nothing lost (negative: faults)."""
    if importlib.util.find_spec("bpy") is None:
        raise Skipped("bpy, Blender as a Python module, is not installed")
    outcome = swept(name, 1, SECONDS)
    return Measurement(-len(outcome["faults"]) or outcome["tried"], outcome)


@claim("reliability.full_disk", at_most=0.0, cost="slow")
def full_disk() -> Measurement:
    """Earlier files changed, files left over and failures untold, when 20 files are written on a full disk."""
    if importlib.util.find_spec("resource") is None:
        raise Skipped("limits of files are known on Unix")
    found = figures("full_disk", CONDYLE_JIT="0")
    return Measurement(found["changed"] + found["left over"] + found["untold"], found)
