"""Reads damaged files of every kind."""

import io
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

import physics as ph
from addon.batch.job_file import read as read_jobs
from physics.io.vtp import read_vtp
from physics.worker import protocol
from tests.fuzz.mechanisms import random_mechanism
from tests.fuzz.mutating import archive, changed, damaged, message
from tests.fuzz.sweeps import Try
from tests.physics.generators import random_state
from tests.physics.io.osim import BALL, CORD, DOCUMENT, body, coordinate, joint, offset
from tests.physics.io.test_vtp import VTP
from tests.physics.small_models import alone

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


def models(folder: Path) -> Kind:
    rng = np.random.default_rng(4)
    made = random_mechanism(rng, share=1.0)
    ph.save_model(made, folder / "whole", random_state(rng, made), {"duration": 1.0, "dt": 1e-3}, {"a": [1]})
    text = (folder / "whole").read_bytes()
    document = json.loads(text)
    whole = lambda rng: json.dumps(changed(rng, document)).encode()  # noqa: E731
    return lambda rng: damaged(rng, text) if rng.random() < 0.3 else whole(rng), ph.load_model


def results(folder: Path) -> Kind:
    builder = alone("ball", ph.joints.Spherical())
    still = ph.Result(builder.build(), np.arange(4.0), np.zeros((4, 3)), np.zeros((4, 3)), {"dt": 1.0})
    vars(still)["_observed"] = np.tile(np.eye(4), (4, 1, 1, 1)), np.zeros((4, 3))
    ph.save_result(still, folder / "whole")
    with np.load(folder / "whole") as found:
        arrays = dict(found)
    return partial(archive, header=json.loads(str(arrays.pop("header"))), arrays=arrays), ph.load_result


def osim(folder: Path) -> Kind:
    frames = offset("before", "/ground", "0.1 0.2 0.3", "0.3 -0.2 0.5") + offset("behind", "/bodyset/arm")
    joints = joint(
        "PinJoint", "elbow", "before", "behind", coordinate("flexion", "<range>-1 1</range>"), frames
    )
    joints += joint("PinJoint", "wrist", "arm", "hand", coordinate("twist", "<locked>true</locked>"))
    arm = body("arm", rest=BALL.format(at="0.1 0 0", radius=0.03, rest=""))
    joints += joint("CustomJoint", "slide", "hand", "tool", coordinate("way"), rest=SPATIAL)
    bodies = arm + body("hand") + body("tool")
    text = DOCUMENT.format(bodies=bodies, joints=joints, rest=CORD.format(wrap="")).encode()
    return partial(damaged, data=text, word=INSIDE), lambda path: ph.read_opensim(path).build()


def jobs(folder: Path) -> Kind:
    (folder / "a.blend").touch()
    return partial(damaged, data=JOBS), lambda path: read_jobs(path, {}, None, False)


def messages(folder: Path) -> Kind:
    arrays = [{"name": "x", "dtype": "<f8", "shape": [3, 4]}, {"name": "y", "dtype": "<i8", "shape": [0]}]
    header = {"id": 1, "kind": "ping", "job": {"a": [1, 2.5, None], "b": {"c": "text"}}, "arrays": arrays}
    make = partial(message, header=header, arrays=bytes(96))
    return make, lambda path: protocol.read_message(io.BytesIO(path.read_bytes()))


KINDS: dict[str, Callable[[Path], Kind]] = {
    "models": models,
    "results": results,
    "osim": osim,
    "tables": lambda _: (partial(damaged, data=TABLE), ph.read_storage),
    "surfaces": lambda _: (partial(damaged, data=VTP.encode(), word=INSIDE), read_vtp),
    "jobs": jobs,
    "messages": messages,
}


def fault(make: Callable[[np.random.Generator], bytes], read: Callable[[Path], object], seed: int) -> None:
    path = Path("damaged")
    path.write_bytes(make(np.random.default_rng(seed)))
    read(path)


def tries(rng: np.random.Generator, folder: Path) -> Iterator[Try]:
    kinds = {name: kind(folder) for name, kind in KINDS.items()}
    while True:
        for name, kind in kinds.items():
            seed = int(rng.integers(1 << 60))
            yield Try(name, f"seed {seed}", partial(fault, *kind, seed))
