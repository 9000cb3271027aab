"""Forces between bodies, cords and actuators of OpenSim models, each with OpenSim 4.6's value or in closed form."""

import numpy as np
import pytest

import physics as ph
from tests.physics.io.osim import body, coordinate, joint, write

GROUND = "/ground"
TWO = joint("PinJoint", "j", GROUND, "a", coordinate("q")) + joint("PinJoint", "k", "a", "b", coordinate("r"))


def read(tmp_path, forces, rest=""):
    parts = f"<ForceSet><objects>{forces}</objects></ForceSet>{rest}"
    return ph.read_opensim(write(tmp_path / "m.osim", body("a") + body("b"), TWO, parts))


def test_a_torque_between_two_bodies(tmp_path):
    """OpenSim gives the other body the opposite of the torque on the first, in whose axes it is given."""
    force = """<TorqueActuator name="t"><bodyA>b</bodyA><bodyB>a</bodyB><torque_is_global>false</torque_is_global>
<axis>0 0 2</axis><optimal_force>3</optimal_force></TorqueActuator>"""
    found = read(tmp_path, force)
    model = found.build()
    state = model.state(q=[0.3, 0.8])
    driven = ph.forward_dynamics(model, state, found.controls(model, {"t": 0.5}))
    assert np.allclose(driven, ph.forward_dynamics(model, state, {"b.angle": 1.5}), rtol=1e-13)
    assert not found.warnings and found.actuators["t"].optimal_force == 3.0
    across = read(tmp_path, force.replace("0 0 2", "3 0 4")).build()  # 0.8 of it is about the hinge
    driven = ph.forward_dynamics(across, state, found.controls(model, {"t": 0.5}))
    assert np.allclose(driven, ph.forward_dynamics(model, state, {"b.angle": 1.2}), rtol=1e-13)


def test_controls_drive_actuators_and_muscles(tmp_path):
    forces = """<CoordinateActuator name="c"><coordinate>r</coordinate><optimal_force>7</optimal_force>
</CoordinateActuator><CoordinateActuator name="d"><coordinate>r</coordinate></CoordinateActuator>
<PointActuator name="p"><body>a</body><direction>0 2 0</direction></PointActuator>"""
    found = read(tmp_path, forces)
    model = found.build()
    assert model.input_names == ("p",)
    assert found.controls(model, {"c": 2.0, "d": 1.0, "p": -3.0}).tolist() == [0.0, 15.0, -3.0]
    assert model.forces[0].force.tolist() == [0.0, 1.0, 0.0] and model.forces[0].axes == "body"
    with pytest.raises(ph.ModelError, match=r"'cc'.*'c'"):
        found.controls(model, {"cc": 1.0})


def test_forces_that_cannot_act_are_told(tmp_path):
    """What is wrong with a force never stops the reading."""
    forces = """<PointActuator name="p"><body>a</body><point_is_global>true</point_is_global></PointActuator>
<PathSpring name="s"><GeometryPath><PathPointSet><objects>
<PathPoint name="e"><socket_parent_frame>/ground</socket_parent_frame></PathPoint>
<PathPoint name="f"><socket_parent_frame>/bodyset/a</socket_parent_frame></PathPoint></objects></PathPointSet>
</GeometryPath><stiffness>-3</stiffness></PathSpring>
<CoordinateActuator name="c"><coordinate>nothing</coordinate></CoordinateActuator>
<ExpressionBasedPointToPointForce name="e"><body1>a</body1><body2>b</body2><expression>d*exp(ddot)</expression>
</ExpressionBasedPointToPointForce><SpringGeneralizedForce name="g"><coordinate>nothing</coordinate>
<stiffness>3</stiffness></SpringGeneralizedForce><CoordinateLimitForce name="o"><appliesForce>false</appliesForce>
<coordinate>q</coordinate><upper_limit>9</upper_limit></CoordinateLimitForce>"""
    found = read(tmp_path, forces)
    model = found.build()
    assert len(found.warnings) == 5 and not model.inputs and not model.muscles and not model.forces


def test_bushings_and_contacts_are_kept_in_files(tmp_path):
    force = """<ExpressionBasedBushingForce name="b"><socket_frame1>/ground</socket_frame1>
<socket_frame2>/bodyset/b</socket_frame2><Mz_expression>4*sinh(theta_z)</Mz_expression>
<Fx_expression>20*delta_x^3</Fx_expression><rotational_damping>1 2 3</rotational_damping>
</ExpressionBasedBushingForce><SmoothSphereHalfSpaceForce name="s"><socket_sphere>ball</socket_sphere>
<socket_half_space>/contactgeometryset/floor</socket_half_space><stiffness>1000</stiffness></SmoothSphereHalfSpaceForce>"""
    rest = """<ContactGeometrySet><objects><ContactHalfSpace name="floor"><socket_frame>/ground</socket_frame>
</ContactHalfSpace><ContactSphere name="ball"><socket_frame>/bodyset/a</socket_frame><radius>0.2</radius>
</ContactSphere></objects></ContactGeometrySet>"""
    found = read(tmp_path, force, rest)
    model = found.build()
    assert not found.warnings and [each.type for each in model.forces] == ["bushing", "sphere_contact"]
    hertz = 4.0 / 3.0 * np.sqrt(0.2) * (0.5 * 1000.0 ** (2.0 / 3.0)) ** 1.5
    assert model.forces[1].stiffness == pytest.approx(hertz, rel=1e-14)
    assert model.forces[1].plane[:3, 2].tolist() == [-1.0, 0.0, 0.0]
    ph.save_model(model, tmp_path / "m.json")
    assert ph.load_model(tmp_path / "m.json").model == model
