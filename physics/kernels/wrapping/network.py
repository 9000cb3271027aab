"""A dense network of hyperbolic tangents with its Jacobian and its second derivative along a motion of its inputs."""

from __future__ import annotations

import math

from ..algebra.vectors import Array
from ..compiler.jit import shared

INPUTS, OUTPUTS = 4, 2
LANES = 3 + INPUTS  # values; their first and second derivatives along the motion; those by each input


@shared
def network_forward(weights: Array, layers: int, units: int, inputs: Array, space: Array, out: Array) -> None:
    """Outputs and derivatives of a network.

    Args:
        weights: (k,) float32: of each layer the matrix (inputs, outputs) by rows, then the offsets.
        layers, units: number and width of hidden layers.
        inputs: (3, INPUTS) the inputs, their first and second derivatives in time.
        space: (2, LANES, units). out: (LANES, OUTPUTS): gets the outputs, their first and second derivatives in time,
            and the derivatives by each input.
    """
    for k in range(INPUTS):
        for lane in range(3):
            space[0, lane, k] = inputs[lane, k]
        for lane in range(INPUTS):
            space[0, 3 + lane, k] = 1.0 if lane == k else 0.0
    at, before, now = 0, INPUTS, 0
    for layer in range(layers + 1):
        after = units if layer < layers else OUTPUTS
        for lane in range(LANES):
            for j in range(after):
                space[1 - now, lane, j] = 0.0
        for i in range(before):
            row = at + i * after
            for lane in range(LANES):
                value = space[now, lane, i]
                for j in range(after):
                    space[1 - now, lane, j] += value * weights[row + j]
        at += before * after
        now = 1 - now
        for j in range(after):
            space[now, 0, j] += weights[at + j]
        at += after
        before = after
        if layer == layers:
            break
        for j in range(after):
            h = math.tanh(space[now, 0, j])
            slope = 1.0 - h * h
            rate = space[now, 1, j]
            space[now, 0, j] = h
            space[now, 1, j] = slope * rate
            space[now, 2, j] = slope * (space[now, 2, j] - 2.0 * h * rate * rate)
            for lane in range(3, LANES):
                space[now, lane, j] *= slope
    for lane in range(LANES):
        for j in range(OUTPUTS):
            out[lane, j] = space[now, lane, j]
