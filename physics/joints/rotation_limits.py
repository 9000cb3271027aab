"""Limits of a free rotation: on the tilt of an axis, or on the whole rotation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import registry
from .._typing import FloatArray
from ..errors import ModelError
from ..geometry.exponential_coordinates import ReachCone
from ..kernels import layout
from ..validation import finite_array


@dataclass(frozen=True)
class RotationLimit:
    """The angle theta of a rotation about u is at most |most o u|, element by element (ArtiSynth's guide, eq. 3.27).

    Attributes:
        most: largest angles about x, y, z (3,) [rad], in (0, pi].
    """

    most: Any

    def __post_init__(self) -> None:
        most = finite_array(self.most, (3,), "rotation limit most")
        if not ((most > 0.0) & (most <= np.pi)).all():
            raise ModelError(f"rotation limit most must lie in (0, pi], got {most.tolist()}")
        object.__setattr__(self, "most", tuple(most.tolist()))


def checked_limit(limit: Any) -> ReachCone | RotationLimit | None:
    """A limit from itself or from its description (see `limit_to_dict`)."""
    if isinstance(limit, dict):
        kinds: dict[str, Any] = {"reach_cone": ReachCone, "rotation_limit": RotationLimit}
        limit = registry.from_dict(limit, kinds, "a limit")
    if limit is not None and not isinstance(limit, ReachCone | RotationLimit):
        raise ModelError(f"a spherical joint's limit must be a ReachCone or RotationLimit, got {limit!r:.80}")
    return limit


def limit_to_dict(limit: ReachCone | RotationLimit) -> dict[str, Any]:
    """JSON-able description."""
    if isinstance(limit, RotationLimit):
        return {"type": "rotation_limit", "most": list(limit.most)}
    return {"type": "reach_cone", "axis": list(limit.axis), "angle": limit.angle}


def limit_parameters(limit: ReachCone | RotationLimit) -> tuple[int, FloatArray]:
    """Kind and parameters of a limit row for the kernels (``kernels.forces.limits``)."""
    if isinstance(limit, RotationLimit):
        return layout.LIMIT_ROTATION, np.array(limit.most)
    return layout.LIMIT_CONE, np.array([*limit.axis, limit.angle])
