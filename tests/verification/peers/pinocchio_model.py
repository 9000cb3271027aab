"""The same tree for Pinocchio, and maps between its joint velocities and our coordinates.

Pinocchio describes a spherical or a free joint by a quaternion, a planar one by a cosine and a sine, and each by the
velocity in the body's frame, linear part first. So its velocity is v = P S(q) q', with our joint Jacobian S and the
rows P that the joint moves along, in Pinocchio's order. Its acceleration is v' = P (S q'' + (dS q') q'), and our
generalized forces are (P S)^T times Pinocchio's. For all other joints v = q'. The maps use only our joints'
derivatives, which have claims of their own.
"""

from typing import Any

import numpy as np
import pinocchio

from physics._typing import FloatArray
from physics.geometry import lie

# Rows of a twist [angular, linear] that form Pinocchio's velocity of a joint.
MOVING_ROWS = {"spherical": [0, 1, 2], "free": [3, 4, 5, 0, 1, 2], "planar": [3, 4, 2]}


def pinocchio_joint(joint: Any) -> Any:
    """Pinocchio's model of one of our joints."""
    if joint.type == "hinge":
        return pinocchio.JointModelRevoluteUnaligned(np.asarray(joint.axis, dtype=float))
    if joint.type == "slider":
        return pinocchio.JointModelPrismaticUnaligned(np.asarray(joint.axis, dtype=float))
    if joint.type == "helical":
        return pinocchio.JointModelHelicalUnaligned(np.asarray(joint.axis, dtype=float), joint.pitch)
    if joint.type == "universal":
        return pinocchio.JointModelUniversal(*(np.asarray(axis) for axis in (joint.axis_1, joint.axis_2)))
    if joint.type == "ellipsoid":  # Pinocchio's has no angle after theta
        whole = pinocchio.JointModelComposite(pinocchio.JointModelEllipsoid(joint.a, joint.b, joint.c))
        whole.addJoint(pinocchio.JointModelRX())
        return whole
    if joint.type == "planar":
        return pinocchio.JointModelPlanar()
    if joint.type == "translational":
        return pinocchio.JointModelTranslation()
    return {"spherical": pinocchio.JointModelSpherical, "free": pinocchio.JointModelFreeFlyer}[joint.type]()


def placement(pose: FloatArray) -> Any:
    """A 4x4 pose as Pinocchio's SE3."""
    return pinocchio.SE3(pose[:3, :3].copy(), pose[:3, 3].copy())


class PinocchioTree:
    """Pinocchio's copy of a tree given as a list of `add_body` arguments (see `random_bodies`)."""

    def __init__(self, bodies: list[dict[str, Any]], gravity: FloatArray) -> None:
        self.model = pinocchio.Model()
        self.model.gravity.linear = np.asarray(gravity, dtype=float)
        self.joints = [body["joint"] for body in bodies]
        identifiers: list[int] = []
        for index, body in enumerate(bodies):
            parent = body["parent"]
            before = np.eye(4) if parent is None else bodies[parent]["body_in_joint"]
            joint = self.model.addJoint(
                0 if parent is None else identifiers[parent],
                pinocchio_joint(body["joint"]),
                placement(before @ body["joint_in_parent"]),
                f"joint {index}",
            )
            inertia = pinocchio.Inertia(body["mass"], np.asarray(body["com"], dtype=float), body["inertia"])
            self.model.appendBodyToJoint(joint, inertia, placement(body["body_in_joint"]))
            identifiers.append(joint)
        self.identifiers = identifiers
        self.body_in_joint = [body["body_in_joint"] for body in bodies]
        self.data = self.model.createData()

    def configuration(self, q: FloatArray) -> FloatArray:
        """Pinocchio's configuration for our coordinates."""
        values = np.zeros(self.model.nq)
        start = 0
        for identifier, joint in zip(self.identifiers, self.joints):
            own = q[start : start + joint.num_coordinates]
            start += joint.num_coordinates
            where = self.model.joints[identifier].idx_q
            if joint.type == "planar":
                own = np.array([own[0], own[1], np.cos(own[2]), np.sin(own[2])])
            elif joint.type in MOVING_ROWS:
                pose = joint.evaluate(own)[0]
                w, x, y, z = lie.quaternion_from_matrix(pose[:3, :3])
                own = np.array([x, y, z, w])
                if joint.type == "free":
                    own = np.concatenate([pose[:3, 3], own])
            values[where : where + len(own)] = own
        return values

    def velocity_map(self, q: FloatArray, qd: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Matrix J with v = J q', and bias b with v' = J q'' + b."""
        n = self.model.nv
        matrix, bias = np.zeros((n, n)), np.zeros(n)
        start = 0
        for identifier, joint in zip(self.identifiers, self.joints):
            own = slice(start, start + joint.num_coordinates)
            start += joint.num_coordinates
            first = self.model.joints[identifier].idx_v
            rows = slice(first, first + joint.num_coordinates)
            if joint.type in MOVING_ROWS:
                _, S, dS = joint.evaluate(q[own])
                moving = MOVING_ROWS[joint.type]
                matrix[rows, own] = S[moving]
                bias[rows] = np.einsum("aij,i,j->a", dS, qd[own], qd[own])[moving]
            else:
                matrix[rows, own] = np.eye(joint.num_coordinates)
        return matrix, bias
