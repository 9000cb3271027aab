"""Steps of models with soft bodies: explicit and implicit, many in one call."""

from __future__ import annotations

from .. import layout as tree
from ..algebra.access import flat3
from ..algebra.vectors import Array, Vector
from ..compiler.jit import entry, shared
from ..dynamics.aba import accelerations
from ..joints.kinematics import kinematics
from ..stepping import implicit_stage as newton
from ..stepping.bundles import Implicit, Log, Spaces, State, Tables
from ..stepping.implicit import GAMMA, extrapolate, guess_stage, hold_stage, keep_row, keep_stage, take_hold
from ..stepping.motion import catch, finish_held, follow, hold
from ..stepping.rollout import (
    CHART_LIMIT,
    CUBIC,
    JUMP,
    PARABOLA,
    change_charts,
    copy,
    finish_step,
    has_charts,
    is_symplectic,
    prepare_stage,
    reaches,
    record_samples,
    stage_of,
    table_force,
)
from ..stepping.step_checks import first_not_finite
from . import layout as at
from .beads import find_weights, place_beads
from .coupling import add_generalized, gather_loads, place_attached
from .impulses import end_step, record_forces
from .nodes import Soft, count_free
from .stage import linear_correction, solve_stage
from .system import all_forces, are_finite


@shared
def explicit_step(
    soft: Soft,
    scheme: Array,
    tables: Tables,
    motion: Array,
    t: float,
    dt: float,
    state: State,
    nodes: State,
    stages: State,
) -> None:
    """A step by an explicit method; stages are those of the tree and of the nodes (see `stepping.rollout`)."""
    arrays, mesh, space, _, (work, dof, flags) = soft
    (q, qd), (places, rates), (stage, own), vectors = state, nodes, stages, space[at.VECTORS]
    nv, free, number = q.shape[0], 3 * count_free(mesh), int(scheme[tree.SCHEME_NUMBER])
    x, v = vectors[at.STAGE], vectors[at.STAGE_RATE]
    stage_q, stage_qd = stage[tree.STAGE_Q, :nv], stage[tree.STAGE_QD, :nv]
    single = number != tree.RUNGE_KUTTA
    for k in range(int(scheme[tree.SCHEME_STAGES])):
        time, weight = stage_of(scheme, k)
        prepare_stage(number, k, time * dt, dt, q, qd, stage)
        prepare_stage(number, k, time * dt, dt, places, rates, own)
        if single:
            hold(motion, t, dt, stage_q, stage_qd, dof)
        else:
            follow(motion, t, dt, t + time * dt, stage_q, stage_qd, dof)
        table_force(tables, t + time * dt, stage[tree.TAU])
        speeds = qd if single else stage_qd
        kinematics(arrays, stage_q, speeds, work, dof, flags)
        copy(own[tree.STAGE_Q], x[:free])
        copy(rates if single else own[tree.STAGE_QD], v[:free])
        place_attached(arrays[tree.BODY_INT], mesh, work, x, v)
        find_accelerations(soft, mesh[at.SURFACES], speeds, stage, own)
        add_up(nv, k, weight, stage)
        add_up(free, k, weight, own)
    finish_step(scheme, dt, q, qd, stage)
    finish_step(scheme, dt, places, rates, own)
    finish_held(motion, t, dt, q, qd)


@shared
def find_accelerations(soft: Soft, surfaces: Array, speeds: Array, stage: Array, own: Array) -> None:
    """Accelerations of the tree and of free nodes at a stage, after `place_attached`; speeds: for forces alone."""
    arrays, mesh, space, (_, _, _, vectors, _, _, _), (work, dof, flags) = soft
    body_int, rows, nv = arrays[tree.BODY_INT], space[at.VECTORS], speeds.shape[0]
    q, qd, qdd = stage[tree.STAGE_Q, :nv], stage[tree.STAGE_QD, :nv], stage[tree.STAGE_QDD, :nv]
    x, v, f = rows[at.STAGE], rows[at.STAGE_RATE], rows[at.FORCE]
    free = 3 * count_free(mesh)
    if surfaces is not None:  # from linear equations of all
        place_beads(arrays, mesh, mesh[at.SURFACES], q, qd, x, v, space, soft[4])
        copy(stage[tree.TAU], vectors[newton.GIVEN_FORCE, : stage.shape[1]])
        if linear_correction(soft, None, 0.0, q, speeds):
            for d in range(nv):
                qdd[d] = vectors[newton.ACCELERATIONS, d] + vectors[newton.CORRECTION, d]
            copy(rows[at.CORRECTION, :free], own[tree.STAGE_QDD])
    else:
        all_forces(body_int, mesh, 0.0, x, v, f, work, space)
        gather_loads(body_int, mesh, f, work, space)
        add_generalized(body_int, space[at.LOADS], False, dof, stage[tree.TAU])
        accelerations(arrays, q, qd, speeds, stage[tree.TAU], qdd, work, dof, flags)
        masses, gravity = mesh[at.NODES], flat3(arrays[tree.MODEL_DATA], tree.GRAVITY)
        for i in range(free):
            own[tree.STAGE_QDD, i] = f[i] / masses[i // 3, at.MASS] + gravity[i % 3]


@shared
def add_up(count: int, k: int, weight: float, stage: Array) -> None:
    """Add a stage's velocities and accelerations to the weighted sums."""
    for d in range(count):
        before, faster = (stage[tree.SUM_QD, d], stage[tree.SUM_QDD, d]) if k > 0 else (0.0, 0.0)
        stage[tree.SUM_QD, d] = weight * stage[tree.STAGE_QD, d] + before
        stage[tree.SUM_QDD, d] = weight * stage[tree.STAGE_QDD, d] + faster


@shared
def implicit_step(
    soft: Soft,
    integrator: int,
    tables: Tables,
    motion: Array,
    t: float,
    dt: float,
    state: State,
    nodes: State,
    rows: Array,
) -> bool:
    """A step by an implicit method; where it fails, flags have the reason. Returns whether something struck.

    rows: None, or see `impulses.end_step`.
    """
    arrays, mesh, space, (_, _, _, vectors, notes, _, _), (_, dof, _) = soft
    (q, qd), (places, rates), own = state, nodes, space[at.VECTORS]
    nv, free = q.shape[0], 3 * count_free(mesh)
    width, given = tables[tree.VALUES].shape[1], vectors[newton.GIVEN_FORCE]
    if integrator == tree.LINEARLY_IMPLICIT_EULER:
        table_force(tables, t + dt, given[:width])
        find_weights(arrays[tree.MODEL_DATA], mesh[at.SURFACES], q, space)
        copy(places, own[at.STAGE, :free])
        copy(rates, own[at.STAGE_RATE, :free])
        if linear_correction(soft, rows, dt, q, qd):
            if rows is not None:
                return end_step(soft, rows, motion, t, dt, state, nodes)
            for d in range(nv):
                qd[d] += dt * (vectors[newton.ACCELERATIONS, d] + vectors[newton.CORRECTION, d])
                q[d] += dt * qd[d]
            for i in range(free):
                rates[i] += dt * own[at.CORRECTION, i]
                places[i] += dt * rates[i]
            finish_held(motion, t, dt, q, qd)
        return False
    stages = 1 if integrator == tree.BACKWARD_EULER else 2
    gamma = 1.0 if stages == 1 else GAMMA
    for stage in range(stages):
        done = (1.0 - gamma) if stage == 1 else 0.0  # share of the step with the first stage's slope
        for d in range(nv):
            vectors[newton.BASE_QD, d] = qd[d] + done * dt * vectors[newton.NEWEST, d]
            vectors[newton.BASE, d] = q[d] + done * dt * vectors[newton.STAGE_QD, d]
            vectors[newton.STAGE_Q, d], vectors[newton.STAGE_QD, d] = q[d], qd[d]
        for i in range(free):
            own[at.BASE_RATE, i] = rates[i] + done * dt * own[at.NEWEST, i]
            own[at.BASE, i] = places[i] + done * dt * own[at.STAGE_RATE, i]
        reached = t + (done + gamma) * dt
        hold_stage(motion, t, dt, reached, gamma * dt, stages == 1, vectors, dof)
        table_force(tables, reached, given[:width])
        guess_stage(reached / dt, gamma * dt, nv, soft[3])
        extrapolate(reached / dt, free, at.NEWEST, at.ACCELERATIONS, own, notes)
        if not solve_stage(soft, gamma * dt):
            return False
        keep_row(free, at.NEWEST, at.ACCELERATIONS, own)
        keep_stage(reached / dt, soft[3])
    copy(vectors[newton.STAGE_Q, :nv], q)
    copy(vectors[newton.STAGE_QD, :nv], qd)
    copy(own[at.STAGE, :free], places)
    copy(own[at.STAGE_RATE, :free], rates)
    return False


@entry
def follow_surfaces(
    arrays: Array, mesh: Array, q: Array, qd: Array, x: Array, v: Array, space: Array, spaces: Spaces
) -> None:
    """Write x, y, z of beads and their rates, from places and rates of the free nodes."""
    work, dof, flags = spaces
    kinematics(arrays, q, qd, work, dof, flags)
    place_attached(arrays[tree.BODY_INT], mesh, work, x, v)
    place_beads(arrays, mesh, mesh[at.SURFACES], q, qd, x, v, space, spaces)


@entry
def soft_rollout(
    arrays: Array,
    mesh: Array,
    scheme: Array,
    implicit: Implicit,
    tables: Tables,
    motion: Array,
    times: Vector,
    num_steps: int,
    log: Log,
    more: Array,
    state: tuple[Array, Array, Array],
    nodes: State,
    stages: State,
    space: Array,
    spaces: Spaces,
    rows: Array,
) -> None:
    """As `stepping.rollout.rollout`, of the tree and of the places and rates of all nodes (3 n,), attached ones last.

    scheme: of an explicit method, or of an implicit one its number alone. times: of the run's start, and a step. more:
    log of the nodes (counters, samples, places, rates), records of the forces on prescribed coordinates, and zeros
    (3 n, HELD + 1). rows: None, or see `impulses.end_step`.
    """
    counters, _, _, _ = log
    own_log, efforts, none = more
    (q, qd, chart), (places, rates), (stage, _) = state, nodes, stages
    (work, dof, flags), (_, _, _, vectors, notes, _, _), body_int = spaces, implicit, arrays[tree.BODY_INT]
    soft = arrays, mesh, space, implicit, spaces
    nv, count, free = q.shape[0], places.shape[0], 3 * count_free(mesh)
    begun = vectors[newton.BEGUN_Q, :nv], vectors[newton.BEGUN_QD, :nv]
    begun_nodes = space[at.VECTORS][at.LAST], space[at.VECTORS][at.LAST_RATE]
    free_nodes = places[:free], rates[:free]
    explicit, number = scheme.shape[0] > 1, int(scheme[tree.SCHEME_NUMBER])
    charts, (start, dt, _) = has_charts(arrays), times
    for _ in range(num_steps):
        t = start + counters[tree.DONE] * dt
        copy_all((q, qd), (places, rates), begun, begun_nodes)
        struck = False
        catch(motion, t, q, qd)
        if explicit:
            hold(motion, t, 0.0, q, qd, dof)
            explicit_step(soft, scheme, tables, motion, t, dt, (q, qd), free_nodes, stages)
        else:
            take_hold(motion, number, t, dt, q, qd, notes, dof)
            struck = implicit_step(soft, number, tables, motion, t, dt, (q, qd), free_nodes, rows)
        if flags[tree.STATUS] == tree.OK:
            kinematics(arrays, q, qd, work, dof, flags)
            place_attached(body_int, mesh, work, places, rates)
            place_beads(arrays, mesh, mesh[at.SURFACES], q, qd, places, rates, space, spaces)
            finite = are_finite(nv, q) and are_finite(nv, qd)
            if not (finite and are_finite(count, places) and are_finite(count, rates)):
                flags[tree.STATUS] = tree.NOT_FINITE
                flags[tree.CULPRIT] = first_not_finite(body_int, q, qd)
        if flags[tree.STATUS] != tree.OK:
            copy_all(begun, begun_nodes, (q, qd), (places, rates))
            return
        cubic = tree.RUNGE_KUTTA if explicit else tree.SDIRK2
        way = CUBIC if number == cubic else PARABOLA
        way = JUMP if struck else way
        written = counters[tree.WRITTEN]
        own_log[0][tree.WRITTEN] = written
        until = reaches(t, dt, dt)
        record_samples(t, dt, until, log, begun, (q, qd), way, dof)
        record_samples(t, dt, until, own_log, begun_nodes, (places, rates), way, none)
        if rows is not None:
            begin = written if counters[tree.DONE] > 0 else 0
            record_forces(begin, counters[tree.WRITTEN], rows)
        for sample in range(written, counters[tree.WRITTEN]):
            for d in range(nv):
                efforts[sample, d] = dof[d, tree.EFFORT] if dof[d, tree.HELD] != 0.0 else 0.0
        if charts:
            lag = 0.5 * dt if explicit and is_symplectic(number) else 0.0
            if change_charts(arrays, dof, CHART_LIMIT, lag, q, qd, stage[tree.STAGE_QDD, :nv], chart) > 0:
                notes[newton.KNOWN], notes[newton.HISTORY] = 0.0, 0.0
        counters[tree.DONE] += 1


@shared
def copy_all(state: State, nodes: State, to_state: State, to_nodes: State) -> None:
    copy(state[0], to_state[0])
    copy(state[1], to_state[1])
    copy(nodes[0], to_nodes[0])
    copy(nodes[1], to_nodes[1])
