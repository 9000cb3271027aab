"""What a bake would be refused for, beside what the scene is read from: its frames, loop, method, and where it goes."""

from collections.abc import Iterator

from bpy.types import Object, Scene

from ..animation.scene_model import SceneModel
from ..baking import channels
from ..blender import physics_access
from ..data import finding_list, findings, frame_times
from ..data.findings import Finding
from ..reading import conflicts


def by_settings(scene: Scene) -> Iterator[Finding]:
    """Errors of the frame range and the loop, and of the step, each named; of a snapshot of a scene."""
    problem = physics_access.physics().CondyleError
    for look in (
        lambda: frame_times.loop_options(scene, frame_times.frame_range(scene)),
        lambda: frame_times.step(scene),
    ):
        try:
            look()
        except problem as error:
            yield finding_list.named(scene, findings.error(None, error))


def by_model(view: Scene, read: SceneModel) -> Iterator[tuple[Object, Exception]]:
    """What cannot be done with a scene as it was read: errors, and the object at fault, or None.

    view: a snapshot of the scene without its bake.
    """
    problem = physics_access.physics().CondyleError
    try:
        physics_access.part("integrators").check_method(read.model, view.condyle.simulation.integrator)
    except problem as error:
        yield None, error
    target = channels.output_of(view).target
    found = [entry.handle.find_in(view) for entry in read.bodies]
    for item in dict.fromkeys(body.object for body in found if body is not None):
        try:
            conflicts.check_target(item, target)
        except problem as error:
            yield item, error


def with_model(view: Scene, read: SceneModel) -> Iterator[Finding]:
    """`by_model` as findings."""
    for item, error in by_model(view, read):
        found = findings.error(item, error)
        yield found if item is not None else finding_list.named(view, found)


def check(view: Scene, read: SceneModel) -> None:
    """ModelError where a bake of a scene, as it was read, could not run or not be written: before it is computed."""
    for _, error in by_model(view, read):
        raise error
