"""Packs bodies and joints into the flat arrays of the kernels (`kernels.layout`); workspaces of the kernels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np

from .. import kernels
from .._typing import FloatArray, IntArray
from ..errors import ModelError
from ..kernels import layout
from ..kernels.layout import FIELD_BITS, RARE_BITS
from .base import IDENTITY, Factorization
from .curve_packing import kernel_poses

Arrays: TypeAlias = tuple[Any, Any, Any, Any, Any]


@dataclass(frozen=True, eq=False)
class Link:
    """A body as the kernels need it.

    Poses (4, 4), mass properties in body axes, and for each coordinate a row of dof_float and the record of its laws
    (see ``kernels.forces.passive``), or None.
    """

    parent: int
    factors: Factorization
    joint_in_parent: FloatArray
    body_in_joint: FloatArray
    mass: float
    com: FloatArray
    inertia: FloatArray
    coordinates: FloatArray
    laws: tuple[FloatArray | None, ...] = ()


class Element(Protocol):
    """A force element: it packs itself for the kernels (see ``kernels.forces.elements``)."""

    def packed(self, body_frames: Sequence[FloatArray], inputs: Mapping[str, int]) -> FloatArray:
        """The row, given the poses of body frames in their link frames and the indices of inputs."""
        ...


class Muscles(Protocol):
    """The muscles of a model: they pack themselves for the kernels (see ``kernels.muscles.layout``)."""

    @property
    def bits(self) -> int:
        """Width of the integers in ``block_int``, which selects the kernels for them."""
        ...

    @property
    def num_massive(self) -> int:
        """Number of muscles with mass."""
        ...

    @property
    def num_states(self) -> int:
        """Number of states of all muscles."""
        ...

    def records(self, frames: Sequence[FloatArray], body_int: Any) -> list[FloatArray]:
        """One record per muscle, given the poses of body frames in their link frames."""
        ...

    def couplings(self, body_int: Any, records: Sequence[FloatArray], start: int) -> FloatArray:
        """The table of couplings by their masses, which begins at start in the data; empty without any."""
        ...


@dataclass(frozen=True, eq=False)
class LimitRow:
    """One limit for the kernels (see ``kernels.forces.limits``); coordinate counts within the body's joint."""

    kind: int
    body: int
    coordinate: int
    stiffness: float
    damping: float
    restitution: float
    parameters: FloatArray

    def packed(self, first: int) -> FloatArray:
        """The row; first is the index of the joint's first coordinate."""
        row = np.zeros(layout.LIMIT_WIDTH)
        row[: layout.LIMIT_PARAMETERS] = [
            self.kind,
            self.body,
            first + self.coordinate,
            self.stiffness,
            self.damping,
            self.restitution,
        ]
        row[layout.LIMIT_PARAMETERS : layout.LIMIT_PARAMETERS + len(self.parameters)] = self.parameters
        return row


LINE = 8  # float64 numbers in a cache line


def work_rows(num_bodies: int, num_coordinates: int, room: int = 0) -> FloatArray:
    """The bodies' workspace, with `room` more rows for muscles (see ``kernels.layout``)."""
    turns = (2 * num_coordinates + layout.TURN_PADS) // layout.WORK_WIDTH + layout.TURN_ROWS
    return aligned_zeros(num_bodies + layout.SCRATCH_ROWS + room + turns, layout.WORK_WIDTH)


def aligned_zeros(*shape: int) -> FloatArray:
    """Zeros that share no cache line with other data: threads that write to one line wait for each other."""
    count = math.prod(shape)
    buffer = np.zeros(count + 2 * LINE)
    start = -buffer.__array_interface__["data"][0] // buffer.itemsize % LINE
    return buffer[start : start + count].reshape(shape)


def aligned_copy(values: FloatArray) -> FloatArray:
    """A copy (nv,) that shares no cache line with other data."""
    copied = aligned_zeros(len(values))
    copied[:] = values
    return copied


class Workspace:
    """Scratch memory of the kernels for one thread: ``(work, dof, flags)``, and stages of the integrators.

    room: rows of work and columns of dof that muscles need in addition (see `muscles.packing`). carried: number of
    muscle states stored after forces and inputs (see ``kernels.muscles.states``).
    """

    def __init__(
        self,
        num_bodies: int,
        num_coordinates: int,
        num_inputs: int = 0,
        room: tuple[int, int] = (0, 0),
        carried: int = 0,
    ) -> None:
        self.work = work_rows(num_bodies, num_coordinates, room[0])
        self.dof = aligned_zeros(num_coordinates, layout.DOF_WORK_WIDTH + room[1])
        self.flags = aligned_zeros(2).view(np.int64)
        self.stage = aligned_zeros(layout.STAGE_ROWS, num_coordinates + num_inputs + carried)

    def clear(self) -> tuple[FloatArray, FloatArray, Any]:
        """The three arrays, flags reset."""
        self.flags[:] = 0
        return self.work, self.dof, self.flags


def link_body_frames(links: Sequence[Link]) -> list[FloatArray]:
    """Each body's own frame (4, 4) in its link frame."""
    return [link.factors.after @ link.body_in_joint for link in links]


def _header(gravity: FloatArray, num_limits: int, num_elements: int) -> FloatArray:
    header = np.zeros(layout.DATA_HEADER)
    header[layout.GRAVITY : layout.GRAVITY + 3] = gravity
    header[[layout.LIMIT_COUNT, layout.ELEMENT_COUNT]] = num_limits, num_elements
    return header


def _note_muscles(header: FloatArray, muscles: Muscles, count: int, start: int) -> None:
    header[[layout.MUSCLE_COUNT, layout.MUSCLE_ROWS]] = count, start
    header[[layout.MUSCLE_MASSIVE, layout.MUSCLE_STATES]] = muscles.num_massive, muscles.num_states


def _freeze(arrays: Arrays) -> Arrays:
    for array in arrays:
        array.flags.writeable = False
    return arrays


class _Records:
    """The data array of the kernels, record by record."""

    def __init__(self, header: FloatArray) -> None:
        self.records, self.size = [header], len(header)
        self.shared: dict[tuple[int, bytes], int] = {}

    def add(self, *records: FloatArray) -> int:
        """Append records; returns where the first begins (the end, if there are none)."""
        first = self.size
        self.records += records
        self.size += sum(map(len, records))
        return first

    def add_block(self, kind: int, record: FloatArray) -> int:
        """Return where a factor's record begins; equal records are stored once, to stay in the nearest cache."""
        key = (kind, record.tobytes())
        if key not in self.shared:
            self.shared[key] = self.add(record)
        return self.shared[key]


def pack(
    links: Sequence[Link],
    gravity: FloatArray,
    limits: Sequence[LimitRow] = (),
    elements: Sequence[Element] = (),
    inputs: Mapping[str, int] | None = None,
    muscles: Muscles | None = None,
) -> Arrays:
    """The five arrays of a model, read-only; parents come before children."""
    body_int = np.zeros((len(links), layout.BODY_INT_WIDTH), dtype=np.int64)
    body_float = np.zeros((len(links), layout.BODY_FLOAT_WIDTH))
    block_rows: list[list[int]] = []
    header = _header(gravity, len(limits), len(elements))
    data = _Records(header)
    body_frames = link_body_frames(links)
    first_dof = 0
    for i, link in enumerate(links):
        outer = IDENTITY if link.parent < 0 else body_frames[link.parent]
        first_block = len(block_rows)
        placement = _pack_factors(link.factors, outer @ link.joint_in_parent, block_rows, data)
        root = i if link.parent < 0 else body_int[link.parent, layout.ROOT]
        count, blocks = len(link.coordinates), (first_block, len(link.factors.blocks))
        body_int[i] = [link.parent, first_dof, count, *blocks, root, 0, 0, short_way(link.factors)]
        body_float[i] = _body_row(link, placement, body_frames[i])
        first_dof += count
    _note_shape(body_int)
    for place, way in ((layout.HINGE_COUNT, layout.HINGE_WAY), (layout.CURVE_COUNT, layout.CURVE_WAY)):
        header[place] = np.count_nonzero(body_int[:, layout.WAY] == way)
    own = [limit.packed(int(body_int[limit.body, layout.DOF_START])) for limit in limits]
    header[layout.LIMIT_ROWS] = data.add(*own)
    rows = [each.packed(body_frames, inputs or {}) for each in elements]
    header[layout.ELEMENT_ROWS] = data.add(*rows)
    rarest = max((row[layout.ELEMENT_KIND] for row in rows), default=0.0)
    if rarest >= layout.RARE_ELEMENTS or any(row[layout.KIND] == layout.OF_TWO for row in block_rows):
        bits = FIELD_BITS if rarest == layout.FIELD_ELEMENT else RARE_BITS
        if body_int.max() >= 1 << (bits - 1):
            raise ModelError(
                f"a model with force fields can have {1 << (bits - 1)} coordinates, got {first_dof}"
            )
        body_int = body_int.astype(f"i{bits // 8}")
    if muscles is not None:
        records = muscles.records(body_frames, body_int)
        _note_muscles(header, muscles, len(records), data.add(*records))
        header[layout.MUSCLE_COUPLINGS] = data.add(muscles.couplings(body_int, records, data.size))
    dof_float = _with_laws(links, data)
    block_int = np.array(block_rows, dtype=np.int64).reshape(-1, layout.BLOCK_INT_WIDTH)
    bits = 64 if muscles is None else muscles.bits
    if block_int.max(initial=0) >> (bits - 1):
        raise ModelError(
            f"a model with a muscle on a network's path can have {1 << (bits - 1)} numbers for its joints, got "
            f"{block_int.max()}"
        )
    block_int = block_int.astype(f"i{bits // 8}")
    numbers = np.concatenate(data.records)
    return _freeze((body_int, body_float, block_int, numbers, np.ascontiguousarray(dof_float)))


def _pack_factors(
    factorization: Factorization, placement: FloatArray, block_rows: list[list[int]], data: _Records
) -> FloatArray:
    """Add a joint's factors; returns its placement times the constant pose before the first of them."""
    for number, block in enumerate(factorization.blocks):
        frame = -1
        if number == 0:
            placement = placement @ block.frame
        elif not np.array_equal(block.frame, IDENTITY):
            frame = data.add(kernel_poses(block.frame[None])[0])
        block_rows.append([block.kind, block.coordinate, data.add_block(block.kind, block.data), frame])
    return placement


def short_way(factorization: Factorization) -> int:
    """Which of the kernels' fast paths (``kernels.joints.kinematics``) a joint has."""
    if len(factorization.blocks) != 1:
        return layout.NO_WAY
    block = factorization.blocks[0]
    if block.kind == layout.SCREW:
        return layout.HINGE_WAY if np.array_equal(block.data, [1.0, 0.0]) else layout.SCREW_WAY
    return layout.CURVE_WAY if block.kind == layout.SPLINE_CURVE else layout.NO_WAY


def _note_shape(body_int: IntArray) -> None:
    """Note where the tree of each body ends, and the bodies by generation."""
    parents, roots = body_int[:, layout.PARENT], body_int[:, layout.ROOT]
    ends = np.zeros(len(body_int), dtype=np.int64)
    np.maximum.at(ends, roots, np.arange(1, len(body_int) + 1))
    body_int[:, layout.TREE_END] = ends[roots]
    generation = np.zeros(len(body_int), dtype=np.int64)
    for i, parent in enumerate(parents):
        if parent >= 0:
            generation[i] = generation[parent] + 1
    body_int[:, layout.VISITED] = np.argsort(generation, kind="stable")


def _with_laws(links: Sequence[Link], data: _Records) -> FloatArray:
    """dof_float of all coordinates; adds the records of their laws to data."""
    dof_float: FloatArray = np.concatenate(
        [link.coordinates.reshape(-1, layout.DOF_FLOAT_WIDTH) for link in links]
    )
    first = 0
    for link in links:
        for d, law in enumerate(link.laws):
            if law is not None:
                dof_float[first + d, layout.LAW] = data.add(law)
        first += len(link.coordinates)
    return dof_float


def _body_row(link: Link, placement: FloatArray, body_frame: FloatArray) -> FloatArray:
    rotation = body_frame[:3, :3]
    com = rotation @ link.com + body_frame[:3, 3]
    moments, axes = np.linalg.eigh(link.inertia)  # rising moments: both roots are real
    axes = rotation @ axes
    return np.concatenate(
        [
            kernel_poses(placement[None])[0],
            [link.mass],
            com,
            [moments[0]],
            axes[:, 1] * np.sqrt(moments[1] - moments[0]),
            axes[:, 2] * np.sqrt(moments[2] - moments[0]),
            kernel_poses(body_frame[None])[0],
        ]
    )


def check_rotations(arrays: Arrays, names: Sequence[str], q: FloatArray) -> None:
    """ModelError if a rotation vector among coordinates (nv,) has a singular length; names are the bodies'."""
    body_int, _, block_int, _, _ = arrays
    for i, name in enumerate(names):
        start = body_int[i, layout.BLOCK_START]
        for row in block_int[start : start + body_int[i, layout.BLOCK_COUNT]]:
            if row[layout.KIND] != layout.ROTATION_VECTOR:
                continue
            first = body_int[i, layout.DOF_START] + row[layout.COORDINATE]
            angle = float(np.linalg.norm(q[first : first + 3]))
            if not np.isfinite(angle):
                raise ModelError(f"q of body {name!r}: the length of a rotation vector overflows")
            turns = round(angle / (2.0 * np.pi))
            if turns and abs(angle - 2.0 * np.pi * turns) < 1e-6:
                raise ModelError(
                    f"q of body {name!r}: a rotation vector of length {angle:g} is singular (a whole turn); "
                    "ph.exponential_coordinates.reparametrize brings others to at most half a turn"
                )


def free_coordinates(count: int) -> FloatArray:
    """dof_float rows without spring, damper, armature or limits."""
    rows = np.zeros((count, layout.DOF_FLOAT_WIDTH))
    rows[:, layout.LOWER] = -np.inf
    rows[:, layout.UPPER] = np.inf
    return rows


class TangentSpace:
    """Scratch memory of the kernels for derivatives: ``(coordinates, bodies, scratch, still)``.

    See ``kernels.joints.tangent``; still (2, nv) are zeros from call to call.
    """

    def __init__(self, body_int: Any) -> None:
        tangent = kernels.joints.tangent
        counts = body_int[:, layout.DOF_COUNT]
        self.arrays = (
            np.zeros((int(counts.sum()), tangent.HESSIAN + 7 * int(counts.max(initial=0)))),
            np.zeros((len(body_int), kernels.dynamics.derivatives.DERIVATIVE_BODY_WIDTH)),
            np.zeros((tangent.SUMS + tangent.SUM_ROWS, tangent.BASES_WIDTH)),
            np.zeros((2, int(counts.sum()))),
        )


def pack_joint(factors: Factorization, count: int) -> Arrays:
    """The arrays of a joint of `count` coordinates alone, between the world and a massless body."""
    link = Link(
        parent=-1,
        factors=factors,
        joint_in_parent=IDENTITY,
        body_in_joint=IDENTITY,
        mass=0.0,
        com=np.zeros(3),
        inertia=np.zeros((3, 3)),
        coordinates=free_coordinates(count),
    )
    return pack([link], np.zeros(3))
