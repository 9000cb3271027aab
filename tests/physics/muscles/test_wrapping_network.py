"""Paths over a cylinder from a trained network, the one that comes with the package, and its training."""

from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest

import physics as ph
from physics.errors import ModelError
from physics.io.files import read_json
from physics.io.schema import load_schema
from physics.kernels.layout import MUSCLE_BITS, NETWORK_BITS
from physics.kernels.wrapping.layout import ALONG_NODES
from physics.muscles import Cylinder, Obstacle, PathPoint, Sphere, Wrap, network
from physics.muscles.network import Network
from physics.optimize.gradient import Motion as Simulated
from physics.optimize.gradient import make_task
from tests.physics.optimize.problems import errors
from tests.tools import train_wrap_network

from .strands import Motion, at_rest, largest_error, solve

RADIUS = 0.2
INSIDE = np.array([[0.3, -0.4, 0.1], [0.5, 0.6, -0.2]])
OUTSIDE = 8.0 * INSIDE
MIRROR = np.array([1.0, -1.0, 1.0])
# few and narrow: its derivatives must be right, its places need not be
SMALL = Network(2, 8, np.random.default_rng(3).normal(size=130), points=5)


def over(trained: Network | None, side: str = "counterclockwise", **options: Any) -> Wrap:
    return Wrap(Cylinder(radius=RADIUS, side=side, **options), 1e-2, trained)


@pytest.mark.parametrize("side", ["counterclockwise", "clockwise"])
@pytest.mark.parametrize("ends", [INSIDE, OUTSIDE], ids=["network", "smooth path"])
def test_derivatives(ends: Any, side: str) -> None:
    """Rates and Jacobians are those of the positions, where the network is used and elsewhere, between its nodes and on
    straight extensions.
    """
    mirror = MIRROR if side == "clockwise" else np.ones(3)
    motion = Motion(ends * mirror, [np.eye(4)], np.random.default_rng(1))
    assert (solve(over(SMALL, side), *motion(0.0)).status == ALONG_NODES) == (ends is INSIDE)
    # differences of fourth order with steps of 1e-4; their round-off
    assert largest_error(over(SMALL, side), motion, (-0.1, 0.01, 0.33, 0.45, 0.97, 1.2)) < 1e-9


@pytest.mark.parametrize("side", ["counterclockwise", "clockwise"])
def test_places_are_those_of_the_network(side: str) -> None:
    trained = Network.read()
    strand = at_rest(over(trained, side), *(INSIDE * (MIRROR if side == "clockwise" else 1.0)))
    x = np.stack([strand.point(f * strand.length)[0] for f in trained.nodes])
    x = x * MIRROR if side == "clockwise" else x
    far, f = np.hypot(*INSIDE[:, :2].T), trained.nodes
    angle = np.diff(np.arctan2(INSIDE[:, 1], INSIDE[:, 0]))[0]
    inputs = np.stack(np.broadcast_arrays(far[0] / RADIUS, far[1] / RADIUS, angle, f), axis=1)
    with np.load(network.WEIGHTS) as file:
        layers = [file[name].astype(np.float64) for name in file.files]
    off = RADIUS * train_wrap_network.offsets(layers, train_wrap_network.normalized(inputs))
    axis = INSIDE[0, :2] / far[0]
    off = off @ np.array([axis, [-axis[1], axis[0]]]) * (f * (1.0 - f))[:, None]
    line = (1.0 - f)[:, None] * INSIDE[0] + f[:, None] * INSIDE[1]
    # round-off, of hyperbolic tangents by another formula through six layers
    np.testing.assert_allclose(x - line, np.pad(off, [(0, 0), (0, 1)]), atol=1e-13)


def arm(trained: Network | None, mass: float = 1.0) -> ph.Model:
    """A hinge whose muscle wraps over a cylinder about its axis."""
    builder = ph.ModelBuilder()
    builder.add_body("Arm", joint=ph.joints.Hinge((0.0, 0.0, 1.0)), mass=1.0, inertia=np.eye(3))
    wrap = over(trained)
    ends = PathPoint(None, (-0.8, -0.3, 0.0)), PathPoint("Arm", (0.7, -0.2, 0.1))
    builder.add_muscle("Muscle", [ends[0], wrap, ends[1]], mass=mass, num_points=5, tension=3.0)
    return builder.build()


@pytest.mark.slow  # gradients compile for networks
def test_the_gradient_by_the_radius_is_that_of_the_network_s_places() -> None:
    """Places scale with the radius, whose displacement within a stage must not find those of before."""
    model = arm(SMALL)
    state, radii = model.state(q=[0.1], qd=[2.0]), ph.Parameter("radii", "Muscle")
    task = make_task(
        Simulated(model, state, 0.05, 1e-3, "sdirk2"), ph.objectives.Pose({"Arm.angle": 0.5}), [radii]
    )
    assert abs(task.evaluate()[1]["radii"][0]) > 1e-6
    assert errors(task)[radii] < 1e-6  # of the differences of the loss


def test_mass_on_a_network() -> None:
    """Mass points lie at the nodes, move with their Jacobians, and keep the energy; the length is the smooth path's."""
    model, plain = arm(SMALL), arm(None)
    state = model.state(q=[0.1], qd=[2.0])
    points = ph.muscle_points(model, state, "Muscle")
    strand = at_rest(over(SMALL), np.array([-0.8, -0.3, 0.0]), turned(0.1) @ np.array([0.7, -0.2, 0.1]))
    places = np.stack([strand.point(f * strand.length)[0] for f in SMALL.nodes[1:-1]])
    np.testing.assert_allclose(points.positions, places, atol=1e-14)  # round-off
    assert np.abs(points.positions - ph.muscle_points(plain, state, "Muscle").positions).max() > 1e-3
    assert ph.muscle_lengths(model, state) == ph.muscle_lengths(plain, state)
    drift, twice = (np.ptp(ph.simulate(model, state, 0.2, step, "rk4").energy[:, 2]) for step in (1e-3, 2e-3))
    # fourth order: 16 times as much with twice the step, or round-off
    assert drift < max(twice / 10.0, 1e-12)


def turned(angle: float) -> Any:
    return np.array(
        [[np.cos(angle), -np.sin(angle), 0.0], [np.sin(angle), np.cos(angle), 0.0], [0.0, 0.0, 1.0]]
    )


def test_models_keep_their_network(tmp_path: Any) -> None:
    """In files too, which follow the schema."""
    model, path = arm(SMALL), tmp_path / "model.json"
    ph.save_model(model, path)
    again = ph.load_model(path).model
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is a tool of the tests")
    jsonschema.Draft202012Validator(load_schema("model")).validate(read_json(path))
    assert again == model and (again.arrays[3] == model.arrays[3]).all()
    (wrap,) = again.muscles[0].strands.values()
    assert wrap.network is not None and (wrap.network.weights == SMALL.weights).all()
    assert "network" not in arm(None).to_dict()["muscles"][0]["path"][1]


@pytest.mark.parametrize(("mass", "bits"), [(1.0, NETWORK_BITS), (0.0, MUSCLE_BITS)])
def test_kernels_for_networks_are_for_mass_alone(mass: float, bits: int) -> None:
    assert arm(SMALL, mass).arrays[2].dtype.itemsize == bits // 8
    assert arm(None, mass).arrays[2].dtype.itemsize == MUSCLE_BITS // 8


def test_too_many_numbers_of_joints() -> None:
    """Kernels for networks come with offsets of 16 bits in the records of joints."""
    builder, parent = ph.ModelBuilder(), None
    for name, pitch in (("First", 0.1), ("Second", 0.2), ("Arm", 0.3)):
        frames = np.tile(np.eye(4), (400, 1, 1))
        frames[:, 0, 3], frames[:, 1, 3] = np.linspace(0.0, 1.0, 400), pitch * np.linspace(0.0, 1.0, 400) ** 2
        builder.add_body(name, parent, joint=ph.joints.SplineCurve(frames), mass=1.0, inertia=np.eye(3))
        parent = name
    builder.add_muscle(
        "Muscle",
        [PathPoint(None, (-0.8, -0.3, 0.0)), over(SMALL), PathPoint("Arm", (0.7, 0.0, 0.0))],
        mass=1.0,
    )
    with pytest.raises(ModelError, match="32768 numbers"):
        builder.build()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"weights": np.zeros(3)}, "(130,)"),
        ({"weights": np.full(130, np.nan)}, "nan"),
        ({"weights": np.full(130, 1e9)}, "1e+09"),
        ({"units": 7}, "7"),
        ({"layers": 13}, "13"),
        ({"points": 0}, "0"),
    ],
)
def test_bad_networks(change: Any, named: str) -> None:
    with pytest.raises(ModelError) as error:
        replace(SMALL, **change)
    assert "of a network" in str(error.value) and named in str(error.value)


@pytest.mark.parametrize(
    "obstacles",
    [
        [Sphere(radius=RADIUS)],
        [Cylinder(radius=RADIUS)],
        [Cylinder(radius=RADIUS, side="clockwise", length=1.0)],
        [Cylinder(radius=RADIUS, side="clockwise"), Cylinder(radius=RADIUS, side="clockwise")],
    ],
)
def test_networks_need_an_endless_cylinder_with_a_sense(obstacles: list[Obstacle]) -> None:
    with pytest.raises(ModelError, match=obstacles[0].type):
        Wrap(obstacles, network=SMALL)


def test_training_makes_progress() -> None:
    rng = np.random.default_rng(0)
    layers = train_wrap_network.begin(rng)
    inputs, target = train_wrap_network.samples(rng, 256, train_wrap_network.SHIPPED.threshold)
    x = train_wrap_network.normalized(inputs)
    loss, slopes = train_wrap_network.slopes(layers, x, target)
    k, step = 4, np.float32(1e-2)
    ahead = [layer.copy() for layer in layers]
    ahead[k] = ahead[k] - step * slopes[k]
    fallen = loss - train_wrap_network.slopes(ahead, x, target)[0]
    # to first order the loss falls by the step times the slope's square; single precision leaves a few percent
    assert fallen == pytest.approx(float(step * (slopes[k] ** 2).sum()), rel=0.2)


def test_bad_weights(tmp_path: Any) -> None:
    path = tmp_path / "weights.npz"
    np.savez(path, weights_0=np.zeros((3, 3)))
    with pytest.raises(ModelError, match="has no array 'weights_0' of shape"):
        Network.read(path)


def test_damaged_weights(tmp_path: Any) -> None:
    """A file that is cut short, altered, empty, something else or missing gives one clear error."""
    whole = network.WEIGHTS.read_bytes()
    altered = bytearray(whole)
    altered[len(whole) // 2] ^= 0xFF
    for number, data in enumerate((whole[: len(whole) // 2], bytes(altered), b"", b"not an archive")):
        path = tmp_path / f"{number}.npz"
        path.write_bytes(data)
        with pytest.raises(ModelError, match=f"{number}.npz"):
            Network.read(path)
    with pytest.raises(ModelError, match=r"missing\.npz"):
        Network.read(tmp_path / "missing.npz")


def test_training_follows_its_seed_and_rounds(tmp_path: Any) -> None:
    """Two runs write the same bits, and the report says what fixes them."""
    settings = train_wrap_network.Settings(layers=2, units=8, rounds=30)
    first, again = (train_wrap_network.train(settings, report=False) for _ in range(2))
    assert all((a == b).all() for a, b in zip(first, again))
    for name in ("a.npz", "b.npz"):
        train_wrap_network.write_weights(tmp_path / name, first)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    report = train_wrap_network.described(settings, first)
    assert report["rounds"] == 30 and report["layers"] == 2 and report["seed"] == 2022
    assert report["errors in radii, all samples"]["largest"] > 0.0


@pytest.mark.parametrize(
    ("values", "message"),
    [({"rounds": 0}, "rounds"), ({"layers": 0}, "layers"), ({"threshold": -0.1}, "threshold")],
)
def test_bad_settings(values: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        train_wrap_network.Settings(**values)


def test_jacobians_of_the_table_are_derivatives() -> None:
    """By differences, of the paths' points by the second end: on straight paths the fraction times the identity."""
    inputs = np.array([[2.0, 3.0, 0.3, 0.4], [1.5, 2.5, 0.2, 0.7]])
    found = train_wrap_network.jacobians(lambda given: train_wrap_network.planar_paths(given)[0], inputs)
    turned = [[[np.cos(x), -np.sin(x)], [np.sin(x), np.cos(x)]] for x in inputs[:, 2]]
    # the differences' round-off
    np.testing.assert_allclose(found, inputs[:, 3, None, None] * np.array(turned), atol=1e-9)


def test_kept_reports() -> None:
    """The reports that are kept are of the settings that the script has, and of the weights that are shipped."""
    report = read_json(network.WEIGHTS.with_suffix(".json"))
    with np.load(network.WEIGHTS) as file:
        layers = [file[name] for name in file.files]
    found = train_wrap_network.described(train_wrap_network.SHIPPED, layers)
    assert list(report) == list(found)
    for name, value in found.items():
        # another machine's products round otherwise
        assert report[name] == (pytest.approx(value, rel=1e-3) if isinstance(value, dict) else value)
    kept = read_json(train_wrap_network.KEPT_TABLE)
    table, wide = kept["networks"], kept["wide networks"]
    settings = train_wrap_network.table_settings() + train_wrap_network.wide_settings()
    found = [{name: row[name] for name in asdict(settings[0])} for row in table + wide]
    assert found == [asdict(entry) for entry in settings]
    # the two ends of the table are told apart: depth and small thresholds pay (Wang 2022, Figs. 6.9-6.11)
    error = {
        (row["layers"], row["threshold"]): row["errors in radii, all samples"]["root mean square"]
        for row in table
    }
    assert error[6, 0.01] < error[1, 0.01] and error[6, 0.01] < error[6, 0.2]
    for kind in ("errors in radii, all samples", "errors of Jacobians, all samples"):
        rms = np.array([row[kind]["root mean square"] for row in wide]).reshape(-1, 4)
        # 10 % does worst; between the others the scatter of trainings decides, of points between none and 1 %
        last = 2 if "Jacobians" in kind else 1
        assert (rms.argmax(axis=1) == 3).all() and (rms.argmin(axis=1) <= last).all()
        assert (rms[:, 0] < 1.08 * rms.min(axis=1)).all()
