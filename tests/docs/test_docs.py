"""The pages name what is there: links, pictures, buttons, operators, commands, and the functions behind equations."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
ALL_PAGES = [ROOT / "README.md", *PAGES]
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
OTHERS |= {"Python Tooltips", "Animation", "Bake Action", "Visual Keying", "Set Origin", "Apply"}


def outside_code(text: str) -> str:
    """A page without its blocks of code."""
    return re.sub(r"```.*?```", "", text, flags=re.DOTALL)


def anchors(page: Path) -> set[str]:
    """What a link into a page may name: its headings as GitHub writes them."""
    heads = re.findall(r"^#+ (.*)$", outside_code(page.read_text("utf-8")), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


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


def test_equations_are_where_the_page_says():
    text = (DOCS / "equations.md").read_text("utf-8")
    named = re.findall(r"`([\w/]+\.py)(?:::([\w.]+))?`", text)
    assert len(named) > 100
    for file, name in named:
        path = ROOT / "physics" / file
        assert path.exists(), file
        body: list[ast.stmt] = ast.parse(path.read_text("utf-8")).body
        for part in name.split(".") if name else ():
            found = [
                node
                for node in body
                if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == part
            ]
            assert found, f"{file}::{name}"
            body = found[0].body


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
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
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
def test_commands_exist(page):
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
    for script in re.findall(r"python3 (docs/\w+\.py)", text):
        assert (ROOT / script).exists()
