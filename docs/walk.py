"""The walk through a windowed Blender that pictures.py starts: what the pages tell, done, checked and drawn.

Each walk is a generator; between two yields (seconds) Blender draws and takes what the compute process answers.
"""

from __future__ import annotations

import importlib
import itertools
import json
import os
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy
from mathutils import Vector

MODULE = "bl_ext.user_default.condyle"
TICK = 0.05  # seconds between two looks at the compute process
LONGEST = 1500.0  # seconds that a fit or a bake may take, compiling included
VIRTUAL = "CONDYLE_VIRTUAL_SCREEN" in os.environ
SMALLER = ("+dither", "-colors", "96", "-strip")
Walk = Iterator[float]


class Stage:
    """Hands and eyes of a walk: pictures into a folder, facts, the 3D view's context."""

    def __init__(self, out: Path, folder: Path, pause: float = 1.5) -> None:
        self.out, self.folder, self.pause = out, folder, pause
        self.facts: dict[str, Any] = {}

    @property
    def window(self) -> Any:
        return bpy.context.window_manager.windows[0]

    @property
    def area(self) -> Any:
        return next(area for area in self.window.screen.areas if area.type == "VIEW_3D")

    def override(self) -> Any:
        """Context as if the mouse were over the 3D view."""
        region = next(region for region in self.area.regions if region.type == "WINDOW")
        return bpy.context.temp_override(window=self.window, area=self.area, region=region)

    def do(self, name: str, **options: Any) -> None:
        """Press a button: an operator as a user starts it, with its undo step."""
        group, _, short = name.partition(".")
        with self.override():
            getattr(getattr(bpy.ops, group), short)("INVOKE_DEFAULT", True, **options)

    def show_tab(self) -> Walk:
        """Open the sidebar at the tab Condyle."""
        self.area.spaces.active.show_region_ui = True
        region = next(region for region in self.area.regions if region.type == "UI")
        for _ in range(20):
            self.area.tag_redraw()
            yield 0.2
            try:
                region.active_panel_category = "Condyle"
            except (AttributeError, TypeError):
                continue
            if region.active_panel_category == "Condyle":
                break

    def picture(self, name: str) -> Walk:
        """The 3D view with its sidebar, as it is drawn next.

        Blender cannot read back what it draws on a virtual screen; there ImageMagick takes the picture.
        """
        for _ in range(4):  # panels that open or close move for a while
            self.area.tag_redraw()
            yield 0.25 * self.pause
        path, area = str(self.out / f"{name}.png"), self.area
        if VIRTUAL:
            top = self.window.height - area.y - area.height
            part = f"{area.width}x{area.height}+{area.x}+{top}"
            grab = ["import", "-window", "root", "-crop", part, "+repage", *SMALLER, f"PNG8:{path}"]
            subprocess.run(grab, check=True)
        else:
            with self.override():
                bpy.ops.screen.screenshot_area(filepath=path)
        yield 0.1

    def computed(self) -> Walk:
        """Wait for a fit or a bake."""
        session = importlib.import_module(f"{MODULE}.blender.session")
        until = time.monotonic() + LONGEST
        yield TICK
        while session.job is not None:
            check(time.monotonic() < until, f"{session.job.title} took more than {LONGEST:g} s")
            yield TICK
        check(session.message_icon != "ERROR", session.message)

    def look(self) -> Walk:
        """Let the view show what is selected."""
        with self.override():
            bpy.ops.view3d.view_selected()
        yield self.pause


def check(right: bool, what: str) -> None:
    """End the walk with a reason where something is not as it should be."""
    if not right:
        raise RuntimeError(what)


def joint() -> Any:
    """The joint of the demo, or the only one."""
    return next(
        item for item in bpy.context.scene.objects if item.type == "EMPTY" and item.condyle.joint.enabled
    )


def install(stage: Stage, archive: str) -> Walk:
    """Install from disk, as Preferences > Get Extensions does."""
    bpy.ops.extensions.package_install_files(
        filepath=archive, repo="user_default", enable_on_install=True, overwrite=True
    )
    yield TICK
    check(MODULE in sys.modules, "the extension was not enabled")


def to_first_bake(stage: Stage, archive: str, name: str) -> Walk:
    """From the zip to the first bake without a pause; the seconds go into the facts."""
    marks = [time.monotonic()]
    yield from install(stage, archive)
    for step in ("demo_knee", "fit", "bake"):
        marks.append(time.monotonic())
        stage.do(f"condyle.{step}")
        yield from stage.computed()
    marks.append(time.monotonic())
    parts = [f"{b - a:.1f}" for a, b in itertools.pairwise(marks)]
    whole = marks[-1] - marks[0]
    stage.facts[name] = f"{whole:.1f} s (install, demo, fit, bake: {', '.join(parts)})"
    check(shin().animation_data.action.name != "Tibia keyed", "nothing was baked")


def start_again(stage: Stage, close: bool = False) -> Walk:
    """Take everything away; with `close` end the compute process, too."""
    if close:
        importlib.import_module(f"{MODULE}.blender.compute_process").close()
    for collection in (
        bpy.data.objects,
        bpy.data.meshes,
        bpy.data.curves,
        bpy.data.actions,
        bpy.data.materials,
    ):
        bpy.data.batch_remove(list(collection))
    bpy.data.batch_remove(list(bpy.data.collections))
    importlib.import_module(f"{MODULE}.blender.session").tell("")  # what it says is about what is gone
    with stage.override():
        bpy.ops.ed.undo_push(message="Start again")
    yield stage.pause


def shin() -> Any:
    return bpy.data.objects["Tibia"]


def shown(*frames: int) -> list[list[float]]:
    """Where the shin is shown at frames."""
    scene, found = bpy.context.scene, []
    before = scene.frame_current
    for frame in frames:
        scene.frame_set(frame)
        found.append([round(value, 6) for row in shin().matrix_world for value in row])
    scene.frame_set(before)
    return found


FRAMES = (1, 9, 20, 33, 47)


def tour(stage: Stage) -> Walk:
    """Demo knee, fit, a frame moved, fit again, scrub, bake, undo, redo, save, reopen, free bake."""
    yield from stage.show_tab()
    yield from stage.picture("begin")
    stage.do("condyle.demo_knee")
    yield stage.pause
    yield from stage.picture("demo-knee")
    keyed = shown(*FRAMES)
    stage.do("condyle.fit")
    yield from stage.computed()
    check(joint().condyle.joint.fit.worst_distance < 0.01, "the fit misses its keys")
    yield from stage.picture("fit")
    yield from move_a_frame(stage)
    stage.do("condyle.fit")
    yield from stage.computed()
    check(joint().condyle.joint.fit.worst_distance < 0.01, "the second fit misses its keys")
    for value in (0.3, 0.6, 0.9, 1.2, 1.5):
        joint()["coordinate"] = value
        joint().update_tag()
        yield TICK
    yield from stage.picture("scrub")
    with stage.override():
        bpy.ops.ed.undo_push(message="Slider")
    before = shown(*FRAMES)
    yield from bake_undo_redo(stage, before)
    yield from reopen(stage, before, keyed)


def move_a_frame(stage: Stage) -> Walk:
    """A control frame is an Empty: select it, G; the curve, the slider and the shin follow."""
    empty = joint().condyle.joint.frames[2].object
    for item in bpy.context.selected_objects:
        item.select_set(False)
    empty.select_set(True)
    bpy.context.view_layer.objects.active = empty
    joint()["coordinate"] = 1.1
    joint().update_tag()
    yield stage.pause
    with stage.override():
        bpy.ops.transform.translate("EXEC_DEFAULT", True, value=(0.0, 0.0, 0.04))
    yield stage.pause
    yield from stage.picture("control-frame")
    item = joint()
    empty.select_set(False)
    item.select_set(True)
    bpy.context.view_layer.objects.active = item


def bake_undo_redo(stage: Stage, before: Any) -> Walk:
    """Bake; undo shows what was, redo the bake again."""
    stage.do("condyle.bake")
    yield from stage.computed()
    baked = shown(*FRAMES)
    check(baked != before, "the bake shows nothing new")
    bpy.context.scene.frame_set(10)
    yield from stage.picture("bake")
    with stage.override():
        bpy.ops.ed.undo()
    yield stage.pause
    check(shown(*FRAMES) == before, "undo does not bring back what was before the bake")
    with stage.override():
        bpy.ops.ed.redo()
    yield stage.pause
    check(shown(*FRAMES) == baked, "redo does not bring back the bake")
    stage.facts["undo, redo"] = "the shown poses come back exactly"


def reopen(stage: Stage, before: Any, keyed: Any) -> Walk:
    """Save, reopen, free the bake; without the slider the shin moves as it was keyed."""
    baked = shown(*FRAMES)
    path = str(stage.folder / "tour.blend")
    with stage.override():
        bpy.ops.wm.save_as_mainfile(filepath=path)
    yield stage.pause
    with stage.override():
        bpy.ops.wm.open_mainfile(filepath=path)
    yield 2.0
    check(shown(*FRAMES) == baked, "the reopened file shows another motion")
    stage.do("condyle.free_bake")
    yield stage.pause
    check(shown(*FRAMES) == before, "Free Bake does not bring back what was")
    yield from stage.show_tab()
    yield from stage.picture("free-bake")
    stage.do("condyle.stop_driving")
    yield stage.pause
    check(shown(*FRAMES) == keyed, "the keys of the demo are not what they were")
    stage.facts["save, reopen, free bake"] = "the shown poses come back exactly"


def presets(stage: Stage) -> Walk:
    """Pictures of joints from presets, each with bodies of its own."""
    for name, share in (
        ("knee", 0.5),
        ("bead", 0.4),
        ("shoulder", 0.6),
        ("hip", 0.6),
        ("jaw", 0.8),
        ("thumb", 0.5),
    ):
        yield from start_again(stage)
        stage.do("condyle.add_preset", preset=name)
        yield stage.pause
        item = joint()
        slider = sorted(key for key in list(item.keys()) if key.startswith("coordinate"))[0]
        ends = item.id_properties_ui(slider).as_dict()
        item[slider] = ends["min"] + share * (ends["max"] - ends["min"])
        item.update_tag()
        view = stage.area.spaces.active.region_3d
        before = view.view_rotation.copy()
        if name == "shoulder":  # from behind, where the blade is
            view.view_rotation = Vector((-1.0, 1.2, 0.6)).to_track_quat("Z", "Y")
        yield from stage.picture(f"preset-{name}")
        view.view_rotation = before


def muscle(stage: Stage) -> Walk:
    """An elbow with a muscle over it, baked."""
    yield from start_again(stage)
    stage.do("condyle.add_preset", preset="elbow")
    yield stage.pause
    line = bpy.data.curves.new("Biceps", "CURVE")
    line.dimensions = "3D"
    line.splines.new("POLY").points.add(1)
    for point, place in zip(line.splines[0].points, ((0.0, -0.045, 0.2, 1.0), (0.0, -0.1, -0.03, 1.0))):
        point.co = place
    biceps = bpy.data.objects.new("Biceps", line)
    bpy.context.scene.collection.objects.link(biceps)
    for item in bpy.context.selected_objects:
        item.select_set(False)
    for item in (bpy.data.objects["Upper Arm"], bpy.data.objects["Forearm"], biceps):
        item.select_set(True)
    bpy.context.view_layer.objects.active = biceps
    stage.do("condyle.add_muscle")
    yield stage.pause
    made = bpy.context.active_object
    check(made is not None and made.condyle.muscle.enabled, "no muscle was added")
    yield from stage.picture("muscle")


class Runner:
    """Walks in a timer that outlives the loading of a file; ends Blender with 0, or with 1 after an error."""

    def __init__(self, walk: Walk, stage: Stage) -> None:
        self.walk, self.stage = walk, stage

    def tick(self) -> float | None:
        try:
            return next(self.walk)
        except StopIteration:
            facts = {"Blender": bpy.app.version_string, **self.stage.facts}
            (self.stage.folder / "facts.json").write_text(json.dumps(facts, indent=1), "utf-8")
            code = 0
        except BaseException:
            traceback.print_exc()
            code = 1
        sys.stdout.flush()
        os._exit(code)


def everything(stage: Stage, archive: str) -> Walk:
    """The whole of it, in order."""
    yield 1.0
    yield from to_first_bake(stage, archive, "first bake, nothing compiled")
    yield from start_again(stage, close=True)
    yield from to_first_bake(stage, archive, "first bake, compiled before")
    yield from start_again(stage)
    yield from tour(stage)
    yield from presets(stage)
    yield from muscle(stage)


if __name__ == "__main__":
    zip_file, out, work = sys.argv[sys.argv.index("--") + 1 :]
    bpy.context.preferences.view.show_splash = False
    theatre = Stage(Path(out), Path(work))
    runner = Runner(everything(theatre, zip_file), theatre)
    bpy.app.timers.register(runner.tick, first_interval=1.0, persistent=True)
