"""What a reading of an OpenSim model has to say, in two grades; equal causes share a line."""

from __future__ import annotations

NAMED = 5  # most things that a line names


class Notes:
    """Collects causes and the things that they concern.

    Args:
        prefix: left out before each thing: the path of the model.
    """

    def __init__(self, prefix: str = "") -> None:
        self._prefix = prefix
        self._found: dict[tuple[bool, str], list[str]] = {}

    def warn(self, cause: str, thing: str) -> None:
        """Something changes the physics."""
        self._found.setdefault((True, cause), []).append(thing.removeprefix(self._prefix))

    def note(self, cause: str, thing: str) -> None:
        """Something differs without effect on the physics."""
        self._found.setdefault((False, cause), []).append(thing.removeprefix(self._prefix))

    def lines(self, physics: bool) -> tuple[str, ...]:
        """One line for each cause of a grade."""
        return tuple(
            f"{cause}: {_listed(things)}"
            for (grade, cause), things in self._found.items()
            if grade == physics
        )


def _listed(things: list[str]) -> str:
    named = list(dict.fromkeys(things))
    more = f" and {len(named) - NAMED} more" if len(named) > NAMED else ""
    return ", ".join(named[:NAMED]) + more
