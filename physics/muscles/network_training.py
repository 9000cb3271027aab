"""Train the network that stands for paths over a cylinder (Wang 2022, sec. 5.3.3.1), on our own shortest paths.

``python -m physics.muscles.network_training --out FILE.npz --minutes 15``. Plain NumPy: back-propagation through a
few dense layers needs no framework. The run is fixed by its seed and its number of rounds.

What the symmetries of a cylinder settle is not learned: the network sees both distances from the axis in units of
the radius, the angle between them and the fraction of the length, and gives how far the path lies off the straight
line in the cross-section, over fraction (1 - fraction), so that the ends are where they belong; along the axis the
path is straight. As in the paper, samples whose wrapped part is shorter than a threshold are thrown away.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import FloatArray
from .network import HIGHEST, LAYERS, LOWEST, UNITS

Single = NDArray[np.float32]
THRESHOLD = 0.01
BATCH = 1024
RATE, LAST_RATE = 2e-3, 2e-5
SEED = 2022


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
    return (2.0 * scaled - 1.0).astype(np.float32)


def begin(rng: np.random.Generator) -> list[Single]:
    """Weights and offsets of all layers (Glorot & Bengio 2010)."""
    sizes = [4, *[UNITS] * LAYERS, 2]
    layers: list[Single] = []
    for before, behind in pairwise(sizes):
        bound = np.sqrt(6.0 / (before + behind))
        layers.append(rng.uniform(-bound, bound, (before, behind)).astype(np.float32))
        layers.append(np.zeros(behind, dtype=np.float32))
    return layers


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


def train(minutes: float, rounds: int, report: bool = True) -> tuple[list[Single], dict[str, Any]]:
    """Adam (Kingma & Ba 2015) with a rate that falls as a cosine, for so many rounds or minutes, whatever ends
    first.
    """
    rng = np.random.default_rng(SEED)
    layers = begin(rng)
    mean = [np.zeros_like(layer) for layer in layers]
    square = [np.zeros_like(layer) for layer in layers]
    started, losses = time.monotonic(), []
    done = 0.0
    step = 0
    while done < 1.0:
        inputs, target = samples(rng, BATCH, THRESHOLD)
        loss, found = slopes(layers, normalized(inputs), target)
        step += 1
        done = max((time.monotonic() - started) / (60.0 * minutes), step / rounds)
        rate = LAST_RATE + 0.5 * (RATE - LAST_RATE) * (1.0 + np.cos(np.pi * min(done, 1.0)))
        for k, slope in enumerate(found):
            mean[k] += np.float32(0.1) * (slope - mean[k])
            square[k] += np.float32(0.001) * (slope * slope - square[k])
            unbiased = rate / (1.0 - 0.9**step)
            size = np.sqrt(square[k] / (1.0 - 0.999**step)) + 1e-8
            layers[k] -= (unbiased * mean[k] / size).astype(np.float32)
        losses.append(loss)
        if report and step % 100 == 0:
            print(f"{step:6d} {np.sqrt(np.mean(losses[-100:])):.3e} {done:.2f}", flush=True)
    return layers, {"rounds": step, "seed": SEED, "batch": BATCH, "threshold": THRESHOLD}


def errors(layers: list[Single], threshold: float, count: int = 20000) -> dict[str, float]:
    """Errors of points in units of the radius, on fresh samples."""
    inputs, target = samples(np.random.default_rng(1), count, threshold)
    value = normalized(inputs)
    for k in range(0, len(layers) - 2, 2):
        value = np.tanh(value @ layers[k] + layers[k + 1])
    offset = value @ layers[-2] + layers[-1] - target
    part = inputs[:, 3:4]
    distance = np.linalg.norm(offset * part * (1.0 - part), axis=1)
    return {
        "root mean square": float(np.sqrt(np.mean(distance**2))),
        "99 %": float(np.quantile(distance, 0.99)),
        "largest": float(distance.max()),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, and write weights and report."""
    parser = argparse.ArgumentParser(prog="python -m physics.muscles.network_training", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="file for the weights (.npz)")
    parser.add_argument("--minutes", type=float, default=60.0, help="at most so long")
    parser.add_argument("--rounds", type=int, default=20000, help="at most so many")
    options = parser.parse_args(arguments)
    layers, report = train(options.minutes, options.rounds)
    report["errors in radii, samples as trained on"] = errors(layers, THRESHOLD)
    report["errors in radii, all samples"] = errors(layers, 0.0)
    names = [f"{kind}_{k}" for k in range(LAYERS + 1) for kind in ("weights", "offsets")]
    np.savez_compressed(options.out, **dict(zip(names, layers)))
    options.out.with_suffix(".json").write_text(json.dumps(report, indent=2) + "\n")
    print(json.dumps(report, indent=2))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
