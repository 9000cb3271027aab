"""Reads the feedback laws of joints into those of physics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bpy.types import Object, Scene

from ..blender import physics_access, units
from ..blender.physics_access import model_error
from ..data import references
from ..data.body_reference import BodyReference
from ..data.feedback import ALONG
from . import connections
from .carriers import Carriers
from .connections import Coordinates


def laws_of(scene: Scene) -> Iterator[tuple[str, Object, int, Any]]:
    """Every law of a scene that is in use: its name in the model, its joint's Empty, its index there, and itself."""
    for item in references.joints_of(scene):
        for index, law in enumerate(item.condyle.joint.feedback_laws):
            if law.active:
                yield f"{item.name} law {index + 1}", item, index, law


def add_all(
    scene: Scene,
    builder: physics_access.ModelBuilder,
    known: Carriers,
    joints: Mapping[int, Coordinates],
    soft: list[Object],
) -> None:
    """Add every law of the scene that is in use to a model builder, after joints, ground and muscles.

    Args:
        known: of the model's bodies. joints: by session uid of their Empties. soft: the soft bodies of the scene.

    Raises:
        ModelError: a law cannot be read, or does not act in such a scene; names it. The scene is unchanged.
    """
    for name, item, index, law in laws_of(scene):
        try:
            if soft:
                raise model_error(
                    f"laws do not act in a scene with soft bodies ({soft[0].name}): turn off Use"
                )
            values = {**_measured(scene, item, law, known, joints), **_gated(scene, law, builder, known)}
            of = _changed(item, law, builder, joints)
            rate = law.rate and law.signal != "TOUCH"
            builder.add_feedback(name, of, gain=law.gain, level=law.level, rate=rate, **values)
        except physics_access.physics().ModelError as error:
            raise model_error(
                f"joint {item.name!r}, feedback law {index + 1} ({law.title}): {error}"
            ) from error


def _changed(
    item: Object, law: Any, builder: physics_access.ModelBuilder, joints: Mapping[int, Coordinates]
) -> str:
    """Coordinate or input of the model that a law changes."""
    if law.changes == "TORQUE":
        return connections.coordinate(item, law.coordinate, joints, "joint")[0]
    if law.muscle is None:
        raise model_error("its Muscle is missing; choose one")
    name = f"{law.muscle.name}.excitation"
    if name not in [each.name for each in builder.inputs]:
        raise model_error(f"its Muscle {law.muscle.name!r} is not simulated, or nothing excites it")
    return name


def _measured(
    scene: Scene, item: Object, law: Any, known: Carriers, joints: Mapping[int, Coordinates]
) -> dict[str, Any]:
    """Arguments of physics for a law's signal."""
    found: dict[str, Any] = {"signal": law.signal.lower()}
    if law.signal == "COORDINATE":
        joint = law.signal_joint or item
        name, _ = connections.coordinate(joint, law.signal_coordinate, joints, "signal's joint")
        return {**found, "coordinate": name}
    if law.signal not in ALONG:
        return found
    found["direction"] = tuple(law.direction)
    if law.signal == "POINT":
        if law.point.object is None:
            raise model_error("its Point is missing; choose an object or a bone")
        found["body"], found["point"] = _place(scene, law.point, known, "Point")
        if found["body"] is None:
            raise model_error(
                f"its Point {law.point.object.name!r} is not on a body that is simulated or animated"
            )
    if law.origin.object is not None:
        found["other"], found["other_point"] = _place(scene, law.origin, known, "From")
    return found


def _place(
    scene: Scene, reference: BodyReference, known: Carriers, what: str
) -> tuple[str | None, tuple[float, ...]]:
    """Name in the model of the body that carries an object or bone (None: the world), and its origin there [m]."""
    body = references.resolve(reference)
    if body is None or not references.in_scene(scene, body.object):
        raise model_error(f"its {what} {reference.object.name!r} is not in the scene, or lacks that bone")
    references.check_evaluated(body.object, f"its {what} {body.name}")
    name, base = known.on(body)
    local = physics_access.physics().lie.inverse(base) @ units.array4(body.matrix)[:, 3]
    return name, tuple((local[:3] * units.length_scale(scene)).tolist())


def _gated(scene: Scene, law: Any, builder: physics_access.ModelBuilder, known: Carriers) -> dict[str, Any]:
    """Arguments of physics for a law's gate."""
    if law.gate.object is None:
        if law.signal == "TOUCH":
            raise model_error("its Gate is missing: choose the body whose touch it measures")
        return {}
    name, _ = _place(scene, law.gate, known, "Gate")
    ground = physics_access.part("forces").Ground
    if name not in [builder.bodies[each.body].name for each in builder.forces if isinstance(each, ground)]:
        raise model_error(
            f"its Gate {law.gate.object.name!r} has no Ground with Contact: Soft; add one to it"
        )
    return {"gate": name, "load": law.load}
