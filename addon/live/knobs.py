"""The sliders of a live run: made from its model, read at every tick, and written to the scene where that is wanted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import bpy
import numpy as np
from bpy.types import Scene

from ..animation.scene_model import PoseSpring, SceneModel
from ..baking.figures import FORCE_UNITS
from ..blender import physics_access, session
from ..data import references
from ..data.joints import title_of, torque_path
from ..data.live import SHOWN, LiveSettings, LiveSlider, scene_of
from ..making import chains
from ..reading import feedback, input_values, pose_springs

#: numbers of soft ground and of mounts that are turned, by what they are called
GROUND = {"stiffness": "Stiffness", "damping": "Damping"}
MOUNT = {
    "stiffness_along": "Stiffness Along",
    "stiffness_across": "Stiffness Across",
    "damping_along": "Damping Along",
    "damping_across": "Damping Across",
}


def fill(live: LiveSettings, scene: Scene, read: SceneModel, pushed: np.ndarray, excited: np.ndarray) -> None:
    """Make the sliders of a model; each stands where the scene says, torques and excitations at the first frame."""
    live.gravity = tuple(scene.condyle.simulation.gravity)
    live.scene = scene.session_uid
    live.sliders.clear()
    _add_torques(live, scene, read, pushed)
    for k, entry in enumerate(read.muscles):
        if entry.excitation is not None:
            slider = _add(live, "MUSCLE", "SHARE", entry.name, "inputs", entry.excitation)
            slider.owner, slider.path = entry.session_uid, input_values.EXCITATION
            slider.base = slider.share = float(excited[0, k])
    for field in read.fields:
        item = references.object_by_session_uid(field.session_uid)
        slider = _add(live, "FIELD", "STRENGTH", item.name, "inputs", field.input)
        slider.owner, slider.path = field.session_uid, field.path
        column = read.model.num_coordinates + read.model.input_names.index(field.input)
        slider.base = slider.strength = float(read.model.with_inputs(None)[column] + pushed[0, column])
    for name, item, index, law in feedback.laws_of(scene):
        for kind, key in (("TIMES", "gain"), ("LEVEL", "level"))[
            not law.gain :
        ]:  # no multiple of 0 is another gain
            label = f"{item.name}, {law.title}: {key.title()}"
            slider = _add(live, "FEEDBACK", kind, label, "feedback", name, key)
            slider.owner, slider.path = item.session_uid, f"condyle.joint.feedback_laws[{index}].{key}"
            slider.base = getattr(law, key)
            if kind != "TIMES":
                slider.level = slider.base
    owners = {item.name: item for item in references.connections_of(scene)}
    forces = physics_access.part("forces")
    for force in read.model.forces:
        if isinstance(force, forces.Ground):
            _add_numbers(live, owners, force, "forces", GROUND, "TIMES")
            _add_numbers(live, owners, force, "forces", {"friction": "Friction"}, "PLAIN")
        elif isinstance(force, forces.Mount):
            _add_numbers(live, owners, force, "forces", MOUNT, "TIMES")
    for contact in read.model.contacts:
        _add_numbers(live, owners, contact, "contacts", {"friction": "Friction"}, "PLAIN")
        _add_numbers(live, owners, contact, "contacts", {"restitution": "Bounce"}, "SHARE")


def _add(
    live: LiveSettings, group: str, kind: str, label: str, part: str, target: str, key: str = ""
) -> LiveSlider:
    slider = live.sliders.add()
    slider.group, slider.kind, slider.label = group, kind, label
    slider.part, slider.target, slider.key = part, target, key
    return slider


def _add_torques(live: LiveSettings, scene: Scene, read: SceneModel, pushed: np.ndarray) -> None:
    names = list(input_values.columns(read.model))
    for item, number, column in input_values.torque_places(scene, read):
        if pose_springs.is_on(item):  # its spring is tuned
            continue
        rows = item.condyle.joint.coordinates
        label = item.name if len(rows) == 1 else f"{item.name}: {title_of(rows[number])}"
        unit = FORCE_UNITS.get(rows[number].unit, "J")
        slider = _add(live, "TORQUE", "TORQUE", f"{label} [{unit}]", "inputs", names[column])
        slider.owner, slider.path = item.session_uid, torque_path(number)
        slider.base = slider.torque = float(pushed[0, column])


def _add_numbers(
    live: LiveSettings,
    owners: dict[str, Any],
    element: physics_access.Ground | physics_access.Mount,
    part: str,
    names: dict[str, str],
    kind: str,
) -> None:
    for key, label in names.items():
        base = float(getattr(element, key))
        if kind == "TIMES" and base == 0.0:
            continue
        slider = _add(live, "GROUND", kind, f"{element.name}: {label}", part, element.name, key)
        slider.base = base
        if kind != "TIMES":
            setattr(slider, SHOWN[kind], base)
        if element.name in owners:
            slider.owner = owners[element.name].session_uid
            slider.path = f"condyle.connection.ground.{key}"


class Reader:
    """Tells what has been turned since the last look; what was never touched is never told."""

    def __init__(self, live: LiveSettings, read: SceneModel) -> None:
        self._springs, self._gravity = read.springs, np.array(read.model.gravity)
        self._told = self._look(live)
        for spring in self._springs:  # the user may have turned them since they were read
            self._told |= self._of_spring(spring, spring.settings, self._gravity)
        self._first = self._told

    def forget(self) -> None:
        """Of a new job of the same model: `changes` gives all that differs from it again."""
        self._told = self._first

    def changes(self, live: LiveSettings) -> dict[str, Any]:
        """What changed, as the run wants to hear it; empty where nothing did."""
        now = self._look(live)
        said: dict[str, Any] = {}
        for key, value in now.items():
            if self._told.get(key) == value:
                continue
            part, target, name = key
            if part in ("gravity", "factor"):
                said[part] = value
            elif part == "inputs":
                said.setdefault(part, {})[target] = value
            else:
                said.setdefault(part, {}).setdefault(target, {})[name] = value
        self._told = now
        return said

    def _look(self, live: LiveSettings) -> dict[tuple[str, str, str], Any]:
        found: dict[tuple[str, str, str], Any] = {
            (slider.part, slider.target, slider.key): slider.value for slider in live.sliders
        }
        found["gravity", "", ""] = [float(value) for value in live.gravity]
        found["factor", "", ""] = float(live.factor)
        for spring, settings in present(self._springs):
            found |= self._of_spring(spring, settings, np.array(live.gravity))
        return found

    def _of_spring(
        self, spring: PoseSpring, settings: Any, gravity: np.ndarray
    ) -> dict[tuple[str, str, str], Any]:
        gains = {key: value.tolist() for key, value in spring.gains(settings).items()}
        force, damping = spring.load(settings, gravity, self._gravity)
        values = {("controllers", spring.controller, key): value for key, value in gains.items()}
        values["loads", spring.body, "force"] = force.tolist()
        values["loads", spring.body, "damping"] = damping
        return values


def present(springs: Sequence[PoseSpring]) -> Iterator[tuple[PoseSpring, Any]]:
    """Springs of a model whose bodies are still there, each with what the scene says of it now."""
    objects = {item.session_uid: item for item in bpy.data.objects}
    for spring in springs:
        item, bone = objects.get(spring.handle.session_uid), spring.handle.bone
        if item is not None and (not bone or (item.pose is not None and bone in item.pose.bones)):
            settings = references.Body(item, bone).data.body
            if settings.spring.enabled:
                yield spring, settings


def tuned() -> list[tuple[PoseSpring, Any]]:
    """Those of the last run's springs that are set otherwise than when it began, with their settings."""
    return [
        (spring, settings)
        for spring, settings in present(session.springs)
        if chains.figures(settings) != chains.figures(spring.settings)
    ]


def keep(live: LiveSettings, scene: Scene) -> int:
    """Write what the sliders say to the scene; returns how many numbers of it changed.

    Raises:
        ModelError: the run was of another scene: gravity is this one's, and all else the other's.
    """
    why_not = of_another(live, scene)
    if why_not:
        raise physics_access.model_error(why_not)
    changed = 0
    if _gravity_touched(live, scene):
        scene.condyle.simulation.gravity = tuple(live.gravity)
        changed += 1
    for slider, item in _touched(live):
        place, _, name = slider.path.rpartition(".")
        setattr(item.path_resolve(place), name, slider.value)
        slider.base, slider.times, slider.kept = slider.value, 1.0, True
        changed += 1
    return changed


def of_another(live: LiveSettings, scene: Scene) -> str:
    """Why a scene cannot take what the sliders say: the run was another one's; empty where it was its own."""
    if live.scene in (0, scene.session_uid):  # 0: nothing ran yet
        return ""
    its = scene_of(live)
    if its is None:
        return "The scene of the last live run is gone"
    return f"The last live run was of the scene {its.name!r}: show that to keep its values"


def touched(live: LiveSettings, scene: Scene) -> bool:
    """Whether a slider says what the scene, whose run it was, does not."""
    if of_another(live, scene):
        return False
    return _gravity_touched(live, scene) or any(True for _ in _touched(live))


def _gravity_touched(live: LiveSettings, scene: Scene) -> bool:
    return tuple(scene.condyle.simulation.gravity) != tuple(live.gravity)


def _touched(live: LiveSettings) -> Iterator[tuple[Any, Any]]:
    """Sliders that were turned, and the objects that keep what they turn."""
    for slider in live.sliders:
        item = references.object_by_session_uid(slider.owner) if slider.owner else None
        if item is None:
            continue
        try:
            now = item.path_resolve(slider.path)
        except ValueError:  # a coordinate that the joint has no more
            continue
        if slider.value != slider.base or (slider.kept and now != slider.value):
            yield slider, item
