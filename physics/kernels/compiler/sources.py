"""Hashes of the kernels' sources: keys of the cache of compiled code.

A kernel's hash covers its module and every module of this package that it imports, in any form: Numba's own cache does
not notice that a callee in another module was edited.
"""

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
#: whether kernels end the process before they read or write outside of an array
CHECKED = os.environ.get("CONDYLE_CHECKED", "0") == "1"


def module_name(module: str) -> str:
    """Name of a module relative to the kernels' package; full name of a module elsewhere."""
    return module.removeprefix(PACKAGE + ".")


@cache
def _file(module: str) -> Path | None:
    """File of a module of the kernels; None if there is none of this name (packages have no kernels)."""
    path = FOLDER.joinpath(*module.split(".")).with_suffix(".py") if module else FOLDER
    return path if path.is_file() else None


# `from X import names`, with the names in a line or in brackets, and `import X`; in functions, too. Parsing the sources
# would lengthen a start by half.
FROM = re.compile(r"^ *from +(\.*)([\w.]*) +import +(\([^)]*\)|[^\n#]*)", re.MULTILINE)
PLAIN = re.compile(r"^ *import +([\w., ]+)", re.MULTILINE)


def _candidates(source: str, module: str) -> Iterator[str]:
    """Possible names of kernels' modules that a source imports: a name imported from a package may be a module."""
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
    """Hash of the source of a kernels' module, and the kernels' modules that it imports."""
    path = _file(module)
    source = b"" if path is None else path.read_bytes()
    named = _candidates(source.decode(), module)
    return hashlib.sha256(source).hexdigest(), frozenset(name for name in named if _file(name) is not None)


@cache
def _imported(module: str) -> frozenset[str]:
    """A kernels' module and all kernels' modules that it imports, directly or indirectly."""
    found = {module, LINKER}
    waiting = list(found)
    while waiting:
        new = _source(waiting.pop())[1] - found
        found |= new
        waiting += new
    return frozenset(found)


@cache
def sources_hash(module: str) -> str:
    """Hash of the sources of a kernels' module and of all kernels' modules that it imports, 16 hexadecimal digits."""
    parts = sorted((name, _source(name)[0]) for name in _imported(module))
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
