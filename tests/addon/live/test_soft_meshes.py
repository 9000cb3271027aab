"""Soft bodies in live runs: the places of a bake, shown by a modifier that is gone afterwards, in whatever file."""

import bpy
import numpy as np
import pytest

from tests.addon.digests import differences, digest
from tests.addon.keying import set_keys
from tests.addon.live.test_run import Hand
from tests.addon.selecting import select

FPS, LAST = 100, 41


@pytest.fixture
def belly(scene, make):
    """A soft box half inside a post that carries it away, with two levels of subdivision; a frame is a step."""
    scene.frame_start, scene.frame_end, scene.render.fps = 1, LAST, FPS
    scene.condyle.simulation.time_step = 1.0 / FPS
    post = make.box("Post", (0.0, 0.0, 0.0), (0.1, 0.1, 0.4))
    belly = make.box("Belly", (0.1, 0, 0), (0.2, 0.1, 0.1))
    belly.parent = post
    belly.modifiers.new("Finer", "SUBSURF").levels = 2
    set_keys(post, "location", {1: 0.0, 20: 0.1, LAST: 0.3}, axis=0)
    scene.frame_set(1)
    select(belly)
    bpy.ops.condyle.add_soft_body(preset="BELLY")
    belly.condyle.soft.lattice_size = 0.1
    return belly


@pytest.fixture
def saved(belly, tmp_path):
    """The file of `belly`, saved."""
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    yield tmp_path
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


def seen(item):
    """World places (k, 3) of what Blender shows of a mesh."""
    shown = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = shown.to_mesh()
    found = np.array([shown.matrix_world @ each.co for each in mesh.vertices])
    shown.to_mesh_clear()
    return found


def walk(part, script=(), **options):
    """A live run of 0.3 s; kernels may be compiled first."""
    return Hand(part, bpy.context.scene, script, duration=0.3, **options).walk(900.0)


def names(item):
    return [each.name for each in item.modifiers]


def test_an_unsaved_file_is_as_it_was_and_gets_no_record(part, ph, belly):
    before, rest, far = digest(), seen(belly), []

    def look(run):
        assert run.time or "real time" not in run.message  # the first step compiles
        assert names(belly) == ["Condyle Live", "Finer"]
        assert not bpy.ops.condyle.live_record.poll()
        far.append(np.abs(seen(belly) - rest).max())

    walk(part, [(0.05 * k, look) for k in range(5)])
    assert far[-1] > 0.05
    with pytest.raises(ph.ModelError, match=r"'Belly'.*save the file"):
        walk(part, record=True)
    assert not differences(before, digest()), differences(before, digest())


@pytest.mark.small
def test_a_record_is_the_bake_bit_by_bit_and_is_seen_alike(part, belly, saved):
    """Behind a bake that is in place, whose modifier comes back."""
    scene, pictures = bpy.context.scene, []
    whole = part("jobs.bake").bake_now(scene).result
    assert names(belly) == ["Condyle Soft Body", "Finer"]
    baked = []
    for frame in range(1, LAST + 1):
        scene.frame_set(frame)
        baked.append(seen(belly))
    scene.frame_set(1)

    def look(run):
        pictures.append((round(run.time * FPS), seen(belly)))
        assert names(belly) == ["Condyle Soft Body", "Condyle Live", "Finer"]

    script = [(0.02 * k, look) for k in range(12)]
    before = digest()
    walk(part, script)
    assert not differences(before, digest()), differences(before, digest())
    for frame, shown in pictures:
        # files and Blender's matrices have single precision
        assert shown == pytest.approx(baked[frame], abs=1e-6)
    report = walk(part, record=True)
    live, count = report.baked.result, len(report.frames)
    assert count > 20 and live.soft_states.tobytes() == whole.soft_states[:count].tobytes()
    assert names(belly) == ["Condyle Soft Body", "Finer"]
    scene.frame_set(15)
    assert seen(belly) == pytest.approx(baked[14], abs=1e-6)


def test_a_file_saved_or_undone_during_a_run_has_no_trace_of_it(part, belly, saved):
    bpy.context.preferences.edit.use_global_undo = True
    bpy.ops.ed.undo_push(message="before")

    def save(_run):
        bpy.ops.wm.save_as_mainfile(filepath=str(saved / "during.blend"), copy=True)

    def push(run):
        if "Condyle Live" in names(belly):
            bpy.ops.ed.undo_push(message="during")
        else:  # until the next picture
            hand.script.append((run.time + 1e-3, push))

    hand = Hand(part, bpy.context.scene, [(0.05, save), (0.1, push)], duration=1.0)
    hand.walk(900.0)
    assert not hand.script
    assert names(belly) == ["Finer"]
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()  # to the step within the run
    assert names(bpy.data.objects["Belly"]) == ["Finer"]
    with bpy.data.libraries.load(str(saved / "during.blend")) as (_, wanted):
        wanted.objects = ["Belly"]
    assert names(wanted.objects[0]) == ["Finer"]


def test_one_scaled_to_0_or_taken_away_meanwhile_ends_no_run(part, belly):
    told = []

    def scale(_run):
        belly.scale = (0.0, 1.0, 1.0)

    def remove(run):
        belly.condyle.soft.enabled = False
        run.look()

    script = [(0.05, scale), (0.1, remove), (0.2, lambda run: told.append(run.message))]
    assert walk(part, script).seconds > 0.25
    assert "Belly" in told[0]


def test_a_linked_one_is_refused_by_name(part, ph, belly, saved):
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(saved / "shot.blend"), link=True) as (_, wanted):
        wanted.objects = ["Belly", "Post"]
    for item in wanted.objects:
        bpy.context.scene.collection.objects.link(item)
    with pytest.raises(ph.ModelError, match="'Belly' is linked"):
        walk(part)


@pytest.mark.small
def test_kernels_of_other_steps_are_not_compiled_first(part, belly):
    assert part("jobs.precompile").needed(bpy.context.scene) == ["poses and energy"]
