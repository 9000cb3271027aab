"""Shots in files: a folder that is simulated without Blender, and the result that is written to the scene later.

A folder has ``shot.json``: the shot, and of which frames and bodies it is; and ``shot.npz``: its arrays. In version 1
it was the job that was planned from the shot, as the compute process takes it. A result is an npz archive with a JSON
header.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..blender import compute_process, physics_access
from ..blender.compute_process import Steps
from ..data.findings import Finding
from . import shot_values
from .shot import Plan, Shot, plan

FORMAT, RESULT = "condyle-shot", "condyle-shot-result"
VERSIONS = {FORMAT: (1, 2), RESULT: (1,)}
DESCRIPTION, ARRAYS = "shot.json", "shot.npz"
INPUTS = ("tau_times", "tau_values")
#: what a shot and its result must have in common, and what it is called
COMMON = {"frames": "frames", "bodies": "bodies", "scales": "scales of bodies"}
BETWEEN = ("between_rows", "between_poses", "between_missed")
HEADER = "header"


@dataclass(frozen=True)
class Saved:
    """A shot or a result from a file: its header, and arrays by name."""

    header: dict[str, Any]
    arrays: dict[str, np.ndarray]


def described(scene: str, frames: np.ndarray, shot: Shot, between: bool) -> Saved:
    """The shot of a scene of this name, of which these frames (F,) are recorded; `between` as of
    ``requests.simulate``.
    """
    arrays: dict[str, np.ndarray] = {}
    header = {
        "format": FORMAT,
        "version": VERSIONS[FORMAT][-1],
        "scene": scene,
        "frames": [float(frames[0]), float(frames[-1]), len(frames)],
        "bodies": [entry.name for entry in shot.read.bodies],
        "scales": [float(entry.scale) for entry in shot.read.bodies],
        "between": between,
        "shot": shot_values.described(shot, arrays),
        "arrays": len(arrays),
    }
    return Saved(header, arrays)


def save(folder: str | os.PathLike[str], shot: Saved) -> None:
    """Write a shot to a folder, which is made if need be; FormatError where that is not possible."""
    files, place = physics_access.part("io.files"), Path(folder)
    try:
        place.mkdir(exist_ok=True)
        with files.write_atomically(place / ARRAYS) as made, made.open("wb") as stream:
            np.savez(stream, **shot.arrays)
        with files.write_atomically(place / DESCRIPTION) as made:
            made.write_text(files.format_json(shot.header) + "\n", "utf-8")
    except OSError as error:
        raise _wrong(place, error.strerror or str(error)) from error


def load(folder: str | os.PathLike[str]) -> Saved:
    """The shot in a folder; FormatError where it is none, or of a newer version, OSError where it cannot be read."""
    place = Path(folder)
    header = physics_access.part("io.files").read_json(place / DESCRIPTION)
    is_planned = header.get("version") == 1
    wanted = {"job": dict} if is_planned else {"shot": dict, "arrays": int, "between": bool}
    _check(header, place / DESCRIPTION, FORMAT, wanted)
    known = INPUTS if is_planned else tuple(f"array_{k}" for k in range(header["arrays"]))
    return Saved(header, _arrays(place / ARRAYS, known))


def planned(saved: Saved) -> Steps[Plan]:
    """Steps that plan the simulation of a shot of version 2; FormatError where it is damaged."""
    return (yield from plan(shot_values.restored(saved.header["shot"], saved.arrays)))


def check(saved: Saved) -> list[Finding]:
    """Plan the simulation of a shot; what its user may not expect of it. Blocks."""
    return [] if "job" in saved.header else compute_process.run(planned(saved)).warnings


def simulate(saved: Saved, target: Path, progress: Callable[[float, str], None] | None = None) -> None:
    """Plan and simulate a shot in a process of its own, without Blender, and write its result.

    Raises:
        CondyleError: an error of the simulation (`WorkerError`, of the kind "DivergedError" where it diverged).
    """
    answer = compute_process.run(_simulated(saved), progress)
    header = {name: saved.header[name] for name in ("scene", *COMMON)}
    header |= {"format": RESULT, "version": VERSIONS[RESULT][-1]}
    header |= {"shot": digest(saved), "answer": answer.header}
    with physics_access.part("io.files").write_atomically(target) as made, made.open("wb") as stream:
        np.savez(stream, **{HEADER: np.array(json.dumps(header, allow_nan=False))}, **answer.arrays)


def _simulated(saved: Saved) -> Steps[physics_access.Answer]:
    if "job" in saved.header:
        return (yield compute_process.client().submit("simulate", saved.header["job"], saved.arrays))
    made = yield from planned(saved)
    requests, between = physics_access.part("worker.requests"), saved.header["between"]
    return (
        yield requests.simulate(compute_process.client(), assemble=True, between=between, **made.arguments)
    )


def digest(shot: Saved) -> str:
    """What tells a shot from others, to the bit."""
    made = hashlib.sha256(json.dumps(shot.header, sort_keys=True).encode())
    for name in sorted(shot.arrays):
        made.update(np.ascontiguousarray(shot.arrays[name]).tobytes())
    return made.hexdigest()


def load_result(path: str | os.PathLike[str]) -> Saved:
    """The result in a file; raises as `load`."""
    formats = physics_access.part("io.result_file")
    arrays = _arrays(path, (HEADER, *formats.ARRAYS, *formats.OPTIONAL, *BETWEEN))
    if HEADER not in arrays:
        raise _wrong(path, f"not a {RESULT} file: it has no header")
    header = physics_access.part("io.files").parse_object(str(arrays.pop(HEADER)).encode(), str(path))
    _check(header, path, RESULT, {"answer": dict, "shot": str})
    return Saved(header, arrays)


def answer_for(result: Saved, shot: Saved, plan: Plan) -> physics_access.Answer:
    """A result as the answer to the simulation of a shot as it is now; ModelError where it is of another one."""
    for name, what in COMMON.items():
        if result.header[name] != shot.header[name]:
            raise physics_access.model_error(
                f"the result was simulated for other {what} than scene {shot.header['scene']!r} has now: "
                "take its shot again"
            )
    answer = physics_access.part("worker.client").Answer(result.header["answer"], result.arrays)
    found = physics_access.part("worker.requests").simulate_answer(answer, plan.read.model)
    arrays = result.arrays
    if BETWEEN[0] in arrays:
        count, shape = len(arrays[BETWEEN[0]]), found.poses.shape[1:]
        whole = all(name in arrays for name in BETWEEN) and arrays[BETWEEN[1]].ndim == 5
        if (
            not whole
            or arrays[BETWEEN[1]].shape[2:] != shape
            or arrays[BETWEEN[2]].shape != (count, shape[0])
        ):
            raise physics_access.physics().FormatError("the result's motion between frames is damaged")
    return answer


def _arrays(path: str | os.PathLike[str], known: tuple[str, ...]) -> dict[str, np.ndarray]:
    archive = physics_access.part("io.archive")
    with physics_access.part("io.files").open_regular(path, "a result") as stream, archive.telling(path):
        found = archive.members(stream, known)
        return {
            name: np.array(each.text()) if name == HEADER else each.array() for name, each in found.items()
        }


def _check(
    header: Mapping[str, Any], path: str | os.PathLike[str], kind: str, wanted: Mapping[str, type]
) -> None:
    """FormatError unless a header is of this kind and version, and has what is wanted and what is common to all."""
    if header.get("format") != kind:
        raise _wrong(path, f"not a {kind} file: format is {header.get('format')!r:.40}")
    if header.get("version") not in VERSIONS[kind]:
        known = " or ".join(map(str, VERSIONS[kind]))
        raise _wrong(path, f"version {header.get('version')!r:.40} is not {known}, as known here")
    for name, type_ in {"scene": str, "frames": list, "bodies": list, "scales": list, **wanted}.items():
        if not isinstance(header.get(name), type_):
            raise _wrong(path, f"{name!r} is missing, or no {type_.__name__}")


def _wrong(path: str | os.PathLike[str], why: str) -> Exception:
    return physics_access.physics().FormatError(f"{path}: {why}")
