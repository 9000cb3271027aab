"""Which stages of compiling a simulation needs, by name; imports nothing, so that the parent can ask ahead."""

from __future__ import annotations

OBSERVATION, WITH_MUSCLES = "poses and energy", " with muscles"
#: what a model is built with: limits whose stiffness it chooses ask where its bodies are
BUILDING = (OBSERVATION,)
IMPLICIT = ("linearly_implicit_euler", "bdf1", "sdirk2")
#: what every user needs sooner or later, quick ones first
USUAL = (OBSERVATION, "joint geometry", "forward dynamics", "projection", "inverse kinematics")


def dynamics_stage(integrator: str, constrained: bool) -> str:
    """Name of the stage with the steps of a method, for models without muscles.

    constrained: there are constraints, contacts, hard limits or given motions.
    """
    if integrator in IMPLICIT:
        return "implicit steps with constraints" if constrained else "implicit steps"
    return "constraints and contacts" if constrained else "forward dynamics"


def needed(integrator: str, constrained: bool, muscled: bool) -> list[str]:
    """What a simulation by a method needs of a model with or without constraints and muscles."""
    more = WITH_MUSCLES if muscled else ""
    return [OBSERVATION + more, dynamics_stage(integrator, constrained) + more]
