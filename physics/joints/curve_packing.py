"""Frames, twists and spline curves as rows of numbers for the kernels (see ``kernels.layout``)."""

import numpy as np

from .._typing import FloatArray
from ..kernels import layout


def kernel_poses(frames: FloatArray) -> FloatArray:
    """Poses (n, 4, 4) as rows (n, 12): rotation by rows, then position."""
    return np.concatenate([frames[:, :3, :3].reshape(-1, 9), frames[:, :3, 3]], axis=1)


def kernel_twists(twists: FloatArray) -> FloatArray:
    """Twists (n, 6) as rows (n, 11): n, |w|, v, n x v, n . v (see ``kernels.algebra.spatial.exp_twist``)."""
    w, v = twists[:, :3], twists[:, 3:]
    rate = np.linalg.norm(w, axis=1, keepdims=True)
    axis = np.divide(w, rate, out=np.zeros_like(w), where=rate > 0.0)
    return np.concatenate([axis, rate, v, np.cross(axis, v), (axis * v).sum(axis=1, keepdims=True)], axis=1)


def negated_twists(rows: FloatArray) -> FloatArray:
    """Rows (..., 11) of `kernel_twists` for the opposite twists."""
    signs = np.ones(layout.TWIST_WIDTH)
    signs[[0, 1, 2, 4, 5, 6]] = -1.0
    return rows * signs


def inverted_poses(rows: FloatArray) -> FloatArray:
    """Rows (n, 12) of `kernel_poses` for the inverse poses."""
    rotation = rows[:, :9].reshape(-1, 3, 3).transpose(0, 2, 1)
    position = -np.einsum("nij,nj->ni", rotation, rows[:, 9:])
    return np.concatenate([rotation.reshape(-1, 9), position], axis=1)


def span_rows(data: FloatArray) -> tuple[int, FloatArray]:
    """Start of the spans in a spline block, and their rows (spans, width): base frames, twists and polynomials."""
    spans, order = int(data[layout.SPLINE_SPANS]), int(data[layout.SPLINE_ORDER])
    start = layout.SPLINE_HEADER + 2 * int(data[layout.SPLINE_BUCKETS]) + 2 * (spans + 1)
    stride = 12 + (order - 1) * (layout.TWIST_WIDTH + order)
    return start, data[start : start + spans * stride].reshape(spans, stride)


def inverted_spline(data: FloatArray) -> FloatArray:
    """Data of a spline block for the inverse motion: twists negated and in reverse order, frames inverted."""
    result, order = data.copy(), int(data[layout.SPLINE_ORDER])
    start, rows = span_rows(data)
    factors = rows[:, 12:].reshape(len(rows), order - 1, layout.TWIST_WIDTH + order)[:, ::-1].copy()
    factors[..., : layout.TWIST_WIDTH] = negated_twists(factors[..., : layout.TWIST_WIDTH])
    turned = np.concatenate([inverted_poses(rows[:, :12]), factors.reshape(len(rows), -1)], axis=1)
    result[start : start + rows.size] = turned.ravel()
    stop = start + rows.size + 2 * (12 + layout.TWIST_WIDTH)
    ends = data[start + rows.size : stop].reshape(2, 12 + layout.TWIST_WIDTH)
    flipped = np.concatenate([inverted_poses(ends[:, :12]), negated_twists(ends[:, 12:])], axis=1)
    result[start + rows.size : stop] = flipped.ravel()
    result[layout.SPLINE_INVERTED] = 1.0 - data[layout.SPLINE_INVERTED]
    return with_turned(result)


def with_turned(data: FloatArray) -> FloatArray:
    """Data of a spline block, with the spans of the kernels' fast path added where it applies."""
    whole = data[: int(data[layout.SPLINE_TURNED]) or len(data)].copy()
    whole[layout.SPLINE_TURNED] = 0.0
    if whole[layout.SPLINE_ORDER] != 4.0 or whole[layout.SPLINE_INVERTED] or whole[layout.SPLINE_PACE]:
        return whole
    whole[layout.SPLINE_TURNED] = len(whole)
    return np.concatenate([whole, _turned_spans(whole).ravel()])


def _turned_spans(data: FloatArray) -> FloatArray:
    """The spans (n, TURNED_WIDTH) of a cubic curve for the fast path, see ``kernels.layout``.

    exp(g phi) with the axis n of g is B exp(B^T g phi) B^T for a rotation B whose z axis is n; neighbours merge.
    """
    rows = span_rows(data)[1]
    count = len(rows)
    factors = rows[:, 12:].reshape(count, 3, layout.TWIST_WIDTH + 4)
    axes = _rotations_to(factors[..., :3])
    following = np.concatenate([axes[:, 1:], np.broadcast_to(np.eye(3), (count, 1, 3, 3))], axis=1)
    back = axes.swapaxes(-1, -2)
    velocity = np.einsum("nkij,nkj->nki", back, factors[..., 4:7])
    between = (back @ following).reshape(count, 3, 9)
    polynomials = factors[..., layout.TWIST_WIDTH :]
    second = np.concatenate([velocity, between], axis=2)
    frames = rows[:, :9].reshape(count, 3, 3)
    turn, shift = factors[:, 0, :3] * factors[:, 0, 3:4], factors[:, 0, 4:7]
    turn, shift = (np.einsum("nij,nj->ni", frames, part) for part in (turn, shift))
    first = np.zeros((count, 11, 4))  # vectors padded to four numbers
    first[:, :3, :3] = (frames @ axes[:, 0]).swapaxes(1, 2)
    first[:, 3, :3], first[:, 4, :3] = rows[:, 9:12], turn
    first[:, 5, :3] = shift + np.cross(rows[:, 9:12], turn)
    first[:, 6:10, :3], first[:, 10, :3] = polynomials.swapaxes(1, 2), factors[..., 3]
    return np.concatenate([first.reshape(count, -1), second.reshape(count, -1)], axis=1)


def _rotations_to(axes: FloatArray) -> FloatArray:
    """Rotations (..., 3, 3) with z axes (..., 3), unit vectors; the identity's z axis where these are 0."""
    z = np.where((axes == 0.0).all(axis=-1, keepdims=True), [0.0, 0.0, 1.0], axes)
    # start from the coordinate axis farthest from z, so that nothing cancels
    x = np.eye(3)[np.argmin(np.abs(z), axis=-1)]
    x = x - (x * z).sum(axis=-1, keepdims=True) * z
    x /= np.linalg.norm(x, axis=-1, keepdims=True)
    return np.stack([x, np.cross(z, x), z], axis=-1)


def kernel_breaks(breaks: FloatArray) -> FloatArray:
    """Breaks (n + 1,), each followed by 1 / the width of the span that begins there: (2 n + 2,)."""
    rows: FloatArray = np.stack([breaks, np.append(1.0 / np.diff(breaks), 0.0)], axis=1)
    return rows.ravel()


def bucket_table(breaks: FloatArray) -> tuple[int, FloatArray]:
    """The number of equal buckets over the range, and (2 buckets,) the knot spans in which each begins and ends.

    There are as many as spans: with even knots no bucket contains a knot, and a span is found at once.
    """
    spans = len(breaks) - 1
    edges = np.linspace(breaks[0], breaks[-1], spans + 1)
    # round-off may put a parameter into the next bucket: a knot this close to an edge counts as on it
    slack = 16.0 * np.finfo(float).eps * (np.abs(breaks[[0, -1]]).sum() + breaks[-1] - breaks[0])
    begin = np.searchsorted(breaks, edges[:-1] + slack, side="right") - 1
    end = np.searchsorted(breaks, edges[1:] - slack, side="right") - 1
    table = np.stack([begin, end], axis=1).clip(0, spans - 1).astype(np.float64)
    return spans, table.ravel()
