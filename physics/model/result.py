"""Results of simulations."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..geometry import lie
from ..kernels import layout
from ..soft.motion import SoftMotion, motions
from .diagnosis import Finding, findings_of
from .model import Model
from .observation import observe


@dataclass(frozen=True, eq=False)
class Result:
    """A sampled motion; poses and energy are computed on first use.

    Attributes:
        model: the model that moved.
        t: times (T,) [s].
        q, qd: coordinates and velocities (T, nv). Rotation vectors may jump where their chart changes.
        info: integrator, dt, steps and the like.
        row_forces: of the rows of constraints and targets (T, rows) in the step before each sample; None without any.
        muscle_states: of the muscles' laws (T, n), named by `Model.muscle_state_names`; None without states.
        efforts: generalized forces (T, nv) that drive coordinates with a prescribed motion, 0 elsewhere.
        soft_states: places and rates of the soft bodies' nodes (T, 2, n, 3); None without any.
        stages: accelerations and row forces in the stages of the step before each sample (T, stages, nv + rows), newest
            first; None but for gradients through constraints.
    """

    model: Model
    t: FloatArray
    q: FloatArray
    qd: FloatArray
    info: dict[str, Any] = field(default_factory=dict)
    row_forces: FloatArray | None = None
    efforts: FloatArray | None = None
    muscle_states: FloatArray | None = None
    soft_states: FloatArray | None = None
    stages: FloatArray | None = None

    def every(self, step: int) -> Result:
        """The first sample and every `step`-th one after it."""
        return self.part(slice(None, None, step))

    def part(self, kept: slice) -> Result:
        """Some samples, as copies, with poses and energies if these are known."""
        names = ("t", "q", "qd", "row_forces", "efforts", "muscle_states", "soft_states")
        arrays: dict[str, Any] = {name: getattr(self, name) for name in names}
        copies: dict[str, Any] = {
            name: None if array is None else array[kept].copy() for name, array in arrays.items()
        }
        part = Result(self.model, info=self.info, **copies)
        if "_observed" in vars(self):
            vars(part)["_observed"] = self.poses[kept], self.energy[kept]
        return part

    @property
    def diagnosis(self) -> tuple[Finding, ...]:
        """Findings that make the motion doubtful; empty if there are none."""
        return findings_of(self.info)

    @property
    def constraint_forces(self) -> dict[str, FloatArray]:
        """Forces (T, rows) of each constraint by name: dual to its `value`, mean over the step [N, N m]."""
        if self.row_forces is None:
            return {}
        return {name: self.row_forces[:, where] for name, where in self.model.force_slices.items()}

    @cached_property
    def _observed(self) -> tuple[FloatArray, FloatArray]:
        # the last sample of a run that left a closed range lies outside it
        poses, energy = observe(self.model, self.q, self.qd, anywhere=True)
        if self.soft_states is not None:  # bodies include attached nodes
            mesh = self.model.soft_mesh
            own = mesh.energies(self.model.arrays, self.q, self.model.gravity, self.soft_states).sum(axis=1)
            own[:, 2] += mesh.pressed(self.model.arrays, self.q, self.soft_states)[0].sum(axis=1)
            energy += np.stack([own[:, 0], own[:, 1] + own[:, 2], own.sum(axis=1)], axis=1)
        return poses, energy

    @property
    def h(self) -> FloatArray:
        """Hyper-reduced coordinates (T, nh) in the order of ``model.reduction.directions``."""
        return self.model.reduction.coordinates(self.model.coordinate_names, self.q)

    @property
    def hd(self) -> FloatArray:
        """Rates (T, nh) of `h`."""
        return self.model.reduction.coordinates(self.model.coordinate_names, self.qd, rates=True)

    @cached_property
    def soft(self) -> dict[str, SoftMotion]:
        """The motion of each soft body by its name: places and rates of its nodes, its elastic energy, its momentum."""
        if self.soft_states is None:
            return {}
        return motions(self.model.soft_mesh, self.model.arrays, self.model.gravity, self.q, self.soft_states)

    @property
    def poses(self) -> FloatArray:
        """World poses of the body frames (T, nb, 4, 4)."""
        return self._observed[0]

    @property
    def energy(self) -> FloatArray:
        """Kinetic, potential and total energy (T, 3) [J], with soft bodies."""
        return self._observed[1]

    @cached_property
    def rotations(self) -> dict[str, FloatArray]:
        """Quaternions wxyz (T, 4), continuous in sign, of every joint with a rotation vector, by body name.

        The further ones of a composite joint are ``body.2``, ``body.3`` ... (with underscores if a body has that name).
        """
        body_int, _, block_int, data, _ = self.model.arrays
        rotations: dict[str, FloatArray] = {}
        for i, name in enumerate(self.model.body_names):
            start = body_int[i, layout.BLOCK_START]
            count = 0
            for row in block_int[start : start + body_int[i, layout.BLOCK_COUNT]]:
                if row[layout.KIND] == layout.ROTATION_VECTOR:
                    count += 1
                    first = body_int[i, layout.DOF_START] + row[layout.COORDINATE]
                    key = name if count == 1 else f"{name}.{count}"
                    while count > 1 and key in self.model.body_names:
                        key += "_"
                    sign = data[row[layout.DATA]]  # -1 in an inverted joint
                    rotations[key] = rotation_quaternions(sign * self.q[:, first : first + 3])
        return rotations


def rotation_quaternions(vectors: FloatArray) -> FloatArray:
    """Quaternions wxyz (n, 4), continuous in sign, of rotation vectors (n, 3) of any length."""
    half = 0.5 * np.linalg.norm(vectors, axis=-1, keepdims=True)
    quaternions = np.concatenate([np.cos(half), 0.5 * np.sinc(half / np.pi) * vectors], axis=-1)
    return lie.continuous_quaternions(quaternions)
