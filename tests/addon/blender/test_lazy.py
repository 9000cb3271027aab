"""Modules that run at their first use."""

import importlib
import sys
import threading

import pytest

pytestmark = pytest.mark.small


ROOM = {
    "__init__": "",
    "plain": "import time\ntime.sleep(0.2)\nNUMBER = 1\n",
    "uses": "from . import plain\nfrom .plain import NUMBER\nnumber = NUMBER + plain.NUMBER\n",
    "broken": "import bpy\nEARLY = 1\nNAME = bpy.types.NoSuchType\n",
    "raising": "raise RuntimeError('no luck')\n",
}


@pytest.fixture
def room(part, tmp_path, monkeypatch):
    """A package of modules that wait."""
    folder = tmp_path / "lazy_room"
    folder.mkdir()
    for name, text in ROOM.items():
        (folder / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    package = importlib.import_module("lazy_room")
    part("blender.lazy").package("lazy_room")
    yield package
    for name in [each for each in sys.modules if each.partition(".")[0] == "lazy_room"]:
        del sys.modules[name]


def test_a_module_runs_when_a_name_of_it_is_read(part, room):
    waits = part("blender.lazy").is_waiting
    from lazy_room import plain, uses

    assert importlib.import_module("lazy_room.uses") is uses and waits(uses) and waits(plain)
    assert uses.__name__ == "lazy_room.uses" and not hasattr(uses, "__path__") and waits(uses)
    assert uses.number == 2 and not waits(uses) and not waits(plain)
    assert "number" in dir(uses) and type(uses) is type(sys)


def test_what_is_set_first_stays(room, monkeypatch):
    monkeypatch.setattr(room.plain, "NUMBER", 5)
    assert room.plain.NUMBER == 5 and room.uses.number == 10


def test_an_error_is_told_at_each_use(part, room):
    for _ in range(2):
        with pytest.raises(RuntimeError, match="no luck"):
            _ = room.raising.anything
        with pytest.raises(ImportError, match=r"lazy_room\.broken cannot be loaded: .*NoSuchType"):
            hasattr(room.broken, "NAME")
        with pytest.raises(ImportError, match="NoSuchType"):
            from lazy_room.broken import EARLY  # noqa: F401
    assert part("blender.lazy").is_waiting(room.broken)


def test_two_threads_run_a_module_once(room):
    seen = []
    threads = [threading.Thread(target=lambda: seen.append(room.plain.NUMBER)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert seen == [1, 1, 1, 1]


def test_every_module_of_the_add_on_runs(part, condyle):
    for name, module in list(sys.modules.items()):
        if name.startswith(f"{condyle.__name__}."):
            part("blender.lazy").run(module)
            assert not part("blender.lazy").is_waiting(module)


def test_callbacks_are_wired_while_the_add_on_is_registered(part, monkeypatch):
    callbacks = part("data.callbacks")
    assert callbacks.call() is part("registration").CALLBACKS
    monkeypatch.setattr(callbacks, "_wired", None)
    with pytest.raises(RuntimeError, match=r"addon\.register"):
        callbacks.call()
