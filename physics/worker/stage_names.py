"""Names of the compilation stages that a simulation needs; imports nothing, for use by the parent."""

OBSERVATION, WITH_MUSCLES = "poses and energy", " with muscles"
COLLIDERS, GRADIENTS = "contacts of shapes", "gradients"
#: stages for building a model: the stiffness of limits depends on the bodies' poses
BUILDING = (OBSERVATION,)
IMPLICIT = ("linearly_implicit_euler", "spring_implicit_euler", "bdf1", "sdirk2")
#: stages that every user needs, quick ones first
USUAL = (OBSERVATION, "joint geometry", "forward dynamics", "projection", "inverse kinematics")


#: kinds of models whose steps have kernels of their own: trees, those with equalities or prescribed motions as well,
#: and those with one-sided constraints, hard limits or contacts
TREE, EQUALITIES, ONE_SIDED = range(3)
STEPS = "forward dynamics", "constraints", "constraints and contacts"
IMPLICIT_STEPS = "implicit steps", "implicit steps with constraints", "implicit steps with contacts"


def dynamics_stage(integrator: str, kind: int) -> str:
    """Name of the stage with the steps of a method, for models of a kind without muscles."""
    return (IMPLICIT_STEPS if integrator in IMPLICIT else STEPS)[kind]


def needed(integrator: str, kind: int, muscled: bool) -> list[str]:
    """Stages of a simulation by a method, for a model of a kind with or without muscles."""
    more = WITH_MUSCLES if muscled else ""
    return [OBSERVATION + more, dynamics_stage(integrator, kind) + more]
