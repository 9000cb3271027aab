"""Small OpenSim models, written here word by word."""

from pathlib import Path

GROUND = "/ground"

DOCUMENT = """<?xml version="1.0" encoding="UTF-8" ?>
<OpenSimDocument Version="40000"><Model name="made"><Ground name="ground"/>
<gravity>0 -9.81 0</gravity>
<BodySet name="bodyset"><objects>{bodies}</objects></BodySet>
<JointSet name="jointset"><objects>{joints}</objects></JointSet>
{rest}</Model></OpenSimDocument>"""

JOINT = """<{kind} name="{name}"><socket_parent_frame>{parent}</socket_parent_frame>
<socket_child_frame>{child}</socket_child_frame><coordinates>{coordinates}</coordinates>
<frames>{frames}</frames>{rest}</{kind}>"""


def body(name: str, mass: float = 1.0, inertia: str = "0.01 0.02 0.02 0 0 0", rest: str = "") -> str:
    return f"""<Body name="{name}">{rest}<mass>{mass}</mass><mass_center>0.1 0 0</mass_center>
<inertia>{inertia}</inertia></Body>"""


def coordinate(name: str, rest: str = "") -> str:
    return f'<Coordinate name="{name}">{rest}</Coordinate>'


def offset(name: str, parent: str, translation: str = "0 0 0", orientation: str = "0 0 0") -> str:
    return f"""<PhysicalOffsetFrame name="{name}"><socket_parent>{parent}</socket_parent>
<translation>{translation}</translation><orientation>{orientation}</orientation></PhysicalOffsetFrame>"""


def joint(
    kind: str, name: str, parent: str, child: str, coordinates: str = "", frames: str = "", rest: str = ""
) -> str:
    """A joint; parent and child are names of bodies, paths, or frames of its own."""

    def path(frame: str) -> str:
        return frame if frame.startswith("/") or f'"{frame}"' in frames else f"/bodyset/{frame}"

    parts = {"coordinates": coordinates, "frames": frames, "rest": rest}
    return JOINT.format(kind=kind, name=name, parent=path(parent), child=path(child), **parts)


def write(path: Path, bodies: str, joints: str, rest: str = "") -> Path:
    """The model as a file."""
    path.write_text(DOCUMENT.format(bodies=bodies, joints=joints, rest=rest))
    return path


OLD_JOINT = """<Joint><{kind} name="{name}"><parent_body>{parent}</parent_body>
<location_in_parent>{at}</location_in_parent>
<orientation_in_parent>0.1 0.2 0.3</orientation_in_parent><location>0.02 0.1 0</location>
<orientation>0 0.4 0</orientation><CoordinateSet><objects><Coordinate name="{coordinate}"><motion_type>rotational
</motion_type><default_value>0.2</default_value><range>-1 2</range><clamped>true</clamped></Coordinate></objects>
</CoordinateSet><reverse>{reverse}</reverse>{rest}</{kind}></Joint>"""

OLD_AXIS = """<TransformAxis name="{name}"><function>{function}</function><coordinates>{follows}</coordinates>
<axis>{axis}</axis></TransformAxis>"""

OLD_BODIES = """<Body name="ground"><mass>0</mass><Joint/><VisibleObject/></Body>
<Body name="upper"><mass>2</mass><mass_center>0 -0.1 0</mass_center><inertia_xx>0.01</inertia_xx>
<inertia_yy>0.02</inertia_yy><inertia_zz>0.025</inertia_zz><inertia_xy>0.001</inertia_xy><inertia_xz>0</inertia_xz>
<inertia_yz>0</inertia_yz>{shoulder}<VisibleObject><GeometrySet><objects><DisplayGeometry>
<geometry_file>arm.vtp</geometry_file><scale_factors>2 1 1</scale_factors></DisplayGeometry></objects></GeometrySet>
<scale_factors>1 1 1</scale_factors></VisibleObject></Body>
<Body name="hand"><mass>1</mass><mass_center>0 -0.05 0.01</mass_center><inertia_xx>0.002</inertia_xx>
<inertia_yy>0.002</inertia_yy><inertia_zz>0.003</inertia_zz>{elbow}</Body>"""

MUSCLE_19 = """<Thelen2003Muscle name="flexor"><MusclePointSet><objects>
<MusclePoint name="a"><location>0 0.3 0</location><body>ground</body></MusclePoint>
<MuscleViaPoint name="b"><location>0 0.1 0</location><body>upper</body><range>-1 0.5</range>
<coordinate>elbow</coordinate></MuscleViaPoint><MovingMusclePoint name="c"><body>hand</body>
<XAttachment><natCubicSpline><x>-1 0 1</x><y>0 0.05 0.2</y></natCubicSpline></XAttachment>
<x_coordinate>elbow</x_coordinate><YAttachment><Constant><value>0.25</value></Constant></YAttachment>
<y_coordinate>elbow</y_coordinate><ZAttachment><Constant/></ZAttachment><z_coordinate>elbow</z_coordinate>
</MovingMusclePoint></objects></MusclePointSet><MuscleWrapSet><objects/></MuscleWrapSet>
<max_isometric_force>300</max_isometric_force><pennation_angle>0.2</pennation_angle></Thelen2003Muscle>"""


def old_document(version: int, rest: str = "", reverse: str = "false") -> str:
    """A model of a version before 4: two bodies, the hand's joint a CustomJoint that turns and slides."""
    slide = "<NaturalCubicSpline><x>-1 0 0.5 1</x><y>0.1 0 0.02 0.1</y></NaturalCubicSpline>"
    axes = [("rotation1", "", "elbow", "0 0 1"), ("rotation2", "<Constant/>", "", "0 1 0")]
    axes += [("rotation3", "<Constant/>", "", "1 0 0"), ("translation1", slide, "elbow", "1 0 0")]
    made = "".join(OLD_AXIS.format(name=n, function=f, follows=c, axis=a) for n, f, c, a in axes)
    shoulder = OLD_JOINT.format(
        kind="PinJoint", name="", parent="ground", at="0 1 0", coordinate="shoulder", reverse="false", rest=""
    )
    names = {"name": "elbow", "coordinate": "elbow", "reverse": reverse}
    made = f"<SpatialTransform>{made}</SpatialTransform>"
    elbow = OLD_JOINT.format(kind="CustomJoint", parent="upper", at="0 -0.3 0", rest=made, **names)
    bodies = OLD_BODIES.format(shoulder=shoulder, elbow=elbow)
    return f"""<?xml version="1.0"?><OpenSimDocument Version="{version}"><Model name="old"><gravity>0 -9.81 0</gravity>
<BodySet><objects>{bodies}</objects></BodySet>{rest}</Model></OpenSimDocument>"""


def hinged(tmp_path, rest="", coordinates=None, bodies=None):
    bodies = bodies or body("arm")
    made = joint("PinJoint", "elbow", GROUND, "arm", coordinates or coordinate("flexion"))
    return write(tmp_path / "made.osim", bodies, made, rest)


CORD = """<ForceSet><objects><Thelen2003Muscle name="cord"><GeometryPath name="geometrypath"><PathPointSet><objects>
<PathPoint name="p1"><socket_parent_frame>/ground</socket_parent_frame><location>0.0 0.3 0</location></PathPoint>
<PathPoint name="p2"><socket_parent_frame>/ground</socket_parent_frame><location>0.02 0.1 0</location></PathPoint>
<PathPoint name="p3"><socket_parent_frame>/bodyset/arm</socket_parent_frame><location>0.3 0 0</location></PathPoint>
</objects></PathPointSet><PathWrapSet><objects><PathWrap name="w"><wrap_object>ball</wrap_object>{wrap}</PathWrap>
</objects></PathWrapSet></GeometryPath></Thelen2003Muscle></objects></ForceSet>"""
BALL = """<WrapObjectSet><objects><WrapSphere name="ball"><translation>{at}</translation><radius>{radius}</radius>
{rest}</WrapSphere></objects></WrapObjectSet>"""


def wrapped(tmp_path, wrap="", at="0.1 0 0", radius=0.03, ball=""):
    """A muscle of three points over a ball on the arm; wrap, ball: what its PathWrap and the ball say beside that."""
    on_arm = BALL.format(at=at, radius=radius, rest=ball)
    return hinged(tmp_path, CORD.format(wrap=wrap), bodies=body("arm", rest=on_arm))
