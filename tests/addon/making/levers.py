"""A small OpenSim model with a mesh, a wrap and a muscle, as text."""

import pytest

SMALL = """<?xml version="1.0"?>
<OpenSimDocument Version="40000"><Model name="lever">
<gravity>0 -9.81 0</gravity>
<BodySet><objects><Body name="rod"><mass>2</mass><mass_center>0 -0.5 0</mass_center>
<inertia>0.2 0.01 0.2 0 0 0</inertia>
<attached_geometry><Mesh name="skin"><mesh_file>rod.vtp</mesh_file><scale_factors>1 2 1</scale_factors></Mesh>
<Mesh name="lost"><mesh_file>lost.vtp</mesh_file></Mesh></attached_geometry>
<WrapObjectSet><objects><WrapCylinder name="drum"><radius>0.05</radius><length>0.4</length>
<translation>0 0 0</translation></WrapCylinder></objects></WrapObjectSet></Body></objects></BodySet>
<JointSet><objects><PinJoint name="hinge"><socket_parent_frame>/ground</socket_parent_frame>
<socket_child_frame>/bodyset/rod</socket_child_frame>
<coordinates><Coordinate name="swing"><default_value>0.3</default_value><range>-1.5 1.5</range>
<clamped>true</clamped></Coordinate></coordinates></PinJoint></objects></JointSet>
<ForceSet><objects><Thelen2003Muscle name="cord"><GeometryPath name="geometrypath"><PathPointSet><objects>
<PathPoint name="a"><socket_parent_frame>/ground</socket_parent_frame><location>0.03 0.4 0.0</location></PathPoint>
<PathPoint name="b"><socket_parent_frame>/bodyset/rod</socket_parent_frame><location>0.02 -0.4 0</location></PathPoint>
</objects></PathPointSet><PathWrapSet><objects><PathWrap name="w"><wrap_object>drum</wrap_object></PathWrap></objects>
</PathWrapSet></GeometryPath><max_isometric_force>500</max_isometric_force>
<optimal_fiber_length>0.4</optimal_fiber_length><tendon_slack_length>0.4</tendon_slack_length></Thelen2003Muscle>
</objects></ForceSet></Model></OpenSimDocument>
"""
VTP = """<?xml version="1.0"?><VTKFile type="PolyData"><PolyData><Piece>
<Points><DataArray NumberOfComponents="3" format="ascii">0 0 0  1 0 0  1 1 0  0 1 0</DataArray></Points>
<Polys><DataArray Name="connectivity" format="ascii">0 1 2 3</DataArray>
<DataArray Name="offsets" format="ascii">4</DataArray></Polys></Piece></PolyData></VTKFile>
"""


@pytest.fixture
def lever(tmp_path):
    (tmp_path / "rod.vtp").write_text(VTP, "utf-8")
    path = tmp_path / "lever.osim"
    path.write_text(SMALL, "utf-8")
    return path
