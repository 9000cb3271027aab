"""Names of the compilation stages that a simulation needs; imports nothing, for use by the parent."""

from __future__ import annotations

OBSERVATION, WITH_MUSCLES = "poses and energy", " with muscles"
COLLIDERS, GRADIENTS = "contacts of shapes", "gradients"
#: stages for building a model: the stiffness of limits depends on the bodies' poses
BUILDING = (OBSERVATION,)
IMPLICIT = ("linearly_implicit_euler", "spring_implicit_euler", "bdf1", "sdirk2")
#: stages that every user needs, quick ones first
USUAL = (OBSERVATION, "joint geometry", "forward dynamics", "projection", "inverse kinematics")


def dynamics_stage(integrator: str, constrained: bool) -> str:
    """Name of the stage with the steps of a method, for models without muscles.

    constrained: with constraints, contacts, hard limits or prescribed motions.
    """
    if integrator in IMPLICIT:
        return "implicit steps with constraints" if constrained else "implicit steps"
    return "constraints and contacts" if constrained else "forward dynamics"


def needed(integrator: str, constrained: bool, muscled: bool) -> list[str]:
    """Stages of a simulation by a method, for a model with or without constraints and muscles."""
    more = WITH_MUSCLES if muscled else ""
    return [OBSERVATION + more, dynamics_stage(integrator, constrained) + more]
