"""Models of one body, or of bodies in a row, that tests build on."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import physics as ph
from tests.physics.constraints.mechanisms import pose

WEIGHT = (0.0, 0.0, -9.81)
BODY = {"mass": 1.0, "inertia": np.eye(3)}  # what a body has that is not given


def alone(name: str, joint: ph.joints.Joint, *, gravity: Any = WEIGHT, **body: Any) -> ph.ModelBuilder:
    """A builder with one body."""
    return row([name], joint, (0.0, 0.0, 0.0), gravity=gravity, **body)


def row(
    names: Iterable[str],
    joint: ph.joints.Joint | Callable[[int], ph.joints.Joint],
    way: Any,
    *,
    gravity: Any = WEIGHT,
    **body: Any,
) -> ph.ModelBuilder:
    """A builder with bodies that hang on each other, each by its joint (number k's) at this place of the one before."""
    builder, parent = ph.ModelBuilder(gravity), None
    for k, name in enumerate(names):
        own = joint(k) if callable(joint) else joint
        at = {"joint_in_parent": pose(way)} if parent else {}
        parent = builder.add_body(name, parent, joint=own, **{**BODY, **at, **body})
    return builder
