"""Common parts of simulated scenes: a bake compared with the poses that Blender shows, a contact sheet, a command."""

import argparse
import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import bpy
import numpy as np

import addon
from addon.jobs import bake
from physics import CondyleError
from physics._typing import FloatArray
from physics.reporting import Reporter

from . import SceneError
from .keys import SHOWN_WITHIN, shown_error
from .picture import Image, Label, Shot, film, prepare_render, render, sheet, silence, write_image
from .process import leave

Progress = Callable[[float, str], None]  # share done, text

README_PICTURES = Path(__file__).parent / "pictures"
TILES = 6
HERO_PIXELS, TILE_PIXELS = (560, 800), (360, 264)


class Stages:
    """Stages reported on a terminal, with the seconds that each took."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._reporter = Reporter()

    @contextlib.contextmanager
    def stage(self, name: str) -> Iterator[Progress]:
        """Context of a stage; yields a function of the share that is done and a line of text."""
        began = time.perf_counter()
        self._reporter.start(name)
        self._reporter.progress(0.0, "begun")
        yield self._reporter.progress
        self.seconds[name] = time.perf_counter() - began
        self._reporter.done()


@contextlib.contextmanager
def registered_addon() -> Iterator[None]:
    """Context in which the add-on is registered."""
    present = hasattr(bpy.types.Scene, "condyle")
    if not present:
        addon.register()
    try:
        yield
    finally:
        if not present:
            addon.unregister()


def new_file(
    name: str, collections: Sequence[str], frames: int = 250
) -> tuple[bpy.types.Scene, list[bpy.types.Collection]]:
    """An empty file in metres at 24 frames a second, with these collections and this number of frames."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene = bpy.context.scene
    scene.name = name
    scene.frame_start, scene.frame_end = 1, frames
    scene.render.fps, scene.render.fps_base = 24, 1.0
    scene.unit_settings.system, scene.unit_settings.length_unit = "METRIC", "METERS"
    prepare_render(scene)
    made = [bpy.data.collections.new(title) for title in collections]
    for collection in made:
        scene.collection.children.link(collection)
    return scene, made


def set_simulation(scene: bpy.types.Scene, seconds: float, time_step: float) -> None:
    """Set the simulation to this number of seconds from frame 1 on, at the scene's frame rate."""
    simulation = scene.condyle.simulation
    simulation.time_step, simulation.use_scene_range = time_step, False
    simulation.frame_start = 1
    simulation.frame_end = 1 + round(seconds * scene.render.fps / scene.render.fps_base)


def save(path: Path) -> Path:
    """Write the .blend under a temporary name, then rename it."""
    temporary = path.with_name(f".{path.stem}.part.blend")
    with silence():
        bpy.ops.wm.save_as_mainfile(filepath=str(temporary), copy=True, compress=True)
    os.replace(temporary, path)
    return path


def object_pose(made: bpy.types.Object) -> FloatArray:
    """World matrix (4, 4) of an object at the current frame."""
    return np.array(made.matrix_world, dtype=np.float64)


def energy_drift(
    scene: bpy.types.Scene, joints: Sequence[bpy.types.Object], progress: Progress | None = None
) -> float:
    """Largest change of the total energy without damping, over the largest kinetic energy; Runge-Kutta 4."""

    rows = [row for joint in joints for row in joint.condyle.joint.coordinates]
    dampings = [row.damping for row in rows]
    integrator = scene.condyle.simulation.integrator
    scene.condyle.simulation.integrator = "rk4"
    for row in rows:
        row.damping = 0.0
    energy = bake.bake_now(scene, progress).energy
    bake.free_bake(scene)
    scene.condyle.simulation.integrator = integrator
    for row, damping in zip(rows, dampings):
        row.damping = damping
    return float(np.abs(energy[:, 2] - energy[0, 2]).max() / energy[:, 0].max())


def bake_shown(scene: bpy.types.Scene, progress: Progress) -> tuple[Any, float]:
    """Simulate and bake; returns the report, and the largest difference of the shown poses from the simulation.

    Sets the scene's frame range to that of the bake. Raises SceneError if the difference is more than round-off.
    """

    report = bake.bake_now(scene, progress)
    scene.frame_start, scene.frame_end = int(report.frames[0]), int(report.frames[-1])
    error = check_shown(scene, report.frames, report.poses)
    scene.frame_set(scene.frame_start)
    return report, error


def check_shown(
    scene: bpy.types.Scene, frames: Sequence[int] | FloatArray, poses: Mapping[str, FloatArray]
) -> float:
    """`shown_error`; raises SceneError if it is more than round-off."""
    return check(
        "the error of the poses that Blender shows", shown_error(scene, frames, poses), 0.0, SHOWN_WITHIN
    )


def check(what: str, value: float, low: float, high: float, unit: str = "") -> float:
    """Return the value; raises SceneError if it is not within its bounds."""
    if not low <= value <= high:
        unit = f" {unit}" if unit else ""
        raise SceneError(f"{what} is {value:.4g}{unit}, not within {low:.4g} to {high:.4g}{unit}")
    return value


def contact_sheet(
    scene: bpy.types.Scene,
    hero: Shot,
    tile: Shot | Sequence[Shot],
    captions: Sequence[tuple[int, Sequence[str]]],
    lines: Sequence[str],
    progress: Progress,
    samples: int = 8,
    top: float = 0.945,
) -> Image:
    """`hero` large with `lines` of text, and `tile` (one for all, or one each) at the frame of each caption.

    `top` is the height of the first line as a share.
    """
    prepare_render(scene, samples)
    heads = [Label(lines[0], (0.05, top), 0.034)]
    heads += [Label(line, (0.05, top - 0.04 - 0.033 * row), 0.023) for row, line in enumerate(lines[1:])]
    progress(0.0, "drawing the large picture")
    large = render(scene, replace(hero, pixels=HERO_PIXELS, labels=heads))
    small: list[Image] = []
    tiles = [tile] * len(captions) if isinstance(tile, Shot) else tile
    for shot, (frame, texts) in zip(tiles, captions, strict=True):
        # the large picture takes as long as three
        progress((len(small) + 3.0) / (len(captions) + 3.0), f"drawing {texts[0]}")
        rows = [
            Label(text, (0.045, 0.05 + 0.09 * up), 0.062) for up, text in enumerate(reversed(list(texts)))
        ]
        small.append(render(scene, replace(shot, frame=frame, pixels=TILE_PIXELS, labels=rows)))
    return sheet(large, small, columns=2, shade=0.07)


class Made(SimpleNamespace):
    """What a scene's `make` hands to the other steps of its recipe: the scene, and objects and collections of it."""


@dataclass(frozen=True)
class Recipe:
    """How a scene is made.

    Attributes:
        name: of the .blend and the picture.
        make: builds the file, ready to bake; its result is passed to the others.
        measure: bakes, and raises SceneError if a figure is out of its bounds; returns the bake and the figures to
            print, name -> text.
        draw: the contact sheet. film: what a film shows, frame by frame; empty: the scene has none.
    """

    name: str
    make: Callable[[], Any]
    measure: Callable[[Any, Progress], tuple[Any, Mapping[str, str]]]
    draw: Callable[[Any, Any, Progress], Image]
    film: Sequence[Shot] = ()

    def build(self, out: Path, readme: bool = False, filmed: bool = False) -> Path:
        """Build, simulate, bake, check, draw and save the scene into the folder `out`; returns the path of its .blend.

        With `readme` the picture in the README is renewed as well; with `filmed` the film is made. Raises SceneError.
        """
        stages = Stages()
        out.mkdir(parents=True, exist_ok=True)
        with registered_addon():
            with stages.stage("build"):
                made = self.make()
            with stages.stage("simulate and bake") as progress:
                baked, figures = self.measure(made, progress)
            with stages.stage("pictures") as progress:
                picture = self.draw(made, baked, progress)
                for folder in (out, *([README_PICTURES] if readme else [])):
                    write_image(picture, folder / f"{self.name}.png")
            path = save(out / f"{self.name}.blend")
            if filmed and self.film:
                with stages.stage("film"):
                    film(bpy.context.scene, self.film, out / f"{self.name}.mp4")
        seconds = ", ".join(f"{stage} {value:.1f}" for stage, value in stages.seconds.items())
        for name, text in {**figures, "seconds": seconds}.items():
            print(f"  {name:36} {text}")
        return path

    def main(self, description: str) -> NoReturn:
        """``python -m blender_scenes.NAME --out out``: write NAME.blend and NAME.png there, if every check holds.

        Exit code: 0 done, 1 a check failed, 2 usage.
        """
        parser = argparse.ArgumentParser(
            prog=f"python -m blender_scenes.{self.name}", description=description.splitlines()[0]
        )
        parser.add_argument("--out", type=Path, default=Path("out"), help="the folder to write into")
        parser.add_argument("--readme", action="store_true", help="renew the picture in the README as well")
        parser.add_argument("--film", action="store_true", help="make the film as well, if it has one")
        options = parser.parse_args()
        try:
            print(self.build(options.out, options.readme, options.film))
        except (SceneError, CondyleError) as error:
            print(f"{self.name}: {error}", file=sys.stderr)
            leave(1)
        leave(0)
