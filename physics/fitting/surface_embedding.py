"""Places of scattered poses on a surface that is not known yet, by a smooth embedding of the cloud.

Distances along the cloud go through chains of neighbouring poses, in the metric of SE(3) (Isomap: Tenenbaum, de Silva &
Langford 2000). Classical scaling of a few landmarks (de Silva & Tenenbaum 2004) embeds them in one dimension per open
direction and two per closed one.
"""

from itertools import combinations
from typing import Any

import numpy as np

from .._typing import FloatArray, IntArray
from ..errors import FitError
from ..geometry import lie
from ..geometry.twist_metric import TwistMetric
from .surface_graph import NEIGHBOURS, chord_points, connected, graph_of, neighbour_pairs

LANDMARKS = 100
HARMONICS = 7


def embed(
    poses: FloatArray, metric: TwistMetric, periodic: tuple[bool, ...]
) -> tuple[FloatArray, FloatArray]:
    """Places (N, n) of poses, and the range (n, 2) of each direction, in the metric: nearly a natural parameterization.

    Longer directions come first, among the open and among the closed ones. Each increases with the poses' indices.

    Raises:
        FitError: the poses spread in fewer directions.
    """
    landmarks, lengths = geodesics(pose_graph(poses, metric))
    if not lengths.max() > 1e-6:
        raise FitError(f"the {len(poses)} poses do not move: they span {lengths.max():.3g} rad in the metric")
    closed = sum(periodic)
    flat = classical_scaling(landmarks, lengths, len(periodic) + closed, len(periodic) + HARMONICS * closed)
    angles = []
    for _ in range(closed):
        angle, flat = take_ring(flat)
        angles.append(angle)
    straight = upright(flat[:, : len(periodic) - closed])
    straight = straight - straight.min(axis=0)
    turns = [_circumference(angle, straight, landmarks, lengths) for angle in angles]
    open_order = iter(np.argsort(-np.ptp(straight, axis=0), kind="stable"))
    closed_order = iter(np.argsort(-np.array(turns), kind="stable"))
    q, ends = np.zeros((len(poses), len(periodic))), np.zeros((len(periodic), 2))
    for i, ring in enumerate(periodic):
        if ring:
            k = int(next(closed_order))
            ends[i, 1] = turns[k]
            q[:, i] = angles[k] / (2.0 * np.pi) * turns[k]
        else:
            q[:, i] = _rising(straight[:, next(open_order)])
            ends[i, 1] = q[:, i].max()
    if not (ends[:, 1] > 1e-6 * ends.max()).all():
        raise FitError(
            f"the poses do not spread in {len(periodic)} directions: their extents are {ends[:, 1].tolist()}"
        )
    return q, ends


def pose_graph(poses: FloatArray, metric: TwistMetric) -> Any:
    """Graph of neighbouring poses, weighted by their distances in the metric."""
    flat = chord_points(poses, metric.length_scale)
    count = NEIGHBOURS
    while True:
        rows, columns = neighbour_pairs(flat, count)
        lengths = metric.norm(lie.log(lie.inverse(poses[rows]) @ poses[columns]))
        graph = graph_of(rows, columns, lengths, len(poses))
        if count >= len(poses) - 1 or connected(graph):
            return graph
        count *= 2


def geodesics(graph: Any) -> tuple[IntArray, FloatArray]:
    """Landmarks (l,), each as far from those before it as possible, and the distances of all poses from them (l, N)."""
    from scipy.sparse.csgraph import dijkstra

    size = graph.shape[0]
    nearest = dijkstra(graph, directed=False, indices=0)
    chosen, rows = [], []
    for _ in range(min(LANDMARKS, size)):
        chosen.append(int(np.argmax(nearest)))
        rows.append(dijkstra(graph, directed=False, indices=chosen[-1]))
        nearest = np.minimum(nearest, rows[-1]) if len(rows) > 1 else rows[-1]
    return np.array(chosen), np.array(rows)


def classical_scaling(landmarks: IntArray, lengths: FloatArray, least: int, most: int) -> FloatArray:
    """Points (N, d) whose Euclidean distances approximate those from the landmarks (l, N); d <= `most`.

    Raises:
        FitError: there are fewer than `least` dimensions.
    """
    squares = lengths**2
    between = squares[:, landmarks]
    mean = between.mean(axis=1)
    centred = -0.5 * (between - mean[:, None] - mean + between.mean())
    values, vectors = np.linalg.eigh(centred)
    count = min(most, int((values > 1e-9 * values[-1]).sum()))
    if count < least:
        raise FitError(f"the poses spread in {count} dimensions only, but the directions need {least}")
    values, vectors = values[::-1][:count], vectors[:, ::-1][:, :count]
    return -0.5 * (squares - mean[:, None]).T @ (vectors / np.sqrt(values))


def take_ring(points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Angles (N,) around a ring in two of the dimensions of points (N, d), and coordinates of the rest.

    Distances along a ring are not Euclidean: scaling gives its points the odd harmonics of the angle as further
    coordinates, which may exceed those across the ring. The rest are principal coordinates after subtracting all
    functions of the angle.
    """
    pairs = list(combinations(range(points.shape[1]), 2))
    radii = np.array([np.linalg.norm(points[:, list(pair)], axis=1) for pair in pairs])
    scores = radii.std(axis=1) / radii.mean(axis=1)
    alike = np.where(scores < scores.min() + 0.1, radii.mean(axis=1), 0.0)  # the first of a ring's harmonics
    angles = _ring_angles(points[:, list(pairs[int(np.argmax(alike))])])
    waves = np.outer(angles, np.arange(HARMONICS + 1))
    functions = np.concatenate([np.cos(waves), np.sin(waves[:, 1:])], axis=1)
    rest = points - functions @ np.linalg.lstsq(functions, points, rcond=None)[0]
    _, _, axes = np.linalg.svd(rest, full_matrices=False)
    return angles, rest @ axes.T


def upright(points: FloatArray) -> FloatArray:
    """Points (N, d) turned so that their bounding box is small: the least rectangle in 2D, else principal axes."""
    if points.shape[1] != 2:
        return points  # classical scaling gives principal axes
    from scipy.spatial import ConvexHull, QhullError

    try:
        corners = points[ConvexHull(points).vertices]
    except QhullError:
        return points
    edges = np.roll(corners, -1, axis=0) - corners
    angles = np.arctan2(edges[:, 1], edges[:, 0])
    cosines, sines = np.cos(angles), np.sin(angles)
    turns = np.stack([np.stack([cosines, -sines], axis=1), np.stack([sines, cosines], axis=1)], axis=1)
    areas = np.ptp(corners @ turns, axis=1).prod(axis=1)
    return points @ turns[int(np.argmin(areas))]


def _rising(places: FloatArray) -> FloatArray:
    """Places from 0 on, mirrored if they would decrease with the poses' indices."""
    middle = places - places.mean()
    if middle @ (np.arange(len(places)) - 0.5 * (len(places) - 1)) < 0.0:
        places = -places
    return places - places.min()


def _ring_angles(points: FloatArray) -> FloatArray:
    """Angles in [0, 2 pi) of points (N, 2) about the origin, from the first; mirrored if they would decrease."""
    angles = np.arctan2(points[:, 1], points[:, 0])
    steps = np.diff(angles)
    steps -= 2.0 * np.pi * np.round(steps / (2.0 * np.pi))
    if steps.sum() < 0.0:
        angles = -angles
    return np.mod(angles - angles[0], 2.0 * np.pi)


def _circumference(
    angles: FloatArray, straight: FloatArray, landmarks: IntArray, lengths: FloatArray
) -> float:
    """Length of one turn, from distances between poses that are neither close nor opposite on the ring."""
    rise = np.abs(angles - angles[landmarks][:, None])
    rise = np.minimum(rise, 2.0 * np.pi - rise)
    across = ((straight - straight[landmarks][:, None]) ** 2).sum(axis=-1)
    along = lengths**2 - across
    used = (rise > 0.5) & (rise < 2.5) & (along > 0.5 * lengths**2)
    used = used if used.any() else rise > 0.1
    return float(2.0 * np.pi * np.median(np.sqrt(np.maximum(along[used], 0.0)) / rise[used]))
