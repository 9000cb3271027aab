"""The packages flow one way: their rooms' contracts are in pyproject.toml, and no import hides in a function."""

import ast
import graphlib
import re
import subprocess
import sys
from pathlib import Path

import grimp
import pytest
from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

ROOT = Path(__file__).parents[2]
PACKAGES = ("addon", "physics", "blender_scenes")
#: imports of own modules inside functions, and why each is not at the top of its file
LATE = {
    ("addon", "addon.registration"): "brings Blender: a batch reads its job file before",
    ("blender_scenes.__main__", "blender_scenes.picture"): "brings Blender, which --help does not need",
    ("physics.cli", "physics.compiling"): "brings Numba, which the other commands may not need",
    ("physics.kernels.compiler.jit", "physics.kernels.compiler.linking"): "needs Numba, which may be missing",
    ("physics.kernels.compiler.jit", "physics.kernels.compiler.vectors"): "needs Numba, which may be missing",
    ("physics.kernels.compiler.jit", "physics.kernels.compiler.worlds"): "needs Numba, which may be missing",
    ("physics.worker.server", "physics.worker.jobs"): "brings Numba: the compute process answers before",
}
#: rooms, and modules of one, that plan and compute from a shot
PLAIN = ("animation", "checking", "staleness", "jobs.shot", "jobs.shot_files", "jobs.shot_values")
#: runs these where imports of Blender's modules fail
WITHOUT_BLENDER = """
import importlib, pkgutil, sys
sys.modules["bpy"] = sys.modules["mathutils"] = None
from addon.blender import lazy
for name in sys.argv[1:]:
    found = importlib.import_module(f"addon.{name}")
    inside = [each.name for each in pkgutil.iter_modules(getattr(found, "__path__", ()))]
    for each in [importlib.import_module(f"addon.{name}.{own}") for own in inside] or [found]:
        lazy.run(each)
        assert not lazy.is_waiting(each)
        print(each.__name__)
"""


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    """Every import of the packages, those in functions and for types among them."""
    return grimp.build_graph(*PACKAGES, cache_dir=None)


@pytest.mark.parametrize("contract", ["packages", "addon", "physics", "kernels"])
def test_rooms_flow_one_way(contract: str) -> None:
    status = lint_imports(str(ROOT / "pyproject.toml"), limit_to_contracts=(contract,), no_cache=True)
    assert status == EXIT_STATUS_SUCCESS


@pytest.mark.parametrize("package", PACKAGES)
def test_no_files_import_each_other_in_circles(graph: grimp.ImportGraph, package: str) -> None:
    modules = {name for name in graph.modules if name.split(".")[0] == package}
    imports = {name: graph.find_modules_directly_imported_by(name) & modules for name in modules}
    try:
        graphlib.TopologicalSorter(imports).prepare()
    except graphlib.CycleError as error:
        pytest.fail(" -> ".join(error.args[1][::-1]))


@pytest.mark.parametrize("package", PACKAGES)
def test_imports_inside_functions_are_listed(package: str) -> None:
    found = {pair for path in (ROOT / package).rglob("*.py") for pair in late_imports(path)}
    assert found == {pair for pair in LATE if pair[0].split(".")[0] == package}


@pytest.mark.parametrize("package", ["addon", "physics"])
def test_no_own_module_is_imported_by_its_full_name(package: str) -> None:
    """Such an import fails where the add-on is installed, but works in the checkout, also in its compute process."""
    found = {path: names for path in (ROOT / package).rglob("*.py") if (names := absolute_imports(path))}
    assert found == {}


def test_what_computes_from_a_shot_runs_without_blender() -> None:
    line = [sys.executable, "-c", WITHOUT_BLENDER, *PLAIN]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    rooms = {path for name in PLAIN[:3] for path in (ROOT / "addon" / name).glob("*.py")}
    assert len(done.stdout.split()) == len(rooms) - 3 + len(PLAIN[3:])


def absolute_imports(path: Path) -> set[str]:
    """Modules of addon and physics that a file imports by their full names; for its types physics_access.py may."""
    text = path.read_text("utf-8")
    tree = ast.parse(text if re.search(r"\b(from|import) .*\b(addon|physics)\b", text) else "")
    if path == ROOT / "addon/blender/physics_access.py":
        tree.body = [node for node in tree.body if not ast.unparse(node).startswith("if TYPE_CHECKING:")]
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module)
    return {name for name in found if name.split(".")[0] in ("addon", "physics")}


def late_imports(path: Path) -> set[tuple[str, str]]:
    """Pairs of a file's module and an own one that it imports inside a function."""
    package = list(path.relative_to(ROOT).parent.parts)
    own = ".".join([*package, path.stem]).removesuffix(".__init__")
    found, text = set(), path.read_text("utf-8")
    tree = ast.parse(text if re.search(r"^ +(from|import) ", text, re.MULTILINE) else "")
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    for node in (inner for function in functions for inner in ast.walk(function)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            base = [*base, *filter(None, [node.module])]
            for alias in node.names:
                module = ROOT.joinpath(*base, alias.name)
                inside = module.is_dir() or module.with_suffix(".py").is_file()
                found.add(".".join([*base, alias.name] if inside else base))
    return {(own, name) for name in found if name.split(".")[0] in PACKAGES}
