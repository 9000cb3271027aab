"""Maximal coordinates: the twists, inertias and wrenches of all bodies, and their Jacobian from reduced coordinates.

Wang 2022, chapters 3 and 4. With phi (6 nb) the twists of all bodies, each in its own frame,

    phi = J_mr q',    phi' = J_mr q'' + J_mr' q',    M_m phi' = f_m + joint reactions.

The reactions do no work, so M_r q'' = f_r (eq. 4.18).
"""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import kernels
from .._typing import FloatArray
from ..bodies.state import State
from ..errors import ModelError
from ..geometry import lie
from ..kernels import layout
from ..model.checks import check_flags, check_state, inputs_alone, refuse_soft
from ..model.model import Model
from ..validation import finite_array


class MaximalCoordinates:
    """A state in maximal coordinates, made by `maximal_coordinates`. Its arrays must not be changed.

    Twists are [angular, linear], wrenches [moment, force], each in the frame of its body and about that frame's
    origin; nb is the number of bodies, nv that of reduced coordinates.

    Attributes:
        model, state: the arguments.
        twists: phi (nb, 6) [rad/s, m/s].
        inertias: spatial inertias (nb, 6, 6), the blocks of M_m (eq. 3.24; not diagonal if the origin of a body's frame
            is not its centre of mass).
        wrenches: f_m (nb, 6) [N m, N]: ad(phi)^T M phi (eq. 3.21), gravity (eq. 3.22), springs and other force
            elements between bodies.
        joint_forces: generalized forces of the joints' springs, dampers and limits (nv,).
        jacobian_rate_product: J_mr' q' (nb, 6), the rates of the twists at zero accelerations.
    """

    def __init__(self, model: Model, state: State, inputs: Any = None) -> None:
        self.model, self.state = model, state
        nb, nv = model.num_bodies, model.num_coordinates
        self._frames = np.empty((nb, 12))
        self.twists = np.empty((nb, 6))
        self.jacobian_rate_product = np.empty((nb, 6))
        self.wrenches = np.empty((nb, 6))
        self.joint_forces = np.empty(nv)
        work, self._dof, flags = model.workspace().clear()
        moving = (self.twists, self.jacobian_rate_product, self.wrenches)
        q, qd = np.array(state.q), np.array(state.qd)
        tau = np.concatenate([inputs_alone(model, inputs), model.carried(state.muscle_states)])
        kernels.dynamics.maximal.motions(
            model.arrays, q, qd, tau, self._frames, moving, self.joint_forces, work, self._dof, flags
        )
        check_flags(model, flags)
        masses, coms, moments = zip(*((body.mass, body.com, body.inertia) for body in model.bodies))
        self.inertias = lie.spatial_inertia(masses, np.array(coms), np.array(moments))
        roots = model.arrays[0][:, layout.ROOT]
        self._references = work[roots, layout.REFERENCE : layout.REFERENCE + 3].copy()
        rotations = self._frames[:, :9].reshape(nb, 3, 3)
        fall = np.einsum("bji,j->bi", rotations, model.gravity)  # R^T g
        self.wrenches += np.einsum("bij,bj->bi", self.inertias[:, :, 3:], fall)

    @cached_property
    def poses_in_tree(self) -> FloatArray:
        """Poses (nb, 4, 4) of the body frames in world axes, relative to the origin of their tree's root."""
        poses = np.tile(np.eye(4), (len(self._frames), 1, 1))
        poses[:, :3, :3] = self._frames[:, :9].reshape(-1, 3, 3)
        poses[:, :3, 3] = self._frames[:, 9:]
        return poses

    @cached_property
    def poses(self) -> FloatArray:
        """World poses (nb, 4, 4) of the body frames."""
        poses = self.poses_in_tree.copy()
        poses[:, :3, 3] += self._references
        return poses

    def jacobian_product(self, x: Any) -> FloatArray:
        """J_mr x (nb, 6) of rates of the coordinates x (nv,), in O(n) (eqs. 4.10-4.13)."""
        x = finite_array(x, (self.model.num_coordinates,), "rates of the coordinates")
        result = np.empty_like(self.twists)
        kernels.dynamics.maximal.spread(
            self.model.arrays[0], self._frames, self._dof, x, np.empty_like(result), result
        )
        return result

    def jacobian_transpose_product(self, wrenches: Any) -> FloatArray:
        """J_mr^T w (nv,): the generalized forces of wrenches w (nb, 6) on the bodies, in O(n)."""
        return self.gathered(wrenches)[0]

    def gathered(self, wrenches: Any) -> tuple[FloatArray, FloatArray]:
        """J_mr^T w, and for each body the total wrench (nb, 6) on its subtree."""
        nb, nv = self.model.num_bodies, self.model.num_coordinates
        w = finite_array(wrenches, (nb, 6), "wrenches on the bodies")
        forces, carried = np.empty(nv), np.empty((nb, 6))
        kernels.dynamics.maximal.gather(
            self.model.arrays[0], self._frames, self._dof, w, np.zeros((nb, 6)), forces, carried
        )
        return forces, carried

    @cached_property
    def _owner(self) -> NDArray[np.int64]:
        """The body of each coordinate (nv,)."""
        return np.repeat(
            np.arange(self.model.num_bodies, dtype=np.int64), self.model.arrays[0][:, layout.DOF_COUNT]
        )

    @cached_property
    def _moved(self) -> NDArray[np.bool_]:
        """Which coordinates move which bodies (nb, nv)."""
        below = np.eye(self.model.num_bodies, dtype=np.bool_)  # [i, j]: i is in the subtree of j
        for i, parent in enumerate(self.model.parent):
            if parent >= 0:
                below[i] |= below[parent]
        return below[:, self._owner]

    @cached_property
    def jacobian(self) -> FloatArray:
        """J_mr (6 nb, nv), dense (eq. 4.13, Algorithm 1)."""
        columns = self._dof[:, layout.SUBSPACE + np.array(layout.TWIST)]
        blocks = np.einsum("bij,dj,bd->bid", lie.adjoint_inverse(self.poses_in_tree), columns, self._moved)
        return np.asarray(blocks.reshape(-1, self.model.num_coordinates), dtype=np.float64)

    @cached_property
    def jacobian_rate(self) -> FloatArray:
        """J_mr' (6 nb, nv), dense (eqs. 4.15-4.17, Algorithm 2).

        With s = Ad_i r the column r of joint i in world axes, s' = Ad_i (r' + ad(phi_i) r). The column of a body k that
        the joint moves is Ad_k^-1 s, its rate Ad_k^-1 s' - ad(phi_k) Ad_k^-1 s: the recursion of Algorithm 2 in
        closed form.
        """
        model, owner = self.model, self._owner
        nb, nv = model.num_bodies, model.num_coordinates
        rates = np.zeros((nv, 6))  # r' of each column, in the frame of its own body
        for body in model.bodies:
            where = model.coordinate_slice(body.name)
            hessian = body.joint.evaluate(self.state.q[where])[2]
            moving = np.einsum("aij,j->ia", hessian, self.state.qd[where])
            rates[where] = moving @ lie.adjoint_inverse(body.body_in_joint).T
        blocks = self.jacobian.reshape(nb, 6, nv)
        turning = lie.ad(self.twists)
        own = blocks[owner, :, np.arange(nv)]
        rates += np.einsum("dij,dj->di", turning[owner], own)
        columns = np.einsum("dij,dj->di", lie.adjoint(self.poses_in_tree)[owner], rates)
        result = np.einsum("bij,dj,bd->bid", lie.adjoint_inverse(self.poses_in_tree), columns, self._moved)
        result -= turning @ blocks
        return np.asarray(result.reshape(-1, nv), dtype=np.float64)

    @cached_property
    def reduced_inertia(self) -> FloatArray:
        """M_r = J_mr^T M_m J_mr (nv, nv), with the armature of the joints (eq. 4.18)."""
        nb, nv = self.model.num_bodies, self.model.num_coordinates
        weighted = self.inertias @ self.jacobian.reshape(nb, 6, nv)
        matrix = self.jacobian.T @ weighted.reshape(-1, nv)
        armature = self.model.arrays[4][:, layout.ARMATURE]
        return 0.5 * (matrix + matrix.T) + np.diag(armature)

    @cached_property
    def quadratic_velocity_vector(self) -> FloatArray:
        """-J_mr^T M_m J_mr' q' (nv,), the velocity terms of f_r (eq. 4.18); in O(n)."""
        return self.jacobian_transpose_product(
            -np.einsum("bij,bj->bi", self.inertias, self.jacobian_rate_product)
        )

    def reduced_forces(self, tau: Any = None, wrenches: Any = None) -> FloatArray:
        """f_r = J_mr^T (f_m - M_m J_mr' q') + joint forces (nv,) (eqs. 4.18, 4.76); in O(n).

        Args:
            tau: additional generalized forces (nv,). wrenches: additional ones on the bodies (nb, 6), in their frames.
        """
        total = self.joint_forces + self.quadratic_velocity_vector
        if tau is not None:
            total = total + finite_array(tau, total.shape, "tau")
        on_bodies = self.wrenches
        if wrenches is not None:
            on_bodies = on_bodies + finite_array(wrenches, on_bodies.shape, "wrenches on the bodies")
        return total + self.jacobian_transpose_product(on_bodies)

    def accelerations(self, tau: Any = None, wrenches: Any = None) -> FloatArray:
        """q'' (nv,) of M_r q'' = f_r by the dense matrix in O(n^3); arguments as in `reduced_forces`.

        Prescribed coordinates keep their velocity.
        """
        forces = self.reduced_forces(tau, wrenches)
        free = ~self.model.prescribed
        qdd = np.zeros(len(forces))
        qdd[free] = positive_solve(self.reduced_inertia[np.ix_(free, free)], forces[free])
        return qdd


def positive_solve(matrix: FloatArray, right: FloatArray) -> FloatArray:
    """Solve A x = b for a positive definite A, scaled to a unit diagonal first because it mixes metres and radians."""
    if not len(matrix):
        return np.zeros(right.shape)
    scale = 1.0 / np.sqrt(np.diag(matrix))
    try:
        factor = np.linalg.cholesky(matrix * np.outer(scale, scale))
    except np.linalg.LinAlgError as error:
        raise ModelError(
            f"the mass matrix ({len(matrix)} coordinates) is singular: a coordinate moves no inertia at this state"
        ) from error
    half = np.linalg.solve(factor, (right.T * scale).T)
    return (np.linalg.solve(factor.T, half).T * scale).T


def maximal_coordinates(model: Model, state: State, inputs: Any = None) -> MaximalCoordinates:
    """The state in maximal coordinates: twists, inertias, wrenches, and the Jacobian to them (Wang 2022, ch. 3, 4).

    inputs: of the model, (num_inputs,) or {name: number}; the model's values if not given.

    Raises:
        ModelError: the state does not belong to the model; velocities or forces are not finite; a muscle has mass.
        JointRangeError: a coordinate outside the range of a joint whose policy is ``"error"``.
    """
    state = check_state(model, state)
    refuse_soft(model)
    for muscle in model.muscles:
        if muscle.has_inertia:
            raise ModelError(
                f"muscle {muscle.name!r} has inertia that belongs to no body: maximal coordinates do not support it"
            )
    return MaximalCoordinates(model, state, inputs)
