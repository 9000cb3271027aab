"""Model files: a model, and optionally its initial state, settings of the simulation and extra data."""

import dataclasses
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..bodies.state import State
from ..errors import FormatError, ModelError
from ..model.builder import MODEL_KEYS, ModelBuilder
from ..model.checks import check_state
from ..model.model import Model
from ..validation import instance
from .files import format_json, read_json, write_atomically
from .limits import ENTRIES, NESTING
from .schema import check_document

FORMAT = "condyle-model"
VERSION = 1
DEEPEST = NESTING - 4  # of extras, within the document; numbers at the end may be an array


@dataclass(frozen=True)
class ModelFile:
    """Content of a model file.

    Attributes:
        model: the model.
        state: its initial state; the model's default state if the file has none.
        simulation: keywords for ``simulate``; empty if the file has none.
        extras: extra data of other programs.
    """

    model: Model
    state: State
    simulation: dict[str, Any] = field(default_factory=dict)
    extras: dict[str, Any] = field(default_factory=dict)


def save_model(
    model: Model,
    path: str | os.PathLike[str],
    state: State | None = None,
    simulation: Mapping[str, Any] | None = None,
    extras: Mapping[str, Any] | None = None,
) -> None:
    """Write a model file (``schemas/model.schema.json``); every number is restored with the same bits.

    Args:
        model: the model.
        path: the file; replaced as a whole, or left unchanged.
        state: the initial state.
        simulation: duration [s], dt [s], integrator, record_interval [s], rtol, atol, tau (nv,).
        extras: JSON-able, stored unchanged.

    Raises:
        FormatError: the format does not allow a value in simulation or extras.
        ModelError: the state does not belong to this model.
    """
    instance(model, Model, "model")
    document: dict[str, Any] = {"format": FORMAT, "version": VERSION, **model.to_dict()}
    if state is not None:
        document["state"] = state_to_dict(check_state(model, state))
    for key, value in (("simulation", simulation), ("extras", extras)):
        if not isinstance(value, Mapping | type(None)):
            raise FormatError(f"{path}: {key} must be an object, got {value!r:.80}")
        if value is not None:
            document[key] = plain(dict(value), f"{path}: {key}")
    check_document(document, "model", str(path))
    try:
        text = format_json(document).encode() + b"\n"
    except (TypeError, ValueError) as error:
        raise FormatError(f"{path}: extras are not JSON: {error}") from error
    with write_atomically(path) as temporary:
        temporary.write_bytes(text)


def load_model(path: str | os.PathLike[str]) -> ModelFile:
    """Read a model file.

    Raises:
        FormatError: not a model file, truncated, or of a newer version; the message names the key and the value.
        ModelError: the file is well formed but describes something impossible (an inertia, a range, ...).
        OSError: the file cannot be read.
    """
    document = read_json(path)
    check_document(document, "model", str(path))
    try:
        model = model_from_document(document)
        state = state_from_dict(model, document.get("state", {}))
    except (FormatError, ModelError) as error:
        raise type(error)(f"{path}: {error}") from error
    return ModelFile(model, state, document.get("simulation", {}), document.get("extras", {}))


def model_from_document(document: Mapping[str, Any]) -> Model:
    """The model of a document that follows the schema; ModelError or FormatError if it is impossible."""
    described = {key: document[key] for key in MODEL_KEYS if key in document}
    for key, entries in described.items():
        if len(entries) > ENTRIES:
            raise FormatError(f"{key}: has {len(entries)} entries, more than the {ENTRIES} of any model")
    return ModelBuilder.from_dict(described).build()


def state_to_dict(state: State) -> dict[str, Any]:
    """JSON-able description of a state."""
    return {
        "q": state.q.tolist(),
        "qd": state.qd.tolist(),
        "time": float(state.time),
        "chart": state.chart.tolist(),
    }


def state_from_dict(model: Model, described: Mapping[str, Any]) -> State:
    """The state described by ``state_to_dict``, or by q and qd of bodies; ModelError as ``Model.state``."""
    state = model.state(described.get("q"), described.get("qd"), described.get("time", 0.0))
    if "chart" not in described:
        return state
    try:
        chart = np.array(described["chart"], dtype=np.int64)
    except OverflowError as error:
        raise FormatError(f"state.chart: number too large in {described['chart']!r:.80}") from error
    if chart.shape != state.chart.shape:
        raise FormatError(f"state.chart: needs {model.num_bodies} entries, one per body, got {len(chart)}")
    chart.flags.writeable = False
    return dataclasses.replace(state, chart=chart)


def plain(value: Any, where: str = "a value", depth: int = 0) -> Any:
    """A copy for JSON, with Python's types instead of numpy's numbers and arrays; FormatError if it nests too deep."""
    if depth > DEEPEST:
        raise FormatError(f"{where} must not nest deeper than {DEEPEST}")
    if isinstance(value, Mapping):
        return {key: plain(item, where, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item, where, depth + 1) for item in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    return value
