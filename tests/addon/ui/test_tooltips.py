"""Settings explain themselves: every property and operator has a tooltip with its unit, every grey button a reason."""

import re

import bpy
import pytest

pytestmark = pytest.mark.small

UNIT = re.compile(
    r"\[|\bradian|\bmetre|millimetre|\bsecond|\bkg\b|N·m|newton|degree|°|\bunits\b|\bframes?\b", re.IGNORECASE
)
#: numbers that have no dimension, by class and name
PURE = {
    "SoftBodyProperties": {"friction", "poisson", "damping"},
    "PoseResidual": {"trust", "weight"},
    "FeedbackLaw": {"direction"},
    "FitProperties": {"smoothing", "coverage", "metric_values"},
    "FitFromKeyframes": {"smoothing"},
    "FitSurface": {"smoothing"},
    "KnotValue": {"value"},
    "JointProperties": {"follow", "restitution"},
    "GroundProperties": {"restitution", "exponent", "friction"},
    "ForceLawProperties": {"damping", "least_activation"},
    "MuscleProperties": {"excitation", "tendon_mass"},
    "BakeStatistics": {"residual"},
    "ChannelRecord": {"rotation_quaternion", "rotation_axis_angle"},
    "LiveRecord": {"rotation_quaternion", "rotation_axis_angle"},
    "BakeRecord": {"influence"},
    "SwitchedInfluence": {"influence"},
    "LiveSlider": {"share", "times", "plain", "strength"},
    "LiveSettings": {"pull"},
    "WobblingProperties": {"axis", "share", "damping"},
    "RestRecord": {"turn"},
    "SpringProperties": {"damping_ratio", "damping_ratio_selected"},
    "BodyProperties": {"gravity", "gravity_selected", "fields", "fields_selected"},
    "AddChain": {"damping_ratio", "gravity"},
    "ColliderProperties": {"rotation", "friction"},
    "AddCollider": {"friction"},
    "GoalProperties": {"weight"},
    "GoalSettings": {"effort", "strength"},
    "JointFromMeshes": {"axis"},
}


def explained(part):
    """(class's name, property) of every group and operator of the add-on."""
    for each in part("registration").CLASSES:
        if issubclass(each, bpy.types.PropertyGroup):
            found = each.bl_rna.properties
        elif issubclass(each, bpy.types.Operator):
            found = operator(each).get_rna_type().properties
        else:
            continue
        for item in found:
            if item.identifier not in {"rna_type", "name"} and not item.is_hidden:
                yield each.__name__, item


def operators(part):
    return [each for each in part("registration").CLASSES if issubclass(each, bpy.types.Operator)]


def operator(each):
    return getattr(bpy.ops.condyle, each.bl_idname.removeprefix("condyle."))


def is_group(item):
    return item.type in {"POINTER", "COLLECTION"} and (
        item.type == "COLLECTION" or getattr(item.fixed_type.base, "identifier", "") == "PropertyGroup"
    )


def test_every_property_has_a_tooltip_without_a_full_stop(part):
    wrong = []
    for owner, item in explained(part):
        texts = [] if is_group(item) else [item.description]
        if item.type == "ENUM":
            texts += [entry.description for entry in item.enum_items if entry.description]
        if any(not text or text.rstrip().endswith(".") for text in texts):
            wrong.append(f"{owner}.{item.identifier}")
    assert wrong == []


def test_every_number_with_a_dimension_tells_its_unit(part):
    """By Blender's own unit, or in its name or tooltip; what has none is listed above."""
    wrong = []
    for owner, item in explained(part):
        if item.type != "FLOAT" or item.unit != "NONE" or item.identifier in PURE.get(owner, ()):
            continue
        if item.subtype in {"COLOR", "COLOR_GAMMA", "DIRECTION", "FACTOR", "PERCENTAGE", "TIME", "MATRIX"}:
            continue
        if not UNIT.search(f"{item.name} {item.description}"):
            wrong.append(f"{owner}.{item.identifier}: {item.name}: {item.description}")
    assert wrong == []


def test_every_operator_says_what_it_does(part):
    for each in operators(part):
        text = operator(each).get_rna_type().description
        assert len(text) > 15 and not text.rstrip().endswith("."), each.__name__


def grey(part):
    """Operators that cannot run now, with what Blender says about it."""
    found = {}
    for each in operators(part):
        if not operator(each).poll():
            with pytest.raises(RuntimeError) as caught:
                operator(each)()
            found[each.bl_idname] = str(caught.value)
    return found


def nothing(part, scene, make):
    """An empty scene."""


def a_plain_object(part, scene, make):
    bpy.context.view_layer.objects.active = make.box("Box")


def in_edit_mode(part, scene, make):
    bpy.context.view_layer.objects.active = make.box("Box")
    bpy.ops.object.mode_set(mode="EDIT")


def a_joint(part, scene, make):
    body = part("data.references").Body
    joint = part("making.bodies_and_joints").add_joint(
        scene, body(make.box("A")), body(make.box("B")), "hinge"
    )
    bpy.context.view_layer.objects.active = joint


def of_a_newer_version(part, scene, make):
    a_joint(part, scene, make)
    part("blender.session").read_only = True


def while_computing(part, scene, make):
    a_joint(part, scene, make)
    part("blender.session").job = part("jobs.operator").Job("Bake", 0.0)


@pytest.mark.parametrize(
    "state", [nothing, a_plain_object, in_edit_mode, a_joint, of_a_newer_version, while_computing]
)
def test_every_grey_button_says_why(part, scene, make, state):
    """Blender shows the reason in the button's tooltip, and a script gets it in the error."""
    session = part("blender.session")
    try:
        state(part, scene, make)
        found = grey(part)
    finally:
        session.read_only, session.job = False, None
        if bpy.context.mode == "EDIT_MESH":
            bpy.ops.object.mode_set(mode="OBJECT")
    silent = [name for name, text in found.items() if "context is incorrect" in text]
    assert found and silent == []
