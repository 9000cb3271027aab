"""Graphs of neighbouring points: the fewest neighbours that connect all of them, spanning trees, geodesic distances."""

from typing import Any

import numpy as np

from .._typing import FloatArray, IntArray

NEIGHBOURS = 8
# Distance of coincident points: a sparse graph would drop an edge of length 0.
LEAST = 1e-12


def chord_points(poses: FloatArray, length_scale: float) -> FloatArray:
    """Points (N, 12) with the distances of close poses (N, 4, 4), good enough to find neighbours.

    Rotation matrices over sqrt(2) differ by the angle between them, to second order.
    """
    turns = poses[:, :3, :3].reshape(-1, 9) / np.sqrt(2.0)
    return np.concatenate([turns, poses[:, :3, 3] / length_scale], axis=1)


def neighbour_pairs(points: FloatArray, count: int) -> tuple[IntArray, IntArray]:
    """Index pairs of points (N, d) and their nearest neighbours."""
    from scipy.spatial import cKDTree

    count = min(count, len(points) - 1)
    _, nearest = cKDTree(points).query(points, count + 1)
    rows = np.repeat(np.arange(len(points)), count + 1)
    columns = nearest.ravel()
    apart = rows != columns
    return rows[apart], columns[apart]


def graph_of(rows: IntArray, columns: IntArray, lengths: FloatArray, size: int) -> Any:
    """Sparse matrix of an undirected graph."""
    from scipy.sparse import coo_matrix

    one_way = coo_matrix((np.maximum(lengths, LEAST), (rows, columns)), (size, size)).tocsr()
    return one_way.maximum(one_way.T)


def connected(graph: Any) -> bool:
    from scipy.sparse.csgraph import connected_components

    return bool(connected_components(graph, directed=False)[0] == 1)


def neighbour_graph(points: FloatArray) -> Any:
    """Connected graph of points (N, d) with their nearest neighbours, more of them if the cloud has gaps."""
    count = NEIGHBOURS
    while True:
        rows, columns = neighbour_pairs(points, count)
        graph = graph_of(rows, columns, np.linalg.norm(points[rows] - points[columns], axis=1), len(points))
        if count >= len(points) - 1 or connected(graph):
            return graph
        count *= 2


def spanning_tree(graph: Any) -> tuple[IntArray, IntArray]:
    """Points of a minimum spanning tree from the root outwards, and the parent of each."""
    from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

    tree = minimum_spanning_tree(graph)
    order, parents = breadth_first_order(tree, 0, directed=False)
    return order.astype(np.int64), parents.astype(np.int64)


def levels(order: IntArray, parents: IntArray) -> list[IntArray]:
    """Points of a tree grouped by distance from the root, without the root."""
    depth = np.zeros(len(parents), dtype=np.int64)
    for point in order[1:]:
        depth[point] = depth[parents[point]] + 1
    by_depth = np.argsort(depth, kind="stable")
    groups = np.split(by_depth, np.nonzero(np.diff(depth[by_depth]))[0] + 1)
    return groups[1:]
