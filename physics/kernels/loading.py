"""Modules that load at their first use, as in SPEC 1 of Scientific Python: importing kernels imports Numba."""

from collections.abc import Callable
from importlib import import_module
from types import ModuleType


def load_on_use(package: str) -> Callable[[str], ModuleType]:
    """The ``__getattr__`` of a package that imports its modules at the first access to them."""

    def load(name: str) -> ModuleType:
        full = f"{package}.{name}"
        try:
            return import_module(full)
        except ModuleNotFoundError as error:
            if error.name != full:
                raise
            raise AttributeError(f"module {package!r} has no attribute {name!r}") from None

    return load
