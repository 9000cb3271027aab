"""Every class of the add-on, in the order in which Blender wants them."""

from typing import Any

import bpy

from . import (
    copies,
    findings_undone,
    jobs,
    linked,
    live,
    live_watch,
    migrations,
    properties,
    session,
    stale_watch,
    target_watch,
    warming,
    worker_client,
)
from .features import common
from .features.bodies import operators as body_operators
from .features.bodies import panels as body_panels
from .features.bodies import properties as body_properties
from .features.checks import operators as check_operators
from .features.checks import panels as check_panels
from .features.compiling import panels as compiling_panels
from .features.connections import operators as connection_operators
from .features.connections import panels as connection_panels
from .features.connections import properties as connection_properties
from .features.driving import drag
from .features.driving import operators as driving_operators
from .features.driving import panels as driving_panels
from .features.driving import properties as driving_properties
from .features.fitting import operators as fitting_operators
from .features.fitting import panels as fitting_panels
from .features.fitting import pose_operators
from .features.fitting import properties as fitting_properties
from .features.frames import (
    curve_operators,
    grid_operators,
    grid_panels,
    layer_operators,
    mirror_operators,
    scrub,
)
from .features.frames import operators as frame_operators
from .features.frames import panels as frame_panels
from .features.joints import control
from .features.joints import operators as joint_operators
from .features.joints import panels as joint_panels
from .features.joints import properties as joint_properties
from .features.joints import rest as joint_rest
from .features.live import operators as live_operators
from .features.live import panels as live_panels
from .features.live import properties as live_properties
from .features.muscles import import_operators, obstacle_properties
from .features.muscles import operators as muscle_operators
from .features.muscles import panels as muscle_panels
from .features.muscles import properties as muscle_properties
from .features.overlay import drawing
from .features.overlay import panels as overlay_panels
from .features.overlay import properties as overlay_properties
from .features.simulation import operators as simulation_operators
from .features.simulation import output as simulation_output
from .features.simulation import panels as simulation_panels
from .features.simulation import properties as simulation_properties
from .features.starting import panels as starting_panels
from .features.starting import properties as starting_properties
from .features.welcome import operators as welcome_operators
from .features.welcome import panels as welcome_panels

MODULES = (
    common,
    body_properties,
    fitting_properties,
    control,
    joint_properties,
    joint_rest,
    connection_properties,
    obstacle_properties,
    muscle_properties,
    simulation_output,
    simulation_properties,
    starting_properties,
    driving_properties,
    overlay_properties,
    live_properties,
    properties,
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
    from . import cli

    return cli.main(arguments, "blender --command condyle")


def register() -> None:
    """Add everything to Blender."""
    global _command
    for each in CLASSES:
        bpy.utils.register_class(common.forgetting(each) if issubclass(each, bpy.types.Operator) else each)
    properties.attach()
    live_properties.attach()
    bpy.app.handlers.load_pre.append(migrations.before_load)
    bpy.app.handlers.load_post.append(migrations.on_load)
    for handlers in (bpy.app.handlers.undo_pre, bpy.app.handlers.redo_pre):
        handlers.append(findings_undone.before)
    for handlers in (bpy.app.handlers.undo_post, bpy.app.handlers.redo_post):
        handlers.append(migrations.on_undo)
    bpy.types.TOPBAR_MT_file_import.append(import_operators.draw_in_menu)
    drawing.start()
    live.start()
    target_watch.start()
    copies.start()
    linked.start()
    live_watch.start()
    warming.start()
    stale_watch.start()
    if hasattr(bpy.data, "objects"):  # not while Blender starts; a file loaded later is told to the handler
        migrations.on_load()
    _command = bpy.utils.register_cli_command("condyle", run_command)


def unregister() -> None:
    """Take everything away again, the compute process too."""
    jobs.end()
    bpy.utils.unregister_cli_command(_command)
    worker_client.close()
    stale_watch.stop()
    warming.stop()
    live_watch.stop()
    linked.stop()
    copies.stop()
    live.stop()
    target_watch.stop()
    drawing.stop()
    bpy.types.TOPBAR_MT_file_import.remove(import_operators.draw_in_menu)
    bpy.app.handlers.load_pre.remove(migrations.before_load)
    bpy.app.handlers.load_post.remove(migrations.on_load)
    for handlers in (bpy.app.handlers.undo_pre, bpy.app.handlers.redo_pre):
        handlers.remove(findings_undone.before)
    for handlers in (bpy.app.handlers.undo_post, bpy.app.handlers.redo_post):
        handlers.remove(migrations.on_undo)
    live_properties.detach()
    properties.detach()
    for each in reversed(CLASSES):
        bpy.utils.unregister_class(each)
    session.tell("")
