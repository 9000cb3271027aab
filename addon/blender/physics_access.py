"""The only module that imports physics: the copy inside the built extension, else the one beside this folder.

In Blender's own process physics runs unjitted: importing numba takes a second and compiling blocks the
interpreter, which would freeze the window. Fast code runs in the compute process (``compute_process``).
The first use imports physics, so that enabling the add-on costs nothing.
"""

import functools
import importlib
import importlib.util
import os
from types import ModuleType
from typing import TYPE_CHECKING, Any

# names for annotations everywhere, as `physics_access.Model`; nothing evaluates them
if TYPE_CHECKING:
    from physics import Body, Model, ModelBuilder, Motion, Result, State, Table
    from physics.constraints import Constraint
    from physics.contacts import Contact
    from physics.fitting import MeshJointFit
    from physics.forces import Ground, Mount
    from physics.geometry.exponential_coordinates import ReachCone
    from physics.geometry.twist_metric import TwistMetric
    from physics.joints import Block, Custom, Factorization, Joint, RotationLimit, SplineCurve, SplineSurface
    from physics.joints.symbols import Drawing
    from physics.motions.pull import Pull
    from physics.muscles import MassPoints, PathPoint, Wrap
    from physics.muscles.force_law import ForceLaw
    from physics.muscles.muscle import Muscle
    from physics.muscles.obstacle import Obstacle
    from physics.reporting import Reporter
    from physics.simulation.between_samples import Between
    from physics.soft.embedding import Embedding
    from physics.worker.client import Answer, Job, WorkerClient, WorkerError

# the add-on's own package: "addon", or where Blender has installed it
PACKAGE = __name__.removesuffix(".blender.physics_access")


@functools.cache
def physics() -> ModuleType:
    """The physics package of this add-on, unjitted unless it was imported before.

    Raises:
        ImportError: there is none, or another package of that name was found.
    """
    vendored = f"{PACKAGE}.physics"
    name = vendored if importlib.util.find_spec(vendored) else "physics"
    before = os.environ.get("CONDYLE_JIT")
    os.environ["CONDYLE_JIT"] = "0"
    try:
        package = importlib.import_module(name)
        importlib.import_module(f"{name}.kernels.compiler.jit")
    except ModuleNotFoundError as error:
        raise ImportError(f"the add-on does not find its physics package: {error}") from error
    finally:
        if before is None:
            del os.environ["CONDYLE_JIT"]
        else:
            os.environ["CONDYLE_JIT"] = before
    return package


@functools.cache
def part(name: str) -> Any:
    """A module of physics by its dotted name, e.g. ``part("worker.client")``."""
    return importlib.import_module(f"{physics().__name__}.{name}")


def model_error(message: str) -> Exception:
    """The error that physics raises for bad input; all readers of the add-on raise it."""
    return physics().ModelError(message)
