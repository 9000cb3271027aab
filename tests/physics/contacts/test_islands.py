"""Islands: bodies that do not touch each other are solved apart, and there is room for as many as there are."""

from typing import Any

import numpy as np
import pytest

import physics as ph
from physics.constraints import PointConstraint
from physics.contacts import Box, Plane, Sphere
from physics.dynamics import workspace
from physics.kernels.contact import sparse_layout as at
from physics.kernels.contact.sparse_fronts import factorize_fronts, solve_fronts
from physics.kernels.contact.sparse_order import lay_out, order_trees

RADIUS, STEP = 0.1, 1e-3
CORNERS = RADIUS * np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])


def add_ball(builder: ph.ModelBuilder, name: str, friction: float = 0.5) -> None:
    inertia = 0.4 * RADIUS**2 * np.eye(3)
    builder.add_body(name, joint=ph.joints.Free(), mass=1.0, inertia=inertia)
    builder.add_contact(
        f"{name} on ground", name, np.zeros((1, 3)), Plane(), radius=RADIUS, friction=friction
    )


def balls(count: int) -> tuple[ph.Model, ph.State]:
    """Balls that rest side by side without touching."""
    builder, q = ph.ModelBuilder(), np.zeros((count, 6))
    for i in range(count):
        add_ball(builder, f"ball {i}")
        q[i, :3] = 0.3 * (i % 40), 0.3 * (i // 40), RADIUS
    model = builder.build()
    return model, model.state(q=q.ravel())


def test_six_hundred_balls_rest() -> None:
    """They were refused: there was room for 200 contacts."""
    model, state = balls(599)
    result = ph.simulate(model, state, 4 * STEP, STEP)
    assert result.info["constraints"]["most_rows"] == 3 * 599
    # impulses of a resting ball are exact but for round-off
    assert result.info["constraints"]["residual"] < 1e-13
    assert np.abs(result.q[-1] - state.q).max() < 1e-15


def tower(builder: ph.ModelBuilder, name: str, count: int) -> None:
    """Boxes that fall on each other."""
    for i in range(count):
        builder.add_body(f"{name} {i}", joint=ph.joints.Free(), mass=1.0 + i, inertia=0.01 * np.eye(3))
        friction = {"friction": 0.4}
        builder.add_contact(f"{name} {i} on ground", f"{name} {i}", CORNERS, Plane(), **friction)
        if i > 0:
            below = f"{name} {i - 1}"
            builder.add_contact(
                f"{name} {i} on {below}", f"{name} {i}", CORNERS, Box([RADIUS] * 3), other=below, **friction
            )


def start(rng: np.random.Generator, count: int) -> np.ndarray[Any, Any]:
    q = np.zeros((count, 6))
    q[:, :2] = 0.01 * rng.normal(size=(count, 2))
    q[:, 2] = RADIUS * (1.05 + 2.05 * np.arange(count))
    q[:, 3:] = 0.02 * rng.normal(size=(count, 3))
    return q


def test_towers_apart_move_as_if_alone() -> None:
    """They slide until they stick, without impacts: one of these would end what is known of all forces in its step."""
    counts, places, speeds = (2, 3), [], []
    for k, count in enumerate(counts):
        q, qd = np.zeros((count, 6)), np.zeros((count, 6))
        q[:, 0], q[:, 2] = 3.0 * k, RADIUS * (1.0 + 2.0 * np.arange(count))
        qd[:, :2] = 0.3, 0.1 * (1 + k)
        places.append(q.ravel())
        speeds.append(qd.ravel())
    together, alone = ph.ModelBuilder(), []
    for k, count in enumerate(counts):
        builder = ph.ModelBuilder()
        tower(builder, f"tower {k}", count)
        tower(together, f"tower {k}", count)
        model = builder.build()
        alone.append(ph.simulate(model, model.state(q=places[k], qd=speeds[k]), 0.02, STEP).q[-1])
    model = together.build()
    result = ph.simulate(model, model.state(q=np.concatenate(places), qd=np.concatenate(speeds)), 0.02, STEP)
    # round-off of 1e-17 m a step, which grows
    assert np.abs(result.q[-1] - np.concatenate(alone)).max() < 1e-12
    assert result.info["constraints"]["most_rows"] == 3 * 4 * 5
    assert result.info["constraints"]["residual"] < 1e-9


@pytest.mark.parametrize("method", ["symplectic_euler", "rk4", "linearly_implicit_euler", "event_driven"])
def test_more_room_on_the_way_changes_no_bit(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    builder = ph.ModelBuilder()
    tower(builder, "box", 3)
    model = builder.build()
    state = model.state(q=start(np.random.default_rng(5), 3).ravel())
    results = []
    for first, island in ((workspace.FIRST_CONTACTS, workspace.FIRST_ISLAND), (1, 2)):
        monkeypatch.setattr(workspace, "FIRST_CONTACTS", first)
        monkeypatch.setattr(workspace, "FIRST_ISLAND", island)
        results.append(ph.simulate(model, state, 0.03, STEP, integrator=method))
    assert np.array_equal(results[0].q, results[1].q) and np.array_equal(results[0].qd, results[1].qd)
    assert results[0].info["constraints"] == results[1].info["constraints"]


def linkages(order: list[tuple[int, int]]) -> tuple[ph.Model, ph.State]:
    """Three four-bars, whose bars come in any order."""
    builder = ph.ModelBuilder(gravity=(0.0, -9.81, 0.0))
    lengths, bend = (1.0, 2.0, 1.5), (1.2, -1.0, -1.8)
    for k, bar in order:
        place = np.eye(4)
        place[0, 3] = 0.0 if bar == 0 else lengths[bar - 1]
        place[2, 3] = float(k) if bar == 0 else 0.0
        parent = None if bar == 0 else f"{k} {bar - 1}"
        inertial: dict[str, Any] = {
            "mass": 1.0 + k,
            "com": (0.5, 0.0, 0.0),
            "inertia": np.diag([0.02, 0.3, 0.3]),
        }
        builder.add_body(f"{k} {bar}", parent, joint=ph.joints.Hinge(), joint_in_parent=place, **inertial)
    for k in range(3):
        end = PointConstraint(f"{k} 2", point=(1.5, 0.0, 0.0), other_point=(2.0, 0.0, float(k)))
        builder.add_constraint(f"loop {k}", end)
    model = builder.build()
    return model, ph.assemble(model, model.state(q=[bend[bar] for _, bar in order]))


def test_loops_do_not_depend_on_the_order_of_bodies() -> None:
    """Trees whose bodies alternate share their ranges of coordinates."""
    by_tree = [(k, bar) for k in range(3) for bar in range(3)]
    by_depth = [(k, bar) for bar in range(3) for k in range(3)]
    ends = []
    for order in (by_tree, by_depth):
        result = ph.simulate(*linkages(order), 0.2, STEP)
        assert result.info["constraints"]["drift_left"] < 1e-11
        ends.append(dict(zip(order, result.q[-1], strict=True)))
    # sums in another order, over 200 steps
    assert max(abs(ends[0][key] - ends[1][key]) for key in by_tree) < 1e-11


def walls(half: float) -> list[np.ndarray[Any, Any]]:
    """Poses of a floor and four walls, whose z axes point inwards."""
    poses = [np.eye(4)]
    for normal in ([1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, -1.0, 0.0]):
        pose, up = np.eye(4), [0.0, 0.0, 1.0]
        pose[:3, :3] = np.column_stack([np.cross(up, normal), up, normal])
        pose[:3, 3] = -half * np.array(normal)
        poses.append(pose)
    return poses


def test_balls_fall_into_a_box() -> None:
    """One island with more rows than coordinates, solved without the matrix of its rows."""
    builder, count = ph.ModelBuilder(), 27
    about = {"radius": RADIUS, "friction": 0.5}
    for i in range(count):
        inertia = 0.4 * RADIUS**2 * np.eye(3)
        builder.add_body(f"{i}", joint=ph.joints.Free(), mass=1.0, inertia=inertia)
        for k, pose in enumerate(walls(3.06 * RADIUS)):
            builder.add_contact(f"{i} on wall {k}", f"{i}", np.zeros((1, 3)), Plane(), pose=pose, **about)
        for j in range(i):
            builder.add_contact(
                f"{i} on {j}", f"{i}", np.zeros((1, 3)), Sphere(RADIUS), other=f"{j}", **about
            )
    model, places = builder.build(), np.indices((3, 3, 3)).reshape(3, -1).T[:, ::-1]
    q = np.zeros((count, 6))
    q[:, :3] = 2.04 * RADIUS * (places - [1.0, 1.0, 0.0]) + [0.0, 0.0, 1.05 * RADIUS]
    q[:, :2] += 0.02 * RADIUS * np.random.default_rng(0).uniform(-1.0, 1.0, (count, 2))
    result = ph.simulate(model, model.state(q=q.ravel()), 0.25, STEP)
    found = result.info["constraints"]
    assert found["most_rows"] > 2 * 48
    assert found["residual"] < 1e-9
    # impulses end overlap in a step, but for round-off of impulses
    assert found["overlap"] < 1e-11
    # impacts and friction take energy, symplectic steps add m (g h)^2 / 2 each while a ball falls
    energy = result.energy[:, 2]
    assert energy[-1] < energy[0]
    assert np.diff(energy).max() < count * (9.81 * STEP) ** 2


def test_a_tall_stack_rests() -> None:
    builder, count = ph.ModelBuilder(), 16
    q = np.zeros((count, 6))
    for i in range(count):
        half = RADIUS * (1.0 - 0.02 * i)
        builder.add_body(f"{i}", joint=ph.joints.Free(), mass=1.0, inertia=0.01 * np.eye(3))
        below: Any = Plane() if i == 0 else Box([half + 0.02 * RADIUS] * 3)
        lower = half / RADIUS * CORNERS[CORNERS[:, 2] < 0.0]
        builder.add_contact(f"{i}", f"{i}", lower, below, other=f"{i - 1}" if i else None, friction=0.5)
        q[i, 2] = half + (q[i - 1, 2] + half + 0.02 * RADIUS if i else 0.0)
    model = builder.build()
    result = ph.simulate(model, model.state(q=q.ravel()), 0.1, STEP)
    assert result.info["constraints"]["most_rows"] == 12 * count
    # a relative error of 1e-11 in impulses of m g h leaves a speed of 1e-13 m/s, which the next step undoes
    assert np.abs(result.q[-1] - q.ravel()).max() < 1e-13


def test_fronts_are_solved_as_a_full_matrix() -> None:
    """Of trees of several sizes, in touch at random."""
    rng, sizes = np.random.default_rng(4), np.array([6, 1, 3, 6, 2, 6, 4, 1, 6, 3])
    begins, count = np.cumsum(sizes) - sizes, len(sizes)
    pairs = [(a, b) for a in range(count) for b in range(a) if rng.random() < 0.25]
    trees = np.zeros((sizes.sum() + 1, at.TREE_WIDTH), dtype=np.int64)
    units, lists = np.zeros((len(pairs), at.UNIT_WIDTH), dtype=np.int64), np.zeros(400, dtype=np.int64)
    trees[:count, at.QUEUE] = begins
    trees[begins, at.TREE_STOP], trees[begins, at.TREE_HEAD] = begins + sizes, -1
    for i, pair in enumerate(pairs):
        for side, tree in enumerate(begins[list(pair)]):
            units[i, at.UNIT_TREE + side] = tree
            units[i, at.UNIT_LINK + side], trees[tree, at.TREE_HEAD] = trees[tree, at.TREE_HEAD], 2 * i + side
    sparse = (*[None] * at.UNITS, units, trees, None, lists)
    assert order_trees(count, sparse)
    front = np.zeros(lay_out(count, sparse))
    matrix = np.zeros((sizes.sum(), sizes.sum()))
    for a, b in [*pairs, *((k, k) for k in range(count))]:
        mine, yours = (np.arange(begins[k], begins[k] + sizes[k]) for k in (a, b))
        matrix[np.ix_(mine, yours)] = rng.normal(size=(sizes[a], sizes[b]))
        matrix[np.ix_(yours, mine)] = rng.normal(size=(sizes[b], sizes[a]))
    matrix += 20.0 * np.eye(len(matrix))
    done: set[int] = set()
    for first in trees[:count, at.QUEUE]:
        begin, rows, stride = trees[first, [at.TREE_FRONT, at.TREE_ROWS, at.TREE_STRIDE]]
        links = lists[trees[first, at.TREE_LIST] :][: trees[first, at.TREE_LINKS]]
        all_of = np.concatenate([np.arange(k, trees[k, at.TREE_STOP]) for k in (first, *links)])
        block, own = matrix[np.ix_(all_of, all_of)].copy(), trees[first, at.TREE_STOP] - first
        assert not done & set(all_of.tolist())
        block[own:, own:] = 0.0
        front[begin + stride * np.arange(rows)[:, None] + np.arange(rows)] += block
        done |= set(all_of[:own].tolist())
    shared = trees[begins, at.TREE_STRIDE] > trees[begins, at.TREE_ROWS]
    assert 0 < shared.sum() < count - 1  # some are in another's, some get what remains of one
    right = rng.normal(size=len(matrix))
    x = right.copy()
    assert factorize_fronts(count, trees, lists, front, np.zeros(len(matrix)))
    solve_fronts(count, trees, lists, front, x)
    # its condition is below 10
    assert np.linalg.cond(matrix) < 10.0 and np.abs(matrix @ x - right).max() < 1e-13
