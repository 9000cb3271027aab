"""Condyle's exceptions: one class each for bad input, bad files, failed fits and diverged or cancelled runs."""

from importlib import import_module
from typing import Any

LONGEST = 1000  # characters of a message


def on_a_line(text: object) -> str:
    """A text on one line, for a table or a log: characters that cannot be printed are escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(text))


def shown(text: object, longest: int = LONGEST) -> str:
    """A text as messages show it: escapes of terminals as text, the middle of a long one left out."""
    whole = str(text)
    if len(whole) > longest:
        whole = f"{whole[: longest * 2 // 3]} ... {whole[-(longest // 3) + 5 :]}"
    return "\n".join(map(on_a_line, whole.split("\n")))


class CondyleError(Exception):
    """Base of every error that Condyle raises on purpose; its message is safe to print, and not endless."""

    def __init__(self, *message: object, **more: Any) -> None:
        super().__init__(*map(shown, message), **more)


class ModelError(CondyleError, ValueError):
    """Bad input to a joint, a body or a model; the message names the thing and its value."""


class JointRangeError(ModelError):
    """A coordinate lies outside the range of a joint that does not extrapolate."""


class FormatError(CondyleError, ValueError):
    """A file or message is malformed: cut short, of an unknown version, with an unknown key."""


class UnknownJointError(FormatError):
    """A file has a kind of joint that is not supported; `read_opensim` can read it as a weld."""


class FitError(CondyleError, ValueError):
    """No joint can be fitted to the data; the message names the pose or the parameter at fault."""


class MissingDependencyError(CondyleError, ImportError):
    """An optional package is needed and not installed."""


def optional(module: str, what: str) -> Any:
    """A module of SciPy; MissingDependencyError, which says what needs it, if that is not installed."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingDependencyError(f"{what} needs SciPy, which is not installed") from error


class DivergedError(CondyleError, RuntimeError):
    """A simulation reached values that are not finite.

    Attributes:
        time: time of the last finite state [s].
        body: name of the body whose joint failed first.
        reason: the cause, in words.
        result: the ``Result`` computed until then, or None.
    """

    def __init__(self, time: float, body: str, reason: str, result: Any = None) -> None:
        super().__init__(f"diverged at t = {time:.6g} s in body {body!r}: {reason}")
        self.time = time
        self.body = body
        self.reason = reason
        self.result = result

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.time, self.body, self.reason, self.result)


class SimulationWarning(UserWarning):
    """A run came to its end, but something makes its motion doubtful: ``Result.diagnosis`` has all findings."""


class CancelledError(CondyleError):
    """The progress callback asked to stop; ``result`` is the result computed until then, or None."""

    def __init__(self, message: str = "cancelled", result: Any = None) -> None:
        super().__init__(message)
        self.result = result

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.result)
