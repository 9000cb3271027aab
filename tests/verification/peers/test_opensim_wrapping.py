"""Lengths of wrapped paths against OpenSim 4.6's geodesic path (Scholz et al. 2016) at random poses."""

from typing import Any

import numpy as np
import pytest

opensim = pytest.importorskip("opensim", reason="OpenSim is only in the environment of the peers")

from physics.kernels.wrapping import layout as wrap_layout  # noqa: E402  (after the check that there is something to compare with)
from physics.kernels.wrapping.strand import wrap_length  # noqa: E402
from physics.muscles import Cylinder, Ellipsoid, Sphere, Torus, Wrap  # noqa: E402

from . import quiet_opensim  # noqa: E402

pytestmark = pytest.mark.peers

LENGTH = 1e-6  # [m]; OpenSim's own solver stops at about 1e-8
POSES = 1000
STEPS = 10
ARMS = ((0.01, 0.02, 0.03), (-0.02, 0.01, 0.0))
AT_REST = (0.0, 0.0, 0.0, -0.3, 0.03, 0.02, 0.0, 0.0, 0.0, 0.3, 0.05, 0.05)
RADII = (0.1, 0.06, 0.14)
HINT = np.array([0.0, 0.2, 0.0])


class OpenSimPath:
    """A path between points of two free bodies over one obstacle fixed to the ground."""

    def __init__(self, geometry: Any, hint: np.ndarray, rest: Any) -> None:
        quiet_opensim()
        self.model = model = opensim.Model()
        bodies = []
        for name in ("first", "last"):
            body = opensim.Body(name, 1.0, opensim.Vec3(0), opensim.Inertia(1.0, 1.0, 1.0))
            model.addBody(body)
            model.addJoint(opensim.FreeJoint(f"{name}_joint", model.getGround(), body))
            bodies.append(body)
        surface = geometry(opensim.Vec3(0), model.getGround())
        surface.setName("surface")
        model.addContactGeometry(surface)
        self.path = opensim.Scholz2015GeometryPath()
        self.path.setName("path")
        self.path.appendPathPoint(bodies[0], opensim.Vec3(*ARMS[0]))
        self.path.appendObstacle(surface, opensim.Vec3(*hint))
        self.path.appendPathPoint(bodies[1], opensim.Vec3(*ARMS[1]))
        model.addComponent(self.path)
        model.finalizeFromProperties()
        coordinates = model.getCoordinateSet()
        self.coordinates = [coordinates.get(k) for k in range(12)]
        for coordinate, value in zip(self.coordinates, rest):
            coordinate.setDefaultValue(value)
        self.state = model.initSystem()
        self.bodies, self.rest = bodies, rest

    def move(self, q: np.ndarray) -> tuple[float, np.ndarray]:
        """Length at coordinates (12,), and both ends (6,) in the ground.

        Moves there from rest in steps: from far away OpenSim's solver ends on paths around the obstacle's back.
        """
        state = opensim.State(self.state)
        for part in np.linspace(0.0, 1.0, STEPS + 1):
            for coordinate, start, value in zip(self.coordinates, self.rest, q):
                coordinate.setValue(state, float(start + part * (value - start)), False)
            self.model.realizePosition(state)
            length = self.path.getLength(state)
        ends = [
            body.findStationLocationInGround(state, opensim.Vec3(*arm)).to_numpy()
            for body, arm in zip(self.bodies, ARMS)
        ]
        return length, np.concatenate(ends)


def our_length(wrap: Wrap, ends: np.ndarray) -> tuple[float, int]:
    own, gradient = np.zeros(wrap.workspace_size), np.empty(12)
    frame = np.array([[1.0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]])
    length, _ = wrap_length(wrap.packed({}, []), 0, ends, frame, np.zeros(12), own, gradient)
    return length, int(own[wrap_layout.STATUS])


SHAPES = {
    "sphere": (lambda zero, ground: opensim.ContactSphere(0.1, zero, ground, "sphere"), Sphere(radius=0.1)),
    "cylinder": (lambda zero, ground: opensim.ContactCylinder(0.1, zero, zero, ground), Cylinder(radius=0.1)),
    "ellipsoid": (
        lambda zero, ground: opensim.ContactEllipsoid(opensim.Vec3(*RADII), zero, zero, ground),
        Ellipsoid(radii=RADII),
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_lengths(name: str) -> None:
    """Straight and wrapped paths; the line passes the middle on the side of OpenSim's hint, with ends outside."""
    geometry, obstacle = SHAPES[name]
    peer = OpenSimPath(geometry, HINT, AT_REST)
    wrap = Wrap(obstacle, 0.0)
    rng = np.random.default_rng(7)
    worst, wrapped, count = 0.0, 0, 0
    while count < POSES:
        q = np.array(AT_REST)
        q[[0, 1, 2, 6, 7, 8]] = rng.uniform(-1.0, 1.0, 6)
        q[3:6] = [rng.uniform(-0.5, -0.2), rng.uniform(-0.15, 0.25), rng.uniform(-0.2, 0.2)]
        q[9:12] = [rng.uniform(0.2, 0.5), rng.uniform(-0.15, 0.25), rng.uniform(-0.2, 0.2)]
        theirs, ends = peer.move(q)
        middle = ends[1] - ends[0] * (ends[4] - ends[1]) / (ends[3] - ends[0])
        if middle < 0.02:
            continue
        count += 1
        ours, status = our_length(wrap, ends)
        wrapped += status == wrap_layout.WRAPPED
        worst = max(worst, abs(ours - theirs))
    assert wrapped > POSES // 6
    assert worst < LENGTH


def test_torus() -> None:
    """Through the hole; OpenSim's torus is about z as well."""
    peer = OpenSimPath(
        lambda zero, ground: opensim.ContactTorus(0.12, 0.04, zero, zero, ground),
        np.array([0.08, 0.0, 0.0]),
        (0.0, 0.0, 0.0, 0.1, 0.0, -0.3, 0.0, 0.0, 0.0, 0.1, 0.0, 0.3),
    )
    wrap = Wrap(Torus(major_radius=0.12, minor_radius=0.04), 0.0)
    rng = np.random.default_rng(8)
    wrapped = 0
    for _ in range(200):
        q = np.zeros(12)
        q[3:6] = [rng.uniform(0.02, 0.16), rng.uniform(-0.05, 0.05), rng.uniform(-0.4, -0.2)]
        q[9:12] = [rng.uniform(0.02, 0.16), rng.uniform(-0.05, 0.05), rng.uniform(0.2, 0.4)]
        theirs, ends = peer.move(q)
        ours, status = our_length(wrap, ends)
        wrapped += status == wrap_layout.WRAPPED
        assert abs(ours - theirs) < LENGTH
    assert wrapped > 50
