"""-y^T dR/dp of a stage for the parameters of bodies, coordinates, gravity and inputs; see `stage`.

y is a velocity of the coordinates: with Y the twist that it gives a body, V and A its velocity and its acceleration in
a world that accelerates upwards, y^T ID is the sum over bodies of Y . (I A + V x* I V). With the mass centre at c, the
velocity y_c that Y gives it, and its acceleration a_c, this is

    m y_c . a_c + Y_w . (I_c A_w + V_w x I_c V_w).
"""

from __future__ import annotations

from .. import layout as at
from ..algebra.access import load3, load_rotation, load_twist, store_twist
from ..algebra.spatial import rotate, transposed
from ..algebra.vectors import STILL, Array, Vector, add3, cross, dot3, dot6, scale_add6
from ..compiler.jit import inline, shared
from ..forces.elements import given_wrenches
from ..forces.passive import control_force
from ..forces.points import material
from . import layout as adjoint

# where the twists Y are kept
TWIST = at.FORCE


@inline
def take3(sums: Array, row: int, column: int, factor: float, x: Vector) -> None:
    for k in range(3):
        sums[row, column + k] -= factor * x[k]


@shared
def take_bodies(arrays: Array, y: Array, bodies: Array, gravity: Array, work: Array, dof: Array) -> None:
    """Bodies (nb, 10) and gravity (3,), in one outward pass; it leaves the twists Y in `TWIST`."""
    body_int, body_float, _, _, _ = arrays
    for i in range(body_int.shape[0]):
        parent, first = body_int[i, at.PARENT], body_int[i, at.DOF_START]
        along = load_twist(work, parent, TWIST) if parent >= 0 else STILL
        for d in range(first, first + body_int[i, at.DOF_COUNT]):
            along = scale_add6(along, y[d], load_twist(dof, d, at.SUBSPACE))
        store_twist(work, i, TWIST, along)
        turn, mass = load_rotation(work, i), body_float[i, at.MASS]
        c = add3(load3(work, i, at.ORIGIN), rotate(turn, load3(body_float, i, at.COM)))
        v, a = load_twist(work, i, at.VELOCITY), load_twist(work, i, at.ACCELERATION)
        w, alpha, spin = (v[0], v[1], v[2]), (a[0], a[1], a[2]), (along[0], along[1], along[2])
        y_c, a_c = material(along, c), add3(material(a, c), cross(w, material(v, c)))
        bodies[i, adjoint.BY_MASS] -= dot3(y_c, a_c)
        for k in range(3):
            gravity[k] += mass * y_c[k]
        by_c = add3(add3(cross(a_c, spin), cross(y_c, alpha)), cross(cross(y_c, w), w))
        back = transposed(turn)
        take3(bodies, i, adjoint.BY_COM, mass, rotate(back, by_c))
        # the symmetric part of Y_w A_w^T + (Y_w x V_w) V_w^T
        s, b, w = rotate(back, spin), rotate(back, alpha), rotate(back, w)
        z, column = cross(s, w), adjoint.BY_INERTIA
        take3(bodies, i, column, 1.0, (s[0] * b[0], s[1] * b[1], s[2] * b[2]))
        take3(bodies, i, column, 1.0, (z[0] * w[0], z[1] * w[1], z[2] * w[2]))
        column += 3
        take3(bodies, i, column, 1.0, (s[0] * b[1], s[0] * b[2], s[1] * b[2]))
        take3(bodies, i, column, 1.0, (s[1] * b[0], s[2] * b[0], s[2] * b[1]))
        take3(bodies, i, column, 1.0, (z[0] * w[1], z[0] * w[2], z[1] * w[2]))
        take3(bodies, i, column, 1.0, (z[1] * w[0], z[2] * w[0], z[2] * w[1]))


@shared
def take_coordinates(dof_float: Array, q: Array, qd: Array, y: Array, coordinates: Array) -> None:
    """Springs and dampers of coordinates (nv, 3): the force of one is -k (q - q0) - c q'."""
    for d in range(q.shape[0]):
        coordinates[d, adjoint.BY_STIFFNESS] -= y[d] * (q[d] - dof_float[d, at.REST])
        coordinates[d, adjoint.BY_REST] += y[d] * dof_float[d, at.STIFFNESS]
        coordinates[d, adjoint.BY_DAMPING] -= y[d] * qd[d]


@shared
def add_inputs(arrays: Array, q: Array, qd: Array, tau: Array, y: Array, by_tau: Array, work: Array) -> None:
    """Generalized forces, and the inputs of wrenches and controllers, to by_tau (nv + inputs,); after `take_bodies`."""
    body_int, _, _, data, dof_float = arrays
    nv = q.shape[0]
    for d in range(nv):
        by_tau[d] += y[d]
        law = int(dof_float[d, at.LAW])
        if law == 0 or data[law + at.LAW_TARGET] < 0.0:
            continue
        if abs(control_force(data, law, tau, nv, q[d], qd[d])) < data[law + at.LAW_MOST]:
            by_tau[nv + int(data[law + at.LAW_TARGET])] += y[d] * data[law + at.LAW_GAIN]
            by_tau[nv + int(data[law + at.LAW_TARGET_RATE])] += y[d] * data[law + at.LAW_RATE_GAIN]
    row = int(data[at.ELEMENT_ROWS])
    for _ in range(int(data[at.ELEMENT_COUNT])):
        if int(data[row + at.ELEMENT_KIND]) == at.WRENCH_ELEMENT and data[row + at.WRENCH_INPUT] >= 0.0:
            number, other = nv + int(data[row + at.WRENCH_INPUT]), int(data[row + at.ELEMENT_OTHER])
            wrench, opposite = given_wrenches(body_int, data, 1.0, row, work)
            by_tau[number] += dot6(load_twist(work, int(data[row + at.ELEMENT_BODY]), TWIST), wrench)
            if other >= 0:
                by_tau[number] += dot6(load_twist(work, other, TWIST), opposite)
        row += int(data[row + at.ELEMENT_SIZE])
