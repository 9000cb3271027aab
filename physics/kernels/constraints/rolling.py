"""Rolling without slip of the two surfaces of a contact joint, a constraint on velocities alone.

The joint is a surface, followed by the other body's motion about the point of contact (Lee & Terzopoulos 2008, sec. 8):
its first factors end in a frame with its origin at the point of contact and its x-y plane tangent there. Slip is the
velocity of the body's material point relative to the parent's.
"""

from __future__ import annotations

from .. import layout as at
from ..algebra.access import load3, load_rotation, load_twist
from ..algebra.spatial import column
from ..algebra.vectors import Array, Vector, add3, cross, dot3, subtract3
from ..compiler.jit import inline, shared
from ..forces.points import material, reference_of, twist_of
from ..joints.kinematics import kinematics
from . import layout as con
from .row_pieces import push_row, sides_of


@inline
def carried(body_int: Array, work: Array, body: int, place: Vector) -> tuple[Vector, Vector]:
    """Angular velocity of a body and velocity of its material point at a place."""
    v = twist_of(work, body)
    return (v[0], v[1], v[2]), material(v, subtract3(place, reference_of(body_int, work, body)))


@shared
def rolling_rows(
    body_int: Array,
    constraints: Array,
    k: int,
    q: Array,
    qd: Array,
    work: Array,
    dof: Array,
    rows: Array,
    jacobian: Array,
) -> None:
    """The two no-slip rows of a contact joint; the body `contact` of the marked model has its kinematics up to the
    contact.
    """
    con_int, _, con_data, marked, spaces = constraints
    body, other, row = sides_of(con_int, k)
    contact = int(con_data[con_int[k, con.CONSTRAINT_DATA]])
    marked_work, marked_dof, flags = spaces
    kinematics(marked, q, qd, marked_work, marked_dof, flags)
    lever = load3(marked_work, contact, at.ORIGIN)
    place = add3(lever, load3(marked_work, marked[at.BODY_INT][contact, at.ROOT], at.REFERENCE))
    v = load_twist(marked_work, contact, at.VELOCITY)
    moving, turning = material(v, lever), (v[0], v[1], v[2])
    axes = load_rotation(marked_work, contact)
    w, velocity = carried(body_int, work, body, place)
    drag, under = carried(body_int, work, other, place)
    # the point of contact moves over both bodies
    drift = subtract3(cross(w, subtract3(moving, velocity)), cross(drag, subtract3(moving, under)))
    slip = subtract3(velocity, under)
    for j in range(2):
        u = column(axes, j)
        bias = push_row(body_int, work, dof, body, other, place, place, u, row + j, jacobian)
        rows[row + j, con.ROW_BIAS] = bias + dot3(u, drift) + dot3(cross(turning, u), slip)
        rows[row + j, con.ROW_VALUE] = 0.0
