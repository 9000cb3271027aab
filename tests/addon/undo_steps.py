"""Operators run, undone and redone, and what differs then."""

import bpy

from .digests import differences, digest


def refused_in_edit_mode(name):
    """Whether an operator is refused while the active object, or where it has no such mode the shank, is edited."""
    layer = bpy.context.view_layer
    chosen, active = [item for item in layer.objects if item.select_get()], layer.objects.active
    if active is None or active.type == "EMPTY":
        layer.objects.active = next(item for item in layer.objects if item.name.startswith("Shank"))
    mode = layer.objects.active.mode
    bpy.ops.object.mode_set(mode="EDIT")
    refused = not getattr(bpy.ops.condyle, name).poll()
    bpy.ops.object.mode_set(mode=mode)
    for item in layer.objects:
        item.select_set(item in chosen)
    layer.objects.active = active
    return refused


def chained(steps, strict=True):
    """Run operators one after the other, then undo them all and redo them all.

    Args:
        steps: (name, recipe) of each.
        strict: whether each must run and change something; else one that is refused is left out.

    Returns:
        What differs at each place of the chain, there and back, as (name, differences).
    """
    with bpy.context.temp_override(window=bpy.context.window_manager.windows[0]):
        bpy.ops.ed.undo_push(message="before")
        stages, done, found = [digest_in_time()], [], []
        for name, prepare in steps:
            ended: set[str] = set()
            try:
                ended = getattr(bpy.ops.condyle, name)("EXEC_DEFAULT", True, **prepare())
            except (RuntimeError, KeyError, IndexError, AttributeError) as error:  # its recipe finds nothing
                assert not strict and "Traceback" not in str(error), name
            if ended != {"FINISHED"}:
                assert not strict, name
                # Blender crashes where an undo skips a change
                bpy.ops.ed.undo_push(message=f"Prepare {name}")
            stages.append(digest_in_time())
            done.append(name)
        assert not strict or all(map(differences, stages, stages[1:])), "a step changed nothing"
        for name, stage in reversed([*zip(done, stages)]):
            bpy.ops.ed.undo()
            found.append((f"undo {name}", differences(stage, digest_in_time())))
        for name, stage in zip(done, stages[1:]):
            bpy.ops.ed.redo()
            found.append((f"redo {name}", differences(stage, digest_in_time())))
    return [(step, lines) for step, lines in found if lines]


def digest_in_time():
    """The digest with animation evaluated, as an undo evaluates it: what is keyed is where its keys say."""
    bpy.context.scene.frame_set(bpy.context.scene.frame_current)
    return digest()


def undone_and_redone(name, options):
    """Run an operator as from a button, with its own step of undo; what differs after it, after undo, after redo."""
    with bpy.context.temp_override(window=bpy.context.window_manager.windows[0]):
        bpy.ops.ed.undo_push(message="before")
        before = digest()
        assert getattr(bpy.ops.condyle, name)("EXEC_DEFAULT", True, **options) == {"FINISHED"}
        after = digest()
        bpy.ops.ed.undo()
        undone = digest()
        bpy.ops.ed.redo()
        return differences(before, after), differences(before, undone), differences(after, digest())
