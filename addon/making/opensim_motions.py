"""Coordinates of an OpenSim model that functions of time prescribe: animated joints on keyed sliders."""

from dataclasses import replace
from typing import Any

import numpy as np
from bpy.types import Object

from ..blender import compat, units
from ..curves import fcurve_arrays
from ..curves.slopes import Slopes
from ..data import findings
from ..data.joints import slider_names
from ..sliders import sliders
from .opensim_state import Imported, Standing


def add(standing: Standing, made: Imported) -> None:
    """Key the sliders of joints of which all coordinates are prescribed or held; others stay free, with a warning."""
    functions = {
        each.coordinate: each.prescribed for each in standing.read.coordinates.values() if each.prescribed
    }
    for body in standing.model.bodies:
        own = [functions.get(f"{body.name}.{name}") for name in body.joint.coordinate_names]
        if not any(own):
            continue
        item = made.joints[body.name]
        if all(each or is_held for each, is_held in zip(own, body.held)):
            _key(standing, item, own)
            first, last = standing.scene.frame_start, standing.scene.frame_end
            told = findings.about(item, "import-prescribed", name=item.name, first=first, last=last)
            made.warnings.append(replace(told, is_hint=True))
        else:
            made.warnings.append(findings.about(item, "import-prescribed-free", name=item.name))


def _key(standing: Standing, item: Object, functions: list[Any]) -> None:
    """Animate a joint, from the scene's first frame to its last; None: it keeps its start."""
    scene, settings = standing.scene, item.condyle.joint
    frames = np.arange(scene.frame_start, scene.frame_end + 1.0)
    times = units.frame_times(frames, scene)
    for row, function in zip(settings.coordinates, functions):
        if function:
            row.limits = "NONE"  # what is prescribed knows no range
    sliders.set_driven(scene, item, True)
    settings.prescribed = True
    for name, row, function in zip(slider_names(settings), settings.coordinates, functions):
        if not function:
            continue
        found = function.derivatives(times)[:, :2] / (units.length_scale(scene) if row.unit == "m" else 1.0)
        rates = Slopes.smooth(found[:, 1:] / units.frames_per_second(scene))
        path = f'["{name}"]'
        item.keyframe_insert(path, frame=frames[0], group="Condyle")
        curve = next(each for each in compat.curves_in_use(item) if each.data_path == path)
        (keys,) = fcurve_arrays.made(frames, found[:, :1], rates)
        compat.give(curve, keys)
        curve.update()
        item[name] = float(found[0, 0])
