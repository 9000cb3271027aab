"""Compiling ahead: while the user works, the compute process compiles what simulations of the scene will need.

It begins a moment after the panel was first drawn, never while the add-on is enabled, and not without a window. One
stage is asked for at a time, what the scene needs now first, and none while a fit, bake or run is under way. A stage
that the scene needs no longer (an import was undone) is given up, with the process that compiles it: nothing else can
end a compiler.
"""

import threading
import time
from types import ModuleType
from typing import Any

import bpy
from bpy.types import Object, Scene

from ..blender import attachments, compute_process, lazy, physics_access, redraw, session
from ..data import colliders, references, soft_bodies
from ..data.connection_kinds import KINDS
from ..data.connections import ConnectionProperties
from ..reading import looks, muscle_points

DELAY, INTERVAL = 1.0, 0.5  # seconds from the first look to the begin, and between two looks at how it goes
EQUALITIES = ("point", "hinge", "weld")
FORCES = ("spring", "ground", "bushing")  # connections that are no constraints; hard ground is one

_asked: set[str] = set()
_loading: threading.Thread | None = None
_job: Any = None
_stage = ""  # what the job compiles
_share = 0.0  # how much of what is wanted was done before it
_seen = 0.0  # when the panel was drawn last
_modules: tuple[ModuleType, ...] = ()
_over = False  # it failed: it is not tried again by itself


def note(*modules: ModuleType) -> None:
    """The panel is drawn: begin, with modules that its buttons use, or look whether the scene needs more."""
    global _seen, _modules
    _seen, _modules = time.monotonic(), modules
    if not (bpy.app.background or _over):
        attachments.soon(_tick, DELAY)


def line() -> str:
    """What is prepared now, for people; empty where nothing is, or a job says how far it is."""
    if _job is None or not _job.message or session.job is not None:
        return ""
    return f"Preparing: {_job.message.partition(' ')[2]} ({_share:.0%})"


def wanted(scene: Scene) -> list[str]:
    """Stages that a simulation of the scene needs, then the others that every user needs sooner or later."""
    first = needed(scene)
    return [*first, *(name for name in physics_access.part("worker.stage_names").USUAL if name not in first)]


def needed(scene: Scene) -> list[str]:
    """Stages that a simulation of the scene needs."""
    stages = physics_access.part("worker.stage_names")
    joints = references.joints_of(scene)
    links = [item.condyle.connection for item in references.connections_of(scene)]
    links = [each for each in links if _is_constraint(each)]
    kind = stages.TREE
    if (
        any(item.condyle.joint.hard_limits for item in joints)
        or any(each.kind not in EQUALITIES for each in links)
        or colliders.in_use(scene)
    ):
        kind = stages.ONE_SIDED
    elif links or any(map(_is_led, joints)):
        kind = stages.EQUALITIES
    muscled = any(item.condyle.muscle.active for item in muscle_points.muscles_of(scene))
    names: list[str] = stages.needed(scene.condyle.simulation.integrator, kind, muscled)
    alone = kind != stages.ONE_SIDED and not links and soft_bodies.in_use(scene)
    names = names[:1] if alone else names  # steps of soft bodies are compiled when they run
    if any(len(body.data.goals.rows) for body in references.bodies_of(scene)):
        names += [*stages.needed("sdirk2", kind, muscled), stages.GRADIENTS]
    return list(dict.fromkeys(names))


def _is_led(item: Object) -> bool:
    """Whether a joint, or its carrier, may follow its animation at some frame: playback must change nothing."""
    settings, carrier = item.condyle.joint, item.condyle.joint.parent.object
    while carrier is not None:
        if carrier.animation_data is not None:
            return True
        carrier = carrier.parent
    return settings.prescribed or looks.may_be_switched(item)


def _is_constraint(settings: ConnectionProperties) -> bool:
    if not settings.active or settings.kind not in KINDS:
        return False
    return settings.kind not in FORCES or (settings.kind == "ground" and settings.ground.contact == "RIGID")


def _load() -> None:
    """Import what fits and bakes need; it takes a quarter of a second that the window must not wait for."""
    physics_access.physics()
    for name in ("worker.client", "worker.requests", "worker.stage_names"):
        physics_access.part(name)
    for module in _modules:
        lazy.run(module)


def _tick() -> float | None:
    """A timer of Blender: takes in how it goes, and asks for what is still wanted."""
    global _job, _over, _loading, _stage, _share
    if _loading is None:
        _loading = threading.Thread(target=_load, name="condyle import", daemon=True)
        _loading.start()
    if _loading.is_alive():
        return INTERVAL
    scene = bpy.context.scene
    busy = session.job is not None or scene is None
    if _job is not None and not _job.poll():
        if not busy and _stage not in wanted(scene):
            _give_up()
        _redraw()
        return INTERVAL
    if _job is not None:
        _over = _job.state == "failed"
        _job = None
        _redraw()
    if _over or busy:
        return None if _over else INTERVAL
    all_of_them = wanted(scene)
    missing = [name for name in all_of_them if name not in _asked]
    if missing:
        _stage, _share = missing[0], 1.0 - len(missing) / len(all_of_them)
        _asked.add(_stage)
        _job = physics_access.part("worker.requests").warm_up(compute_process.client(), [_stage])
        return INTERVAL
    return INTERVAL if time.monotonic() - _seen < 10.0 * INTERVAL else None


def give_way() -> None:
    """A fit, bake or run begins: a stage that the scene does not need now is given up. Numba compiles one thing at a
    time and loads nothing meanwhile, and starting the process anew takes a second.
    """
    if _job is not None and not _job.poll() and _stage not in needed(bpy.context.scene):
        _give_up()


def _give_up() -> None:
    """End the compute process in the middle of a stage; what was compiled before comes out of the cache again."""
    global _job
    compute_process.close(timeout=0.0)
    _job = None
    _asked.clear()


def _redraw() -> None:
    redraw.sidebars()
    if session.job is None:
        for workspace in bpy.data.workspaces:
            workspace.status_text_set(None)  # nothing to say, but the status bar is drawn again


def stop() -> None:
    """Compile no more."""
    global _job, _over
    if bpy.app.timers.is_registered(_tick):
        bpy.app.timers.unregister(_tick)
    _job, _over = None, False
    _asked.clear()
