"""Whether kernels can be compiled here, and the cost if not."""

import functools
import importlib.util

#: slowdown of a simulation's step without numba; `python -m tests.benchmarks` measures it
#: (keys unjitted_over_jitted_...)
SLOWDOWN = "300 to 2300"

#: one line for the list of extensions; Blender takes at most 64 characters
TAGLINE = f"Without numba: simulations take {SLOWDOWN} times as long"

WITHOUT = (
    f"Blender's Python has no numba, so a simulation's steps take {SLOWDOWN} times as long: for each body and "
    "simulated second 0.06 s (hinge) to 0.09 s (spline curve) at 1 ms a step. The motion is the same. The extension's "
    "zip for this platform and Blender brings numba along"
)
WITH = "Kernels are compiled by numba, at their first use, and kept"


@functools.cache
def can_compile() -> bool:
    """Whether the compute process will find numba; does not import it."""
    return importlib.util.find_spec("numba") is not None
