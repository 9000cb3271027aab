"""Playing and rendering change nothing: handlers only note, timers wait, update callbacks do not run."""

import sys

import bpy
import pytest

from ..digests import differences, digest

pytestmark = pytest.mark.small


#: kinds of handlers that Blender calls when the user does something, not when it plays or renders
OF_THE_USER = {
    *("load_pre", "load_post", "load_factory_startup_post", "undo_pre", "undo_post", "redo_pre"),
    *("redo_post", "save_pre", "save_post", "depsgraph_update_post", "blend_import_post"),
}
WATCHERS = ("handlers.control_frames", "handlers.duplicates", "handlers.targets")


def watching(part, condyle):
    """The handlers of depsgraph_update_post that the add-on has in a window."""
    found = [part(name).on_update for name in WATCHERS]
    users = [
        name
        for name, module in list(sys.modules.items())
        if name.startswith(f"{condyle.__name__}.") and hasattr(module, "on_update")
    ]
    assert len(users) == len(WATCHERS)  # another one belongs into this test
    return found


@pytest.fixture
def shot(part, scene, make, body):
    """A knee that is driven by keyed sliders, with keyed settings that have update callbacks, and a muscle."""
    thigh, shank, joint = make.driven_knee(part, scene)
    muscle = part("making.muscles").add_muscle(
        scene, [(body(thigh), (0.06, 0, 0.6)), (body(shank), (0.06, 0, -0.1))], "Biceps"
    )
    row = joint.condyle.joint.coordinates[0]
    row.limits = "CUSTOM"
    for frame, value in ((1, 0.1), (5, 0.9)):
        joint["coordinate"] = value
        joint.keyframe_insert('["coordinate"]', frame=frame)
        row.upper = 1.0 + value
        joint.keyframe_insert("condyle.joint.coordinates[0].upper", frame=frame)
        joint.condyle.joint.frames[1].object.location.x = 0.01 * frame
        joint.condyle.joint.frames[1].object.keyframe_insert("location", frame=frame)
        muscle.condyle.muscle.radius = 0.1 * value
        muscle.keyframe_insert("condyle.muscle.radius", frame=frame)
    scene.frame_set(1)
    return joint, muscle


def test_the_add_on_has_no_handlers_of_playing_and_rendering(condyle):
    """But for those of the button Play, which are in windows alone (`live.playback`)."""
    for name in dir(bpy.app.handlers):
        functions = getattr(bpy.app.handlers, name)
        if isinstance(functions, list) and name not in OF_THE_USER:
            assert not [each for each in functions if each.__module__.startswith(condyle.__name__)], name


def test_playing_changes_nothing(part, condyle, scene, shot, monkeypatch):
    joint, muscle = shot
    thickness, most = muscle.data.bevel_depth, joint.id_properties_ui("coordinate").as_dict()["max"]
    called = []
    monkeypatch.setattr(
        bpy.app.timers, "register", lambda function, **_: called.append(function), raising=False
    )
    before = digest()
    handlers = watching(part, condyle)
    bpy.app.handlers.depsgraph_update_post.extend(handlers)
    try:
        for frame in (2, 3, 4, 5, 1):
            scene.frame_set(frame)
            bpy.context.view_layer.update()
            assert muscle.data.bevel_depth == thickness
            assert joint.id_properties_ui("coordinate").as_dict()["max"] == most
    finally:
        for each in handlers:
            bpy.app.handlers.depsgraph_update_post.remove(each)
    assert differences(before, digest()) == []


def test_timers_wait_while_blender_plays_or_renders(part, scene, shot, monkeypatch):
    joint, _ = shot
    monkeypatch.setattr(part("blender.idle"), "is_evaluating", lambda: True)
    joint.condyle.joint.follower.parent = None  # there would be something to do for each
    part("handlers.control_frames")._moved.add(joint.session_uid)
    double = joint.copy()
    scene.collection.objects.link(double)
    before = digest()
    for timer in (
        part("handlers.control_frames").renew,
        part("handlers.duplicates").renew,
        part("handlers.targets").follow,
    ):
        assert timer() == part("blender.idle").WAIT
    assert differences(before, digest()) == []
    part("handlers.control_frames")._moved.clear()


def test_a_render_changes_nothing(part, condyle, scene, shot, tmp_path):
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(camera)
    scene.camera, scene.render.engine = camera, "CYCLES"
    scene.cycles.samples = 1
    scene.render.resolution_x = scene.render.resolution_y = 16
    scene.frame_start, scene.frame_end = 1, 2
    scene.render.filepath = str(tmp_path / "frame")
    scene.frame_set(1)
    before = digest()
    handlers = watching(part, condyle)
    bpy.app.handlers.depsgraph_update_post.extend(handlers)
    try:
        bpy.ops.render.render(animation=True)
    finally:
        for each in handlers:
            bpy.app.handlers.depsgraph_update_post.remove(each)
    scene.frame_set(1)
    assert differences(before, digest()) == []
