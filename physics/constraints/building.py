"""The part of ModelBuilder that collects constraints and joints that close loops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..bodies.body import Body
from ..errors import FormatError, ModelError
from ..joints import Free, Joint, Translational
from . import from_dict
from .base import Constraint
from .frames import PointConstraint, WeldConstraint

TARGET_MASS = 1e-9  # kg: nothing that energies show


class ConstraintBuilder:
    """What `ModelBuilder` has of constraints; `bodies`, `add_body` and `check_constraint` are the builder's."""

    bodies: list[Body]
    gravity: FloatArray
    add_body: Any
    check_constraint: Any

    def __init__(self) -> None:
        super().__init__()
        self.constraints: dict[str, Constraint] = {}
        self._loop_joints: dict[str, str] = {}

    def add_constraint(self, name: str, constraint: Constraint) -> Constraint:
        """Add a constraint beside the joints (`constraints`), between bodies and coordinates that are there already.

        Args:
            name: unique among constraints, not empty.

        Raises:
            ModelError: the name will not do, or the constraint names what is missing; nothing has been added then.
        """
        self._check_name(name)
        if not isinstance(constraint, Constraint):
            raise ModelError(
                f"constraint {name!r} must be one of physics.constraints, got {constraint!r:.80}"
            )
        try:
            self.check_constraint(name, constraint)
        except ModelError as error:
            raise ModelError(f"constraint {name!r}: {error}") from error
        self.constraints[name] = constraint
        return constraint

    def add_loop_joint(
        self, name: str, body: Body | str, parent: Body | str | None, *, joint: Joint, **options: Any
    ) -> Body:
        """Close a loop by a joint of any type between two bodies that are there already.

        The body is cut in two: a part of its mass hangs on this joint as a body of this name, and a weld of the same
        name holds the parts together (a body is cut, not a joint). So springs, dampers and limits of the joint are
        those of any other, and its coordinates are among the model's.

        Args:
            name: of the joint's body and of the weld, unique among both.
            body: what the joint carries. parent: what it hangs on, None for the world.
            joint, options: as in `add_body`, but for mass, com and inertia, which are the body's.

        Raises:
            ModelError: anything of this is not acceptable; nothing has been added then.
        """
        carried = body.name if isinstance(body, Body) else body
        found = {known.name: known for known in self.bodies}
        if not isinstance(carried, str) or carried not in found:
            raise ModelError(f"body {carried!r} of loop joint {name!r} is missing: add bodies first")
        if carried == (parent.name if isinstance(parent, Body) else parent):
            raise ModelError(f"loop joint {name!r} needs two bodies, got {carried!r} twice")
        for key in ("mass", "com", "inertia"):
            if key in options:
                raise ModelError(
                    f"loop joint {name!r} takes its {key} from body {carried!r}: leave {key} out"
                )
        self._check_name(name)
        whole = found[carried]
        part: Body = self.add_body(
            name, parent, joint=joint, mass=whole.mass, com=whole.com, inertia=whole.inertia, **options
        )
        self._loop_joints[name] = carried
        self.constraints[name] = WeldConstraint(carried, name)
        return part

    def add_target(
        self, name: str, body: Body | str, *, point: Any = None, frame: Any = None, at: Any = None
    ) -> Body:
        """Lead a point or a frame of a body along a given motion (Wang 2022, sec. 4.6.5, in maximal coordinates).

        The target is a body of next to no mass that hangs on the world by three translations or, for a frame, by a
        free joint; a constraint of the same name holds the point or the frame to it. Give its motion to
        ``simulate`` as ``motions={name: Motion(times, values)}``, by positions (K, 3), or (K, 6) with the rotation
        vector behind; what it takes comes back as ``constraint_forces[name]``.

        Args:
            name: of the target and of the constraint, unique among both.
            body: what is led, added before, or its name.
            point: (3,) in its frame [m]. frame: (4, 4) in its frame. One of the two.
            at: pose of the target's joint in the world (4, 4), the identity if not given.

        Raises:
            ModelError: anything of this is not acceptable; nothing has been added then.
        """
        if (point is None) == (frame is None):
            raise ModelError(f"target {name!r} needs a point or a frame of the body, one of the two")
        self._check_name(name)
        led = body.name if isinstance(body, Body) else body
        if led not in [known.name for known in self.bodies]:
            raise ModelError(f"body {led!r} of target {name!r} is missing: add bodies first")
        constraint: Constraint
        if frame is None:
            joint: Joint = Translational()
            constraint = PointConstraint(led, name, point=point)
        else:
            joint, constraint = Free(), WeldConstraint(led, name, frame=frame)
        target: Body = self.add_body(
            name, joint=joint, mass=TARGET_MASS, inertia=TARGET_MASS * np.eye(3), joint_in_parent=at
        )
        self.constraints[name] = constraint
        return target

    def read_constraints(self, entries: Any) -> None:
        """Add what `Model.to_dict` described; FormatError or ModelError names what is wrong."""
        if not isinstance(entries, list | tuple):
            raise FormatError(f"'constraints' must be a list, got {entries!r:.80}")
        for position, entry in enumerate(entries):
            if not isinstance(entry, Mapping) or "name" not in entry:
                raise FormatError(
                    f"constraint number {position} must be an object with a 'name', got {entry!r:.80}"
                )
            self.add_constraint(entry["name"], from_dict({k: v for k, v in entry.items() if k != "name"}))

    def _check_name(self, name: Any) -> None:
        if not isinstance(name, str) or not name:
            raise ModelError(f"a constraint's name must be a string that is not empty, got {name!r}")
        if name in self.constraints:
            raise ModelError(f"there is a constraint named {name!r} already")

    def _shared_bodies(self) -> list[Body]:
        """The bodies, those that loop joints carry with equal shares of their mass in each of their parts."""
        parts: dict[str, int] = {}
        for carried in self._loop_joints.values():
            parts[carried] = parts.get(carried, 1) + 1
        bodies = []
        for body in self.bodies:
            count = parts.get(self._loop_joints.get(body.name, body.name), 1)
            bodies.append(
                body if count == 1 else replace(body, mass=body.mass / count, inertia=body.inertia / count)
            )
        return bodies
