"""The command line: what it writes, what it says, and with which code it ends."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import physics as ph
from physics.cli import main
from physics.io import load_result, save_model
from physics.io.result_file import read_result
from physics.reporting import Reporter
from tests.physics.small_models import alone

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def model_file(tmp_path):
    model = alone("bob", ph.joints.Hinge((1, 0, 0)), com=(0, 0, -1), inertia=np.eye(3) * 0.01).build()
    path = tmp_path / "pendulum.json"
    save_model(
        model, path, model.state(q=[0.5]), {"duration": 0.2, "dt": 1e-2, "integrator": "rk4"}, {"note": 1}
    )
    return path


@pytest.fixture
def unstable_file(tmp_path):
    """A spring far too stiff for the step: forward Euler leaves the finite numbers within 2 s."""
    model = alone("mass", ph.joints.Slider(), mass=1e-3, stiffness=1e9).build()
    path = tmp_path / "unstable.json"
    save_model(
        model, path, model.state(q=[1.0]), {"duration": 2.0, "dt": 1e-2, "integrator": "forward_euler"}
    )
    return path


def events(text):
    return [json.loads(line) for line in text.splitlines()]


def test_simulate_writes_what_simulate_gives(model_file, tmp_path, capsys):
    out = tmp_path / "motion.npz"
    assert main(["simulate", str(model_file), "--out", str(out)]) == 0
    file = ph.io.load_model(model_file)
    expected = ph.simulate(file.model, file.state, duration=0.2, dt=1e-2, integrator="rk4")
    result = load_result(out)
    assert result.q.tobytes() == expected.q.tobytes() and result.info["integrator"] == "rk4"
    assert read_result(out).extras == {"note": 1}
    told = capsys.readouterr()
    assert told.out == "" and told.err == "", "no terminal: silence"


def test_options_overrule_the_file(model_file, tmp_path):
    out = tmp_path / "motion.npz"
    arguments = [
        "--duration",
        "0.5",
        "--dt",
        "0.001",
        "--integrator",
        "forward_euler",
        "--record-interval",
        "0.25",
    ]
    assert main(["simulate", str(model_file), "--out", str(out), *arguments]) == 0
    result = load_result(out)
    assert result.t.tolist() == [0.0, 0.25, 0.5]
    assert result.info["integrator"] == "forward_euler" and result.info["dt"] == 0.001


def test_events_are_json_lines(model_file, tmp_path, capsys):
    assert main(["simulate", str(model_file), "--out", str(tmp_path / "motion.npz"), "--log-json"]) == 0
    told = events(capsys.readouterr().out)
    kinds = [event["event"] for event in told]
    assert kinds[0] == "start" and kinds[-1] == "done" and "progress" in kinds
    assert told[-1]["samples"] == 21 and told[-1]["out"].endswith("motion.npz")
    assert all(event["seconds"] >= 0.0 for event in told)


@pytest.mark.parametrize("dt", ["0.01", "1"])
def test_a_doubtful_motion_is_told_and_fails_where_asked(model_file, tmp_path, capsys, dt):
    """By its text on the terminal, by code and values in events; it is written all the same."""
    out = tmp_path / "motion.npz"
    line = ["simulate", str(model_file), "--out", str(out), "--duration", "300", "--dt", dt]
    line += ["--integrator", "symplectic_euler"]
    assert main(line) == 0
    expected = load_result(out).diagnosis
    assert [each.code for each in expected] == (["energy-gained"] if dt == "1" else [])
    told = capsys.readouterr()
    assert told.err == "".join(f"warning: {each.text}\n" for each in expected)
    out.unlink()
    assert main([*line, "--log-json", "--fail-on-diagnosis"]) == (4 if expected else 0)
    told = [event for event in events(capsys.readouterr().out) if event["event"] == "warning"]
    assert [(each["code"], each["values"]) for each in told] == [tuple(each) for each in expected]
    assert load_result(out).diagnosis == expected


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "required"),
        (["dance"], "invalid choice"),
        (["simulate", "MODEL"], "--out"),
        (["simulate", "MODEL", "--out", "x.npz", "--dt", "small"], "invalid float value"),
    ],
)
def test_wrong_usage_ends_with_2(arguments, says, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2 and says in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--dt", "-1"], "dt must be positive"),
        (["--dt", "nan"], "dt must be finite"),
        (["--dt", "5"], "dt 5 is longer than the duration"),
        (["--integrator", "magic"], "unknown integrator 'magic'"),
        (["--out", "/no/such/folder/motion.npz"], "folder /no/such/folder does not exist"),
    ],
)
def test_values_that_make_no_sense_end_with_2(model_file, tmp_path, arguments, says, capsys):
    out = tmp_path / "motion.npz"
    assert main(["simulate", str(model_file), "--out", str(out), *arguments]) == 2
    assert says in capsys.readouterr().err and not out.exists()


def test_a_bad_input_file_ends_with_2(model_file, tmp_path, capsys):
    out = tmp_path / "motion.npz"
    assert main(["simulate", str(tmp_path / "nowhere.json"), "--out", str(out)]) == 2
    assert "nowhere.json: No such file or directory" in capsys.readouterr().err
    model_file.write_text(model_file.read_text()[:-20])
    assert main(["simulate", str(model_file), "--out", str(out), "--log-json"]) == 2
    event = events(capsys.readouterr().out)[-1]
    assert event["event"] == "error" and event["error"] == "FormatError" and event["exit_code"] == 2
    assert "truncated" in event["message"] and not out.exists()


def test_a_file_without_a_duration_wants_one(model_file, tmp_path, capsys):
    document = json.loads(model_file.read_text())
    del document["simulation"]["duration"]
    model_file.write_text(json.dumps(document))
    assert main(["simulate", str(model_file), "--out", str(tmp_path / "motion.npz")]) == 2
    assert "give one with --duration" in capsys.readouterr().err


def test_a_diverged_run_ends_with_3_and_keeps_what_there_is(unstable_file, tmp_path, capsys):
    out = tmp_path / "motion.npz"
    assert main(["simulate", str(unstable_file), "--out", str(out), "--log-json"]) == 3
    event = events(capsys.readouterr().out)[-1]
    assert event["error"] == "DivergedError" and event["body"] == "mass" and event["kept"] == str(out)
    file = read_result(out)
    assert file.diverged["body"] == "mass" and 0 < len(file.result.t) < 201
    assert np.isfinite(file.result.q).all()


def test_an_unwritable_folder_ends_with_1(model_file, tmp_path, capsys, monkeypatch):
    def refuse(*arguments, **keywords):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("physics.cli.save_result", refuse)
    assert main(["simulate", str(model_file), "--out", str(tmp_path / "motion.npz")]) == 1
    assert "Permission denied" in capsys.readouterr().err


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_leaves_nothing_half_written(model_file, tmp_path, number, code):
    out = tmp_path / "motion.npz"
    command = [sys.executable, "-m", "physics", "simulate", str(model_file), "--out", str(out), "--log-json"]
    long = ["--duration", "1e6", "--record-interval", "1e3"]
    process = subprocess.Popen(
        [*command, *long],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "CONDYLE_JIT": "0"},
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    )
    for line in process.stdout:
        if json.loads(line)["event"] == "progress":
            break
    process.send_signal(number)
    rest, _ = process.communicate(timeout=300)
    assert process.returncode == code
    if number == signal.SIGINT:
        assert events(rest)[-1]["message"] == "interrupted"
    assert os.listdir(tmp_path) == ["pendulum.json"]


def test_info_says_what_a_file_holds(model_file, capsys):
    assert main(["info", str(model_file)]) == 0
    told = capsys.readouterr().out
    assert "1 bodies, 1 coordinates" in told
    assert "hinge on world: angle [rad]" in told and "bob.angle = 0.5" in told and "extras: note" in told


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


def test_a_terminal_gets_a_bar_and_a_last_line():
    stream = Terminal()
    reporter = Reporter(stream=stream)
    reporter.start("simulate knee")
    reporter.progress(0.0, "compiling")
    reporter.progress(0.0001)  # too soon after the last
    reporter.progress(1.0)
    reporter.message("a note")
    reporter.done(samples=3, energy_change=0.12345678)
    told = stream.getvalue()
    assert "simulate knee ░░░" in told and "  0% compiling" in told and "██ 100% compiling" in told
    assert told.count("\r") == 3, "two bars, and one cleared before the note"
    assert "a note\n" in told
    assert told.endswith("s: samples 3, energy change 0.123457\n")


def test_a_terminal_that_knows_no_blocks_gets_a_plain_bar():
    class Plain(Terminal):
        encoding = "ascii"

    stream = Plain()
    Reporter(stream=stream).progress(0.5, "große Brücke")
    assert "###" in stream.getvalue() and stream.getvalue().isascii()


def test_progress_is_told_at_most_20_times_a_second():
    stream = io.StringIO()
    reporter = Reporter(log_json=True, stream=stream)
    began = time.monotonic()
    while time.monotonic() - began < 0.3:
        reporter.progress(time.monotonic() - began)
    assert 1 <= len(events(stream.getvalue())) <= 7


def test_progress_is_not_told_twice(monkeypatch):
    stream = io.StringIO()
    clock = iter(range(100))
    monkeypatch.setattr("physics.reporting.time.monotonic", lambda: float(next(clock)))
    reporter = Reporter(log_json=True, stream=stream)
    for fraction, message in (
        (0.0, "compiling"),
        (0.0, "compiling"),
        (0.00001, ""),
        (0.0, "simulating"),
        (0.5, ""),
    ):
        reporter.progress(fraction, message)
    told = [(event["fraction"], event["message"]) for event in events(stream.getvalue())]
    assert told == [(0.0, "compiling"), (0.0, "simulating"), (0.5, "simulating")]


def test_quiet_tells_errors_only():
    for log_json in (False, True):
        stream = Terminal()
        reporter = Reporter(quiet=True, log_json=log_json, stream=stream)
        reporter.start("x")
        reporter.progress(1.0)
        reporter.message("note")
        reporter.done()
        assert stream.getvalue() == ""
        reporter.error(ph.ModelError("mass must be positive, got -1"))
        assert "mass must be positive, got -1" in stream.getvalue()


def test_convert_writes_a_model_file(tmp_path, capsys):
    from tests.physics.io.osim import body, coordinate, joint, write

    made = joint(
        "PinJoint", "elbow", "/ground", "arm", coordinate("flexion", "<default_value>0.4</default_value>")
    )
    source = write(tmp_path / "arm.osim", body("arm"), made, "<novelty>1</novelty>")
    out = tmp_path / "arm.json"
    assert main(["convert", str(source), "--out", str(out)]) == 0
    assert "warning: novelty is not read" in capsys.readouterr().err
    file = ph.load_model(out)
    assert file.state.q.tolist() == [0.4]
    assert file.extras["opensim"]["coordinates"] == {"flexion": "arm.angle"}
    assert main(["convert", str(tmp_path / "none.osim"), "--out", str(out)]) == 2
