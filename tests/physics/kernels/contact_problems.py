"""Impulse problems of mechanisms: rows J, inverse mass matrices, W = J M^-1 J^T, right = J v."""

from dataclasses import dataclass

import numpy as np

from physics.kernels.constraints.layout import EQUALITY, NORMAL, TANGENT, UNILATERAL
from physics.kernels.contact.impulse_layout import impulse_space
from physics.kernels.contact.impulses import solve_impulses


@dataclass
class Problem:
    matrix: np.ndarray
    right: np.ndarray
    kinds: np.ndarray
    friction: np.ndarray

    def solve(self, impulse=None):
        """The kernel's impulses and residual."""
        n = len(self.right)
        shape, length = impulse_space(n)
        result = np.zeros(n) if impulse is None else impulse.copy()
        residual = solve_impulses(
            n,
            self.matrix,
            self.right,
            self.kinds,
            self.friction,
            result,
            np.zeros(shape),
            np.zeros(length, np.int64),
        )
        return result, residual


def problem(jacobian, inverse_mass, velocity, kinds, friction):
    matrix = jacobian @ inverse_mass @ jacobian.T
    return Problem(
        np.ascontiguousarray(0.5 * (matrix + matrix.T)),
        jacobian @ velocity,
        np.array(kinds, dtype=np.int64),
        np.array(friction, dtype=np.float64),
    )


def contact_rows(body, num_bodies, point, normal, other=-1, other_point=None):
    """Rows (3, 6 num_bodies) of a contact: normal speed and two tangential ones of free bodies (angular, linear)."""
    helper = np.eye(3)[np.argmin(np.abs(normal))]
    t1 = np.cross(normal, helper)
    t1 /= np.linalg.norm(t1)
    frame = np.array([normal, t1, np.cross(normal, t1)])
    rows = np.zeros((3, 6 * num_bodies))
    rows[:, 6 * body : 6 * body + 3] = np.cross(point, frame)
    rows[:, 6 * body + 3 : 6 * body + 6] = frame
    if other >= 0:
        rows[:, 6 * other : 6 * other + 3] = -np.cross(other_point, frame)
        rows[:, 6 * other + 3 : 6 * other + 6] = -frame
    return rows


def box_stack(masses, friction, velocity=None, seed=0, points=4):
    """A stack of boxes of side 1 on the ground, four points each; by default velocities of a step under gravity."""
    n = len(masses)
    inverse = np.zeros(6 * n)
    rows = []
    for i, mass in enumerate(masses):
        inverse[6 * i : 6 * i + 3] = 6.0 / mass
        inverse[6 * i + 3 : 6 * i + 6] = 1.0 / mass
        for x in (-0.5, 0.5):
            for y in (-0.5, 0.5):
                rows.append(
                    contact_rows(
                        i, n, np.array([x, y, -0.5]), np.array([0.0, 0.0, 1.0]), i - 1, np.array([x, y, 0.5])
                    )
                )
    v = np.zeros(6 * n)
    v[5::6] = -9.81e-3
    if velocity is not None:
        v = v + velocity
    count = len(rows)
    return problem(
        np.vstack(rows), np.diag(inverse), v, [NORMAL, TANGENT, TANGENT] * count, np.full(3 * count, friction)
    )


def random_problem(
    rng, contacts, coordinates, equalities=0, unilaterals=0, friction=None, spread=0.0, parallel=False
):
    """Rows of random Jacobians, some redundant, on a random mass matrix whose moments span decades."""
    kinds = [EQUALITY] * equalities + [UNILATERAL] * unilaterals + [NORMAL, TANGENT, TANGENT] * contacts
    order = np.arange(len(kinds))
    jacobian = rng.normal(size=(len(kinds), coordinates))
    if equalities > 1:
        jacobian[1] = -2.0 * jacobian[0]
    q, _ = np.linalg.qr(rng.normal(size=(coordinates, coordinates)))
    inverse = (q * 10.0 ** rng.uniform(-spread, spread, coordinates)) @ q.T
    mu = rng.uniform(0.0, 1.5, len(kinds)) if friction is None else np.full(len(kinds), friction)
    return problem(jacobian[order], inverse, rng.normal(size=coordinates), kinds, mu)


def pile(rng, bodies, contacts_each, friction=None, ratio=1.0):
    """Free bodies with random contacts with the ground and each other, random normals and velocities."""
    inverse = np.zeros(6 * bodies)
    rows = []
    for i in range(bodies):
        mass = ratio ** rng.uniform(-0.5, 0.5)
        inverse[6 * i : 6 * i + 3] = 1.0 / (mass * rng.uniform(0.1, 0.4, 3))
        inverse[6 * i + 3 : 6 * i + 6] = 1.0 / mass
        for _ in range(contacts_each):
            normal = rng.normal(size=3) + np.array([0.0, 0.0, 1.5])
            normal /= np.linalg.norm(normal)
            other = int(rng.integers(-1, bodies))
            if other == i:
                other = -1
            rows.append(
                contact_rows(
                    i,
                    bodies,
                    -normal * 0.5 + 0.2 * rng.normal(size=3),
                    normal,
                    other,
                    0.5 * rng.normal(size=3),
                )
            )
    count = len(rows)
    mu = rng.uniform(0.0, 1.2, 3 * count) if friction is None else np.full(3 * count, friction)
    v = rng.normal(size=6 * bodies)
    v[5::6] -= 2.0
    return problem(np.vstack(rows), np.diag(inverse), v, [NORMAL, TANGENT, TANGENT] * count, mu)
