"""Result files come back bit by bit, and say what is wrong with a bad one."""

import json
import os
import tracemalloc
import zipfile

import numpy as np
import pytest

import physics as ph
from physics.io import load_result, save_result
from physics.io.result_file import read_result
from physics.io.schema import load_schema
from tests.physics.generators import random_inertia, random_pose
from tests.physics.small_models import alone


@pytest.fixture(scope="module")
def result() -> ph.Result:
    rng = np.random.default_rng(3)
    builder = alone("arm", ph.joints.Hinge((0, 1, 0)), com=(0.1, 0, 0), inertia=np.eye(3) * 0.1)
    ball = {"mass": 0.5, "inertia": random_inertia(rng, 0.5), "body_in_joint": random_pose(rng)}
    builder.add_body("ball", "arm", joint=ph.joints.Spherical(), **ball)
    model = builder.build()
    return ph.simulate(model, model.state(qd=[1.0, 2.0, 3.0, 4.0]), duration=0.05, dt=1e-3, integrator="rk4")


@pytest.fixture
def parts(result, tmp_path):
    """Header and arrays of a good file, to be spoilt."""
    save_result(result, tmp_path / "good.npz")
    with np.load(tmp_path / "good.npz", allow_pickle=False) as archive:
        arrays = dict(archive)
    os.remove(tmp_path / "good.npz")
    return json.loads(str(arrays.pop("header"))), arrays


def write(path, header, arrays):
    np.savez(path, header=np.array(json.dumps(header)), **arrays)


def refused(path, says, data=None):
    """That a file, with this content if given, is refused with its name and these words."""
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(ph.FormatError, match=says) as caught:
        load_result(path)
    assert str(caught.value).startswith(str(path))


def test_a_result_comes_back_bit_by_bit(result, tmp_path):
    path = tmp_path / "motion.npz"
    save_result(result, path, extras={"scene": "knee"})
    back = load_result(path)
    assert back.model == result.model and back.info == result.info
    for name in ("t", "q", "qd", "poses", "energy"):
        ours, theirs = getattr(result, name), getattr(back, name)
        assert ours.shape == theirs.shape and ours.tobytes() == theirs.tobytes(), name
    assert list(back.rotations) == ["ball"]
    assert back.rotations["ball"].tobytes() == result.rotations["ball"].tobytes()
    file = read_result(path)
    assert file.extras == {"scene": "knee"} and file.diverged is None
    assert os.listdir(tmp_path) == ["motion.npz"]


def test_it_is_written_under_exactly_the_given_name(result, tmp_path):
    save_result(result, tmp_path / "motion")
    assert os.listdir(tmp_path) == ["motion"]
    assert len(load_result(tmp_path / "motion").t) == len(result.t)


def test_a_model_without_rotation_vectors_or_coordinates(tmp_path):
    model = alone("stone", ph.joints.Fixed()).build()
    still = ph.Result(model, np.array([0.0, 1.0]), np.empty((2, 0)), np.empty((2, 0)))
    save_result(still, tmp_path / "still.npz")
    back = load_result(tmp_path / "still.npz")
    assert back.q.shape == (2, 0) and back.rotations == {} and back.poses.shape == (2, 1, 4, 4)


def test_a_diverged_run_is_flagged_and_may_hold_what_is_not_finite(result, tmp_path):
    energy = np.array(result.energy)
    energy[-1, 0] = np.inf
    broken = ph.Result(result.model, result.t, result.q, result.qd, result.info)
    vars(broken)["_observed"] = (result.poses, energy)
    error = ph.DivergedError(0.03, "ball", "a coordinate is no longer finite", broken)
    save_result(broken, tmp_path / "broken.npz", diverged=error)
    file = read_result(tmp_path / "broken.npz")
    assert file.diverged == {"time": 0.03, "body": "ball", "reason": "a coordinate is no longer finite"}
    assert file.result.energy[-1, 0] == np.inf


def test_the_header_follows_the_published_schema(parts):
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is a tool of the tests")
    from referencing import Registry, Resource

    model, schema = load_schema("model"), load_schema("result")
    registry = Registry().with_resource("model.schema.json", Resource.from_contents(model))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema, registry=registry)
    validator.validate(parts[0])
    assert not validator.is_valid({**parts[0], "diverged": {"time": 1.0}})
    assert not validator.is_valid({**parts[0], "model": {"bodies": []}})


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"format": "condyle-model"}, 'not a condyle-result file: format is "condyle-model"'),
        ({"version": 2}, "version 2 is of a newer Condyle; this one reads up to 1"),
        ({"model": {}}, "model: the key 'bodies' is missing"),
        ({"surprise": 1}, "unknown key 'surprise'"),
        ({"diverged": {"time": 1.0}}, "diverged: the key 'body' is missing"),
        ({"rotations": []}, r"array 'rotations' must be float64 \(0, 51, 4\), got float64 \(1, 51, 4\)"),
        ({"info": None}, "info: must be an object, got null"),
    ],
)
def test_a_spoilt_header_is_refused(parts, tmp_path, changes, says):
    header, arrays = parts
    write(tmp_path / "spoilt.npz", {**header, **changes}, arrays)
    refused(tmp_path / "spoilt.npz", says)


def put(data, offset, byte):
    return data[:offset] + bytes([byte]) + data[offset + 1 :]


def with_nan(poses):
    poses[3, 1, 0, 0] = np.nan
    return poses


@pytest.mark.parametrize(
    ("name", "spoil", "says"),
    [
        ("poses", with_nan, r"array 'poses' is nan at \[3, 1, 0, 0\]"),
        ("q", lambda q: q[:-1], r"array 'q' must be float64 \(51, 4\), got float64 \(50, 4\)"),
        ("qd", lambda qd: qd.astype(np.float32), r"array 'qd' must be float64 \(51, 4\), got float32"),
        ("energy", None, "the array 'energy' is missing"),
        ("t", lambda t: np.array([{"code": 1}], dtype=object), r"'t\.npy' is not an array of numbers"),
    ],
)
def test_spoilt_arrays_are_refused(parts, tmp_path, name, spoil, says):
    header, arrays = parts
    array = arrays.pop(name)
    if spoil is not None:
        arrays[name] = spoil(array)
    write(tmp_path / "spoilt.npz", header, arrays)
    refused(tmp_path / "spoilt.npz", says)


def test_an_archive_without_our_header_is_refused(tmp_path):
    np.savez(tmp_path / "other.npz", t=np.zeros(3))
    refused(tmp_path / "other.npz", "it has no 'header'")
    np.savez(tmp_path / "other.npz", header=np.array("not json"))
    refused(tmp_path / "other.npz", "header: line 1 is not JSON")


@pytest.mark.parametrize(
    "data", [b"", b"solid teapot", b"PK\x03\x04 and nothing", b"\x93NUMPY\x01\x00v\x00{"]
)
def test_a_file_that_is_no_archive_is_refused(tmp_path, data):
    refused(tmp_path / "bad.npz", "not a result file, or truncated", data)


def test_a_file_cut_short_or_damaged_is_refused(result, tmp_path):
    path = tmp_path / "motion.npz"
    save_result(result, path)
    data = path.read_bytes()
    for length in range(1, len(data), len(data) // 23):
        refused(path, "", data[:length])
    at = data.index(result.q.tobytes()[64:96])
    refused(path, r"Bad CRC-32 for file 'q\.npy'", put(data, at, data[at] ^ 1))


def test_a_packed_result_is_read(result, parts, tmp_path):
    header, arrays = parts
    arrays["poses"] = np.asfortranarray(arrays["poses"])
    np.savez_compressed(tmp_path / "packed.npz", header=np.array(json.dumps(header)), **arrays)
    back = load_result(tmp_path / "packed.npz")
    assert np.array_equal(back.poses, result.poses) and np.array_equal(back.energy, result.energy)


def claiming(shape, size, kind="<f8"):
    """An array of zeros by what its header claims."""
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode() + bytes(size)


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("other.npy", claiming("(10000000,)", 80_000_000), r"unexpected entry 'other\.npy'"),
        ("efforts", b"", "unexpected entry 'efforts'"),
        ("efforts.txt", b"", r"unexpected entry 'efforts\.txt'"),
        ("efforts.npy", claiming("(51, 2000000)", 80), r"claims to be float64 \(51, 2000000\)"),
        ("efforts.npy", claiming("(999999999999999, 999999999999999)", 80), "claims to be"),
        ("efforts.npy", claiming("(51, 200000)", 51 * 1_600_000), r"'efforts' must be float64 \(51, 4\)"),
        ("efforts.npy", claiming("(3,)", 24)[:20], r"efforts\.npy' is not an array of numbers"),
        ("efforts.npy", claiming("(1" + "1" * 3000 + "x", 8), "is not an array of numbers"),
        ("efforts.npy", claiming("()", 16, "<c16"), "is not an array of numbers"),
    ],
)
def test_what_a_model_does_not_ask_for_is_not_unpacked(parts, tmp_path, name, data, says):
    """An 80 MB array packed to 80 kB is refused by its claim."""
    header, arrays = parts
    write(tmp_path / "large.npz", header, arrays)
    with zipfile.ZipFile(tmp_path / "large.npz", "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
    tracemalloc.start()
    refused(tmp_path / "large.npz", says)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5e6  # pieces of at most 1 MiB, and the model


def test_an_archive_of_countless_entries_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "many.npz", "w") as archive:
        for k in range(20_000):
            archive.writestr(f"an entry with some name {k}", b"")
    refused(tmp_path / "many.npz", "list of entries is too long")


def test_encrypted_entries_and_wrong_places_are_refused(result, tmp_path):
    path = tmp_path / "motion.npz"
    save_result(result, path)
    data = path.read_bytes()
    first = data.index(b"PK\x01\x02")  # of the list of entries
    refused(path, r"motion\.npz: 'header\.npy' is encrypted", put(data, first + 8, data[first + 8] | 1))
    for offset, method in ((first + 10, 99), (first + 10, 12), (first + 10, 14), (first + 44, 77)):
        refused(path, "", put(data, offset, method))
    end = data.index(b"PK\x05\x06")
    refused(path, "", data[: end + 16] + b"\xf0\xff\xff\x7f" + data[end + 20 :])
