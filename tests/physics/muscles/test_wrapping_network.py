"""The network that comes with the package, and its training."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

from physics.errors import ModelError
from physics.io.files import read_json
from physics.muscles import network
from tests.tools import train_wrap_network

from .strands import derivative

RADIUS = 0.2
INSIDE = np.array([[0.3, -0.4, 0.1], [0.5, 0.6, -0.2]])
OUTSIDE = 8.0 * INSIDE


@pytest.mark.parametrize("ends", [INSIDE, OUTSIDE], ids=["network", "smooth path"])
def test_derivatives(ends: Any) -> None:
    """Jacobian, velocity and acceleration are those of the positions, inside the box and outside."""
    rates = np.random.default_rng(0).normal(size=(2, 3))

    def at(t: float) -> Any:
        return network.network_point(RADIUS, ends + rates * t, 0.4 + 0.3 * t, rates, 0.3)

    point = at(0.0)
    assert point.inside == (ends is INSIDE)
    assert np.abs(derivative(lambda t: at(t).position, 1e-3) - point.velocity).max() < 1e-9
    assert np.abs(derivative(lambda t: at(t).velocity, 1e-3) - point.acceleration).max() < 1e-8
    for k in range(6):
        step = np.eye(6)[k].reshape(2, 3)
        column = derivative(lambda t, s=step: network.network_point(RADIUS, ends + t * s, 0.4).position, 1e-3)
        assert np.abs(column - point.jacobian[:, k]).max() < 1e-9


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
        network.weights(path)


def test_damaged_weights(tmp_path: Any) -> None:
    """A file that is cut short, altered, empty, something else or missing gives one clear error."""
    whole = network.WEIGHTS.read_bytes()
    altered = bytearray(whole)
    altered[len(whole) // 2] ^= 0xFF
    for number, data in enumerate((whole[: len(whole) // 2], bytes(altered), b"", b"not an archive")):
        path = tmp_path / f"{number}.npz"
        path.write_bytes(data)
        with pytest.raises(ModelError, match=f"{number}.npz"):
            network.weights(path)
    with pytest.raises(ModelError, match=r"missing\.npz"):
        network.weights(tmp_path / "missing.npz")


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
