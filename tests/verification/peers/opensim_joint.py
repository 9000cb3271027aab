"""One body on the ground by an OpenSim joint: its pose, and its accelerations in terms of q' and q''.

Simbody's speeds u are not q' for every joint, so motions are set by u and the resulting q' and q'' are compared.
"""

from typing import Any

import numpy as np
import opensim

import physics as ph
from physics._typing import FloatArray

from . import quiet_opensim

quiet_opensim()
GRAVITY = (0.4, -9.7, 1.1)
MASS, COM = 2.3, (0.05, -0.1, 0.02)
INERTIA = np.array([[0.05, 0.004, 0.002], [0.004, 0.04, -0.003], [0.002, -0.003, 0.03]])


def our_model(joint: Any, **options: Any) -> ph.Model:
    """The same body on one of our joints."""
    builder = ph.ModelBuilder(gravity=GRAVITY)
    builder.add_body("body", joint=joint, mass=MASS, com=COM, inertia=INERTIA, **options)
    return builder.build()


class OpenSimBody:
    """A body on the ground by a joint that `make` builds from (name, parent frame, child frame)."""

    def __init__(self, make: Any) -> None:
        model = opensim.Model()
        model.setGravity(opensim.Vec3(*GRAVITY))
        moments = [INERTIA[0, 0], INERTIA[1, 1], INERTIA[2, 2], INERTIA[0, 1], INERTIA[0, 2], INERTIA[1, 2]]
        body = opensim.Body("body", MASS, opensim.Vec3(*COM), opensim.Inertia(*moments))
        model.addBody(body)
        self.joint = make("joint", model.getGround(), body)
        model.addJoint(self.joint)
        model.finalizeConnections()
        self.state = model.initSystem()
        self.model, self.body = model, body
        self.coordinates = [self.joint.get_coordinates(k) for k in range(self.joint.numCoordinates())]

    def move(self, q: FloatArray, speeds: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Pose (4, 4), q' and q'' at coordinates q with Simbody's speeds."""
        for coordinate, value in zip(self.coordinates, q):
            coordinate.setValue(self.state, float(value), False)
        for k, speed in enumerate(speeds):
            self.state.updU().set(k, float(speed))
        self.model.realizeAcceleration(self.state)
        transform = self.body.getTransformInGround(self.state)
        pose = np.eye(4)
        for i in range(3):
            pose[i, 3] = transform.p().get(i)
            for j in range(3):
                pose[i, j] = transform.R().asMat33().get(i, j)
        numbers = [self.state.getQDot(), self.state.getQDotDot()]
        # an ellipsoid mobilizer stores a fourth number, for quaternions, after its three angles
        used = [*range(min(3, len(q))), *range(numbers[0].size() - max(len(q) - 3, 0), numbers[0].size())]
        rate, acceleration = (np.array([v.get(k) for k in used]) for v in numbers)
        return pose, rate, acceleration


def kinetic_energy(peer: OpenSimBody, q: FloatArray, speeds: FloatArray) -> float:
    """Kinetic energy of a motion by OpenSim."""
    peer.move(q, speeds)
    return float(peer.model.calcKineticEnergy(peer.state))


def our_function(function: Any) -> Any:
    """Our counterpart of one of OpenSim's functions."""
    scaled = opensim.MultiplierFunction.safeDownCast(function)
    if scaled is not None:
        inner, scale = our_function(scaled.getFunction()), scaled.getScale()
        if isinstance(inner, ph.joints.Linear):
            return ph.joints.Linear(scale * inner.slope, scale * inner.offset)
        return ph.joints.CubicSpline(inner.x, scale * np.array(inner.y))
    constant = opensim.Constant.safeDownCast(function)
    if constant is not None:
        return ph.joints.Linear(0.0, constant.getValue())
    linear = opensim.LinearFunction.safeDownCast(function)
    if linear is not None:
        return ph.joints.Linear(linear.getSlope(), linear.getIntercept())
    spline = opensim.SimmSpline.safeDownCast(function)
    if spline is None:
        raise ValueError(f"no counterpart of {function.getConcreteClassName()}")
    points = [(spline.getX(k), spline.getY(k)) for k in range(spline.getSize())]
    return ph.joints.CubicSpline(*zip(*points))


def our_custom(transform: Any) -> Any:
    """Our Custom joint for OpenSim's SpatialTransform."""
    entries, names = [], []
    for k in range(6):
        axis = transform.getTransformAxis(k)
        named = axis.getCoordinateNamesInArray()
        name = named.get(0) if named.getSize() else None
        if name is not None and name not in names:
            names.append(name)
        direction = [axis.getAxis().get(i) for i in range(3)]
        entries.append((direction, our_function(axis.getFunction()), name))
    return ph.joints.Custom(coordinates=names, rotations=entries[:3], translations=entries[3:])
