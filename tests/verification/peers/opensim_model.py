"""A whole OpenSim model of pin, weld and custom joints, as ours; its motions and ground forces."""

from pathlib import Path
from typing import Any

import numpy as np
import opensim

import physics as ph
from physics._typing import FloatArray
from physics.geometry import lie

from .opensim_joint import our_custom


def read_table(path: Path) -> dict[str, FloatArray]:
    """Columns of a .mot or .sto file by name, with angles in the file's unit."""
    lines = path.read_text().splitlines()
    head = next(k for k, line in enumerate(lines) if line.strip() == "endheader")
    values = np.array([[float(word) for word in line.split()] for line in lines[head + 2 :] if line.strip()])
    return dict(zip(lines[head + 1].split(), values.T))


def write_table(path: Path, columns: dict[str, FloatArray]) -> None:
    """Write columns (time first) as a .mot file, without loss."""
    rows = np.stack(list(columns.values()), axis=1)
    lines = [
        "table",
        "version=1",
        f"nRows={len(rows)}",
        f"nColumns={rows.shape[1]}",
        "inDegrees=no",
        "endheader",
    ]
    lines += ["\t".join(columns), *("\t".join(repr(float(x)) for x in row) for row in rows)]
    path.write_text("\n".join(lines) + "\n")


def pose_of(transform: Any) -> FloatArray:
    """A Simbody transform as a 4x4 pose."""
    pose = np.eye(4)
    for i in range(3):
        pose[i, 3] = transform.p().get(i)
        for j in range(3):
            pose[i, j] = transform.R().asMat33().get(i, j)
    return pose


def our_whole_model(peer: Any) -> tuple[Any, list[str]]:
    """Our model of an initialized OpenSim model, and OpenSim's name of each of our coordinates."""
    gravity = peer.getGravity()
    builder = ph.ModelBuilder(gravity=[gravity.get(k) for k in range(3)])
    names: list[str] = []
    for number in range(peer.getJointSet().getSize()):
        joint = peer.getJointSet().get(number)
        kind = joint.getConcreteClassName()
        if kind == "CustomJoint":
            ours = our_custom(opensim.CustomJoint.safeDownCast(joint).getSpatialTransform())
            names += ours.coordinates
        elif kind == "PinJoint":
            ours = ph.joints.Hinge()
            names.append(joint.get_coordinates(0).getName())
        elif kind == "WeldJoint":
            ours = ph.joints.Fixed()
        else:
            raise ValueError(f"no counterpart of {kind}")
        before, behind = joint.getParentFrame(), joint.getChildFrame()
        parent, name = before.findBaseFrame().getName(), behind.findBaseFrame().getName()
        body = peer.getBodySet().get(name)
        inertia = body.get_inertia()
        xx, yy, zz, xy, xz, yz = (inertia.get(k) for k in range(6))
        builder.add_body(
            name,
            None if parent == "ground" else parent,
            joint=ours,
            joint_in_parent=pose_of(before.findTransformInBaseFrame()),
            body_in_joint=lie.inverse(pose_of(behind.findTransformInBaseFrame())),
            mass=body.getMass(),
            com=[body.getMassCenter().get(k) for k in range(3)],
            inertia=[[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]],
        )
    return builder.build(), names


EXTERNAL_FORCE = """<ExternalForce name="{name}"><isDisabled>false</isDisabled>
<applied_to_body>{body}</applied_to_body><force_expressed_in_body>ground</force_expressed_in_body>
<point_expressed_in_body>ground</point_expressed_in_body><force_identifier>{force}</force_identifier>
<point_identifier>{point}</point_identifier><torque_identifier>{torque}</torque_identifier></ExternalForce>"""


def external_loads(path: Path, data: Path, loads: list[tuple[str, str, str, str]]) -> None:
    """Write OpenSim's description of forces (body, force, point, torque columns) in a file of them."""
    forces = "".join(
        EXTERNAL_FORCE.format(name=f"load_{k}", body=body, force=force, point=point, torque=torque)
        for k, (body, force, point, torque) in enumerate(loads)
    )
    path.write_text(
        f"""<?xml version="1.0" encoding="UTF-8"?><OpenSimDocument Version="40000"><ExternalLoads name="loads">
<objects>{forces}</objects><groups/><datafile>{data}</datafile></ExternalLoads></OpenSimDocument>"""
    )
