"""How stiffness damping turns with the elements: derivatives of y . f by places, for velocities y and its forces f.

With r = R of the corotated law, or F of the stable Neo-Hookean one, Y = sum y_a g_a^T, Y' that of the rates, A = r^T Y
and B = r^T Y', a tetrahedron has y . f = -V b C(A) : B with the stress C(.) of linear elasticity (see `soft.elements`).
The rates alone change it by the blocks of its damping. Places change it by -V P g_a with

    P = -b R hat(N a)   or   b (Y C(B) + Y' C(A)),

N = (tr(S) I - S)^-1, and a the axis of C(B) A^T + C(A) B^T.
"""

from __future__ import annotations

from ..algebra.spatial import multiply, rotate, transposed
from ..algebra.vectors import Array, Rotation, Vector, add3, cross, dot3, scale_add3
from ..compiler.jit import inline, shared
from ..soft import layout as at
from ..soft.elements import (
    add_spring_forces,
    add_tet_forces,
    along_spring,
    deformation,
    gradient_of,
    turning_inverse,
)
from ..soft.nodes import NOTHING, add_at
from ..soft.polar import mean_of, nearest_rotation, symmetric_part


@inline
def stress_of(mu: float, bulk: float, a: Rotation) -> Rotation:
    """2 mu sym(A) + lambda tr(A) I."""
    mean = bulk * (a[0] + a[4] + a[8])
    xy, xz, yz = mu * (a[1] + a[3]), mu * (a[2] + a[6]), mu * (a[5] + a[7])
    x, y, z = 2.0 * mu * a[0] + mean, 2.0 * mu * a[4] + mean, 2.0 * mu * a[8] + mean
    return x, xy, xz, xy, y, yz, xz, yz, z


@inline
def turning_axis(r: Rotation, f: Rotation, m: Rotation) -> Vector:
    """N a, where a is the axis of M."""
    (xx, yy, zz, yz, xz, xy), share = turning_inverse(*symmetric_part(r, f))
    x, y, z = share * (m[7] - m[5]), share * (m[2] - m[6]), share * (m[3] - m[1])
    return xx * x + xy * y + xz * z, xy * x + yy * y + yz * z, xz * x + yz * y + zz * z


@shared
def pull_tets(mesh: Array, neo: Array, x: Array, v: Array, y: Array, by_x: Array, scratch: Array) -> None:
    """Add the derivatives of tetrahedra."""
    tets, data = mesh[at.TETS], mesh[at.TET_DATA]
    for k in range(tets.shape[0]):
        share = data[k, at.VOLUME] * data[k, at.TET_DAMPING]
        if share == 0.0:
            continue
        f, whole = deformation(tets, data, k, x), neo is not None and neo[k]
        moved, rate = deformation(tets, data, k, y), deformation(tets, data, k, v)
        r = f
        if not whole:
            r = nearest_rotation(f, scratch)
        back = transposed(r)
        a, b = multiply(back, moved), multiply(back, rate)
        own = stress_of(data[k, at.MU], data[k, at.LAMBDA], a)
        other = stress_of(data[k, at.MU], data[k, at.LAMBDA], b)
        if whole:
            stress = mean_of(1.0, multiply(moved, other), 1.0, multiply(rate, own))
        else:
            stress = mean_of(1.0, multiply(other, transposed(a)), 1.0, multiply(own, transposed(b)))
        turn = turning_axis(r, f, stress)
        for c in range(4):
            g = gradient_of(data, k, c)
            change = rotate(stress, g) if whole else rotate(r, cross(g, turn))
            add_at(by_x, tets[k, c], -share, change)


@shared
def pull_springs(mesh: Array, x: Array, v: Array, y: Array, by_x: Array) -> None:
    """Add the derivatives of springs."""
    springs, data = mesh[at.SPRINGS], mesh[at.SPRING_DATA]
    for k in range(springs.shape[0]):
        along = along_spring(springs, k, x)
        square = dot3(along, along)
        if not square > 0.0:
            continue
        moved, rate = along_spring(springs, k, y), along_spring(springs, k, v)
        own, speed = dot3(along, moved) / square, dot3(along, rate) / square
        # moved and rate across the spring
        swung, turned = scale_add3(moved, -own, along), scale_add3(rate, -speed, along)
        change = add3(scale_add3(NOTHING, speed, swung), scale_add3(NOTHING, own, turned))
        share = data[k, at.TENSILE] * data[k, at.SPRING_DAMPING] / data[k, at.REST]
        add_at(by_x, springs[k, 1], -share, change)
        add_at(by_x, springs[k, 0], share, change)


@inline
def work_of(y: Array, f: Array) -> float:
    total = 0.0
    for i in range(f.shape[0]):
        total += y[i] * f[i]
    return total


@shared
def take_elements(
    mesh: Array, neo: Array, parts: tuple[Array, Array, Array, Array], x: Array, v: Array, y: Array, f: Array,
    scratch: Array,
) -> None:  # fmt: skip
    """Add y . f of elements to sums (k, 3): of the tetrahedra without damping, of their stiffness damping of 1 s, and
    of that of all elements. parts: ends (k, 6) as `SoftMesh.ranges`, numbers of tetrahedra and springs with this
    damping, and sums. f is a workspace.
    """
    ends, tet_data, spring_data, sums = parts
    for k in range(sums.shape[0]):
        tets, springs = mesh[at.TETS][ends[k, 0] : ends[k, 1]], mesh[at.SPRINGS][ends[k, 2] : ends[k, 3]]
        data, stretched = tet_data[ends[k, 0] : ends[k, 1]], spring_data[ends[k, 2] : ends[k, 3]]
        own = tets, mesh[at.TET_BLOCKS], data, springs, mesh[at.SPRING_BLOCKS], stretched
        laws = neo
        if neo is not None:
            laws = neo[ends[k, 0] : ends[k, 1]]
        f[:] = 0.0
        add_tet_forces(own, laws, False, x, v, f, scratch)
        elastic = work_of(y, f)
        add_spring_forces(own, False, x, v, f)
        undamped = work_of(y, f)
        f[:] = 0.0
        add_tet_forces(own, laws, True, x, v, f, scratch)
        sums[k, 0] += elastic
        sums[k, 1] += work_of(y, f) - elastic
        add_spring_forces(own, True, x, v, f)
        sums[k, 2] += work_of(y, f) - undamped
