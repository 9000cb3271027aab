"""Train the network that stands for paths over a cylinder (Wang 2022, sec. 5.3.3.1), on our own shortest paths.

``python -m tests.tools.train_wrap_network --out FILE.npz`` writes the weights and beside them the report
(``FILE.json``); ``--table FILE.json`` trains small networks of several depths, with several thresholds, and writes
their errors (Wang 2022, sec. 6.2.6). Plain NumPy: back-propagation through a few dense layers needs no framework.
A run is fixed by its seed and its number of rounds; the same NumPy on the same machine writes the same bits.

What the symmetries of a cylinder settle is not learned: the network sees both distances from the axis in units of
the radius, the angle between them and the fraction of the length, and gives how far the path lies off the straight
line in the cross-section, over fraction (1 - fraction), so that the ends are where they belong; along the axis the
path is straight. As in the paper, samples whose wrapped part is shorter than a threshold are thrown away. The paper
chose 1 %; here no threshold does best: over all samples, points are nearest without one in eleven of the table's
twelve architectures (in the other 1 % is 7 % nearer), and Jacobians in three of six (in two 1 % is 3 and 6 % nearer, in
one 3 % is 2 % nearer). The largest threshold is worst in all.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from physics._typing import FloatArray
from physics.errors import ModelError
from physics.io.files import format_json, write_atomically
from physics.muscles.network import HIGHEST, LAYERS, LOWEST, UNITS, WEIGHTS
from physics.validation import number, whole_number

Single = NDArray[np.float32]
BATCH = 1024
RATE, LAST_RATE = 2e-3, 2e-5
TESTED = 20000  # fresh samples that errors are found with
STEP = 1e-6  # of differences, in radii and radians: their round-off is 1e-10


@dataclass(frozen=True)
class Settings:
    """What fixes a run.

    Attributes:
        layers, units: hidden layers and how wide they are. threshold: least wrapped part over the whole length of a
            sample that is not straight; shorter ones are thrown away. rounds: batches. seed: of weights and samples.
    """

    layers: int = LAYERS
    units: int = UNITS
    threshold: float = 0.01
    rounds: int = 30000
    seed: int = 2022

    def __post_init__(self) -> None:
        for name in ("layers", "units", "rounds"):
            if whole_number(getattr(self, name), name) < 1:
                raise ModelError(f"{name} of a training must be at least 1, got {getattr(self, name)}")
        threshold = number(self.threshold, "threshold of a training", not_negative=True)
        if not threshold < 1.0:
            raise ModelError(f"the threshold of a training must be less than 1, got {threshold:g}")


SHIPPED = Settings()
#: the table's networks: narrow, so that all are trained within minutes
TABLE_LAYERS, TABLE_THRESHOLDS = (1, 2, 3, 4, 6, 8), (0.0, 0.01, 0.05, 0.2)
TABLE_UNITS, TABLE_ROUNDS = 64, 2000
#: layers and units as in the paper, trained less, with errors of Jacobians
WIDE = ((6, 128), (10, 128), (12, 128), (6, 256), (10, 256), (12, 256))
WIDE_THRESHOLDS, WIDE_ROUNDS = (0.0, 0.01, 0.03, 0.1), 400
KEPT_TABLE = WEIGHTS.with_name("cylinder_network_table.json")


def planar_paths(inputs: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Points of shortest paths past the unit circle, counterclockwise.

    Args:
        inputs: (n, 4) distances of both ends, angle between them, fraction of the length.

    Returns:
        Points (n, 2), the first end on the x axis; lengths of the wrapped parts (n,), 0 where straight; of the
        whole (n,).
    """
    a, b, angle, part = inputs.T
    first, last = np.sqrt(a * a - 1.0), np.sqrt(b * b - 1.0)
    before, behind = np.arctan(first), np.arctan(last)
    wrap = np.maximum(angle - before - behind, 0.0)
    p = np.stack([a, np.zeros_like(a)], axis=1)
    s = b[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    straight = wrap == 0.0
    length = np.where(straight, np.linalg.norm(s - p, axis=1), first + wrap + last)
    x = part * length
    touch = np.stack([np.cos(before), np.sin(before)], axis=1)
    leave = np.stack([np.cos(before + wrap), np.sin(before + wrap)], axis=1)
    turned = before + np.clip(x - first, 0.0, wrap)
    on_arc = np.stack([np.cos(turned), np.sin(turned)], axis=1)
    on_first = p + (x / first)[:, None] * (touch - p)
    on_last = s + ((length - x) / last)[:, None] * (leave - s)
    points = np.where((x < first)[:, None], on_first, np.where((x > first + wrap)[:, None], on_last, on_arc))
    points = np.where(straight[:, None], p + part[:, None] * (s - p), points)
    return points, wrap, length


def samples(rng: np.random.Generator, count: int, threshold: float) -> tuple[Single, Single]:
    """Inputs (count, 4) within the box, and the paths' offsets from the straight line over f (1 - f) (count, 2)."""
    found: list[FloatArray] = []
    targets: list[FloatArray] = []
    have = 0
    while have < count:
        inputs = rng.uniform(LOWEST, HIGHEST, (count, 4))
        inputs[:, :2] = LOWEST[0] * (HIGHEST[0] / LOWEST[0]) ** rng.uniform(size=(count, 2))
        points, wrap, length = planar_paths(inputs)
        kept = (wrap == 0.0) | (wrap >= threshold * length)
        a, b, angle, part = inputs.T
        line = np.stack([a + part * (b * np.cos(angle) - a), part * b * np.sin(angle)], axis=1)
        offset = (points - line) / np.maximum(part * (1.0 - part), 1e-3)[:, None]
        kept &= (part > 1e-3) & (part < 1.0 - 1e-3)
        found.append(inputs[kept])
        targets.append(offset[kept])
        have += int(kept.sum())
    return (
        np.concatenate(found)[:count].astype(np.float32),
        np.concatenate(targets)[:count].astype(np.float32),
    )


def normalized(inputs: Any) -> Any:
    """Distances by their logarithm, all to [-1, 1]."""
    low, high = np.array(LOWEST, dtype=np.float64), np.array(HIGHEST, dtype=np.float64)
    scaled = np.array(inputs, dtype=np.float64)
    scaled[:, :2] = np.log(scaled[:, :2] / low[:2]) / np.log(high[:2] / low[:2])
    scaled[:, 2:] = (scaled[:, 2:] - low[2:]) / (high[2:] - low[2:])
    return 2.0 * scaled - 1.0


def begin(rng: np.random.Generator, layers: int = LAYERS, units: int = UNITS) -> list[Single]:
    """Weights and offsets of all layers (Glorot & Bengio 2010)."""
    sizes = [4, *[units] * layers, 2]
    found: list[Single] = []
    for before, behind in pairwise(sizes):
        bound = np.sqrt(6.0 / (before + behind))
        found.append(rng.uniform(-bound, bound, (before, behind)).astype(np.float32))
        found.append(np.zeros(behind, dtype=np.float32))
    return found


def slopes(layers: list[Single], x: Single, target: Single) -> tuple[float, list[Single]]:
    """Mean squared error of a batch, and its derivatives by all layers."""
    values = [x]
    for k in range(0, len(layers) - 2, 2):
        values.append(np.tanh(values[-1] @ layers[k] + layers[k + 1]))
    error = values[-1] @ layers[-2] + layers[-1] - target
    back = (2.0 / len(x)) * error
    found: list[Single] = [np.empty(0, dtype=np.float32)] * len(layers)
    for k in range(len(layers) - 2, -1, -2):
        value = values[k // 2]
        found[k], found[k + 1] = value.T @ back, back.sum(axis=0)
        if k:
            back = (back @ layers[k].T) * (1.0 - value * value)
    return float((error * error).sum(axis=1).mean()), found


def train(settings: Settings, report: bool = True) -> list[Single]:
    """The weights after Adam (Kingma & Ba 2015) with a rate that falls as a cosine."""
    rng = np.random.default_rng(settings.seed)
    layers = begin(rng, settings.layers, settings.units)
    mean = [np.zeros_like(layer) for layer in layers]
    square = [np.zeros_like(layer) for layer in layers]
    losses, began = [], time.monotonic()
    for step in range(1, settings.rounds + 1):
        inputs, target = samples(rng, BATCH, settings.threshold)
        loss, found = slopes(layers, normalized(inputs).astype(np.float32), target)
        rate = LAST_RATE + 0.5 * (RATE - LAST_RATE) * (1.0 + np.cos(np.pi * step / settings.rounds))
        for k, slope in enumerate(found):
            mean[k] += np.float32(0.1) * (slope - mean[k])
            square[k] += np.float32(0.001) * (slope * slope - square[k])
            unbiased = rate / (1.0 - 0.9**step)
            size = np.sqrt(square[k] / (1.0 - 0.999**step)) + 1e-8
            layers[k] -= (unbiased * mean[k] / size).astype(np.float32)
        losses.append(loss)
        if report and step % 100 == 0:
            error, seconds = np.sqrt(np.mean(losses[-100:])), time.monotonic() - began
            print(f"{step:6d} of {settings.rounds} {error:.3e} {seconds:.0f} s", flush=True)
    return layers


def errors(layers: list[Single], threshold: float, count: int = TESTED) -> dict[str, float]:
    """Errors of points in units of the radius, on fresh samples."""
    inputs, target = samples(np.random.default_rng(1), count, threshold)
    part = inputs[:, 3:4]
    offset = offsets(layers, normalized(inputs).astype(np.float32)) - target
    return spread(np.linalg.norm(offset * part * (1.0 - part), axis=1))


def jacobian_errors(layers: list[Single], count: int = TESTED) -> dict[str, float]:
    """Errors of the points' derivatives by the second end (2 x 2, Frobenius norm), on fresh samples of all kinds."""
    inputs = samples(np.random.default_rng(1), count, 0.0)[0].astype(np.float64)
    wide = [layer.astype(np.float64) for layer in layers]

    def network_points(given: FloatArray) -> FloatArray:
        a, b, angle, part = given.T
        line = np.stack([a + part * (b * np.cos(angle) - a), part * b * np.sin(angle)], axis=1)
        return line + (part * (1.0 - part))[:, None] * offsets(wide, normalized(given))

    off = jacobians(network_points, inputs) - jacobians(lambda given: planar_paths(given)[0], inputs)
    return spread(np.linalg.norm(off, axis=(1, 2)))


def jacobians(points: Callable[[FloatArray], FloatArray], inputs: FloatArray) -> FloatArray:
    """Derivatives (n, 2, 2) of points by the second end, along its distance and across, by central differences."""
    columns = []
    for column, size in ((1, 1.0), (2, inputs[:, 1:2])):
        step = np.zeros(4)
        step[column] = STEP
        columns.append((points(inputs + step) - points(inputs - step)) / (2.0 * STEP * size))
    return np.stack(columns, axis=2)


def offsets(layers: list[Any], value: Any) -> Any:
    """What a network gives for normalized inputs."""
    for k in range(0, len(layers) - 2, 2):
        value = np.tanh(value @ layers[k] + layers[k + 1])
    return value @ layers[-2] + layers[-1]


def spread(distance: FloatArray) -> dict[str, float]:
    """Of errors."""
    return {
        "root mean square": float(np.sqrt(np.mean(distance**2))),
        "99 %": float(np.quantile(distance, 0.99)),
        "largest": float(distance.max()),
    }


def described(settings: Settings, layers: list[Single]) -> dict[str, Any]:
    """What the report says of trained weights."""
    return asdict(settings) | {
        "batch": BATCH,
        "errors in radii, samples as trained on": errors(layers, settings.threshold),
        "errors in radii, all samples": errors(layers, 0.0),
    }


def table(settings: Sequence[Settings], derivatives: bool = False) -> list[dict[str, Any]]:
    """Reports of networks that are trained with each of these settings; derivatives: with errors of Jacobians."""
    rows = []
    for entry in settings:
        layers = train(entry, report=False)
        rows.append(described(entry, layers))
        if derivatives:
            rows[-1]["errors of Jacobians, all samples"] = jacobian_errors(layers)
        error = rows[-1]["errors in radii, all samples"]["root mean square"]
        print(f"{entry.layers} x {entry.units}, threshold {entry.threshold:g}: {error:.2e}", flush=True)
    return rows


def table_settings(rounds: int = TABLE_ROUNDS) -> list[Settings]:
    """Of the table's networks."""
    return [
        Settings(layers, TABLE_UNITS, threshold, rounds)
        for threshold in TABLE_THRESHOLDS
        for layers in TABLE_LAYERS
    ]


def wide_settings(rounds: int = WIDE_ROUNDS) -> list[Settings]:
    """Of the table's wide networks."""
    return [
        Settings(layers, units, threshold, rounds) for layers, units in WIDE for threshold in WIDE_THRESHOLDS
    ]


def write_report(path: Path, report: Any) -> None:
    """Write JSON, whole or not at all."""
    with write_atomically(path) as beside:
        beside.write_text(format_json(report) + "\n", encoding="utf-8")


def write_weights(path: Path, layers: list[Single]) -> None:
    """Write the arrays that `network.weights` reads, whole or not at all."""
    names = [f"{kind}_{k}" for k in range(len(layers) // 2) for kind in ("weights", "offsets")]
    with write_atomically(path) as beside, beside.open("wb") as stream:
        np.savez_compressed(stream, **dict(zip(names, layers)))


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, and write weights and report, or the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.train_wrap_network", description=__doc__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--out", type=Path, help="file for the weights (.npz); the report stands beside it")
    what.add_argument("--table", type=Path, help="file for errors by layers and threshold (.json)")
    parser.add_argument("--rounds", type=int, help="batches to train each network with")
    options = parser.parse_args(arguments)
    if options.rounds is not None and options.rounds < 1:
        parser.error(f"--rounds must be at least 1, got {options.rounds}")
    if options.table is not None:
        narrow = table(table_settings(options.rounds or TABLE_ROUNDS))
        wide = table(wide_settings(options.rounds or WIDE_ROUNDS), derivatives=True)
        write_report(options.table, {"networks": narrow, "wide networks": wide})
        return 0
    settings = SHIPPED if options.rounds is None else Settings(rounds=options.rounds)
    layers = train(settings)
    write_weights(options.out, layers)
    write_report(options.out.with_suffix(".json"), described(settings, layers))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
