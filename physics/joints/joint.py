"""The base of all joints."""

import json
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from .. import kernels
from .._typing import FloatArray
from ..errors import JointRangeError, ModelError
from ..geometry import lie
from ..geometry.immutable import ReadOnlyArrays, Value
from ..kernels import layout
from ..validation import check_fields, finite, finite_array, float_array
from .base import Factorization
from .packing import Workspace, pack_joint


class Joint(ReadOnlyArrays, Value):
    """Base of all joints. A joint is immutable; equal joints have equal ``to_dict()``.

    Attributes:
        type: the joint's name in files and menus; empty: it is in none.
        coordinate_names: one name a coordinate.
        coordinate_units: ``"rad"``, ``"m"``, ``"s"`` or ``"1"`` for each.
    """

    type: ClassVar[str] = ""
    coordinate_names: tuple[str, ...] = ()
    coordinate_units: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_fields(self, owner=f"{self.type.replace('_', ' ')} joint ")

    def factorization(self) -> Factorization:
        """The joint's factors for the kernels."""
        raise TypeError(f"{type(self).__name__} must define factorization()")

    @property
    def num_coordinates(self) -> int:
        return len(self.coordinate_names)

    @property
    def range(self) -> FloatArray:
        """Lower and upper end of each coordinate (n, 2); infinite where it is unbounded."""
        return np.tile([-np.inf, np.inf], (self.num_coordinates, 1))

    @property
    def prescribed(self) -> tuple[bool, ...]:
        """Which coordinates keep their velocity whatever the forces, such as the time of a deforming surface."""
        return (False,) * self.num_coordinates

    @property
    def kinematic_only(self) -> str:
        """Why dynamics cannot use the joint; empty if it can."""
        return ""

    @property
    def cusps(self) -> tuple[tuple[int, FloatArray, float], ...]:
        """Coordinates at which the motion turns at once: which coordinate, where (k,), and the restitution."""
        return ()

    @property
    def angle_groups(self) -> tuple[tuple[int, str], ...]:
        """First coordinate and sequence of every rotation vector that is read as Euler angles."""
        return ()

    @property
    def rotation_limits(self) -> tuple[tuple[int, Any], ...]:
        """First coordinate and limit of every rotation vector that has one (see ``rotation_limits``)."""
        return ()

    @property
    def reading_names(self) -> tuple[str, ...]:
        """Names of the `readings`."""
        return self.coordinate_names

    @property
    def reading_units(self) -> tuple[str, ...]:
        return self.coordinate_units

    def readings(self, q: Any) -> FloatArray:
        """Values (..., n) that users see and limits bound: the coordinates q (..., n), unless the joint has others.

        A joint that turns in exponential coordinates may have Euler angles as readings.
        """
        return self._one_each(q, f"{self.type} joint coordinates")

    def from_readings(self, values: Any) -> FloatArray:
        """Coordinates (..., n) at which `readings` gives these values (..., n)."""
        return self._one_each(values, f"{self.type} joint readings")

    def _one_each(self, values: Any, name: str) -> FloatArray:
        """The values (..., n); a plain number is enough for one coordinate."""
        array = np.atleast_1d(float_array(values, name))
        if array.shape[-1] != self.num_coordinates:
            raise ModelError(f"{name} must have shape (..., {self.num_coordinates}), got {array.shape}")
        return array

    @cached_property
    def _arrays(self) -> Any:
        return pack_joint(self.factorization(), self.num_coordinates)

    @cached_property
    def _after(self) -> FloatArray:
        return self.factorization().after

    def evaluate(self, q: Any) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Pose, Jacobian and Hessian of the joint.

        Args:
            q: coordinates (n,), or a number for a joint with one.

        Returns:
            G (4, 4); S (6, n), column i the body twist of coordinate i; dS (6, n, n), dS[:, i, j] = d s_i / d q_j
            (Lee & Terzopoulos 2008, eqs. 27-31; dS is not symmetric in i and j).

        Raises:
            ModelError: q has the wrong shape or is not finite.
            JointRangeError: q lies outside a joint whose policy is ``"error"``.
        """
        n = self.num_coordinates
        name = f"{self.type} joint coordinates"
        q = finite_array(np.atleast_1d(float_array(q, name)), (n,), name)
        arrays = self._arrays
        rows, columns = np.triu_indices(n)
        directions: FloatArray = np.maximum(np.eye(n)[rows], np.eye(n)[columns])
        if not n:  # the pose comes from the same pass, so one empty direction
            directions = np.zeros((1, 0))
        pose, subspace, biases = np.empty(12), np.empty((n, 6)), np.empty((len(directions), 6))
        workspace = Workspace(1, n).clear()
        kernels.dynamics.observe.joint_geometry(arrays, q, directions, pose, subspace, biases, workspace)
        self._check_range(workspace[2], q)
        link = np.eye(4)
        link[:3, :3], link[:3, 3] = pose[:9].reshape(3, 3), pose[9:]
        transform = link @ self._after
        lever = transform[:3, 3] - link[:3, 3]
        to_body = lie.adjoint_inverse(_pose(transform[:3, :3], lever))
        subspace = to_body @ subspace.T
        return transform, subspace, _hessian(subspace, (to_body @ biases.T)[:, : len(rows)])

    def transform(self, q: Any) -> FloatArray:
        """Poses (..., 4, 4) at coordinates (..., n).

        Raises:
            ModelError: q has the wrong shape or is not finite.
            JointRangeError: q lies outside a joint whose policy is ``"error"``.
        """
        q = finite(q, f"{self.type} joint coordinates")
        n = self.num_coordinates
        if q.ndim == 0 or q.shape[-1] != n:
            raise ModelError(f"{self.type} joint coordinates must have shape (..., {n}), got {q.shape}")
        batch = q.shape[:-1]
        samples = q.reshape(int(np.prod(batch)), n)
        arrays = self._arrays
        poses = np.empty((len(samples), 1, 4, 4))
        workspace = Workspace(1, n).clear()
        kernels.dynamics.observe.observe(
            arrays, samples, np.zeros_like(samples), poses, np.empty((len(samples), 3)), *workspace
        )
        self._check_range(workspace[2], q)
        return poses[:, 0].reshape(*batch, 4, 4)

    def _check_range(self, flags: Any, q: FloatArray) -> None:
        if flags[layout.STATUS] == layout.OUT_OF_RANGE:
            raise JointRangeError(
                f"{self.type} joint coordinates {np.array2string(q, threshold=6)} leave the range {self.range.tolist()}"
            )

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Joint) and self._key == other._key)

    def __hash__(self) -> int:
        return hash(self._key)

    @cached_property
    def _key(self) -> str:
        return json.dumps(self.to_dict(), sort_keys=True)

    def __getstate__(self) -> dict[str, Any]:
        # without cached values
        return {name: value for name, value in self.__dict__.items() if not name.startswith("_")}


def _pose(rotation: FloatArray, position: FloatArray) -> FloatArray:
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rotation, position
    return pose


def _hessian(subspace: FloatArray, biases: FloatArray) -> FloatArray:
    """dS from the quadratic form Q(q') = sum dS_ij q'_i q'_j, by polarization and dS_ij - dS_ji = ad_{s_i} s_j.

    biases (6, k) contains Q(e_i) for i = j (the direction is e_i alone) and Q(e_i + e_j) elsewhere, row by row of the
    upper triangle.
    """
    n = subspace.shape[1]
    rows, columns = np.triu_indices(n)
    form = np.zeros((6, n, n))
    form[:, rows, columns] = form[:, columns, rows] = biases
    alone = np.einsum("aii->ai", form).copy()
    twists = np.einsum("iab,bj->aij", lie.ad(subspace.T), subspace)
    hessian: FloatArray = 0.5 * (form - alone[:, :, None] - alone[:, None, :] + twists)
    np.einsum("aii->ai", hessian)[:] = alone
    return hessian
