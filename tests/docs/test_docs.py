"""The pages name what there is: links, pictures, buttons, operators, commands, and the code."""

import ast
import keyword
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
ALL_PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *PAGES]
TREES = ("addon", "physics", "blender_scenes", "tests")
#: pages for engineers, and the folder from which they name files
OF_CODE = {DOCS / "equations.md": ROOT / "physics", DOCS / "architecture.md": ROOT, ALL_PAGES[1]: ROOT}
#: what commands make
MADE = {".venv/", ".venvs/", "dist/", "out/"}
MOST_BYTES = 3_000_000  # of all pictures
#: what is Blender's own, or derived from a coordinate's name
OTHERS = {
    "Edit",
    "Preferences",
    "Get Extensions",
    "Adjust Last Operation",
    "Install from Disk...",
    "Coordinate",
}
OTHERS |= {
    "Force Field",
    "Noise",
    "Python Tooltips",
    "Animation",
    "Bake Action",
    "Visual Keying",
    "Set Origin",
    "Apply",
}


def outside_code(text: str) -> str:
    """A page without its blocks of code."""
    return re.sub(r"```.*?```", "", text, flags=re.DOTALL)


def anchors(page: Path) -> set[str]:
    """What a link into a page may name: its headings as GitHub writes them."""
    heads = re.findall(r"^#+ (.*)$", outside_code(page.read_text("utf-8")), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@cache
def nodes(path: Path) -> list[ast.AST]:
    """All of a file's syntax tree."""
    return list(ast.walk(ast.parse(path.read_text("utf-8"))))


def sources(*trees: str) -> Iterator[Path]:
    """Python files of folders, and what starts everything."""
    yield from (path for tree in trees for path in (ROOT / tree).rglob("*.py"))
    yield ROOT / "build.py"


@cache
def written() -> str:
    """All that names commands, options, markers and variables of the environment."""
    others = ROOT / "tests/conftest.py", ROOT / "docs/pictures.py", ROOT / "pyproject.toml"
    paths = [*sources("addon", "physics", "blender_scenes", ".ci", "tests/benchmarks"), *others]
    return "".join(path.read_text("utf-8") for path in paths)


def defined(body: list[ast.stmt], name: str) -> list[ast.stmt] | None:
    """The body of a class or function of this name, empty for a variable; None where there is none."""
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name:
            return node.body
        targets = getattr(node, "targets", [getattr(node, "target", None)])
        if isinstance(node, ast.Assign | ast.AnnAssign) and any(
            isinstance(part, ast.Name) and part.id == name for each in targets for part in ast.walk(each)
        ):
            return []
    return None


@pytest.mark.parametrize("page", ALL_PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", outside_code(page.read_text("utf-8"))):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        found = (page.parent / path).resolve() if path else page
        assert found.exists(), f"{page.name}: {target}"
        assert not anchor or anchor in anchors(found), f"{page.name}: {target}"


def test_pictures_are_shown_and_small():
    pictures = sorted((DOCS / "pictures").glob("*"))
    text = "".join(page.read_text("utf-8") for page in PAGES)
    for picture in pictures:
        assert picture.suffix == ".png" and f"pictures/{picture.name}" in text, picture.name
    assert sum(picture.stat().st_size for picture in pictures) < MOST_BYTES


@pytest.mark.parametrize("page", ALL_PAGES, ids=lambda page: page.name)
def test_files_and_their_names_are_where_the_page_says(page):
    """``folder/file.py::Class.method`` anywhere; on pages for engineers in `backticks` every path with a slash."""
    text, base = page.read_text("utf-8"), OF_CODE.get(page, ROOT)
    named = re.findall(r"(?<![\w./*])([\w.]+/[\w./]*\.py)(?:::([\w.]+))?", text)
    if page in OF_CODE:
        named += [(path, "") for path in re.findall(r"`([\w.]+/[\w./]*)`", text) if path not in MADE]
        assert len(named) > (10 if base == ROOT else 100)
    for file, name in named:
        assert (base / file).exists() or file == f"{base.name}/", file
        body = ast.parse((base / file).read_text("utf-8")).body if name else []
        for part in name.split(".") if name else ():
            found = defined(body, part)
            assert found is not None, f"{file}::{name}"
            body = found


@pytest.mark.parametrize(
    "page", [page for page in OF_CODE if page.name != "equations.md"], ids=lambda page: page.name
)
def test_names_of_the_code_exist(page):
    text = page.read_text("utf-8")
    parts = ("id", "attr", "arg", "name")
    known = {
        getattr(node, part, None) for path in sources(*TREES) for node in nodes(path) for part in parts
    } | {path.stem for path in sources(*TREES)}
    told = written()
    for name in re.findall(r"`([A-Za-z_]\w*)`", text):
        assert name in known or keyword.iskeyword(name) or f'"{name}"' in told, name
    for name in re.findall(r"\b(?:CONDYLE|NUMBA)(?:_[A-Z]+)+\b", text):
        assert name in told, name


def test_every_folder_of_the_packages_has_its_row():
    text = (DOCS / "architecture.md").read_text("utf-8")
    for tree in ("addon", "physics", "physics/kernels"):
        for path in (ROOT / tree).iterdir():
            if any(file.name != "__init__.py" for file in path.rglob("*.py")):
                assert f"`{tree}/{path.name}/`" in text, f"{tree}/{path.name}"


def test_every_equation_of_the_papers_in_a_docstring_is_on_the_page():
    """By paper and file: a file that cites one of these papers' equations stands under it."""
    text = (DOCS / "equations.md").read_text("utf-8")
    for paper in ("Lee & Terzopoulos 2008", "Kim, Lee & Park 2014", "Wang 2022", "Ertl et al. 1993"):
        (section,) = re.findall(rf"^## {paper}.*?(?=^## |\Z)", text, flags=re.DOTALL | re.MULTILINE)
        for path in (ROOT / "physics").rglob("*.py"):
            cited = re.search(rf"{paper},\s+eqs?\.", path.read_text("utf-8"))
            name = path.relative_to(ROOT / "physics").as_posix()
            assert cited is None or name in section, f"{name} cites {paper}"


@pytest.mark.parametrize("page", ALL_PAGES, ids=lambda page: page.name)
def test_operators_exist(page, condyle):
    import bpy

    for name in re.findall(r"`condyle\.(\w+)`", page.read_text("utf-8")):
        if name not in {"joint"}:
            assert name in dir(bpy.ops.condyle), f"{page.name}: condyle.{name}"


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.name != "equations.md"], ids=lambda page: page.name
)
def test_buttons_and_panels_have_the_names_that_the_pages_give_them(page):
    shown = set()
    for path in (ROOT / "addon").rglob("*.py"):
        for node in nodes(path):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                shown |= {node.value, node.value.partition(" (")[0]}
    for text in re.findall(r"(?<![*\w])\*([A-Z][^*]*)\*(?!\*)", outside_code(page.read_text("utf-8"))):
        for name in re.split(" [>›] ", " ".join(text.split())):
            assert name in shown | OTHERS, f"{page.name}: {name}"


@pytest.mark.parametrize("page", [ROOT / "README.md", DOCS / "file-formats.md"], ids=lambda page: page.name)
def test_an_opensim_model_is_converted_and_simulated_as_the_page_says(page, tmp_path, monkeypatch):
    from physics.cli import main
    from tests.physics.io.osim import body, coordinate, joint, write

    monkeypatch.chdir(tmp_path)
    made = joint("PinJoint", "pin", "/ground", "arm", coordinate("angle", ""))
    write(tmp_path / "MODEL.osim", body("arm"), made)
    lines = re.findall(
        r"^    python -m physics (convert|simulate) (.*)$", page.read_text("utf-8"), flags=re.MULTILINE
    )
    assert [command for command, _ in lines] == ["convert", "simulate"]
    for command, rest in lines:
        assert main([command, *rest.split(), "--quiet"]) == 0
    assert (tmp_path / "RESULT.npz").exists()


@pytest.mark.parametrize("page", ALL_PAGES, ids=lambda page: page.name)
def test_commands_and_options_exist(page):
    text = page.read_text("utf-8")
    wanted = {
        ("build.py",): re.findall(r"python3 build\.py (\w+)", text),
        ("-m", "physics"): re.findall(r"python -m physics (\w+)", text),
    }
    for program, names in wanted.items():
        if names:
            told = subprocess.run(
                [sys.executable, *program, "--help"], cwd=ROOT, capture_output=True, text=True, check=True
            ).stdout
            for name in names:
                assert re.search(rf"\b{name}\b", told), f"{page.name}: {' '.join(program)} {name}"
    for option in re.findall(r"(?<![\w-])--\w[\w-]*", text):
        assert option in written(), f"{page.name}: {option}"
    for script in re.findall(r"python3 (docs/\w+\.py)", text):
        assert (ROOT / script).exists()


def test_the_table_of_joints_names_their_coordinates():
    """Condyle's joints with the coordinates that the package gives, OpenSim's with kinds that are read."""
    from physics import joints
    from physics.io.opensim_joints import KINDS

    needed = {
        "ConstantCurvature": (1.0,),
        "Ellipsoid": (1.0, 1.0, 1.0),
        "Scapulothoracic": ((1.0, 1.0, 1.0),),
    }
    text = (DOCS / "equations.md").read_text("utf-8").split("### The same joints")[1].split("\n## ")[0]
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in text.splitlines()
        if line.startswith("| `")
    ]
    for ours, coordinates, *_ in rows:
        name = re.findall(r"`(\w+)`", ours)[0]
        joint = getattr(joints, name)(*needed.get(name, ()))
        named = [re.findall(r"`(\w+)`", part) for part in coordinates.split("; read as ")]
        expected = [list(joint.coordinate_names), list(joint.reading_names)]
        assert named == (expected if expected[0] != expected[1] else expected[:1]), name
    assert {row[4].strip("`") for row in rows} - {""} == set(KINDS) - {"CustomJoint"}
    assert (
        len({row[2] for row in rows if "`" in row[2]} - {"`EllipsoidJoint` (`openSimCompatible`)"}) == 15
    )  # all
