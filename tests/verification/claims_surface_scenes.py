"""Scenes on surface joints: largest stable step and time of a step."""

from functools import cache
from typing import Any

import numpy as np

import physics as ph
from blender_scenes import sheet_model, shoulder_model

from .claim import Measurement, claim
from .claims_mechanism_scenes import step_time
from .step_search import largest_step

SOURCE = "Lee & Terzopoulos 2008, sec. 7"


@cache
def sheet() -> tuple[Any, Any, float]:
    """The ball on the deforming sheet: model, state and the lowest potential energy at any place and time."""
    model = sheet_model.model()
    share = np.linspace(0.05, 0.95, 37)
    times = np.linspace(0.0, sheet_model.PERIOD, 16, endpoint=False)
    places = np.stack(np.meshgrid(share, share, times, indexing="ij"), axis=-1).reshape(-1, 3)
    middles = sheet_model.surface().transform(places) @ np.array([0.0, 0.0, sheet_model.BALL_RADIUS, 1.0])
    return model, sheet_model.start(model), float(9.81 * sheet_model.BALL_MASS * middles[:, 2].min())


@cache
def shoulder() -> tuple[Any, Any, float]:
    """Scapula, arm and clavicle: model, state and the energy of their equilibrium."""
    model = shoulder_model.model()
    state = shoulder_model.start(model)
    slow = shoulder_model.model(damped=3.0)
    rest = ph.simulate(slow, shoulder_model.start(slow), 20.0, 2e-4, record_interval=1.0)
    return model, state, float(rest.energy[-1, 2])


SHEET = (
    f"largest step of {{}} Euler for the ball on the deforming sheet, {sheet_model.DAMPING:g} N s per unit of damping "
    f"({sheet_model.SIDE:g} m): 10 s with the energy never above twice the initial"
)
SHOULDER = (
    "largest step of {} Euler for the shoulder, damped by "
    f"{shoulder_model.DAMPING:g} (scapula), {shoulder_model.ARM_DAMPING:g} (arm), {shoulder_model.CLAVICLE_DAMPING:g} "
    f"(clavicle) N m s and {shoulder_model.SPRING_DAMPING:g} N s/m at the acromion's spring of "
    f"{shoulder_model.SPRING:g} N/m, which limits the step: 10 s with the energy never above twice the initial"
)


for scene, statement, make, bounds in (
    ("sheet", SHEET, sheet, (5.0, 50.0)),
    ("shoulder", SHOULDER, shoulder, (0.5, 1.0)),
):
    for method, bound in zip(("forward", "symplectic"), bounds):
        name = f"{method}_euler"
        claim(
            f"steps.{scene}_{name}",
            statement.format(method),
            unit="ms",
            source=SOURCE,
            at_least=bound,
            cost="slow",
        )(lambda make=make, name=name: largest_step(*make(), name))


@claim("time.sheet_step", unit="ms", source=SOURCE, at_most=6.0, cost="slow")
def sheet_step() -> Measurement:
    """Time of a step of the ball on the deforming sheet (the paper states 6 ms for its knee)."""
    return step_time(*sheet()[:2], sheet_model.TIME_STEP)


@claim("time.shoulder_step", unit="ms", source=SOURCE, at_most=6.0, cost="slow")
def shoulder_step() -> Measurement:
    """Time of a step of the shoulder, eight coordinates (the paper states 49 ms for its letters, also with eight)."""
    return step_time(*shoulder()[:2], shoulder_model.TIME_STEP)
