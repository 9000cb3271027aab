"""Build the zips of the extension: the add-on, the physics package, wheels of the compute process.

    python3 build.py extension                  for this machine's platform, one zip for each Blender Python
    python3 build.py extension --platform all   for every platform that has the wheels
    python3 build.py extension --no-wheels      sources only: any platform and Python, slower without numba

Builds are reproducible: entries are sorted and have a fixed time. Blender's own program validates each zip.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import os
import platform
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent
TIME = (2020, 1, 1, 0, 0, 0)

# Blender's name of a platform -> accepted wheel tags, the newest first.
PLATFORMS = {
    "linux-x64": ["manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux2014_x86_64"],
    "macos-arm64": ["macosx_12_0_arm64", "macosx_11_0_arm64"],
    "windows-x64": ["win_amd64"],
    "windows-arm64": ["win_arm64"],
}
# numba has no wheel for Windows on ARM before Python 3.13; Intel Macs use the zip without wheels.
NO_WHEELS = {("cp311", "windows-arm64")}
# Blender versions with this Python: first, and first without it.
BLENDERS = {"cp311": ("4.2.0", "5.1.0"), "cp313": ("5.1.0", None)}
HERE = {
    ("Linux", "x86_64"): "linux-x64",
    ("Darwin", "arm64"): "macos-arm64",
    ("Windows", "AMD64"): "windows-x64",
    ("Windows", "ARM64"): "windows-arm64",
}


class BuildError(Exception):
    """A zip cannot be built."""


def manifest(python: str | None = None, system: str | None = None, wheels: list[str] | None = None) -> str:
    """The manifest of one zip: that of the sources, restricted to the Blender versions and platform of its wheels.

    Without ``python``, that of the zip without wheels, whose tagline states that it is slower.
    """
    text = (ROOT / "addon/blender_manifest.toml").read_text("utf-8")
    if python is None:
        return with_line(text, "tagline", f'tagline = "{without_wheels().TAGLINE}"')
    first, below = BLENDERS[python]
    lines = [f'blender_version_min = "{first}"']
    lines += [f'blender_version_max = "{below}"'] if below else []
    lines.append(f'platforms = ["{system}"]')
    lines += ["wheels = [", *(f'    "./wheels/{name}",' for name in wheels or []), "]"]
    return with_line(text, "blender_version_min", "\n".join(lines))


def with_line(text: str, name: str, line: str) -> str:
    """A manifest whose line that sets ``name`` is replaced."""
    changed, count = re.subn(rf'^{name} = ".*"$', lambda _: line, text, flags=re.MULTILINE)
    if count != 1:
        raise BuildError(f"addon/blender_manifest.toml has no line {name}")
    return changed


def without_wheels() -> ModuleType:
    """The add-on's module with its texts on running without numba."""
    spec = importlib.util.spec_from_file_location("jit", ROOT / "addon/blender/numba_support.py")
    if spec is None or spec.loader is None:
        raise BuildError("addon/blender/numba_support.py cannot be read")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def manifest_value(name: str) -> str:
    found = re.search(rf'^{name} = "(.*)"$', manifest(), flags=re.MULTILINE)
    if found is None:
        raise BuildError(f"addon/blender_manifest.toml has no line {name}")
    return found[1]


def sources() -> dict[str, Path]:
    """Path in the zip -> file: addon/ is the extension's root, physics/ a package in it."""
    files = {"LICENSE": ROOT / "LICENSE"}
    for folder, prefix in ((ROOT / "addon", Path()), (ROOT / "physics", Path("physics"))):
        for path in folder.rglob("*"):
            inside = path.relative_to(folder)
            hidden = any(part.startswith(".") or part == "__pycache__" for part in inside.parts)
            if path.is_file() and not hidden and path.suffix not in {".pyc", ".blend1", ".part"}:
                files[(prefix / inside).as_posix()] = path
    del files["blender_manifest.toml"]
    return files


def fetch_wheels(python: str, system: str) -> list[Path]:
    """Wheels of the compute process, verified by hash and cached in dist/wheels."""
    lock = ROOT / "requirements" / f"wheels-{python}.txt"
    digest = hashlib.sha256(lock.read_bytes()).hexdigest()[:12]
    folder = ROOT / "dist/wheels" / f"{python}-{system}-{digest}"
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
            fetched = Path(temporary) / "fetched"
            pip = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps"]
            pip += ["--require-hashes", "--only-binary", ":all:", "-r", str(lock), "-d", str(fetched)]
            pip += [
                "--implementation",
                "cp",
                "--abi",
                python,
                "--python-version",
                f"{python[2]}.{python[3:]}",
            ]
            for tag in PLATFORMS[system]:
                pip += ["--platform", tag]
            if subprocess.run(pip).returncode:
                raise BuildError(f"the wheels for {python} on {system} could not be fetched, see above")
            if not folder.exists():
                os.replace(fetched, folder)
    return sorted(folder.glob("*.whl"))


def write_zip(path: Path, text: str, wheels: list[Path]) -> None:
    """Write the manifest ``text``, the sources and the wheels as one zip."""
    entries: dict[str, bytes] = {"blender_manifest.toml": text.encode()}
    entries.update({name: file.read_bytes() for name, file in sources().items()})
    entries.update({f"wheels/{wheel.name}": wheel.read_bytes() for wheel in wheels})
    with zipfile.ZipFile(path, "w") as archive:
        for name in sorted(entries):
            entry = zipfile.ZipInfo(name, TIME)
            entry.external_attr = 0o644 << 16
            entry.create_system = 3  # the same on every system
            packed = name.endswith(".whl")  # a wheel is a zip already
            entry.compress_type = zipfile.ZIP_STORED if packed else zipfile.ZIP_DEFLATED
            archive.writestr(entry, entries[name])


def validate(path: Path) -> bool:
    """Validate with Blender's own program and its list of tags; ``False`` if there is no bpy."""
    for bpy in sorted(Path(sys.prefix).glob("[Ll]ib*/**/site-packages/bpy/[0-9]*/scripts")):
        program = bpy / "addons_core/bl_pkg/cli/blender_ext.py"
        tags = next(bpy.glob("modules/_bpy_internal/extensions/tags.py"))
        command = [sys.executable, str(program), "validate", str(path), "--valid-tags", str(tags)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            raise BuildError(f"{path.name} is not a valid extension:\n{done.stdout.strip()}")
        return True
    return False


def build(python: str | None, system: str | None, out: Path) -> Path:
    """Build one zip, without wheels if ``python`` is None; only a valid zip is moved to ``out``."""
    name, version = manifest_value("id"), manifest_value("version")
    wheels = fetch_wheels(python, system) if python else []
    text = manifest(python, system, [wheel.name for wheel in wheels])
    path = out / (f"{name}-{version}-{system}-{python}.zip" if python else f"{name}-{version}.zip")
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out) as temporary:
        unchecked = Path(temporary) / path.name
        write_zip(unchecked, text, wheels)
        checked = "valid" if validate(unchecked) else "not validated: no bpy here"
        os.replace(unchecked, path)
    slow = (
        ""
        if python
        else f"; where Blender has no numba, simulations take {without_wheels().SLOWDOWN} times as long"
    )
    print(f"{path}  {path.stat().st_size / 1e6:.1f} MB, {checked}{slow}", flush=True)
    return path


def chosen(options: argparse.Namespace) -> list[tuple[str | None, str | None]]:
    if options.no_wheels:
        return [(None, None)]
    here = HERE.get((platform.system(), platform.machine()))
    systems = {"all": list(PLATFORMS), "here": [here]}.get(options.platform, [options.platform])
    pythons = [options.python] if options.python else list(BLENDERS)
    pairs = [
        (python, system) for python in pythons for system in systems if (python, system) not in NO_WHEELS
    ]
    if None in systems:
        raise BuildError("there are no wheels for this platform; build with --no-wheels")
    if not pairs:
        others = [python for python in BLENDERS for system in systems if (python, system) not in NO_WHEELS]
        raise BuildError(
            f"there are no wheels for {options.python} on {options.platform}, only for {', '.join(others)}; "
            "build for that Python, or with --no-wheels"
        )
    return pairs


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="build.py extension", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--no-wheels", action="store_true", help="one zip with the sources only")
    parser.add_argument("--platform", choices=["here", "all", *PLATFORMS], default="here")
    parser.add_argument("--python", choices=BLENDERS, help="only for this Python")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="folder of the zips")
    options = parser.parse_args()
    try:
        for python, system in chosen(options):
            build(python, system, options.out)
    except BuildError as error:
        print(f"build.py extension: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
