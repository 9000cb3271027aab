"""Findings about a scene: codes with values, and the object or bone that each is about."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from .handles import Body, Handle
from .messages import TEXTS

if TYPE_CHECKING:
    from bpy.types import Object

#: sources of findings
CHECK, BAKE, IMPORT, LIVE = "Check", "Bake", "Import", "Live"
#: values that name what a finding is about
NAMES = ("name", "muscle", "body", "file")
MUSCLE = ("muscle",)


@dataclass(frozen=True)
class Finding:
    """A line for users: `code` names its text in `messages.TEXTS`, `values` are inserted into it.

    Attributes:
        session_uid: of the object that it is about; 0: none. bone: one of its bones.
        maker: session uid of the object without which the line is obsolete; 0: none.
        remedy: operator that helps. is_hint: nothing is wrong, but users should know.
    """

    code: str
    values: Mapping[str, Any] = field(default_factory=dict)
    source: str = CHECK
    is_error: bool = False
    session_uid: int = 0
    bone: str = ""
    maker: int = 0
    remedy: str = ""
    is_hint: bool = False

    @property
    def text(self) -> str:
        return TEXTS[self.code].format_map(self.values)


def about(culprit: Body | Handle | Object | None, code: str, /, **values: Any) -> Finding:
    """A finding about an object, a `Body` or a `Handle`; None: about none of them."""
    if culprit is None or isinstance(culprit, Handle):
        found = culprit or Handle(0)
    else:
        found = (culprit if isinstance(culprit, Body) else Body(culprit)).handle()
    return Finding(code, values, session_uid=found.session_uid, bone=found.bone)


def error(
    culprit: Body | Object | None, problem: Exception | str, code: str = "error", /, **values: Any
) -> Finding:
    """An error in the words of its exception, which begin with a name."""
    name = str(problem).partition(": ")[0] if code == "error" and ": " in str(problem) else ""
    message = str(problem).removeprefix(name)
    return replace(about(culprit, code, name=name, message=message, **values), is_error=True)


def place_of(name: str, text: str) -> int | None:
    """Index in a text where it names an object or bone; None if it does not."""
    met = re.search(rf"(?<![\w.]){re.escape(name)}(?![\w/]|\.\d)", text) if name in text else None
    return None if met is None else met.start()


def of_source(found: Iterable[Finding], source: str, maker: Object | None = None) -> list[Finding]:
    """Findings with this source; maker: the object without which they are obsolete."""
    uid = 0 if maker is None else maker.session_uid
    return [replace(each, source=source, maker=uid) for each in found]


def few(names: Iterable[str], most: int = 4) -> str:
    """The first names of a list and the number of the others, for a sentence."""
    names = list(names)
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} other{'s' * (more > 1)}" if more > 0 else "")


def gathered(found: Iterable[Finding], names: Collection[str] = NAMES, most: int = 5) -> list[Finding]:
    """The findings, those that say the same of several things as one, about the first of these.

    Args:
        names: values in which they may differ. most: names in a finding.
    """
    groups: dict[Any, list[Finding]] = {}
    for each in found:
        rest = [(key, repr(value)) for key, value in each.values.items() if key not in names]
        groups.setdefault((each.code, each.is_error, each.is_hint, *rest), []).append(each)
    return [
        replace(
            same[0],
            values={
                key: few(dict.fromkeys(each.values[key] for each in same), most)
                if key in names and len(same) > 1
                else value
                for key, value in same[0].values.items()
            },
        )
        for same in groups.values()
    ]
