"""Makes feedback laws of joints."""

import itertools
from typing import Any

from bpy.types import Object

from ..data import references, schema
from ..data.feedback import SIGNALS
from ..data.references import Body


def add(item: Object, signal: str, body: Body | None = None) -> Any:
    """Add a law of a joint with a signal, of a body where it measures one or its touch; returns the law."""
    settings = item.condyle.joint
    called = next(label for name, label, *_ in SIGNALS if name == signal)
    known = {each.title for each in settings.feedback_laws}
    title = next(each for each in (f"{called} {k}" for k in itertools.count(1)) if each not in known)
    law = settings.feedback_laws.add()
    law.signal, law.title = signal, title
    role = {"POINT": law.point, "TOUCH": law.gate}.get(signal)
    if role is not None:
        references.point_at(role, body)
    settings.active_feedback_law = len(settings.feedback_laws) - 1
    schema.stamp(item.condyle)
    return law
