"""Shared by all tests: a fresh Blender profile, the add-on, an empty scene, the markers.

The add-on's tests run both against the checkout and against the installed extension. So they access the add-on only
through fixtures, never by `import addon` or `import physics`:

- ``condyle``: the registered add-on package (``addon``, or ``bl_ext.user_default.condyle`` when installed)
- ``part("ui.joints.operators")``: a module of the add-on by its dotted name
- ``ph``: the physics package that the add-on uses (the vendored copy when installed)
- ``scene``: an empty file, the add-on registered; ``bpy.context.scene``

Mark with ``@pytest.mark.small`` the tests that must run in every supported Blender (4.2, 5.0, 5.2), and with
``@pytest.mark.alone`` those that the suites of installed extensions run in a process of their own.
"""

import atexit
import gc
import importlib
import importlib.util
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from types import ModuleType
from typing import Any

import pytest

INSTALLED = os.environ.get("CONDYLE_INSTALLED_MODULE")  # set by tests/installed/run.py
HAVE_BPY = importlib.util.find_spec("bpy") is not None
EXIT_STATUS = pytest.StashKey[int]()

collect_ignore = [] if INSTALLED else ["installed"]  # tests of an installed extension only
collect_ignore += [] if HAVE_BPY else ["addon", "scenes"]

# Idle BLAS threads wait actively: beside a second process with tests, fits of small systems took ten times as long.
# Read at `import numpy`.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A shell that runs the tests in the background makes them and their children ignore interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Blender reads its user folders once, at `import bpy`, and collecting test modules may already import it.
if INSTALLED is None and "bpy" not in sys.modules:
    _user_resources = tempfile.mkdtemp(prefix="condyle-user-")
    os.environ["BLENDER_USER_RESOURCES"] = _user_resources
    atexit.register(shutil.rmtree, _user_resources, ignore_errors=True)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the tests marked slow, too")
    parser.addoption("--small", action="store_true", help="run only the tests marked small")
    parser.addoption(
        "--alone", action="store_true", help="run only the tests marked alone, in an installed suite"
    )
    parser.addoption(
        "--fuzz-seconds", type=float, default=20.0, help="how long each sweep of tests/fuzz goes on"
    )
    parser.addoption("--fuzz-seed", type=int, default=1, help="the seed of tests/fuzz; 0: another each time")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without garbage collection, which would take a third of the time for 300 000 lasting objects."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_report_header() -> str | None:
    return None if HAVE_BPY else "bpy is not installed: tests/addon and tests/scenes are left out"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    deselected = []
    for item in items:
        too_slow = item.get_closest_marker("slow") and not config.getoption("--slow")
        elsewhere = INSTALLED and bool(item.get_closest_marker("alone")) != config.getoption("--alone")
        left_out = config.getoption("--small") and not item.get_closest_marker("small")
        if too_slow or elsewhere or left_out:
            deselected.append(item)
        elif item.get_closest_marker("peers") and importlib.util.find_spec("pinocchio") is None:
            item.add_marker(pytest.mark.skip(reason="Pinocchio, MuJoCo and OpenSim are only in .venvs/peers"))
    if deselected:
        config.hook.pytest_deselected(items=deselected)
        dropped = set(map(id, deselected))
        items[:] = [item for item in items if id(item) not in dropped]
    slow_first(items, getattr(config, "workerinput", {}).get("workercount", 1))


def slow_first(items: list[pytest.Item], processes: int) -> None:
    """Let each process begin with its share of the slow tests: at the end it waits for a quick one at most."""
    kinds = [
        [item for item in items if bool(item.get_closest_marker("slow")) == slow] for slow in (True, False)
    ]
    items[:] = [
        item
        for process in range(processes)
        for kind in kinds
        for item in kind[len(kind) * process // processes : len(kind) * (process + 1) // processes]
    ]


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Exit early: Blender 4.2 as a module crashes when the interpreter destroys an add-on's property callbacks."""
    bpy = sys.modules.get("bpy")
    if INSTALLED is None and bpy is not None and bpy.app.version < (4, 5):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(config.stash.get(EXIT_STATUS, 0))


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    session.config.stash[EXIT_STATUS] = int(exitstatus)


@pytest.fixture(scope="session", autouse=True)
def shared_kernels() -> None:
    """Compute processes of a checkout load the kernels that the tests compiled."""
    if INSTALLED is None:
        importlib.import_module("tests.compute_process").share_kernels()


@pytest.fixture(scope="session")
def condyle() -> Iterator[ModuleType]:
    """The add-on's package, registered for the session."""
    if not HAVE_BPY:
        pytest.skip("bpy, Blender as a Python module, is not installed")
    import bpy  # noqa: F401  (must come first: it sets up Blender's module paths)

    package = importlib.import_module(INSTALLED or "addon")
    if INSTALLED is None:
        package.register()
    yield package
    if INSTALLED is None:  # Blender 4.5 does not exit while classes are registered
        package.unregister()


@pytest.fixture
def part(condyle: ModuleType) -> Callable[[str], ModuleType]:
    """``part("blender.units")`` is the add-on's module ``units``."""
    return lambda name: importlib.import_module(f"{condyle.__name__}.{name}")


@pytest.fixture
def ph(condyle: ModuleType) -> ModuleType:
    """The physics package that the add-on uses."""
    core = importlib.import_module(f"{condyle.__name__}.blender.physics_access")
    return core.physics()


@pytest.fixture
def scene(condyle: ModuleType) -> Any:
    """The only scene of an empty file; the preferences, and so the add-on, remain unchanged."""
    import bpy

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    return bpy.context.scene
