"""Every class of the add-on, in the order in which Blender wants them."""

from typing import Any

import bpy

from .blender import compute_process, session
from .data import (
    bake_output,
    bodies,
    connections,
    driving,
    fitting,
    joint_control,
    joint_rest,
    joints,
    live,
    muscles,
    obstacles,
    overlay,
    property_options,
    roots,
    simulation,
    starting,
)
from .handlers import (
    control_frames,
    file_load,
    library_overrides,
    live_run,
    staleness,
    targets,
    undone_findings,
)
from .jobs import operator, precompile
from .making import duplicates
from .ui.bodies import operators as body_operators
from .ui.bodies import panels as body_panels
from .ui.checks import operators as check_operators
from .ui.checks import panels as check_panels
from .ui.compiling import panels as compiling_panels
from .ui.connections import operators as connection_operators
from .ui.connections import panels as connection_panels
from .ui.driving import drag
from .ui.driving import operators as driving_operators
from .ui.driving import panels as driving_panels
from .ui.fitting import operators as fitting_operators
from .ui.fitting import panels as fitting_panels
from .ui.fitting import pose_operators
from .ui.frames import curve_operators, grid_operators, grid_panels, layer_operators, mirror_operators, scrub
from .ui.frames import operators as frame_operators
from .ui.frames import panels as frame_panels
from .ui.joints import operators as joint_operators
from .ui.joints import panels as joint_panels
from .ui.live import operators as live_operators
from .ui.live import panels as live_panels
from .ui.muscles import import_operators
from .ui.muscles import operators as muscle_operators
from .ui.muscles import panels as muscle_panels
from .ui.overlay import drawing
from .ui.overlay import panels as overlay_panels
from .ui.simulation import operators as simulation_operators
from .ui.simulation import panels as simulation_panels
from .ui.starting import panels as starting_panels
from .ui.welcome import operators as welcome_operators
from .ui.welcome import panels as welcome_panels

MODULES = (
    property_options,
    bodies,
    fitting,
    joint_control,
    joints,
    joint_rest,
    connections,
    obstacles,
    muscles,
    bake_output,
    simulation,
    starting,
    driving,
    overlay,
    live,
    roots,
    body_operators,
    joint_operators,
    connection_operators,
    muscle_operators,
    frame_operators,
    curve_operators,
    scrub,
    mirror_operators,
    grid_operators,
    layer_operators,
    fitting_operators,
    pose_operators,
    simulation_operators,
    check_operators,
    welcome_operators,
    welcome_panels,
    drag,
    driving_operators,
    live_operators,
    simulation_panels,
    live_panels,
    check_panels,
    compiling_panels,
    starting_panels,
    body_panels,
    joint_panels,
    frame_panels,
    grid_panels,
    fitting_panels,
    driving_panels,
    connection_panels,
    muscle_panels,
    import_operators,
    overlay_panels,
)
CLASSES = tuple(each for module in MODULES for each in module.classes)


_command: Any = None


def run_command(arguments: list[str]) -> int:
    """``blender --command condyle ...``."""
    from .batch import command_line

    return command_line.main(arguments, "blender --command condyle")


def register() -> None:
    """Add everything to Blender."""
    global _command
    for each in CLASSES:
        bpy.utils.register_class(
            property_options.forgetting(each) if issubclass(each, bpy.types.Operator) else each
        )
    roots.attach()
    live.attach()
    bpy.app.handlers.load_pre.append(file_load.before_load)
    bpy.app.handlers.load_post.append(file_load.on_load)
    for handlers in (bpy.app.handlers.undo_pre, bpy.app.handlers.redo_pre):
        handlers.append(undone_findings.before)
    for handlers in (bpy.app.handlers.undo_post, bpy.app.handlers.redo_post):
        handlers.append(file_load.on_undo)
    bpy.types.TOPBAR_MT_file_import.append(import_operators.draw_in_menu)
    drawing.start()
    control_frames.start()
    targets.start()
    duplicates.start()
    library_overrides.start()
    live_run.start()
    precompile.start()
    staleness.start()
    if hasattr(bpy.data, "objects"):  # not while Blender starts; a file loaded later is told to the handler
        file_load.on_load()
    _command = bpy.utils.register_cli_command("condyle", run_command)


def unregister() -> None:
    """Take everything away again, the compute process too."""
    operator.end()
    bpy.utils.unregister_cli_command(_command)
    compute_process.close()
    staleness.stop()
    precompile.stop()
    live_run.stop()
    library_overrides.stop()
    duplicates.stop()
    control_frames.stop()
    targets.stop()
    drawing.stop()
    bpy.types.TOPBAR_MT_file_import.remove(import_operators.draw_in_menu)
    bpy.app.handlers.load_pre.remove(file_load.before_load)
    bpy.app.handlers.load_post.remove(file_load.on_load)
    for handlers in (bpy.app.handlers.undo_pre, bpy.app.handlers.redo_pre):
        handlers.remove(undone_findings.before)
    for handlers in (bpy.app.handlers.undo_post, bpy.app.handlers.redo_post):
        handlers.remove(file_load.on_undo)
    live.detach()
    roots.detach()
    for each in reversed(CLASSES):
        bpy.utils.unregister_class(each)
    session.tell("")
