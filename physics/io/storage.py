"""OpenSim's tables over time (``.mot``, ``.sto``): columns by name, read and written without loss."""

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from .._typing import FloatArray
from ..errors import FormatError, ModelError
from ..validation import file_path, finite_array, instance, rising, truth
from .files import read_text, write_atomically
from .limits import COLUMNS as MOST_COLUMNS

END = "endheader"
TIME = "time"
UNNAMED = "table"  # used if the file's name cannot be the table's
ROWS, COLUMNS = ("nrows", "datarows"), ("ncolumns", "datacolumns")


@dataclass(frozen=True)
class Storage:
    """A table over time.

    Attributes:
        times: (n,) [s], increasing. columns: {name: (n,)}, in the file's order and units.
        in_degrees: whether angles are in degrees. name: of the table. header: its other entries.
    """

    times: FloatArray
    columns: Mapping[str, FloatArray]
    in_degrees: bool = False
    name: str = ""
    header: Mapping[str, str] = field(default_factory=dict)


def read_storage(path: str | os.PathLike[str]) -> Storage:
    """Read a ``.mot`` or ``.sto`` file.

    Vectors and quaternions (``1,2,3``) become columns ``name_1``, ``name_2`` ... as in OpenSim.

    Warns:
        UserWarning: names what was mended: a size other than the header states, rows that repeat a time, columns that
            repeat a name and get a number.

    Raises:
        FormatError: not such a file, a line with another number of entries, time that decreases; the message names line
            and value.
        OSError: the file cannot be read.
    """
    lines = read_text(path, "a table").splitlines()
    head = next((k for k, line in enumerate(lines) if line.strip().lower() == END), None)
    if head is None:
        raise FormatError(f"{path}: has no line {END!r}: not a motion or storage file, or truncated")
    name, header = _header(lines[:head])
    body = [(k, line) for k, line in enumerate(lines[head + 1 :], head + 2) if line.strip()]
    if not body:
        raise FormatError(f"{path}: ends after its header (truncated?)")
    labels, lines_of_rows = _labels(path, body)
    if len(labels) > MOST_COLUMNS:
        raise FormatError(f"{path}: has {len(labels)} columns, more than the {MOST_COLUMNS} of any table")
    if labels[0].lower() != TIME:
        raise FormatError(f"{path}: the first column must be {TIME!r}, got {labels[0]!r}")
    rows = [_row(path, number, line, len(labels)) for number, line in lines_of_rows]
    table = np.concatenate(rows or [np.empty(0)]).reshape(len(rows), len(labels))
    if not np.isfinite(table[:, 0]).all():
        raise FormatError(f"{path}: time must be finite, got {table[~np.isfinite(table[:, 0]), 0][0]:g}")
    again = np.concatenate([[False], np.diff(table[:, 0]) == 0.0])[: len(table)]
    if again.any():
        _tell(path, f"{again.sum()} rows repeat the time of the row before and are left out")
        table = table[~again]
    _compare_size(path, header, (len(rows), len(table)), (len(body[0][1].split()), len(labels)))
    if (np.diff(table[:, 0]) <= 0.0).any():
        k = int(np.argmax(np.diff(table[:, 0]) <= 0.0))
        raise FormatError(f"{path}: time must increase, got {table[k, 0]:g} before {table[k + 1, 0]:g}")
    degrees = header.pop("indegrees", "no").lower()
    if degrees not in ("yes", "y", "true", "no", "n", "false"):
        raise FormatError(f"{path}: inDegrees must be yes or no, got {degrees!r}")
    times, *columns = np.ascontiguousarray(table.T)
    return Storage(times, dict(zip(labels[1:], columns)), degrees in ("yes", "y", "true"), name, header)


def write_storage(
    path: str | os.PathLike[str],
    times: FloatArray,
    columns: Mapping[str, FloatArray],
    *,
    in_degrees: bool = False,
    name: str = "",
) -> None:
    """Write a ``.mot`` or ``.sto`` file that OpenSim reads; every number is restored with the same bits.

    Args:
        path: the file; replaced as a whole, or left unchanged.
        times: (n,) [s], increasing. columns: {name: (n,)}; names without tabs and line ends.
        in_degrees: unit of angles in the header; numbers are written unchanged.
        name: of the table; the file's if not given. Not like a header entry (``n=3``), nor ``endheader``.

    Raises:
        ModelError: shapes differ, numbers are not finite, time does not increase, a name is invalid.
    """
    path = file_path(path)
    times = rising(times, "times", 0)
    instance(columns, Mapping, "columns")
    for label in (*columns, name):
        if not isinstance(label, str) or any(mark in label for mark in "\t\n\r"):
            raise ModelError(f"a name must be text without tabs and line ends, got {label!r}")
    if name and not _comes_back(name):
        raise ModelError(f"a table cannot be named {name!r}: readers would take it for part of the header")
    for label in columns:
        if not label.strip() or label.strip().lower() == TIME:
            raise ModelError(f"a column needs a name other than {TIME!r}, got {label!r}")
    values = [finite_array(column, times.shape, f"column {label!r}") for label, column in columns.items()]
    rows = np.stack([times, *values], axis=1)
    stem = path.stem
    lines = [
        name or (stem if _comes_back(stem) else UNNAMED),
        "version=1",
        f"nRows={rows.shape[0]}",
        f"nColumns={rows.shape[1]}",
        f"inDegrees={'yes' if truth(in_degrees, 'in_degrees') else 'no'}",
        END,
        "\t".join([TIME, *columns]),
    ]
    lines += ["\t".join(repr(float(x)) for x in row) for row in rows]
    with write_atomically(path) as temporary:
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _comes_back(name: str) -> bool:
    """Whether a file with this name of a table gives the same name when it is read."""
    return name.strip().lower() != END and _header([name]) == (name, {})


def _header(lines: list[str]) -> tuple[str, dict[str, str]]:
    """The table's name, and header entries by lower-case name; SIMM separates key and value by a blank."""
    header: dict[str, str] = {}
    name = ""
    for number, line in enumerate(lines):
        text = line.strip()
        key, sign, value = text.partition("=")
        if sign:
            header[key.strip().lower()] = value.strip()
            continue
        words = text.split(None, 1)
        if len(words) == 2 and words[0].lower() in ("name", "datacolumns", "datarows", "range"):
            header[words[0].lower()] = words[1]
        elif number == 0:
            name = text
    return header.pop("name", name), header


def _labels(
    path: str | os.PathLike[str], body: list[tuple[int, str]]
) -> tuple[list[str], list[tuple[int, str]]]:
    """Names of the columns, and the lines of numbers by their numbers; vectors are split in both."""
    first, rows = body[0][1].strip(), body[1:]
    widths = [1 + word.count(",") for word in rows[0][1].split()] if rows else []
    labels = [label.strip() for label in first.split("\t") if label.strip()]
    if "\t" not in first or (len(labels) != len(widths) == len(first.split())):
        labels = first.split()
    if len(widths) == len(labels) and max(widths) > 1:
        parts = [(label, width, k + 1) for label, width in zip(labels, widths) for k in range(width)]
        labels = [f"{label}_{k}" if width > 1 else label for label, width, k in parts]
        rows = [(number, line.replace(",", " ")) for number, line in rows]
    known: dict[str, int] = {}
    again = []
    for k, label in enumerate(labels):
        known[label] = known.get(label, 0) + 1
        if known[label] > 1:
            again.append(label)
            labels[k] = f"{label} ({known[label]})"
    if again:
        _tell(
            path,
            f"column {again[0]!r} is there again and becomes {again[0] + ' (2)'!r}; {len(again)} such columns",
        )
    if len(set(labels)) < len(labels):
        raise FormatError(f"{path}: names of columns cannot be told apart, such as {again[0]!r}")
    return labels, rows


def _tell(path: str | os.PathLike[str], what: str) -> None:
    warnings.warn(f"{path}: {what}", stacklevel=4)


def _row(path: str | os.PathLike[str], number: int, line: str, count: int) -> FloatArray:
    words = line.split()
    try:
        values: FloatArray = np.array(words, dtype=np.float64)
    except ValueError as error:
        raise FormatError(f"{path}: line {number} must be numbers, got {line.strip()!r:.80}") from error
    if len(values) != count:
        raise FormatError(f"{path}: line {number} must have {count} numbers, got {len(values)} (truncated?)")
    return values


def _compare_size(
    path: str | os.PathLike[str], header: dict[str, str], rows: tuple[int, int], columns: tuple[int, int]
) -> None:
    """Warns if the header states another number of rows or columns than either that was counted."""
    for keys, found, what in ((ROWS, rows, "rows"), (COLUMNS, columns, "columns")):
        for key in keys:
            stated = header.pop(key, None)
            if stated is not None and stated not in map(str, found):
                _tell(path, f"its header states {stated} {what}, but there are {found[-1]} (truncated?)")
