"""The compute process: starts fast, survives bad jobs, its death is told, and it ends with its parent."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from physics import joints
from physics.errors import CancelledError, FormatError
from physics.worker import client as worker
from physics.worker import protocol, source

PHYSICS = Path(worker.__file__).parents[1]

HANG = 300.0  # seconds: an end for what would never end, not a measure


@pytest.fixture(autouse=True)
def own_name(monkeypatch):
    """Here the package has the name in the process that it has for users, not that of `tests.compute_process`."""
    monkeypatch.setattr(worker, "worker_command", worker.worker_command.__wrapped__)


def unjitted(**options):
    return closing(worker.WorkerClient(environment=worker.worker_environment(jit=False), **options))


@pytest.fixture
def client():
    with unjitted() as client:
        yield client


def until(condition, seconds=HANG):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.005)


def freeze(pid):
    """Stop all threads of a process, so that it cannot answer until it gets SIGCONT."""
    os.kill(pid, signal.SIGSTOP)
    tasks = Path(f"/proc/{pid}/task")
    if tasks.is_dir():
        until(lambda: all(state(task) == "T" for task in tasks.iterdir()))
    else:
        time.sleep(0.05)


def state(process):
    """The letter by which /proc tells what a process or thread does."""
    return (process / "stat").read_text().rpartition(")")[2].split()[0]


@pytest.fixture
def frozen(client):
    """The client of a process that does not answer until it is thawed."""
    client.submit("ping").wait(HANG)
    freeze(client.hello["pid"])
    return client


def thaw(client):
    os.kill(client.hello["pid"], signal.SIGCONT)


def start_raw(command=None, **options):
    """A process without our client around it."""
    pipe = subprocess.PIPE
    environment = {**os.environ, **worker.worker_environment(jit=False)}
    command = command or worker.worker_command()
    options = {"env": environment, "stdin": pipe, "stdout": pipe, "stderr": pipe, **options}
    return subprocess.Popen(command, **options)


def test_it_says_who_it_is(client):
    answer = client.submit("ping", {"x": [1, 2.5, None]}, {"a": np.arange(3.0)}).wait(HANG)
    assert answer.header["echo"] == {"x": [1, 2.5, None]}
    assert answer.arrays["a"].tolist() == [0.0, 1.0, 2.0]
    assert client.hello["pid"] != os.getpid() and client.hello["protocol"] == protocol.VERSION
    assert client.hello["numpy"] == np.__version__ and client.hello["jit"] is False


@pytest.mark.parametrize("same", [True, False])
def test_a_process_started_by_a_command_must_run_the_same_code(same):
    """``python -m physics worker`` behind any prefix, as "env" here or "ssh HOST" elsewhere."""
    command = ["env", "CONDYLE_JIT=0", sys.executable, "-m", "physics", "worker"]
    with closing(worker.WorkerClient(command, {}, source=source.digest() if same else "0" * 16)) as client:
        job = client.submit("ping", {"x": 1.0})
        if same:
            assert job.wait(HANG).header["echo"] == {"x": 1.0}
        else:
            with pytest.raises(worker.WorkerError, match=f"runs other code .{source.digest()}.") as caught:
                job.wait(HANG)
            assert caught.value.kind == "WorkerDied" and not client.running


def test_its_start_imports_nothing_slow():
    """0.11 s on a quiet machine; numba and SciPy take a second each."""
    python, *rest = worker.worker_command()
    _, told = start_raw([python, "-X", "importtime", *rest]).communicate(timeout=HANG)
    imported = {line.rpartition("|")[2].strip().split(".")[0] for line in told.decode().splitlines()}
    assert "numpy" in imported
    assert not imported & {"numba", "llvmlite", "scipy", "matplotlib"}


@pytest.mark.parametrize("name", ["OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"])
def test_linear_algebra_has_one_thread_unless_the_user_says_otherwise(monkeypatch, name):
    """Threads that wait for each other took all the time of fits on a machine with other work."""
    monkeypatch.delenv(name, raising=False)
    assert worker.worker_environment()[name] == "1"
    monkeypatch.setenv(name, "4")
    assert name not in worker.worker_environment()


def test_starting_and_submitting_do_not_wait(frozen):
    array = np.zeros(4_000_000)  # far more than a pipe holds
    job = frozen.submit("ping", arrays={"a": array})  # nobody reads it
    assert not job.finished and job.state == "queued"
    thaw(frozen)
    assert job.wait(HANG).arrays["a"].nbytes == array.nbytes


def test_poll_never_waits_and_jobs_finish_in_order(frozen):
    jobs = [frozen.submit("ping", {"number": k}) for k in range(20)]
    assert not jobs[-1].poll()
    thaw(frozen)
    until(lambda: jobs[-1].poll())
    for k, job in enumerate(jobs):
        assert job.poll() and job.state == "done" and job.progress == 1.0
        assert job.result.header["echo"] == {"number": k}


def test_an_unknown_kind_is_told_and_the_process_serves_on(client):
    job = client.submit("make_coffee")
    with pytest.raises(worker.WorkerError, match="unknown kind of job 'make_coffee'; known are") as caught:
        job.wait(HANG)
    assert job.state == "failed" and job.error is caught.value and caught.value.kind == "FormatError"
    assert client.submit("ping").wait(HANG)


def test_what_cannot_be_sent_is_refused_before_anything_starts(client):
    with pytest.raises(FormatError, match="not JSON"):
        client.submit("ping", {"x": float("nan")})
    assert not client.running


def test_a_command_that_does_not_exist_is_told():
    client = worker.WorkerClient(["/no/such/python"])
    with pytest.raises(worker.WorkerError, match="did not start") as caught:
        client.submit("ping")
    assert caught.value.kind == "WorkerDied"


def test_an_interpreter_without_numpy_tells_its_last_words(tmp_path):
    command = [sys.executable, "-I", "-S", str(PHYSICS / "worker" / "main.py")]
    client = worker.WorkerClient(command)
    with pytest.raises(worker.WorkerError, match="ended unexpectedly") as caught:
        client.submit("ping").wait(HANG)
    assert caught.value.details["exit_code"] == 1
    assert "No module named 'numpy'" in str(caught.value)


def test_a_killed_process_is_told_and_a_new_one_starts(frozen):
    pid = frozen.hello["pid"]
    jobs = [frozen.submit("ping"), frozen.submit("ping")]
    os.kill(pid, signal.SIGKILL)
    for job in jobs:
        with pytest.raises(worker.WorkerError, match=r"ended unexpectedly \(signal 9\)") as caught:
            job.wait(HANG)
        assert caught.value.kind == "WorkerDied" and caught.value.details["exit_code"] == -9
    assert not frozen.running
    assert frozen.submit("ping").wait(HANG)
    assert frozen.hello["pid"] != pid


PIPE_ENDS_US = """
import signal, sys
from physics.worker import client as worker
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
dead = worker.WorkerClient([sys.executable, "-c", "import os; os.close(0); import time; time.sleep(0.5)"])
try:
    for _ in range(50):
        dead.submit("ping", arrays={"a": __import__("numpy").zeros(100000)})
    dead.submit("ping").wait(300)
except worker.WorkerError as error:
    print("told:", error.kind)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a signal of POSIX")
def test_a_write_to_a_dead_process_does_not_end_a_host_that_leaves_sigpipe_alone():
    """Blender 4.3 is one: its Python does not ignore the signal."""
    done = subprocess.run(
        [sys.executable, "-c", PIPE_ENDS_US], cwd=PHYSICS.parent, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0 and "told: WorkerDied" in done.stdout, done.stderr


def test_a_fault_in_native_code_leaves_its_trace(client):
    client.submit("ping").wait(HANG)
    job = client.submit("warm_up")  # takes tenths of a second: it cannot be done before the fault
    os.kill(client.hello["pid"], signal.SIGSEGV)
    with pytest.raises(worker.WorkerError, match="Segmentation fault"):
        job.wait(HANG)


def test_cancelling_a_waiting_job_is_immediate(frozen):
    first, second = frozen.submit("ping", {"n": 1}), frozen.submit("ping", {"n": 2})
    first.cancel()
    assert first.state == "cancelled" and first.finished
    with pytest.raises(CancelledError):
        first.wait(1)
    thaw(frozen)
    assert second.wait(HANG).header["echo"] == {"n": 2}
    assert first.result is None


def test_waiting_has_an_end(frozen):
    job = frozen.submit("ping")
    with pytest.raises(TimeoutError, match=r"ping: no answer within 0\.05 s"):
        job.wait(0.05)
    thaw(frozen)
    assert job.wait(HANG)


def test_closing_ends_process_and_jobs_and_can_be_done_twice(frozen):
    pid = frozen.hello["pid"]
    job = frozen.submit("ping")
    frozen.close(timeout=0.1)  # it does not react, so it is killed
    frozen.close()
    assert job.poll() and job.state == "cancelled"
    assert not frozen.running and frozen.hello is None
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_closed_client_starts_a_fresh_process(client):
    client.submit("ping").wait(HANG)
    pid = client.hello["pid"]
    client.close()
    client.start()
    assert client.submit("ping").wait(HANG).header["pid"] != pid


def test_it_ends_when_stdin_closes():
    process = start_raw()
    assert protocol.read_message(process.stdout).header["event"] == "hello"
    process.stdin.close()
    assert process.wait(HANG) == 0


PARENT = """
import subprocess, sys, time
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
child.stdout.read(1)
print(child.pid, flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs /proc to see another's child")
def test_it_ends_when_its_parent_is_killed():
    parent = start_raw([sys.executable, "-c", PARENT, *worker.worker_command()])
    child = Path("/proc", str(int(parent.stdout.readline())))
    parent.kill()
    parent.communicate(timeout=HANG)
    until(lambda: not child.exists() or state(child) == "Z")


ODD = [{}, {"id": "1", "kind": "ping"}, {"id": True, "kind": "ping"}, {"id": 1, "kind": "ping", "job": 3}]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"GET / HTTP/1.1\r\nHost: nobody\r\n", b"starts with b'GET '"),
        *((b"".join(map(bytes, protocol.encode(header))), b"a request needs a number") for header in ODD),
    ],
)
def test_what_makes_no_sense_on_stdin_ends_it_with_a_reason(data, says):
    process = start_raw()
    out, _ = process.communicate(data, timeout=HANG)
    assert process.returncode == 2 and says in out


def test_answers_that_are_no_protocol_are_told():
    liar = "print('hello, I am a shell profile that prints', flush=True); import time; time.sleep(60)"
    client = worker.WorkerClient([sys.executable, "-c", liar])
    with pytest.raises(worker.WorkerError, match="invalid answer: not a message"):
        client.submit("ping").wait(HANG)
    assert not client.running


def test_ctrl_c_in_the_terminal_is_the_parents_business(client):
    client.submit("ping").wait(HANG)
    os.kill(client.hello["pid"], signal.SIGINT)
    assert client.submit("ping").wait(HANG)


@pytest.mark.small
def test_it_runs_under_any_package_name_and_beside_a_foreign_physics(tmp_path):
    """As in a built extension, where another add-on's `physics` lies on the path."""
    shutil.copytree(PHYSICS, tmp_path / "extension" / "engine", ignore=shutil.ignore_patterns("__pycache__"))
    foreign = tmp_path / "foreign"
    (foreign / "physics").mkdir(parents=True)
    for name in ("physics/__init__", "protocol", "server", "client", "jobs", "condyle_physics"):
        (foreign / f"{name}.py").write_text("raise RuntimeError('a foreign module was imported')\n")
    main = tmp_path / "extension" / "engine" / "worker" / "main.py"
    environment = {"PYTHONPATH": str(foreign), "CONDYLE_JIT": "0", "CONDYLE_PATHS": str(foreign)}
    paths = [argument for path in worker.library_paths() for argument in ("--path", path)]
    for isolation in ("-I", "-s"):  # with -s PYTHONPATH counts, and the script's own folder leads the path
        command = [sys.executable, isolation, str(main), "--path", str(foreign), *paths]
        with closing(worker.WorkerClient(command, environment)) as client:
            assert client.submit("ping", {"n": 1}).wait(HANG).header["echo"] == {"n": 1}
            poses = joints.Hinge().transform([[0.5]])
            answer = client.submit("project", {"joint": {"type": "hinge"}}, {"poses": poses})
            np.testing.assert_allclose(answer.wait(HANG).arrays["q"], [[0.5]], rtol=1e-12)


def test_paths_that_make_no_sense_are_refused():
    process = start_raw([*worker.worker_command(paths=()), "--path"])
    out, err = process.communicate(timeout=HANG)
    assert process.returncode == 2 and b"usage: main.py [--path FOLDER ...]" in err and out == b""


def test_prints_and_warnings_do_not_disturb_the_protocol(tmp_path):
    """A copy whose joints print and warn: both reach the last words, and the answers stay whole."""
    shutil.copytree(PHYSICS, tmp_path / "engine", ignore=shutil.ignore_patterns("__pycache__"))
    jobs = tmp_path / "engine" / "worker" / "jobs.py"
    noise = "import os, warnings\nprint('noise')\nos.write(1, b'native noise\\n')\nwarnings.warn('noise')\n"
    jobs.write_text(jobs.read_text().replace("import time\n", "import time\n" + noise, 1))
    main = {str(PHYSICS / "worker" / "main.py"): str(jobs.with_name("main.py"))}
    command = [main.get(word, word) for word in worker.worker_command()]
    with closing(worker.WorkerClient(command, worker.worker_environment(jit=False))) as client:
        job = client.submit("project", {"joint": {"type": "hinge"}}, {"poses": np.eye(4)[None]})
        assert job.wait(HANG).arrays["q"].tolist() == [[0.0]]


def test_nothing_is_left_running_or_listening():
    """No thread of ours outlives its process for long."""
    before = threading.active_count()
    with unjitted() as client:
        client.submit("ping").wait(HANG)
    until(lambda: threading.active_count() <= before, 2.0)
