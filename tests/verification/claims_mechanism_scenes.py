"""The scenes of mechanisms with loops, ground and given motions: what they keep, and the time of a step."""

from __future__ import annotations

import time

import physics as ph
from blender_scenes import walker_model

from .claim import Measurement, claim

WALK = 60.0  # s


@claim(
    "scenes.walker_closure",
    f"how far any of the 36 hinges that close the loops of a machine on twelve of Jansen's legs gets from closed in "
    f"{WALK:g} s of walking, steps of {1e3 * walker_model.TIME_STEP:.2f} ms",
    unit="m",
    source="own",
    cost="slow",
    at_most=1e-8,
)
def walker_closure() -> Measurement:
    model = walker_model.build_model()
    began = time.perf_counter()
    result = ph.simulate(
        model,
        walker_model.start(model),
        WALK,
        walker_model.TIME_STEP,
        motions=walker_model.drive(WALK),
        record_interval=0.025,
    )
    spent = time.perf_counter() - began
    details = {
        "way [m]": float(result.poses[-1, 0, 0, 3]),
        "seconds a step": spent / result.info["steps"],
        "solver": result.info["constraints"],
    }
    return Measurement(walker_model.closure(model, result.poses), details)
