"""The lock files: everything pinned by hash, nothing of any one machine or registry."""

import re
from pathlib import Path

import pytest

REQUIREMENTS = Path(__file__).resolve().parents[2] / "requirements"
LOCKS = sorted(REQUIREMENTS.glob("*.txt"))


def packages(lock: Path) -> dict[str, tuple[str, str]]:
    """Name -> (pin and marker, hashes) of each entry."""
    entries = re.findall(r"^(\S+?)==(.*?)((?:\\\n\s+--hash=\S+ ?)+)", lock.read_text("utf-8"), re.MULTILINE)
    return {name: (pin.strip(), hashes) for name, pin, hashes in entries}


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.stem)
def test_every_package_is_pinned_with_hashes(lock: Path) -> None:
    text = lock.read_text("utf-8")
    named = re.findall(r"^[A-Za-z]\S*", text, re.MULTILINE)
    assert named and all("==" in name for name in named)
    assert set(packages(lock)) == {name.split("==")[0] for name in named}
    assert "://" not in text and "index-url" not in text


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.stem)
def test_every_wanted_package_is_locked(lock: Path) -> None:
    def wanted(path: Path) -> set[str]:
        names: set[str] = set()
        for line in path.read_text("utf-8").splitlines():
            if line.startswith("-r "):
                names |= wanted(path.parent / line[3:])
            elif line and not line.startswith("#"):
                names |= set(re.findall(r"^[\w-]+", line))
        return names

    names = wanted(lock.with_suffix(".in"))
    if lock.stem.startswith("wheels"):
        names -= {"numpy"}
        assert "numpy" not in packages(lock), "an extension must never carry its own numpy"
    assert names <= set(packages(lock))


@pytest.mark.parametrize(
    ("lock", "numpy"), [("py311", "1.26"), ("blender-4.2", "1.24"), ("blender-5.0", "1.26")]
)
def test_numpy_is_the_one_of_that_blender(lock: str, numpy: str) -> None:
    assert packages(REQUIREMENTS / f"{lock}.txt")["numpy"][0].startswith(numpy)
