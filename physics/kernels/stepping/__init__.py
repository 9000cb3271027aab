"""Time steps: explicit, implicit and event-driven rollouts."""

from typing import TYPE_CHECKING

from ..loading import load_on_use

if TYPE_CHECKING:
    from . import corners as corners
    from . import evaluate as evaluate
    from . import implicit_rollout as implicit_rollout
    from . import implicit_stage as implicit_stage
    from . import motion as motion
    from . import rollout as rollout
    from . import rollouts as rollouts
    from . import step_checks as step_checks
    from . import stepper as stepper
    from . import worlds as worlds
else:
    __getattr__ = load_on_use(__name__)
