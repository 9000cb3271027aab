"""Baked muscles: a curve whose shape keys are the frames, with belly and colour, in the place of the muscle's own.

A file that is opened without the add-on plays them: `eval_time` of the shape keys is keyed on the curve, the activation
on its material. The muscle's own curve is put aside and comes back with Free Bake.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from bpy.types import Curve, FCurve, Key, Material, Object, Scene, ShaderNodeTree

from ..animation.scene_model import SceneModel
from ..blender import compat, physics_access, units
from ..curves.reduction import thinned
from ..data import references, schema, stored_texts
from ..data.references import Body
from ..making import muscles
from ..reading import input_values
from . import keys as bake_keys
from . import muscle_spaces

#: property of a baked curve: which of the muscle's hooks were to be seen before, as JSON
HOOKS = "condyle_hooks"
COUNT = 48
SHORTEST = 1e-6  # [m]
DENSITY = 1060.0  # of muscle [kg/m^3] (Mendez & Keys 1960)
_LINEAR = bpy.types.Keyframe.bl_rna.properties["interpolation"].enum_items["LINEAR"].value


@dataclass(frozen=True, eq=False)
class Shown:
    """What a bake writes of one muscle.

    Attributes:
        session_uid, name: of its curve. points: (F, n, 3) in the world. radii: (F, n), in units of `radius`.
        radius: of the belly at the first frame. Lengths are Blender units, but `lengths` (F,) of the path: metres.
        activation: (F,).
    """

    session_uid: int
    name: str
    points: np.ndarray
    radii: np.ndarray
    radius: float
    activation: np.ndarray
    lengths: np.ndarray


@dataclass(frozen=True, eq=False)
class Drawn:
    """What a simulation gave of all muscles: points (F, muscles, n, 3), lengths (F, muscles) [m], activation (F,
    muscles).
    """

    points: np.ndarray
    lengths: np.ndarray
    activation: np.ndarray


@dataclass(frozen=True, eq=False)
class _Shapes:
    """Shapes of a muscle that are keyed: frames (S,), points (S, n, 3) in its object's space, radii (S, n)."""

    frames: np.ndarray
    points: np.ndarray
    radii: np.ndarray


def excitations(scene: Scene, read: SceneModel, frames: np.ndarray) -> np.ndarray:
    """Excitation (F, muscles) of each muscle of the model at the frames (F,)."""
    items = [references.object_in(scene, entry.session_uid) for entry in read.muscles]
    return np.clip(
        input_values.values_of(scene, [(item, input_values.EXCITATION) for item in items], frames), 0.0, 1.0
    )


def activations(read: SceneModel, result: physics_access.Result, excited: np.ndarray) -> np.ndarray:
    """Activation (F, muscles) of each muscle in a simulation; excitations (F, muscles) are those of muscles that have
    none of their own.
    """
    found = excited.copy()
    names = read.model.muscle_state_names
    for k, entry in enumerate(read.muscles):
        name = f"{entry.name}.activation"
        if name in names and result.muscle_states is not None:
            found[:, k] = result.muscle_states[:, names.index(name)]
    return found


def shown(view: Scene, read: SceneModel, given: Drawn | None) -> list[Shown]:
    """What to write; view: a snapshot of the scene without its bake.

    Raises:
        ModelError: a muscle is linked, or has shape keys of its own.
    """
    if given is None:
        return []
    points, lengths, activation = given.points, given.lengths, given.activation
    drawing = physics_access.part("analysis.muscle_drawing")
    metres = units.length_scale(view)
    found = []
    for k, entry in enumerate(read.muscles):
        item = references.find_in(view, entry.session_uid, f"muscle {entry.name!r}")
        _check(item)
        settings = item.condyle.muscle
        tendons = (settings.origin_tendon, settings.insertion_tendon)
        length = np.maximum(lengths[:, k], SHORTEST)
        radii = _radii(item, points[:, k], length, length[0])
        radius = settings.radius
        if settings.thickness == "MASS" and settings.mass > 0.0:
            volume = settings.mass / DENSITY
            radius = float(np.sqrt(volume / drawing.tube_volume(length[0], tendons))) / metres
        found.append(
            Shown(
                entry.session_uid,
                entry.name,
                points[:, k] / metres,
                radii,
                radius,
                activation[:, k],
                lengths[:, k],
            )
        )
    return found


def _radii(item: Object, points: np.ndarray, lengths: np.ndarray, rest: float) -> np.ndarray:
    """Radii (F, n) of a muscle's tube along points (F, n, 3), for lengths (F,) and that of the first frame [m]."""
    settings = item.condyle.muscle
    steps = np.linalg.norm(np.diff(points, axis=1), axis=2)
    along = np.concatenate([np.zeros((len(steps), 1)), np.cumsum(steps, axis=1)], axis=1)
    fractions = along / np.maximum(along[:, -1:], 1e-9)
    tendons = (settings.origin_tendon, settings.insertion_tendon)
    return physics_access.part("analysis.muscle_drawing").tube_radii(fractions, lengths, rest, tendons)


def _check(item: Any) -> None:
    """ModelError where a bake cannot be put in the place of the curve of a muscle of a snapshot."""
    if item.library is not None:
        raise physics_access.model_error(
            f"muscle {item.name!r} is linked from {item.library.filepath}; make a library override first"
        )
    if item.data.has_shape_keys and item.condyle.muscle.own_curve is None:
        raise physics_access.model_error(
            f"muscle {item.name!r} has shape keys of its own, which move its points besides its bodies; remove them"
        )


def spaces(
    view: Scene, frames: np.ndarray, found: list[Shown], bodies: Sequence[Body]
) -> muscle_spaces.Spaces:
    """The spaces in which to write muscles at these frames (F,); ModelError where they cannot be written.

    Args:
        view: a snapshot of the scene without its bake. bodies: of it, which the bake will move.
    """
    items = [references.find_in(view, entry.session_uid, f"muscle {entry.name!r}") for entry in found]
    return muscle_spaces.Spaces(view, frames, items, bodies)


def write(
    frames: np.ndarray,
    found: list[Shown],
    spaces: muscle_spaces.Spaces,
    output: bake_keys.Output,
    metres: float,
) -> list[Curve]:
    """Put the bakes of muscles in place, those of their bodies being there; returns the new curves.

    metres: in a Blender unit.
    """
    spaces.look()
    made = []
    for item, entry in zip(spaces.items, found, strict=True):
        local = spaces.local(item, entry.points)
        seen = spaces.sized(item, local) if spaces.is_carried(item) else entry.points
        kept = bake_keys.shapes_kept(frames, seen, output, metres)
        shapes = _Shapes(frames[kept], local[kept], entry.radii[kept])
        made.append(_write(references.live(item), frames, entry, shapes, thinned(frames, output.every)))
    return made


def _write(item: Object, frames: np.ndarray, entry: Shown, shapes: _Shapes, colors: np.ndarray) -> Curve:
    """Bake a muscle, with keys of its shapes, and of its colour at the frames of these indices."""
    own = item.data
    curve = bpy.data.curves.new(f"{item.name} Condyle", "CURVE")
    curve.dimensions, curve.use_path, curve.use_fill_caps = "3D", False, True
    for name in ("bevel_resolution", "resolution_u", "use_fill_caps"):
        setattr(curve, name, getattr(own, name))
    curve.bevel_depth = entry.radius
    spline = curve.splines.new("POLY")
    spline.points.add(entry.points.shape[1] - 1)
    spline.use_smooth = True
    places = np.column_stack([shapes.points[0], np.ones(entry.points.shape[1])])
    spline.points.foreach_set("co", places.astype(np.float32).ravel())
    spline.points.foreach_set("radius", shapes.radii[0].astype(np.float32))
    material = _material(item, own)
    curve.materials.append(material)
    item.condyle.muscle.own_curve = own
    item.data = curve
    hooks = [modifier for modifier in item.modifiers if modifier.type == "HOOK"]
    curve[HOOKS] = json.dumps({each.name: [each.show_viewport, each.show_render] for each in hooks})
    for modifier in hooks:
        modifier.show_viewport = modifier.show_render = False
    _key_shapes(item, shapes.frames, shapes.points, shapes.radii)
    _key_activation(material, frames[colors], entry.activation[colors])
    schema.stamp(item.condyle)
    return curve


def _key_shapes(item: Object, frames: np.ndarray, points: np.ndarray, radii: np.ndarray) -> None:
    """A shape key for each frame, and the time at which each is met."""
    places, sizes = points.reshape(len(frames), -1).astype(np.float32), radii.astype(np.float32)
    for number, frame in enumerate(frames):
        key = item.shape_key_add(name=f"Frame {int(frame)}", from_mix=False)
        key.interpolation = "KEY_LINEAR"
        data = key.data
        data.foreach_set("co", places[number])
        data.foreach_set("radius", sizes[number])
    keys = item.data.shape_keys
    keys.use_relative = False
    met = np.array([key.frame for key in keys.key_blocks])
    curves = _new_curves(keys, f"{item.name} Shape")
    _fill_linear(curves.new("eval_time", index=0), frames, met)


def _key_activation(material: Material, frames: np.ndarray, activation: np.ndarray) -> None:
    """Colour in the viewport, and the value that goes through the material's ramp in renders."""
    curves = _new_curves(material, f"{material.name} Color")
    for index, values in enumerate(muscles.colors(activation).T):
        _fill_linear(curves.new("diffuse_color", index=index), frames, values)
    tree = material.node_tree
    node = None if tree is None else tree.nodes.get(muscles.NODE)
    if node is not None and node.type == "VALUE":
        curves = _new_curves(tree, f"{material.name} Activation")
        path = f'nodes["{muscles.NODE}"].outputs[0].default_value'
        _fill_linear(curves.new(path, index=0), frames, activation)


def _new_curves(owner: Key | Material | ShaderNodeTree, name: str) -> Any:
    data = owner.animation_data or owner.animation_data_create()
    action = bpy.data.actions.new(name)
    slot = compat.new_slot(action, owner)
    compat.assign(data, action, slot)
    return compat.curves(action, slot, ensure=True)


def _fill_linear(curve: FCurve, frames: np.ndarray, values: np.ndarray) -> None:
    points = curve.keyframe_points
    points.add(len(frames))
    points.foreach_set("co", np.column_stack([frames, values]).astype(np.float32).ravel())
    points.foreach_set("interpolation", np.full(len(frames), _LINEAR, dtype=np.uint8))
    curve.update()


def _material(item: Object, own: Curve) -> Material:
    """A copy of the muscle's material, to be keyed."""
    old = own.materials[0] if len(own.materials) else None
    if old is None:
        return muscles.material_of(item)
    copy = old.copy()
    copy.animation_data_clear()
    if copy.node_tree is not None:
        copy.node_tree.animation_data_clear()
    copy.name = f"{item.name} Condyle"
    return copy


def is_baked(item: Object) -> bool:
    """Whether a muscle shows a bake, and not one of its library."""
    return item.library is None and item.type == "CURVE" and item.condyle.muscle.own_curve is not None


def lost_hooks(item: Object) -> list[str]:
    """Names of a baked muscle's hooks of which it cannot be read whether they were to be seen."""
    shown = stored_texts.switches(item.data.get(HOOKS, ""))
    hooks = [modifier.name for modifier in item.modifiers if modifier.type == "HOOK"]
    return [name for name in hooks if shown is None or (name in shown and shown[name] is None)]


def free(scene: Scene) -> int:
    """Give every baked muscle of a scene its own curve back; returns how many."""
    baked = [item for item in scene.objects if is_baked(item)]
    for item in baked:
        settings = item.condyle.muscle
        made = item.data
        shown = stored_texts.switches(made.get(HOOKS, "")) or {}
        item.data = settings.own_curve
        settings.own_curve = None
        for modifier in item.modifiers:
            if modifier.type == "HOOK":
                modifier.show_viewport, modifier.show_render = shown.get(modifier.name) or (True, True)
        if made != item.data and made.users == 0:
            _remove(made)
    return len(baked)


def _remove(curve: Curve) -> None:
    """A baked curve with its shape keys, material and actions."""
    owners: list[Any] = [] if curve.shape_keys is None else [curve.shape_keys]
    materials = [material for material in curve.materials if material is not None]
    for material in materials:
        owners += [material, *([] if material.node_tree is None else [material.node_tree])]
    used = [owner.animation_data.action for owner in owners if owner.animation_data is not None]
    bpy.data.curves.remove(curve)
    for material in materials:
        if material.users == 0:
            bpy.data.materials.remove(material)
    for action in used:
        if action is not None and action.users == 0:
            bpy.data.actions.remove(action)
