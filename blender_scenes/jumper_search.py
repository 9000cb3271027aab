"""The search for the plan of the jumping figure, by evolution of its numbers.

    python -m blender_scenes.jumper_search [--wobbling] [--rounds N]      prints the plan that it found

It starts from `jumper_model.FIRST_GUESS`, or from the plan of the rigid figure for the one that wobbles.
"""

from __future__ import annotations

import argparse

import numpy as np

import physics as ph
from physics._typing import FloatArray

from . import jumper_model as model
from .jumper_model import Course, Plan

ANGLES = np.array([[-0.6, 3.1], [-0.3, 2.4], [-2.5, -0.02], [-0.8, 0.6]])  # shoulder, hip, knee, ankle
LOWER = np.concatenate([[0.5, -0.6, -2.0], np.tile(ANGLES[:, 0], 6), [0.04] * 5])
UPPER = np.concatenate([[4.0, 0.4, 1.0], np.tile(ANGLES[:, 1], 6), [0.45] * 5])
WIDTHS = np.concatenate([[0.2, 0.1, 0.3], np.full(24, 0.2), np.full(5, 0.04)])
CLEAR = 0.10  # m: least distance of head, hands, hips and knees from the plank


def clearances(result: ph.Result) -> FloatArray:
    """Height [m] of the lowest of head, hands, hips and knees over the plank (n,)."""
    of = result.model
    points = {"Trunk": ((0.0, model.HEAD), (0.0, 0.0)), "Arms": ((0.0, -model.ARM),), "Shanks": ((0.0, 0.0),)}
    heights = [
        (result.poses[:, of.index(name)] @ np.array([*point, 0.0, 1.0]))[:, 2]
        for name, places in points.items()
        for point in places
    ]
    lowest: FloatArray = np.min(heights, axis=0)
    return lowest


def cost(of: ph.Model, plan: Plan) -> float:
    """Cost of a plan, without unit: its distance from a somersault that ends on the feet."""
    try:
        result = model.jump(of, plan)
    except ph.DivergedError:
        return 1e3
    found = model.course(result)
    if found.takeoff < 0 or found.landing < 0:
        flown = 0.0 if found.takeoff < 0 else 50.0
        return 200.0 - flown + abs(result.q[-1, 2] + 2.0 * np.pi)
    low = clearances(result)
    total = 100.0 * max(CLEAR - low[: found.landing].min(), 0.0) + overstretched(result)
    total += 5.0 * np.log1p(10.0 * max(CLEAR - low[found.landing :].min(), 0.0))
    total += 40.0 * max(0.45 - (result.t[found.landing] - result.t[found.takeoff]), 0.0)
    # about one turn from the first touch to the landing; the rest of the turn on the feet
    turned = abs(result.q[found.landing, 2] + 2.0 * np.pi)
    return float(total + 10.0 * max(turned - 0.5, 0.0) + 4.0 * np.log1p(unsteady(result, found)))


def unsteady(result: ph.Result, found: Course) -> float:
    """Distance of the figure's last state from upright stance at rest."""
    feet = result.poses[-1, result.model.index("Feet")]
    middle = (feet @ np.array([0.5 * (model.HEEL[0] + model.TOE[0]), model.HEEL[1], 0.0, 1.0]))[0]
    speed = (found.center[-1] - found.center[-6]) / (result.t[-1] - result.t[-6])
    total = 4.0 * (result.q[-1, 2] + 2.0 * np.pi + 0.5) ** 2  # bent forward by half a radian
    total += 30.0 * (found.center[-1, 0] - middle) ** 2 + 3.0 * float(speed @ speed)
    total += 30.0 * max(0.65 - found.center[-1, 1], 0.0) + 30.0 * abs(found.height[-1])
    return (
        total
        + 0.02 * float(np.sum(result.qd[-1, 2:7] ** 2))
        + 0.02 * float(model.angular_momentum(result, slice(-1, None))[0]) ** 2
    )


def overstretched(result: ph.Result) -> float:
    """Excess of shoulders, hips, knees and ankles over a person's range of motion."""
    q = result.q[:, 3:7]
    beyond = np.maximum(q - ANGLES[:, 1] - 0.12, 0.0) + np.maximum(ANGLES[:, 0] - 0.12 - q, 0.0)
    return 20.0 * float(beyond.max(axis=0).sum())


def search(of: ph.Model, guess: Plan, rounds: int, spread: float = 1.0, seed: int = 1) -> tuple[Plan, float]:
    """Evolution strategy with an adapted covariance matrix (Hansen & Ostermeier 2001) in scaled numbers."""
    rng = np.random.default_rng(seed)
    count = len(LOWER)
    samples = 14
    weights = np.log(samples / 2 + 0.5) - np.log(np.arange(1, samples // 2 + 1))
    weights /= weights.sum()
    effective = 1.0 / np.sum(weights**2)
    path_rate, rank_one = (4.0 + effective / count) / (count + 4.0), 2.0 / ((count + 1.3) ** 2 + effective)
    rank_mu = min(
        1.0 - rank_one, 2.0 * (effective - 2.0 + 1.0 / effective) / ((count + 2.0) ** 2 + effective)
    )
    size_rate = (effective + 2.0) / (count + effective + 5.0)
    best, least = scattered(of, guess, 20 * samples if spread >= 1.0 else 0, rng)
    mean, size, covariance = best.vector(), 0.6 * spread, np.eye(count)
    path, size_path = np.zeros(count), np.zeros(count)
    usual = np.sqrt(count) * (1.0 - 0.25 / count)
    for number in range(rounds):
        values, axes = np.linalg.eigh(covariance)
        root = axes * np.sqrt(np.maximum(values, 1e-14))
        normal = rng.standard_normal((samples, count))
        steps = normal @ root.T
        tried = np.clip(mean + size * steps * WIDTHS, LOWER, UPPER)
        costs = np.array([cost(of, Plan.of(row)) for row in tried])
        order = np.argsort(costs)[: samples // 2]
        if costs[order[0]] < least:
            best, least = Plan.of(tried[order[0]]), float(costs[order[0]])
            print(f"{least:.3f}: {rounded(best)}", flush=True)
        taken = (tried[order] - mean) / (size * WIDTHS)
        shift = weights @ taken
        mean = mean + size * WIDTHS * shift
        whitened = axes @ ((axes.T @ shift) / np.sqrt(np.maximum(values, 1e-14)))
        size_path = (1.0 - size_rate) * size_path + np.sqrt(
            size_rate * (2.0 - size_rate) * effective
        ) * whitened
        path = (1.0 - path_rate) * path + np.sqrt(path_rate * (2.0 - path_rate) * effective) * shift
        covariance = (1.0 - rank_one - rank_mu) * covariance + rank_one * np.outer(path, path)
        covariance += rank_mu * (taken.T * weights) @ taken
        size *= float(np.exp(size_rate * (np.linalg.norm(size_path) / usual - 1.0)))
        if number % 10 == 0:
            print(f"round {number}: {least:.3f}, step {size:.3f}, {costs[order[0]]:.3f}", flush=True)
    return best, least


def scattered(of: ph.Model, guess: Plan, trials: int, rng: np.random.Generator) -> tuple[Plan, float]:
    """The best of a guess and of `count` plans that are scattered widely about it."""
    best, least = guess, cost(of, guess)
    for _ in range(trials):
        row = guess.vector() + 1.5 * WIDTHS * rng.standard_normal(len(WIDTHS))
        plan = Plan.of(np.clip(row, LOWER, UPPER))
        value = cost(of, plan)
        if value < least:
            best, least = plan, value
    return best, least


def rounded(plan: Plan) -> Plan:
    """The plan rounded to the digits that the source has."""
    return Plan.of(np.round(plan.vector(), 4))


def main() -> None:
    """Search and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wobbling", action="store_true")
    parser.add_argument("--again", action="store_true", help="start from the rigid figure's plan")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    guess, spread = (model.RIGID, 0.4) if options.wobbling or options.again else (model.FIRST_GUESS, 1.0)
    plan, _ = search(model.build_model(options.wobbling), guess, options.rounds, spread, options.seed)
    plan = rounded(plan)
    print(plan, cost(model.build_model(options.wobbling), plan))


if __name__ == "__main__":
    main()
