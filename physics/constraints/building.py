"""The part of ModelBuilder that collects constraints and joints that close loops."""

from dataclasses import replace
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..bodies.body import Body, name_of
from ..errors import ModelError
from ..geometry import lie
from ..joints import Joint
from ..registry import checked_entries
from ..validation import per_coordinate
from . import from_dict
from .base import Constraint
from .frames import WeldConstraint
from .targets import MotionTarget

#: of a body's mass, what its compliant loop joints move rigidly
LEAST_PART = 0.01


class ConstraintBuilder:
    """The constraints of `ModelBuilder`, which provides `bodies`, `body_numbers`, `add_body` and `check_constraint`."""

    bodies: list[Body]
    gravity: FloatArray
    reduction: Any
    body_numbers: Any
    add_body: Any
    add_bushing: Any
    check_constraint: Any

    def __init__(self) -> None:
        super().__init__()
        self.constraints: dict[str, Constraint] = {}
        self.targets: dict[str, MotionTarget] = {}
        self._loop_joints: dict[
            str, tuple[str, bool]
        ] = {}  # body that each cuts, and whether it is compliant

    def add_constraint(self, name: str, constraint: Constraint) -> Constraint:
        """Add a constraint (`constraints`) between existing bodies or coordinates.

        Args:
            name: unique among constraints, not empty.
        """
        self._check_name(name)
        if not isinstance(constraint, Constraint):
            raise ModelError(f"constraint {name!r} must be of physics.constraints, got {constraint!r:.80}")
        try:
            self.check_constraint(name, constraint)
        except ModelError as error:
            raise ModelError(f"constraint {name!r}: {error}") from error
        self.constraints[name] = constraint
        return constraint

    def add_loop_joint(
        self,
        name: str,
        body: Body | str,
        parent: Body | str | None,
        *,
        joint: Joint,
        compliance: Any = None,
        compliance_damping: Any = None,
        **options: Any,
    ) -> Body:
        """Close a loop by a joint of any type between two existing bodies.

        Cuts the body: a part of its mass becomes a new body of this name at the joint, which a weld of the same name
        attaches to the rest. The joint's springs, dampers and limits work as in any other joint, and its coordinates
        belong to the model.

        Args:
            name: of the joint's body and of the weld, unique among bodies and constraints.
            body: the child of the joint. parent: its parent; None: the world.
            joint, options: as in `add_body`, without mass, com and inertia, which are the body's.
            compliance: of all directions, also those that the joint blocks (ArtiSynth's compliant joints): (6,) angles
                about the axes of the joint's frame in the body [rad/(N m)], then displacements along these [m/N]. A
                bushing of this name then takes the place of the weld, and the new bodies of a body's compliant joints
                have a hundredth of its mass: prefer implicit methods. A start state gives both their places, which
                `assemble` does not bring together. None: rigid. compliance_damping: (6,) [N m s/rad, N s/m].
        """
        carried = name_of(body)
        known = self.body_numbers()
        if not isinstance(carried, str) or carried not in known:
            raise ModelError(f"body {carried!r} of loop joint {name!r} is missing: add bodies first")
        if carried in self._loop_joints:
            whole_name = self._loop_joints[carried][0]
            raise ModelError(
                f"body {carried!r} of loop joint {name!r} is a part of {whole_name!r}: name that one"
            )
        owner = name_of(parent)
        if isinstance(owner, str) and owner == carried:
            raise ModelError(f"loop joint {name!r} needs two bodies, got {carried!r} twice")
        for key in ("mass", "com", "inertia"):
            if key in options:
                raise ModelError(f"loop joint {name!r} has the {key} of body {carried!r}: leave {key} out")
        self._check_name(name)
        whole, soft = self.bodies[known[carried]], np.zeros(6)
        if compliance is not None:
            soft = per_coordinate(compliance, 6, f"compliance of loop joint {name!r}", not_negative=True)
            if not soft.all():
                raise ModelError(f"compliance of loop joint {name!r} must be positive, got {soft.tolist()}")
        elif compliance_damping is not None:
            raise ModelError(f"compliance_damping of loop joint {name!r} needs a compliance")
        part: Body = self.add_body(
            name, parent, joint=joint, mass=whole.mass, com=whole.com, inertia=whole.inertia, **options
        )
        self._loop_joints[name] = carried, compliance is not None
        if compliance is None:
            self.constraints[name] = WeldConstraint(carried, name)
            return part
        place = lie.inverse(part.body_in_joint)
        try:
            self.add_bushing(
                name,
                carried,
                part,
                elastic=(1.0 / soft).tolist(),
                damping=0.0 if compliance_damping is None else compliance_damping,
                frame=place,
                other_frame=place,
            )
        except ModelError:
            del self._loop_joints[name]
            self.bodies.remove(part)
            raise
        return part

    def add_target(
        self,
        name: str,
        body: Body | str,
        *,
        point: Any = None,
        frame: Any = None,
        at: Any = None,
        planar: bool = False,
    ) -> MotionTarget:
        """Move a point or a frame of a body along a prescribed motion (Wang 2022, sec. 4.6.5, maximal coordinates).

        Pass its motion to ``simulate`` as ``motions={name: Motion(times, values)}`` with positions (K, 3), or (K, 6)
        with the rotation vector last; the forces needed are returned as ``constraint_forces[name]``. Without a motion a
        target does nothing. It has no coordinates in states, forces and results: in a run it is a body of negligible
        mass, with a constraint. A motion begins where the point or frame is, unless ``assemble=True`` brings it there.

        Args:
            name: of the motion, unique among targets, bodies and constraints.
            body: the body to move, added before, or its name.
            point: (3,) in its frame [m]. frame: (4, 4) in its frame. Exactly one of the two.
            at: pose in the world (4, 4) of the frame in which positions are given, the identity if not given.
            planar: it moves in the x-y plane of `at` alone, with positions (K, 2), or (K, 3) with the angle about z
                last: for mechanisms in that plane, whose own joints keep them there.
        """
        self._check_name(name)
        target, known = MotionTarget(name, body, point, frame, at, planar), self.body_numbers()
        if not isinstance(target.body, str) or target.body not in known:
            raise ModelError(f"body {target.body!r} of target {name!r} is missing: add bodies first")
        if name in known:
            raise ModelError(f"there is a body named {name!r} already")
        self.targets[name] = target
        return target

    def read_constraints(self, entries: Any) -> None:
        """Add the constraints of `Model.to_dict`; FormatError or ModelError names the faulty one."""
        for entry in checked_entries(entries, "constraints", None, ("name",)):
            self.add_constraint(entry["name"], from_dict({k: v for k, v in entry.items() if k != "name"}))

    def _check_name(self, name: Any) -> None:
        if not isinstance(name, str) or not name:
            raise ModelError(f"the name of a constraint must be a non-empty string, got {name!r}")
        if name in {**self.constraints, **self.targets, **self.reduction.couplings}:
            raise ModelError(f"there is a constraint or a target named {name!r} already")

    def _shared_bodies(self) -> list[Body]:
        """The bodies; the mass of each that loop joints cut is divided equally among its parts; but those of compliant
        joints have `LEAST_PART` of it together.
        """
        counts: dict[tuple[str, bool], int] = {}
        for cut in self._loop_joints.values():
            counts[cut] = counts.get(cut, 0) + 1
        bodies = []
        for body in self.bodies:
            whole, soft = self._loop_joints.get(body.name, (body.name, False))
            compliant = counts.get((whole, True), 0)
            rest = LEAST_PART if soft else 1.0 - LEAST_PART * (compliant > 0)
            parts = compliant if soft else 1 + counts.get((whole, False), 0)
            alone = rest == parts == 1
            bodies.append(
                body
                if alone
                else replace(body, mass=rest * body.mass / parts, inertia=rest * body.inertia / parts)
            )
        return bodies
