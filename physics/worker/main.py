"""The script of the compute process: loads the package that contains it, and serves.

``python -I main.py [--path FOLDER ...]``. The package is loaded from this file's folder under a private name, so
neither the folder's name nor another module called ``physics`` matters. Folders of ``--path`` and of the environment
variable ``CONDYLE_PATHS`` (separated as in PATH) are appended to the module search path, to find numba and scipy.
"""

import importlib
import importlib.util
import os
import sys

PACKAGE_NAME = "condyle_physics"


def search_paths(arguments: list[str]) -> list[str]:
    """Folders named on the command line, then those of CONDYLE_PATHS; SystemExit(2) on anything else."""
    paths = []
    rest = iter(arguments)
    for argument in rest:
        value = next(rest, None)
        if argument != "--path" or not value:
            print(f"usage: main.py [--path FOLDER ...]; unknown argument: {argument}", file=sys.stderr)
            raise SystemExit(2)
        paths.append(value)
    return paths + [path for path in os.environ.get("CONDYLE_PATHS", "").split(os.pathsep) if path]


def load_package(folder: str, name: str = PACKAGE_NAME) -> None:
    """Import the package in ``folder`` as ``name``, whatever the folder is called."""
    spec = importlib.util.spec_from_file_location(
        name, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"no package in {folder}")
    sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[name])


def main() -> None:
    """Serve until stdin closes."""
    here = os.path.dirname(os.path.abspath(__file__))
    known = {os.path.normcase(os.path.abspath(path)) for path in sys.path if path}
    # Unless the interpreter runs isolated, sys.path begins with this folder: our modules would hide others.
    sys.path[:] = [
        path for path in sys.path if os.path.normcase(os.path.abspath(path)) != os.path.normcase(here)
    ]
    for path in search_paths(sys.argv[1:]):
        if os.path.normcase(os.path.abspath(path)) not in known:
            sys.path.append(path)
    load_package(os.path.dirname(here))
    importlib.import_module(f"{PACKAGE_NAME}.worker.server").serve()


if __name__ == "__main__":
    main()
