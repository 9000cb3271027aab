"""A shot, and the plan of its simulation: plain data, from which nothing of Blender is asked any more.

scene -> `take.take` -> Shot -> `plan` -> Plan -> the compute process -> result -> `baking.write`
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..animation import inputs, motions, settling, soft_bodies, start_states
from ..animation.led_joints import Followed
from ..animation.scene_model import SceneModel
from ..animation.start_states import Seen
from ..blender.compute_process import Steps
from ..checking import start_penetration
from ..data.findings import Finding
from ..data.stored_texts import Prints

if TYPE_CHECKING:
    from ..baking.local_matrices import Samples


@dataclass(frozen=True, eq=False)
class Shot:
    """All that a simulation reads of a scene, over whole frames (F,); its arrays cannot be written to.

    Attributes:
        times: of the frames (F,) [s]. fps: frames in a second.
        read: the model, with the start that is set. joints: that follow their animation, and what that shows.
        starts: what the animation shows before the first frame of those that start by it.
        settled: names of bodies that start where springs and gravity hold them.
        looks, look_times: frames (L,) at which inputs were read, the whole ones among them, and their times [s].
        excited: of muscles (L, muscles). pushed: as of `input_values.torques`. controllers: of physics, by muscle.
        carried: poses of the carriers of bodies at the frames, by `stepper.Sampler`; None: unknown.
        options: keywords of ``simulate``. loop: further ones of `simulate_loop`, or None.
        led: names of bodies whose joints are seen in their animation, but simulated.
        fitted: names of joints that were fitted for it. warnings: about what was read. prints: for `staleness`.
        view: the snapshot that it was read from, at its first frame. changes: of `session`, after it was taken.
    """

    frames: np.ndarray
    times: np.ndarray
    fps: float
    read: SceneModel
    joints: tuple[Followed, ...]
    starts: tuple[Seen, ...]
    settled: tuple[str, ...]
    looks: np.ndarray
    look_times: np.ndarray
    excited: np.ndarray
    pushed: np.ndarray
    controllers: Mapping[str, Any]
    carried: Samples | None
    options: Mapping[str, Any]
    loop: Mapping[str, Any] | None
    fitted: frozenset[str]
    warnings: tuple[Finding, ...]
    prints: Prints
    view: Any
    changes: int = -1
    led: frozenset[str] = frozenset()

    def carried_at(self, frames: np.ndarray) -> Samples | None:
        """`carried` at some of the frames (k,)."""
        rows = np.isin(self.frames, frames)
        if self.carried is None or rows.sum() != len(frames):
            return None
        return {name: {key: each[rows] for key, each in own.items()} for name, own in self.carried.items()}

    def __post_init__(self) -> None:
        for part in (self, *self.joints, *self.starts):
            for value in vars(part).values():
                if isinstance(value, np.ndarray):
                    value.flags.writeable = False


@dataclass(frozen=True, eq=False)
class Plan:
    """What a simulation of a shot is given: the model with its start, keywords of ``simulate`` (but for what a live run
    has of its own), excitations (F, muscles) at the whole frames (F,), and what is told about it. again: see `Given`.
    wanted: motions of the bodies that are only seen in them.
    """

    read: SceneModel
    options: dict[str, Any]
    pulls: dict[str, Any]
    excited: np.ndarray
    warnings: list[Finding]
    shot: Shot
    frames: np.ndarray
    again: dict[str, bool]
    wanted: dict[str, Any] = field(default_factory=dict)

    @property
    def arguments(self) -> dict[str, Any]:
        """All arguments of a simulation."""
        return {"model": self.read.model, "state": self.read.state, "pulls": self.pulls, **self.options}


def plan(shot: Shot) -> Steps[Plan]:
    """Steps that find the motions, the start and the inputs of a shot's simulation."""
    read, options = shot.read, dict(shot.options)
    fitted = set(shot.fitted)
    loop = None if shot.loop is None else dict(shot.loop)
    given = yield from motions.motions(list(shot.joints), shot.times, fitted, options, loop)
    wanted = {name: given.motions.pop(name) for name in list(given.motions) if name in shot.led}
    given.start = {name: values for name, values in given.start.items() if name not in wanted}
    options["motions"] = given.motions
    if loop is not None:
        options["loop"] = loop
    read, starts = start_states.exact(read, shot.starts, fitted)
    found, looked = start_states.find(starts, read, shot.fps, fitted)
    read = start_states.started(read, given.start, found)
    options["tau"] = inputs.table(read, shot.excited, shot.pushed, shot.look_times, given.targets)
    if shot.controllers:
        options["controllers"] = dict(shot.controllers)
    settled = yield from settling.settled(read, list(shot.settled), options["tau"])
    read = replace(read, state=settled)
    pressed = start_penetration.warnings(read, set(given.start), options["tau"])
    told = [*shot.warnings, *given.warnings, *looked, *pressed]
    read = soft_bodies.added(read, given.motions, options["integrator"])
    excited = shot.excited[shot.looks % 1.0 == 0.0]
    return Plan(read, options, given.pulls, excited, told, shot, shot.frames, given.again, wanted)
