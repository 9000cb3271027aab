"""The model of a scene with what the scene has of it: plain data, from which nothing of Blender is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.handles import Handle, Key, key_of

if TYPE_CHECKING:
    from ..data.bodies import BodyProperties
    from ..data.handles import Holder


@dataclass(frozen=True)
class Leaders:
    """Bodies that are animated, not simulated.

    Attributes:
        leaders: what is followed in the place of each: itself, or something that it is rigidly connected with.
        axes: of leaders that turn far, the axis (3,) about which they do so most, in their own frames at the start.
    """

    leaders: Mapping[Handle, Handle] = field(default_factory=dict)
    axes: Mapping[Handle, np.ndarray] = field(default_factory=dict)


@dataclass(frozen=True)
class ModelMuscle:
    """A muscle of the model: the session uid of its curve, its name, its excitation input (None: it has none), and the
    coordinate of its controller (None: it is excited by keys).
    """

    session_uid: int
    name: str
    excitation: str | None
    controlled: str | None = None


@dataclass(frozen=True)
class ModelField:
    """A field of the model: the input that is its strength, its object in the scene, and the path of the strength."""

    input: str
    session_uid: int
    path: str


@dataclass(frozen=True)
class PoseSpring:
    """A spring of a model, as what it does changes with its settings.

    Attributes:
        handle: of its body. body, controller: names in the model. settings: of the body, as they were read.
        carried: n I of the coordinates (n,), see `reading.pose_springs`. armature: theirs without it (n,).
        step: over which it acts implicitly [s]. mass: of the body [kg].
    """

    handle: Handle
    body: str
    controller: str
    settings: BodyProperties
    carried: np.ndarray
    armature: np.ndarray
    step: float
    mass: float

    def gains(self, settings: BodyProperties) -> dict[str, np.ndarray]:
        """Stiffness, damping and armature of the coordinates (n,) by a body's settings."""
        spring, count = settings.spring, len(self.carried)
        if spring.strength == "STIFFNESS":
            stiffness, damping = np.full(count, spring.stiffness), np.full(count, spring.damping)
        else:
            frequency = 2.0 * np.pi * spring.frequency
            stiffness = self.carried * frequency**2
            damping = 2.0 * spring.damping_ratio * stiffness / frequency
        ahead = damping + self.step * stiffness
        return {"stiffness": stiffness, "damping": ahead, "armature": self.armature + self.step * ahead}

    def load(
        self, settings: BodyProperties, gravity: np.ndarray, before: np.ndarray
    ) -> tuple[np.ndarray, float]:
        """Force (3,) [N] and damping [N s/m] of a body by its settings beyond those that were read, under other gravity
        (3,) than before [m/s^2].
        """
        own, read = settings.gravity - 1.0, self.settings.gravity - 1.0
        return self.mass * (own * gravity - read * before), self.mass * (settings.drag - self.settings.drag)


@dataclass(frozen=True, eq=False)
class SoftShape:
    """A soft body as it is read.

    Attributes:
        session_uid, name: of its mesh object. vertices: (k, 3). nodes: (n, 3). tets: (m, 4).
        attached: bodies of the model by nodes. poses: of these bodies, where the nodes are read (4, 4).
        size: its longest side. settings: "sag" or "young", and "poisson", "density", "damping", "friction", "law".
    """

    session_uid: int
    name: str
    vertices: np.ndarray
    nodes: np.ndarray
    tets: np.ndarray
    attached: Mapping[int, str]
    poses: Mapping[str, np.ndarray]
    size: float
    settings: Mapping[str, Any]


@dataclass(frozen=True)
class ModelBody:
    """One body of the model: its number there, its handle in the scene, its uniform scale there, and name and session
    uid of its joint's Empty (a free body: empty and 0; one that is followed: its name in the scene, and 0).
    """

    index: int
    handle: Handle
    name: str
    scale: float
    joint_name: str
    joint_uid: int = 0

    @property
    def culprit(self) -> Handle:
        """Subject of a finding about its motion: its joint, or the free body."""
        return Handle(self.joint_uid) if self.joint_uid else self.handle


@dataclass(frozen=True)
class SceneModel:
    """A model with its start state, and the scene's bodies and muscles in the model's order.

    Attributes:
        bodies: that are simulated. leaders: that are followed, of `followed`.
        held: parents of joints that are not simulated, and the Empties of joints to the world. springs: of chains.
        fields: force fields that act on these. soft: bodies, which the model gets when its shot is planned.
    """

    model: Any
    state: Any
    bodies: tuple[ModelBody, ...]
    held: tuple[Handle, ...] = ()
    muscles: tuple[ModelMuscle, ...] = ()
    leaders: tuple[ModelBody, ...] = ()
    followed: Leaders = field(default_factory=Leaders)
    springs: tuple[PoseSpring, ...] = ()
    fields: tuple[ModelField, ...] = ()
    soft: tuple[SoftShape, ...] = ()

    def handle_of(self, index: int) -> Handle | None:
        """The scene's body of a body of the model; of soft parts and loop ends, the body that carries them."""
        known = {entry.index: entry.handle for entry in (*self.bodies, *self.leaders)}
        while index >= 0 and index not in known:
            index = int(self.model.parent[index])
        return known.get(index)

    def keys_in(self, scene: Holder) -> set[Key]:
        """The simulated bodies in a scene or a snapshot of one."""
        return {key_of(body) for each in self.bodies if (body := each.handle.find_in(scene)) is not None}

    def parents(self) -> list[int]:
        """Of each simulated body the number, among these, of the nearest that carries it; -1: the world."""
        numbers = {entry.index: number for number, entry in enumerate(self.bodies)}
        found = []
        for entry in self.bodies:
            index = int(self.model.parent[entry.index])
            while index >= 0 and index not in numbers:
                index = int(self.model.parent[index])
            found.append(numbers.get(index, -1))
        return found
