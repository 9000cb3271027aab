"""Checks the arguments of `fit_surface` before anything is computed; errors name the thing and its value."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..errors import FitError
from ..geometry import splines
from ..joints.euler_angles import check_sequence
from ..joints.spline_surface import OUTSIDE
from ..validation import (
    bounded,
    chosen,
    finite_array,
    float_array,
    is_sequence,
    one_each,
    truth,
    whole_number,
)
from .arguments import ORDERS

# the normal matrix is dense: this many control values take 0.3 GB
MOST_VALUES = 1000


def check_shape(num_frames: Any, directions: int | None) -> tuple[int, ...]:
    """Control values of each direction; one number applies to all directions (two, if q does not say how many)."""
    if not is_sequence(num_frames):
        num_frames = [num_frames] * (directions or 2)
    shape = tuple(whole_number(count, "num_frames", 1) for count in num_frames)
    if not 1 <= len(shape) <= 3:
        raise FitError(f"num_frames must be numbers for 1 to 3 directions, got {shape}")
    if directions is not None and len(shape) != directions:
        raise FitError(f"q has {directions} columns but num_frames {shape} has {len(shape)} directions")
    if int(np.prod(shape)) > MOST_VALUES:
        raise FitError(f"num_frames {shape} exceeds the limit of {MOST_VALUES} control values in all")
    return shape


def check_orders(order: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Order of each direction, not above its number of control values."""
    orders = tuple(one_each(order, len(shape), "order"))
    for i, (k, count) in enumerate(zip(orders, shape)):
        if count < whole_number(k, "order", ORDERS[0], ORDERS[-1]):
            raise FitError(f"num_frames must be at least {k} (the order), got {count} in direction {i + 1}")
    return tuple(int(k) for k in orders)


def check_truths(value: Any, directions: int, name: str) -> tuple[bool, ...]:
    """One boolean per direction."""
    return tuple(truth(item, name) for item in one_each(value, directions, name))


def check_places(q: Any, num_poses: int) -> FloatArray:
    """Places (N, n) of the poses, n = 1, 2 or 3; q (N,) is one direction."""
    given = float_array(q, "q")
    given = given[:, None] if given.ndim == 1 else given
    directions = given.shape[1] if given.ndim == 2 else 0
    if not 1 <= directions <= 3:
        raise FitError(f"q must have shape ({num_poses}, n) with n = 1, 2 or 3, got {given.shape}")
    return bounded(finite_array(given, (num_poses, directions), "q"), "q")


def check_domain(domain: Any, directions: int) -> FloatArray:
    """First and last value of each direction (n, 2)."""
    ends = finite_array(domain, (directions, 2), "domain")
    for i, (lower, upper) in enumerate(ends):
        if not upper > lower:
            raise FitError(f"domain of direction {i + 1} is empty or reversed: [{lower:g}, {upper:g}]")
    return ends


def check_knots(
    knots: Any, shape: tuple[int, ...], orders: tuple[int, ...], periodic: tuple[bool, ...]
) -> tuple[FloatArray, ...]:
    """Knots (m_i + order_i,) of each direction."""
    if not isinstance(knots, Sequence | np.ndarray) or len(knots) != len(shape):
        raise FitError(f"knots must be one list for each of {len(shape)} directions, got {knots!r:.80}")
    result = []
    for i, (row, count, order, closed) in enumerate(zip(knots, shape, orders, periodic)):
        name = f"knots of direction {i + 1}"
        array = finite_array(row, (count + order,), name)
        result.append(splines.check_knots(array, order, closed, name))
    return tuple(result)


def even_knots(
    shape: tuple[int, ...], orders: tuple[int, ...], periodic: tuple[bool, ...], domain: FloatArray
) -> tuple[FloatArray, ...]:
    """Even knots over a domain (n, 2), clamped where the direction is open."""
    return tuple(
        splines.periodic_knots(count, order, lower, upper - lower)
        if closed
        else splines.clamped_knots(count, order, lower, upper)
        for count, order, closed, (lower, upper) in zip(shape, orders, periodic, domain.tolist())
    )


def check_spread(q: FloatArray, periodic: tuple[bool, ...], domain: FloatArray) -> None:
    """FitError if places lie outside the range, or do not determine the surface in every direction."""
    for i, (closed, (lower, upper)) in enumerate(zip(periodic, domain)):
        wrong = np.nonzero((q[:, i] < lower) | (q[:, i] > upper))[0]
        if len(wrong) and not closed:
            k = int(wrong[0])
            raise FitError(
                f"q of pose {k} is {q[k, i]:g} in direction {i + 1}, outside the range [{lower:g}, {upper:g}]"
            )
    places = (q - domain[:, 0]) / (domain[:, 1] - domain[:, 0])
    spread = np.linalg.svd(places - places.mean(axis=0), compute_uv=False)
    if len(q) <= q.shape[1] or not spread[-1] > 1e-6 * np.sqrt(len(q)):
        raise FitError(
            f"the {len(q)} poses do not spread in {q.shape[1]} directions: their q lie "
            f"{'on one line' if q.shape[1] == 2 else 'in one place'}, or nearly so"
            if q.shape[1] < 3
            else f"the {len(q)} poses do not spread in 3 directions: their q lie in one plane, or nearly so"
        )


def check_names(sequence: Any, outside: Any) -> None:
    """FitError unless the Euler sequence, if given, and the policy beyond the range are known."""
    if sequence is not None:
        check_sequence(sequence, "spline surface")
    chosen(outside, OUTSIDE, "outside")


def required(q: Any) -> Any:
    """q; FitError if it is missing, which only a fit with an embedding allows."""
    if q is None:
        raise FitError("the naive fit needs q, the places of the poses")
    return q


def range_of(q: FloatArray, periodic: tuple[bool, ...]) -> FloatArray:
    """Extent of given places (n, 2)."""
    if any(periodic):
        raise FitError("a periodic fit with given q needs `domain` (or knots), which gives the period")
    ends: FloatArray = np.stack([q.min(axis=0), q.max(axis=0)], axis=1)
    for i, (lower, upper) in enumerate(ends):
        if not upper > lower:
            raise FitError(f"all q of direction {i + 1} are {lower:g}: the poses do not spread there")
    return ends
