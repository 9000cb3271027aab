"""Wobbling masses: the soft parts of a segment as a body that the skeleton carries (Ertl et al. 1993, sec. 3)."""

from typing import Any, NamedTuple

import numpy as np

from .._typing import FloatArray
from ..bodies.body import Body, name_of
from ..errors import ModelError
from ..joints import Free, Joint, Planar
from ..validation import finite_array, number, unit_axis
from .base import body_index
from .building import ForceBuilder
from .elements import Mount


class WobblingMass(NamedTuple):
    """A wobbling mass in a builder: its body and the mount of its mass centre."""

    body: Body
    mount: Mount


def wobbling_joint(normal: Any, axis: FloatArray, centre: FloatArray, name: str) -> tuple[Joint, FloatArray]:
    """The joint of a wobbling mass, and its frame in the segment (4, 4): x along the axis, z along the plane's normal.

    In a plane it has displacements along and across the axis, then a rotation about the mass centre; otherwise three
    displacements, then a rotation vector.
    """
    frame = np.eye(4)
    frame[:3, 3] = centre
    if normal is None:
        side = np.eye(3)[int(np.argmin(np.abs(axis)))]
        third = np.cross(axis, side)
        third /= np.linalg.norm(third)
    else:
        third = unit_axis(normal, f"normal of wobbling mass {name!r}")
        if abs(float(third @ axis)) > 1e-9:
            raise ModelError(
                f"normal of wobbling mass {name!r} must be across its axis, got {third.tolist()} for an axis "
                f"{axis.tolist()}"
            )
        third = third - (third @ axis) * axis
        third /= np.linalg.norm(third)
    frame[:3, :3] = np.stack([axis, np.cross(third, axis), third], axis=1)
    return (Free() if normal is None else Planar()), frame


def wobbling_mass(
    builder: ForceBuilder,
    name: str,
    segment: Body | str,
    axis: Any,
    com: Any,
    normal: Any,
    solid: dict[str, Any],
    mount: dict[str, Any],
    rotation: tuple[Any, Any],
) -> WobblingMass:
    """Check and add a wobbling mass to a builder; see `ModelBuilder.add_wobbling_mass`.

    solid: its mass and inertia. mount: numbers of the `Mount`. rotation: stiffness and damping.
    """
    of = f"of wobbling mass {name!r}"
    wanted = name_of(segment)
    skeleton = builder.bodies[body_index(wanted, builder.body_numbers(), f"segment {of}")]
    along = unit_axis(axis, f"axis {of}")
    centre = skeleton.com.copy() if com is None else finite_array(com, (3,), f"com {of}")
    joint, frame = wobbling_joint(normal, along, centre, name)
    upright = np.eye(4)
    upright[:3, :3] = frame[:3, :3].T
    moving = 3 if normal is None else 2
    turns = np.repeat([0.0, 1.0], [moving, joint.num_coordinates - moving])
    stiffness, damping = (
        number(value, f"{key}_rotation {of}", not_negative=True)
        for key, value in zip(("stiffness", "damping"), rotation)
    )
    body = builder.add_body(
        name,
        skeleton,
        joint=joint,
        joint_in_parent=frame,
        body_in_joint=upright,
        stiffness=stiffness * turns,
        damping=damping * turns,
        **solid,
    )
    try:
        support = builder.add_mount(name, body, (0.0, 0.0, 0.0), skeleton, centre, axis=along, **mount)
    except ModelError:
        builder.bodies.remove(body)
        raise
    return WobblingMass(body, support)
