"""Selected objects, and the reasons that disabled buttons give."""

import bpy
import pytest


def select(*items):
    """Select these objects alone, or none; the last one is active."""
    for item in bpy.context.view_layer.objects:
        item.select_set(item in items)
    bpy.context.view_layer.objects.active = items[-1] if items else None


def why_not(name):
    """Why an operator cannot run: the message of its poll, from the error that Blender raises."""
    with pytest.raises(RuntimeError) as caught:
        getattr(bpy.ops.condyle, name)()
    return str(caught.value)
