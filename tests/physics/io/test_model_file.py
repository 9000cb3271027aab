"""Model files come back bit by bit, follow their published schema, and say what is wrong with a bad one."""

import copy
import json
import os
import re

import numpy as np
import pytest

import physics as ph
from physics.io import load_model, save_model
from physics.io.files import format_json, write_atomically
from physics.io.schema import load_schema
from tests.physics.generators import JOINT_KINDS, random_joint, random_state, random_tree, smooth_frames
from tests.physics.small_models import alone


def knee() -> ph.Model:
    rng = np.random.default_rng(0)
    builder = alone("femur", ph.joints.Fixed(), mass=8.0)
    shank = {"mass": 3.7, "com": (0.0, 0.0, -0.2), "inertia": np.diag([0.05, 0.05, 0.005]), "damping": 0.1}
    curve = ph.joints.SplineCurve(smooth_frames(rng, 8))
    builder.add_body("tibia", "femur", joint=curve, limits="range", **shank)
    return builder.build()


@pytest.fixture
def document(tmp_path):
    """The JSON of a good file, to be spoilt."""
    path = tmp_path / "good.json"
    model = knee()
    save_model(model, path, model.state(qd=[0.1]), {"duration": 1.0, "dt": 1e-3}, {"colour": "bone"})
    return json.loads(path.read_text())


def bits(value):
    """What two documents must share: floats by their bits, since -0.0 == 0.0."""
    return json.dumps(value, sort_keys=True)


@pytest.mark.parametrize("seed", range(20))
def test_random_trees_come_back_bit_by_bit(tmp_path, seed):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 12)
    state = random_state(rng, model)
    simulation = {"duration": rng.uniform(), "dt": 1e-3 * rng.uniform()}
    simulation["tau"] = rng.normal(size=model.num_coordinates)
    extras = {"note": "ü", "list": [1, 2.5, None, {"deep": [True]}], "tiny": 5e-324}
    save_model(model, tmp_path / "model.json", state, simulation, extras)
    back = load_model(tmp_path / "model.json")
    assert bits(back.model.to_dict()) == bits(model.to_dict())
    assert all(a.tobytes() == b.tobytes() for a, b in zip(back.model.arrays, model.arrays))
    for name in ("q", "qd", "chart"):
        assert getattr(back.state, name).tobytes() == getattr(state, name).tobytes()
    assert back.simulation == {**simulation, "tau": simulation["tau"].tolist()}
    assert bits(back.extras) == bits(extras)


@pytest.mark.parametrize("kind", JOINT_KINDS)
def test_every_joint_comes_back_bit_by_bit_and_has_a_schema(kind):
    """Reading normalizes axes and frames; what is normal already must not move by a bit."""
    rng = np.random.default_rng(5)
    for _ in range(50):
        joint = random_joint(rng, kind)
        text = json.dumps(joint.to_dict())
        assert json.dumps(ph.joints.from_dict(json.loads(text)).to_dict()) == text
    assert {"$ref": f"#/$defs/{joint.type}"} in load_schema("model")["$defs"]["joint"]["oneOf"]
    assert set(joint.to_dict()) <= set(load_schema("model")["$defs"][joint.type]["properties"])


def test_what_a_file_leaves_out_has_defaults(tmp_path):
    body = {"name": "bob", "joint": {"type": "hinge"}, "mass": 1, "inertia": np.eye(3).tolist()}
    path = tmp_path / "small.json"
    path.write_text(json.dumps({"format": "condyle-model", "version": 1, "bodies": [body]}))
    file = load_model(path)
    assert file.model.gravity.tolist() == [0.0, 0.0, -9.81]
    assert file.state.q.tolist() == [0.0] and file.simulation == {} and file.extras == {}


def test_a_state_may_be_given_by_body(tmp_path, document):
    document["state"] = {"q": {"tibia": 0.5}, "qd": {"tibia": [0.25]}, "time": 2}
    path = tmp_path / "model.json"
    path.write_text(json.dumps(document))
    state = load_model(path).state
    assert (state.q.tolist(), state.qd.tolist(), state.time) == ([0.5], [0.25], 2.0)


def test_files_with_a_byte_order_mark_are_read(tmp_path, document):
    path = tmp_path / "model.json"
    path.write_text(json.dumps(document), encoding="utf-8-sig")
    assert load_model(path).model == knee()


@pytest.mark.parametrize("seed", range(5))
def test_what_is_written_follows_the_published_schema(tmp_path, seed):
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is a tool of the tests")
    schema = load_schema("model")
    jsonschema.Draft202012Validator.check_schema(schema)
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 15)
    path = tmp_path / "model.json"
    save_model(model, path, random_state(rng, model), {"duration": 1.0, "record_interval": None}, {"a": 1})
    jsonschema.Draft202012Validator(schema).validate(json.loads(path.read_text()))


def spoil(document, place, value):
    """A copy with this value, or nothing, in a place given like ``bodies.1.mass``."""
    spoilt = container = copy.deepcopy(document)
    *way, key = (int(part) if part.isdigit() else part for part in place.split("."))
    for part in way:
        container = container[part]
    if value is MISSING:
        del container[key]
    else:
        container[key] = value
    return spoilt


MISSING = object()
SPOILT = [
    ("format", "condyle-result", 'not a condyle-model file: format is "condyle-result"'),
    ("format", MISSING, "not a condyle-model file: format is null"),
    ("version", 2, "version 2 is of a newer Condyle; this one reads up to 1"),
    ("version", 0, "version: must be 1, got 0"),
    ("version", True, "version: must be 1, got true"),
    ("version", "1", 'version: must be 1, got "1"'),
    ("version", MISSING, "the key 'version' is missing"),
    ("bodies", MISSING, "the key 'bodies' is missing"),
    ("bodies", [], r"bodies: needs at least 1 entries, got \[\]"),
    ("bodies", {}, "bodies: must be a list, got {}"),
    ("bodies.1", 3, r"bodies\[1\]: must be an object, got 3"),
    ("gravity", [0, 0], r"gravity: needs at least 3 entries, got \[0, 0\]"),
    ("gravity", [0, 0, 0, 0], "gravity: takes at most 3 entries, got 4"),
    ("gravity.2", "down", r'gravity\[2\]: must be a finite number, got "down"'),
    ("gravity.2", float("nan"), r"gravity\[2\]: must be a finite number, got nan"),
    ("gravity.2", float("inf"), r"gravity\[2\]: must be a finite number, got inf"),
    ("gravity.2", True, r"gravity\[2\]: must be a finite number, got true"),
    ("gravity.2", 10**400, r"gravity\[2\]: must be a finite number, got 1000"),
    ("grabity", [0, 0, 0], "unknown key 'grabity'; did you mean 'gravity'"),
    ("bodies.1.mas", 1, r"bodies\[1\]: unknown key 'mas'; did you mean 'mass'"),
    ("bodies.1.zzz", 1, r"bodies\[1\]: unknown key 'zzz'; known are armature, "),
    ("bodies.1.mass", MISSING, r"bodies\[1\]: the key 'mass' is missing"),
    ("bodies.1.mass", 0, r"bodies\[1\].mass: must be greater than 0, got 0"),
    ("bodies.1.mass", -2.5, r"bodies\[1\].mass: must be greater than 0, got -2.5"),
    ("bodies.1.mass", None, r"bodies\[1\].mass: must be a finite number, got null"),
    ("bodies.1.name", "", r'bodies\[1\].name: needs at least 1 entries, got ""'),
    ("bodies.1.name", 7, r"bodies\[1\].name: must be a text, got 7"),
    ("bodies.1.name", "femur", "femur"),
    ("bodies.1.parent", "hip", "parent 'hip' of body 'tibia' is missing"),
    ("bodies.1.parent", ["femur"], r"bodies\[1\].parent: must be a text or null"),
    ("bodies.0.parent", "tibia", r"their own ancestors \(a cycle\) among 'femur', 'tibia'"),
    ("bodies.1.inertia.0.0", -1, "inertia of body 'tibia' must be positive definite"),
    ("bodies.1.inertia.0.0", 9, "inertia of body 'tibia' breaks the triangle inequality"),
    ("bodies.1.inertia.2", [0, 0], r"bodies\[1\].inertia\[2\]: needs at least 3 entries"),
    ("bodies.1.damping", [1, 2], r"damping of body 'tibia' must have shape \(1,\), got \(2,\)"),
    ("bodies.1.damping", [-1], "damping of body 'tibia' must not be negative, got -1"),
    ("bodies.1.damping", "much", r'bodies\[1\].damping: must be a finite number or a list, got "much"'),
    ("bodies.1.limits", "none", r'bodies\[1\].limits: must be one of "range", got "none"'),
    ("bodies.1.limits", [[1, 0]], r"limits of body 'tibia' are empty or reversed: \[1, 0\]"),
    ("bodies.1.limits", [[0, "x"]], r'bodies\[1\].limits\[0\]\[1\]: must be a finite number or null, got "x"'),
    ("bodies.1.joint_in_parent.0.0", 2.0, "joint_in_parent of body 'tibia' has no proper rotation"),
    ("bodies.1.joint_in_parent", 4, r"bodies\[1\].joint_in_parent: must be a list or null, got 4"),
    ("bodies.1.joint.type", "elastic", r"bodies\[1\].joint: unknown type \"elastic\"; known are composite, "),
    ("bodies.1.joint.type", MISSING, r"bodies\[1\].joint: unknown type null"),
    ("bodies.1.joint", "hinge", r'bodies\[1\].joint: got "hinge"; known are'),
    ("bodies.1.joint.pitch", 0.1, r"bodies\[1\].joint: unknown key 'pitch'; known are axis, coordinate, cusp"),
    ("bodies.1.joint.frames", MISSING, r"bodies\[1\].joint: the key 'frames' is missing"),
    ("bodies.1.joint.frames.3.1.2", "x", r'bodies\[1\].joint.frames\[3\]\[1\]\[2\]: must be a finite number, got "x"'),
    ("bodies.1.joint.frames.3.3", [0, 0, 0, 2], "control frame 3 has a bad last row"),
    ("bodies.1.joint.order", 4.0, r"joint.order: must be a whole number, got 4.0"),
    ("bodies.1.joint.order", 21, r"joint.order: must be at most 20, got 21"),
    ("bodies.1.joint.knots", [0.0, 1.0], r"spline curve knots must have shape \(12,\), got \(2,\)"),
    ("bodies.1.joint.periodic", 0, r"joint.periodic: must be true or false, got 0"),
    ("bodies.1.joint.length_scale", 0, r"joint.length_scale: must be greater than 0, got 0"),
    ("state.q", [1, 2], r"q must have shape \(1,\), got \(2,\)"),
    ("state.q", {"hip": 1}, "no coordinate or body is named 'hip'"),
    ("state.q", {"tibia": "bent"}, 'state.q.tibia: must be a finite number or a list, got "bent"'),
    ("state.chart", [0], "state.chart: needs 2 entries, one per body, got 1"),
    ("state.chart", [2**70, 0], "state.chart: number too large"),
    ("state.speed", 1, "state: unknown key 'speed'"),
    ("simulation.dt", -1, "simulation.dt: must be greater than 0, got -1"),
    ("simulation.duration", float("nan"), "simulation.duration: must be a finite number, got nan"),
    ("simulation.integrater", "rk4", "simulation: unknown key 'integrater'; did you mean 'integrator'"),
    ("extras", [], r"extras: must be an object, got \[\]"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("place", "value", "says"), SPOILT, ids=[f"{row[0]}={str(row[1])[:12]}" for row in SPOILT]
)
def test_a_spoilt_file_is_refused_with_place_and_value(tmp_path, document, place, value, says):
    path = tmp_path / "spoilt.json"
    path.write_text(json.dumps(spoil(document, place, value)))
    with pytest.raises((ph.FormatError, ph.ModelError), match=says) as caught:
        load_model(path)
    assert str(caught.value).startswith(str(path)), "the message names the file first"


def test_what_our_check_refuses_the_published_schema_refuses_too(document):
    """... but for numbers that JSON cannot say, and for what only the model itself can judge."""
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is a tool of the tests")
    validator = jsonschema.Draft202012Validator(load_schema("model"))
    validator.validate(document)
    ours = "must be|needs at least|takes at most|unknown key|unknown type|is missing|got .hinge"
    judged_later = "of body|state.chart: needs|spline curve|got nan|got inf|got 1000|got 4.0"
    for place, value, says in SPOILT:
        if re.search(ours, says) and not re.search(judged_later, says):
            assert not validator.is_valid(spoil(document, place, value)), place


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "the file is empty"),
        (b"  \n", "the file is empty"),
        (b"\xff\xfe\x00", "not a text file"),
        (b"[1, 2]", "must be an object, got a list"),
        (b'{"format": "condyle-model", "format": 1}', "duplicate key 'format'"),
        (b"{" * 100_000, "JSON"),
        (b"[" * 100_000, "unsupported JSON"),
        (b'{"version": ' + b"9" * 5000 + b"}", "unsupported JSON"),
        (b"solid teapot", "line 1 is not JSON"),
    ],
)
def test_a_file_that_is_no_json_object_is_refused(tmp_path, data, says):
    path = tmp_path / "bad.json"
    path.write_bytes(data)
    with pytest.raises(ph.FormatError, match=says):
        load_model(path)


def test_a_file_cut_short_anywhere_is_refused(tmp_path, document):
    text = json.dumps(document)
    path = tmp_path / "short.json"
    for length in range(1, len(text) - 1, 97):
        path.write_text(text[:length])
        with pytest.raises(ph.FormatError, match=r"short\.json.*(line 1 is not JSON|truncated)"):
            load_model(path)


def test_a_file_that_is_not_there_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_model(tmp_path / "nowhere.json")


@pytest.mark.parametrize(
    ("keywords", "says"),
    [
        ({"simulation": {"dt": float("nan")}}, "simulation.dt: must be a finite number, got nan"),
        ({"simulation": {"speed": 1}}, "simulation: unknown key 'speed'"),
        ({"extras": {"x": float("inf")}}, "extras are not JSON"),
        ({"extras": {"x": {1}}}, "extras are not JSON"),
    ],
)
def test_what_the_format_cannot_hold_is_not_written(tmp_path, keywords, says):
    path = tmp_path / "model.json"
    path.write_text("what was here")
    with pytest.raises(ph.FormatError, match=says):
        save_model(knee(), path, **keywords)
    assert path.read_text() == "what was here"
    assert os.listdir(tmp_path) == ["model.json"]


def test_an_error_while_writing_leaves_the_file_as_it_was(tmp_path):
    path = tmp_path / "model.json"
    path.write_text("what was here")
    with pytest.raises(KeyboardInterrupt), write_atomically(path) as temporary:
        temporary.write_text("half")
        assert temporary.parent == path.parent and temporary.suffix == ".json"
        raise KeyboardInterrupt
    assert path.read_text() == "what was here"
    assert os.listdir(tmp_path) == ["model.json"]


def test_the_text_is_made_for_readers():
    value = {"a": [[1.0, -0.0], [0.1, 5e-324]], "b": {}, "c": [], "d": [{"e": "é"}]}
    text = format_json(value)
    assert json.loads(text) == value
    assert "[1.0, -0.0],\n" in text
