"""Models stay as they are, bad numbers are refused, and kernels are compiled once."""

import sys

import numpy as np
import pytest

import physics as ph
from physics.kernels.compiler import jit
from tests.fuzz import arguments


@pytest.mark.parametrize("name", ["gravity", "bodies", "arrays", "body_frames", "surprise"])
def test_a_model_cannot_be_changed(name):
    model, before = arguments.FREE, arguments.FREE.to_dict()
    with pytest.raises(ph.ModelError, match=name):
        setattr(model, name, np.zeros(3))
    with pytest.raises(ph.ModelError, match=name):
        delattr(model, name)
    assert model.to_dict() == before


def test_arrays_of_models_and_joints_are_read_only():
    model = arguments.MODEL
    arrays = [*model.arrays, *model.body_frames, model.gravity, model.prescribed, model.contact_pairs]
    for array in [*arrays, *arguments.CURVE._spans]:
        assert not array.flags.writeable


def test_masked_entries_are_not_taken_for_numbers():
    masked = np.ma.masked_array([0.0, 0.0, 9.81], [False, False, True])
    with pytest.raises(ph.ModelError, match="gravity"):
        ph.ModelBuilder(gravity=masked)


@pytest.mark.parametrize("value", [np.ones(4), [1.0, np.nan, 0.0], "text", None])
def test_rotations_and_motions_check_shape_and_finiteness(value):
    with pytest.raises(ph.ModelError, match=r"r must"):
        ph.lie.so3_exp(value)
    with pytest.raises(ph.ModelError, match=r"rd must"):
        ph.exponential_coordinates.body_velocity(np.zeros(3), value)


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("keyframe_table", {"interval": 1e-320}, "interval"),
        ("MODEL.state", {"q": np.array([0.0, 0.0, 1e308, 1e308])}, "rotation vector"),
        ("inverse_dynamics_of_samples", {"smoothing": 1e308}, "weight inf"),
        ("inverse_dynamics_of_samples", {"q": np.full((12, 4), -1e308), "smoothing": 0.1}, "1e"),
    ],
)
def test_what_overflows_is_refused(name, given, said, tmp_path):
    calls = {known: (function, valid) for known, function, valid in arguments.all_calls(tmp_path)}
    function, valid = calls[name]
    with pytest.raises(ph.ModelError, match=said):
        function(**valid | given)


@pytest.mark.parametrize("length", [1e-320, 1e-170, 1e-100, 1e100, 1e300])
def test_a_projection_ends_at_any_length_scale(length):
    """At 1e-320 its curvature is not finite, and no damping ever made it positive."""
    try:
        found = ph.project(arguments.CURVE, arguments.POSES, length_scale=length)
    except ph.ModelError as error:
        assert "length_scale" in str(error)
    else:
        assert np.isfinite(found.q).all()


def test_read_only_arrays_compile_nothing_anew():
    if jit.LINKING is None:
        pytest.skip("kernels run uncompiled")
    model, state, joint = arguments.FREE, arguments.AT, arguments.CURVE
    q, tau, poses = np.array(state.q), np.zeros(model.num_coordinates), np.array(arguments.POSES)

    def call(q: np.ndarray, tau: np.ndarray, poses: np.ndarray) -> None:
        own = model.state(q)
        for given in (own, ph.State(q, tau, 0.0, np.array(own.chart))):
            ph.forward_dynamics(model, given, tau)
            ph.inverse_dynamics(model, given, tau)
            ph.mass_matrix(model, given)
            ph.simulate(model, given, 0.002, tau=tau)
            ph.Result(model, np.zeros(1), q[None], tau[None]).poses
        ph.project(joint, poses)
        joint.transform(q[:1])

    call(q, tau, poses)
    before = _signatures()
    for array in (q, tau, poses):
        array.flags.writeable = False
    call(q, tau, poses)
    assert len(before) > 5
    assert _signatures() == before


def _signatures() -> dict[str, int]:
    """The number of compiled signatures of each kernel that Python has called."""
    counts = {}
    for name, module in list(sys.modules.items()):
        if name.startswith("physics.kernels."):
            for kernel in vars(module).values():
                if isinstance(kernel, jit.LINKING.Kernel) and "entry" in vars(kernel):
                    function = kernel.py_func
                    counts[f"{function.__module__}.{function.__name__}"] = len(kernel.entry.signatures)
    return counts


def far(values, at):
    """A copy with one number whose square is no finite one."""
    copy = np.array(values, dtype=float)
    copy[at] = 1e300
    return copy


PLACES = np.stack(np.meshgrid(np.arange(3.0), np.arange(3.0)), axis=-1).reshape(-1, 2)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ph.fit_curve(far(arguments.POSES, (3, 0, 3)), num_frames=4), "poses must be at most"),
        (lambda: ph.fit_surface(arguments.POSES, far(PLACES, (8, 0)), num_frames=4), "q must be at most"),
        (lambda: ph.fit_surface(arguments.POSES, PLACES, num_frames=np.array(0.5)), "num_frames"),
        (lambda: ph.project(arguments.CURVE, np.eye(4), metric=far(np.eye(6), (1, 1))), "metric must be at most"),
        (lambda: arguments.MODEL.state(muscle_states=np.array(0.5)), "muscle_states"),
        (lambda: ph.inverse_dynamics_of_samples(arguments.MODEL, far(np.arange(9.0), 8), np.zeros(9)), "times"),
    ],
)  # fmt: skip
def test_numbers_too_large_and_arrays_without_dimension_are_named(call, words):
    with pytest.raises((ph.ModelError, ph.FitError), match=words):
        call()
