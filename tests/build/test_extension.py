"""The extension's zips: manifest, contents, the same bytes each time."""

import importlib.util
import re
import sys
import tomllib
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def extension(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("extension_under_test", ROOT / ".ci/extension.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_zip_without_wheels_is_for_every_blender_from_4_2(extension: ModuleType) -> None:
    manifest = tomllib.loads(extension.manifest())
    assert manifest["id"] == "condyle" and manifest["blender_version_min"] == "4.2.0"
    assert manifest["license"] == ["SPDX:GPL-3.0-or-later"]
    assert not {"wheels", "platforms", "blender_version_max"} & set(manifest)
    assert "network" not in manifest["permissions"]


def test_the_zip_without_wheels_says_what_that_costs(extension: ModuleType) -> None:
    tagline = tomllib.loads(extension.manifest())["tagline"]
    assert re.fullmatch(r"Without numba: .* \d+ to \d+ times as long", tagline)
    assert len(tagline) <= 64 and tagline[-1].isalnum()  # as Blender demands it
    assert "numba" not in tomllib.loads(extension.manifest("cp311", "linux-x64", []))["tagline"]


def test_nothing_in_the_zip_opens_a_connection(extension: ModuleType) -> None:
    """The add-on asks Blender for no permission to use the network, so none of its modules may."""
    modules = (
        "socket|ssl|http|urllib|requests|ftplib|smtplib|xmlrpc|socketserver|asyncio|telnetlib|webbrowser"
    )
    uses = re.compile(rf"^\s*(import|from) +({modules})\b|import_module\(.({modules})\b", re.MULTILINE)
    found = {
        name: match[0].strip()
        for name, path in extension.sources().items()
        if name.endswith(".py")
        for match in uses.finditer(path.read_text("utf-8"))
    }
    assert not found


def test_a_zip_with_wheels_is_for_the_blenders_of_its_python(extension: ModuleType) -> None:
    wheel = "numba-1-cp311-cp311-win_amd64.whl"
    manifest = tomllib.loads(extension.manifest("cp311", "windows-x64", [wheel]))
    assert manifest["wheels"] == [f"./wheels/{wheel}"] and manifest["platforms"] == ["windows-x64"]
    assert (manifest["blender_version_min"], manifest["blender_version_max"]) == ("4.2.0", "5.1.0")
    later = tomllib.loads(extension.manifest("cp313", "linux-x64", []))
    assert later["blender_version_min"] == "5.1.0" and "blender_version_max" not in later
    assert later["permissions"] == manifest["permissions"]


def test_the_zip_holds_the_addon_at_its_root_and_physics_in_it(extension: ModuleType) -> None:
    names = set(extension.sources())
    assert {
        "LICENSE",
        "blender/physics_access.py",
        "physics/__init__.py",
        "physics/errors.py",
        "anatomy/demo_meshes.npz",
    } <= names
    assert not [name for name in names if "__pycache__" in name or name.endswith((".pyc", ".whl"))]
    assert not any(name.split("/")[0] in ("numpy", "scipy", "numba") for name in names)


def test_the_same_sources_give_the_same_bytes(extension: ModuleType, tmp_path: Path) -> None:
    first, second = tmp_path / "first.zip", tmp_path / "second.zip"
    wheel = tmp_path / "some-1-py3-none-any.whl"
    wheel.write_bytes(b"wheel")
    for path in (first, second):
        extension.write_zip(path, extension.manifest(), [wheel])
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as archive:
        assert archive.namelist() == sorted(archive.namelist())
        assert archive.read("wheels/some-1-py3-none-any.whl") == b"wheel"


def test_a_platform_without_wheels_is_told_to_build_without(
    extension: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(extension.platform, "machine", lambda: "riscv64")
    monkeypatch.setattr(sys, "argv", ["extension.py"])
    assert extension.main() == 1
    assert "--no-wheels" in capsys.readouterr().err


def test_a_python_without_wheels_for_a_platform_is_told_which_one_has_them(
    extension: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["extension.py", "--python", "cp311", "--platform", "windows-arm64"])
    assert extension.main() == 1
    assert "no wheels for cp311 on windows-arm64, only for cp313" in capsys.readouterr().err


@pytest.mark.skipif(importlib.util.find_spec("bpy") is None, reason="Blender's validator comes with bpy")
def test_blenders_own_validator_accepts_the_zip_and_refuses_an_unknown_tag(
    extension: ModuleType, tmp_path: Path
) -> None:
    good, bad = tmp_path / "good.zip", tmp_path / "bad.zip"
    extension.write_zip(good, extension.manifest(), [])
    assert extension.validate(good)
    extension.write_zip(bad, extension.manifest().replace('"Rigging"', '"Sausages"'), [])
    with pytest.raises(extension.BuildError, match="Sausages"):
        extension.validate(bad)
