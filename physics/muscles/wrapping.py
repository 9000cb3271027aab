"""The part of a muscle's path that wraps over one or more obstacles between two of its points."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from .. import registry
from .._typing import FloatArray
from ..errors import FormatError, ModelError
from ..geometry.immutable import ReadOnlyArrays, Value
from ..kernels.wrapping import layout as wrap_layout
from ..validation import NOT_NEGATIVE, instances, of_kind, optional
from .network import Network
from .obstacle import Obstacle, Part
from .obstacles import Cylinder, obstacle_from_dict

SMOOTHING = 5e-4  # [m], for muscles without mass
MASSIVE_SMOOTHING = 0.2  # of the least radius, for muscles with mass


def _obstacles(value: Any, name: str) -> tuple[Obstacle, ...]:
    given = instances([value] if isinstance(value, Obstacle) else value, Obstacle, name)
    if not given:
        raise ModelError(f"{name} must be at least one obstacle, got {value!r:.80}")
    return given


@dataclass(frozen=True, eq=False)
class Wrap(ReadOnlyArrays, Value):
    """The shortest path over obstacles in a row, smooth where it attaches and detaches.

    Attributes:
        obstacles: in the order in which the path meets them, at least one.
        smoothing: length over which attaching and detaching are smoothed [m]. 0: the true shortest path, whose Jacobian
            jumps there. None: 0.5 mm, or for a muscle with mass a fifth of the obstacles' least radius: the velocities
            of its points change over this length, which time steps must resolve.
        network: lays a muscle's mass points (Wang 2022, sec. 5.3.3.2), for one endless `Cylinder` whose side is
            ``"counterclockwise"`` or ``"clockwise"``; None: on the path below. The length is that of the path below, as
            the network gives places alone; where it was not trained, so are the places.

    Where the straight line passes an obstacle by more than the smoothing, or lies deeper inside it, the smooth path is
    as long as the true one. Where an end of the path is closer to a surface than four times the smoothing, less is
    smoothed, down to a tenth on the surface. If both ends are outside an obstacle, no path enters it by more than a
    fifth of the smoothing. A path with an end inside is straight, from at most one smoothing length below the surface.
    """

    obstacles: tuple[Obstacle, ...] = field(metadata={"check": _obstacles})
    smoothing: float | None = field(default=None, metadata=optional(NOT_NEGATIVE))
    network: Network | None = field(default=None, metadata=optional(of_kind(Network)))
    type: ClassVar[str] = "wrap"
    of: ClassVar[str] = " of a wrap"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.network is None:
            return
        for obstacle in self.obstacles:
            turns = isinstance(obstacle.side, str) and obstacle.side.endswith("clockwise")
            endless = isinstance(obstacle, Cylinder) and obstacle.length is None
            if len(self.obstacles) > 1 or not (endless and turns):
                raise ModelError(
                    "the network of a wrap needs one cylinder without length, counterclockwise or clockwise, got "
                    f"{len(self.obstacles)}, among them a {obstacle.type} with side {obstacle.side!r:.80}"
                )

    @property
    def parts(self) -> list[Part]:
        """The primitive surfaces in order, each with its frame (4, 4) in its body's frame."""
        return [part for obstacle in self.obstacles for part in obstacle.parts()]

    @property
    def bodies(self) -> list[str | None]:
        """Names of the bodies of the primitive surfaces, one each; None for the world."""
        return [part.body for _, part in self.parts]

    @property
    def workspace_size(self) -> int:
        """Size of this strand's workspace in the kernels."""
        own = 0 if self.network is None else self.network.workspace_size
        return wrap_layout.strand_size(len(self.parts)) + own

    def smoothing_length(self, massive: bool = False) -> float:
        """The smoothing in use [m]; `massive`: whether the muscle has mass."""
        if self.smoothing is not None:
            return self.smoothing
        least = min(part.least_radius() for _, part in self.parts)
        return MASSIVE_SMOOTHING * least if massive else min(SMOOTHING, MASSIVE_SMOOTHING * least)

    def packed(
        self, index: Mapping[str, int], body_frames: Sequence[FloatArray] | FloatArray, massive: bool = False
    ) -> FloatArray:
        """The strand's record for the kernels (see ``kernels.wrapping.layout``).

        Args:
            index: of the bodies by name. body_frames: (number of bodies, 4, 4) poses of body frames in their link
                frames.
            massive: whether the muscle has mass.

        Raises:
            ModelError: an obstacle's body is unknown.
        """
        parts = self.parts
        bodies, frames = [], []
        for frame, part in parts:
            if part.body is not None and part.body not in index:
                raise ModelError(f"the {part.type} of a wrap is on body {part.body!r}, which the model lacks")
            body = -1 if part.body is None else index[part.body]
            bodies.append(float(body))
            place = frame if body < 0 else body_frames[body] @ frame
            frames += [place[:3, :3].ravel(), place[:3, 3]]
        shapes, nodes = [part.record() for _, part in parts], 0
        if self.network is not None and massive:
            shapes.append(self.network.record())
            nodes = len(self.network.nodes)
        places = [self.smoothing_length(massive), *wrap_layout.chain_places(len(parts)), nodes]
        return np.concatenate([[len(parts)], bodies, *frames, places, *shapes])

    def to_dict(self) -> dict[str, Any]:
        return {key: value for key, value in super().to_dict().items() if key != "network" or value}

    @classmethod
    def from_dict(cls, description: Mapping[str, Any]) -> Wrap:
        """The wrap described by ``to_dict``.

        Raises:
            FormatError: a key is unknown or missing, a type is unknown.
            ModelError: a value is invalid.
        """
        return registry.from_dict(
            description, {"wrap": cls}, "a wrap", {"obstacles": _described_obstacles, "network": _network}
        )


def number_shared(records: Iterable[FloatArray]) -> None:
    """Number the surfaces that several strands' records have, in place."""
    known: dict[bytes, list[FloatArray]] = {}
    for record in records:
        count = int(record[0])
        frames = record[1 + count : 1 + 13 * count].reshape(count, -1)
        start = 1 + 13 * count + wrap_layout.SHAPES
        shapes = record[start : start + count * wrap_layout.SHAPE_WIDTH].reshape(count, -1)
        for body, frame, shape in zip(record[1:], frames, shapes):
            known.setdefault(np.hstack([body, frame, shape]).tobytes(), []).append(shape)
    for number, same in enumerate(known.values(), 1):
        for shape in same if len(same) > 1 else ():
            shape[wrap_layout.SHAPE_NUMBER] = number


def _described_obstacles(entries: Any) -> tuple[Obstacle, ...]:
    if not isinstance(entries, Sequence) or isinstance(entries, str):
        raise FormatError(f"a wrap needs a list 'obstacles', got {entries!r:.80}")
    return tuple(map(obstacle_from_dict, entries))


def _network(entry: Any) -> Network | None:
    return None if entry is None else registry.instance_from_dict(entry, Network, "network of a wrap")
