"""What the README tells a stranger to do exists."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")


def test_every_command_is_one_of_build_py() -> None:
    named = set(re.findall(r"build\.py (\w+)", README))
    told = subprocess.run([sys.executable, ROOT / "build.py", "--help"], capture_output=True, text=True)
    assert {"demo", "test"} <= named
    assert not [name for name in named if not re.search(rf"^    {name}\b", told.stdout, re.MULTILINE)]


def test_every_label_of_the_tour_is_in_the_panel() -> None:
    tour = README.split("## A tour in five minutes")[1].split("\n## ")[0]
    sources = "".join(path.read_text("utf-8") for path in (ROOT / "addon").rglob("*.py"))
    labels = set(re.findall(r'bl_(?:label|category) = "(.*?)"', sources))
    # *label*, but not **heading**
    assert set(re.findall(r"(?<!\*)\*([^*\n]+)\*(?!\*)", tour)) <= labels


def test_pictures_and_folders_exist() -> None:
    for name in re.findall(r"!\[.*?\]\((.*?)\)", README) + re.findall(r"`([\w.]+/)`", README):
        assert (ROOT / name).exists() or name in ("out/", "dist/"), name


def test_the_python_of_the_readme_runs() -> None:
    ph = pytest.importorskip("physics")
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    angles = np.linspace(0.0, 2.0, 13)
    twists = np.stack(
        [angles, 0 * angles, 0 * angles, 0 * angles, 0.01 * np.sin(angles), 0 * angles], axis=-1
    )
    names = {"poses": ph.lie.exp(twists), "inertia": np.diag([0.05, 0.05, 0.005])}
    exec(code, names)
    assert np.isfinite(names["result"].poses).all()
