"""Result files: a simulated motion as an npz archive with a JSON header, readable with numpy alone."""

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..errors import DivergedError, FormatError, ModelError
from ..model.model import Model
from ..model.result import Result
from ..validation import instance
from .archive import members, telling
from .files import open_regular, parse_object, write_atomically
from .model_file import model_from_document, plain
from .schema import check_document

FORMAT = "condyle-result"
VERSION = 1
HEADER = "header"
ARRAYS = ("t", "q", "qd", "poses", "energy", "rotations")
OPTIONAL = ("row_forces", "efforts", "muscle_states", "soft_states")
COLUMNS = ("t", "q", "qd", *OPTIONAL)  # what a result is made of


@dataclass(frozen=True)
class ResultFile:
    """Content of a result file.

    Attributes:
        result: the motion.
        diverged: ``{"time", "body", "reason"}`` if the run ended early, else None.
        extras: extra data of other programs.
    """

    result: Result
    diverged: dict[str, Any] | None
    extras: dict[str, Any]


def result_arrays(result: Result) -> dict[str, FloatArray]:
    """Arrays of a result: t (T,), q and qd (T, nv), poses (T, nb, 4, 4), energy (T, 3), rotations (R, T, 4).

    Optionally row_forces (T, rows), efforts (T, nv), muscle_states (T, n), and soft_states (T, 2, nodes, 3).
    """
    rotations = np.array(list(result.rotations.values())).reshape(-1, len(result.t), 4)
    found = {name: getattr(result, name) for name in (*OPTIONAL, *ARRAYS)} | {"rotations": rotations}
    return {name: array for name, array in found.items() if array is not None}


def check_shapes(model: Model, arrays: Mapping[str, Any], rotations: list[str]) -> None:
    """FormatError unless arrays have the types and shapes of the `result_arrays` of this model."""
    samples = math.prod(arrays["t"].shape) if "t" in arrays else 0
    nv = model.num_coordinates
    shapes = {
        "t": (samples,),
        "q": (samples, nv),
        "qd": (samples, nv),
        "poses": (samples, model.num_bodies, 4, 4),
        "energy": (samples, 3),
        "rotations": (len(rotations), samples, 4),
        "row_forces": (samples, model.num_force_rows),
        "efforts": (samples, nv),
        "muscle_states": (samples, model.num_muscle_states),
        "soft_states": (samples, 2, sum(len(each.nodes) for each in model.soft_bodies), 3),
    }
    for name, shape in shapes.items():
        if name not in arrays and name in OPTIONAL:
            continue
        if name not in arrays:
            raise FormatError(f"the array {name!r} is missing")
        found = arrays[name]
        if found.shape != shape or found.dtype != np.float64:
            raise FormatError(f"array {name!r} must be float64 {shape}, got {found.dtype} {found.shape}")


def result_from_arrays(
    model: Model, arrays: Mapping[str, FloatArray], rotations: list[str], info: Mapping[str, Any]
) -> Result:
    """The result from its ``result_arrays``; ``rotations`` names the bodies of that array.

    Raises:
        FormatError: an array is missing, or its shape does not fit the model.
    """
    check_shapes(model, arrays, rotations)
    columns: dict[str, Any] = {name: arrays.get(name) for name in COLUMNS}
    result = Result(model, info=dict(info), **columns)
    # store the values that the result would compute on first use
    vars(result)["_observed"] = (arrays["poses"], arrays["energy"])
    vars(result)["rotations"] = dict(zip(rotations, arrays["rotations"]))
    return result


def save_result(
    result: Result,
    path: str | os.PathLike[str],
    diverged: DivergedError | None = None,
    extras: Mapping[str, Any] | None = None,
) -> None:
    """Write a result file (``schemas/result.schema.json``); every number is restored with the same bits.

    Args:
        result: the motion.
        path: the file, under exactly this name; replaced as a whole, or left unchanged.
        diverged: the error that ended the run early, stored as a flag; None: the run is complete.
        extras: JSON-able, stored unchanged.

    Raises:
        FormatError: a value in info or extras is not JSON.
    """
    instance(result, Result, "result")
    diverged = None if diverged is None else instance(diverged, DivergedError, "diverged")
    header: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "model": result.model.to_dict(),
        "body_names": list(result.model.body_names),
        "coordinate_names": list(result.model.coordinate_names),
        "rotations": list(result.rotations),
        "info": plain(result.info, f"{path}: info"),
        "diverged": None if diverged is None else divergence_to_dict(diverged),
    }
    if extras is not None:
        header["extras"] = plain(dict(instance(extras, Mapping, "extras")), f"{path}: extras")
    check_document(header, "result", str(path))
    try:
        text = json.dumps(header, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise FormatError(f"{path}: info or extras are not JSON: {error}") from error
    with write_atomically(path) as temporary, temporary.open("wb") as stream:
        np.savez(stream, **{HEADER: np.array(text)}, **result_arrays(result))


def divergence_to_dict(error: DivergedError) -> dict[str, Any]:
    """JSON-able description of a diverged run."""
    return {"time": float(error.time), "body": error.body, "reason": error.reason}


def load_result(path: str | os.PathLike[str]) -> Result:
    """The motion in a result file; raises as ``read_result``."""
    return read_result(path).result


def read_result(path: str | os.PathLike[str]) -> ResultFile:
    """Read a result file.

    Raises:
        FormatError: not a result file, truncated, of a newer version, NaN in a run that did not diverge, or larger
            than its model asks for; known before it is unpacked.
        OSError: the file cannot be read.
    """
    with open_regular(path, "a result") as stream:
        with telling(path):
            found = members(stream, (HEADER, *ARRAYS, *OPTIONAL))
            if HEADER not in found:
                raise FormatError(f"not a result file: it has no {HEADER!r}")
            text = found.pop(HEADER).text()
        header = parse_object(text.encode(), f"{path}: {HEADER}")
        check_document(header, "result", str(path))
        try:
            model = model_from_document(header["model"])
            check_shapes(model, found, header["rotations"])
        except (FormatError, ModelError) as error:
            raise FormatError(f"{path}: {error}") from error
        with telling(path):
            arrays = {name: member.array() for name, member in found.items()}
    result = result_from_arrays(model, arrays, header["rotations"], header["info"])
    if header["diverged"] is None:
        _check_finite(arrays, path)
    return ResultFile(result, header["diverged"], header.get("extras", {}))


def _check_finite(arrays: Mapping[str, FloatArray], path: str | os.PathLike[str]) -> None:
    for name, array in arrays.items():
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            index = [int(k) for k in np.argwhere(~np.isfinite(array))[0]]
            raise FormatError(f"{path}: array {name!r} is {array[tuple(index)]} at {index}, not finite")
