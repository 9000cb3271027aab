"""What a reading of an OpenSim model has to say, in two grades; equal causes share a line."""

NAMED = 5  # most things that a line names


class Notes:
    """Collects causes and the things that they concern, by names or by paths of which the last two parts are named."""

    def __init__(self) -> None:
        self._found: dict[tuple[bool, str], dict[str, None]] = {}

    def warn(self, cause: str, thing: str) -> None:
        """Something changes the physics."""
        self._add(True, cause, thing)

    def note(self, cause: str, thing: str) -> None:
        """Something differs without effect on the physics."""
        self._add(False, cause, thing)

    def _add(self, physics: bool, cause: str, thing: str) -> None:
        cause = cause.replace(f"{thing}: ", "")  # an error says where it is, too
        called = "/".join(thing.split("/")[-2:]).removeprefix("objects/")
        self._found.setdefault((physics, cause), {})[called] = None

    def lines(self, physics: bool) -> tuple[str, ...]:
        """One line for each cause of a grade."""
        return tuple(
            f"{cause}: {_listed([*things])}"
            for (grade, cause), things in self._found.items()
            if grade == physics
        )


def _listed(things: list[str]) -> str:
    more = f" and {len(things) - NAMED} more" if len(things) > NAMED else ""
    return ", ".join(things[:NAMED]) + more
