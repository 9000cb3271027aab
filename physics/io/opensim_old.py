"""Files of OpenSim 1.9 to 3.3 in the layout of version 4, so that one reader reads all."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree.ElementTree import Element

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
            joints += [_joint(joint, body.get("name", "")) for joint in holder]
        _body(body)
        if body.get("name") == "ground":
            bodies.remove(body)
            model.append(_made("Ground", [part for part in body if part.tag not in OF_MASS], name="ground"))
    for joint in model.findall("JointSet/objects/*"):
        if joint.find("socket_child_body") is not None:
            _joint(joint, _first_of_35(joint))
    if joints:
        _name(joints)
        model.append(_made("JointSet", [_made("objects", joints)]))


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
        _move(element, "GeometryPath", ("PathPointSet", "PathWrapSet"))
    if tag in TWO_FRAMES and element.find("body_1") is not None:
        _two_frames(element)


def _replace(element: Element, child: Element) -> None:
    """Version 4's entries in place of one: sockets for connectors, or whether a part acts."""
    element.remove(child)
    if child.tag == "connectors":
        for entry in child:
            text = entry.findtext("connectee_name", "")
            element.append(_made(f"socket_{entry.get('name', '')}", text=text))
        return
    acts = "false" if (child.text or "").strip().lower() == "true" else "true"
    element.append(_made("isEnforced" if element.tag.endswith("Constraint") else "appliesForce", text=acts))


def _joint(joint: Element, child: str) -> Element:
    """A joint with frames of its own in its parent and its child."""
    parent = joint.findtext("parent_body", "").strip()
    ends = [
        _offset(joint, body, f"location{at}", f"orientation{at}", end)
        for (end, at), body in zip(PLACES, (parent, child))
    ]
    sockets = [f"socket_{end}_frame" for end, _ in PLACES]
    if joint.findtext("reverse", "").strip().lower() == "true":
        sockets.reverse()
    joint.extend(_made(socket, text=end.get("name", "")) for socket, end in zip(sockets, ends))
    joint.append(_made("frames", ends))
    _move(joint, "coordinates", joint.findall("CoordinateSet/objects/Coordinate"))
    for tag in ("parent_body", "reverse", "CoordinateSet"):
        for old in joint.findall(tag):
            joint.remove(old)
    for axis in joint.iterfind("SpatialTransform/TransformAxis"):
        function = axis.find("function")
        if function is not None and not len(function) and axis.findtext("coordinates", "").strip():
            function.append(_made("LinearFunction"))
    return joint


def _first_of_35(joint: Element) -> str:
    """The child body of a joint as the first files of 3.5 have it; its other entries in the words of 3.3."""
    found = {
        end: joint.findtext(f"socket_{end}_body", "").strip().rsplit("/", 1)[-1]
        for end in ("parent", "child")
    }
    joint.append(_made("parent_body", text=found["parent"]))
    for tag in ("location", "orientation"):
        for entry in joint.findall(f"{tag}_in_child"):
            entry.tag = tag
    for end in found:
        for entry in joint.findall(f"socket_{end}_body"):
            joint.remove(entry)
    return found["child"]


def _offset(owner: Element, body: str, location: str, orientation: str, end: str) -> Element:
    """An offset frame in a body, from entries of its owner, which are removed."""
    parts = [_made("socket_parent", text=_path(body))]
    for tag, entry in (("translation", location), ("orientation", orientation)):
        given = owner.find(entry)
        if given is not None:
            owner.remove(given)
            parts.append(_made(tag, text=given.text or ""))
    return _made("PhysicalOffsetFrame", parts, name=f"{body}_{end}_offset")


def _two_frames(part: Element) -> None:
    """Two frames of a constraint or force in place of bodies, locations and orientations."""
    frames = []
    for k in (1, 2):
        body = part.find(f"body_{k}")
        if body is None:
            continue
        part.remove(body)
        name = (body.text or "").strip()
        frames.append(_offset(part, name, f"location_body_{k}", f"orientation_body_{k}", str(k)))
        part.append(_made(f"socket_frame{k}", text=frames[-1].get("name", "")))
    part.append(_made("frames", frames))


def _body(body: Element) -> None:
    """One entry for the inertia; meshes as attached geometry."""
    moments = [body.find(f"inertia_{axes}") for axes in INERTIA]
    if body.find("inertia") is None and any(entry is not None for entry in moments):
        words = ["0" if entry is None else (entry.text or "0").strip() for entry in moments]
        for entry in moments:
            if entry is not None:
                body.remove(entry)
        body.append(_made("inertia", text=" ".join(words)))
    seen = body.find("VisibleObject")
    if seen is None:
        return
    body.remove(seen)
    whole = seen.findtext("scale_factors", "1 1 1").split()
    drawn = [_mesh(file, whole, None) for file in seen.findtext("geometry_files", "").split()]
    moved = []
    for number, shape in enumerate(seen.iterfind("GeometrySet/objects/DisplayGeometry")):
        mesh = _mesh(shape.findtext("geometry_file", "").strip(), whole, shape.findtext("scale_factors"))
        where = shape.findtext("transform", "").split()
        if len(where) != 6 or not any(float(word) for word in where):
            drawn.append(mesh)
            continue
        name = body.get("name", "")
        parts = [_made("socket_parent", text=_path(name)), _made("attached_geometry", [mesh])]
        parts += [
            _made("orientation", text=" ".join(where[:3])),
            _made("translation", text=" ".join(where[3:])),
        ]
        moved.append(_made("PhysicalOffsetFrame", parts, name=f"{name}_geometry_{number}"))
    body.append(_made("attached_geometry", drawn))
    body.append(_made("components", moved))


def _mesh(file: str, whole: list[str], scale: str | None) -> Element:
    """A mesh with the scale of its body times its own."""
    factors = [float(a) * float(b) for a, b in zip(whole, (scale or "1 1 1").split())]
    return _made(
        "Mesh", [_made("mesh_file", text=file), _made("scale_factors", text=" ".join(map(repr, factors)))]
    )


def _name(joints: Iterable[Element]) -> None:
    """A name for each joint without, as OpenSim does: that of its kind, numbered."""
    used: set[str] = set()
    for joint in joints:
        joint.set("name", numbered(joint.get("name") or joint.tag.lower(), used))
        used.add(joint.get("name", ""))


def _move(owner: Element, into: str, parts: Iterable[str | Element]) -> None:
    """Move children into a new child."""
    found = [owner.find(part) if isinstance(part, str) else part for part in parts]
    moved = [part for part in found if part is not None]
    for part in moved:
        if part in list(owner):
            owner.remove(part)
    owner.append(_made(into, moved))


def _path(name: str | None) -> str:
    """Path of a body by its name."""
    word = (name or "").strip()
    return word if not word or "/" in word else "/ground" if word == "ground" else f"/bodyset/{word}"


def _made(tag: str, children: Iterable[Element] = (), *, name: str = "", text: str = "") -> Element:
    element = Element(tag, {"name": name} if name else {})
    element.text = text
    element.extend(children)
    return element
