"""Sliders of the live mode, on the window manager: changing them is not an undo step, and no file stores them."""

import bpy
from bpy.props import PointerProperty
from bpy.types import Context, PropertyGroup, Scene

from ..blender import session
from .properties import OVERRIDE, choice, collection, factor, flag, integer, number, span, text, vector

#: property with a slider's value, by its kind
SHOWN = {
    "TORQUE": "torque",
    "SHARE": "share",
    "TIMES": "times",
    "PLAIN": "plain",
    "STRENGTH": "strength",
    "LEVEL": "level",
}


def turned(_self: PropertyGroup, _context: Context) -> None:
    """Notify the run at once; otherwise it would first show one more frame without the change."""
    if session.live is not None:
        session.live.hear()


class LiveSlider(PropertyGroup):
    """One slider: the value of the running model that it changes, and where the scene stores it."""

    label: text("Label", "Name for people")
    group: choice(
        "Group",
        "Where the panel shows it",
        items=(
            ("TORQUE", "Torques", "Torques and forces of joints"),
            ("MUSCLE", "Muscles", "Excitations of muscles"),
            ("GROUND", "Ground and Soft Parts", "Stiffness, damping and friction"),
            ("FIELD", "Force Fields", "Strengths of wind and other fields"),
            ("FEEDBACK", "Feedback", "Gains and levels of feedback laws"),
        ),
    )
    kind: choice(
        "Kind",
        "Which of its numbers is used",
        items=tuple((name, name.title(), f"The number {shown!r}") for name, shown in SHOWN.items()),
    )
    part: text("Part", 'Of the model: "inputs", "forces", "contacts" or "feedback"')
    target: text("Target", "Name of the element in the model")
    key: text("Key", "Which number of the element; empty: it has one")
    owner: integer("Owner", "Session uid of the object that stores the value")
    path: text("Path", "Data path of the value on that object")
    base: number("Base", "Value when the run began, in the units of the slider")
    kept: flag("Kept", "Whether the value was written to the scene; an undo may have reverted that")
    torque: number(
        "Torque",
        "Torque (N·m) or force (N) on the joint. It acts on the next step",
        soft_min=-100.0,
        soft_max=100.0,
        update=turned,
    )
    share: factor("Share", "From 0, nothing, to 1, everything. It acts on the next step", update=turned)
    times: number(
        "Times",
        "Multiple of the scene's value. It acts on the next step",
        **span(0.0, 5.0, 1000.0, default=1.0, update=turned),
    )
    plain: number(
        "Friction",
        "Friction's share of the pressing force: 0 ice, 0.5 wood, 1 rubber. It acts on the next step",
        **span(0.0, 2.0, update=turned),
    )

    strength: number(
        "Strength",
        "Strength of the force field. It acts on the next step",
        soft_min=-20.0,
        soft_max=20.0,
        update=turned,
    )
    level: number(
        "Level",
        "Signal at which the law adds nothing, in radians or metres, or these per second. It acts on the next step",
        soft_min=-2.0,
        soft_max=2.0,
        update=turned,
    )

    @property
    def value(self) -> float:
        """Its present value, in SI."""
        if self.kind == "TIMES":
            return float(self.base * self.times)
        return float(getattr(self, SHOWN[self.kind]))


class LiveSettings(PropertyGroup):
    """Settings of the live mode."""

    factor: number(
        "Speed",
        "Seconds of motion in a second: 1 is real time, 0.25 is four times slower",
        default=1.0,
        min=0.01,
        soft_min=0.1,
        soft_max=1.0,
        max=4.0,
        update=turned,
    )
    gravity: vector(
        "Gravity [m/s²]", "Acceleration of free fall while it runs", default=(0.0, 0.0, -9.81), update=turned
    )
    pull: number(
        "Pull",
        "How strongly the mouse pulls a body: stiffness of its spring, relative to one that fits the "
        "body's mass",
        **span(0.01, 10.0, 1000.0, default=1.0),
    )
    scene: integer("Scene", "Session uid of the scene that ran")
    sliders: collection("Sliders", type=LiveSlider, override=OVERRIDE)
    show_torque: flag("Torques", "Show the sliders of torques", default=True)
    show_muscle: flag("Muscles", "Show the sliders of muscles", default=True)
    show_field: flag("Force Fields", "Show the sliders of force fields", default=True)
    show_feedback: flag("Feedback", "Show the sliders of feedback laws", default=True)
    show_ground: flag("Ground and Soft Parts", "Show the sliders of ground and soft parts", default=True)


def settings() -> "LiveSettings":
    return bpy.context.window_manager.condyle_live


def scene_of(live: "LiveSettings") -> Scene:
    """The scene that runs, or ran last; None if there was none, or it no longer exists."""
    return next((scene for scene in bpy.data.scenes if scene.session_uid == live.scene), None)


def attach() -> None:
    """Attach the settings: window_manager.condyle_live."""
    bpy.types.WindowManager.condyle_live = PointerProperty(type=LiveSettings, name="Condyle Live")


def detach() -> None:
    """Remove the settings again."""
    del bpy.types.WindowManager.condyle_live
