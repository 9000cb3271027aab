"""Many simulations of one model on several threads; the kernels release the GIL."""

from collections.abc import Iterable
from typing import Any

from .. import processors
from ..bodies.state import State
from ..errors import DivergedError, ModelError
from ..integrators.base import Problem
from ..model.diagnosis import findings_of, warn
from ..model.model import Model
from ..model.result import Result
from ..validation import instances, truth, whole_number
from .abreast import run_abreast
from .cluster import run_on
from .simulate import make_problem
from .together import run_all


def simulate_many(
    model: Model,
    states: Iterable[State],
    duration: float,
    dt: float = 1e-3,
    integrator: str = "symplectic_euler",
    *,
    tau: Any = None,
    motions: Any = None,
    record_interval: float | None = None,
    rtol: float = 1e-8,
    atol: float = 1e-10,
    threads: int | None = None,
    client: Any = None,
    lanes: bool = False,
) -> list[Result | DivergedError]:
    """The motions from many states of one model, each bit for bit that of `simulate` unless in lanes.

    Args:
        model, duration, dt, integrator, tau, motions, record_interval, rtol, atol: as for `simulate`, the same for all;
            a function tau is called by all runs in turn.
        states: the initial states.
        threads: number of simultaneous runs; None: number of processors. Python parts of a run (adaptive methods,
            functions tau) take turns.
        client: of a Dask cluster whose workers have this package (``distributed.Client(address)``), where all runs take
            place instead; see `cluster` for whom that trusts. A worker that dies in the middle loses nothing.
        lanes: whether each thread steps four runs at once, in the lanes of its registers, which takes 0.4 to 0.5 of the
            time. Sums then round in another order. For symplectic Euler, constant tau, states of one time, and trees of
            joints that turn and slide along axes or by rotation vectors (hinges, sliders, universal, spherical and free
            joints), with springs, dampers, compliant limits and armature of coordinates.

    Returns:
        For each state, in order, its `Result`, or the `DivergedError` that ended it, with the motion so far.

    Raises:
        ModelError: an invalid argument; names the state if it is one, and what lanes do not take; nothing ran.
        MissingDependencyError: an adaptive method without SciPy.
    """
    at_once = processors.available() if threads is None else whole_number(threads, "threads", 1)
    wishes = {"tau": tau, "motions": motions, "record_interval": record_interval, "rtol": rtol, "atol": atol}
    wishes |= {"duration": duration, "dt": dt, "integrator": integrator}
    given = instances(states, State, "states")

    def checked(k: int) -> tuple[Problem, State]:
        try:
            return make_problem(model, given[k], **wishes)
        except ModelError as error:
            raise ModelError(f"states[{k}]: {error}") from error

    if truth(lanes, "lanes"):
        if client is not None:
            raise ModelError("lanes are for the threads of one process: leave out lanes or the client")
        done = run_abreast(checked, given, at_once)
    elif client is None:
        done = run_all(checked, given, at_once)
    else:
        for k in range(len(given)):
            checked(k)
        done = run_on(client, model, given, wishes)
    warn((each for result in done if isinstance(result, Result) for each in findings_of(result.info)), 2)
    return done
