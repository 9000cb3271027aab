"""Operators that bake, cancel, and free the bake."""

from typing import Any

import bpy
from bpy.types import Context, Event, Operator

from ...baked import temporarily
from ...baking import restoring
from ...blender import session
from ...data import finding_list
from ...data.property_options import Change, Edit, allowed, counted, unless, writable
from ...jobs import bake, partial_bake
from ...jobs.operator import JobOperator
from ..asked import text
from ..checks.operators import why_nothing

#: most warnings to report in full; of more, only their number is reported
MOST_TOLD = 2


class Bake(Change, JobOperator, Operator):
    """Simulate the scene's joints and bodies, and write their motion to keyframes. Free Bake restores the former
    animation"""

    bl_idname = "condyle.bake"
    bl_label = "Bake"
    title = "Bake"

    @classmethod
    def why_not(cls, context: Context) -> str:
        return why_nothing(context)

    def steps(self, context: Context) -> Any:
        return bake.bake(context.scene)

    def told(self, outcome: "bake.BakeReport") -> str:
        if len(outcome.warnings) > MOST_TOLD:
            return self.shown(outcome)
        return ". Note: ".join([self._done(outcome), *(each.text for each in outcome.warnings)])

    def shown(self, outcome: "bake.BakeReport") -> str:
        count = len(outcome.warnings)
        return self._done(outcome) + (f"; {counted(count, 'warning')}" if count else "")

    def _done(self, outcome: "bake.BakeReport") -> str:
        soft = len(outcome.result.model.soft_bodies)
        things = [counted(len(outcome.bodies), "body", "bodies")] if outcome.bodies or not soft else []
        things += [counted(soft, "soft body", "soft bodies")] if soft else []
        seconds = sum(outcome.seconds.values())
        done = f"Baked {' and '.join(things)}, {len(outcome.frames)} frames in {seconds:.1f} s"
        return f"{done}; {outcome.note}" if outcome.note else done


class BakeUnfinished(Change, JobOperator, Operator):
    """Bake the frames that were simulated before the last bake failed, to see how it failed"""

    bl_idname = "condyle.bake_unfinished"
    bl_label = "Bake What Was Simulated"
    title = "Bake"

    @classmethod
    def why_not(cls, context: Context) -> str:
        kept = partial_bake.of(context.scene)
        none = "No bake of this scene failed after its first frames"
        return none if kept is None else partial_bake.why_not(context.scene, kept)

    def steps(self, context: Context) -> Any:
        return bake.bake_unfinished(context.scene)

    def told(self, outcome: "bake.BakeReport") -> str:
        return (
            f"Baked frames {outcome.frames[0]:g} to {outcome.frames[-1]:g}, after which the simulation failed"
        )


class SaveShot(JobOperator, Operator):
    """Write all that a bake would simulate to a folder: to be simulated without Blender (python -m addon bake), or for
    a report of a fault"""

    bl_idname = "condyle.save_shot"
    bl_label = "Save Shot"
    title = "Save Shot"

    directory: text("Folder", "Folder to write", subtype="DIR_PATH")

    @classmethod
    def poll(cls, context: Context) -> bool:
        return writable(cls) and allowed(cls, Bake.why_not(context))

    def invoke(self, context: Context, _event: Event) -> set[str]:
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def steps(self, context: Context) -> Any:
        return bake.save_shot(context.scene, bpy.path.abspath(self.directory))

    def told(self, _outcome: None) -> str:
        return f"Shot written to {self.directory}"


class FreeBake(Edit, Operator):
    """Remove the bake: restore the actions and poses from before it"""

    bl_idname = "condyle.free_bake"
    bl_label = "Free Bake"
    why_not = unless(lambda context: restoring.is_baked(context.scene), "Nothing is baked")

    def change(self, context: Context) -> None:
        scene = context.scene
        lost = [each.text for each in (*restoring.broken(scene), *restoring.edited(scene))]
        bones = [body for item in scene.objects for body in temporarily.baked_bodies(item) if body.bone]
        count = bake.free_bake(scene)
        finding_list.forget_bake(scene)
        done = f"Removed the bake of {counted(len(bones), 'bone') if bones else counted(count, 'object')}"
        session.tell("; ".join([done, *lost]), "ERROR" if lost else "CHECKMARK")


class CancelJob(Operator):
    """Cancel the running job, without any change to the scene (same as Esc)"""

    bl_idname = "condyle.cancel"
    bl_label = "Cancel"
    keeps_errors = True

    @classmethod
    def poll(cls, context: Context) -> bool:
        return allowed(cls, "Nothing is being computed" if session.job is None else "")

    def execute(self, context: Context) -> set[str]:
        session.job.cancel_wanted = True
        return {"FINISHED"}
