"""Coordinates of a joint at the pose nearest to a given one: over a grid of samples, then by Newton's method.

Distance is |log(G(q)^-1 P)| in a left-invariant metric (Lee & Terzopoulos 2008, eq. 36).
"""

import math

from .. import layout as at
from ..algebra.access import load3, load6, load9, load_twist
from ..algebra.pose_error import double_cross, inverse_coefficients, rotation_log
from ..algebra.spatial import multiply, rotate, transposed
from ..algebra.vectors import Array, Rotation, Twist, Vector, add3, cross, dot6
from ..compiler.jit import entry, inline, shared
from ..dynamics.jacobian import body_frame, in_frame
from ..joints.kinematics import kinematics

# rows of vectors with one number a coordinate: present place, gradient, step, trial, gradient of differences, zeros,
# second derivatives (three rows) and their Cholesky factors (three rows)
HERE, SLOPE, STEP, TRIAL, BESIDE, STILL, CURVATURE, FACTOR = 0, 1, 2, 3, 4, 5, 6, 9
VECTOR_ROWS = 12

MOST_STEPS = 60
FIRST_DAMPING, MOST_DAMPING = 1e-4, 1e12
# step of gradient differences, as a share of a coordinate's spacing
DIFFERENCE = 1e-5
# share of the spacing below which a step counts as zero
SMALL = 1e-11
# decrease of the cost at round-off, relative
NOTHING = 1e-17
# share of the spacing within which two minima are the same
SAME = 0.01


@inline
def relative(r: Rotation, p: Vector, goal_r: Rotation, goal_p: Vector) -> tuple[Vector, Vector]:
    """Rotation vector and position of a goal in the frame (r, p)."""
    away = rotate(transposed(r), (goal_p[0] - p[0], goal_p[1] - p[1], goal_p[2] - p[2]))
    return rotation_log(multiply(transposed(r), goal_r)), away


@inline
def times_metric(metric: Array, x: Twist) -> Twist:
    return (
        dot6(load6(metric, 0, 0), x), dot6(load6(metric, 1, 0), x), dot6(load6(metric, 2, 0), x),
        dot6(load6(metric, 3, 0), x), dot6(load6(metric, 4, 0), x), dot6(load6(metric, 5, 0), x),
    )  # fmt: skip


@shared
def squared_distance(r: Rotation, p: Vector, goal_r: Rotation, goal_p: Vector, metric: Array) -> float:
    """|log(G^-1 P)|^2 in the metric."""
    turn, away = relative(r, p, goal_r, goal_p)
    zeta, _ = inverse_coefficients(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2])
    shift = double_cross(-0.5, zeta, turn, away)
    x = (turn[0], turn[1], turn[2], shift[0], shift[1], shift[2])
    return dot6(x, times_metric(metric, x))


@inline
def log_rate(s: Twist, turn: Vector, away: Vector, zeta: float, zeta_rate: float) -> Twist:
    """Change of log(G^-1 P) = (turn, G_s(turn) away) when G moves with the body twist s."""
    w = (s[0], s[1], s[2])
    turning = double_cross(-0.5, zeta, turn, w)
    turning = (-turning[0], -turning[1], -turning[2])
    swing = cross(w, away)
    straight = double_cross(-0.5, zeta, turn, (-s[3] - swing[0], -s[4] - swing[1], -s[5] - swing[2]))
    once = cross(turn, away)
    twice = cross(turn, once)
    a = cross(turning, away)
    b = cross(turning, once)
    c = cross(turn, a)
    along = zeta_rate * (turn[0] * turning[0] + turn[1] * turning[1] + turn[2] * turning[2])
    return (
        turning[0],
        turning[1],
        turning[2],
        straight[0] - 0.5 * a[0] + zeta * (b[0] + c[0]) + along * twice[0],
        straight[1] - 0.5 * a[1] + zeta * (b[1] + c[1]) + along * twice[1],
        straight[2] - 0.5 * a[2] + zeta * (b[2] + c[2]) + along * twice[2],
    )


@shared
def slope(
    arrays: Array, q: Array, goal: Array, metric: Array, still: Array, gradient: Array, spaces: Array
) -> float:
    """Half the squared distance at q and its gradient; spaces is (work, dof, flags)."""
    work, dof, flags = spaces
    kinematics(arrays, q, still, work, dof, flags)
    r, p = body_frame(arrays[at.BODY_FLOAT], 0, work)
    goal_r, goal_p = load9(goal, 0, 0), load3(goal, 0, 9)
    reference = load3(work, 0, at.REFERENCE)
    turn, away = relative(r, add3(p, reference), goal_r, goal_p)
    zeta, zeta_rate = inverse_coefficients(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2])
    shift = double_cross(-0.5, zeta, turn, away)
    x = (turn[0], turn[1], turn[2], shift[0], shift[1], shift[2])
    force = times_metric(metric, x)
    for d in range(q.shape[0]):
        s = in_frame(r, p, load_twist(dof, d, at.SUBSPACE))
        gradient[d] = dot6(force, log_rate(s, turn, away, zeta, zeta_rate))
    return 0.5 * dot6(x, force)


@shared
def curvature(
    arrays: Array, goal: Array, metric: Array, bounds: Array, spacing: Array, vectors: Array, spaces: Array
) -> None:
    """Second derivatives from differences of the gradient; near a bound the step is away from it."""
    n = spacing.shape[0]
    for i in range(n):
        kept = vectors[HERE, i]
        step = DIFFERENCE * spacing[i]
        if kept + step > bounds[i, 1]:
            step = -step
        vectors[HERE, i] = kept + step
        slope(arrays, vectors[HERE], goal, metric, vectors[STILL], vectors[BESIDE], spaces)
        vectors[HERE, i] = kept
        for j in range(n):
            vectors[CURVATURE + i, j] = (vectors[BESIDE, j] - vectors[SLOPE, j]) / step
    for i in range(n):
        for j in range(i):
            mean = 0.5 * (vectors[CURVATURE + i, j] + vectors[CURVATURE + j, i])
            vectors[CURVATURE + i, j] = mean
            vectors[CURVATURE + j, i] = mean


@shared
def at_bound(vectors: Array, bounds: Array, d: int) -> bool:
    """Whether a coordinate is at a bound with its slope outwards."""
    below = vectors[HERE, d] <= bounds[d, 0] and vectors[SLOPE, d] >= 0.0
    return bool(below or (vectors[HERE, d] >= bounds[d, 1] and vectors[SLOPE, d] <= 0.0))


@shared
def newton_step(damping: float, bounds: Array, spacing: Array, vectors: Array) -> bool:
    """The damped step of the free coordinates; False if the damped curvature is not positive."""
    n = spacing.shape[0]
    for i in range(n):
        vectors[STEP, i] = 0.0
        if at_bound(vectors, bounds, i):
            continue
        for j in range(i + 1):
            if at_bound(vectors, bounds, j):
                vectors[FACTOR + i, j] = 0.0
                continue
            entry = vectors[CURVATURE + i, j]
            if i == j:
                entry += damping / (spacing[i] * spacing[i])
            for k in range(j):
                entry -= vectors[FACTOR + i, k] * vectors[FACTOR + j, k]
            if i > j:
                vectors[FACTOR + i, j] = entry / vectors[FACTOR + j, j]
            elif entry > 0.0:
                vectors[FACTOR + i, i] = math.sqrt(entry)
            else:
                return False
        x = -vectors[SLOPE, i]
        for k in range(i):
            x -= vectors[FACTOR + i, k] * vectors[STEP, k]
        vectors[STEP, i] = x / vectors[FACTOR + i, i]
    for i in range(n - 1, -1, -1):
        if at_bound(vectors, bounds, i):
            continue
        x = vectors[STEP, i]
        for k in range(i + 1, n):
            if not at_bound(vectors, bounds, k):
                x -= vectors[FACTOR + k, i] * vectors[STEP, k]
        vectors[STEP, i] = x / vectors[FACTOR + i, i]
    return True


@shared
def refine(
    arrays: Array, goal: Array, metric: Array, bounds: Array, spacing: Array, vectors: Array, spaces: Array
) -> float:
    """Descend from vectors[HERE] to the minimum of half the squared distance, which it returns."""
    n = spacing.shape[0]
    cost = slope(arrays, vectors[HERE], goal, metric, vectors[STILL], vectors[SLOPE], spaces)
    damping = FIRST_DAMPING * cost
    fresh = True
    for _ in range(MOST_STEPS):
        if fresh:
            curvature(arrays, goal, metric, bounds, spacing, vectors, spaces)
        while not newton_step(damping, bounds, spacing, vectors):
            if not damping <= MOST_DAMPING:  # a curvature that is not finite
                return cost
            damping = max(10.0 * damping, 1e-12)
        size, hoped = 0.0, 0.0
        for d in range(n):
            # at most two samples: beyond that another start is nearer
            step = min(max(vectors[STEP, d], -2.0 * spacing[d]), 2.0 * spacing[d])
            vectors[TRIAL, d] = min(max(vectors[HERE, d] + step, bounds[d, 0]), bounds[d, 1])
            size = max(size, abs(vectors[TRIAL, d] - vectors[HERE, d]) / spacing[d])
            hoped -= 0.5 * vectors[STEP, d] * vectors[SLOPE, d]
        if size <= SMALL or hoped <= NOTHING * cost:
            break
        there = slope(arrays, vectors[TRIAL], goal, metric, vectors[STILL], vectors[BESIDE], spaces)
        fresh = there < cost
        if fresh:
            for d in range(n):
                vectors[HERE, d] = vectors[TRIAL, d]
                vectors[SLOPE, d] = vectors[BESIDE, d]
            cost = there
            damping *= 0.1
        else:
            damping = max(10.0 * damping, 1e-6 * cost)
        if damping > MOST_DAMPING:
            break
    return cost


@shared
def is_lowest(distances: Array, shape: Array, wraps: Array, m: int) -> bool:
    """Whether no neighbour of sample m along one of the coordinates is nearer.

    Diagonal neighbours are excluded: across a ridge they may belong to another minimum.
    """
    stride = 1
    for axis in range(2, -1, -1):
        place = (m // stride) % shape[axis]
        for side in range(-1, 2, 2):
            there = place + side
            if wraps[axis] != 0:
                there = there % shape[axis]
            if 0 <= there < shape[axis] and distances[m + (there - place) * stride] < distances[m]:
                return False
        stride *= shape[axis]
    return True


@entry
def project(
    arrays: Array,
    goals: Array,
    metric: Array,
    grid: Array,
    bounds: Array,
    spacing: Array,
    q: Array,
    distances: Array,
    vectors: Array,
    spaces: Array,
) -> None:
    """Nearest coordinates q (N, n) to every goal (N, 1, 12).

    grid is (places (M, n), poses (M, 12), reach (M,) distance [in the metric] to a sample's neighbours, shape (3,),
    wraps (3,), the distance to each of one goal's samples (M,)). Every sample nearer than its neighbours is refined,
    unless its distance less its reach exceeds the best found.
    """
    places, poses, reach, shape, wraps, apart = grid
    n = places.shape[1]
    for g in range(goals.shape[0]):
        goal_r, goal_p = load9(goals[g], 0, 0), load3(goals[g], 0, 9)
        nearest = 0
        for m in range(places.shape[0]):
            square = squared_distance(load9(poses, m, 0), load3(poses, m, 9), goal_r, goal_p, metric)
            apart[m] = math.sqrt(max(square, 0.0))
            if apart[m] < apart[nearest]:
                nearest = m
        best = math.inf
        for k in range(-1, places.shape[0]):
            m = nearest if k < 0 else k
            if k == nearest or apart[m] - reach[m] >= best or not is_lowest(apart, shape, wraps, m):
                continue
            for d in range(n):
                vectors[HERE, d] = places[m, d]
            found = math.sqrt(2.0 * refine(arrays, goals[g], metric, bounds, spacing, vectors, spaces))
            if found < best:
                best = found
                for d in range(n):
                    q[g, d] = vectors[HERE, d]
            if spaces[at.FLAGS][at.STATUS] != at.OK:
                return
        distances[g] = best


@inline
def go_down(
    arrays: Array,
    goal: Array,
    metric: Array,
    bounds: Array,
    spacing: Array,
    start: Array,
    vectors: Array,
    spaces: Array,
) -> float:
    """Distance at the minimum below start, which is left in vectors[HERE]."""
    for d in range(spacing.shape[0]):
        vectors[HERE, d] = start[d]
    return math.sqrt(2.0 * refine(arrays, goal, metric, bounds, spacing, vectors, spaces))


@entry
def find_leaps(
    arrays: Array,
    goals: Array,
    metric: Array,
    bounds: Array,
    spacing: Array,
    turns: Array,
    q: Array,
    leapt: Array,
    vectors: Array,
    spaces: Array,
) -> None:
    """Mark every goal whose coordinates are not at the minimum next to those of the goal before it. turns
    (n,) are the periods of coordinates, 0 if there is none.
    """
    for g in range(1, goals.shape[0]):
        go_down(arrays, goals[g], metric, bounds, spacing, q[g - 1], vectors, spaces)
        for d in range(spacing.shape[0]):
            away = q[g, d] - vectors[HERE, d]
            if turns[d] > 0.0:
                away -= turns[d] * round(away / turns[d])
            if abs(away) > SAME * spacing[d]:
                leapt[g] = True


@entry
def follow(
    arrays: Array,
    goals: Array,
    metric: Array,
    bounds: Array,
    spacing: Array,
    start: Array,
    most: Array,
    q: Array,
    distances: Array,
    vectors: Array,
    spaces: Array,
) -> bool:
    """Coordinates q (N, n) of goals: each search descends from the previous goal's result, the first from start; False
    if a goal is farther away than most (N,).
    """
    for g in range(goals.shape[0]):
        before = start if g == 0 else q[g - 1]
        distances[g] = go_down(arrays, goals[g], metric, bounds, spacing, before, vectors, spaces)
        for d in range(spacing.shape[0]):
            q[g, d] = vectors[HERE, d]
        if not distances[g] <= most[g]:
            return False
    return True
