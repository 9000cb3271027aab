"""The values of OpenSim 4.6 and MuJoCo in the table of sides: a path from the world to a hinged body."""

from typing import Any

import numpy as np
import pytest

opensim = pytest.importorskip("opensim", reason="OpenSim is only in the environment of the peers")
mujoco = pytest.importorskip("mujoco", reason="MuJoCo is only in the environment of the peers")

from tests.physics.muscles.test_wrapping_sides import CASES, RADIUS, RING, RINGS, SHAPES  # noqa: E402

from . import quiet_opensim  # noqa: E402

pytestmark = pytest.mark.peers

DIGITS = 1e-7
OUT = 1.0 + 1e-9  # ends on the surface are so far outside: by round-off they may be inside
Y_AXIS = -0.5 * np.pi, 0.0, 0.0  # angles of a frame whose z axis is y


def opensim_path(kind: str, size: Any, quadrant: str, p: Any, q: Any, turn: Any = (0.0, 0.0, 0.0)) -> Any:
    """Length and moment arm in OpenSim; turn: angles of the hinge's frame."""
    quiet_opensim()
    model, zero, frame = opensim.Model(), opensim.Vec3(0), opensim.Vec3(*turn)
    body = opensim.Body("body", 1.0, zero, opensim.Inertia(1.0, 1.0, 1.0))
    model.addBody(body)
    model.addJoint(opensim.PinJoint("hinge", model.getGround(), zero, frame, body, zero, frame))
    surface = getattr(opensim, kind)()
    surface.setName("surface")
    for name, value in size.items():
        getattr(surface, f"set_{name}")(value)
    surface.set_quadrant(quadrant)
    model.updGround().addWrapObject(surface)
    path = opensim.PathActuator()
    path.setName("path")
    path.addNewPathPoint("p", model.getGround(), opensim.Vec3(*p))
    path.addNewPathPoint("q", body, opensim.Vec3(*q))
    model.addForce(path)
    model.finalizeConnections()
    path.updGeometryPath().addPathWrap(surface)
    state = model.initSystem()
    model.realizePosition(state)
    return path.getLength(state), path.computeMomentArm(state, model.getCoordinateSet().get(0))


def mujoco_path(shape: str, p: Any, q: Any) -> Any:
    """The same in MuJoCo."""
    size = f"{RADIUS}" if shape == "sphere" else f"{RADIUS} 1"
    first, last = (" ".join(map(repr, map(float, x))) for x in (p, q))
    model = mujoco.MjModel.from_xml_string(f"""<mujoco><worldbody><geom name="g" type="{shape}" size="{size}"/>
<site name="side" pos="0.2 0 0"/><site name="p" pos="{first}"/><body><joint type="hinge" axis="0 0 1"/>
<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><site name="q" pos="{last}"/></body></worldbody><tendon><spatial>
<site site="p"/><geom geom="g" sidesite="side"/><site site="q"/></spatial></tendon></mujoco>""")
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return float(data.ten_length[0]), -float(np.ravel(data.ten_J)[0])


def agree(found: Any, expected: Any) -> None:
    assert found[0] == pytest.approx(expected[0], abs=DIGITS)
    assert np.isnan(expected[1]) or found[1] == pytest.approx(expected[1], abs=DIGITS)


@pytest.mark.parametrize("case", CASES)
def test_the_table_of_sides(case: str) -> None:
    (p, q), (sphere, cylinder, long, round_) = CASES[case]
    on_it = "on the surface" in case
    p = np.array(p) * (OUT if on_it else 1.0)
    q = np.array(q) * (OUT if case.startswith("both ends on") else 1.0)
    agree(opensim_path("WrapSphere", {"radius": RADIUS}, "x", p, q), sphere)
    if "wrong side" not in case:
        agree(mujoco_path("sphere", p, q), sphere)
    agree(mujoco_path("cylinder", p, q), cylinder)
    for name, expected in (("long", long), ("round", round_)):
        agree(
            opensim_path("WrapEllipsoid", {"dimensions": opensim.Vec3(*SHAPES[name].radii)}, "x", p, q),
            expected,
        )


@pytest.mark.parametrize("case", RINGS)
def test_the_table_of_rings(case: str) -> None:
    p, q, *expected, _ = RINGS[case]
    size = {"inner_radius": RING.minor_radius, "outer_radius": RING.major_radius}
    agree(opensim_path("WrapTorus", size, "all", p, q, Y_AXIS), expected)
