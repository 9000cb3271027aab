"""Claims about live runs: the same states as a simulation, headroom, delay of a slider."""

import time
from typing import Any

import physics as ph
from physics.simulation.live import TICK, LiveRun
from tests.physics.simulation.test_live import Clock

from .claim import Measurement, claim
from .live_leg import live_leg

STEP = 1e-3


def run(
    seconds: float, clock: Any = time.perf_counter, messages: Any = (), least: int = 1, **keywords: Any
) -> tuple[Any, list[Any]]:
    """A live run of the leg for at least this motion: its result, and (figures, poses) of each picture.

    messages: (time of motion, message). least: number of pictures to wait for, since a fast machine may simulate many
    seconds of motion between two of them.
    """
    model, state = live_leg()
    pictures: list[Any] = []
    waiting = list(messages)

    def listen() -> list[Any]:
        now = pictures[-1][0]["time"] if pictures else 0.0
        if now >= seconds and len(pictures) >= least:
            return [{"stop": None}]
        return [waiting.pop(0)[1] for _ in range(len(waiting)) if waiting and now >= waiting[0][0]]

    live = LiveRun(
        model,
        state,
        STEP,
        "symplectic_euler",
        listen=listen,
        show=lambda figures, poses: pictures.append((figures, poses)),
        clock=clock,
        **keywords,
    )
    return live.run(), pictures


@claim("live.bits", at_most=0.0)
def bits() -> Measurement:
    """Bytes of coordinates, velocities and muscle states by which a live run of a leg with 6 coordinates, 9 muscles and
    soft ground, with untouched sliders, differs from the simulation.
    """
    result, _ = run(0.5, factor=100.0, record_interval=1.0 / 24.0)
    model, state = live_leg()
    whole = ph.simulate(model, state, duration=float(result.t[-1]) + 0.1, dt=STEP, record_interval=1.0 / 24.0)
    count = len(result.t)
    differing = 0
    for name in ("t", "q", "qd", "muscle_states"):
        here, there = getattr(result, name), getattr(whole, name)[:count]
        differing += int((here.view("u1").ravel() != there.copy().view("u1").ravel()).sum())
    return Measurement(differing, {"samples": count})


@claim("live.headroom", source="Ertl et al. 1993, sec. 4", at_least=4.0)
def headroom() -> Measurement:
    """Seconds of motion per second of processor time of a live run of a leg with 6 coordinates, 9 muscles with fibres
    and tendons, and soft ground; steps of 1 ms, 60 pictures per second of wall-clock time.
    """
    run(0.05, factor=100.0)  # compiled, or loaded
    began = time.thread_time()
    # a factor too large for any machine
    result, pictures = run(3.0, least=20, factor=1e5, record_interval=1.0 / 24.0, sleep=lambda _: None)
    spent = time.thread_time() - began
    moved = float(pictures[-1][0]["time"])
    return Measurement(moved / spent, {"motion [s]": moved, "processor [s]": spent, "samples": len(result.t)})


@claim("live.slider", at_most=2.0)
def slider() -> Measurement:
    """Pictures, at 60 a second, from the moment that the compute process receives a torque to the first one that shows
    its effect; at 30 frames a second every other one is drawn.
    """
    clock, same = Clock(1e-5), Clock(1e-5)
    said = 0.2
    _, turned = run(0.4, clock, [(said, {"inputs": {"femur.1.angle": 20.0}})], sleep=clock.sleep)
    _, free = run(0.4, same, sleep=same.sleep)
    first = next(k for k, (a, b) in enumerate(zip(turned, free)) if (a[1] != b[1]).any())
    heard = next(k for k, (figures, _) in enumerate(turned) if figures["time"] >= said)
    return Measurement(first - heard, {"seconds": (first - heard) * TICK})
