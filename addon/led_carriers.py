"""What carries a simulated body and follows another by a constraint: it moves when the bake is there, and not before.

Keys of the body are made on what carries it as it moved before the bake, so they would show another motion.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import bakeable, core, references
from .references import Body, Key, key_of


def check(read: Any) -> None:
    """ModelError where a body of a `SceneModel`, or what holds one, is carried so; in a scene without its bake."""
    found = [body for entry in read.bodies if (body := entry.handle.find()) is not None]
    bases = [body for handle in read.held if (body := handle.find()) is not None]
    simulated = {key_of(body) for body in found}
    for body in [*found, *bases]:
        carrier = _parent(body) if key_of(body) in simulated else body
        while carrier is not None and key_of(carrier) not in simulated:
            for holder, constraint in _moving(carrier):
                led_by = _simulated_behind(_targets(constraint), simulated)
                if led_by is not None:
                    whose = "" if holder == carrier.owner else f" of bone {holder.name!r}"
                    raise core.model_error(_told(carrier, body, f"{constraint.name!r}{whose}", led_by))
            carrier = _parent(carrier)


def _parent(body: Body) -> Body | None:
    """What carries a body in Blender: of a bone without a parent, and where the bone is gone, the object."""
    parent = references.blender_parent(body)
    if parent is None:
        return Body(body.object) if body.bone else None
    return _target(parent.object, parent.bone)


def _told(carrier: Body, body: Body, constraint: str, led_by: Body) -> str:
    what = "holds what is simulated but" if references.same(carrier, body) else f"carries {body.name} and"
    return (
        f"{carrier.name} {what} follows {led_by.name} by the constraint {constraint}, and {led_by.name} is "
        f"simulated: nobody knows before the bake where {carrier.name} will be; {bakeable.HOW_TO_KEY}"
    )


def _moving(body: Body) -> Iterator[tuple[Any, Any]]:
    """Each constraint that acts on a body, and the object or bone that has it."""
    for constraint in body.owner.constraints:
        if bakeable.acts(body.object, constraint):
            yield body.owner, constraint
    if body.bone:
        yield from bakeable.bent_by(body.pose_bone)


def _targets(constraint: Any) -> list[Body]:
    """What a constraint looks at."""
    found = [
        _target(getattr(constraint, name, None), getattr(constraint, bone, ""))
        for name, bone in (("target", "subtarget"), ("pole_target", "pole_subtarget"))
    ]
    found += [_target(row.target, row.subtarget) for row in getattr(constraint, "targets", ())]
    return [body for body in found if body is not None]


def _target(item: Any, bone: str) -> Body | None:
    if item is None:
        return None
    return Body(item, bone if item.pose is not None and bone in item.pose.bones else "")


def _simulated_behind(bodies: list[Body], simulated: set[Key]) -> Body | None:
    """The first simulated body by which any of these is moved, through parents and constraints; None: by none."""
    waiting, known = list(bodies), set()
    while waiting:
        body = waiting.pop()
        if key_of(body) in simulated:
            return body
        if key_of(body) in known:
            continue
        known.add(key_of(body))
        parent = _parent(body)
        waiting += [] if parent is None else [parent]
        for _, constraint in _moving(body):
            waiting += _targets(constraint)
    return None
