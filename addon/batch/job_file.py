"""The jobs of a batch: a JOBS.toml, or every .blend of a folder, as a list of shots.

All jobs are checked before any starts. ``docs/batch.md`` describes the file.
"""

import os
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..blender import physics_access
from . import settings_overrides

Table = dict[str, Any]

FORMAT, VERSION = "condyle-jobs", 1

#: keys of a job besides the sections of overrides
KEYS = ("name", "input", "out", "scene", "frames", "timeout", "extras")
SHARED = ("out", "scene", "frames", "timeout")
TOP = ("format", "version", "defaults", "jobs", "extras")
# Bytes of an output's name before .blend: file systems allow 255 in all, a temporary file adds up to 40.
LONGEST_STEM = 215
LONGEST_NAME = 255
MOST_JOBS = 10_000
DEEPEST = 20  # values in each other; a job's settings have three


@dataclass(frozen=True)
class Shot:
    """One .blend to bake.

    Attributes:
        name: its name in reports.
        source, target: the file to read and the file to write, absolute.
        scene: only this scene; None: all with something to simulate.
        frames: first and last frame; None: the file's.
        timeout: seconds after which it is stopped; None: never.
        settings: nested tables for ``settings_overrides``.
        may_be_empty: whether it is skipped, not failed, if it has nothing to simulate: it comes from a folder.
    """

    name: str
    source: Path
    target: Path
    scene: str | None = None
    frames: tuple[int, int] | None = None
    timeout: float | None = None
    settings: Table = field(default_factory=dict)
    may_be_empty: bool = False

    @property
    def asked(self) -> Table:
        """Everything besides the input that determines the result, for JSON."""
        return {
            "scene": self.scene,
            "frames": list(self.frames) if self.frames else None,
            "overrides": self.settings,
        }


def read(source: Path, given: Table, out: Path | None, recursive: bool) -> list[Shot]:
    """The shots of a job file or a folder.

    Args:
        given: keys of a job (see ``SHARED`` and ``settings_overrides``) that take precedence over those of the file.
        out: folder of all outputs, which replaces every ``out`` of the file. A folder of files needs one.
        recursive: include sub-folders of a folder.

    Raises:
        FormatError: a key or value is wrong; names both.
    """
    if os.path.isdir(source):
        shots = _folder_shots(real(source), given, out, recursive)
    else:
        if recursive:
            raise _error(f"--recursive needs a folder, but {source} is a file")
        shots = _file_shots(source, given, out)
    _check_paths(shots)
    return shots


def real(path: Path) -> Path:
    """A path without links; a circular link stays, because Path.resolve of Python 3.11 raises RuntimeError for it."""
    return Path(os.path.realpath(path))


def on_a_line(text: object) -> str:
    """A text on one line, for a table or a log: characters that cannot be printed are escaped."""
    return str(physics_access.part("errors").on_a_line(text))


def parse_setting(text: str) -> Table:
    """One ``ADDRESS=VALUE`` of a command line as a nested table; a value that is not TOML is a text."""
    keys, sign, value = text.partition("=")
    if not sign:
        raise _error(f"--set {text}: must be ADDRESS=VALUE, as in simulation.time_step=0.0005")
    try:
        return _toml(text)
    except ValueError:
        try:
            return _toml(f"{keys} = {settings_overrides.toml_value(value.strip())}")
        except ValueError as error:
            raise _error(f"--set {text}: {error}") from None


def _folder_shots(folder: Path, given: Table, out: Path | None, recursive: bool) -> list[Shot]:
    if out is None:
        raise _error(f"{folder} is a folder: give a folder for the outputs with --out")
    out = real(out)
    found = [
        path
        for path in sorted(folder.rglob("*") if recursive else folder.iterdir())
        if path.suffix.lower() == ".blend"
        # a broken link is kept, to fail by name
        and (path.is_file() or (path.is_symlink() and not path.exists()))
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
        and not (folder in out.parents and out in path.parents)  # outputs of an earlier batch
    ]
    if not found:
        raise _error(f"{folder} has no .blend file{'' if recursive else ' (try --recursive)'}")
    shots = []
    for path in found:
        inside = path.relative_to(folder)
        shot = _shot(on_a_line(inside.with_suffix("")), path, out / inside, given, str(path))
        shots.append(replace(shot, may_be_empty=True))
    return shots


def _file_shots(file: Path, given: Table, out: Path | None) -> list[Shot]:
    document = _load(file)
    _check_keys(document, TOP, str(file))
    if document.get("format") != FORMAT or document.get("version") != VERSION:
        raise _error(
            f'{file}: must have format = "{FORMAT}" and version = {VERSION}, got '
            f"{document.get('format')!r} and {document.get('version')!r}"
        )
    defaults = _table(document.get("defaults", {}), f"{file}: defaults")
    _check_keys(defaults, (*SHARED, *settings_overrides.SECTIONS), f"{file}: defaults")
    jobs = document.get("jobs")
    if not isinstance(jobs, list) or not jobs:
        raise _error(f"{file}: has no [[jobs]]")
    if len(jobs) > MOST_JOBS:
        raise _error(f"{file}: has {len(jobs)} jobs, more than {MOST_JOBS}")
    return [
        _file_shot(file, number, _table(job, f"{file}: job {number}"), defaults, given, out)
        for number, job in enumerate(jobs, 1)
    ]


def _file_shot(file: Path, number: int, job: Table, defaults: Table, given: Table, out: Path | None) -> Shot:
    where = f"{file}: job {number}" + (f" ({job['name']!r})" if "name" in job else "")
    _check_keys(job, (*KEYS, *settings_overrides.SECTIONS), where)
    source = file.parent / _text(job, "input", where)
    folder = out or (file.parent / _text(defaults, "out", f"{file}: defaults") if "out" in defaults else None)
    if "out" in job:
        own = Path(_text(job, "out", where))
        own = own if own.suffix.lower() == ".blend" else own / source.name
        target = file.parent / own if out is None else out / _inside(own)
    elif folder is not None:
        target = folder / source.name
    else:
        raise _error(f"{where}: has no out, and neither have the defaults")
    name = _text(job, "name", where) if "name" in job else source.stem
    if not name.isprintable():  # it must fit on a line of a table
        if "name" in job:
            raise _error(f"{where}: name = {name!r}: must be one line of printable characters")
        remedy = "rename the file, or give the job a name"
        raise _error(
            f"{where}: the file name {source.name!r} has characters that cannot be printed: {remedy}"
        )
    if not os.path.isfile(source):  # Path.is_file of Python 3.11 raises OSError for a name too long
        raise _error(f"{where}: no such file: {source}")
    keys = settings_overrides.merged(settings_overrides.merged(defaults, job), given)
    return _shot(name, source, target, keys, where)


def _inside(path: Path) -> Path:
    """A path to append to another folder: only its name if it is absolute or leads out of that folder."""
    path = Path(os.path.normpath(path))
    return Path(path.name) if path.anchor or ".." in path.parts else path


def _shot(name: str, source: Path, target: Path, keys: Table, where: str) -> Shot:
    timeout = keys.get("timeout")
    if timeout is not None and not (_is_number(timeout) and 0 < timeout < float("inf")):
        raise _error(f"{where}: timeout = {timeout!r}: must be a number of seconds above 0")
    frames = keys.get("frames")
    if frames is not None:
        whole = isinstance(frames, list) and all(type(each) is int for each in frames)
        if not whole or len(frames) != 2 or frames[1] <= frames[0]:
            raise _error(f"{where}: frames = {frames!r}: must be the first and last frame, as in [1, 120]")
        try:
            settings_overrides.check_frames(frames)
        except physics_access.physics().FormatError as error:
            raise _error(f"{where}: frames = {frames!r}: {error}") from None
    settings = {
        key: _table(keys[key], f"{where}: {key}") for key in settings_overrides.SECTIONS if key in keys
    }
    return Shot(
        name=name,
        source=real(source),
        target=real(target),
        scene=_text(keys, "scene", where) if "scene" in keys else None,
        frames=(frames[0], frames[1]) if frames else None,
        timeout=float(timeout) if timeout is not None else None,
        settings=settings,
    )


def _check_paths(shots: list[Shot]) -> None:
    """FormatError if an output would replace another output or an input, or its name is not valid."""
    sources = {_same(shot.source): shot for shot in shots}
    targets: dict[str, Shot] = {}
    for shot in shots:
        if shot.target.suffix.lower() != ".blend":
            raise _error(f"{shot.name}: the output must be a .blend file, got {shot.target}")
        if any(len(os.fsencode(part)) > LONGEST_NAME for part in shot.target.parent.parts):
            raise _error(f"{shot.name}: a folder's name has more than {LONGEST_NAME} bytes in {shot.target}")
        length = len(os.fsencode(shot.target.stem))
        if length > LONGEST_STEM:
            raise _error(
                f"{shot.name}: the output's name has {length} bytes before .blend, more than the {LONGEST_STEM} that "
                f"leave space for temporary files: {shot.target.name}"
            )
        first = targets.setdefault(_same(shot.target), shot)
        if first is not shot:
            raise _error(f"two jobs have the same output {shot.target}: {first.name!r} and {shot.name!r}")
        read = sources.get(_same(shot.target))
        if read is not None:
            raise _error(f"{shot.name!r} would overwrite {shot.target}, the input of {read.name!r}")


def _same(path: Path) -> str:
    """A path as a key, equal for paths to the same file on this system."""
    return os.path.normcase(path)


def _load(file: Path) -> Table:
    try:
        text = physics_access.part("io.files").read_text(file, "a list of jobs")
    except OSError as error:
        raise _error(f"{file} cannot be read: {error.strerror or error}") from None
    try:
        return _toml(text)
    except ValueError as error:
        raise _error(f"{file}: not TOML: {error}") from None


def _toml(text: str) -> Table:
    """The document in a TOML text; ValueError for any other, and for what nothing can be made of."""
    try:
        document = tomllib.loads(text)
    except RecursionError:
        raise ValueError("its values nest too deep") from None
    _check_value(document)
    return document


def _check_value(value: object, depth: int = 0) -> None:
    """ValueError for values in too many others, and for integers that TOML does not have."""
    if depth > DEEPEST:
        raise ValueError("its values nest too deep")
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise ValueError("an integer has more than 64 bits")
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _check_value(each, depth + 1)


def _check_keys(table: Table, known: tuple[str, ...], where: str) -> None:
    for key, value in table.items():
        if key not in known:
            meant = settings_overrides.meant(key, known)
            raise _error(f"{where}: unknown key {key!r} = {value!r}{meant}; use one of {', '.join(known)}")


def _table(value: object, where: str) -> Table:
    if not isinstance(value, dict):
        raise _error(f"{where} = {value!r}: must be a table")
    return value


def _text(table: Table, key: str, where: str) -> str:
    value = table.get(key)
    if not isinstance(value, str) or not value or "\0" in value:
        raise _error(
            f"{where}: {key} = {value!r}: must be a text" if key in table else f"{where}: has no {key}"
        )
    return value


def _is_number(value: float) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _error(message: str) -> Exception:
    return physics_access.physics().FormatError(message)
