"""How a joint follows its animation in a simulation, where it starts, and its feedback laws."""

from bpy.types import PropertyGroup

from .feedback import FeedbackLaw
from .properties import collection, factor, flag, integer, number, pointer, seconds, span
from .starting import EXACT, SETTLED, own_source


class JointControllerProperties(PropertyGroup):
    """A spring and damper of constant strength that pull a joint towards its animation."""

    enabled: flag(
        "Controller",
        "A spring and damper pulls each coordinate to its animation (keys of the child, or sliders), in "
        "a bake and in a live run",
    )
    stiffness: number(
        "Stiffness", "Of the controller: N·m per radian, or N per metre", default=100.0, min=0.0
    )
    damping: number(
        "Damping",
        "Against the difference in speed: N·m·s per radian, or N·s per metre",
        default=10.0,
        min=0.0,
    )
    limit: number("At Most", "Largest torque (N·m) or force (N) of the controller; 0: no limit", min=0.0)


class JointControl:
    """Properties of a joint that say how it follows its animation."""

    follow: factor(
        "Animation Influence",
        "How strongly the joint follows its animation in a simulation: 0 not at all, 1 exactly (as with "
        "Animated). In between, a spring and a damper pull, stiffer towards 1. Key it to blend",
    )
    follow_time: seconds(
        "Influence Time",
        "Time in seconds in which the joint approaches its animation with an influence of one half; shorter "
        "is stiffer",
        **span(1e-3, 2.0, default=0.1),
    )
    controller: pointer("Controller", type=JointControllerProperties)
    start_from: own_source("joint", SETTLED, EXACT)
    feedback_laws: collection("Feedback Laws", type=FeedbackLaw)
    active_feedback_law: integer("Feedback Law", "Selected law", min=0)
