"""The letters of SIGGRAPH as round strokes about skeletons, and the stretches of outline that neighbours touch.

Everything lies in the plane of a letter: x to the right, z upward, the middle of its height at 0. The outline of a
round stroke about the skeleton's convex hull consists of arcs about the hull's corners and straight lines between them.
Where such a line does not run along a stroke, the letter recedes from it. The stretches between those gaps are the
letter's own surface; two letters that touch there with opposite normals cannot overlap.
"""

from functools import cache

import numpy as np

from physics._typing import FloatArray

SCALE = 0.15  # m, height of a letter
HALF, STROKE = 0.37 * SCALE, 0.13 * SCALE  # m: skeleton from -HALF to HALF, radius of the strokes
SAMPLE = 0.01 * SCALE  # m between points of a skeleton
WIDEST = np.radians(100.0)  # that a stretch's normal turns away from straight to the left or right
RIGHT, LEFT = 0.0, np.pi  # normals [rad] of the sides


def line(*corners: tuple[float, float]) -> FloatArray:
    """Points (n, 2) along a broken line, in letter heights."""
    parts = []
    for begin, end in zip(np.array(corners[:-1]), np.array(corners[1:])):
        count = max(2, int(np.ceil(np.linalg.norm(end - begin) * SCALE / SAMPLE)) + 1)
        parts.append(begin + np.linspace(0.0, 1.0, count)[:, None] * (end - begin))
    return np.vstack(parts)


def arc(center: tuple[float, float], width: float, height: float, begin: float, end: float) -> FloatArray:
    """Points (n, 2) along part of an ellipse between two angles in degrees, in letter heights."""
    count = max(2, int(np.ceil(np.radians(abs(end - begin)) * max(width, height) * SCALE / SAMPLE)))
    turn = np.radians(np.linspace(begin, end, count))
    return np.column_stack([center[0] + width * np.cos(turn), center[1] + height * np.sin(turn)])


def bowl_and_stem() -> list[FloatArray]:
    """The common strokes of P and R."""
    return [
        line((-0.22, -0.37), (-0.22, 0.37), (0.03, 0.37)),
        arc((0.03, 0.185), 0.185, 0.185, 90.0, -90.0),
        line((0.03, 0.0), (-0.22, 0.0)),
    ]


def strokes(letter: str) -> list[FloatArray]:
    """Strokes of a letter, each points (n, 2), in letter heights."""
    if letter == "S":
        upper = arc((0.0, 0.185), 0.20, 0.185, 20.0, 270.0)
        return [upper, arc((0.0, -0.185), 0.21, 0.185, 90.0, -160.0)]
    if letter == "I":
        return [line((0.0, -0.37), (0.0, 0.37))]
    if letter == "G":
        return [arc((0.0, 0.0), 0.30, 0.37, 48.0, 360.0), line((0.30, 0.0), (0.10, 0.0))]
    if letter == "R":
        return [*bowl_and_stem(), line((-0.02, 0.0), (0.26, -0.37))]
    if letter == "A":
        return [line((-0.28, -0.37), (0.0, 0.37), (0.28, -0.37)), line((-0.174, -0.09), (0.174, -0.09))]
    if letter == "P":
        return bowl_and_stem()
    if letter == "H":
        stems = [line((x, -0.37), (x, 0.37)) for x in (-0.23, 0.23)]
        return [*stems, line((-0.23, 0.0), (0.23, 0.0))]
    raise ValueError(f"there is no letter {letter!r} here; there are S, I, G, R, A, P, H")


@cache
def skeleton(letter: str) -> FloatArray:
    """Points (n, 2) on the middle of a letter's strokes [m]."""
    return np.vstack(strokes(letter)) * SCALE


def hull(points: FloatArray) -> FloatArray:
    """Corners (m, 2) of the convex hull, counter-clockwise (Andrew's monotone chain)."""
    ordered = np.unique(np.round(points, 12), axis=0)
    chains = []
    for sequence in (ordered, ordered[::-1]):
        chain: list[FloatArray] = []
        for point in sequence:
            while len(chain) > 1 and cross(chain[-1] - chain[-2], point - chain[-2]) <= 1e-12:
                chain.pop()
            chain.append(point)
        chains.append(chain[:-1])
    return np.array([*chains[0], *chains[1]])


def cross(one: FloatArray, other: FloatArray) -> float:
    return float(one[0] * other[1] - one[1] * other[0])


@cache
def stretch(letter: str, side: float, count: int = 0) -> FloatArray:
    """Outline of a letter's own surface on one side: x, z, and the angle of the normal, (n, 3), counter-clockwise.

    Args:
        side: RIGHT or LEFT; the stretch extends as far as the letter touches its hull, or to WIDEST.
        count: of points, evenly apart in length plus angle; 0: one for every 8 degrees at the stroke's end.
    """
    corners = hull(skeleton(letter))
    edges = np.roll(corners, -1, axis=0) - corners
    normals = np.arctan2(-edges[:, 0], edges[:, 1])
    normals = normals[0] + (normals - normals[0]) % (2.0 * np.pi)  # round once, counter-clockwise
    rows = []
    for index, corner in enumerate(corners):
        before, after = normals[index - 1], normals[index]
        before -= 2.0 * np.pi if before > after else 0.0
        turn = np.linspace(before, after, max(2, int(np.ceil((after - before) / 0.01))))
        rows += [(corner[0], corner[1], angle, 0.0) for angle in turn[:-1]]
        rows.append((corner[0], corner[1], turn[-1], float(is_gap(letter, corner, edges[index]))))
    way = np.array(rows)
    way = np.vstack([way + [0.0, 0.0, 2.0 * np.pi * lap, 0.0] for lap in (-1, 0, 1)])
    middle = int(np.argmin(np.abs(way[:, 2] - side)))
    gaps = np.flatnonzero((way[:, 3] > 0.0) | (np.abs(way[:, 2] - side) > WIDEST))
    first = gaps[gaps < middle].max(initial=-1) + 1
    last = gaps[gaps >= middle].min(initial=len(way) - 1)
    part = way[first : last + 1, :3]
    part = part[np.abs(part[:, 2] - side) <= WIDEST]
    points = part[:, :2] + STROKE * np.column_stack([np.cos(part[:, 2]), np.sin(part[:, 2])])
    travel = np.linalg.norm(np.diff(points, axis=0), axis=1) + STROKE * np.diff(part[:, 2])
    along = np.concatenate([[0.0], np.cumsum(travel)])
    count = count or max(6, int(np.ceil(along[-1] / (2.0 * STROKE * np.radians(8.0)))))
    places = np.linspace(0.0, along[-1], count)
    return np.column_stack(
        [np.interp(places, along, values) for values in (points[:, 0], points[:, 1], part[:, 2])]
    )


def is_gap(letter: str, corner: FloatArray, edge: FloatArray) -> bool:
    """Whether the letter recedes from an edge of its hull."""
    middle = corner + 0.5 * edge
    return bool(np.linalg.norm(skeleton(letter) - middle, axis=1).min() > SAMPLE)


def frames_on(outline: FloatArray, inward: bool = False) -> FloatArray:
    """Frames (n, 4, 4) on an outline (n, 3): z along its normal, outward or inward, x along it, y across the plane."""
    turn = outline[:, 2]
    zero = np.zeros_like(turn)
    sign = -1.0 if inward else 1.0
    normal = sign * np.column_stack([np.cos(turn), zero, np.sin(turn)])
    along = sign * np.column_stack([-np.sin(turn), zero, np.cos(turn)])
    frames = np.broadcast_to(np.eye(4), (len(turn), 4, 4)).copy()
    frames[:, :3, :3] = np.stack([along, np.cross(normal, along), normal], axis=-1)
    frames[:, 0, 3], frames[:, 2, 3] = outline[:, 0], outline[:, 1]
    return frames
