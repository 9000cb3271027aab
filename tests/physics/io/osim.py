"""Small OpenSim models, written here word by word."""

from __future__ import annotations

from pathlib import Path

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
    """A body."""
    return f"""<Body name="{name}">{rest}<mass>{mass}</mass><mass_center>0.1 0 0</mass_center>
<inertia>{inertia}</inertia></Body>"""


def coordinate(name: str, rest: str = "") -> str:
    """A coordinate."""
    return f'<Coordinate name="{name}">{rest}</Coordinate>'


def offset(name: str, parent: str, translation: str = "0 0 0", orientation: str = "0 0 0") -> str:
    """An offset frame."""
    return f"""<PhysicalOffsetFrame name="{name}"><socket_parent>{parent}</socket_parent>
<translation>{translation}</translation><orientation>{orientation}</orientation></PhysicalOffsetFrame>"""


def joint(
    kind: str, name: str, parent: str, child: str, coordinates: str = "", frames: str = "", rest: str = ""
) -> str:
    """A joint; parent and child are names of bodies, paths, or frames of its own."""

    def path(frame: str) -> str:
        return frame if frame.startswith("/") or f'"{frame}"' in frames else f"/bodyset/{frame}"

    return JOINT.format(
        kind=kind,
        name=name,
        parent=path(parent),
        child=path(child),
        coordinates=coordinates,
        frames=frames,
        rest=rest,
    )


def write(path: Path, bodies: str, joints: str, rest: str = "") -> Path:
    """The model as a file."""
    path.write_text(DOCUMENT.format(bodies=bodies, joints=joints, rest=rest))
    return path
