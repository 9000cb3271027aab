"""What carries a simulated body and follows another by a constraint: it moves when the bake is there, and not before.

Keys of the body are made on what carries it as it moved before the bake, so they would show another motion.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bpy.types import Constraint, Object, PoseBone

from ..baked import conflicts
from ..blender import physics_access
from ..data import references
from ..data.references import Body, Key, key_of
from ..reading.scene import SceneModel


def check(read: SceneModel) -> None:
    """ModelError where a body of a `SceneModel`, or what holds one, is carried so; in a scene without its bake."""
    found = [body for entry in read.bodies if (body := entry.handle.find()) is not None]
    handles = dict.fromkeys([*read.held, *(entry.handle for entry in read.leaders)])
    bases = [body for handle in handles if (body := handle.find()) is not None]
    simulated = {key_of(body) for body in found}
    for body in [*found, *bases]:
        carrier = references.carrier(body) if key_of(body) in simulated else body
        while carrier is not None and key_of(carrier) not in simulated:
            for holder, constraint in _moving(carrier):
                led_by = _simulated_behind(references.looked_at(constraint), simulated)
                if led_by is not None:
                    whose = "" if holder == carrier.owner else f" of bone {holder.name!r}"
                    raise physics_access.model_error(
                        _told(carrier, body, f"{constraint.name!r}{whose}", led_by)
                    )
            carrier = references.carrier(carrier)


def _told(carrier: Body, body: Body, constraint: str, led_by: Body) -> str:
    what = "holds what is simulated but" if references.same(carrier, body) else f"carries {body.name} and"
    return (
        f"{carrier.name} {what} follows {led_by.name} by the constraint {constraint}, and {led_by.name} is "
        f"simulated: nobody knows before the bake where {carrier.name} will be; {conflicts.HOW_TO_KEY}"
    )


def _moving(body: Body) -> Iterator[tuple[Object | PoseBone, Constraint]]:
    """Each constraint that acts on a body, and the object or bone that has it."""
    for constraint in body.owner.constraints:
        if conflicts.acts(body.object, constraint):
            yield body.owner, constraint
    if body.bone:
        yield from conflicts.bent_by(body.pose_bone)


def _simulated_behind(bodies: Iterable[Body], simulated: set[Key]) -> Body | None:
    """The first simulated body by which any of these is moved, through parents and constraints; None: by none."""
    waiting, known = list(bodies), set()
    while waiting:
        body = waiting.pop()
        if key_of(body) in simulated:
            return body
        if key_of(body) in known:
            continue
        known.add(key_of(body))
        parent = references.carrier(body)
        waiting += [] if parent is None else [parent]
        for _, constraint in _moving(body):
            waiting += references.looked_at(constraint)
    return None
