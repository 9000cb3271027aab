"""Derivatives of the forces of elements between bodies by coordinates and velocities."""

from .. import layout as at
from ..algebra.access import load6, load_twist
from ..algebra.spatial import bracket
from ..algebra.vectors import STILL, Array, Twist, dot6, scale_add6
from ..compiler.jit import shared
from ..joints.tangent import MOVED, wrench_turned
from .elements import element_tangent, element_wrench, is_idle


@shared
def take_along(body_int: Array, body: int, change: Twist, e: int, slopes: Array, dof: Array) -> None:
    """Subtract a wrench's derivative from column e of all coordinates that move the body."""
    while body >= 0:
        first = body_int[body, at.DOF_START]
        for d in range(first, first + body_int[body, at.DOF_COUNT]):
            slopes[d, e] -= dot6(load_twist(dof, d, at.SUBSPACE), change)
        body = body_int[body, at.PARENT]


@shared
def add_element_slopes(
    arrays: tuple[Array, Array, Array, Array, Array],
    tau: Array,
    by_q: Array,
    by_qd: Array,
    tangent: Array,
    work: Array,
    dof: Array,
) -> None:
    """Subtract the derivatives of all elements from those of inverse dynamics, except for the rotation of their
    wrenches with the bodies, which is already included.

    A coordinate that moves both ends of an element only rotates its wrenches.
    """
    body_int, _, _, data, dof_float = arrays
    nv = dof_float.shape[0]
    row = int(data[at.ELEMENT_ROWS])
    for _ in range(int(data[at.ELEMENT_COUNT])):
        if is_idle(data, tau, nv, row):
            row += int(data[row + at.ELEMENT_SIZE])
            continue
        body, other = int(data[row + at.ELEMENT_BODY]), int(data[row + at.ELEMENT_OTHER])
        wa, wb = element_wrench(body_int, data, tau, nv, row, work)
        a, b = body, other
        while a != b:
            moving_a = a > b  # parents come first: the body with the larger number cannot carry the other
            i = a if moving_a else b
            end = body if moving_a else other
            first = body_int[i, at.DOF_START]
            for e in range(first, first + body_int[i, at.DOF_COUNT]):
                s = load_twist(dof, e, at.SUBSPACE)
                rate = scale_add6(
                    load6(tangent, e, MOVED), 1.0, bracket(s, load_twist(work, end, at.VELOCITY))
                )
                for way in range(2):
                    eta, nu = (s, rate) if way == 0 else (STILL, s)
                    slopes = by_q if way == 0 else by_qd
                    moves = (eta, nu, STILL, STILL) if moving_a else (STILL, STILL, eta, nu)
                    dwa, dwb = element_tangent(body_int, data, tau, nv, row, work, moves)
                    if moving_a:
                        dwa = scale_add6(dwa, -1.0, wrench_turned(eta, wa))
                    else:
                        dwb = scale_add6(dwb, -1.0, wrench_turned(eta, wb))
                    take_along(body_int, body, dwa, e, slopes, dof)
                    take_along(body_int, other, dwb, e, slopes, dof)
            if moving_a:
                a = body_int[a, at.PARENT]
            else:
                b = body_int[b, at.PARENT]
        row += int(data[row + at.ELEMENT_SIZE])
