"""What leads a live run beyond the scene's frames: keys behind them, cycles, what ends as it began, and what rests."""

from __future__ import annotations

import numpy as np
import pytest

from tests.addon.test_live import Hand, settings

bpy = pytest.importorskip("bpy")


@pytest.fixture
def arms(part, scene, make):
    """An arm on a hinge, whose slider is to be keyed, and one that hangs from it; the scene has 13 frames."""
    body = part("references").Body
    upper, lower = make.box("Up", (0, 0, 0.7)), make.box("Low", (0, 0, 0.3))
    make.update()

    def at(height):
        return np.array([[1.0, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, height], [0, 0, 0, 1]])

    authoring = part("authoring")
    joint = authoring.add_joint(scene, None, body(upper), "hinge", at(0.9), name="Shoulder")
    elbow = authoring.add_joint(scene, body(upper), body(lower), "hinge", at(0.5), name="Elbow")
    elbow.condyle.joint.coordinates[0].damping = 0.5
    scene.frame_start, scene.frame_end = 1, 13
    authoring.drive(scene, joint, True)
    joint.condyle.joint.prescribed = True
    return joint


def keyed(part, joint, last, end=0.0, cycles=False):
    """A wave with a period of 12 frames; `end`: where it is at the last key besides."""
    (slider,) = part("features.joints.properties").slider_names(joint.condyle.joint)
    for frame in range(1, last + 1):
        joint[slider] = 0.5 * np.sin(2.0 * np.pi * (frame - 1) / 12.0) + end * (frame - 1) / (last - 1)
        joint.keyframe_insert(f'["{slider}"]', frame=frame)
    if cycles:
        for curve in part("compat").curves_in_use(joint):
            curve.modifiers.new("CYCLES")


def told(part):
    return [finding.text for finding in part("session").findings if finding.source == "Live"]


@pytest.mark.parametrize(("last", "cycles"), [(40, False), (13, True), (13, False)])
def test_it_goes_on_beyond_the_scenes_last_frame(part, scene, make, arms, last, cycles):
    """Along keys behind it, through cycles, and round what ends as it began."""
    keyed(part, arms, last, cycles=cycles)
    scene.frame_set(1)
    live = Hand(part, scene, duration=1.2, record=True).walk().baked.result
    assert part("tasks").free_bake(scene) == 2 and bool(told(part)) == (last == 40)
    scene.frame_end = 40
    if not cycles and last == 13:
        keyed(part, arms, 40)
    scene.frame_set(1)
    whole = part("tasks").bake_now(scene).result
    rows = len(live.t)
    assert rows > 26
    # splines that end elsewhere differ near their ends
    assert np.abs(live.q - whole.q[:rows]).max() < 2e-3


def test_what_rests_at_the_end_of_its_keys_is_told(part, scene, make, arms):
    keyed(part, arms, 20, end=0.4)
    live = Hand(part, scene, duration=1.0, record=True).walk().baked.result
    assert any("Up: animated up to frame 20" in text or "Shoulder" in text for text in told(part)), told(part)
    # a step of 1 ms that leads beyond the end
    assert np.abs(live.q[20:, 0] - live.q[19, 0]).max() < 3e-3 and np.abs(np.diff(live.q[:19, 0])).max() > 0.1
    arms.condyle.joint.prescribed = False
    Hand(part, scene, duration=0.2).walk()
    assert not told(part)


def test_a_controller_excites_its_muscle_as_in_a_bake_until_its_slider_is_moved(part, scene, make, arms):
    body = part("references").Body
    arms.condyle.joint.prescribed = False
    points = [
        (body(bpy.data.objects["Up"]), (0.06, 0, 0.6)),
        (body(bpy.data.objects["Low"]), (0.06, 0, 0.35)),
    ]
    muscle = part("muscles").add_muscle(scene, points, "Flexor")
    muscle.condyle.muscle.law.max_force = 40.0
    muscle.condyle.muscle.excited_by = "CONTROLLER"
    control = muscle.condyle.muscle.control
    control.joint, control.target, control.gain = bpy.data.objects["Elbow"], 0.5, 3.0
    scene.condyle.simulation.output.extras = {"MUSCLES"}

    def shown():
        (curve,) = [
            each for each in part("compat").curves_in_use(muscle) if "Baked activation" in each.data_path
        ]
        return [point.co[1] for point in curve.keyframe_points]

    live = Hand(part, scene, duration=0.5, record=True).walk().baked.result
    active = shown()
    part("tasks").free_bake(scene)
    whole = part("tasks").bake_now(scene).result
    rows = len(live.t)
    assert live.q[:rows].tobytes() == whole.q[:rows].tobytes() and max(active) > 0.1
    assert active[:rows] == shown()[:rows]
    part("tasks").free_bake(scene)

    def rest(_run):
        (slider,) = [each for each in settings().sliders if each.group == "MUSCLE"]
        slider.share = 0.25

    Hand(part, scene, [(0.2, rest)], duration=0.5, record=True).walk()
    assert shown()[-1] == pytest.approx(0.25)


def test_what_leads_nothing_makes_no_run_read_farther(part, scene, make, arms):
    keyed(part, arms, 20)
    crate = make.box("Crate", (3, 0, 0))
    crate.keyframe_insert("location", frame=5000)
    assert part("live_frames").frames(scene)[-1] == 20
    keyed(part, arms, 1200)
    assert part("live_frames").frames(scene)[-1] == scene.frame_end + 500
