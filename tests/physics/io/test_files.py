"""Files as such: what is never read, what a saved file keeps, and what of a name reaches a terminal."""

import json
import os
import stat

import numpy as np
import pytest

import physics as ph
from physics.cli import main
from physics.errors import LONGEST
from physics.io import limits
from physics.io.files import check_nesting, write_atomically
from physics.io.vtp import read_vtp
from tests.physics.io.osim import body, coordinate, joint, write
from tests.physics.small_models import alone

READERS = {
    "model.json": ph.load_model,
    "result.npz": ph.load_result,
    "model.osim": ph.read_opensim,
    "table.sto": ph.read_storage,
    "bone.vtp": read_vtp,
}
unix = pytest.mark.skipif(os.name != "posix", reason="pipes and devices have names on Unix")


def hinge(name="arm"):
    return alone(name, ph.joints.Hinge((0, 0, 1))).build()


@unix
@pytest.mark.parametrize("name", READERS)
def test_pipes_and_devices_are_refused(tmp_path, name):
    os.mkfifo(tmp_path / name)
    for path in (tmp_path / name, "/dev/zero"):
        with pytest.raises(ph.FormatError, match="is a device or a pipe: name a file"):
            READERS[name](path)


@pytest.mark.parametrize("name", READERS)
def test_bad_names_and_folders_are_errors_that_are_documented(tmp_path, name):
    with pytest.raises(ph.FormatError, match="character NUL"):
        READERS[name](f"{tmp_path}/a\0{name}")
    for path in (tmp_path, tmp_path / (300 * "n" + name), tmp_path / name / name):
        with pytest.raises(OSError):
            READERS[name](path)


@pytest.mark.parametrize(("name", "what"), list(zip(READERS, limits.BYTES)))
def test_a_file_that_is_too_large_is_not_read(tmp_path, name, what):
    with (tmp_path / name).open("wb") as file:
        file.truncate(limits.BYTES[what] + 1)  # takes no space
    with pytest.raises(ph.FormatError, match=f"more than the {limits.BYTES[what]} that {what} may have"):
        READERS[name](tmp_path / name)


def test_the_nesting_of_json_is_counted_outside_of_texts():
    most = limits.NESTING
    deep = most * "[" + most * "]"
    check_nesting(deep.encode())
    check_nesting(json.dumps({"a": most * "[", 'b\\"': [deep[most:]]}).encode())
    check_nesting(b"[]{}" * (limits.PIECE // 2))
    for text in (f"[{deep}]", '{"a": ' + deep + "}", '["]]]]\\"]", ' + deep + "]"):
        with pytest.raises(ph.FormatError, match="nest deeper than 100"):
            check_nesting(text.encode())
    with pytest.raises(ph.FormatError, match="nest deeper than 100"):
        check_nesting(b"[]" * limits.PIECE + deep.encode() + b"[" * (most + 1))


def test_extras_that_could_not_be_read_again_are_not_written(tmp_path):
    deep, endless = [], {}
    for _ in range(limits.NESTING):
        deep = [deep]
    endless["itself"] = endless
    for extras in ({"deep": deep}, endless):
        with pytest.raises(ph.FormatError, match="must not nest deeper"):
            ph.save_model(hinge(), tmp_path / "model.json", extras=extras)
    ph.save_model(hinge(), tmp_path / "model.json", extras={"deep": deep[0][0][0][0][0]})
    assert ph.load_model(tmp_path / "model.json").extras == {"deep": deep[0][0][0][0][0]}


def test_models_and_tables_of_too_many_parts_are_refused(tmp_path):
    rest = {"joint": {"type": "fixed"}, "mass": 1, "inertia": np.eye(3).tolist()}
    bodies = [{"name": f"b{k}", "parent": None, **rest} for k in range(limits.ENTRIES + 1)]
    (tmp_path / "m.json").write_text(json.dumps({"format": "condyle-model", "version": 1, "bodies": bodies}))
    with pytest.raises(ph.FormatError, match="bodies: has 10001 entries, more than the 10000"):
        ph.load_model(tmp_path / "m.json")
    labels = "\t".join(["time", *map(str, range(limits.COLUMNS))])
    (tmp_path / "t.sto").write_text(f"t\nendheader\n{labels}\n")
    with pytest.raises(ph.FormatError, match="has 100001 columns, more than the 100000"):
        ph.read_storage(tmp_path / "t.sto")
    (tmp_path / "s.vtp").write_text(f"<a>{limits.ELEMENTS * '<b/>'}</a>")
    with pytest.raises(ph.FormatError, match="more than 500000 elements"):
        read_vtp(tmp_path / "s.vtp")


@unix
def test_a_saved_file_keeps_links_and_permissions(tmp_path):
    (tmp_path / "far").mkdir()
    target, link = tmp_path / "far" / "model.json", tmp_path / "link.json"
    link.symlink_to("far/model.json")
    ph.save_model(hinge(), link)  # the target is not there yet
    assert link.is_symlink() and ph.load_model(target).model == hinge()
    for mode in (0o600, 0o640, 0o444):
        target.chmod(mode)
        ph.save_model(hinge(f"mode {mode}"), link)
        assert link.is_symlink() and stat.S_IMODE(target.stat().st_mode) == mode
        assert ph.load_model(link).model.body_names == (f"mode {mode}",)
    assert os.listdir(tmp_path / "far") == ["model.json"]
    (tmp_path / "circle.json").symlink_to("circle.json")
    with pytest.raises(OSError, match="symbolic links"):
        ph.save_model(hinge(), tmp_path / "circle.json")
    assert sorted(os.listdir(tmp_path)) == ["circle.json", "far", "link.json"]


@unix
def test_a_device_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(ph.FormatError, match="is a device or a pipe"):
        ph.save_model(hinge(), tmp_path / "pipe.json")
    assert stat.S_ISFIFO((tmp_path / "pipe.json").stat().st_mode)


@unix
def test_a_file_is_on_the_disk_before_it_is_renamed_and_its_folder_after(tmp_path, monkeypatch):
    done = []
    monkeypatch.setattr(os, "fsync", lambda number: done.append(stat.S_IFMT(os.fstat(number).st_mode)))
    monkeypatch.setattr(os, "replace", lambda *paths: done.append("renamed"))
    with write_atomically(tmp_path / "a.txt") as temporary:
        temporary.write_text("a")
    assert done == [stat.S_IFREG, "renamed", stat.S_IFDIR]


@pytest.mark.parametrize("name", ["n" * 250 + ".json", "ü" * 124 + ".json", "a." + "n" * 250])
def test_a_name_as_long_as_the_system_allows_is_written(tmp_path, name):
    ph.save_model(hinge(), tmp_path / name)
    assert os.listdir(tmp_path) == [name] and ph.load_model(tmp_path / name).model == hinge()


def test_a_name_that_is_too_long_leaves_nothing(tmp_path):
    with pytest.raises(OSError, match="too long"):
        ph.save_model(hinge(), tmp_path / ("n" * 300))
    assert os.listdir(tmp_path) == []


def test_a_message_shows_escapes_as_text_and_is_not_endless():
    text = str(ph.FormatError("\x1b[31mred\x07 \udcff.json: " + 9999 * "long " + "the way out"))
    assert text.startswith(r"\x1b[31mred\x07 \udcff.json: long") and text.endswith("the way out")
    assert len(text) < LONGEST + 20 and " ... " in text  # 20: what escapes are longer
    error = ph.DivergedError(1.0, "body", "a" * 9999)
    assert len(str(error)) <= LONGEST and len(error.reason) == 9999


@unix
def test_the_command_line_shows_escapes_in_names_as_text(tmp_path, capsys):
    evil = "\x1b]0;owned\x07\x1b[2J"
    path = tmp_path / f"{evil}.json"
    ph.save_model(hinge(evil), path, extras={evil: 1})
    assert main(["info", str(path)]) == 0
    path.write_text("{}")
    assert main(["info", str(path)]) == 2
    read = write(tmp_path / "a.osim", body("arm"), joint("PinJoint", "j", "/ground", "arm", coordinate("c")))
    read.write_text(read.read_text().replace("</Model>", "<Odd name='&#133;a\u202eb'><x>1</x></Odd></Model>"))
    assert main(["convert", str(read), "--out", str(tmp_path / "out.json")]) == 0
    out, err = capsys.readouterr()
    assert r"\x1b]0;owned\x07" in out and r"\x1b]0;owned\x07" in err and r"a\u202eb" in err
    assert not any(mark in out + err for mark in ("\x1b", "\x07", "\x85", "\u202e"))
