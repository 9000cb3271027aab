"""Muscles in the scene: points that stick to bodies, obstacles, what physics is given, and what a bake leaves."""

from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from ..said import said
from ..selecting import select
from ..tubes import seen

TURN = Matrix.Rotation(np.pi / 2, 4, "X")


@pytest.mark.small
def test_points_stick_to_bodies_without_a_bake(part, arm, make):
    _, lower, _, muscle = arm
    points = part("reading.muscle_points")
    lower.location = (0.3, 0.1, 0.0)
    lower.rotation_euler = (0.0, 0.4, 0.0)
    make.update()
    origin, insertion = (point.place for point in points.points_of(muscle))
    assert np.allclose(origin, (0.06, 0, 0.65), atol=1e-6)
    expected = lower.matrix_world @ Matrix.Translation((0.06, 0, 0.05)).translation
    assert np.allclose(insertion, expected, atol=1e-6)
    middles, _ = seen(muscle)
    assert np.allclose(middles, [origin, insertion], atol=1e-5)
    length = part("reading.muscle_lengths").length_now(bpy.context.scene, muscle)
    assert np.isclose(length, np.linalg.norm(insertion - origin))


@pytest.mark.small
def test_points_stick_to_bones(part, scene, make, body):
    rig = make.armature("Rig")
    rig.location = (1.0, 0.0, 0.0)
    make.update()
    part("making.bodies_and_joints").add_joint(scene, body(rig, "A"), body(rig, "B"), "hinge")
    muscle = part("making.muscles").add_muscle(
        scene, [(body(rig, "A"), (1.1, 0, 0.8)), (body(rig, "B"), (1.1, 0, 0.2))]
    )
    rig.pose.bones["B"].rotation_mode = "XYZ"
    rig.pose.bones["B"].rotation_euler = (0.7, 0.0, 0.0)
    make.update()
    middles, _ = seen(muscle)
    places = [point.place for point in part("reading.muscle_points").points_of(muscle)]
    assert np.allclose(middles + np.array(muscle.location), places, atol=1e-5)
    assert np.linalg.norm(places[1] - [1.1, 0, 0.2]) > 0.1
    rig.pose.bones["B"].rotation_euler = (0.0, 0.0, 0.0)
    rig.pose.bones["B"].name = "Shin"
    make.update()
    read = part("reading.scene").read(scene)
    (made,) = read.model.muscles
    assert [point.body for point in made.points] == [None, "Rig/Shin"]


@pytest.mark.small
def test_a_curve_becomes_a_muscle(part, scene, arm, make):
    data = bpy.data.curves.new("Path", "CURVE")
    spline = data.splines.new("BEZIER")
    spline.bezier_points.add(2)
    for point, place in zip(spline.bezier_points, ((-0.06, 0, 0.6), (-0.1, 0, 0.4), (-0.06, 0, 0.1))):
        point.co = place
    item = bpy.data.objects.new("Triceps", data)
    item.location = (0.0, 0.01, 0.0)
    scene.collection.objects.link(item)
    make.update()
    select(item)
    assert bpy.ops.condyle.add_muscle() == {"FINISHED"}
    assert [each.type for each in item.data.splines] == ["POLY"]
    targets = [point.target.name for point in part("reading.muscle_points").points_of(item)]
    assert targets == ["Upper", "Upper", "Lower"]
    with pytest.raises(RuntimeError, match="This curve is already a muscle"):
        bpy.ops.condyle.add_muscle()


def test_empties_and_bodies_are_picked(part, scene, arm, make):
    upper, lower, _, _ = arm
    one, two = make.empty("Pick.001"), make.empty("Pick.002", lower)
    one.location, two.location = (0.05, 0.0, 0.6), (0.05, 0.0, 0.1)
    make.update()
    select(one, two)
    assert bpy.ops.condyle.add_muscle() == {"FINISHED"}
    made = bpy.context.active_object
    points = part("reading.muscle_points").points_of(made)
    assert [point.target.name for point in points] == ["Upper", "Lower"]
    assert np.allclose(points[1].place, two.matrix_world.translation, atol=1e-6)
    select(upper, lower)
    scene.cursor.location = (0.2, 0.0, 0.3)
    assert bpy.ops.condyle.add_muscle() == {"FINISHED"}
    points = part("reading.muscle_points").points_of(bpy.context.active_object)
    assert np.allclose(points[0].place, (0.05, 0.0, 0.3), atol=1e-5)
    assert np.allclose(points[1].place, (0.05, 0.0, 0.25), atol=1e-5)


def test_what_physics_is_given(part, scene, arm, make, body, ph):
    upper, _, _, muscle = arm
    muscle.condyle.muscle.mass = 0.3
    scene.unit_settings.scale_length = 0.5
    obstacle = part("making.obstacles").add_obstacle(
        scene, body(upper), "cylinder", Matrix.Translation((0, 0, 0.27)) @ TURN, radius=0.07, length=0.3
    )
    part("making.muscles").wrap_over(muscle, obstacle)
    (made,) = part("reading.scene").read(scene).model.muscles
    assert made.name == "Biceps" and np.isclose(made.mass, 0.3)
    assert np.allclose(made.points[1].position, (0.03, 0.0, 0.025), atol=1e-7)
    (cylinder,) = made.strands[0].obstacles
    assert np.isclose(cylinder.radius, 0.035) and np.isclose(cylinder.length, 0.15)
    state = part("reading.scene").read(scene)
    length = ph.muscle_lengths(state.model, state.state).lengths[0]
    shown = part("reading.muscle_lengths").length_now(scene, muscle)
    assert np.isclose(0.5 * shown, length, rtol=1e-3)  # the one is a polyline of the other
    assert length > 0.5 * 0.55 + 1e-4


def test_mass_may_lie_in_the_belly_between_tendons(part, scene, arm, make, ph):
    muscle = arm[3]
    settings = muscle.condyle.muscle
    settings.mass, settings.num_points, settings.mass_lies = 0.5, 8, "BELLY"
    settings.origin_tendon, settings.insertion_tendon, settings.tendon_mass = 0.1, 0.3, 0.2
    scene.unit_settings.scale_length = 0.5
    read = part("reading.scene").read(scene)
    (made,) = read.model.muscles
    assert np.isclose(made.mass, 0.5) and made.num_points == 8 + 2 * 5
    length = ph.muscle_lengths(read.model, read.state).lengths[0]
    tendons = length * np.array([0.1, 0.3])
    expected = ph.muscles.MassPoints.belly(0.4, 8, tendons=tendons, tendon_masses=(0.025, 0.075))
    for name in ("masses", "offsets", "shares"):
        assert np.allclose(getattr(made.masses, name), getattr(expected, name), atol=1e-7)


def test_tendons_are_as_long_as_the_path_over_an_obstacle_says(part, scene, arm, make, body, ph):
    upper, _, _, muscle = arm
    obstacle = part("making.obstacles").add_obstacle(
        scene, body(upper), "cylinder", Matrix.Translation((0, 0, 0.27)) @ TURN, radius=0.07
    )
    part("making.muscles").wrap_over(muscle, obstacle)
    settings = muscle.condyle.muscle
    settings.mass, settings.mass_lies, settings.smoothing = 0.5, "BELLY", 0.002
    read = part("reading.scene").read(scene)
    assert np.isclose(read.model.muscles[0].strands[0].smoothing, 0.002)
    length = part("reading.muscle_lengths").true_length(scene, muscle)
    assert np.isclose(length, ph.muscle_lengths(read.model, read.state).lengths[0], rtol=1e-6)


def test_obstacles_are_drawn_as_they_are(part, scene):
    obstacles = part("making.obstacles")
    for shape in part("data.obstacles").SHAPES:
        item = obstacles.add_obstacle(scene, None, shape, radius=0.05, major_radius=0.2)
        count = len(item.data.vertices)
        assert count and len(item.data.polygons)
        item.condyle.obstacle.radius = 0.06
        item.condyle.obstacle.radii = (0.1, 0.2, 0.3)
        assert len(item.data.vertices) == count
        made = part("reading.obstacles").of_shape(item)
        points = np.array([vertex.co for vertex in item.data.vertices])
        if shape != "double_cylinder":
            expected = made.grid(part("making.obstacles").AROUND, part("making.obstacles").ALONG).reshape(
                -1, 3
            )
            assert np.allclose(points, expected, atol=1e-6)


def test_a_double_cylinder_is_drawn_and_wrapped_over(part, scene, body, arm, ph):
    upper, _, _, muscle = arm
    place = Matrix.Translation((0, 0, 0.3)) @ TURN
    item = part("making.obstacles").add_obstacle(
        scene,
        body(upper),
        "double_cylinder",
        place,
        radius=0.07,
        second_radius=0.08,
        second_place=(0.0, -0.1, 0.0),
        second_turn=(0.3, 0.2, -0.1),
        side="+z",
        second_side="counterclockwise",
    )
    second = place @ Matrix.Translation((0.0, -0.1, 0.0)) @ Matrix.Rotation(-0.1, 4, "Z")
    second = second @ Matrix.Rotation(0.2, 4, "Y") @ Matrix.Rotation(0.3, 4, "X")
    half = len(item.data.vertices) // 2
    there = np.array([second.inverted() @ place @ vertex.co for vertex in item.data.vertices[half:]])
    assert np.allclose(np.hypot(there[:, 0], there[:, 1]), 0.08, atol=1e-6)
    part("making.muscles").wrap_over(muscle, item)
    muscle.condyle.muscle.smoothing = 1e-3
    read = part("reading.scene").read(scene)
    (made,) = read.model.muscles[0].strands[0].obstacles
    assert (made.side, made.second_side) == ("shorter", "counterclockwise")  # a cylinder has no +z side
    assert np.isclose(made.second_radius, 0.08)
    path = part("reading.muscle_lengths").path_now(scene, muscle)
    assert np.isclose(
        part("reading.muscle_lengths").true_length(scene, muscle), read_length(ph, read), rtol=1e-6
    )
    first = (path - np.array(place.translation)) @ np.array(place)[:3, :3]
    assert np.hypot(first[:, 0], first[:, 1]).min() > 0.07 - 1e-3


def read_length(ph, read):
    """Of the first muscle, as physics has it [m]."""
    return ph.muscle_lengths(read.model, read.state).lengths[0]


@pytest.mark.small
def test_sides_that_are_offered_are_those_that_physics_takes(part, scene):
    properties, obstacles = part("data.obstacles"), part("making.obstacles")
    for name, shape in properties.SHAPES.items():
        item = obstacles.add_obstacle(scene, None, name, radius=0.05, major_radius=0.2)
        for side, *_ in properties.SIDES:
            item.condyle.obstacle.side = side
            assert obstacles.of_shape(item).side == (side if side in shape.sides else "shorter")


def test_bad_input_is_told_by_name_before_a_bake(part, scene, arm, make, ph):
    upper, lower, _, muscle = arm
    tasks, body = part("jobs.bake"), part("data.references").Body
    obstacle = part("making.obstacles").add_obstacle(scene, body(upper), "sphere", radius=0.05)
    row = part("making.muscles").wrap_over(muscle, obstacle, strand=2)
    with pytest.raises(ph.ModelError, match=r"'Biceps'.*between points 2 and 3, but has only 2 points"):
        tasks.bake_now(scene)
    row.strand = 0
    obstacle.scale = (1.0, 2.0, 1.0)
    make.update()
    with pytest.raises(ph.ModelError, match=r"non-uniform scale"):
        tasks.bake_now(scene)
    bpy.data.objects.remove(obstacle)
    with pytest.raises(ph.ModelError, match=r"'Biceps'.*an obstacle is missing"):
        tasks.bake_now(scene)
    muscle.condyle.muscle.obstacles.clear()
    muscle.data.splines.new("POLY")
    with pytest.raises(
        ph.ModelError, match=r"'Biceps': its curve must be one spline of type Poly, but has 2"
    ):
        tasks.bake_now(scene)
    with pytest.raises(ph.ModelError, match=r"all points of muscle 'Short' are on Upper"):
        part("making.muscles").add_muscle(
            scene, [(body(upper), (0, 0, 0)), (body(upper), (0, 0, 1))], "Short"
        )
    assert muscle.data.name == "Biceps" and lower.animation_data is None


def test_new_points_are_stuck(part, scene, arm, make):
    muscle = arm[3]
    spline = muscle.data.splines[0]
    spline.points.add(1)
    spline.points[2].co = (0.06, 0.0, -0.1, 1.0)
    make.update()
    points = part("reading.muscle_points")
    assert points.points_of(muscle)[2].target is None
    lines = part("ui.muscles.panels").state_lines(scene, muscle)
    assert any("Point 3 is on no body" in text for text, _ in lines)
    select(muscle)
    assert bpy.ops.condyle.stick_points() == {"FINISHED"}
    assert points.points_of(muscle)[2].target.name == "Lower"


@pytest.mark.small
def test_what_a_simulation_says_of_paths_is_passed_on(part):
    """A bake warns of what a result's diagnosis holds."""
    wrap = {"muscle": "Triceps", "inside": 3, "unsolved": 0, "states": 9}
    read = SimpleNamespace(muscles=[SimpleNamespace(name="Triceps", session_uid=7)])
    diagnosis = part("blender.physics_access").part("model.diagnosis").findings_of({"missed_wraps": [wrap]})
    found = part("baking.solver_statistics").warnings(read, SimpleNamespace(diagnosis=diagnosis))
    assert said(found) == [("wrap-inside", "Triceps", 3, 9)] and found[0].session_uid == 7


def test_wrong_figures_of_a_law_are_told(part, scene, arm, ph):
    law = arm[3].condyle.muscle.law
    law.kind, law.details = "thelen", "{"
    with pytest.raises(ph.ModelError, match="'Biceps': the text of its details is not JSON"):
        part("jobs.bake").bake_now(scene)
    law.details = '{"passive_strain": -1}'
    with pytest.raises(ph.ModelError, match="'Biceps': passive_strain must be positive, got -1"):
        part("jobs.bake").bake_now(scene)


def test_the_path_over_obstacles_is_drawn_before_a_bake(part, scene, body, arm):
    upper, _, _, muscle = arm
    drawn = part("ui.overlay.muscles")
    bpy.context.view_layer.objects.active = muscle
    assert drawn.visible(bpy.context) == []
    obstacle = part("making.obstacles").add_obstacle(
        scene, body(upper), "cylinder", Matrix.Translation((0, 0, 0.27)) @ TURN, radius=0.07
    )
    part("making.muscles").wrap_over(muscle, obstacle)
    assert drawn.visible(bpy.context) == [(muscle, True)]
    (lines,) = drawn.lines(scene, muscle, 1.0)
    assert drawn.lines(scene, muscle, 1.0)[0] is lines
    near = np.hypot(lines.ends[..., 0], lines.ends[..., 2] - 0.27)
    assert near.min() > 0.07 - 1e-4 and np.isclose(near.min(), 0.07, atol=5e-4)
    obstacle.condyle.obstacle.radius = 0.08
    assert drawn.lines(scene, muscle, 1.0)[0] is not lines
    obstacle.condyle.obstacle.enabled = False
    assert drawn.lines(scene, muscle, 1.0) is None


def test_a_redraw_computes_few_paths_while_things_move(part, scene, make, body, monkeypatch):
    """The others are straight until nothing moves, when each redraw computes at least one."""
    lengths, muscles = part("reading.muscle_lengths"), part("making.muscles")
    upper, lower = make.box("Upper", (0, 0, 1)), make.box("Lower", (0, 0, 0))
    make.update()
    ends = [(body(upper), (0.0, 0.0, 0.9)), (body(lower), (0.0, 0.0, 0.1))]
    surface = part("making.obstacles").add_obstacle(scene, body(upper), "sphere", radius=0.05)
    surface.matrix_world.translation = (0.01, 0.0, 0.5)
    items = [muscles.add_muscle(scene, ends, f"M{number}") for number in range(3)]
    for item in items:
        muscles.wrap_over(item, surface)
    make.update()
    monkeypatch.setattr(lengths.Budget, "SECONDS", 1e-6)

    def drawn(moving):
        budget = lengths.Budget(moving)
        return [len(lengths.path_now(scene, item, budget)) > 2 for item in items]

    assert drawn(moving=False) == [True, False, False]
    assert drawn(moving=True) == [True, True, False]  # its cost is not known yet
    assert drawn(moving=False) == [True, True, True]
    surface.location.x += 0.01
    make.update()
    assert drawn(moving=True) == [False] * 3
