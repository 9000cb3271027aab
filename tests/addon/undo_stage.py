"""The file in which operators are tried for their undo, and what each of them needs there to have something to do."""

from pathlib import Path
from types import SimpleNamespace

import bpy
import pytest

from .chain_rigs import humanoid, select_bones
from .conftest import armature

OSIM = """<?xml version="1.0"?><OpenSimDocument Version="40500"><Model name="lever"><gravity>0 -9.8 0</gravity>
<BodySet><objects><Body name="rod"><mass>2</mass><inertia>0.1 0.1 0.1 0 0 0</inertia></Body></objects></BodySet>
<JointSet><objects><PinJoint name="pin"><socket_parent_frame>/ground</socket_parent_frame>
<socket_child_frame>/bodyset/rod</socket_child_frame><coordinates><Coordinate name="angle"/></coordinates>
</PinJoint></objects></JointSet></Model></OpenSimDocument>
"""


def named(name):
    return bpy.data.objects[name]


def select(*names):
    """Select objects by name, the last one active."""
    for item in bpy.context.view_layer.objects:
        item.select_set(item.name in names)
    bpy.context.view_layer.objects.active = named(names[-1])


def on(*names, before=None, **options):
    """A recipe: these objects are selected, something is done before, and the operator gets options."""

    def prepare():
        select(*names)
        if before is not None:
            before()
        return options

    return prepare


def on_bones(rig, *names, before=None, **options):
    """As `on`, of bones in pose mode."""

    def prepare():
        if bpy.context.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        select(rig)
        select_bones(named(rig), *names)
        if before is not None:
            before()
        return options

    return prepare


def both(*calls):
    return lambda: [call() for call in calls]


def knee():
    return named("Knee").condyle.joint


def of_type(kind):
    return lambda: setattr(knee(), "type", kind)


def moved_slider():
    """A slider that its user drags, which Blender tells whoever depends on it."""
    named("Knee")["coordinate"] = 0.5
    named("Knee").update_tag()


def shank_apart():
    home = bpy.data.collections.new("Leg")
    bpy.context.scene.collection.children.link(home)
    home.objects.link(named("Shank"))
    bpy.context.scene.collection.objects.unlink(named("Shank"))


def grid(rows=4, columns=4):
    return lambda: bpy.ops.condyle.make_grid(rows=rows, columns=columns)


def op(name, **options):
    return lambda: getattr(bpy.ops.condyle, name)(**options)


def wiggles():
    """Settings of Wiggle 2, which is not installed."""
    named("Rig").pose.bones["C"]["wiggle_tail"] = True


def at_frame(frame):
    return lambda: bpy.context.scene.frame_set(frame)


def bent():
    select("Spare", "Shank")
    bpy.ops.condyle.add_connection(kind="segmented_planar_connector")


def obstacle():
    select("Spare")
    bpy.ops.condyle.add_obstacle()
    select(bpy.context.active_object.name, "Biceps")


def free_point():
    """A muscle whose insertion hangs in the air."""
    named("Biceps").modifiers.remove(named("Biceps").modifiers[-1])


def sides():
    """A knee between thighs and shanks of two sides."""
    named("Thigh").name, named("Shank").name = "Thigh.L", "Shank.L"
    for name in ("Thigh", "Shank"):
        copy = named(f"{name}.L").copy()
        copy.name, copy.parent = f"{name}.R", None
        bpy.context.scene.collection.objects.link(copy)
    bpy.context.view_layer.update()


def copied_frame():
    """Shift+D on a control frame, as Blender makes it."""
    frame = knee().frames[3].object
    copy = frame.copy()
    frame.users_collection[0].objects.link(copy)
    copy.location.x += 0.01
    select(copy.name)


def moved_target():
    bpy.ops.condyle.add_target()
    bpy.context.active_object.location.x += 0.05
    select("Shank")


def opensim_file():
    """Options to import a model of one body."""
    path = Path(bpy.app.tempdir) / "lever.osim"
    path.write_text(OSIM, "utf-8")
    return {"filepath": str(path)}


def goal():
    """A goal of the forearm."""
    bpy.ops.condyle.add_goal(kind="REST")
    bpy.context.active_pose_bone.condyle.goals.rows[0].frame = 9


def gravity_slider():
    """A slider of the live run that says what the scene does not."""
    live = bpy.context.window_manager.condyle_live
    live.scene, live.gravity = bpy.context.scene.session_uid, (0.0, 0.0, -1.5)


def blown_up():
    """A bake that goes wrong after its first frames."""
    settings, row = bpy.context.scene.condyle.simulation, knee().coordinates[0]
    settings.integrator, settings.time_step = "forward_euler", 0.002
    row.start, row.stiffness = 0.9, 1e4
    with pytest.raises(RuntimeError, match="diverged"):
        bpy.ops.condyle.bake()


def mixamo():
    """Options to make the rig of a human figure, the only active one, a ragdoll."""
    humanoid(SimpleNamespace(armature=armature), "mixamo")
    return {}


def on_a_post():
    """Parent the spare box, which gives way, to another one in its middle."""
    post = named("Spare").copy()
    bpy.context.scene.collection.objects.link(post)
    post.animation_data_clear()
    post.select_set(False)
    post.scale = (1.5, 1.5, 0.5)
    post.parent = named("Spare").parent
    named("Spare").parent, named("Spare").location = post, (0.0, 0.0, 0.0)
    named("Spare").condyle.soft.reach = 0.01
    bpy.context.view_layer.update()


def beside():
    """Put the spare box next to the thigh, a hundredth of their width away."""
    spare, thigh = named("Spare"), named("Thigh")
    bpy.context.view_layer.update()
    spare.location = thigh.matrix_world.translation
    spare.location.x += 0.505 * (spare.dimensions.x + thigh.dimensions.x)
    bpy.context.view_layer.update()


def other_frequency():
    bpy.context.active_pose_bone.condyle.body.spring.frequency = 7.0


#: what is selected and done before each operator, so that it has something to do
RECIPES = {
    "add_chain": on_bones("Rig", "C"),
    "add_ragdoll": mixamo,
    "apply_scale": on("Spare", before=lambda: setattr(named("Spare"), "scale", (1.0, 2.0, 3.0))),
    "add_soft_body": on("Spare", before=on_a_post),
    "remove_soft_body": on("Spare", before=both(on_a_post, op("add_soft_body"))),
    "convert_jiggle": on_bones("Rig", "C", before=wiggles),
    "add_wind": on_bones("Rig", "C", before=op("add_chain")),
    "add_collider": on("Spare"),
    "remove_collider": on("Spare", before=op("add_collider")),
    "copy_to_selected": on_bones("Rig", "A", "C", before=both(op("add_chain"), other_frequency)),
    "mute": on_bones("Rig", "C", before=op("add_chain")),
    "clean_up": on_bones("Rig", "A", "C", before=op("add_chain")),
    "make_body": on("Spare"),
    "remove_body": on("Shank"),
    "fill_in_mass": on("Shank"),
    "add_joint": on("Spare", "Shank", before=op("drive"), kind="fixed"),
    "add_preset": on("Spare", "Shank", preset="elbow"),
    "demo_knee": on("Spare"),
    "choose_type": on("Knee", before=op("drive"), kind="ellipsoid"),
    "remove_joint": on("Knee", before=op("drive")),
    "remove_left_over": on("Knee", before=bpy.ops.object.delete),
    "move_to_rigs": on("Knee", before=shank_apart),
    "set_rest_pose": on("Knee", before=at_frame(9)),
    "drive": on("Knee"),
    "stop_driving": on("Knee", before=op("drive")),
    "start_here": on("Knee", before=both(op("drive"), moved_slider)),
    "drive_all": on("Knee"),
    "drag": on("Shank", before=op("drive_all"), goal=(-0.2, 0.0, 0.1)),
    "add_target": on("Shank", before=op("drive_all")),
    "reach_targets": on("Shank", before=both(op("drive_all"), moved_target)),
    "key_joints": on("Shank", before=both(op("drive_all"), moved_target), first=1, last=3),
    "add_part": on("Knee", before=of_type("composite"), kind="universal"),
    "add_feedback_law": on("Knee", signal="CENTER"),
    "remove_feedback_law": on("Knee", before=op("add_feedback_law", signal="CENTER")),
    "remove_part": on("Knee", before=both(of_type("composite"), op("add_part"))),
    "add_control_frame": on("Knee", before=both(op("drive"), at_frame(9))),
    "insert_control_frame": on("Knee", before=op("drive")),
    "remove_control_frame": on("Knee", before=op("drive")),
    "move_control_frame": on("Knee", before=lambda: setattr(knee(), "active_frame", 2)),
    "duplicate_control_frame": on("Knee", before=op("drive")),
    "adopt_control_frame": on("Knee", before=copied_frame),
    "even_out_frames": on("Knee", before=both(op("drive"), op("key_sliders")), num_frames=7),
    "reverse_curve": on("Knee", before=both(op("drive"), op("key_sliders"))),
    "mirror_joint": on("Knee", before=sides),
    "scrub": on("Knee", before=op("drive"), values=(0.7, 0.0, 0.0)),
    "select_control_frame": on("Knee", index=2),
    "live": on("Knee", duration=0.1, record=True),
    "live_keep": on("Knee", before=gravity_slider),
    "live_reset": on_bones(
        "Rig", "C", before=both(op("add_chain"), op("live", duration=0.1), other_frequency)
    ),
    "make_grid": on("Knee", before=op("drive")),
    "add_grid_line": on("Knee", before=both(op("drive"), grid())),
    "remove_grid_line": on("Knee", before=grid(5, 4)),
    "select_grid_line": on("Knee", before=grid()),
    "select_grid_neighbour": on("Knee", before=grid()),
    "add_third_direction": on("Knee", before=both(grid(), op("drive"))),
    "remove_third_direction": on("Knee", before=both(grid(), op("add_third_direction", moving=True))),
    "fit": on("Shank", before=lambda: setattr(knee().fit, "num_frames", 5)),
    "joint_from_meshes": on("Spare", "Thigh", before=beside, upper=0.2, num_frames=4, axis_from="PARENT"),
    "fit_surface": on("Knee", before=both(lambda: setattr(knee().fit, "smoothing", 0.5), op("drive"))),
    "set_from_pose": on("Knee", before=both(op("drive"), at_frame(9))),
    "key_sliders": on("Knee", before=op("drive")),
    "bake": on("Knee", before=both(op("drive"), at_frame(4))),
    "bake_unfinished": on("Knee", before=both(op("drive"), blown_up)),
    "add_goal": on_bones("Rig", "B"),
    "remove_goal": on_bones("Rig", "B", before=op("add_goal", kind="REST")),
    "solve_goals": on_bones("Rig", "B", before=goal, accept=True),
    "make_physical": on("Knee", accept=True),
    "free_bake": on("Knee", before=both(op("drive"), op("bake"), at_frame(4))),
    "add_connection": on("Spare", "Shank", kind="spring"),
    "remove_connection": on("Shank", before=bent),
    "add_end": on("Shank", before=both(bent, lambda: setattr(connection(), "kind", "spring"))),
    "add_corner": on("Shank", before=bent),
    "remove_corner": on("Shank", before=bent),
    "add_muscle": on("Thigh", "Spare"),
    "remove_muscle": on("Biceps"),
    "stick_points": on("Biceps", before=free_point),
    "add_obstacle": on("Biceps", "Spare"),
    "wrap_over": on("Biceps", before=obstacle),
    "remove_wrap": on("Biceps", before=both(obstacle, op("wrap_over"))),
    "import_opensim": opensim_file,
    "select_culprit": on("Spare", before=both(free_point, op("check_scene"))),
}


def connection():
    return bpy.context.active_object.condyle.connection


@pytest.fixture(scope="module")
def stage_file(condyle, tmp_path_factory):
    """A file with a fitted knee, a muscle over it, a rig with a joint between bones, and animation of the user's own
    beside: NLA, drivers, shape keys, custom properties.
    """
    return tmp_path_factory.mktemp("stage") / "stage.blend"


@pytest.fixture
def stage(part, scene, make, stage_file):
    """That file, freshly opened."""
    if not stage_file.exists():
        build(part, scene, make)
        bpy.ops.wm.save_as_mainfile(filepath=str(stage_file), copy=True)
    bpy.ops.wm.open_mainfile(filepath=str(stage_file))
    yield stage_file
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


def build(part, scene, make):
    body, authoring = part("data.references").Body, part("making.bodies_and_joints")
    thigh, shank = make.keyed_knee()
    scene.frame_end = 9
    knee = authoring.add_joint(scene, body(thigh), body(shank), name="Knee")
    part("jobs.bake").fit_now(scene, knee)
    bones = {"A": ((1, 0, 1), (1, 0, 0.5), None), "B": ((1, 0, 0.5), (1, 0, 0), "A")}
    rig = make.armature("Rig", bones | {"C": ((1, 0, 0), (1.2, 0, 0), "B")})
    authoring.add_joint(scene, body(rig, "A"), body(rig, "B"), "hinge", name="Elbow")
    bone = rig.pose.bones["B"]
    for frame in (1, 2, 4, 6, 9):
        bone.rotation_quaternion = (1.0, 0.0, 0.0, 0.1 * frame)
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    part("making.muscles").add_muscle(
        scene, [(body(thigh), (0.06, 0, 0.6)), (body(shank), (0.06, 0, -0.1))], "Biceps"
    )
    spare = make.box("Spare", (0.5, 0.2, 0.0))
    spare["figure"] = 0.25
    spare.id_properties_ui("figure").update(min=0.0, max=2.0)
    spare.keyframe_insert('["figure"]', frame=3)
    track = spare.animation_data.nla_tracks.new()
    track.strips.new("Own", 2, spare.animation_data.action)
    thigh.animation_data_create()
    driver = thigh.driver_add("hide_render").driver
    driver.variables.new().targets[0].id = spare
    driver.expression = "0 * var"
    for name in ("Basis", "Bulge"):
        thigh.shape_key_add(name=name)
    thigh.data.shape_keys.key_blocks["Bulge"].keyframe_insert("value", frame=2)
    scene.frame_set(1)
