"""Checks of input shared by joints and models: one clear error that names the thing and its value."""

import difflib
import inspect
import math
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from ._typing import FloatArray
from .errors import ModelError


def instance(value: Any, kind: Any, name: str) -> Any:
    """The value, if it is of this class; ModelError otherwise."""
    if not isinstance(value, kind):
        called = getattr(kind, "__name__", str(kind))
        article = "an" if called[0] in "AEIOU" else "a"
        raise ModelError(f"{name} must be {article} {called}, got {value!r:.80}")
    return value


def listed(values: Any, name: str) -> list[Any]:
    """The items of any iterable but text, arrays and mappings; ModelError otherwise."""
    if isinstance(values, str | bytes | Mapping | np.ndarray) or not isinstance(values, Iterable):
        raise ModelError(f"{name} must be a list, got {values!r:.80}")
    return list(values)


def instances(values: Any, kind: Any, name: str) -> tuple[Any, ...]:
    """The items of an iterable, each of this class; ModelError otherwise."""
    items = tuple(listed(values, name))
    for k, value in enumerate(items):
        if not isinstance(value, kind):  # many are passed: a name for each would take longest
            instance(value, kind, f"{name}[{k}]")
    return items


def is_sequence(value: Any) -> bool:
    """Whether a value is a list, a tuple, or an array with a dimension."""
    return isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim > 0)


def one_each(value: Any, directions: int, name: str) -> list[Any]:
    """One value per direction, from one for all or a list of them; ModelError for a list of another length."""
    if not is_sequence(value):
        return [value] * directions
    if len(value) != directions:
        raise ModelError(f"{name} must be one for each of {directions} directions, got {value!r:.80}")
    return list(value)


def near_names(name: Any, known: Iterable[str]) -> str:
    """The end of an error about an unknown name: the nearest names, or all if none is near."""
    names = list(known)
    near = difflib.get_close_matches(name, names, 3) if isinstance(name, str) else []
    if near:
        return f"; did you mean {' or '.join(repr(each) for each in near)}?"
    return f"; there are {', '.join(names) or 'none'}"


def chosen(value: Any, choices: Iterable[str], name: str) -> str:
    """The text, if it is one of the choices; ModelError otherwise."""
    if not isinstance(value, str) or value not in choices:
        raise ModelError(f"{name} must be one of {', '.join(choices)}, got {value!r:.80}")
    return value


def file_path(value: Any, name: str = "path") -> Path:
    """A path from text or an `os.PathLike`; ModelError otherwise."""
    if not isinstance(value, str | os.PathLike) or isinstance(os.fspath(value), bytes):
        raise ModelError(f"{name} must be the path of a file, got {value!r:.80}")
    return Path(value)


def float_array(value: Any, name: str) -> FloatArray:
    """float64 copy of numbers of any shape; ModelError for anything else.

    Anything else is text, booleans, complex numbers, ragged lists, masked entries, and more than fits into memory.
    """
    if isinstance(value, np.ma.MaskedArray) and np.any(value.mask):
        raise ModelError(f"{name} has masked entries: fill them first, got {value!r:.80}")
    try:
        if type(value) is np.ndarray and value.dtype == np.float64:  # what is given most
            return value.copy()
        given = np.asarray(value)
        array = np.array(value, dtype=np.float64, order="C")
    except MemoryError as error:
        raise ModelError(f"{name} does not fit into memory: {error}") from error
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelError(f"{name} must be numbers, got {value!r:.80}") from error
    if given.dtype.kind not in "iuf" and array.size:
        raise ModelError(f"{name} must be numbers, got {value!r:.80}")
    return array


def finite_array(value: Any, shape: tuple[int, ...], name: str) -> FloatArray:
    """float64 copy of value with exactly this shape; ModelError names the shape or the first entry not finite."""
    array = float_array(value, name)
    if array.shape != shape:
        raise ModelError(f"{name} must have shape {shape}, got {array.shape}")
    return all_finite(array, name)


def bounded(array: FloatArray, name: str, most: float = 1e100) -> FloatArray:
    """The array, if its numbers are at most so large that their squares stay finite; else ModelError."""
    largest = float(np.abs(array).max(initial=0.0))
    if largest > most:
        raise ModelError(f"{name} must be at most {most:g} in size, got {largest:g}")
    return array


def finite_row(value: Any, name: str) -> FloatArray:
    """float64 copy (n,) of finite numbers, or (1,) of a single one; ModelError for any other shape."""
    array = np.atleast_1d(float_array(value, name))
    return finite_array(array, (array.size,), name)


def rising(value: Any, name: str, least: int = 1) -> FloatArray:
    """float64 copy (n,), n >= least, of finite numbers that increase, or (1,) of a single one; ModelError otherwise."""
    array = finite_row(value, name)
    if len(array) < least:
        raise ModelError(f"{name}: at least {least} numbers are needed, got {len(array)}")
    if (np.diff(array) <= 0.0).any():
        k = int(np.argmax(np.diff(array) <= 0.0))
        raise ModelError(f"{name} must increase, got {array[k]:g} before {array[k + 1]:g} at {k + 1}")
    return array


def finite(value: Any, name: str) -> FloatArray:
    """float64 copy of finite numbers of any shape; ModelError for anything else."""
    return all_finite(float_array(value, name), name)


def all_finite(array: FloatArray, name: str) -> FloatArray:
    """Return the array; ModelError names its first entry that is not finite."""
    if not np.isfinite(array).all():
        index = [int(k) for k in np.argwhere(~np.isfinite(array))[0]]
        where = f" at {index}" if index else ""
        raise ModelError(f"{name} must be finite, got {array[tuple(index)]}{where}")
    return array


def number(
    value: Any, name: str, *, positive: bool = False, not_negative: bool = False, most: float = math.inf
) -> float:
    """A finite float, positive or not negative on request, at most `most`; ModelError otherwise."""
    plain = type(value) is float and math.isfinite(value)  # no array for what is given most
    result: float = value if plain else float(finite_array(value, (), name))
    if positive and not result > 0.0:
        raise ModelError(f"{name} must be positive, got {result:g}")
    if not_negative and result < 0.0:
        raise ModelError(f"{name} must not be negative, got {result:g}")
    if result > most:
        raise ModelError(f"{name} must be at most {most:g}, got {result:g}")
    return result


def per_coordinate(value: Any, n: int, name: str, not_negative: bool = False) -> FloatArray:
    """One number per coordinate (n,), from as many or a single one; ModelError otherwise."""
    array = finite(value, name)
    if array.shape not in ((), (n,)):
        raise ModelError(f"{name} must have shape ({n},), got {array.shape}")
    result = np.full(n, array) if array.ndim == 0 else array
    if not_negative and (result < 0.0).any():
        raise ModelError(f"{name} must not be negative, got {result[result < 0.0][0]:g}")
    return result


def whole_number(value: Any, name: str, least: int | None = None, most: int | None = None) -> int:
    """An int from least to most; ModelError for one outside and for any other type, booleans and floats included."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        raise ModelError(f"{name} must be a whole number, got {value!r:.80}")
    if least is not None and value < least:
        raise ModelError(f"{name} must be at least {least}, got {value}")
    if most is not None and value > most:
        raise ModelError(f"{name} must be at most {most}, got {value}")
    return int(value)


def truth(value: Any, name: str) -> bool:
    """A bool; ModelError for anything else (the text "no" is not False)."""
    if not isinstance(value, bool | np.bool_):
        raise ModelError(f"{name} must be True or False, got {value!r:.80}")
    return bool(value)


def takes_state(function: Callable[..., Any], what: str) -> bool:
    """Whether a function takes (t, q, qd), and not (t) alone; ModelError for one of other arguments."""
    wanted = f"{what} must be a function of (t) or of (t, q, qd)"
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError) as error:
        raise ModelError(f"{wanted}, got {function!r:.80}") from error
    needed = [
        p
        for p in parameters
        if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    if len(needed) not in (1, 3):
        raise ModelError(f"{wanted}, got {len(needed)} arguments: {function!r:.80}")
    return len(needed) == 3


def unit_axis(value: Any, name: str) -> FloatArray:
    """A direction as a unit vector (3,); ModelError if it is zero or not finite."""
    axis = finite_array(value, (3,), name)
    largest = float(np.abs(axis).max())
    if not largest > 1e-12:
        raise ModelError(f"{name} must not be the zero vector, got {axis.tolist()}")
    length = float(np.linalg.norm(axis / largest)) * largest
    if abs(length - 1.0) < 1e-15:  # a unit vector stays bit for bit, so that copies give the same joint
        return axis
    scaled: FloatArray = axis / largest
    return scaled / np.linalg.norm(scaled)


def _moments(values: FloatArray) -> str:
    return ", ".join(f"{value:.6g}" for value in values) + " kg m²"


def inertia_matrix(value: Any, name: str) -> FloatArray:
    """Rotational inertia (3, 3) about the centre of mass: symmetric and positive definite.

    The principal moments must obey the triangle inequality a + b >= c, to within 1e-9 of the largest.
    """
    inertia = finite_array(value, (3, 3), name)
    largest = float(np.abs(inertia).max())
    if float(np.abs(inertia - inertia.T).max()) > 1e-9 * largest:
        raise ModelError(f"{name} must be symmetric, got {inertia.tolist()}")
    moments = np.linalg.eigvalsh(inertia)
    if not moments[0] > 0.0:
        raise ModelError(f"{name} must be positive definite, its principal moments are {_moments(moments)}")
    if moments[0] + moments[1] < moments[2] * (1.0 - 1e-9):
        raise ModelError(
            f"{name} breaks the triangle inequality (a + b >= c), its principal moments are {_moments(moments)}"
        )
    return 0.5 * (inertia + inertia.T)


# metadata of dataclass fields: "check" is a function of the value and of its name in errors that returns a valid one
NUMBER: dict[str, Any] = {"check": number}
POSITIVE: dict[str, Any] = {"check": partial(number, positive=True)}
NOT_NEGATIVE: dict[str, Any] = {"check": partial(number, not_negative=True)}
SHARE: dict[str, Any] = {"check": partial(number, not_negative=True, most=1.0)}
TRUTH: dict[str, Any] = {"check": truth}


def vector(size: int, *, positive: bool = False, listed: bool = False) -> dict[str, Any]:
    """Metadata of a field that must be finite numbers (size,), kept as an array, or as a tuple if `listed`."""

    def check(value: Any, name: str) -> FloatArray | tuple[float, ...]:
        array = finite_array(value, (size,), name)
        if positive and not array.min() > 0.0:
            raise ModelError(f"{name} must be positive, got {array.min():g}")
        return tuple(array.tolist()) if listed else array

    return {"check": check}


def one_of(*choices: str) -> dict[str, Any]:
    """Metadata of a field that must be one of these texts."""
    return {"check": lambda value, name: chosen(value, choices, name)}


def of_kind(kind: type) -> dict[str, Any]:
    """Metadata of a field that must be an instance of a class."""
    return {"check": lambda value, name: instance(value, kind, name)}


def optional(metadata: dict[str, Any]) -> dict[str, Any]:
    """Metadata of a field that may be None as well."""
    check = metadata["check"]
    return metadata | {"check": lambda value, name: None if value is None else check(value, name)}


@cache
def _checks(kind: type) -> tuple[tuple[str, Callable[[Any, str], Any]], ...]:
    return tuple((each.name, each.metadata["check"]) for each in fields(kind) if "check" in each.metadata)


def check_fields(thing: Any, of: str = "", owner: str = "") -> None:
    """Replace the fields of a dataclass by what their checks return; in errors `owner`, name and `of` are joined."""
    kind: Any = type(thing)
    for name, check in _checks(kind):
        object.__setattr__(thing, name, check(getattr(thing, name), f"{owner}{name}{of}"))
