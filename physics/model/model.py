"""The immutable Model with its flat arrays; `builder` makes models."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import FloatArray, IntArray
from ..bodies.body import Body
from ..bodies.limits import coordinate_rows
from ..bodies.names import coordinate_names
from ..bodies.state import State
from ..constraints.base import Constraint
from ..constraints.coupling import coordinate_index
from ..constraints.packing import pack_constraints
from ..constraints.reduction import NO_REDUCTION, Reduction
from ..constraints.targets import ConstraintRows, MotionTarget
from ..contacts import Collider, ColliderArrays, Contact, pack_contacts
from ..errors import ModelError
from ..forces import Feedback, Force, Input, PositionController, Spring
from ..forces.controller import laws_of
from ..forces.inputs import with_inputs
from ..joints import Joint
from ..joints.packing import Arrays, Workspace, check_rotations, link_body_frames, pack
from ..kernels import layout
from ..muscles.muscle import Muscle
from ..muscles.packing import PackedMuscles, coupled_size, muscle_room
from ..muscles.states import check_pulls, initial_states
from ..soft.body import SoftBody
from ..soft.mesh import make_mesh
from ..soft.states import with_nodes
from ..validation import finite_array, instance, instances, number
from .coordinates import CoordinateTable, make_coordinate_table, readings_of
from .evaluation import evaluate_constraints
from .naming import coordinate_values


class Model(ConstraintRows):
    """An immutable tree of bodies, made by `ModelBuilder`; equal models have equal hashes.

    Attributes:
        bodies: the `Body` of each index, parents first.
        gravity: (3,) [m/s^2].
        springs: each `Spring` between points of bodies. forces: each other force element.
        controllers: each `PositionController`. muscles: each `Muscle`. feedback_laws: each `Feedback`.
        inputs: each `Input` that forces and controllers follow, those of the controllers last.
        constraints: each constraint other than joints, by name. contacts: each `Contact` of points with an obstacle.
        targets: each `constraints.targets.MotionTarget`, by name.
        soft_bodies: each `soft.SoftBody`. soft_mesh: all of them for the kernels.
        reduction: hyper-reduced coordinates h (`ModelBuilder.reduce`).
        arrays: the flat arrays for the kernels (see ``kernels.layout``).
    """

    def __init__(
        self,
        bodies: Sequence[Body],
        gravity: FloatArray,
        springs: Sequence[Spring] = (),
        forces: Sequence[Force] = (),
        inputs: Sequence[Input] = (),
        controllers: Sequence[PositionController] = (),
        feedback_laws: Sequence[Feedback] = (),
        constraints: Mapping[str, Constraint] | None = None,
        contacts: Sequence[Contact] = (),
        muscles: Sequence[Muscle] = (),
        colliders: Sequence[Collider] = (),
        targets: Mapping[str, MotionTarget] | None = None,
        soft_bodies: Sequence[SoftBody] = (),
        reduction: Reduction = NO_REDUCTION,
    ) -> None:
        self.bodies: tuple[Body, ...] = instances(bodies, Body, "bodies")
        if not self.bodies:
            raise ModelError("a model needs at least one body, got none")
        named = instance({} if constraints is None else constraints, Mapping, "constraints")
        instances(list(named.values()), Constraint, "constraints")
        self.reduction: Reduction = instance(reduction, Reduction, "reduction")
        self.constraints: Mapping[str, Constraint] = MappingProxyType({**named, **reduction.couplings})
        self.targets: Mapping[str, MotionTarget] = MappingProxyType(dict(targets or {}))
        self.springs: tuple[Spring, ...] = instances(springs, Spring, "springs")
        self.forces: tuple[Force, ...] = instances(forces, Force, "forces")
        self.controllers = instances(controllers, PositionController, "controllers")
        self.feedback_laws: tuple[Feedback, ...] = instances(feedback_laws, Feedback, "feedback_laws")
        self._own_inputs: tuple[Input, ...] = instances(inputs, Input, "inputs")
        self.inputs = self._own_inputs + tuple(
            each for controller in controllers for each in controller.inputs(self.bodies)
        )
        self.gravity = finite_array(gravity, (3,), "gravity")
        self.gravity.flags.writeable = False
        coordinates, limits = coordinate_rows(self.bodies)
        parts = zip(self.bodies, coordinates, laws_of(self.bodies, self.controllers, len(self._own_inputs)))
        links = [body.link(rows, laws) for body, rows, laws in parts]
        numbers = {name: k for k, name in enumerate(self.input_names)}
        self.muscles: tuple[Muscle, ...] = instances(muscles, Muscle, "muscles")
        elements = [*self.springs, *self.forces]
        packed_muscles = PackedMuscles(self.muscles, self._index, self._coordinate_numbers, numbers)
        self.arrays: Arrays = pack(links, self.gravity, limits, elements, numbers, packed_muscles)
        self.soft_bodies: tuple[SoftBody, ...] = instances(soft_bodies, SoftBody, "soft_bodies")
        if self.soft_bodies:
            at = self.arrays, self._default_coordinates, link_body_frames(links)
            self.soft_mesh = make_mesh(self.soft_bodies, self._index, *at, colliders)
            links = self.soft_mesh.weighted(links)
            self.arrays = pack(links, self.gravity, limits, elements, numbers, packed_muscles)
        self.body_frames = tuple(link_body_frames(links))
        for frame in self.body_frames:
            frame.flags.writeable = False
        self.contacts: tuple[Contact, ...] = instances(contacts, Contact, "contacts")
        self.contact_pairs: FloatArray = pack_contacts(self.contacts, self.body_frames)
        packed = [constraint.packed(self) for constraint in self.constraints.values()]
        self._constraint_arrays = pack_constraints(packed, self.arrays, self.body_frames)
        self.colliders: tuple[Collider, ...] = instances(colliders, Collider, "colliders")
        joined = [(each.body, each.other) for each in packed if each.joins]
        self.collider_arrays = ColliderArrays(self.colliders, self.bodies, self.body_frames, joined)
        self._sealed = True

    def __setattr__(self, name: str, value: Any) -> None:
        if "_sealed" in vars(self):
            raise ModelError(f"a model is immutable: {name} cannot become {value!r:.80}; build another model")
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        raise ModelError(f"a model is immutable: {name} cannot be deleted")

    @property
    def num_bodies(self) -> int:
        return len(self.bodies)

    @cached_property
    def num_coordinates(self) -> int:
        """nv = nq: one velocity for each coordinate."""
        return sum(body.joint.num_coordinates for body in self.bodies)

    @property
    def num_inputs(self) -> int:
        return len(self.inputs)

    @property
    def input_names(self) -> tuple[str, ...]:
        return tuple(each.name for each in self.inputs)

    def with_inputs(self, tau: Any, name: str = "tau") -> FloatArray:
        """Generalized forces and inputs (..., nv + num_inputs), as the kernels take them.

        Args:
            tau: None for zeros; (..., nv), with the inputs' default values; (..., nv + num_inputs); or {name of a
                coordinate or an input: number}.
            name: for errors.

        Raises:
            ModelError: a shape is wrong, a name is unknown, a number is not finite, or a tension is negative.
        """
        return check_pulls(self, with_inputs(tau, self.coordinate_names, self.inputs, name), name)

    @cached_property
    def body_names(self) -> tuple[str, ...]:
        return tuple(body.name for body in self.bodies)

    @cached_property
    def joints(self) -> tuple[Joint, ...]:
        return tuple(body.joint for body in self.bodies)

    @property
    def parent(self) -> IntArray:
        """Index of each body's parent (nb,), -1 for the world."""
        return np.array(self.arrays[0][:, layout.PARENT])

    @cached_property
    def coordinate_names(self) -> tuple[str, ...]:
        """``body.coordinate`` for each of the nv coordinates."""
        return tuple(name for body in self.bodies for name in coordinate_names(body))

    @cached_property
    def coordinate_table(self) -> CoordinateTable:
        """Ranges, limits and kinds of the nv coordinates."""
        return make_coordinate_table(self.bodies, self.arrays)

    @cached_property
    def _coordinate_numbers(self) -> dict[str, int]:
        return {name: d for d, name in enumerate(self.coordinate_names)}

    @cached_property
    def prescribed(self) -> NDArray[np.bool_]:
        """Which of the nv coordinates keep their velocity whatever the forces."""
        result: NDArray[np.bool_] = self.arrays[4][:, layout.PRESCRIBED] != 0.0
        result.flags.writeable = False
        return result

    @cached_property
    def _index(self) -> dict[str, int]:
        return {body.name: i for i, body in enumerate(self.bodies)}

    def index(self, body: str) -> int:
        """Index of a body by name; ModelError if there is none."""
        if not isinstance(body, str) or body not in self._index:
            raise ModelError(f"no body is named {body!r}; there are {', '.join(self.body_names)}")
        return self._index[body]

    def coordinate_slice(self, body: str) -> slice:
        """The slice of the nv coordinates that belongs to the joint of this body."""
        row = self.arrays[0][self.index(body)]
        start = int(row[layout.DOF_START])
        return slice(start, start + int(row[layout.DOF_COUNT]))

    def coordinate_index(self, name: str) -> int:
        """Index of a coordinate (``"knee.angle"``) in q and qd; ModelError if there is none."""
        return coordinate_index(self, name)

    def workspace(self, moment_arms: bool = False) -> Workspace:
        """Scratch memory for the kernels, one per thread; `moment_arms`: enough for those of massless muscles too."""
        extra = muscle_room(self.muscles, self.num_coordinates, coupled_size(self.arrays), moment_arms)
        carried = len(self.carried(np.zeros(self.num_muscle_states)))
        workspace = Workspace(self.num_bodies, self.num_coordinates, self.num_inputs, extra, carried)
        workspace.dof[:, layout.HELD] = self.prescribed
        return workspace

    @property
    def num_limits(self) -> int:
        """Number of limits that depend on several coordinates, or are hard (rows of ``kernels.forces.limits``)."""
        return int(self.arrays[3][layout.LIMIT_COUNT])

    @cached_property
    def hard_limit_rows(self) -> list[int]:
        """Starts of the rows of hard limits, which stop the motion by impulses, in the kernels' data."""
        data = self.arrays[3]
        starts = int(data[layout.LIMIT_ROWS]) + layout.LIMIT_WIDTH * np.arange(self.num_limits)
        return [int(at) for at in starts if data[at + layout.LIMIT_RESTITUTION] >= 0.0]

    @property
    def has_hard_limits(self) -> bool:
        """Whether a limit stops the motion by impulses, which adaptive methods do not support."""
        return bool(self.hard_limit_rows)

    @property
    def contact_names(self) -> list[str]:
        """Names of the contacts, then of the colliders: without any, bodies cannot touch."""
        return [each.name for each in self.contacts] + [each.name for each in self.colliders]

    def readings(self, q: Any) -> FloatArray:
        """Readings of all joints (..., nv) at coordinates (..., nv): the coordinates, or Euler angles."""
        return readings_of(self, q)

    @property
    def reading_names(self) -> tuple[str, ...]:
        """``body.reading`` for each of the nv readings."""
        return tuple(f"{body.name}.{name}" for body in self.bodies for name in body.joint.reading_names)

    @cached_property
    def muscle_state_names(self) -> tuple[str, ...]:
        """``muscle.state`` for each state of the muscles' laws: activation, fibre length."""
        return tuple(name for muscle in self.muscles for name in muscle.state_names)

    @property
    def num_muscle_states(self) -> int:
        return len(self.muscle_state_names)

    def carried(self, muscle_states: FloatArray | None) -> FloatArray:
        """Muscle states as the kernels take them, after forces and inputs (``kernels.muscles.states``)."""
        count = self.num_muscle_states
        if not count or muscle_states is None:
            return np.zeros(4 * count)
        return np.concatenate([muscle_states, np.zeros(3 * count)])

    def state(
        self,
        q: Any = None,
        qd: Any = None,
        time: float = 0.0,
        muscle_states: Any = None,
        *,
        nodes: Any = None,
        node_rates: Any = None,
    ) -> State:
        """A state of this model.

        Args:
            q: (nv,) or {coordinate, body or h: value or values}, as ``{"knee.angle": 1.2, "hip": [0, 0, 0.1]}`` (see
                `coordinate_names`). Missing ones are 0, the middle of a range without 0, or the value
                at which equal limits hold a coordinate; the time of a moving surface is `time`.
            qd: velocities in the same form; missing ones are 0, or 1 for the time of a moving surface.
            time: [s].
            muscle_states: in the order of `muscle_state_names`, or {name: value}; missing ones are those of a muscle at
                rest with its initial activation.
            nodes, node_rates: {soft body: (n, 3)} places [m] and rates [m/s] of its free nodes; missing ones move with
                the bodies to which nodes are attached, weighted by distance.

        Raises:
            ModelError: a shape is wrong, a number is not finite, a name is unknown or given twice, or a
                rotation vector has a singular length.
        """
        time = number(time, "time")
        timed, rotates = self.coordinate_table.timed, self.coordinate_table.vectors.size
        q, qd = self.reduction.expanded(q, qd)
        positions = coordinate_values(self, q, "q", np.where(timed, time, self._default_coordinates))
        velocities = coordinate_values(self, qd, "qd", timed.astype(np.float64))
        if rotates:
            check_rotations(self.arrays, self.body_names, positions)
        chart = np.zeros(self.num_bodies, dtype=np.int64)
        states = initial_states(self, positions, muscle_states)
        positions, velocities, soft = with_nodes(self, positions, velocities, nodes, node_rates)
        return State(positions, velocities, time, chart, states, soft).lock()

    @cached_property
    def _default_coordinates(self) -> FloatArray:
        return self.coordinate_table.defaults()

    def evaluate_constraints(
        self, state: State, constraints: Iterable[Constraint]
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Values (rows,), Jacobian (rows, nv) and bias (rows,) of constraints, which need not be the model's own."""
        return evaluate_constraints(self, state, instances(constraints, Constraint, "constraints"))

    def check_dynamics(self) -> None:
        """ModelError if a joint is for kinematics only (a C1 spline); simulations call it."""
        if self._kinematic_only:
            raise ModelError(self._kinematic_only)

    @cached_property
    def _kinematic_only(self) -> str:
        """A message about the first joint that is for kinematics only, or an empty one."""
        carried = {name for each in self.soft_bodies if each.surface for name in each.surface.bodies}
        for body in self.bodies:
            if (reason := body.joint.kinematic_only) and body.name not in carried:
                return f"joint of body {body.name!r} is for kinematics only {reason}"
        return ""

    @cached_property
    def cusped(self) -> str:
        """The first body whose joint has cusps, or an empty name."""
        return next((body.name for body in self.bodies if body.joint.cusps), "")

    def to_dict(self) -> dict[str, Any]:
        """JSON-able ``{"gravity": ..., "bodies": [...], ...}`` for `ModelBuilder.from_dict`, without empty lists."""
        described: dict[str, Any] = {
            "gravity": self.gravity.tolist(),
            "bodies": [body.to_dict(self.bodies) for body in self.bodies],
        }
        plain: dict[str, Any] = {"muscles": self.muscles, "inputs": self._own_inputs}
        plain |= {"targets": self.targets.values(), "reductions": self.reduction.given}
        described |= {key: [each.to_dict() for each in given] for key, given in plain.items() if given}
        for each in self.soft_bodies:
            described.setdefault(each.key, []).append(each.to_dict())
        for key in ("springs", "forces", "controllers", "contacts", "colliders", "feedback_laws"):
            if entries := getattr(self, key):
                described[key] = [entry.to_dict(self.body_names) for entry in entries]
        own = [name for name in self.constraints if name not in self.reduction.couplings]
        if own:
            described["constraints"] = [{"name": name, **self.constraints[name].to_dict()} for name in own]
        return described

    @cached_property
    def _digest(self) -> bytes:
        # sequences of Euler angles are not in the arrays
        kinds = [repr((body.joint.type, body.joint.angle_groups)) for body in self.bodies]
        forces = [force.name for force in (*self.springs, *self.forces, *self.controllers)]
        inputs = [repr((each.name, each.value)) for each in self.inputs]
        constraints = [repr((name, item.to_dict())) for name, item in self.constraints.items()]
        contacts = [*self.contact_names, *(muscle.name for muscle in self.muscles)]
        described: list[Any] = [*self.targets.values(), *self.soft_bodies, *self.feedback_laws]
        described += self.reduction.given
        contacts += [repr(each.to_dict()) for each in described]
        names = [*self.body_names, *kinds, *self.coordinate_names, *forces, *inputs, *constraints, *contacts]
        digest = hashlib.sha256("\0".join(names).encode())
        for array in (*self.arrays, self.contact_pairs, *self.collider_arrays.constant):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.digest()

    def __hash__(self) -> int:
        return hash(self._digest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and self._digest == other._digest

    def __reduce__(self) -> tuple[Any, ...]:
        return Model, tuple(self._arguments.values())

    @property
    def _arguments(self) -> dict[str, Any]:
        names = ["bodies", "gravity", "springs", "forces", "inputs", "controllers", "feedback_laws"]
        names += ["constraints", "contacts", "muscles", "colliders", "targets", "soft_bodies", "reduction"]
        own = {"inputs": self._own_inputs, "gravity": np.array(self.gravity)}
        own |= {"constraints": dict(self.constraints), "targets": dict(self.targets)}
        return {name: own.get(name, getattr(self, name)) for name in names}

    def altered(self, **arguments: Any) -> Model:
        """Another model, with some of the arguments of this one changed."""
        return Model(**(self._arguments | arguments))

    def __repr__(self) -> str:
        return f"Model({self.num_bodies} bodies, {self.num_coordinates} coordinates)"
