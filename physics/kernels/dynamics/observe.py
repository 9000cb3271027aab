"""Poses and energies of whole sequences of states, and the geometry of one joint."""

from .. import layout as at
from ..algebra.access import flat3, load3, load9, load_rotation, load_twist
from ..algebra.inertia import kinetic_energy_of
from ..algebra.lanes import add_columns_times, add_lanes, dot_lanes, lanes_of, load_axes, load_lanes
from ..algebra.spatial import multiply, rotate
from ..algebra.vectors import NONE, Array, add3
from ..compiler.jit import entry, shared
from ..forces.elements import element_potential
from ..forces.limits import limit_potential
from ..forces.passive import passive_potential
from ..joints.kinematics import kinematics
from ..muscles.mass import muscle_energies


@shared
def potential_energy(arrays: Array, q: Array, work: Array) -> float:
    """Potential energy of gravity, joints, elements and compliant limits, at the bodies' poses from `kinematics`."""
    body_int, body_float, _, data, dof_float = arrays
    potential, none, gravity = 0.0, lanes_of(NONE), lanes_of(flat3(data, at.GRAVITY))
    for i in range(body_int.shape[0]):
        place = add_lanes(
            load_lanes(work, i, at.ORIGIN), load_lanes(work, body_int[i, at.ROOT], at.REFERENCE)
        )
        com = add_columns_times(place, load_axes(work, i), load3(body_float, i, at.COM))
        potential -= body_float[i, at.MASS] * dot_lanes(gravity, com, none, none)
    for d in range(q.shape[0]):
        potential += passive_potential(dof_float, data, d, q[d])
    if data[at.ELEMENT_COUNT] > 0.0:
        potential += element_potential(body_int, data, work)
    if data[at.LIMIT_COUNT] > 0.0:
        potential += limit_potential(data, q)
    return potential


@entry
def observe(
    arrays: Array, q: Array, qd: Array, poses: Array, energy: Array, work: Array, dof: Array, flags: Array
) -> None:
    """Poses (samples, nb, 4, 4) of the body frames and energy (samples, 3: kinetic, potential, total)."""
    body_int, body_float, _, _, dof_float = arrays
    for sample in range(q.shape[0]):
        kinetic = 0.0
        kinematics(arrays, q[sample], qd[sample], work, dof, flags)
        for i in range(body_int.shape[0]):
            kinetic += kinetic_energy_of(body_float, i, work)
            store_body_pose(
                body_float, i, work, load3(work, body_int[i, at.ROOT], at.REFERENCE), poses[sample, i]
            )
        for d in range(q.shape[1]):
            kinetic += 0.5 * dof_float[d, at.ARMATURE] * qd[sample, d] * qd[sample, d]
        potential = potential_energy(arrays, q[sample], work)
        if arrays[at.MODEL_DATA][at.MUSCLE_COUNT] > 0.0:
            own, stored = muscle_energies(arrays, q[sample], qd[sample], work)
            kinetic += own
            potential += stored
        energy[sample, 0] = kinetic
        energy[sample, 1] = potential
        energy[sample, 2] = kinetic + potential


@shared
def store_body_pose(
    body_float: Array, i: int, work: Array, reference: tuple[float, float, float], pose: Array
) -> None:
    """World pose of body i's own frame, which has a constant offset in its link frame."""
    r = load_rotation(work, i)
    p = add3(load3(work, i, at.ORIGIN), rotate(r, load3(body_float, i, at.BODY_FRAME + 9)))
    p = add3(p, reference)
    r = multiply(r, load9(body_float, i, at.BODY_FRAME))
    for row in range(3):
        pose[row, 3] = p[row]
        for column in range(3):
            pose[row, column] = r[3 * row + column]
        pose[3, row] = 0.0
    pose[3, 3] = 1.0


@entry
def joint_geometry(
    arrays: Array, q: Array, directions: Array, pose: Array, columns: Array, biases: Array, flags_work: Array
) -> None:
    """Link pose (12,), motion subspace (n, 6) and bias (k, 6) along each direction of a model with one body, in world
    axes about the link's origin; flags_work is (work, dof, flags).
    """
    body_int = arrays[at.BODY_INT]
    work, dof, flags = flags_work
    for k in range(directions.shape[0]):
        kinematics(arrays, q, directions[k], work, dof, flags)
        bias = load_twist(work, 0, at.BIAS)
        for j in range(6):
            biases[k, j] = bias[j]
    for d in range(body_int[0, at.DOF_COUNT]):
        column = load_twist(dof, d, at.SUBSPACE)
        for j in range(6):
            columns[d, j] = column[j]
    r = load_rotation(work, 0)
    p = load3(work, 0, at.REFERENCE)
    for j in range(9):
        pose[j] = r[j]
    for j in range(3):
        pose[9 + j] = p[j]
