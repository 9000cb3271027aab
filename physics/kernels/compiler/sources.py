"""Hashes of the kernels' sources, by which compiled code is found in the cache again.

A kernel's hash is that of its module and of every module of this package that it imports, in whatever form: Numba's
own cache does not notice that a callee in another module was edited.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

#: the folder of all kernels; a module is named from here on: "muscles.path"
FOLDER = Path(__file__).parent.parent
PACKAGE = __name__.removesuffix(".compiler.sources")
LINKER = "compiler.linking"
#: whether kernels end the process where they would read or write outside of an array
CHECKED = os.environ.get("CONDYLE_CHECKED", "0") == "1"


def module_name(module: str) -> str:
    """Name of a module of the kernels, from their package on; of a module that lies elsewhere its own."""
    return module.removeprefix(PACKAGE + ".")


@cache
def _file(module: str) -> Path | None:
    """File of a module of the kernels; None where there is none of this name: packages hold no kernels."""
    path = FOLDER.joinpath(*module.split(".")).with_suffix(".py") if module else FOLDER
    return path if path.is_file() else None


# `from X import names`, the names in a line or in brackets, and `import X`; in functions, too. Parsing the sources
# would take half as long as all else that a start does.
FROM = re.compile(r"^ *from +(\.*)([\w.]*) +import +(\([^)]*\)|[^\n#]*)", re.MULTILINE)
PLAIN = re.compile(r"^ *import +([\w., ]+)", re.MULTILINE)


def _candidates(source: str, module: str) -> Iterator[str]:
    """Names that modules of the kernels may have that this source imports: what it takes from one may be a module."""
    outer = module.split(".")[:-1]
    for dots, base, names in FROM.findall(source):
        if not dots and not base.startswith(PACKAGE):
            continue
        parts = outer[: len(outer) - len(dots) + 1] if dots else []
        parts = [*parts, *(base if dots else base[len(PACKAGE) + 1 :]).split(".")]
        where = ".".join(filter(None, parts))
        yield where
        yield from (f"{where}.{name}".lstrip(".") for name in re.findall(r"(\w+)(?: +as +\w+)?", names))
    for names in PLAIN.findall(source):
        yield from (module_name(name) for name in re.findall(r"([\w.]+)(?: +as +\w+)?", names))


@cache
def _source(module: str) -> tuple[str, frozenset[str]]:
    """Hash of the source of a module of the kernels, and the modules of theirs that it imports."""
    path = _file(module)
    source = b"" if path is None else path.read_bytes()
    named = _candidates(source.decode(), module)
    return hashlib.sha256(source).hexdigest(), frozenset(name for name in named if _file(name) is not None)


@cache
def _imported(module: str) -> frozenset[str]:
    """A module of the kernels and all those of theirs that it imports, directly or through others."""
    found = {module, LINKER}
    waiting = list(found)
    while waiting:
        new = _source(waiting.pop())[1] - found
        found |= new
        waiting += new
    return frozenset(found)


@cache
def sources_hash(module: str) -> str:
    """Hash of the source of a module of the kernels and of all that it imports, 16 hexadecimal digits."""
    parts = sorted((name, _source(name)[0]) for name in _imported(module))
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
