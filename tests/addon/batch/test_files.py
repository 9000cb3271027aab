"""Outputs of the command line are whole; linked files that are of no use are named."""

import contextlib
import importlib
import io
import json
import os

import bpy
import pytest


class Said:
    """What a reporter was told."""

    def __init__(self):
        self.errors = []
        self.error, self.message = self.errors.append, lambda text: None


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_a_file_that_is_cut_short_is_told(part, scene, make, tmp_path, compress, share):
    make.box("Stone")
    path = tmp_path / "whole.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True, compress=compress)
    check_whole = part("batch.files").check_whole
    check_whole(path)
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    with pytest.raises(OSError, match="truncated"):
        check_whole(path)


def test_an_earlier_output_stays_where_the_new_one_is_cut_short(part, scene, make, tmp_path, monkeypatch):
    """As on a full disk, where Blender may say that it has saved all."""
    make.box("Stone")
    files, said, target = part("batch.files"), Said(), tmp_path / "out.blend"
    assert files.save(target, said) == 0 and not said.errors
    before = target.read_bytes()
    whole = files.check_whole

    def short(path):
        path.write_bytes(path.read_bytes()[:8192])
        whole(path)

    monkeypatch.setattr(files, "check_whole", short)
    assert files.save(target, said) == 1
    assert len(said.errors) == 1 and "is the disk full?" in said.errors[0] and str(target) in said.errors[0]
    assert target.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["out.blend"]


def test_a_library_without_what_is_linked_is_named(part, scene, make, tmp_path):
    make.box("Linked Stone")
    library, shot = tmp_path / "lib.blend", tmp_path / "shot.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(library), copy=True)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(library), link=True) as (_, wanted):
        wanted.objects = ["Linked Stone"]
    bpy.context.scene.collection.objects.link(wanted.objects[0])
    bpy.ops.wm.save_as_mainfile(filepath=str(shot))
    for content, told in ((b"", ("library-unread", "'Linked Stone'")), (None, ("library-missing",))):
        library.unlink()
        if content is not None:
            library.write_bytes(content)
        bpy.ops.wm.open_mainfile(filepath=str(shot), load_ui=False)
        (found,) = part("batch.files").missing([str(library)])
        assert (found.code, *found.values.values()) == (told[0], str(library), *told[1:])


def test_a_library_counts_as_it_was_when_it_was_read(part, tmp_path):
    """One that is saved while a shot is baked has changed since, so that the shot is baked again."""
    library = tmp_path / "lib.blend"
    library.write_bytes(b"before")
    digest = part("batch.records").library_digest
    before, told = digest(str(library)), part("batch.child").Told()
    told.take(json.dumps({"event": "opened", "blender": "5.0.1", "libraries": [str(library)]}))
    library.write_bytes(b"after")
    assert told.libraries == {str(library): before} and before != digest(str(library))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="makes a pipe with a name")
@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("deep", [False, True])
def test_a_pipe_among_the_libraries_is_told_before_blender_waits_for_it(condyle, tmp_path, compress, deep):
    """Blender opened it and waited for ever, in a batch, too."""
    links = importlib.import_module(f"{condyle.__name__}.blender.linked_files")
    names = ["shot.blend", "between.blend", "lib.blend"] if deep else ["shot.blend", "lib.blend"]
    for name, linked in zip(names[::-1], [None, *names[:0:-1]]):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        made = bpy.data.objects.new(name, None)
        if linked is not None:
            with bpy.data.libraries.load(str(tmp_path / linked), link=True) as (_, target):
                target.objects = [linked]
            (made.parent,) = target.objects
            bpy.context.scene.collection.objects.link(made.parent)
        bpy.context.scene.collection.objects.link(made)
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / name), compress=compress)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    assert links.no_plain_files(tmp_path / "shot.blend") == []
    pipe = tmp_path / "lib.blend"
    pipe.unlink()
    os.mkfifo(pipe)
    assert links.no_plain_files(tmp_path / "shot.blend") == [pipe]
    cli = importlib.import_module(f"{condyle.__name__}.batch.command_line")
    with contextlib.redirect_stderr(io.StringIO()) as told:
        code = cli.main(["bake", str(tmp_path / "shot.blend"), "--check"])
    assert code == 1 and f"links to {pipe}, not a regular file" in told.getvalue()


@pytest.mark.parametrize(
    "content", [b"", b"BLENDER", b"BLENDER17-01v0500LI\0\0" + b"\xff" * 40, b"\x1f\x8bno", b"(\xb5/\xfdno"]
)
def test_a_broken_file_links_to_nothing(condyle, tmp_path, content):
    links = importlib.import_module(f"{condyle.__name__}.blender.linked_files")
    (tmp_path / "broken.blend").write_bytes(content)
    assert links.no_plain_files(tmp_path / "broken.blend") == []
