"""Shots in files: a folder that is simulated without Blender, and the result that is written to the scene later.

A folder has ``shot.json``: the model, its start, motions and options as the compute process takes them, and of which
frames and bodies they are; and ``shot.npz``: the inputs over time. A result is an npz archive with a JSON header.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..blender import physics_access

if TYPE_CHECKING:  # which brings Blender
    from .shot import Plan

FORMAT, RESULT, VERSION = "condyle-shot", "condyle-shot-result", 1
DESCRIPTION, ARRAYS = "shot.json", "shot.npz"
INPUTS = ("tau_times", "tau_values")
BETWEEN = ("between_rows", "between_poses", "between_missed")
HEADER = "header"


@dataclass(frozen=True)
class Saved:
    """A shot or a result from a file: its header, and arrays by name."""

    header: dict[str, Any]
    arrays: dict[str, np.ndarray]


def described(scene: str, frames: np.ndarray, plan: Plan, between: bool) -> Saved:
    """The shot of a scene of this name for a plan, of which these frames (F,) are recorded; `between` as of
    ``requests.simulate``.
    """
    job, arrays = physics_access.part("worker.requests").simulation(
        {"assemble": True, "between": between, **plan.arguments}
    )
    header = {
        "format": FORMAT,
        "version": VERSION,
        "scene": scene,
        "frames": [float(frames[0]), float(frames[-1]), len(frames)],
        "bodies": [entry.name for entry in plan.read.bodies],
        "scales": [float(entry.scale) for entry in plan.read.bodies],
        "job": job,
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
    _check(header, place / DESCRIPTION, FORMAT, {"job": dict})
    return Saved(header, _arrays(place / ARRAYS, INPUTS))


def simulate(shot: Saved, target: Path, progress: Callable[[float, str], None] | None = None) -> None:
    """Simulate a shot in a process of its own, without Blender, and write its result.

    Raises:
        CondyleError: an error of the simulation (`WorkerError`, of the kind "DivergedError" where it diverged).
    """
    worker = physics_access.part("worker.client")
    client = worker.WorkerClient(worker.worker_command(), worker.worker_environment())
    try:
        job = client.submit("simulate", shot.header["job"], shot.arrays)
        while not job.poll():
            if progress is not None:
                progress(job.progress, job.message)
            time.sleep(0.01)
    finally:
        client.close()
    if job.error is not None:
        raise job.error
    header = {name: value for name, value in shot.header.items() if name != "job"}
    header |= {"format": RESULT, "shot": digest(shot), "answer": job.result.header}
    with physics_access.part("io.files").write_atomically(target) as made, made.open("wb") as stream:
        np.savez(stream, **{HEADER: np.array(json.dumps(header, allow_nan=False))}, **job.result.arrays)


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
    for name, what in (("frames", "frames"), ("bodies", "bodies"), ("scales", "scales of bodies")):
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
    if header.get("version") != VERSION:
        raise _wrong(path, f"version {header.get('version')!r:.40} is not {VERSION}, the one known here")
    for name, type_ in {"scene": str, "frames": list, "bodies": list, "scales": list, **wanted}.items():
        if not isinstance(header.get(name), type_):
            raise _wrong(path, f"{name!r} is missing, or no {type_.__name__}")


def _wrong(path: str | os.PathLike[str], why: str) -> Exception:
    return physics_access.physics().FormatError(f"{path}: {why}")
