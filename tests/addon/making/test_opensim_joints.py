"""Joints of imported OpenSim models, and bodies without meshes."""

from types import SimpleNamespace

import bpy
import numpy as np
import pytest

from .levers import SMALL, lever

__all__ = ["lever"]  # a fixture


def test_an_ellipsoid_joint_is_imported(part, scene, lever):
    pin = SMALL[SMALL.index("<PinJoint") : SMALL.index("</JointSet>")]
    made = pin.replace("PinJoint", "EllipsoidJoint").replace("<clamped>true</clamped>", "")
    made = made.replace("</Coordinate>", '</Coordinate><Coordinate name="y"/><Coordinate name="z"/>')
    made = made.replace("</coordinates>", "</coordinates><radii_x_y_z>0.1 0.2 0.3</radii_x_y_z>")
    lever.write_text(SMALL.replace(pin, made), "utf-8")
    scene.unit_settings.scale_length = 0.5
    imported = part("making.opensim_import").import_model(scene, str(lever))
    assert not {"import-joint", "import-joint-type"} & {each.code for each in imported.warnings}
    model = part("reading.scene").read(scene).model
    joint = next(body for body in model.bodies if body.name == "rod").joint
    assert np.allclose([joint.a, joint.b, joint.c], [0.1, 0.2, 0.3], rtol=1e-6)  # the settings are float32
    assert model.prescribed.tolist() == [False] * 3 + [True]


def test_a_joint_of_constant_curvature_is_imported(part, scene, lever):
    pin = SMALL[SMALL.index("<PinJoint") : SMALL.index("</JointSet>")]
    made = pin.replace("PinJoint", "ConstantCurvatureJoint").replace("<clamped>true</clamped>", "")
    made = made.replace("</Coordinate>", '</Coordinate><Coordinate name="y"/><Coordinate name="z"/>')
    rest = "<length>0.3</length><neutral_angle_x_z_y>0 -0.6 0.1</neutral_angle_x_z_y>"
    lever.write_text(SMALL.replace(pin, made.replace("</coordinates>", f"</coordinates>{rest}")), "utf-8")
    scene.unit_settings.scale_length = 0.5
    imported = part("making.opensim_import").import_model(scene, str(lever))
    assert not {"import-joint", "import-joint-type"} & {each.code for each in imported.warnings}
    model = part("reading.scene").read(scene).model
    joint = next(body for body in model.bodies if body.name == "rod").joint
    assert joint.type == "constant_curvature"
    assert np.allclose([joint.rod_length, *joint.neutral], [0.3, 0.0, -0.6, 0.1], rtol=1e-6)  # float32


def test_unknown_joints_are_welded_if_allowed(part, scene, lever):
    lever.write_text(SMALL.replace("PinJoint", "StrangeJoint"), "utf-8")
    with pytest.raises(RuntimeError, match="StrangeJoint 'hinge'"):
        bpy.ops.condyle.import_opensim(filepath=str(lever))
    assert not scene.objects
    assert bpy.ops.condyle.import_opensim(filepath=str(lever), allow_welds=True) == {"FINISHED"}
    found = part("blender.session").findings
    assert any("StrangeJoint 'hinge'" in each.text and not each.is_hint for each in found)
    assert any("lost.vtp" in each.text and each.is_hint for each in found)


def test_who_opens_a_file_is_asked_about_unknown_joints(part, scene, lever, monkeypatch):
    module, asked = part("ui.muscles.import_operators"), []
    lever.write_text(SMALL.replace("PinJoint", "StrangeJoint"), "utf-8")
    again = SimpleNamespace(condyle=SimpleNamespace(import_opensim=lambda *how, **given: asked.append(given)))
    monkeypatch.setattr(module, "bpy", SimpleNamespace(ops=again, path=bpy.path))
    given = {"filepath": str(lever), "geometry": "", "allow_welds": False}
    operator = SimpleNamespace(**given, options=SimpleNamespace(is_invoke=True))
    assert module.ImportOpenSim.execute(operator, bpy.context) == {"CANCELLED"} and not scene.objects
    assert asked == [{**given, "allow_welds": True, "asked": True}]


def test_bodies_without_meshes_are_sticks_from_joint_to_joint(part, scene, tmp_path):
    tip = """<PinJoint name="end"><socket_parent_frame>rod_offset</socket_parent_frame>
<socket_child_frame>/bodyset/tip</socket_child_frame><coordinates><Coordinate name="bend"/></coordinates>
<frames><PhysicalOffsetFrame name="rod_offset"><socket_parent>/bodyset/rod</socket_parent>
<translation>0 -0.8 0</translation></PhysicalOffsetFrame></frames></PinJoint></objects></JointSet>"""
    body = """<Body name="tip"><mass>1</mass><mass_center>0.1 0 0</mass_center>
<inertia>0.01 0.01 0.01 0 0 0</inertia></Body></objects></BodySet>"""
    text = SMALL.replace("</objects></JointSet>", tip).replace("</objects></BodySet>", body)
    path = tmp_path / "lever.osim"
    path.write_text(text, "utf-8")
    assert bpy.ops.condyle.import_opensim(filepath=str(path)) == {"FINISHED"}
    sticks = {item.parent.name: item.data for item in scene.objects if item.name.endswith(" stick")}
    ends = {
        "rod": (0.0, -0.8, 0.0),
        "tip": (0.2, 0.0, 0.0),
    }  # the tip has no child: twice its centre's distance
    assert sticks.keys() == ends.keys()
    for name, mesh in sticks.items():
        places = np.array([tuple(vertex.co) for vertex in mesh.vertices])
        assert places[[0, 5]] == pytest.approx(np.array([(0.0, 0.0, 0.0), ends[name]]), abs=1e-6)
        assert len(mesh.polygons) == 8
        middle = places.mean(axis=0)
        for face in mesh.polygons:  # their normals point outward
            assert face.normal @ (face.center - type(face.center)(middle)) > 0.0
