"""ModelBuilder: collects bodies and forces one by one, or from a description, and builds a Model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import joints
from .._typing import FloatArray
from ..bodies.body import Body, given, make_body, name_of
from ..constraints import Constraint
from ..constraints.building import ConstraintBuilder
from ..constraints.reduction import NO_REDUCTION, Reduction
from ..contacts.building import ContactBuilder
from ..errors import FormatError, ModelError
from ..forces.building import ForceBuilder
from ..forces.wobbling import WobblingMass, wobbling_mass
from ..joints import Joint
from ..joints.functions import Function, function_from_dict
from ..muscles.building import MuscleBuilder
from ..registry import arguments, check_keys, checked_entries
from ..soft.building import SoftBuilder
from ..soft.mesh import default_poses
from ..validation import finite_array, instance, number
from .model import Model
from .naming import single_coordinate

STANDARD_GRAVITY = (0.0, 0.0, -9.81)


class ModelBuilder(ForceBuilder, ConstraintBuilder, ContactBuilder, MuscleBuilder, SoftBuilder):
    """Collects bodies and forces, checks each when it is added, and builds the model.

    Each method that adds something checks all of its arguments: ModelError names an invalid one, or what is missing,
    and the builder is then unchanged.

    Args:
        gravity: (3,) [m/s^2].
    """

    def __init__(self, gravity: Any = STANDARD_GRAVITY) -> None:
        super().__init__()
        self.gravity = finite_array(gravity, (3,), "gravity")
        self.bodies: list[Body] = []
        self.reduction = NO_REDUCTION
        self._unconstrained: Model | None = None  # the bodies alone, of the last check of a constraint

    def add_body(
        self,
        name: str,
        parent: Body | str | None = None,
        *,
        joint: Joint,
        mass: float,
        inertia: Any,
        com: Any = (0.0, 0.0, 0.0),
        joint_in_parent: Any = None,
        body_in_joint: Any = None,
        stiffness: Any = 0.0,
        rest: Any = 0.0,
        damping: Any = 0.0,
        limits: Any = None,
        limit_stiffness: Any = None,
        limit_damping: Any = None,
        limit_restitution: Any = None,
        armature: Any = 0.0,
        elastic: Any = None,
        damper: Any = None,
        viscosity: Any = None,
    ) -> Body:
        """Add a body that a joint connects to its parent.

        Args:
            name: unique, not empty.
            parent: a body added before, its name, or None for the world.
            joint: its motion in the parent.
            mass, inertia, com, joint_in_parent, body_in_joint, stiffness, rest, damping, armature, elastic, damper,
                viscosity, limits, limit_stiffness, limit_damping, limit_restitution: meanings, shapes and units as in
                `Body`.
        """
        body = make_body(name, self._parent_index(name, parent), joint, given(locals()))
        self.bodies.append(body)
        return body

    def add_wobbling_mass(
        self,
        name: str,
        segment: Body | str,
        *,
        mass: float,
        inertia: Any,
        axis: Any,
        stiffness_along: float,
        stiffness_across: float,
        damping_along: float,
        damping_across: float,
        stiffness_rotation: float,
        damping_rotation: float,
        com: Any = None,
        normal: Any = None,
    ) -> WobblingMass:
        """Add the soft parts of a segment as a body that wobbles on it (Ertl et al. 1993, eq. 16).

        At rest its frame is parallel to the segment's, with the origin in its mass centre. The coordinates of its joint
        are displacements of the mass centre, along the axis first, then the rotation about it: one angle in a plane, a
        rotation vector in space. A `Mount` of the same name acts on the displacements (cubic, along and across), a
        spring and a damper on the rotation (linear); the segment gets the opposite wrench.

        Args:
            name: unique among bodies and among forces, not empty.
            segment: the body that carries it, added before, or its name.
            mass: [kg]. inertia: (3, 3) about its mass centre in the segment's axes [kg m^2].
            axis: (3,) along the segment, in its frame.
            stiffness_along, stiffness_across: c of eqs. 16b, 16c [N/m^3]. damping_along, damping_across: d [N s/m].
            stiffness_rotation: a of eq. 16a [N m/rad]. damping_rotation: b [N m s/rad]. None of them negative.
            com: place of its mass centre in the segment's frame (3,) [m]; None: the segment's mass centre.
            normal: (3,) of its plane of motion, across the axis, in the segment's frame; None: motion in space.
        """
        mount = {
            "stiffness_along": stiffness_along,
            "stiffness_across": stiffness_across,
            "damping_along": damping_along,
            "damping_across": damping_across,
        }
        rotation = stiffness_rotation, damping_rotation
        solid = {"mass": mass, "inertia": inertia}
        return wobbling_mass(self, name, segment, axis, com, normal, solid, mount, rotation)

    def _parent_index(self, name: Any, parent: Any) -> int:
        """Index of the parent of a new body, -1 for the world; ModelError if its name or its parent is invalid."""
        known = self.body_numbers()
        parent_name = name_of(parent)
        if not isinstance(name, str) or not name:
            raise ModelError(f"a body's name must be a string that is not empty, got {name!r}")
        if name in known or name in self.targets:
            raise ModelError(f"there is a body or a target named {name!r} already")
        own = known.get(parent.name) if isinstance(parent, Body) else None
        if isinstance(parent, Body) and (own is None or self.bodies[own] is not parent):
            raise ModelError(f"parent {parent.name!r} of body {name!r} is missing: it is of another builder")
        if parent_name is not None and (not isinstance(parent_name, str) or parent_name not in known):
            raise ModelError(f"parent {parent_name!r} of body {name!r} is missing: add parents first")
        return -1 if parent_name is None else known[parent_name]

    def build(self) -> Model:
        """The model; ModelError if it has no body."""
        if not self.bodies:
            raise ModelError("a model needs at least one body, got none")
        self.check_inputs()
        forces = self.springs, self.forces, self.inputs, self.controllers, self.feedback_laws
        for body in self.bodies:
            if body.name in self.reduction.directions:
                raise ModelError(f"{body.name!r} is the name of a body and of a direction: rename one")
        soft = self.soft_bodies + self.flexible_surfaces
        rest = self.constraints, self.contacts, self.muscles, self.colliders
        return Model(self._shared_bodies(), self.gravity, *forces, *rest, self.targets, soft, self.reduction)

    def reduce(self, directions: Mapping[str, Any], rest: Mapping[str, float] | None = None) -> None:
        """Move coordinates together by fewer coordinates h, q = rest + sum of directions h (Wang 2022, sec. 4.6.2).

        For each h one coordinate leads; a `CouplingConstraint` named as its coordinate holds each other one. So all
        methods, muscles, limits, contacts, soft bodies and gradients know them. ``model.state({"curl": 0.3})`` starts
        from h, and a `Result` has h and hd. More calls add further h.

        Args:
            directions: {name of h: {coordinate, or body with a single one: its change by h, or a function of h
                (`joints.functions`), which is added}}.
            rest: {coordinate: value where all h are 0}, 0 if missing; one without directions stands still there.

        Raises:
            ModelError: a bad name or number; an h that leads no coordinate: its direction is a combination of others,
                or has functions alone, which `HyperReduced` takes.
        """
        model, before = self._tree(), self.reduction
        each_h = instance(directions, Mapping, "directions").items()
        given = {h: _by_coordinate(model, each, f"direction {h!r}", True) for h, each in each_h}
        if not given:
            raise ModelError("directions are empty: a coordinate that stands still is not moved by any h")
        for h in given:
            if not (isinstance(h, str) and h) or h in {
                *model.coordinate_names,
                *model.body_names,
                *before.directions,
            }:
                raise ModelError(f"directions need a new name for each h, got {h!r:.80}")
        still = _by_coordinate(model, {} if rest is None else rest, "rest")
        reduction = Reduction({**before.directions, **given}, {**before.rest, **still})
        for name in reduction.couplings:
            if name not in before.couplings:
                self._check_name(name)
        self.reduction = reduction

    def check_constraint(self, name: str, constraint: Constraint) -> None:
        """ModelError if a constraint names something that is missing."""
        model = self._tree()
        constraint.packed(model).float_row(model.body_frames)

    def _tree(self) -> Model:
        """A model of the bodies alone."""
        if self._unconstrained is None or self._unconstrained.bodies != tuple(self.bodies):
            self._unconstrained = Model(self.bodies, self.gravity)
        return self._unconstrained

    def default_pose(self, body: int) -> FloatArray:
        """Pose (4, 4) of a body while all joints are in their default states."""
        model = self._tree()
        return default_poses(model.arrays, model.state().q)[body]

    @classmethod
    def from_dict(cls, description: Mapping[str, Any]) -> ModelBuilder:
        """A builder from a `Model.to_dict`; bodies may come in any order.

        Raises:
            FormatError: a key is unknown or missing, a parent is missing, or bodies form a cycle.
            ModelError: a value is invalid.
        """
        check_keys(description, MODEL_KEYS, {"bodies"}, "model")
        builder = cls(description.get("gravity", STANDARD_GRAVITY))
        for entry in _parents_first(description["bodies"]):
            values = dict(entry)
            joint = joints.from_dict(values.pop("joint"))
            builder.add_body(joint=joint, **values)
        for key in MODEL_KEYS[2:]:
            entries = description.get(key, ())
            if key in PLAIN:
                for entry in checked_entries(entries, key, *arguments(PLAIN[key])):
                    PLAIN[key](builder, **entry)
            else:
                getattr(builder, f"read_{key}")(entries)
        return builder


#: keys of a description, in the order of reading
MODEL_KEYS = (
    *("gravity", "bodies", "inputs", "springs", "forces", "controllers", "constraints", "targets"),
    *("contacts", "colliders", "muscles", "soft_bodies", "flexible_surfaces", "feedback_laws", "reductions"),
)
#: methods that take an entry as its keys are; other keys have a method ``read_...``
PLAIN: dict[str, Callable[..., Any]] = {
    "inputs": ModelBuilder.add_input,
    "controllers": ModelBuilder.add_controller,
    "targets": ModelBuilder.add_target,
    "reductions": ModelBuilder.reduce,
    "contacts": ModelBuilder.add_contact,
    "colliders": ModelBuilder.add_collider,
    "soft_bodies": ModelBuilder.add_soft_body,
    "flexible_surfaces": ModelBuilder.add_flexible_surface,
}


def _by_coordinate(model: Model, given: Any, what: str, functions: bool = False) -> dict[str, Any]:
    """Numbers, or functions as well, by names of coordinates, or of bodies with a single one."""
    result: dict[str, Any] = {}
    for key, value in instance(given, Mapping, what).items():
        name = model.coordinate_names[single_coordinate(model, key)]
        if name in result:
            raise ModelError(f"{what} has {name!r} twice")
        value = function_from_dict(value) if functions and isinstance(value, Mapping) else value
        known = functions and isinstance(value, Function)
        result[name] = value if known else number(value, f"{what} of {name!r}")
    return result


def _parents_first(entries: Any) -> list[Mapping[str, Any]]:
    """Entries of bodies in their order, except that children are moved after their parents."""
    if not isinstance(entries, Sequence) or isinstance(entries, str):
        raise FormatError(f"'bodies' must be a list, got {entries!r:.80}")
    for number_, entry in enumerate(entries):
        check_keys(entry, *arguments(ModelBuilder.add_body), f"body number {number_}")
    for entry in entries:
        for key in ("name", "parent"):
            if not isinstance(entry.get(key), str | type(None)):
                raise FormatError(f"{key!r} of a body must be a string, got {entry[key]!r:.80}")
    numbers = {entry["name"]: k for k, entry in reversed(list(enumerate(entries)))}
    for entry in entries:
        if entry.get("parent") is not None and entry["parent"] not in numbers:
            raise FormatError(f"parent {entry['parent']!r} of body {entry['name']!r} is missing")
    # over the entries: each is taken in the first one in which its parent comes before
    rounds: dict[int, int] = {}
    for start in range(len(entries)):
        branch = [start]
        while branch[-1] not in rounds and (parent := entries[branch[-1]].get("parent")) is not None:
            branch.append(numbers[parent])
            if len(branch) > len(entries) + 1:
                cycle = ", ".join(sorted({repr(entries[k]["name"]) for k in branch}))
                raise FormatError(f"bodies are their own ancestors (a cycle) among {cycle}")
        above = branch.pop()
        rounds.setdefault(above, 0)
        for k in reversed(branch):
            rounds[k] = rounds[above] + (k < above)
            above = k
    return [entries[k] for k in sorted(rounds, key=lambda k: (rounds[k], k))]
