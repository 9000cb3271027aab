"""What the tests of copied and shared rigs look at."""

import bpy
import numpy as np


def in_window():
    return bpy.context.temp_override(window=bpy.context.window_manager.windows[0])


def view(operator):
    """Run an operator as in a 3D view."""
    with in_window():
        area = next(each for each in bpy.context.screen.areas if each.type == "VIEW_3D")
        region = next(each for each in area.regions if each.type == "WINDOW")
        with bpy.context.temp_override(area=area, region=region):
            return operator()


def frames_of(joint):
    return [row.object for row in joint.condyle.joint.frames]


def joined(part, joint):
    """Names of a joint's parent and child."""
    resolve, settings = part("data.references").resolve, joint.condyle.joint
    return tuple(body and body.name for body in map(resolve, (settings.parent, settings.child)))


def moved_by(slider, child):
    """How far a slider moves a body."""
    bpy.context.view_layer.update()
    before = np.array(child.matrix_world)
    slider["coordinate"] = slider["coordinate"] + 0.3
    slider.update_tag()
    bpy.context.view_layer.update()
    return np.abs(np.array(child.matrix_world) - before).max()


def simulated(part, scene):
    bpy.context.view_layer.update()
    return [entry.name for entry in part("reading.scene").read(scene).bodies]
