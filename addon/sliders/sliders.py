"""The sliders of a joint: custom properties of its Empty that move the child, also in a Blender without this add-on.

Each reading of a joint has one. Hidden Empties, the followers, move as the joint does; drivers map the sliders to their
channels, so Blender's own evaluation suffices, at any subframe and in renders. The child copies the last follower's
location and rotation by two constraints.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from bpy.types import Object, Scene

from ..baked import ik_chains
from ..blender import physics_access, session, units
from ..data import references, schema
from ..data import stored_joints as joints
from ..data.joints import PROPERTY, CoordinateProperties, JointProperties, slider_names
from ..data.references import Body
from . import driver_empties, driver_motions, ik_influence

CONSTRAINTS = (("Condyle Location", "COPY_LOCATION"), ("Condyle Rotation", "COPY_ROTATION"))
SUBTYPES = {"rad": "ANGLE", "m": "DISTANCE", "s": "NONE", "1": "NONE"}
# Range in radians or metres, to both sides, of the slider of an unlimited coordinate; by name, the range that suffices
# for every pose. For rotation vectors half a turn suffices. It limits the mouse; keys may exceed it to continue a turn,
# since the other vector of the same rotation is far away.
UNLIMITED = {"rad": 8.0 * np.pi, "m": 1000.0, "s": 1000.0, "1": 8.0 * np.pi}
# Range of the mouse there, to both sides, unless limits are stored that do not act, as OpenSim's unclamped ranges
NEAR = np.pi
VECTOR = ("r_x", "r_y", "r_z")
ENOUGH = {
    **dict.fromkeys(VECTOR, 200.0 * np.pi),
    **dict.fromkeys(("longitude", "abduction"), np.pi),
    **dict.fromkeys(("latitude", "elevation"), 0.5 * np.pi),
}


def can_drive(settings: JointProperties) -> bool:
    """Whether a joint's sliders can move its child; a joint without coordinates only carries it."""
    return not settings.closes_loop


def set_driven(scene: Scene, item: Object, driven: bool) -> None:
    """Connect the child, and bodies that are fixed to it, to the sliders, or disconnect them.

    Raises:
        ModelError: the joint is incomplete, its child may not be changed, or Blender would update it one change late.
    """
    settings = item.condyle.joint
    child = references.resolve(settings.child)
    if driven:
        if child is None:
            raise physics_access.model_error(f"joint {item.name!r}: its child is missing")
        if not settings.driven:
            check_in_time(scene, item)
            ik_influence.switch_off(scene, item, child)
        refresh(scene, item)
        _constrain(child, settings.follower, "LOCAL" if ik_chains.are_free(item) else "WORLD")
    elif child is not None:
        _release(child, item)
        ik_influence.switch_back(scene, item)
    settings.driven = driven
    schema.stamp(item.condyle)
    for other in _fixed_to(scene, child) if driven else ():
        if not other.condyle.joint.driven:
            try:
                set_driven(scene, other, True)
            except physics_access.physics().CondyleError as error:  # this joint is driven nevertheless
                session.tell(str(error), "ERROR")


def check_in_time(scene: Scene, item: Object) -> None:
    """ModelError if sliders would move a joint's child one change late."""
    late = ik_chains.of_joint(scene, item)
    if late:
        raise physics_access.model_error(f"joint {item.name!r}: {late}")


def _fixed_to(scene: Scene, body: Body) -> list[Object]:
    """Joints without coordinates whose parent is a body."""
    found = []
    for item in references.joints_of(scene):
        settings = item.condyle.joint
        parent = None if settings.to_world else references.resolve(settings.parent)
        complete = references.resolve(settings.child) is not None and not settings.coordinates
        if complete and not settings.closes_loop and parent is not None and references.same(parent, body):
            found.append(item)
    return found


def refresh(scene: Scene, item: Object) -> None:
    """Make or update the properties, followers and drivers of a joint."""
    settings = item.condyle.joint
    if not can_drive(settings):
        raise physics_access.model_error(f"joint {item.name!r} closes a loop: its child is moved by another")
    joint = joints.read_joint(scene, item)
    if len(settings.coordinates) != joint.num_coordinates:
        raise physics_access.model_error(
            f"joint {item.name!r} has {joint.num_coordinates} coordinates but settings for "
            f"{len(settings.coordinates)}; set its type again"
        )
    ranges = slider_ranges(item, joint)
    names = slider_names(settings)
    for name in names:
        value = item.get(name, 0.0)
        if not isinstance(value, (int, float)):
            raise physics_access.model_error(
                f"joint {item.name!r} has a custom property {name!r} that is no number ({value!r}); rename it"
            )
    length = units.length_scale(scene)
    after = units.to_metres(joints.child_in_joint(item), scene)
    base, scale = _base(scene, item)
    moves = driver_motions.motions_of(joint, ranges, after)
    factors = [length if row.unit == "m" else 1.0 for row in settings.coordinates]
    for name, row, (lower, upper), factor in zip(names, settings.coordinates, ranges, factors):
        _ensure_property(item, name, row, lower / factor, upper / factor, factor)
    _remove_stale(item, names)
    bounds = {
        k: (lower / factors[k], upper / factors[k])
        for k, (row, (lower, upper)) in enumerate(zip(settings.coordinates, ranges))
        if row.limits == "CUSTOM"
    }
    inputs = driver_empties.Inputs(item, names, factors, bounds)
    driver_empties.arrange(scene, inputs, moves, scale * length, base)
    item.update_tag()


def _base(scene: Scene, item: Object) -> tuple[np.ndarray | None, float]:
    """Pose (4, 4) [m] of a joint's frame in the channels of its child, None where sliders move this in the world; and
    the scale of what the followers hang on.
    """
    settings = item.condyle.joint
    child = references.resolve(settings.child)
    parent = None if settings.to_world else references.resolve(settings.parent)
    frame, scale = units.split_scale(item.matrix_world, f"joint {item.name!r}", item)
    if child is None or parent is None or not ik_chains.moves_by_channels(scene, child, parent):
        return None, scale
    above, scale = units.split_scale(parent.matrix, parent.name, parent.owner)
    rests = [units.array4(each.pose_bone.bone.matrix_local) for each in (parent, child)]
    rest = units.scaled_translation(np.linalg.solve(*rests), scale)
    return units.to_metres(np.linalg.solve(rest, np.linalg.solve(above, frame)), scene), scale


def driven_sliders(item: Object) -> list[str]:
    """Names of a joint's sliders that have drivers of the user."""
    paths = {f'["{name}"]': name for name in slider_names(item.condyle.joint)}
    drivers = item.animation_data.drivers if item.animation_data is not None else ()
    return [paths[curve.data_path] for curve in drivers if curve.data_path in paths]


def slider_ranges(item: Object, joint: physics_access.Joint) -> np.ndarray:
    """Ranges of a joint's sliders (n, 2), in SI; ModelError if limits lie outside an open curve."""
    settings = item.condyle.joint
    found = driver_motions.natural_ranges(joint)
    for k, row in enumerate(settings.coordinates):
        lower, upper = found[k]
        if row.limits == "CUSTOM" and row.lower < row.upper:
            found[k] = row.lower, row.upper
            if settings.outside == "error" and np.isfinite(joint.range[k]).all():
                found[k] = max(row.lower, lower), min(row.upper, upper)
                if not found[k, 0] < found[k, 1]:
                    raise physics_access.model_error(
                        f"joint {item.name!r}: its limits {row.lower:g} to {row.upper:g} lie beyond its curve, "
                        f"which goes from {lower:g} to {upper:g}"
                    )
        elif not (np.isfinite(lower) and np.isfinite(upper)):
            most = ENOUGH.get(plain_name(row.label), UNLIMITED[row.unit])
            found[k] = -most, most
    return found


def periods(joint: physics_access.Joint) -> np.ndarray:
    """Periods of the readings (n,), independent of the others; 0: not periodic."""
    ends = driver_motions.natural_ranges(joint)
    # a rotation vector of 0 is the same rotation as every whole turn
    place = np.clip(0.3 + 0.2 * np.arange(len(ends)), *ends.T)
    found = np.zeros(len(ends))
    here = joint.transform(joint.from_readings(place))
    for k, (lower, upper) in enumerate(ends):
        step = upper - lower if np.isfinite(upper - lower) else 2.0 * np.pi
        if np.isinf(joint.range[k]).any():
            there = joint.transform(joint.from_readings(place + step * np.eye(len(ends))[k]))
            found[k] = step if np.abs(there - here).max() < 1e-6 else 0.0
    return found


def plain_name(label: str) -> str:
    """The name of a coordinate without the number of its part of a composite joint."""
    return label.rpartition(".")[2]


def _ensure_property(
    item: Object, name: str, row: CoordinateProperties, lower: float, upper: float, factor: float
) -> None:
    value = float(item.get(name, row.start / factor))
    item[name] = float(np.clip(value, lower, upper))
    near = lower, upper
    if upper - lower >= 2.0 * UNLIMITED[row.unit] / factor and row.limits == "NONE":
        given = row.is_property_set("lower") and row.is_property_set("upper") and row.lower < row.upper
        near = (row.lower / factor, row.upper / factor) if given else (-NEAR / factor, NEAR / factor)
    elif plain_name(row.label) in VECTOR and lower < np.pi and upper > -np.pi:
        near = max(lower, -np.pi), min(upper, np.pi)
    item.id_properties_ui(name).update(
        min=lower,
        max=upper,
        soft_min=near[0],
        soft_max=near[1],
        subtype=SUBTYPES[row.unit],
        description="Coordinate of the joint; key it to animate the joint",
    )
    item.property_overridable_library_set(f'["{name}"]', True)


def _remove_stale(item: Object, names: list[str]) -> None:
    """Remove sliders of a former type of the joint."""
    ours = [name for name in list(item.keys()) if name == PROPERTY or name.startswith(f"{PROPERTY} ")]
    for name in ours:
        if name not in names and isinstance(item[name], float):
            del item[name]


def _constrain(child: Body, follower: Object, space: str) -> None:
    constraints: Any = child.owner.constraints
    for name, kind in CONSTRAINTS:
        constraint = constraints.get(name) or constraints.new(kind)
        constraint.name = name
        constraint.target, constraint.owner_space = follower, space
        constraint.mute = child.data.channels.baked
    if child.data.channels.baked:  # freeing the bake then connects the child to the slider
        child.data.channels.was_driven = True


def _release(child: Body, item: Object) -> None:
    """Remove a joint's constraints on its child; keep those to the follower of another joint."""
    for name, _ in CONSTRAINTS:
        constraint: Any = child.owner.constraints.get(name)
        if constraint is not None and (
            constraint.target is None
            or constraint.target.parent is None
            or constraint.target in driver_empties.chain_of(item)
        ):
            child.owner.constraints.remove(constraint)
            child.data.channels.was_driven = False


def start_here(scene: Scene, item: Object) -> None:
    """Let a simulation start at the current values of the sliders."""
    settings = item.condyle.joint
    settings.start_from = "SETTINGS"
    for name, row in zip(slider_names(settings), settings.coordinates):
        row.start = item[name] * (units.length_scale(scene) if row.unit == "m" else 1.0)


@contextmanager
def held_off(child: Body) -> Iterator[None]:
    """Context in which the child follows its own channels, not the sliders."""
    held = [c for c in child.owner.constraints if c.name.startswith("Condyle") and not c.mute]
    for constraint in held:
        constraint.mute = True
    try:
        yield
    finally:
        for constraint in held:
            constraint.mute = False
