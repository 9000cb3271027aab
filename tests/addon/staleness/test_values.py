"""Values of settings and a bake: what has the value that it had is not told, whether or not it was ever set."""

import bpy
import numpy as np
import pytest

from ..first_job import first_job
from .test_compare import changes

pytestmark = pytest.mark.small


@pytest.fixture
def hinge(part, scene, make, body):
    """A baked hinge's Empty."""
    scene.frame_end = 4
    held, swung = make.box("Held", (0, 0, 1)), make.box("Swung", (0, 0, 0.5))
    joint = part("making.bodies_and_joints").add_joint(scene, body(held), body(swung), "hinge", name="Hinge")
    part("jobs.bake").bake_now(scene)
    return joint


def test_a_setting_that_is_touched_for_the_first_time_and_put_back_changes_nothing(part, scene, hinge):
    settings, simulation = hinge.condyle.joint, scene.condyle.simulation
    assert not settings.is_property_set("follow") and not simulation.is_property_set("gravity")
    settings.follow = 1.0
    assert changes(part, scene) == [("changed-since-bake", "Hinge", "animation influence")]
    settings.follow = -0.0
    simulation.gravity = tuple(simulation.gravity)
    for row in settings.coordinates:
        row.limits, row.damping = row.limits, row.damping
    assert simulation.is_property_set("gravity") and changes(part, scene) == []
    simulation.gravity = (0.0, 0.0, -1.6)
    assert changes(part, scene) == [("changed-since-bake", "Scene", "gravity")]


def test_a_setting_that_is_unset_after_the_bake_changes_nothing_unless_its_value_does(part, scene, hinge):
    settings = scene.condyle.simulation
    settings.gravity = tuple(settings.gravity)
    part("jobs.bake").bake_now(scene)
    settings.property_unset("gravity")
    assert changes(part, scene) == []
    settings.gravity = (0.0, 0.0, -1.6)
    part("jobs.bake").bake_now(scene)
    settings.property_unset("gravity")
    assert changes(part, scene) == [("changed-since-bake", "Scene", "gravity")]


def test_another_entry_of_a_list_is_told_though_all_of_it_is_as_it_comes(part, scene, hinge):
    hinge.condyle.joint.knots.add()
    assert changes(part, scene) == [("changed-since-bake", "Hinge", "number of knots")]
    hinge.condyle.joint.knots.clear()
    assert changes(part, scene) == []


def test_a_joint_that_is_renamed_and_touched_is_still_known(part, scene, hinge):
    hinge.name = "Knee"
    hinge.condyle.joint.follow = 1.0
    hinge.condyle.joint.follow = 0.0
    assert changes(part, scene) == []


def test_coordinates_are_told_by_what_the_panel_calls_them(part, scene, hinge):
    hinge.condyle.joint.type = "spline_curve"
    row = hinge.condyle.joint.coordinates[0]
    row.torque = 1.0
    told = changes(part, scene)
    assert row.label == "q" and "coordinate: torque" in told[0][2] and "q:" not in told[0][2]
    row.title = "Flexion"
    assert "flexion: torque" in changes(part, scene)[0][2]


def test_a_slider_is_told_by_what_the_panel_calls_it(part, scene, hinge):
    settings = hinge.condyle.joint
    settings.start_from, settings.coordinates[0].title = "POSE", "Flexion"
    part("making.bodies_and_joints").drive(scene, hinge, True)
    part("jobs.bake").bake_now(scene)
    hinge["coordinate"] = 0.3
    assert changes(part, scene) == [("changed-since-bake", "Hinge", "flexion: slider")]


def _while_it_is_computed(part, scene, change):
    steps = part("jobs.bake").bake(scene)
    job = first_job(part, steps)  # the scene has been read
    change()
    try:
        while True:
            job.wait(60)
            job = part("blender.compute_process").advance(steps, job)
    except StopIteration:
        return changes(part, scene)


@pytest.fixture
def stones(part, scene, make):
    """Two free bodies, one of them held by nothing that refers to it."""
    found = [make.box(name, (x, 0.0, 1.0)) for name, x in (("Stone", 0.0), ("Rock", 1.0))]
    for item in found:
        item.condyle.body.enabled, item.condyle.body.motion = True, "FREE"
    scene.frame_start, scene.frame_end = 1, 7
    return found


def test_what_comes_while_it_is_computed_makes_it_out_of_date(part, scene, make, stones):
    """It is not in the simulation; as kept at the end, it was taken for a part of it."""

    def add():
        item = make.box("Third", (2.0, 0.0, 1.0))
        item.condyle.body.enabled, item.condyle.body.motion = True, "FREE"

    assert any("Third" in line for line in _while_it_is_computed(part, scene, add))


class OldScene:
    """What Python holds of a scene until an undo puts another in its place."""

    def __init__(self, scene):
        self.scene = scene

    def __getattr__(self, name):
        if self.scene is None:
            raise ReferenceError("StructRNA of type Scene has been removed")
        return getattr(self.scene, name)


def test_an_undo_before_it_simulates_is_no_error(part, scene, hinge, stones):
    """The bake ended with Python's words for a scene that is gone."""
    old = OldScene(scene)
    steps = part("jobs.bake").bake(old)
    job = next(steps)
    old.scene = None
    with pytest.raises(StopIteration):
        while True:
            job.wait(60)
            job = part("blender.compute_process").advance(steps, job)
    assert part("baking.restoring").is_baked(scene)


def test_names_that_change_while_it_is_computed_do_not(part, scene, make, hinge, stones):
    def rename():
        for name in ("Stone", "Held", "Swung", "Hinge"):
            bpy.data.objects[name].name = f"{name} renamed"

    assert _while_it_is_computed(part, scene, rename) == []


def test_what_is_renamed_and_moved_while_it_is_computed_makes_it_out_of_date(part, scene, make, stones):
    def change():
        stones[0].name = "Pebble"
        stones[0].location.x += 1.0
        make.update()

    assert _while_it_is_computed(part, scene, change)


def test_a_slider_that_is_put_back_as_the_interface_shows_it_changes_nothing(part, scene, hinge):
    """A click that sets nothing puts back what was shown, in single precision: the double was another then."""
    (slider,) = part("data.joints").slider_names(hinge.condyle.joint)
    part("making.bodies_and_joints").drive(scene, hinge)
    scene.condyle.start.source = "POSE"
    numbers = [float(each) for each in np.linspace(0.8, 0.99, 200)]
    hinge[slider] = next(each for each in numbers if f"{each:.7g}" != f"{np.float32(each):.7g}")
    part("jobs.bake").bake_now(scene)
    assert changes(part, scene) == []
    hinge[slider] = float(np.float32(hinge[slider]))
    assert changes(part, scene) == []
    hinge[slider] += 1e-4
    assert changes(part, scene) == [("changed-since-bake", "Hinge", "angle: slider")]
