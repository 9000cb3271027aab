"""The batch: what is done and what is done again, what a failing shot does to the others."""

import hashlib
import json
import os
import signal
import sys
import time

import pytest


class FakeChild:
    """Stands in for the child: copies its input, or does what the test asks for."""

    behaviour: dict = {}
    started = 0

    def __init__(self):
        self.ended, self.baked, self.lives = False, 0, True
        FakeChild.started += 1

    def bake(self, shot, out, progress):
        told = self._told(shot, out, progress)
        told.ended = self.lives = told.code >= 0 and not self.ended
        self.baked += told.ended
        return told

    def _told(self, shot, out, progress):
        from importlib import import_module

        self.shot, self.out, self.does = shot, out, self.behaviour.get(shot.name, "bake")
        told = import_module(FakeChild.module).Told(blender="" if self.does == "hang unopened" else "9.9")
        progress(0.5)
        if str(self.does).startswith("hang"):
            while not self.ended:
                time.sleep(0.01)
            told.code = -9
        elif str(self.does).startswith("interrupt"):
            signal.raise_signal(signal.SIGINT)
            while self.does == "interrupt twice" and not self.ended:
                time.sleep(0.01)
            if self.ended:  # the batch waits for this thread by now
                time.sleep(0.05)
                signal.raise_signal(signal.SIGINT)
        elif self.does == "empty":
            told.code = 1
            told.take('{"event": "error", "error": "Error", "message": "nothing to simulate", "empty": true}')
        elif isinstance(self.does, int):
            told.code = self.does
            told.lines.append("Segmentation fault")
            if self.does > 0:
                told.errors.append("the knee is missing")
        elif self.out is not None:
            self.out.write_bytes(b"baked " + self.shot.source.read_bytes())
            told.scenes.append({"frames": 24, "bodies": 1})
        return told

    def end(self):
        self.ended = True

    def close(self):
        self.lives = False


@pytest.fixture
def run(part, folder, monkeypatch):
    """Bake the inputs by fake children; name -> state, and the outcomes."""
    FakeChild.module = part("batch.child").__name__
    monkeypatch.setattr(part("batch.run"), "Child", FakeChild)
    monkeypatch.setattr(FakeChild, "behaviour", {})
    monkeypatch.setattr(FakeChild, "started", 0)

    def bake(shots=None, at_once=2, **options):
        batch = part("batch.run")
        shots = shots or part("batch.job_file").read(folder, {}, folder / "out", False)
        reporter = part("blender.physics_access").part("reporting").Reporter(quiet=True)
        outcomes = batch.Run(shots, batch.Options(at_once, **options), reporter).bake()
        return {each.shot.name: each.state for each in outcomes}, outcomes

    return bake


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_what_is_done_stays_done_and_what_changed_is_done_again(run, part, folder):
    states, _ = run()
    assert set(states.values()) == {"baked"}
    assert len(names(folder / "out")) == 6  # an output and its record each; no lock, no part
    record = json.loads((folder / "out/a.blend.condyle.json").read_text("utf-8"))
    assert record["input"]["sha256"] == hashlib.sha256(b"content of a").hexdigest()
    assert record["output"]["sha256"] == hashlib.sha256(b"baked content of a").hexdigest()
    assert record["condyle"] == part("batch.records").version() and record["blender"] == "9.9"
    assert set(run()[0].values()) == {"kept"}
    (folder / "a.blend").write_bytes(b"new")
    states, outcomes = run(dry_run=True)
    assert states == {"a": "to bake", "b": "kept", "Knie größer": "kept"}
    assert next(each.note for each in outcomes if each.shot.name == "a") == "its input has changed"
    assert (folder / "out/a.blend").read_bytes() == b"baked content of a"
    assert run()[0]["a"] == "baked" and (folder / "out/a.blend").read_bytes() == b"baked new"
    shots = part("batch.job_file").read(folder, {"simulation": {"time_step": 0.002}}, folder / "out", False)
    assert set(run(shots)[0].values()) == {"baked"}
    assert set(run(shots)[0].values()) == {"kept"}
    assert set(run(shots, overwrite=True)[0].values()) == {"baked"}


def test_an_output_that_is_not_ours_is_left_alone(run, folder):
    run()
    (folder / "out/a.blend").write_bytes(b"worked on by hand")
    (folder / "out/b.blend.condyle.json").write_bytes(b"{cut short")
    states, outcomes = run()
    assert states == {"a": "failed", "b": "failed", "Knie größer": "kept"}
    assert "move it away, or give --overwrite" in outcomes[1].note
    assert (folder / "out/a.blend").read_bytes() == b"worked on by hand"
    assert set(run(overwrite=True)[0].values()) == {"baked"}


def test_killed_between_the_record_and_the_output_it_is_done_again(run, part, folder, monkeypatch):
    """Both orders of what a kill leaves: a record without its output, and with the one before."""

    replace = os.replace

    def only_records(first, second):
        if not str(first).endswith(".json"):
            raise OSError("killed")
        replace(first, second)

    for content in (b"content of a", b"changed"):
        (folder / "a.blend").write_bytes(content)
        with monkeypatch.context() as patch:
            patch.setattr(part("batch.records").os, "replace", only_records)
            assert run()[0]["a"] == "failed"
        assert (folder / "out/a.blend.condyle.json").exists()
        assert run()[0]["a"] == "baked"
        assert (folder / "out/a.blend").read_bytes() == b"baked " + content


@pytest.mark.parametrize("is_done", [False, True])
def test_what_a_kill_left_is_swept_away(run, folder, is_done):
    """Beside what is baked again, and beside what is done: a kill may have ended an --overwrite of it."""
    run()
    if not is_done:
        (folder / "a.blend").write_bytes(b"new")
    ours = (
        ".a.batch-0123abcd.blend",
        "..a.batch-0123abcd.89abcdef.blend",
        "..a.batch-0123abcd.89abcdef.blend@",
    )
    record = ".a.blend.condyle.0123abcd.json"
    others = (".ab.batch-0123abcd.blend", ".a.blend")
    for name in (*ours, record, *others):
        (folder / "out" / name).touch()
    assert run(dry_run=True)[0]["a"] == ("kept" if is_done else "to bake")
    assert set(names(folder / "out")) >= {*ours, record, *others}
    assert run()[0]["a"] == ("kept" if is_done else "baked")
    left = set(names(folder / "out"))
    assert not left & {*ours, record} and left >= set(others)


def test_a_shot_that_fails_does_not_stop_the_others(run, folder):
    FakeChild.behaviour = {"a": 1, "b": -11}
    states, outcomes = run()
    assert states == {"a": "failed", "b": "crashed", "Knie größer": "baked"}
    notes = {each.shot.name: each.note for each in outcomes}
    assert notes["a"] == "the knee is missing" and notes["b"] == "signal 11: Segmentation fault"
    FakeChild.behaviour = {"a": 3}
    assert run()[0] == {"a": "diverged", "b": "baked", "Knie größer": "kept"}


def test_a_file_with_nothing_to_simulate_fails_only_where_it_was_asked_for(run, part, folder):
    FakeChild.behaviour = {"a": "empty"}
    states, outcomes = run()
    assert states == {"a": "skipped", "b": "baked", "Knie größer": "baked"}
    assert next(each.note for each in outcomes if each.shot.name == "a") == "nothing to simulate"
    assert "skipped" in part("batch.report").GOOD and not (folder / "out/a.blend").exists()
    assert run(dry_run=True)[0]["a"] == "skipped"
    jobs = folder / "jobs.toml"
    jobs.write_text(
        'format = "condyle-jobs"\nversion = 1\njobs = [{ input = "a.blend", out = "named.blend" }]\n'
    )
    assert run(part("batch.job_file").read(jobs, {}, None, False))[0] == {"a": "failed"}


def test_a_folder_with_nothing_to_simulate_at_all_is_told(run, part, folder, capsys):
    cli = part("batch.command_line")
    line = ["batch", str(folder), "--out", str(folder / "out"), "--quiet"]
    FakeChild.behaviour = {"a": "empty", "b": "empty", "Knie größer": "empty"}
    assert cli.main(line) == 1
    assert f"{folder}: none of its .blend files has anything to simulate" in capsys.readouterr().err
    FakeChild.behaviour = {"a": "empty", "b": "empty"}
    assert cli.main(line) == 0 and capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("does", "note"),
    [
        ("hang", "not done in 0.3 s"),
        # as where a link leads to a pipe: Blender waits, and says nothing
        ("hang unopened", "not done in 0.3 s: the file or one of its libraries was still being opened"),
    ],
)
def test_a_shot_that_takes_too_long_is_given_up(run, part, folder, does, note):
    FakeChild.behaviour = {"a": does}
    shots = part("batch.job_file").read(folder, {"timeout": 0.3}, folder / "out", False)
    states, outcomes = run(shots)
    assert states == {"a": "timed out", "b": "baked", "Knie größer": "baked"}
    assert note in [each.note for each in outcomes]


@pytest.mark.skipif(sys.platform == "win32", reason="raises SIGINT as POSIX has it")
@pytest.mark.parametrize("does", ["interrupt", "interrupt twice"])
def test_an_interrupt_ends_the_children(run, folder, does):
    """Be it by two of them: who presses Ctrl-C again is still told what was done."""
    FakeChild.behaviour = {"a": "hang", "b": does}
    states, _ = run()
    assert states["a"] == "interrupted" and "interrupted" in states.values()
    assert ".condyle-batch.lock" not in names(folder / "out")
    FakeChild.behaviour = {}
    assert set(run()[0].values()) <= {"baked", "kept"}


def test_two_batches_at_once_in_a_folder_are_refused(run, part, ph, folder):
    with (
        part("batch.records").locked(folder / "out"),
        pytest.raises(ph.FormatError, match="another batch is writing into"),
    ):
        run()
    assert set(run()[0].values()) == {"baked"}
    (folder / "file").touch()
    with (
        pytest.raises(ph.FormatError, match="cannot be written to"),
        part("batch.records").locked(folder / "file"),
    ):
        pass


def test_a_linked_file_that_changed_is_noticed(part, folder):
    records, shot = (
        part("batch.records"),
        part("batch.job_file").Shot("a", folder / "a.blend", folder / "out.blend"),
    )
    part_file = folder / "part.blend"
    part_file.write_bytes(b"baked")
    facts = {
        "input": {"path": "", "sha256": "1"},
        "libraries": {str(folder / "b.blend"): records.library_digest(str(folder / "b.blend"))},
    }
    records.publish(part_file, shot, facts)
    assert records.reason_to_bake(shot, "1", records.load(shot.target)) == ""
    (folder / "b.blend").unlink()
    assert "has changed" in records.reason_to_bake(shot, "1", records.load(shot.target))


def test_the_table(run, part, folder):
    FakeChild.behaviour = {"b": 1}
    lines = part("batch.report").table(run()[1]).splitlines()
    assert lines[0].split() == ["shot", "state", "frames", "bodies", "seconds", "note"]
    assert lines[1].startswith("Knie größer  baked       24       1")
    assert lines[-1] == "2 baked, 1 failed"


def test_what_is_done_is_told_from_the_beginning_and_after_each_shot(run, part, folder):
    """A report that is written then holds after a kill what was done, and never a run before."""
    run()  # so that FakeChild is in its place
    batch, told = part("batch.run"), []
    shots = part("batch.job_file").read(folder, {}, folder / "fresh", False)
    reporter = part("blender.physics_access").part("reporting").Reporter(quiet=True)
    batch.Run(shots, batch.Options(1), reporter).bake(lambda so_far: told.append([e.state for e in so_far]))
    assert told == [["baked"] * done + ["interrupted"] * (3 - done) for done in range(4)]


@pytest.mark.skipif(sys.platform == "win32", reason="makes a symbolic link, and a name with a line break")
def test_a_folder_s_odd_names_are_told_each_on_a_line(run, part, folder):
    """A link to nothing, or to itself, is a shot that fails, not one that is not there, and ends nothing (Python 3.11
    raises RuntimeError of the second); a line break does not break the table.
    """
    (folder / "gone.blend").symlink_to("nowhere.blend")
    (folder / "round.blend").symlink_to("round.blend")
    (folder / "line\nbreak.blend").write_bytes(b"content")
    (folder / "folder.blend").mkdir()
    states, outcomes = run()
    assert states == {
        "a": "baked",
        "b": "baked",
        "Knie größer": "baked",
        "gone": "failed",
        "round": "failed",
        "line\\nbreak": "baked",
    }
    assert "nowhere.blend" in next(each.note for each in outcomes if each.shot.name == "gone")
    assert len(part("batch.report").table(outcomes).splitlines()) == 8
    assert (folder / "out/line\nbreak.blend").read_bytes() == b"baked content"


def test_a_process_bakes_many_shots_and_one_that_dies_is_replaced(run, monkeypatch, part):
    assert set(run(at_once=1)[0].values()) == {"baked"} and FakeChild.started == 1
    FakeChild.behaviour, FakeChild.started = {"a": -11}, 0
    states, _ = run(at_once=1, overwrite=True)
    # a is tried once more in a process that no other shot has used, and what follows needs a third
    assert states == {"a": "crashed", "b": "baked", "Knie größer": "baked"} and FakeChild.started == 3
    monkeypatch.setattr(part("batch.run"), "MOST_SHOTS", 1)
    FakeChild.behaviour, FakeChild.started = {}, 0
    assert set(run(at_once=1, overwrite=True)[0].values()) == {"baked"} and FakeChild.started == 3


def test_parts_of_one_batch_write_into_one_folder(part, ph, folder):
    locked, out = part("batch.records").locked, folder / "out"
    refused = pytest.raises(ph.FormatError, match="another batch is writing into")
    with locked(out, "1-of-2"), locked(out, "2-of-2"), refused, locked(out, "1-of-2"):
        pytest.fail("locked twice")
    assert not names(out)


def test_parts_are_all_shots_and_nothing_twice(part, ph, folder):
    command = part("batch.command")
    parse = part("batch.command_line").parser().parse_args

    def shots(*split):
        given = parse(["batch", str(folder), "--out", str(folder / "out"), *split])
        return [shot.name for shot in command._shots(given, lambda: None)]

    parts = [shots("--split", f"{n}/2") for n in (1, 2)]
    assert sorted(parts[0] + parts[1]) == sorted(shots()) and all(parts)
    assert shots("--split", "7/9") == []
    for wrong in ("0/2", "3/2", "1", "1/0", "-1/2", "one/2"):
        with pytest.raises(ph.FormatError, match="must be N/M"):
            shots(f"--split={wrong}")
