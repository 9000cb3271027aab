"""Our chains as contestants, and their parts."""

from typing import Any

import numpy as np

import physics as ph
from physics._typing import FloatArray
from tests.verification.generators import chain, smooth_frames, surface, unit_vector

from .timing import Contestant

STEP = 1e-4  # small enough for a chain of 1000 links under symplectic Euler
# steps of a run before it restarts: later a chain of spline joints may be too fast for the step
LONGEST = 8000


def hinge_axes(num_bodies: int) -> FloatArray:
    """Random axes (n, 3), the same for every engine."""
    rng = np.random.default_rng(num_bodies)
    return np.array([unit_vector(rng) for _ in range(num_bodies)])


def bend(num_bodies: int) -> FloatArray:
    """Initial coordinates (n,): a hanging chain, slightly bent."""
    return 0.02 * np.random.default_rng(11).standard_normal(num_bodies)


def revolute(num_bodies: int) -> Any:
    """Our chain of hinges."""
    axes = hinge_axes(num_bodies)
    return chain(num_bodies, lambda index: ph.joints.Hinge(axes[index]))


def spline(num_bodies: int, num_frames: int = 8) -> Any:
    """Our chain of cubic spline curve joints; more frames sample the same motion more finely."""
    rng = np.random.default_rng(12)
    angle, length = 2.1 / (num_frames - 1), 0.56 / (num_frames - 1)
    frames = smooth_frames(rng, num_frames, angle, length)
    return chain(num_bodies, lambda index: ph.joints.SplineCurve(frames))


def surfaces(num_bodies: int) -> Any:
    """Our chain of cubic spline surface joints, two coordinates each."""
    patch = surface(np.random.default_rng(13), shape=(8, 8))
    return chain(num_bodies, lambda index: patch)


def middle(model: Any) -> FloatArray:
    """Coordinates in the middle of every joint's range."""
    return np.concatenate([np.mean(joint.range, axis=1) for joint in model.joints])


def rollout(name: str, model: Any, q: FloatArray, integrator: str = "symplectic_euler") -> Contestant:
    """Our rollout, recording only start and end."""
    state = model.state(q=q)

    def run(steps: int) -> Any:
        result = None
        for left in range(steps, 0, -LONGEST):
            span = min(left, LONGEST) * STEP
            result = ph.simulate(model, state, span, dt=STEP, integrator=integrator, record_interval=span)
        return result

    return Contestant(name, run)
