"""Settings from outside: addresses, types, ranges, and that nothing is set where one is wrong."""

import bpy
import pytest

pytestmark = pytest.mark.small


@pytest.fixture
def hinge(part, scene, make, body):
    a, b = make.box("A", (0, 0, 1)), make.box("B")
    return part("making.bodies_and_joints").add_joint(scene, body(a), body(b), "hinge", name="Knee.L")


@pytest.fixture
def apply(part, scene):
    return lambda settings: part("batch.settings_overrides").apply([scene], settings)


def test_settings_reach_what_they_name(apply, hinge, scene, make):
    rig = make.armature("Rig", {"Upper": ((0, 0, 1), (0, 0, 0), None)})
    rig.pose.bones["Upper"].condyle.body.enabled = True
    apply(
        {
            "simulation": {
                "time_step": 0.002,
                "integrator": "rk4",
                "gravity": [0, 0, -1.6],
                "disconnect_bones": True,
                "output": {"extras": ["ENERGY", "COORDINATES"]},
            },
            "start": {"preroll": 5, "source": "POSE"},
            "joints": {
                "Knee.L": {"hard_limits": True, "coordinates": {"1": {"damping": 3}, "angle": {"start": 0.5}}}
            },
            "bodies": {"B": {"density": 30}, "Rig/Upper": {"mass_source": "MANUAL"}},
        }
    )
    settings, joint = scene.condyle.simulation, hinge.condyle.joint
    assert (settings.integrator, settings.disconnect_bones) == ("rk4", True)
    assert settings.output.extras == {"ENERGY", "COORDINATES"}
    assert (scene.condyle.start.preroll, scene.condyle.start.source) == (5, "POSE")
    assert tuple(settings.gravity) == pytest.approx((0, 0, -1.6))
    assert (joint.hard_limits, joint.coordinates[0].damping, joint.coordinates[0].start) == (True, 3.0, 0.5)
    assert bpy.data.objects["B"].condyle.body.density == 30
    assert rig.pose.bones["Upper"].condyle.body.mass_source == "MANUAL"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"simulation": {"tiem_step": 1}}, r"simulation.tiem_step = 1: unknown key .*did you mean 'time_step'"),
        ({"simulations": {"time_step": 1}}, "unknown key 'simulations'"),
        ({"simulation": {"time_step": "fast"}}, "time_step = 'fast': must be a number"),
        ({"simulation": {"time_step": True}}, "must be a number"),
        ({"simulation": {"time_step": 2.0}}, "must be from 1e-06 to 1"),
        ({"simulation": {"time_step": float("nan")}}, "must be from 1e-06 to 1"),
        ({"simulation": {"integrator": "rk5"}}, r"must be one of .*did you mean 'rk4'"),
        ({"simulation": {"gravity": [0, 0]}}, "must be a list of 3"),
        ({"simulation": {"gravity": [0, 0, "down"]}}, "must be a number"),
        ({"simulation": {"disconnect_bones": 1}}, "must be true or false"),
        ({"simulation": {"output": {"extras": "ENERGY"}}}, "must be a list"),
        ({"simulation": {"output": {"extras": ["HEAT"]}}}, "must be one of"),
        ({"simulation": {"statistics": {"steps": 1}}}, "unknown key 'simulation.statistics'"),
        ({"simulation": 3}, "a group of settings"),
        ({"joints": {"Knee.L": 3}}, "a group of settings"),
        ({"joints": 3}, "joints = 3: must be given by name"),
        ({"joints": {"Knee.R": {"prescribed": True}}}, r"no joint 'Knee.R'; it has Knee.L \(did you mean"),
        ({"joints": {"Knee.L": {"coordinates": {"2": {"start": 1}}}}}, "coordinates has no '2'; it has angle"),
        ({"joints": {"Knee.L": {"coordinates": {"1": {"start_angle": 1}}}}}, "unknown key"),
        ({"joints": {"Knee.L": {"coordinates": {"1": {"start": {"x": 1}}}}}}, "has no 'x'"),
        ({"joints": {"Knee.L": {"child": "B"}}}, "unknown key"),
        ({"bodies": {"C": {"mass": 1}}}, "no body 'C'; it has A, B"),
        ({"muscles": {"Biceps": {"law": {"max_force": 1}}}}, "no muscle 'Biceps'; it has none"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_its_value_and_nothing_is_set(apply, ph, hinge, scene, settings, message):
    good = {"bodies": {"B": {"density": 30}}}
    with pytest.raises(ph.FormatError, match=message):
        apply(
            good | settings if "bodies" not in settings else {"bodies": good["bodies"] | settings["bodies"]}
        )
    assert bpy.data.objects["B"].condyle.body.density == 1000


def test_what_is_animated_is_not_set(apply, ph, hinge):
    hinge.condyle.joint.keyframe_insert("prescribed", frame=1)
    with pytest.raises(ph.FormatError, match="it is animated"):
        apply({"joints": {"Knee.L": {"prescribed": True}}})


@pytest.mark.parametrize(
    ("frames", "shown"),
    [((1, 120), (1, 120)), ((300, 400), (300, 400)), ((-5, 8), (0, 8)), ((-9, -2), (7, 20))],
)
def test_frames_are_what_the_scene_plays_and_renders(part, scene, frames, shown):
    scene.frame_start, scene.frame_end = 7, 20
    scene.use_preview_range, scene.frame_preview_start, scene.frame_preview_end = True, 8, 9
    part("batch.settings_overrides").set_frames(scene, frames)
    assert (scene.frame_start, scene.frame_end) == shown
    # no scene begins before frame 0, its preview range does: without it the file played from 0 on
    assert scene.use_preview_range == (frames[0] < 0)
    if scene.use_preview_range:
        assert (scene.frame_preview_start, scene.frame_preview_end) == frames
    recorded = part("data.frame_times").frame_range(scene)
    assert (recorded[0], recorded[-1]) == frames


def test_every_section_has_settings(part):
    overrides = part("batch.settings_overrides")
    for section, group in overrides._groups().items():
        assert any(overrides._is_setting(group, each) for each in group.properties), section
