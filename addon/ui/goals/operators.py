"""Operators that add goals to bodies, and search for torques that meet them, or that follow keys."""

from typing import Any

from bpy.types import Context, Operator

from ...blender import units
from ...data import goals as data
from ...data import references
from ...data.property_options import Change, Edit, counted, own_body, unless
from ...jobs import goals as search
from ...jobs import physical
from ...jobs.operator import JobOperator
from ...making import goals
from ..asked import choice, flag
from ..checks.operators import why_nothing
from ..lists import remove_active


class AddGoal(Edit, Operator):
    """Say what the active body should do at a frame: reach a target or look at it (a selected object, or a new Empty),
    be at rest, or have a value of its joint's coordinate"""

    bl_idname = "condyle.add_goal"
    bl_label = "Add Goal"

    why_not = unless(own_body, "Select an object or bone that has a joint (Add Joint)")

    kind: choice("Goal", "What is wanted of the body", items=data.KINDS)

    def change(self, context: Context) -> str:
        body = references.active_body(context)
        damped = len(goals.undamped(context.scene, body))
        others = (item for item in context.selected_objects if item != body.object)
        row = goals.add(context.scene, body, self.kind, context.scene.frame_current, next(others, None))
        more = f"; {counted(damped, 'joint')} got Damping" if damped else ""
        return f"{body.name}: goal at frame {row.frame}{more}"


class RemoveGoal(Edit, Operator):
    """Remove the selected goal of the active body; its target stays"""

    bl_idname = "condyle.remove_goal"
    bl_label = "Remove Goal"

    why_not = unless(
        lambda context: (body := own_body(context)) is not None and len(body.data.goals.rows),
        "The active object or bone has no goal",
    )

    def change(self, context: Context) -> None:
        remove_active(own_body(context).data.goals, "rows", "active_row")


class Search(Change, JobOperator):
    """A search for torques in a scene that can be simulated."""

    @classmethod
    def why_not(cls, context: Context) -> str:
        return why_nothing(context)


class SolveGoals(Search, Operator):
    """Find torques of the joints, or excitations of muscles, that bring the bodies to their goals, key them, and bake
    what they do"""

    bl_idname = "condyle.solve_goals"
    bl_label = "Solve Goals"
    title = "Solve Goals"

    accept: flag("Write Anyway", "Key and bake the nearest that was found, even where a goal is missed")

    def steps(self, context: Context) -> Any:
        return search.solve(context.scene, self.accept)

    def told(self, outcome: "search.GoalReport") -> str:
        met, found = counted(len(outcome.goals), "goal"), counted(outcome.keyed, outcome.what)
        return f"Solved {met} by {found}, and baked {len(outcome.bake.frames)} frames"


class MakePhysical(Search, Operator):
    """Find torques, within a budget, by which joints that are keyed or Animated move as near to their keys as physics
    allows; key these, and bake what they do"""

    bl_idname = "condyle.make_physical"
    bl_label = "Make Physical"
    title = "Make Physical"

    accept: flag("Write Anyway", "Key and bake the nearest that was found, even where it is far off")

    def steps(self, context: Context) -> Any:
        return physical.make(context.scene, self.accept)

    def told(self, outcome: "physical.PhysicalReport") -> str:
        apart, farthest = (units.told_length(each) for each in (outcome.distance, outcome.farthest))
        return (
            f"Baked {len(outcome.bake.frames)} frames: {apart} from the keys on average, {farthest} at most "
            f"({outcome.body}, frame {outcome.frame}); {counted(len(outcome.at_budget), 'joint')} at full strength"
        )
