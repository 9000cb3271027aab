"""Files of OpenSim 1.9 to 3.3 in the layout of version 4, so that one reader reads all."""

from xml.etree.ElementTree import Element

from .opensim_out import collection, made
from .opensim_xml import numbered

OLDEST, FIRST_OF_4 = 10901, 40000  # OpenSim 4.6 reads no older files either
INERTIA = ("xx", "yy", "zz", "xy", "xz", "yz")
RENAMED = {
    "MusclePointSet": "PathPointSet",
    "MuscleWrapSet": "PathWrapSet",
    "MusclePoint": "PathPoint",
    "MuscleViaPoint": "ConditionalPathPoint",
    "MovingMusclePoint": "MovingPathPoint",
    "MuscleWrap": "PathWrap",
    "XAttachment": "x_location",
    "YAttachment": "y_location",
    "ZAttachment": "z_location",
    "natCubicSpline": "SimmSpline",
    "NaturalCubicSpline": "SimmSpline",
    "pennation_angle": "pennation_angle_at_optimal",
    "Schutte1993Muscle": "Schutte1993Muscle_Deprecated",
    "Delp1990Muscle": "Delp1990Muscle_Deprecated",
}
OF_MASS = ("mass", "mass_center", "inertia")
BODIES = {  # the entry of a part that names a body, and its socket
    "body": "socket_parent_frame",
    "body_1": "socket_body_1",
    "body_2": "socket_body_2",
    "line_body": "socket_line_body",
    "follower_body": "socket_follower_body",
    "body_name": "socket_frame",
}
COORDINATES = {name: f"socket_{name}" for name in ("x_coordinate", "y_coordinate", "z_coordinate")}
POINTS = ("PathPoint", "ConditionalPathPoint", "MovingPathPoint")
OF_BODIES = (
    *POINTS,
    "Marker",
    "PointConstraint",
    "ConstantDistanceConstraint",
    "PointOnLineConstraint",
    "ContactHalfSpace",
    "ContactSphere",
    "ContactMesh",
)
TWO_FRAMES = ("WeldConstraint", "BushingForce")
PLACES = (("parent", "_in_parent"), ("child", ""))


def modernized(root: Element, version: int) -> None:
    """Change a document of an older version to the layout of version 4.

    Bodies lose their joints to a set of joints, with offset frames for the places in parent and child; names of bodies
    become paths; muscles of version 1.9 get a path. Parts that are unknown stay as they are.
    """
    model = root.find("Model")
    if model is None or version >= FIRST_OF_4:
        return
    for element in list(root.iter()):
        _rename(element)
    bodies = model.find("BodySet/objects")
    if bodies is None:
        return
    joints: list[Element] = []
    for body in list(bodies):
        holder = body.find("Joint")
        if holder is not None:
            body.remove(holder)
            joints += holder
            for joint in holder:
                _joint(joint, body.get("name", ""))
        _body(body)
        if body.get("name") == "ground":
            bodies.remove(body)
            model.append(made("Ground", *(part for part in body if part.tag not in OF_MASS), name="ground"))
    for joint in model.findall("JointSet/objects/*"):
        if joint.find("socket_child_body") is not None:
            _joint(joint, _first_of_35(joint))
        else:
            _later_of_35(joint)
    used: set[str] = set()
    for joint in joints:  # named by their kinds, as OpenSim does
        joint.set("name", numbered(joint.get("name") or joint.tag.lower(), used))
        used.add(joint.get("name", ""))
    if joints:
        model.append(collection("JointSet", joints))


def _rename(element: Element) -> None:
    """Names and entries of one element in the words of version 4."""
    tag = element.tag = RENAMED.get(element.tag, element.tag)
    for child in element:
        if child.tag in ("connectors", "isDisabled"):
            _replace(element, child)
            break
    for child in element:
        child.tag = RENAMED.get(child.tag, child.tag).removesuffix("_connectee_name")
        if tag in OF_BODIES and child.tag in BODIES:
            child.tag, child.text = BODIES[child.tag], _path(child.text)
        elif tag in POINTS and child.tag in COORDINATES:
            child.tag = COORDINATES[child.tag]
        elif tag == "ConditionalPathPoint" and child.tag in ("coordinate", "coordinates"):
            child.tag = "socket_coordinate"
    if element.find("PathPointSet") is not None and tag != "GeometryPath":
        held = [part for part in element if part.tag in ("PathPointSet", "PathWrapSet")]
        for part in held:
            element.remove(part)
        element.append(made("GeometryPath", *held))
    if tag in TWO_FRAMES and element.find("body_1") is not None:
        _two_frames(element)


def _replace(element: Element, child: Element) -> None:
    """Version 4's entries in place of one: sockets for connectors, or whether a part acts."""
    element.remove(child)
    if child.tag == "connectors":
        found = {f"socket_{entry.get('name', '')}": entry.findtext("connectee_name", "") for entry in child}
    else:
        acts = (child.text or "").strip().lower() != "true"
        found = {"isEnforced" if element.tag.endswith("Constraint") else "appliesForce": str(acts).lower()}
    element.extend(made("", **found))


def _joint(joint: Element, child: str) -> None:
    """A joint with frames of its own in its parent and its child."""
    parent = _take(joint, "parent_body") or ""
    ends = [
        _offset(joint, body, f"location{at}", f"orientation{at}", end)
        for (end, at), body in zip(PLACES, (parent, child))
    ]
    sockets = [f"socket_{end}_frame" for end, _ in PLACES]
    if (_take(joint, "reverse") or "").lower() == "true":
        sockets.reverse()
    named = {socket: end.get("name", "") for socket, end in zip(sockets, ends)}
    own = joint.findall("CoordinateSet/objects/Coordinate")
    joint.extend(made("", made("frames", *ends), made("coordinates", *own), **named))
    _take(joint, "CoordinateSet")
    for axis in joint.iterfind("SpatialTransform/TransformAxis"):
        function = axis.find("function")
        if function is not None and not len(function) and axis.findtext("coordinates", "").strip():
            function.append(made("LinearFunction"))


def _first_of_35(joint: Element) -> str:
    """The child body of a joint as the first files of 3.5 have it; its other entries in the words of 3.3."""
    parent, child = ((_take(joint, f"socket_{end}_body") or "").rsplit("/", 1)[-1] for end, _ in PLACES)
    joint.extend(made("", parent_body=parent))
    for tag in ("location", "orientation"):
        for entry in joint.findall(f"{tag}_in_child"):
            entry.tag = tag
    return child


def _later_of_35(joint: Element) -> None:
    """A joint between frames, as version 4 has it but for its coordinates and its direction."""
    own = joint.findall("CoordinateSet/objects/Coordinate")
    if own:
        _take(joint, "CoordinateSet")
        joint.append(made("coordinates", *own))
    if (_take(joint, "reverse") or "").lower() == "true":
        parent, child = (_take(joint, f"socket_{end}_frame") or "" for end, _ in PLACES)
        joint.extend(made("", socket_parent_frame=child, socket_child_frame=parent))


def _offset(owner: Element, body: str, location: str, orientation: str, end: str) -> Element:
    """An offset frame in a body, from entries of its owner, which are removed."""
    places = {"translation": _take(owner, location), "orientation": _take(owner, orientation)}
    given = {key: text for key, text in places.items() if text}
    return made("PhysicalOffsetFrame", name=f"{body}_{end}_offset", socket_parent=_path(body), **given)


def _two_frames(part: Element) -> None:
    """Two frames of a constraint or force in place of bodies, locations and orientations."""
    frames = {
        f"socket_frame{k}": _offset(part, body, f"location_body_{k}", f"orientation_body_{k}", str(k))
        for k in (1, 2)
        if (body := _take(part, f"body_{k}")) is not None
    }
    names = {socket: frame.get("name", "") for socket, frame in frames.items()}
    part.extend(made("", made("frames", *frames.values()), **names))


def _body(body: Element) -> None:
    """One entry for the inertia; meshes as attached geometry."""
    moments = [_take(body, f"inertia_{axes}") for axes in INERTIA]
    if body.find("inertia") is None and any(moments):
        body.extend(made("", inertia=" ".join(text or "0" for text in moments)))
    seen = body.find("VisibleObject")
    if seen is None:
        return
    body.remove(seen)
    whole = seen.findtext("scale_factors", "1 1 1").split()
    drawn = [_mesh(file, whole, None) for file in seen.findtext("geometry_files", "").split()]
    moved = []
    name = body.get("name", "")
    for number, shape in enumerate(seen.iterfind("GeometrySet/objects/DisplayGeometry")):
        mesh = _mesh(shape.findtext("geometry_file", "").strip(), whole, shape.findtext("scale_factors"))
        where = shape.findtext("transform", "").split()
        if len(where) != 6 or not any(float(word) for word in where):
            drawn.append(mesh)
            continue
        place = {"orientation": " ".join(where[:3]), "translation": " ".join(where[3:])}
        given = {"name": f"{name}_geometry_{number}", "socket_parent": _path(name), **place}
        moved.append(made("PhysicalOffsetFrame", made("attached_geometry", mesh), **given))
    body.extend((made("attached_geometry", *drawn), made("components", *moved)))


def _mesh(file: str, whole: list[str], scale: str | None) -> Element:
    """A mesh with the scale of its body times its own."""
    factors = [float(a) * float(b) for a, b in zip(whole, (scale or "1 1 1").split())]
    return made("Mesh", mesh_file=file, scale_factors=factors)


def _take(owner: Element, tag: str) -> str | None:
    """The text of a child, which is removed; None if there is none."""
    found = owner.find(tag)
    if found is None:
        return None
    owner.remove(found)
    return (found.text or "").strip()


def _path(name: str | None) -> str:
    """Path of a body by its name."""
    word = (name or "").strip()
    return word if not word or "/" in word else "/ground" if word == "ground" else f"/bodyset/{word}"
