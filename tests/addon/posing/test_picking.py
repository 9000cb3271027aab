"""Which body the mouse takes: the one under it, else the nearest that is wanted, within reach."""

from types import SimpleNamespace

import bpy
import numpy as np
import pytest

WIDTH = HEIGHT = 400  # pixels of a view that shows 4 m across: 100 pixels a metre


@pytest.fixture
def view():
    """A region and a view from above, orthographic."""
    from mathutils import Matrix

    eye = Matrix.Translation((0.0, 0.0, -10.0))  # the camera stands 10 m above and looks down
    shown = Matrix.Diagonal((0.5, 0.5, -0.02, 1.0)) @ eye
    region = SimpleNamespace(width=WIDTH, height=HEIGHT)
    return region, SimpleNamespace(
        view_matrix=eye, perspective_matrix=shown, is_perspective=False, view_perspective="ORTHO"
    )


@pytest.fixture
def two(part, scene, make):
    """A rod of 10 x 10 pixels at the middle of the view, and a block whose edge is 15 pixels right of the rod's."""
    authoring, body = part("making.bodies_and_joints"), part("data.references").Body
    rod, block = make.box("Rod"), make.box("Block", (0.3, 0, 0), (0.2, 0.2, 0.2))
    for item in (rod, block):
        authoring.make_body(scene, body(item))
    return rod, block


@pytest.mark.small
def test_the_body_under_the_mouse_is_taken_where_it_was_hit(part, view, two):
    body, point = part("posing.picking").body_at(bpy.context, *view, (203.0, 198.0))
    assert body.object == two[0]
    assert point == pytest.approx([0.03, -0.02, 0.2], abs=1e-5)  # float32, along a ray of some 100 m


def test_a_body_that_is_missed_by_a_little_is_taken_at_its_surface(part, view, two):
    # 6 pixels beside, 9 before the block
    body, point = part("posing.picking").body_at(bpy.context, *view, (211.0, 200.0))
    assert body.object == two[0]
    assert np.all(np.abs(point[:2]) <= 0.05 + 1e-5) and point[2] == pytest.approx(0.2, abs=1e-5)
    assert part("posing.picking").body_at(bpy.context, *view, (150.0, 200.0)) is None  # 45 pixels away


def test_what_is_not_wanted_does_not_hide_what_is(part, view, two):
    picking, (rod, block) = part("posing.picking"), two
    body, _ = picking.body_at(bpy.context, *view, (222.0, 200.0), lambda body: body.object == rod)
    assert body.object == rod  # the mouse is over the block, 17 pixels beside the rod
    assert picking.body_at(bpy.context, *view, (222.0, 200.0))[0].object == block
    assert picking.body_at(bpy.context, *view, (222.0, 200.0), lambda body: False) is None


def test_bodies_are_read_once_for_all_rays(part, view, two, monkeypatch):
    references, asked = part("data.references"), []
    read = references.bodies_of
    monkeypatch.setattr(references, "bodies_of", lambda scene: asked.append(scene) or read(scene))
    assert part("posing.picking").body_at(bpy.context, *view, (222.0, 200.0), lambda body: False) is None
    assert len(asked) == 1


def test_a_bone_that_is_nearer_than_a_surface_is_taken(part, scene, make, view, two):
    rig = make.armature("Rig", {"Bone": ((-0.5, -0.12, 0.0), (0.5, -0.12, 0.0), None)})
    part("making.bodies_and_joints").make_body(scene, part("data.references").Body(rig, "Bone"))
    # 2 beside the bone, 9 below the rod
    body, point = part("posing.picking").body_at(bpy.context, *view, (190.0, 186.0))
    assert (body.object, body.bone) == (rig, "Bone")
    assert point == pytest.approx([-0.1, -0.12, 0.0], abs=1e-5)
