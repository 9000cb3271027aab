"""Many simulations on a cluster: tasks are plain data for a Dask client, which this package does not import.

Dask pickles what it sends: whoever can write to its scheduler can run programs on all of its machines. Only a cluster
of your own, in a network of your own, is to be trusted.
"""

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..bodies.state import State
from ..errors import DivergedError, ModelError
from ..io.model_file import model_from_document, plain
from ..io.result_file import COLUMNS
from ..kernels.compiler.sources import sources_hash
from ..model.model import Model
from ..model.result import Result
from ..motions.motion import Motion
from ..motions.table import Table
from .simulate import make_problem
from .together import run_all

# Tasks for each thread of the cluster: the last ones to end leave little idle, and each is worth its way.
PARTS_A_THREAD = 4

Plain = dict[str, Any]


def version() -> tuple[str, str]:
    """Versions that must agree for results with the same bits: the kernels' sources, and NumPy."""
    return sources_hash("stepping.rollout"), np.__version__


def run_on(
    client: Any, model: Model, states: Sequence[State], keywords: Plain
) -> list[Result | DivergedError]:
    """Results of `simulate_many` from a cluster, in the order of the states; keywords were checked.

    Raises:
        ModelError: it is no client, an input is a function, or a worker has another version of Condyle or NumPy.
    """
    if not all(hasattr(client, name) for name in ("submit", "gather", "nthreads", "cancel")):
        raise ModelError(f"client must be a distributed.Client, got {client!r:.80}")
    wishes = {key: value for key, value in keywords.items() if key not in ("tau", "motions")}
    wishes["motions"] = {name: motion.to_dict() for name, motion in (keywords["motions"] or {}).items()}
    tau = keywords["tau"]
    if callable(tau):
        raise ModelError(f"tau must be numbers or a Table on a cluster, got the function {tau!r:.80}")
    wishes |= {"table": [tau.times, tau.values]} if isinstance(tau, Table) else {"tau": tau}
    threads = max(sum(client.nthreads().values()), 1)
    text = json.dumps(plain(model.to_dict()))  # with each task: scattered data is lost with its workers
    parts = np.array_split(np.arange(len(states)), min(len(states), PARTS_A_THREAD * threads) or 1)
    tasks = [
        client.submit(simulate_part, version(), text, _stacked([states[k] for k in part]), wishes, pure=False)
        for part in parts
        if len(part)
    ]
    try:
        return [each for answer in client.gather(tasks) for each in _results(model, answer)]
    except BaseException:  # an interrupt too
        client.cancel(tasks)
        raise


def simulate_part(wanted: tuple[str, str], text: str, states: Plain, wishes: Plain) -> Plain:
    """A task: the runs of some states; only plain data comes and goes.

    Raises:
        ModelError: this machine has other versions than were wanted.
    """
    if version() != tuple(wanted):
        raise ModelError(f"a worker of the cluster has another version of Condyle or NumPy: {version()}")
    model, options = _model(text), dict(wishes)
    options["motions"] = {name: Motion(**entry) for name, entry in options["motions"].items()}
    if "table" in options:
        options["tau"] = Table(*options.pop("table"))
    rows = [dict(zip(states, values)) for values in zip(*states.values())]
    given = [State(**row) for row in rows]
    return _described(run_all(lambda k: make_problem(model, given[k], **options), given, 1))


@lru_cache(maxsize=4)
def _model(text: str) -> Model:
    return model_from_document(json.loads(text))


def _stacked(states: Sequence[State]) -> Plain:
    stacked: Plain = {
        key: np.array([getattr(state, key) for state in states]) for key in ("q", "qd", "chart")
    }
    return stacked | {key: [getattr(state, key) for state in states] for key in ("time", "muscle_states")}


def _described(done: Sequence[Result | DivergedError]) -> Plain:
    """The runs that came to their end, stacked, and the others by number: many small arrays take long to send."""
    whole = [each for each in done if isinstance(each, Result)]
    answer: Plain = {"count": len(done), "info": [each.info for each in whole], "diverged": {}}
    for key in COLUMNS:
        values = [getattr(each, key) for each in whole]
        answer[key] = None if not values or values[0] is None else np.array(values)
    for k, each in enumerate(done):
        if isinstance(each, DivergedError):
            so_far = _described([each.result] if isinstance(each.result, Result) else [])
            answer["diverged"][k] = (each.time, each.body, each.reason, so_far)
    return answer


def _results(model: Model, answer: Plain) -> list[Any]:
    columns = {key: iter(answer[key]) for key in (*COLUMNS, "info") if answer[key] is not None}
    done: list[Any] = []
    for k in range(answer["count"]):
        if k not in answer["diverged"]:
            done.append(Result(model, **{key: next(values) for key, values in columns.items()}))
            continue
        time, body, reason, so_far = answer["diverged"][k]
        done.append(DivergedError(time, body, reason, next(iter(_results(model, so_far)), None)))
    return done
