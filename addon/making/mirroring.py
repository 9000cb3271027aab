"""Mirrors a joint with its control frames to the bodies of the other side, found by Blender's names (.L and .R).

A body of the other side may differ from the mirror image by a constant pose (see `mirrored_bodies`), which the joint's
constant transforms include.

The joint's own axes on the other side may use any reflection: the one with the fewest sign changes of coordinates is
used, so that sliders agree on both sides. For rotational joints, and presets, it is the reflection through the origin,
without sign changes.
"""

import itertools
import json
from collections.abc import Collection
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import bpy
import numpy as np
from bpy.types import Object, PropertyGroup, Scene
from mathutils import Matrix

from ..baked import ik_chains
from ..blender import physics_access, units
from ..blender.physics_access import model_error
from ..data import fit_settings, references
from ..data import stored_joints as joint_reading
from ..data.fitting import FitProperties
from ..data.joint_shape import JointShape
from ..data.joint_types import TYPES
from ..data.joints import (
    CoordinateProperties,
    JointPart,
    JointProperties,
    label_of,
    match_coordinates,
    shapes,
    slider_names,
    title_of,
)
from ..data.references import Body
from ..sliders import sliders
from . import bodies_and_joints, frame_grids, joint_frames, presets, rest_poses
from .mirrored_bodies import Image, flipped, offset, opposite

AXES = {"X": 0, "Y": 1, "Z": 2}
SHAPE = tuple(name for name in JointShape.__annotations__ if name != "frames_of")
#: properties of a joint that are not copied to the other side
OWN = {
    *SHAPE,
    *("rna_type", "name", "enabled", "type", "to_world", "parent", "child", "child_in_joint", "parts"),
    *("frames", "active_frame", "knots", "coordinates", "fit", "driven", "switched", "follower", "frames_of"),
    "active_feedback_law",
}
#: reflections of a joint's own axes, tried after the mirror's
REFLECTIONS = (Image.across(0, 1, 2), *(Image.across(axis) for axis in range(3)))
#: titles of coordinates and of their opposites: of presets, and anatomical terms
_CALLED = (
    *((row.on_left, row.title) for each in presets.PRESETS for row in each.coordinates if row.on_left),
    *(("Extension", "Flexion"), ("Depression", "Elevation"), ("Supination", "Pronation")),
    *(("Internal Rotation", "External Rotation"), ("Rotation In", "Rotation Out")),
)
TITLES = {**dict(_CALLED), **{title: other for other, title in _CALLED}}
REVERSED = ", reversed"  # suffix of other titles
#: properties of a coordinate that change sign with it
SIGNED = ("rest", "start", "start_speed", "torque")
#: settings of a joint's or part's image, and the signs of its coordinates
Made = tuple[dict[str, Any], np.ndarray]


@dataclass(frozen=True)
class Mirrored:
    """The joint on the other side. renewed: it existed before. warnings: assumptions that were made, one line each."""

    joint: Any
    renewed: bool
    warnings: tuple[str, ...]


def mirror(scene: Scene, item: Object, axis: str = "X") -> Mirrored:
    """Mirror a joint to the bodies on the other side; updates a joint that already moves the mirrored child.

    Args:
        axis: the axis to reverse: of the armature for bones, of the world for objects.

    Raises:
        ModelError: the other side has no such body, or a joint of this type has no mirror image.
    """
    settings = item.condyle.joint
    child, parent = references.resolve(settings.child), references.resolve(settings.parent)
    if child is None or (parent is None and not settings.to_world):
        raise model_error(f"joint {item.name!r}: its {'child' if child is None else 'parent'} is missing")
    others = opposite(scene, child), opposite(scene, parent)
    if others[0] is None:
        other = flipped(child)
        sided = other != (child.bone or child.object.name)
        why = f"no body is named {other!r}" if sided else "its name has no side"
        raise model_error(
            f"{child.name} has no other side: {why}; give the bodies of both sides the same name with .L and .R"
        )
    if any(shape.frames_of is not None for shape in shapes(settings)):
        raise model_error(f"joint {item.name!r} uses the control points of another joint: mirror that joint")
    image = Image.across(AXES[axis])
    other_child, other_parent = others[0], others[1] or parent
    for body in (other_child, other_parent):
        if body is not None:
            bodies_and_joints.check_own(body)
    after = offset(image, child, other_child)
    before = offset(image, parent, other_parent)
    inside, mirrored = mirrored_shapes(scene, item, image)
    frames = joint_reading.control_frames(scene, item)
    place = _place(image, inside, item, parent, other_parent, before.pose)
    existing = _counterpart(scene, settings, other_parent, other_child)
    target = existing or _new(scene, item, image, (child, other_child, other_parent), after.pose, place)
    if existing is not None:
        _move(scene, existing, other_parent, place)
    _fill(scene, item, target, (image, inside), mirrored, frames, after.pose)
    notes = [before.note, after.note, ik_chains.of_joint(scene, target) if item.condyle.joint.driven else ""]
    return Mirrored(target, existing is not None, tuple(dict.fromkeys(note for note in notes if note)))


def _counterpart(scene: Scene, settings: JointProperties, parent: Body | None, child: Body) -> Object | None:
    """The existing joint on the other side with that child; None without one.

    A joint that closes a loop must have the same parent, too.
    """
    for joint in references.joints_of(scene):
        other = joint.condyle.joint
        same_child = references.same(references.resolve(other.child), child)
        if other.closes_loop != settings.closes_loop or not same_child:
            continue
        if not settings.closes_loop or references.same(references.resolve(other.parent), parent):
            return joint
    return None


def mirrored_shapes(scene: Scene, item: Object, image: Image) -> tuple[Image, list[Made]]:
    """The reflection of a joint's own axes with the fewest sign changes of coordinates, and the mirrored settings and
    signs of the joint or its parts.

    Raises:
        ModelError: a joint of this type has no mirror image.
    """
    found: list[tuple[int, Image, list[Made]]] = []
    refused: list[Exception] = []
    for inside in (image, *REFLECTIONS):
        try:
            mirrored = [mirrored_shape(scene, item, shape, inside) for shape in shapes(item.condyle.joint)]
        except physics_access.physics().ModelError as error:
            refused.append(error)
            continue
        found.append((sum(int((signs < 0.0).sum()) for _, signs in mirrored), inside, mirrored))
        if not found[-1][0]:
            break
    if not found:
        raise refused[0]
    _, inside, mirrored = min(found, key=lambda each: each[0])
    return inside, mirrored


def mirrored_shape(scene: Scene, item: Object, shape: JointPart | JointProperties, image: Image) -> Made:
    """Settings of a joint's or part's mirror image, and the signs (n,) of its coordinates.

    Candidates are tried until the joint reproduces the mirrored motion, with the fewest sign changes first.
    """
    values = {name: _plain(getattr(shape, name)) for name in SHAPE}
    if shape.type in {"spline_curve", "spline_surface"}:  # for these the control frames are mirrored
        count = joint_reading.read_shape(scene, item, shape).num_coordinates
        return values, np.ones(count)
    known = joint_reading.read_shape(scene, item, shape)
    count = len(known.reading_names)
    random = np.random.default_rng(0)
    readings = random.uniform(-0.3, 0.3, (3, count))
    wanted = [image.pose(known.transform(known.from_readings(each))) for each in readings]
    varied = _candidates(shape, image)
    signs = sorted(itertools.product((1.0, -1.0), repeat=count), key=lambda each: each.count(-1.0))
    tries = [dict(zip(varied, chosen)) for chosen in itertools.product(*varied.values())]
    joints = []
    for changed in tries:
        copy = SimpleNamespace(**{**values, **changed}, type=shape.type, frames_of=None)
        joints.append(joint_reading.read_shape(scene, item, copy))
    for sign in signs:
        for changed, joint in zip(tries, joints):
            if all(
                np.abs(joint.transform(joint.from_readings(sign * each)) - pose).max() < 1e-6
                for each, pose in zip(readings, wanted)
            ):
                return {**values, **changed}, np.array(sign)
    raise model_error(
        f"joint {item.name!r}: {TYPES[shape.type].label} has no mirror image of its own type with these settings"
    )


def _candidates(shape: JointPart | JointProperties, image: Image) -> dict[str, list[Any]]:
    """Candidate values of each setting in the image, the likeliest first."""
    used = TYPES[shape.type].settings
    found: dict[str, list[Any]] = {}
    if shape.type == "spherical":
        return {"axis": [tuple(image.point(shape.axis))]}  # of a cone, which does not affect the motion
    for name in ("axis", "axis_2"):
        if name in used:
            vector = getattr(shape, name)
            found[name] = [tuple(image.axis(vector)), tuple(image.point(vector))]
    for name in ("pitch", "skew", "winging_direction"):
        if name in used:
            value = getattr(shape, name)
            found[name] = [value, -value]
    if "winging" in used:
        found["winging"] = [shape.winging, -shape.winging, np.pi - shape.winging, shape.winging - np.pi]
    if "neutral" in used:
        found["neutral"] = [
            tuple(sign * angle for sign, angle in zip(signs, shape.neutral))
            for signs in itertools.product((1, -1), repeat=3)
        ]
    if "winging_origin" in used:
        x, y = shape.winging_origin
        found["winging_origin"] = [(x, y), (-x, y), (x, -y), (-x, -y)]
    return found


def _plain(value: Any) -> Any:
    return value if isinstance(value, (str, int, float, bool)) else tuple(value)


def _place(
    image: Image, inside: Image, item: Object, parent: Body | None, other: Body | None, before: np.ndarray
) -> np.ndarray:
    """World pose (4, 4) of the image of a joint's frame, on the other side's parent at its present pose."""
    lie = physics_access.physics().lie
    frame = joint_frames.pose_of(item)
    if parent is None or other is None:
        return image.onto(frame, inside)
    frame = lie.inverse(units.split_scale(parent.matrix, parent.name, parent.owner)[0]) @ frame
    there = units.split_scale(other.matrix, other.name, other.owner)[0]
    return there @ lie.inverse(before) @ image.onto(frame, inside)


def _new(
    scene: Scene,
    item: Object,
    image: Image,
    bodies: tuple[Body, Body, Body | None],
    behind: np.ndarray,
    place: np.ndarray,
) -> Object:
    """Add a joint on the other side; its child becomes a body with the settings of the child on this side."""
    child, other, parent = bodies
    if not other.data.body.enabled and child.data.body.mass_source == "MANUAL":
        source = child.data.body
        xy, xz, yz = source.inertia_products
        inertia = np.diag(np.array(source.inertia_diagonal)) + np.array(
            [[0, xy, xz], [xy, 0, yz], [xz, yz, 0]]
        )
        reflect = image.matrix[:3, :3] @ behind[:3, :3]
        center = physics_access.physics().lie.inverse(behind) @ [*image.point(source.center_of_mass), 1.0]
        bodies_and_joints.make_body(
            scene, other, mass=source.mass, center=center[:3], inertia=reflect.T @ inertia @ reflect
        )
    elif not other.data.body.enabled:
        bodies_and_joints.make_body(scene, other, density=child.data.body.density)
    name = " - ".join(bpy.utils.flip_name(part) for part in item.name.split(" - "))
    name, settings = "" if name == item.name else name, item.condyle.joint
    return bodies_and_joints.add_joint(
        scene, parent, other, settings.type, place, name, closes_loop=settings.closes_loop
    )


def _move(scene: Scene, item: Object, parent: Body | None, place: np.ndarray) -> None:
    """Attach an existing joint to another parent at a world pose (4, 4), and remove its sliders for now."""
    settings = item.condyle.joint
    if settings.driven:
        sliders.set_driven(scene, item, False)
    settings.to_world = parent is None
    references.point_at(settings.parent, parent)
    item.parent = None
    bodies_and_joints.attach(item, parent, Matrix(place.tolist()))


def _fill(
    scene: Scene,
    item: Object,
    target: Object,
    reflections: tuple[Image, Image],
    made: list[Made],
    frames: np.ndarray,
    behind: np.ndarray,
) -> None:
    """Make a joint the image of another: type, settings, control frames, coordinates, sliders.

    reflections: the mirror's, and that of the joint's own axes; they are equal for a curve.
    """
    image, inside = reflections
    source, settings = item.condyle.joint, target.condyle.joint
    settings.type = source.type
    _fill_shapes(source, settings, made)
    _copy(source, settings, OWN)
    _copy(source.controller, settings.controller)
    metric = np.array(source.fit.metric_values)
    own = source.inverted or source.fit.coordinate != "PARAMETER" or metric.any()
    plain = source.type == "spline_curve" and not own
    rest = inside.onto(joint_reading.child_in_joint(item), image)
    inverse = physics_access.physics().lie.inverse(behind)
    settings.child_in_joint = tuple((inverse @ rest @ behind if plain else rest @ behind).ravel())
    images = inside.pose(frames) @ behind if plain else inside.pose(frames)
    bodies_and_joints.set_control_frames(scene, target, images, [knot.value for knot in source.knots])
    if source.type == "spline_surface":
        frame_grids.rename(target)
    _fill_fit(source.fit, settings.fit, inside, metric)
    match_coordinates(settings)
    signs = np.concatenate([sign for _, sign in made]) if made else np.ones(0)
    for row, image_row, sign in zip(source.coordinates, settings.coordinates, signs):
        _fill_coordinate(row, image_row, float(sign))
    target.empty_display_size = item.empty_display_size
    rest_poses.note(target)
    if source.driven and not ik_chains.of_joint(scene, target):
        sliders.set_driven(scene, target, True)
        for name, sign in zip(slider_names(settings), signs):
            target[name] = float(sign) * item[name]
        target.update_tag()
    bpy.context.view_layer.update()


def _fill_shapes(source: JointProperties, settings: JointProperties, made: list[Made]) -> None:
    while len(settings.parts):
        settings.parts.remove(len(settings.parts) - 1)
    for part in source.parts:
        settings.parts.add().type = part.type
    if source.type == "composite":
        settings.inverted = source.inverted
    for shape, (values, _) in zip(shapes(settings), made):
        for name, value in values.items():
            if _plain(getattr(shape, name)) != value:
                setattr(shape, name, value)


def _fill_fit(source: FitProperties, settings: FitProperties, image: Image, metric: np.ndarray) -> None:
    """Copy the settings of a fit and its metric, both mirrored."""
    wanted = fit_settings.values(source, (*fit_settings.CURVE, *fit_settings.SURFACE))
    wanted["angle_axis"] = tuple(image.axis(source.angle_axis))
    fit_settings.store(settings, wanted)
    upper = np.triu_indices(6)
    whole = np.zeros((6, 6))
    whole[upper] = metric
    signs = np.concatenate([-np.diag(image.matrix)[:3], np.diag(image.matrix)[:3]])
    settings.metric_values = (signs[:, None] * whole * signs)[upper]


def _fill_coordinate(row: CoordinateProperties, own: CoordinateProperties, sign: float) -> None:
    had_title = bool(own.title)
    _copy(row, own)
    if sign < 0.0:
        title = _reversed_title(title_of(row))
        own.title = title if had_title or title != label_of(row.label) else ""
        own.lower, own.upper = -row.upper, -row.lower
        for name in SIGNED:
            setattr(own, name, -getattr(row, name))
        own.laws = _reversed_laws(row.laws) if row.laws else ""


def _reversed_laws(text: str) -> str:
    """Laws of a coordinate that runs the other way."""
    read, change = physics_access.part("joints.functions"), physics_access.part("io.opensim_functions")
    found = {}
    for name, described in joint_reading.json_object(text, "Laws").items():
        law = change.stretched(read.function_from_dict(described), -1.0)
        found[name] = law if name == "viscosity" else change.scaled(law, -1.0)
    return json.dumps({name: law.to_dict() for name, law in found.items()})


def _reversed_title(title: str) -> str:
    """Title of a reversed coordinate; reversing twice gives the first title again."""
    if title.endswith(REVERSED):
        return title.removesuffix(REVERSED)
    return TITLES.get(title, title + REVERSED)


def _copy(source: PropertyGroup, target: PropertyGroup, but: Collection[str] = ()) -> None:
    """Copy the values of a property group to another, without nested groups."""
    for entry in source.bl_rna.properties:
        name = entry.identifier
        if name in {"rna_type", "name", *but} or entry.is_readonly or entry.type in {"POINTER", "COLLECTION"}:
            continue
        if getattr(target, name) != getattr(source, name):
            setattr(target, name, getattr(source, name))
