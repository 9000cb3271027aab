"""Damaged files of every kind end in the documented errors, in little time and memory.

``--fuzz-seconds`` says how long in all, ``--fuzz-seed`` where to begin; a failure names its seed and its file.
"""

from __future__ import annotations

import io
import itertools
import json
import time
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import physics as ph
from physics.io.limits import MEMORY_BYTES, SECONDS
from physics.io.vtp import read_vtp
from physics.worker import protocol
from tests.fuzz.mutating import archive, changed, damaged, message
from tests.physics.generators import random_state, random_tree
from tests.physics.io.osim import DOCUMENT, body, coordinate, joint, offset
from tests.physics.io.test_opensim import BALL, CORD
from tests.physics.io.test_vtp import VTP

resource = pytest.importorskip("resource", reason="peaks of memory are known on Unix")
pytestmark = pytest.mark.slow

TABLE = b"a\nnRows=2\nnColumns=3\ninDegrees=yes\nendheader\ntime\ta\tb\n0\t0.5\t-2e-3\n1\t1\t2\n"
JOBS = b"""format = "condyle-jobs"
version = 1
defaults = { out = "baked", timeout = 60, simulation = { time_step = 0.001, integrator = "rk4" } }
[[jobs]]
input = "a.blend"
name = "first"
frames = [1, 20]
joints."Knee.L".coordinates.1.damping = 0.5
extras = { note = [1, 2.5, "text", 2024-01-01, true] }
"""
AXIS = """<TransformAxis name="{}"><coordinates>way</coordinates><axis>{}</axis>
<SimmSpline><x>-1 0 1</x><y>0 0.1 0.3</y></SimmSpline></TransformAxis>"""
STILL = '<TransformAxis name="{}"><axis>{}</axis><Constant><value>0.1</value></Constant></TransformAxis>'
UNITS = ("1 0 0", "0 1 0", "0 0 1")
AXES = [(f"{kind}{k}", unit) for kind in ("rotation", "translation") for k, unit in enumerate(UNITS, 1)]
TURNING = [AXIS.format(*AXES[0]), *(STILL.format(*each) for each in AXES[1:])]
SPATIAL = f"<SpatialTransform>{''.join(TURNING)}</SpatialTransform>"
INSIDE = rb'(?<=[>" ])[\w.+/-]+(?=[<" ])'  # words of texts and attributes in XML
Kind = tuple[Callable[[np.random.Generator], bytes], Callable[[Path], object]]


def models(folder: Path, _: Any) -> Kind:
    rng = np.random.default_rng(4)
    builder = ph.ModelBuilder.from_dict(random_tree(rng, 6).to_dict())
    a, b, c = (known.name for known in builder.bodies[:3])
    builder.add_input("pull", 2.0)
    builder.add_spring("spring", a, (0, 0, 0), None, (0, 0, 1), stiffness=3.0)
    builder.add_force("force", b, (0, 0, 1), "pull")
    builder.add_ground("ground", c, [(0, 0, 0)], stiffness=1e3)
    builder.add_contact("contact", a, [(0, 0, 0.1)], ph.contacts.Plane(), friction=0.5)
    builder.add_constraint("pin", ph.constraints.PointConstraint(a, c))
    ends = ph.muscles.PathPoint(a, (0, 0, 0)), ph.muscles.PathPoint(b, (0, 0.1, 0))
    wrap = ph.muscles.Wrap([ph.muscles.Sphere(radius=0.01, body=a)])
    builder.add_muscle("muscle", [ends[0], wrap, ends[1]], mass=0.1, tension="pull")
    made = builder.build()
    ph.save_model(made, folder / "whole", random_state(rng, made), {"duration": 1.0, "dt": 1e-3}, {"a": [1]})
    text = (folder / "whole").read_bytes()
    document = json.loads(text)
    whole = lambda rng: json.dumps(changed(rng, document)).encode()  # noqa: E731
    return lambda rng: damaged(rng, text) if rng.random() < 0.3 else whole(rng), ph.load_model


def results(folder: Path, _: Any) -> Kind:
    builder = ph.ModelBuilder()
    builder.add_body("ball", joint=ph.joints.Spherical(), mass=1.0, inertia=np.eye(3))
    still = ph.Result(builder.build(), np.arange(4.0), np.zeros((4, 3)), np.zeros((4, 3)), {"dt": 1.0})
    vars(still)["_observed"] = np.tile(np.eye(4), (4, 1, 1, 1)), np.zeros((4, 3))
    ph.save_result(still, folder / "whole")
    with np.load(folder / "whole") as found:
        arrays = dict(found)
    return partial(archive, header=json.loads(str(arrays.pop("header"))), arrays=arrays), ph.load_result


def osim(folder: Path, _: Any) -> Kind:
    frames = offset("before", "/ground", "0.1 0.2 0.3", "0.3 -0.2 0.5") + offset("behind", "/bodyset/arm")
    joints = joint(
        "PinJoint", "elbow", "before", "behind", coordinate("flexion", "<range>-1 1</range>"), frames
    )
    joints += joint("PinJoint", "wrist", "arm", "hand", coordinate("twist", "<locked>true</locked>"))
    arm = body("arm", rest=BALL.format(at="0.1 0 0", radius=0.03))
    joints += joint("CustomJoint", "slide", "hand", "tool", coordinate("way"), rest=SPATIAL)
    bodies = arm + body("hand") + body("tool")
    text = DOCUMENT.format(bodies=bodies, joints=joints, rest=CORD.format(wrap="")).encode()
    return partial(damaged, data=text, word=INSIDE), lambda path: ph.read_opensim(path).build()


def jobs(folder: Path, request: Any) -> Kind:
    read = request.getfixturevalue("part")("batch.job_file").read
    (folder / "a.blend").touch()
    return partial(damaged, data=JOBS), lambda path: read(path, {}, None, False)


def messages(folder: Path, _: Any) -> Kind:
    arrays = [{"name": "x", "dtype": "<f8", "shape": [3, 4]}, {"name": "y", "dtype": "<i8", "shape": [0]}]
    header = {"id": 1, "kind": "ping", "job": {"a": [1, 2.5, None], "b": {"c": "text"}}, "arrays": arrays}
    make = partial(message, header=header, arrays=bytes(96))
    return make, lambda path: protocol.read_message(io.BytesIO(path.read_bytes()))


KINDS: dict[str, Callable[[Path, Any], Kind]] = {
    "models": models,
    "results": results,
    "osim": osim,
    "tables": lambda *_: (partial(damaged, data=TABLE), ph.read_storage),
    "surfaces": lambda *_: (partial(damaged, data=VTP.encode(), word=INSIDE), read_vtp),
    "jobs": jobs,
    "messages": messages,
}


def peak() -> int:
    """The most memory that this process has had [bytes]."""
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * 1024


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
def test_damaged_files(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    make, read = KINDS[kind](tmp_path, request)
    used = request.getfixturevalue("ph") if kind == "jobs" else ph
    first, path = int(request.config.getoption("--fuzz-seed")), tmp_path / "damaged"
    ended = time.monotonic() + float(request.config.getoption("--fuzz-seconds")) / len(KINDS)
    before, slowest, refused, seed = peak(), 0.0, 0, first
    for seed in itertools.count(first):
        if time.monotonic() > ended:
            break
        path.write_bytes(make(np.random.default_rng([list(KINDS).index(kind), seed])))
        began = time.process_time()
        try:
            read(path)
        except (used.FormatError, used.ModelError) as error:
            refused += 1
            assert len(str(error)) < 3000, f"{kind}, seed {seed}: an endless message"
        except Exception:
            pytest.fail(f"{kind}, seed {seed}, {path}:\n{traceback.format_exc()[-3000:]}")
        slowest = max(slowest, time.process_time() - began)
        assert slowest < SECONDS, f"{kind}, seed {seed}, {path}: {slowest:.1f} s"
        assert peak() - before < MEMORY_BYTES, (
            f"{kind}, seed {seed}, {path}: {(peak() - before) / 2**20:.0f} MiB"
        )
    count, memory = seed - first, (peak() - before) / 2**20
    print(f"\n{kind}: seeds from {first}, {refused} of {count} refused, {slowest:.2f} s, {memory:.0f} MiB")
    assert count // 10 < refused < count
