"""What new bodies and joints of bones are: masses of capsules, and a joint for each of many bones at once."""

import bpy
import numpy as np
import pytest

from tests.addon.selecting import select
from tests.addon.walking import BONES


def of(part, scene, body):
    return part("reading.masses").mass_properties(scene, body)


@pytest.mark.small
@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_a_new_bone_has_the_mass_of_a_capsule_along_it(part, scene, make, body, authoring, scale):
    rig = make.armature("Rig", {"A": ((0, 0, 1), (0, 0, 0.5), None)})
    rig.scale = [scale] * 3
    make.update()
    bone = body(rig, "A")
    authoring.make_body(scene, bone)
    found, length, radius = of(part, scene, bone), 0.5 * scale, 0.1 * scale
    # against a sum over thin slices of 1000 kg/m^3, of second order
    edges = np.linspace(0.0, length, 20001)
    y = 0.5 * (edges[1:] + edges[:-1])
    end = np.maximum(np.maximum(radius - y, y - (length - radius)), 0.0)
    square = radius**2 - end**2
    slices = 1000.0 * np.pi * square * np.diff(edges)
    across = (slices * (square / 4.0 + (y - 0.5 * length) ** 2)).sum()
    assert found.mass == pytest.approx(slices.sum(), rel=1e-5)
    np.testing.assert_allclose(found.center, [0.0, 0.5 * length, 0.0], atol=1e-6)
    diagonal = [across, (slices * square / 2.0).sum(), across]
    np.testing.assert_allclose(found.inertia, np.diag(diagonal), rtol=1e-5)


def test_what_was_set_is_kept(part, scene, make, body, authoring):
    rig = make.armature("Rig")
    authoring.make_body(scene, body(rig, "A"), mass=3.0)
    assert of(part, scene, body(rig, "A")).mass == 3.0
    authoring.make_body(scene, body(rig, "B"))
    rig.pose.bones["B"].condyle.body.mass = 5.0
    authoring.remove_body(body(rig, "B"))
    authoring.make_body(scene, body(rig, "B"))
    assert of(part, scene, body(rig, "B")).mass == 5.0
    rig.pose.bones["A"].condyle.body.property_unset("mass")  # of a file of an earlier version
    assert of(part, scene, body(rig, "A")).mass == 1.0


@pytest.mark.small
def test_each_of_many_bones_gets_a_joint_on_its_parent(part, scene, make):
    rig = make.armature("Rig", BONES)
    select(rig)
    bpy.ops.object.mode_set(mode="POSE")
    tail = ("Tail.1", "Tail.2", "Tail.3")

    def add(*names, **options):
        for bone in rig.pose.bones:
            (bone if hasattr(bone, "select") else bone.bone).select = bone.name in names
        rig.data.bones.active = rig.data.bones[names[-1]]
        return bpy.ops.condyle.add_joint(kind="spherical", **options)

    assert add(*tail) == {"FINISHED"}
    references = part("data.references")
    ends = ((each.condyle.joint.parent, each.condyle.joint.child) for each in references.joints_of(scene))
    pairs = {tuple(references.resolve(body).bone for body in pair) for pair in ends}
    assert pairs == {("Hips", "Tail.1"), ("Tail.1", "Tail.2"), ("Tail.2", "Tail.3")}
    assert add(*tail, "Thigh") == {"FINISHED"} and len(references.joints_of(scene)) == 4
    with pytest.raises(RuntimeError, match="All that is selected has joints already"):
        add(*tail)
    assert add("Root", "Tail.3", "Foot") == {"FINISHED"}  # the root has none: on the armature, which may walk
    joint = references.joint_of(scene, references.Body(rig, "Root"))
    assert references.resolve(joint.condyle.joint.parent) == references.Body(rig)
    assert not any(item.condyle.joint.to_world for item in references.joints_of(scene))
    bpy.ops.object.mode_set(mode="OBJECT")
