"""Muscles of OpenSim models: their paths, and the surfaces that these wrap over."""

import itertools
import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import physics as ph
from physics.geometry import lie
from physics.io.opensim_muscles import Meetings, in_frame
from physics.joints import CubicSpline, Wave
from physics.muscles import Moving
from tests.physics.io.osim import BALL, CORD, body, hinged, wrapped


def test_a_path_with_every_kind_of_point(tmp_path):
    rest = """<ForceSet><objects><Thelen2003Muscle name="flexor"><max_isometric_force>300</max_isometric_force>
<ignore_tendon_compliance>true</ignore_tendon_compliance><GeometryPath name="geometrypath"><PathPointSet><objects>
<PathPoint name="p1"><socket_parent_frame>/ground</socket_parent_frame><location>0 0.1 0</location></PathPoint>
<ConditionalPathPoint name="p2"><socket_parent_frame>/bodyset/arm</socket_parent_frame><location>0.1 0.1 0</location>
<socket_coordinate>/jointset/elbow/flexion</socket_coordinate><range>-1 0.5</range></ConditionalPathPoint>
<MovingPathPoint name="p3"><socket_parent_frame>/bodyset/arm</socket_parent_frame>
<socket_x_coordinate>/jointset/elbow/flexion</socket_x_coordinate>
<x_location><LinearFunction><coefficients>2 1</coefficients></LinearFunction></x_location>
<y_location><Constant><value>0.25</value></Constant></y_location>
<z_location><Constant><value>0</value></Constant></z_location><location>1 2 3</location></MovingPathPoint>
</objects></PathPointSet><PathWrapSet><objects><PathWrap name="w"><wrap_object>ball</wrap_object><range>1 2</range>
</PathWrap></objects></PathWrapSet></GeometryPath></Thelen2003Muscle></objects>
<groups><ObjectGroup name="flexors"><members>flexor</members></ObjectGroup></groups></ForceSet>"""
    ball = """<WrapObjectSet><objects><WrapSphere name="ball"><xyz_body_rotation>0 0 0.5</xyz_body_rotation>
<translation>0.1 0 0</translation><quadrant>-y</quadrant><radius>0.03</radius></WrapSphere></objects></WrapObjectSet>"""
    read = ph.read_opensim(hinged(tmp_path, rest, bodies=body("arm", rest=ball)), muscles=False)
    assert not read.warnings and not any("location" in note for note in read.notes)
    muscle = read.muscles["flexor"]
    assert muscle.kind == "Thelen2003Muscle" and muscle.parameters["max_isometric_force"] == 300.0
    assert muscle.flags["ignore_tendon_compliance"] and muscle.wraps[0].range == (1, 2)
    first, second, third = muscle.points
    assert first.body is None and second.coordinate == "flexion" and second.range == (-1.0, 0.5)
    assert third.moves[0][1] == "flexion" and np.allclose(third.location, [1.0, 0.25, 0.0])
    ball = read.wrap_objects["ball"]
    assert (
        ball.kind == "sphere" and ball.size == (0.03,) and ball.quadrant == "-y" and ball.frame.body == "arm"
    )
    assert read.groups == {"flexors": ("flexor",)}


def test_muscles_are_added_along_their_paths(tmp_path):
    """Origin on the ground; a point that is there up to 0.5 rad; an insertion that moves along the arm."""
    points = """<PathPoint name="p1"><socket_parent_frame>/ground</socket_parent_frame><location>0 0.3 0</location>
</PathPoint><ConditionalPathPoint name="p2"><socket_parent_frame>/bodyset/arm</socket_parent_frame>
<location>0.1 0.2 0</location><socket_coordinate>/jointset/elbow/flexion</socket_coordinate><range>-1 0.5</range>
</ConditionalPathPoint><MovingPathPoint name="p3"><socket_parent_frame>/bodyset/arm</socket_parent_frame>
<socket_x_coordinate>/jointset/elbow/flexion</socket_x_coordinate><x_location><LinearFunction>
<coefficients>0.1 0.4</coefficients></LinearFunction></x_location></MovingPathPoint>"""
    rest = f"""<ForceSet><objects><Thelen2003Muscle name="flexor"><GeometryPath name="geometrypath"><PathPointSet>
<objects>{points}</objects></PathPointSet></GeometryPath></Thelen2003Muscle></objects></ForceSet>"""
    read = ph.read_opensim(hinged(tmp_path, rest))
    model = read.build()
    for angle in (-0.4, 0.2, 0.9):
        turn = lie.so3_exp([0.0, 0.0, angle])
        insertion = turn @ [0.4 + 0.1 * angle, 0.0, 0.0]
        corners = [[0.0, 0.3, 0.0], turn @ [0.1, 0.2, 0.0], insertion]
        if angle > 0.5:
            del corners[1]
        length = sum(np.linalg.norm(np.subtract(b, a)) for a, b in itertools.pairwise(corners))
        state = read.state(model, {"flexion": angle})
        assert ph.muscle_lengths(model, state).lengths[0] == pytest.approx(length, abs=1e-14)
    assert not ph.read_opensim(hinged(tmp_path, rest), muscles=False).build().muscles


def test_a_point_moves_in_a_frame_that_is_turned():
    """Along a table and a wave of one coordinate; along two coordinates it cannot."""
    functions = CubicSpline([-1.0, 0.0, 0.5, 1.0], [0.1, 0.0, 0.3, 0.2]), Wave(0.1, 0.2, 0.05)
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = lie.so3_exp([0.4, -0.7, 0.2]), (0.1, 0.2, 0.3)
    parts = [Moving("arm.angle", functions[0]), 0.3, Moving("arm.angle", functions[1])]
    found = in_frame(parts, pose, "p")
    for angle in (-1.5, -0.2, 0.4, 1.2):
        place = [functions[0](angle), 0.3, functions[1](angle), 1.0]
        there = [part.function(angle) for part in found]
        np.testing.assert_allclose(there, (pose @ place)[:3], atol=1e-12)  # of the wave's table
    parts[2] = Moving("arm.other", functions[1])
    with pytest.raises(ph.ModelError, match="point 'p' follows several coordinates"):
        in_frame(parts, pose, "p")


@pytest.mark.parametrize("given", ["90 95", "1 4"])
def test_a_wrap_between_points_that_are_not_there_is_refused(tmp_path, given):
    path = wrapped(tmp_path, f"<range>{given}</range>")
    with pytest.raises(
        ph.FormatError, match=r"PathWrap 'w': range must end within the path's points, 1 to 3"
    ):
        ph.read_opensim(path)


@pytest.mark.parametrize("given", ["3 2", "2 2", "3 3", "4 -1", "5 -1", "-1 1"])
def test_a_path_is_straight_where_a_wrap_has_no_stretch(tmp_path, given):
    """As in OpenSim 4.6, where this path over the ball has 0.500242 m."""
    read = ph.read_opensim(
        wrapped(tmp_path, f"<range>{given}</range>", at="0.2 0.01 0", radius=0.04), smoothing=0.0
    )
    model = read.build()
    lengths = ph.muscle_lengths(model, read.state(model, {"flexion": 0.0})).lengths
    assert lengths[0] == pytest.approx(0.498319, abs=1e-6)
    assert "a wrap lies between no two points: cord over ball" in read.notes


@pytest.mark.parametrize("given", ["2 3", "-1 -1", "0 3", "2 -1"])
def test_a_wrap_is_read_between_points_that_are_there(tmp_path, given):
    assert ph.read_opensim(wrapped(tmp_path, f"<range>{given}</range>")).muscles["cord"].wraps


@pytest.mark.parametrize("method", ["midpoint", "axial", "magic"])
def test_methods_of_wraps_are_named(tmp_path, method):
    (told,) = ph.read_opensim(wrapped(tmp_path, f"<method>{method}</method>")).warnings
    assert repr(method) in told and told.endswith(": cord over ball")
    usual = ph.read_opensim(wrapped(tmp_path, "<method>hybrid</method>")).warnings
    assert not any("method" in told for told in usual)


def test_a_stretch_that_seldom_meets_a_surface_wraps_where_it_does(tmp_path):
    """A small ball on the arm that swings all round, a far stretch before the one that runs to the arm."""
    read = ph.read_opensim(wrapped(tmp_path, at="0.2 0 0", radius=0.02), smoothing=0.0)
    model = read.build()
    assert list(model.muscles[0].strands) == [0, 1] and not read.warnings
    for angle, longer in (
        (np.arctan2(0.2, 0.0), True),
        (0.0, False),
    ):  # the ball is 1 cm beside the stretch's middle
        points = [[0.0, 0.3, 0.0], [0.02, 0.1, 0.0], lie.so3_exp([0.0, 0.0, angle]) @ [0.3, 0.0, 0.0]]
        chords = [np.linalg.norm(np.subtract(b, a)) for a, b in itertools.pairwise(points)]
        length = ph.muscle_lengths(model, read.state(model, {"flexion": angle})).lengths[0]
        assert (length > sum(chords) + 1e-3) == longer


# lengths and moment arms of OpenSim 4.6 (nine and seven digits): a quadrant forces both stretches round the cylinder,
# and it takes the one whose line meets it, else that which gets the least longer: the first, the second ...
@pytest.mark.parametrize("angle, length, arm", [
    (-3.0, 1.037938369, -0.3216308), (-2.2, 0.596500012, -0.0354147), (-0.6, 1.114718469, 0.2706585),
    (1.0, 0.409436149, 0.0518452), (2.2, 0.614819960, -0.4126635),
])  # fmt: skip
def test_a_quadrant_forces_one_stretch_at_a_time_round_a_cylinder(tmp_path, angle, length, arm):
    path = wrapped(tmp_path, at="0.2 0 0", radius=0.02, ball="<length>1</length><quadrant>x</quadrant>")
    path.write_text(path.read_text().replace("WrapSphere", "WrapCylinder"))
    read = ph.read_opensim(path, smoothing=0.0)
    model = read.build()
    found = ph.muscle_lengths(model, read.state(model, {"flexion": angle}))
    assert found.lengths[0] == pytest.approx(length, abs=1e-9)
    assert found.moment_arms[0, 0] == pytest.approx(arm, abs=1e-7)
    assert ph.ModelBuilder.from_dict(model.to_dict()).build().muscles[0].wraps_once and not read.warnings
    ph.write_opensim(model, tmp_path / "again.osim", tolerance=1e-4)
    again = ph.read_opensim(tmp_path / "again.osim", smoothing=0.0).build()
    state = again.state(q=read.state(model, {"flexion": angle}).q)
    assert ph.muscle_lengths(again, state).lengths[0] == pytest.approx(length, abs=1e-9)


# lengths of OpenSim 4.6 (seven digits) with both ends behind, with one, where the line touches the cylinder
@pytest.mark.parametrize("angle, length", [(1.5, 0.4209974), (1.78, 0.4163334), (1.9, 0.4210160)])
def test_a_quadrant_holds_where_the_line_misses_a_cylinder_on_the_other_side(tmp_path, angle, length):
    ball = "<length>1</length><quadrant>-y</quadrant>"
    path = wrapped(tmp_path, "<range>2 3</range>", at="0.15 -0.04 0", radius=0.01, ball=ball)
    path.write_text(path.read_text().replace("WrapSphere", "WrapCylinder"))
    read = ph.read_opensim(path, smoothing=0.0)
    model = read.build()
    found = ph.muscle_lengths(model, read.state(model, {"flexion": angle})).lengths[0]
    assert found == pytest.approx(length, abs=1e-7)


# lengths of OpenSim 4.6 (seven digits), where the line between arm and ground misses the surface, and meets it
@pytest.mark.parametrize(
    "kind, size, lengths, digits",
    [
        ("Cylinder", "<length>1</length>", (0.4229868, 0.4042908), 1e-7),
        ("Cylinder", "<length>1</length><quadrant>x</quadrant>", (0.4348306, 0.4161345), 1e-7),
        # plane sections of OpenSim's
        ("Ellipsoid", "<dimensions>0.03 0.04 0.05</dimensions>", (0.4231034, 0.4044074), 1e-6),
    ],
)
def test_a_stretch_behind_one_that_always_meets_a_surface_is_straight(tmp_path, kind, size, lengths, digits):
    cord = CORD.format(wrap="").replace("/bodyset/arm", "insertion")
    cord = cord.replace("/ground", "/bodyset/arm").replace("insertion", "/ground")
    ball = BALL.format(at="0.02 0.2 0", radius=0.03, rest=size).replace("WrapSphere", f"Wrap{kind}")
    read = ph.read_opensim(hinged(tmp_path, cord, bodies=body("arm", rest=ball)), smoothing=0.0)
    model = read.build()
    for angle, length in zip((-1.9, -1.5), lengths):
        found = ph.muscle_lengths(model, read.state(model, {"flexion": angle})).lengths[0]
        assert found == pytest.approx(length, abs=digits)


# lengths of OpenSim 4.6 (seven digits)
@pytest.mark.parametrize("angle, length", [(1.5, 0.5750266), (1.9, 0.5750452)])
def test_a_stretch_that_ends_inside_a_surface_leaves_its_side_to_another(tmp_path, angle, length):
    ball = "<length>1</length><quadrant>-y</quadrant>"
    path = wrapped(tmp_path, "<range>2 4</range>", at="0.15 -0.04 0", radius=0.01, ball=ball)
    last = """<PathPoint name="p4"><socket_parent_frame>/bodyset/arm</socket_parent_frame>
<location>0.15 -0.035 0</location></PathPoint></objects></PathPointSet>"""
    text = path.read_text().replace("WrapSphere", "WrapCylinder")
    path.write_text(text.replace("</objects></PathPointSet>", last))
    read = ph.read_opensim(path, smoothing=0.0)
    model = read.build()
    assert list(model.muscles[0].strands) == [1]
    found = ph.muscle_lengths(model, read.state(model, {"flexion": angle})).lengths[0]
    assert found == pytest.approx(length, abs=1e-7)


def test_poses_in_which_paths_are_tested_keep_couplings():
    builder = ph.ModelBuilder()
    for name, parent in (("a", None), ("b", "a")):
        builder.add_body(name, parent, joint=ph.joints.Hinge((0, 0, 1)), mass=1.0, inertia=np.eye(3))
    builder.add_constraint("gear", ph.constraints.CouplingConstraint("b.angle", {"a.angle": -0.5}))
    ranges = {
        name: SimpleNamespace(coordinate=f"{name}.angle", range=(-1.0, 2.0), default=0.3) for name in "ab"
    }
    meetings = Meetings(builder, ranges)
    first, second = (meetings.q[:, meetings.places[f"{name}.angle"]] for name in "ab")
    np.testing.assert_allclose(second, -0.5 * first, atol=1e-15)
    assert first.min() < -0.9 and first.max() > 1.9


def test_poses_in_which_paths_are_tested_are_those_of_the_model():
    builder, turned = ph.ModelBuilder(), np.diag([1.0, -1.0, -1.0, 1.0])
    for name, parent, joint, frame in (
        ("base", None, ph.joints.Free(), "body_in_joint"),
        ("fixed", "base", ph.joints.Fixed(), "joint_in_parent"),
        ("arm", "fixed", ph.joints.Universal(), "body_in_joint"),
    ):
        builder.add_body(name, parent, joint=joint, mass=1.0, inertia=np.eye(3), **{frame: turned})
    names = builder.build().coordinate_names
    ranges = {name: SimpleNamespace(coordinate=name, range=(-1.0, 2.0), default=0.3) for name in names}
    meetings = Meetings(builder, ranges)
    for row in (0, 5, -1):
        expected = ph.body_poses(meetings.model, meetings.model.state(meetings.q[row]))
        found = [meetings.poses[name][row] for name in meetings.model.body_names]
        assert np.allclose(found, expected, rtol=0.0, atol=1e-14)  # round-off


MODELS = Path(__file__).resolve().parents[4] / "shared" / "models"
PUBLIC = os.environ.get("CONDYLE_OPENSIM_MODELS", "")


@pytest.mark.parametrize(
    "file",
    [
        "gait10dof18musc_subject01.osim",
        "gait2392_thelen2003muscle.osim",
        "more/subject_walk_scaled.osim",  # of Rajagopal2016
        "Rajagopal2016.osim",
    ],
)
def test_the_right_leg_is_as_long_as_the_left(file):
    """Lengths and moment arms of mirrored poses, by round-off. In Rajagopal2016 the axes of the toes are mirrored to
    5.3e-6 rad, as their angle of pi has six digits: times 25 mm.
    """
    public = sorted(Path(PUBLIC).rglob(file)) if PUBLIC else []
    path = next((path for path in (MODELS / file, *public) if path.exists()), None)
    if path is None:
        pytest.skip(f"the model {file} is neither beside this checkout nor in CONDYLE_OPENSIM_MODELS")
    read = ph.read_opensim(path, limits=False)
    model = read.build()

    def sides(names):
        return np.array([[k, names.index(f"{n[:-2]}_l")] for k, n in enumerate(names) if n.endswith("_r")]).T

    coordinates = {name: read.coordinates[name].coordinate for name in read.coordinates}
    places = np.array([model.coordinate_names.index(each) for each in coordinates.values()])
    right, left = sides([muscle.name for muscle in model.muscles])
    by_right, by_left = places[sides([*coordinates])]
    assert len(right) > 8 and len(by_right) > 2
    toes = np.array([*coordinates])[sides([*coordinates])[0]] == "mtp_angle_r"
    rng = np.random.default_rng(0)
    for _ in range(200):
        values = {
            f"{name[:-2]}_{side}": value
            for name, coordinate in read.coordinates.items()
            if name.endswith("_r") and not coordinate.locked
            for value in [rng.uniform(*np.clip(coordinate.range, -2.0, 2.0))]
            for side in "rl"
        }
        found = ph.muscle_lengths(model, read.state(model, values))
        assert np.abs(found.lengths[right] - found.lengths[left]).max() < 1e-12
        arms = found.moment_arms
        differ = np.abs(arms[np.ix_(right, by_right)] - arms[np.ix_(left, by_left)]).max(axis=0)
        assert np.all(differ < np.where(toes, 1.5e-7, 1e-12))
