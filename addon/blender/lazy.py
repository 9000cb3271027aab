"""Modules that run at their first use, so that enabling the add-on imports neither numpy nor computing modules.

The ``__init__`` of a package calls `package`: each of its modules is then in ``sys.modules``, but runs only when one of
its names is first read. ``from ..making import muscles`` costs nothing; ``from ..making.muscles import add`` runs the
module at once, so files that Blender loads while enabling (ui, handlers, data) import such modules whole.
"""

import importlib.util
import pkgutil
import sys
import threading
from types import ModuleType
from typing import Any

#: one lock for all modules, since two threads may run modules that need each other's names
_lock = threading.RLock()
_running: set[str] = set()


class Waiting(ModuleType):
    """A module that has not run. Names like ``__spec__`` do not run it: importlib and inspect read them."""

    def __getattribute__(self, name: str) -> Any:
        if not name.startswith("__"):
            run(self)
        return ModuleType.__getattribute__(self, name)

    def __setattr__(self, name: str, value: object) -> None:
        if not name.startswith("__"):
            run(self)
        ModuleType.__setattr__(self, name, value)

    def __dir__(self) -> list[str]:
        run(self)
        return list(ModuleType.__dir__(self))


def package(name: str) -> None:
    """Make the modules of a package that are not imported yet wait; nested packages do so themselves."""
    parent = sys.modules[name]
    for found in pkgutil.iter_modules(parent.__path__):
        full = f"{name}.{found.name}"
        if not found.ispkg and full not in sys.modules:
            module = importlib.util.module_from_spec(found.module_finder.find_spec(full, None))
            module.__class__ = Waiting
            sys.modules[full] = module
            setattr(parent, found.name, module)


def is_waiting(module: ModuleType) -> bool:
    """Whether a module has not run."""
    return type(module) is Waiting


def run(module: ModuleType) -> None:
    """Run a waiting module; after an error it waits again.

    Raises:
        ImportError: the module reads a name that another one lacks. An AttributeError would blame this module.
    """
    with _lock:
        if not is_waiting(module) or module.__name__ in _running:
            return
        before = dict(vars(module))
        _running.add(module.__name__)
        try:
            module.__spec__.loader.exec_module(module)
        except BaseException as error:
            vars(module).clear()
            vars(module).update(before)
            if isinstance(error, AttributeError):
                raise ImportError(f"{module.__name__} cannot be loaded: {error}") from error
            raise
        finally:
            _running.discard(module.__name__)
        module.__class__ = ModuleType
