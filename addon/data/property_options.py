"""Shared by panels and operators: the tab in the sidebar, the selected joint, polls, reports."""

import functools
from collections.abc import Callable
from itertools import product
from types import FunctionType
from typing import Any

from bpy.types import Context, Event, Object, Operator

from ..blender import mixins, physics_access, session
from . import references


class SidebarPanel(mixins.Panel):
    """Base of panels: in the 3D view's sidebar, tab Condyle."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Condyle"


def writable(cls: type[Operator]) -> bool:
    """Poll: operators may change data now; otherwise the button shows the reason."""
    if session.read_only:
        return allowed(
            cls, "This file was saved by a newer Condyle: its settings can be seen but not changed"
        )
    computing = "Condyle is computing: wait, or press Esc in the 3D view to cancel"
    return allowed(cls, "" if session.job is None else computing)


def own_joint(context: Context) -> Object | None:
    """As `active_joint`, but without a joint whose parent is the active object or bone."""
    return active_joint(context, roles=("child",))


def active_joint(context: Context, roles: tuple[str, ...] = ("child", "parent")) -> Object | None:
    """The selected joint: the active Empty, or the joint whose control frame, child or parent is active, or (with both
    roles) whose child or parent carries what is active and no body: a mesh, or the stick of an imported bone.
    """
    active = context.active_object
    if active is None or not hasattr(active, "condyle"):
        return None
    if active.condyle.joint.enabled:
        return active
    owner = active.condyle.frame_of
    if owner is not None and owner.condyle.joint.enabled:
        return owner
    body = references.active_body(context)
    bodies = [body]
    if body is not None and len(roles) > 1 and not body.data.body.enabled:
        shown = references.blender_parent(body)
        bodies += [shown] if shown is not None else []
    joints = references.carrying_joints(context.scene) + references.loop_joints(context.scene)
    for body, role, item in product(bodies, roles, joints):
        if references.same(references.resolve(getattr(item.condyle.joint, role)), body):
            return item
    return None


def own_body(context: Context) -> references.Body | None:
    """The active object or bone if it is a body."""
    body = references.active_body(context)
    return body if body is not None and body.data.body.enabled else None


def active_connection(context: Context) -> Object | None:
    """The selected connection: the active Empty, or the connection whose end it is; None without one."""
    active = context.active_object
    if active is None or not hasattr(active, "condyle"):
        return None
    if active.condyle.connection.enabled:
        return active
    owner = active.condyle.frame_of
    return owner if owner is not None and owner.condyle.connection.enabled else None


def active_muscle(context: Context) -> Object | None:
    """The selected muscle: the active curve; None without one."""
    active = context.active_object
    if active is None or not hasattr(active, "condyle") or not active.condyle.muscle.enabled:
        return None
    return active if active.type == "CURVE" else None


def needs_joint(cls: type[Operator], context: Context) -> bool:
    """Poll: data may change, in a mode that can undo it, and a joint is selected."""
    if not editable(cls, context):
        return False
    joint = active_joint(context)
    if joint is None:
        return allowed(cls, "Select a joint's Empty, one of its control points, or its moving body")
    linked = f"{joint.name} is linked; make a library override first"
    return allowed(cls, "" if joint.library is None else linked)


def needs_own_joint(cls: type[Operator], context: Context) -> bool:
    """Poll: as `needs_joint`, except for joints of a library, which the next load would restore."""
    if not needs_joint(cls, context):
        return False
    joint = active_joint(context)
    overridden = f"{joint.name} is of a library, which would bring it back with the next load"
    return allowed(cls, "" if joint.override_library is None else overridden)


def need_object_mode(cls: type[Operator], context: Context) -> bool:
    """Poll: not in an edit mode, where undo does not revert most changes of operators."""
    undone = context.mode in session.MODES_UNDONE_WHOLE
    return allowed(cls, "" if undone else "Leave the edit mode first (Tab)")


def editable(cls: Any, context: Context) -> bool:
    """Poll: operators may change data now, in a mode that undoes it."""
    return writable(cls) and need_object_mode(cls, context)


def allowed(cls: Any, why_not: str) -> bool:
    """Whether the poll gives no reason against it; otherwise the button shows the reason."""
    if why_not:
        cls.poll_message_set(why_not)
    return not why_not


Holds = Callable[[Context], Any]


def needing(holds: Holds, reason: str, before: Any = editable) -> Any:
    """A poll: another one, and that something holds; otherwise the button shows the reason."""

    def poll(cls: type[Operator], context: Context) -> bool:
        return before(cls, context) and allowed(cls, "" if holds(context) else reason)

    return poll


def any_selected(missing: str) -> Any:
    """A poll: something is selected; `missing` says what to select."""
    return needing(references.selected_bodies, missing)


def unless(holds: Holds, reason: str) -> Any:
    """The `why_not` of an operator that cannot run unless something holds."""
    return classmethod(lambda cls, context: "" if holds(context) else reason)


def shown_if(holds: Holds) -> Any:
    """The `poll` of a panel that is shown if something holds."""
    return classmethod(lambda cls, context: bool(holds(context)))


def counted(number: int | str, thing: str, things: str = "") -> str:
    """A number of things as text: "1 joint", "2 joints"."""
    return f"{number} {thing if number == 1 else things or thing + 's'}"


class Change(mixins.Operator):
    """Base of operators that change data, each one step of the undo history."""

    bl_options = {"REGISTER", "UNDO"}
    #: a poll: whether the operator can run at all
    needs: Any = editable

    @classmethod
    def why_not(cls, context: Context) -> str:
        """Why the operator cannot run now, in words for the user; empty: it can."""
        return ""

    @classmethod
    def poll(cls, context: Context) -> bool:
        return cls.needs(cls, context) and allowed(cls, cls.why_not(context))


class Edit(Change):
    """Base of changes that are made at once."""

    def change(self, context: Context) -> str | None:
        """Make the change; returns what to report, if anything."""
        raise TypeError(f"{type(self).__name__} changes nothing")

    def execute(self, context: Context) -> set[str]:
        context.view_layer.update()  # Adjust Last Operation undoes first, which leaves no matrices
        since = session.tellings
        done = self.change(context)
        if done:
            if session.tellings == since:  # in the place of what an earlier operator did
                session.tell(done, "CHECKMARK")
            self.report({"INFO"}, done)
        return {"FINISHED"}


def figure(value: float) -> str:
    """A residual as text with three digits, at least 0.001."""
    return "under 0.001" if value < 0.001 else f"{value:.3g}"


def failed(operator: Operator, error: Exception) -> set[str]:
    """Report an error and end an operator, which has changed nothing."""
    text = str(error)
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.filename}: {error.strerror}"  # without the system's error number
    session.tell(text, "ERROR")
    operator.report({"ERROR"}, text)
    return {"CANCELLED"}


def reporting(operator: type[Operator]) -> type[Operator]:
    """Wrap an operator's methods: they report our errors, and success clears the error of an earlier operator.

    Operators with `keeps_errors` are not wrapped: they only show the object of an error, or search elsewhere.
    """
    if not getattr(operator, "keeps_errors", False):
        for name, wrap in (("execute", _with_context), ("invoke", _with_event), ("modal", _with_event)):
            method = getattr(operator, name, None)
            if isinstance(method, FunctionType) and not hasattr(method, "reports"):
                wrapped: Any = functools.wraps(method)(wrap(method))
                wrapped.reports = True
                setattr(operator, name, wrapped)
    return operator


# Blender counts the arguments of these functions, so they cannot be one function.


def _with_context(method: Callable[..., set[str]]) -> Callable[..., set[str]]:
    def wrapped(self: Operator, context: Context) -> set[str]:
        return _reported(self, method, context)

    return wrapped


def _with_event(method: Callable[..., set[str]]) -> Callable[..., set[str]]:
    def wrapped(self: Operator, context: Context, event: Event) -> set[str]:
        return _reported(self, method, context, event)

    return wrapped


def _reported(operator: Operator, method: Callable[..., set[str]], *arguments: Context | Event) -> set[str]:
    since = session.tellings
    try:
        outcome: set[str] = method(operator, *arguments)
    except physics_access.physics().CondyleError as error:
        return failed(operator, error)
    if "FINISHED" in outcome:
        session.forget_error(since)
        session.stale_unknown = True  # Blender does not notice changes of our own properties
    return outcome
