"""Twenty muscles on a limb of six bodies, with mass and without."""

from typing import Any

import numpy as np

import physics as ph
from physics.muscles import PathPoint

from .chains import STEP
from .timing import Contestant, simulating

COUNT, POINTS, BODIES, LENGTH = 20, 20, 6, 0.3
MASS = 0.1  # of each muscle [kg]


def limb(num_points: int, bodies: int = BODIES, count: int = COUNT) -> tuple[Any, Any]:
    """A limb of hinges about changing axes with muscles of three path points over one or two joints each."""
    builder = ph.ModelBuilder()
    rng = np.random.default_rng(7)
    names: list[str | None] = [None]
    for k in range(bodies):
        place = np.eye(4)
        place[2, 3] = -LENGTH if k else 0.0
        inertia = LENGTH**2 / 12.0
        builder.add_body(
            f"body {k}",
            names[-1],
            joint=ph.joints.Hinge([1.0, 0.0, 0.0] if k % 2 else [0.0, 1.0, 0.0]),
            joint_in_parent=place,
            mass=1.0,
            com=(0.0, 0.0, -0.5 * LENGTH),
            inertia=np.diag([inertia, inertia, 0.05 * inertia]),
            damping=0.05,
        )
        names.append(f"body {k}")
    for k in range(count):
        first = k % (bodies - 1)
        last = min(first + 1 + k % 2, bodies - 1)
        places = np.column_stack([rng.uniform(-0.04, 0.04, (3, 2)), rng.uniform(-0.25, -0.05, 3)])
        path = [
            PathPoint(names[first], places[0]),
            PathPoint(names[first + 1], places[1]),
            PathPoint(names[last], places[2] - [0.0, 0.0, 0.03]),
        ]
        builder.add_muscle(
            f"muscle {k}", path, mass=MASS if num_points else 0.0, num_points=num_points or 1, tension=2.0
        )
    model = builder.build()
    return model, model.state(np.linspace(0.3, -0.2, bodies))


def contestant(name: str, num_points: int, *size: int) -> Contestant:
    """Symplectic Euler of the limb; size: bodies and muscles."""
    return simulating(name, *limb(num_points, *size), STEP)


def massive() -> Contestant:
    return contestant("muscle_mass", POINTS)


def massless() -> Contestant:
    return contestant("massless", 0)


def chain(count: int, num_points: int = POINTS) -> Contestant:
    """As many muscles as bodies, in a long chain."""
    return contestant(f"{count} bodies, {num_points} mass points", num_points, count, count)
