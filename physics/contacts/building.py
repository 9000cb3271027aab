"""The part of ModelBuilder that collects contacts."""

from __future__ import annotations

from typing import Any

from ..bodies.body import Body, name_of
from ..bodies.names import NameIndex
from ..errors import ModelError
from ..forces.base import checked_name
from ..registry import arguments, checked_entries
from .contact import Contact, make_contact
from .obstacles import Obstacle


class ContactBuilder:
    """The contacts of `ModelBuilder`, which provides `bodies` and `body_numbers`."""

    bodies: list[Body]
    body_numbers: Any

    def __init__(self) -> None:
        super().__init__()
        self.contacts: list[Contact] = []
        self._contacts_by_name = NameIndex()

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

        Raises:
            ModelError: an invalid argument; the builder is then unchanged.
        """
        if checked_name(name, "contact") in self._contacts_by_name(self.contacts):
            raise ModelError(f"there is a contact named {name!r} already")
        values = {
            "body": name_of(body),
            "points": points,
            "obstacle": obstacle,
            "other": name_of(other),
            "pose": pose,
            "radius": radius,
            "friction": friction,
            "restitution": restitution,
        }
        contact = make_contact(name, self.body_numbers(), values)
        self.contacts.append(contact)
        return contact

    def read_contacts(self, entries: Any) -> None:
        """Add the contacts of `Model.to_dict`; FormatError or ModelError names the faulty one."""
        for entry in checked_entries(entries, "contacts", *arguments(ContactBuilder.add_contact)):
            self.add_contact(**entry)
