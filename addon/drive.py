"""The slider of a joint: a custom property of its Empty that moves the child, also in a Blender without this add-on.

A hidden Empty, the follower, stands where the joint takes the child; each of its channels has a driver whose
curve maps the coordinate to the channel, so nothing but Blender's own evaluation is needed, at any sub-frame
and in renders. The child copies the follower's location and rotation by two constraints. Drivers of type
average use no Python, so files need no trust.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np

from . import actions, channels, core, migrations, references, scene_to_model, session, units
from .references import Body

PROPERTY = "coordinate"
CONSTRAINTS = (("Condyle Location", "COPY_LOCATION"), ("Condyle Rotation", "COPY_ROTATION"))
SUBTYPES = {"rad": "ANGLE", "m": "DISTANCE", "1": "NONE"}
# How many radians or metres the slider of an unlimited joint goes.
UNLIMITED = {"rad": 8.0 * np.pi, "m": 1000.0, "1": 8.0 * np.pi}


def can_drive(settings: Any) -> bool:
    """Whether a joint has the single coordinate that a slider needs."""
    return len(settings.coordinates) == 1


def set_driven(scene: Any, item: Any, driven: bool) -> None:
    """Let the slider move the child, or stop it.

    Raises:
        ModelError: the joint has not one coordinate, is not complete, or its child may not be changed.
    """
    settings = item.condyle.joint
    child = references.resolve(settings.child)
    if driven:
        if child is None:
            raise core.model_error(f"joint {item.name!r}: its child is missing")
        refresh(scene, item)
        _constrain(child, settings.follower)
    elif child is not None:
        _release(child, item)
    settings.driven = driven
    migrations.stamp(item.condyle)


def owns_follower(item: Any) -> bool:
    """Whether a joint's follower is its own: a duplicated joint still points at its original's."""
    follower = item.condyle.joint.follower
    return follower is not None and follower.parent == item


def shape_changed(scene: Any, item: Any) -> None:
    """After a change of a joint's type or parts: a driven child follows the new joint, or is let go of.

    A new shape that is not complete yet (a curve without its frames) is told, and keeps the old slider.
    """
    settings = item.condyle.joint
    if not settings.driven:
        return
    if not can_drive(settings):
        set_driven(scene, item, False)
        return
    try:
        refresh(scene, item)
    except core.physics().CondyleError as error:
        session.tell(str(error), "ERROR")


def refresh(scene: Any, item: Any) -> None:
    """Make property, follower and drivers, or bring them up to date with the joint."""
    settings = item.condyle.joint
    if not can_drive(settings):
        raise core.model_error(
            f"joint {item.name!r} has {len(settings.coordinates)} coordinates; a slider drives joints with exactly one"
        )
    joint = scene_to_model.read_joint(scene, item)
    unit = settings.coordinates[0].unit
    lower, upper = slider_range(item, joint)
    value = item.get(PROPERTY, 0.0)
    if not isinstance(value, (int, float)):
        raise core.model_error(
            f"joint {item.name!r} has a custom property {PROPERTY!r} that is no number ({value!r}); rename it"
        )
    in_scene_units = 1.0 / units.length_scale(scene) if unit == "m" else 1.0
    q = _samples(settings, lower, upper)
    poses = units.to_blender(joint.transform(q[:, None]), scene) @ scene_to_model.child_in_joint(item)
    _ensure_property(
        item,
        lower * in_scene_units,
        upper * in_scene_units,
        unit,
        settings.coordinates[0].start * in_scene_units,
    )
    follower = _ensure_follower(scene, item)
    _, scale = units.split_scale(item.matrix_world, f"joint {item.name!r}")
    quaternions = channels.rotation_channels(poses[:, :3, :3], "QUATERNION", np.array([1.0, 0.0, 0.0, 0.0]))
    _drive(follower, item, "location", q * in_scene_units, poses[:, :3, 3] / scale)
    _drive(follower, item, "rotation_quaternion", q * in_scene_units, quaternions)
    item.update_tag()


def slider_range(item: Any, joint: Any) -> tuple[float, float]:
    """From where to where a joint's slider goes, in SI; ModelError where its limits miss a curve that has ends."""
    settings = item.condyle.joint
    row = settings.coordinates[0]
    lower, upper = joint.range[0]
    if row.limits == "CUSTOM" and row.lower < row.upper:
        if settings.type != "spline_curve" or settings.outside != "error":
            return row.lower, row.upper
        low, high = max(row.lower, float(lower)), min(row.upper, float(upper))
        if not low < high:
            raise core.model_error(
                f"joint {item.name!r}: its limits {row.lower:g} to {row.upper:g} lie beyond its curve, "
                f"which goes from {lower:g} to {upper:g}"
            )
        return low, high
    if np.isfinite(lower) and np.isfinite(upper):
        return float(lower), float(upper)
    if settings.type == "spline_curve":
        return 0.0, joint.period
    return -UNLIMITED[row.unit], UNLIMITED[row.unit]


def _samples(settings: Any, lower: float, upper: float) -> np.ndarray:
    """Coordinates of the keys of a driver's curve; beyond them it goes on straight, which is all that a slider needs.

    Cubics a fortieth of a radian long follow a turn to 1e-8 of its radius.
    """
    if settings.type == "slider":
        return np.linspace(-1.0, 1.0, 5)
    count = int(np.clip(round(40.0 * (upper - lower)), 8 * max(8, len(settings.frames)), 4000))
    return np.linspace(lower, upper, count + 1)


def _ensure_property(item: Any, lower: float, upper: float, unit: str, start: float) -> None:
    value = float(item.get(PROPERTY, start))
    item[PROPERTY] = float(np.clip(value, lower, upper))
    item.id_properties_ui(PROPERTY).update(
        min=lower,
        max=upper,
        soft_min=lower,
        soft_max=upper,
        subtype=SUBTYPES[unit],
        description="Coordinate of the joint; key it to animate the joint",
    )
    item.property_overridable_library_set(f'["{PROPERTY}"]', True)


def _ensure_follower(scene: Any, item: Any) -> Any:
    settings = item.condyle.joint
    follower = settings.follower
    others = follower is not None and follower.parent not in (None, item)
    if others or not references.in_scene(scene, follower):
        follower = bpy.data.objects.new(f"{item.name} Follower", None)
        for collection in item.users_collection:
            collection.objects.link(follower)
        follower.empty_display_size = 0.01
        settings.follower = follower
    follower.parent = item
    follower.matrix_parent_inverse.identity()
    follower.rotation_mode = "QUATERNION"
    follower.hide_viewport = follower.hide_select = True
    return follower


def _drive(follower: Any, item: Any, path: str, q: np.ndarray, values: np.ndarray) -> None:
    """Drive each channel of a path by the slider through a curve with these values (n, c) at q (n,)."""
    rates = channels.slopes(values) / (q[1] - q[0])
    drivers = follower.animation_data.drivers if follower.animation_data else ()
    known = {curve.array_index: curve for curve in drivers if curve.data_path == path}
    for index in range(values.shape[1]):
        curve = known.get(index) or _new_driver(follower, item, path, index)
        actions.fill(curve, q, values[:, index], rates[:, index])


def _new_driver(follower: Any, item: Any, path: str, index: int) -> Any:
    """A driver of a channel by the slider, its curve still empty."""
    curve = follower.driver_add(path, index)
    curve.driver.type = "AVERAGE"
    variable = curve.driver.variables.new()
    variable.targets[0].id = item
    variable.targets[0].data_path = f'["{PROPERTY}"]'
    for modifier in list(curve.modifiers):
        curve.modifiers.remove(modifier)
    curve.extrapolation = "LINEAR"
    return curve


def _constrain(child: Body, follower: Any) -> None:
    constraints = child.owner.constraints
    for name, kind in CONSTRAINTS:
        constraint = constraints.get(name) or constraints.new(kind)
        constraint.name = name
        constraint.target = follower
        constraint.mute = child.data.channels.baked
    if child.data.channels.baked:  # freeing the bake then gives the child to the slider
        child.data.channels.was_driven = True


def _release(child: Body, item: Any) -> None:
    """Remove a joint's constraints, but not those by which another joint's follower moves the child."""
    for name, _ in CONSTRAINTS:
        constraint = child.owner.constraints.get(name)
        if constraint is not None and (constraint.target is None or constraint.target.parent in (None, item)):
            child.owner.constraints.remove(constraint)
            child.data.channels.was_driven = False


def start_here(scene: Any, item: Any) -> None:
    """A simulation starts where the slider is now."""
    row = item.condyle.joint.coordinates[0]
    row.start = item[PROPERTY] * (units.length_scale(scene) if row.unit == "m" else 1.0)


@contextmanager
def held_off(child: Body) -> Iterator[None]:
    """The child under its own channels, whatever the slider says; afterwards as it was."""
    held = [c for c in child.owner.constraints if c.name.startswith("Condyle") and not c.mute]
    for constraint in held:
        constraint.mute = True
    try:
        yield
    finally:
        for constraint in held:
            constraint.mute = False
