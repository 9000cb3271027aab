"""The part of ModelBuilder that collects contacts and colliders."""

from collections.abc import Sequence
from typing import Any

from ..bodies.body import Body, given
from ..bodies.names import NameIndex
from ..forces.base import make_force, new_name
from .collider import Collider, group_bits
from .contact import Contact, make_contact
from .obstacles import Obstacle


class ContactBuilder:
    """The contacts and colliders of `ModelBuilder`, which provides `bodies` and `body_numbers`."""

    bodies: list[Body]
    body_numbers: Any

    def __init__(self) -> None:
        super().__init__()
        self.contacts: list[Contact] = []
        self.colliders: list[Collider] = []
        self._contacts_by_name, self._colliders_by_name = NameIndex(), NameIndex()

    def add_contact(
        self,
        name: str,
        body: Body | str,
        points: Any,
        obstacle: Obstacle,
        *,
        other: Body | str | None = None,
        pose: Any = None,
        radius: Any = 0.0,
        friction: float = 0.0,
        restitution: float = 0.0,
    ) -> Contact:
        """Keep points of a body out of an obstacle (`contacts`), with Coulomb friction and restitution.

        Fixed-step methods solve for the impulses of all contacts, hard limits and constraints of a step together.

        Args:
            name: unique among contacts, not empty.
            body: the body with the points, added before, or its name. points: in its frame (n, 3) [m].
            obstacle: its shape. other: the body with the obstacle; None: the world. pose: of the obstacle in the frame
                of `other` (4, 4), the identity if not given.
            radius: of spheres about the points [m], a number or (n,); 0 for the vertices of a mesh.
            friction: coefficient of this pair, not negative. restitution: 0 to 1.
        """
        new_name(name, "contact", self._contacts_by_name(self.contacts))
        contact = make_contact(name, self.body_numbers(), given(locals()))
        self.contacts.append(contact)
        return contact

    def add_collider(
        self,
        name: str,
        body: Body | str | None,
        shape: Obstacle,
        *,
        pose: Any = None,
        friction: float = 0.0,
        restitution: float = 0.0,
        margin: float = 0.0,
        groups: Sequence[str] = ("default",),
        ignores: Sequence[str] = (),
    ) -> Collider:
        """Keep a shape of a body out of all other colliders with which it has a group in common.

        Bodies that a joint, or a point, hinge or weld constraint, connects do not collide; all collide with the ground.
        Contacts are pairs of features: vertices over faces, and crossing edges, at most four for two colliders.

        Args:
            name: unique among colliders, not empty.
            body: the body that carries it, added before, its name, or None for the ground.
            shape: `contacts.Sphere`, `Capsule`, `Box`, `Convex`, `Plane`, `TriangleMesh` or `HeightField`.
            pose: of the shape in the body frame (4, 4), the identity if not given.
            friction: coefficient, not negative; two colliders have the geometric mean of theirs.
            restitution: 0 to 1; two colliders have the greater one.
            margin: the surface is so far outside of the shape [m], not negative, with rounded edges.
            groups: names, at most 52 in a model.
            ignores: groups that it does not touch, whatever else it has in common with them.
        """
        new_name(name, "collider", self._colliders_by_name(self.colliders))
        collider = make_force(Collider, name, self.body_numbers(), given(locals()), world=True)
        group_bits([*self.colliders, collider])
        self.colliders.append(collider)
        return collider
