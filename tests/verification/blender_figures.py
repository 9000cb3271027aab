"""Figures that need Blender, each measured in its own process: `python -m ... FIGURE`.

The scenes are those of the add-on's tests, made by the same helpers. A figure is printed as one line of JSON.
"""

import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import bpy

from .batch_kills import batch_kills
from .claims_addon import MARK
from .full_disk import full_disk


def part(name: str) -> Any:
    """A module of the add-on, like the tests' fixture of the same name."""
    return importlib.import_module(f"addon.{name}")


def empty_scene() -> Any:
    """The only scene of an empty file."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    return bpy.context.scene


def register() -> dict[str, float]:
    """Processor time of importing and registering the add-on."""
    started = time.process_time()
    importlib.import_module("addon").register()
    return {"ms": 1e3 * (time.process_time() - started)}


def first_bake() -> dict[str, float]:
    """Wall-clock seconds of fitting and baking a keyed knee, before the compute process has started."""
    from tests.addon import conftest as make
    from tests.addon.jobs.test_bake import rig_knee

    scene = empty_scene()
    joint, _ = rig_knee(part, scene, make)
    started = time.perf_counter()
    part("jobs.bake").fit_now(scene, joint)
    fitted = time.perf_counter()
    part("jobs.bake").bake_now(scene)
    return {"fit": fitted - started, "fit and bake": time.perf_counter() - started}


CHAINS, LINKS, LAST = 5, 10, 1000


def bake_writing() -> dict[str, float]:
    """Of a bake of 50 bones x 1000 frames, see `baked_chains`."""
    return baked_chains(CHAINS, LINKS, LAST)


def bake_many_bones() -> dict[str, float]:
    """Of a bake of 200 bones x 49 frames on an armature that moves, see `baked_chains`."""
    return baked_chains(10, 20, 49, speed=0.5)


def in_stretches(steps: Any) -> tuple[Any, list[float]]:
    """The outcome of a task, and processor seconds from each return to the event loop of a modal one to the next."""
    advance, job, spent = part("blender.compute_process").advance, None, []
    while True:
        began = time.process_time()
        try:
            job = advance(steps, job)
        except StopIteration as end:
            return end.value, [*spent, time.process_time() - began]
        spent.append(time.process_time() - began)
        job.wait(600.0)


def baked_chains(chains: int, links: int, last: int, speed: float = 0.0) -> dict[str, float]:
    """Processor seconds of Blender's process for a bake of chains of bones on hinges, for writing it, for the longest
    stretch of it in which Blender's windows stand still, and for one evaluation of its scene; and wall-clock seconds of
    its simulation; each the least of 3. speed: of the keyed armature [m/s]; 0: it has no keys."""
    from tests.addon import conftest as make

    scene = empty_scene()
    bones = {
        f"{chain}.{link}": (
            (chain, 0, -link),
            (chain, 0, -link - 0.8),
            f"{chain}.{link - 1}" if link else None,
        )
        for chain in range(chains)
        for link in range(links + 1)
    }
    rig = make.armature("Rig", bones)
    scene.frame_start, scene.frame_end = 1, last
    for frame in (1, last) if speed else ():
        rig.location.x = speed * (frame - 1) / scene.render.fps
        rig.keyframe_insert("location", frame=frame)
    body = part("data.references").Body
    for bone in rig.pose.bones:
        bone.condyle.body.enabled, bone.condyle.body.mass_source = True, "MANUAL"
    make.update()
    for chain in range(chains):
        for link in range(links):
            ends = (body(rig, f"{chain}.{link}"), body(rig, f"{chain}.{link + 1}"))
            joint = part("making.bodies_and_joints").add_joint(scene, *ends, "hinge").condyle.joint
            joint.coordinates[0].start_speed, joint.coordinates[0].damping = 0.5, 0.1
    names = ("write", "beside the simulation", "longest stall", "evaluation", "simulate")
    found: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(3):
        writing = part("jobs.bake")
        written, spent = writing.written, list[float]()

        def timed(*arguments: Any, of: Any = written, spent: list[float] = spent, **options: Any) -> Any:
            steps, job = of(*arguments, **options), None
            while True:
                began = time.process_time()
                try:
                    job = steps.send(job and job.result)
                except StopIteration as end:
                    spent.append(time.process_time() - began)
                    return end.value
                spent.append(time.process_time() - began)
                yield job

        writing.written = timed
        try:
            report, stretches = in_stretches(part("jobs.bake").bake(scene))
        finally:
            writing.written = written
        began = time.process_time()
        scene.frame_set(last)
        found["evaluation"].append(time.process_time() - began)
        found["beside the simulation"].append(sum(stretches))
        found["longest stall"].append(max(stretches))
        found["write"].append(sum(spent))
        found["simulate"].append(report.seconds["simulate"])
    if len(report.bodies) != chains * links or len(report.frames) != last:
        raise RuntimeError(f"{len(report.bodies)} bodies and {len(report.frames)} frames were baked")
    return {name: min(values) for name, values in found.items()}


FIGURES: dict[str, Callable[[], dict[str, float]]] = {
    function.__name__: function
    for function in (
        register,
        first_bake,
        bake_writing,
        bake_many_bones,
        batch_kills,
        full_disk,
    )
}


def main() -> None:
    """Measure the figure named on the command line."""
    name = sys.argv[1]
    if name != "register":
        register()
    print(MARK + json.dumps(FIGURES[name]()), flush=True)
    if "addon.blender.compute_process" in sys.modules:
        part("blender.compute_process").close()
    os._exit(0)  # Blender 4.5 does not exit while classes are registered


if __name__ == "__main__":
    main()
