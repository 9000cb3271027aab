"""Hill-type muscles: OpenSim's curves, exact derivatives, power balance, complete reading of OpenSim's models."""

import json
from pathlib import Path
from typing import Any

import numpy as np

import physics as ph
from physics.kernels.muscles import hill_layout
from physics.kernels.muscles.bezier_curve import curve
from physics.kernels.muscles.hill_tangents import muscle_force_tangent, muscle_rates_tangent
from physics.muscles import Keyframes, Millard, PathPoint, Thelen

from .claim import Measurement, Skipped, claim

SHARED = Path(__file__).resolve().parents[3] / "shared"
MILLARD, THELEN = "Millard et al. 2013", "Thelen 2003"
NUMBERS = {"max_isometric_force": 400.0, "optimal_fibre_length": 0.12, "tendon_slack_length": 0.2}
CURVES = {
    "active_force_length": hill_layout.ACTIVE_CURVE,
    "passive_fiber_force_length": hill_layout.PASSIVE_CURVE,
    "tendon_force_length": hill_layout.TENDON_CURVE,
    "force_velocity": hill_layout.VELOCITY_CURVE,
}
BAR = np.diag([0.01, 0.012, 0.002])


@claim(
    "hill.curves",
    "Millard's default curves against OpenSim's table of values: largest difference",
    source=f"{MILLARD}, app. A",
    at_most=1e-12,
)
def curves() -> Measurement:
    path = SHARED / "reference" / "opensim_millard_curves.json"
    if not path.exists():
        raise Skipped("the table of OpenSim's curves is not beside this checkout")
    record = Millard(**NUMBERS, active_least=0.1).record
    table = json.loads(path.read_text())
    worst = {
        name: max(abs(curve(record, int(record[place]), x)[0] - value) for x, value, _ in table[name])
        for name, place in CURVES.items()
    }
    return Measurement(max(worst.values()), worst)


@claim("hill.derivatives", source=f"{MILLARD}; {THELEN}", at_most=1e-5)
def derivatives() -> Measurement:
    """Derivatives of force and state rates of Millard's and Thelen's muscle, elastic and rigid tendon, pennate, against
    differences of fourth order at 200 random states each: largest relative difference (Thelen's formulas have corners).
    """
    worst = {}
    for kind in (Millard, Thelen):
        for rigid in (False, True):
            law = kind(**NUMBERS, pennation=0.3, rigid_tendon=rigid)
            worst[f"{law.type}, {'rigid' if rigid else 'elastic'}"] = _worst_derivative(law)
    return Measurement(max(worst.values()), worst)


def _worst_derivative(law: Any) -> float:
    rng = np.random.default_rng(0)
    count, worst = len(law.state_names), 0.0
    scale = np.array([1e-6, 1e-5, 1e-5, 1e-5, 1e-6])
    for _ in range(200):
        fibre = law.optimal_fibre_length * rng.uniform(0.7, 1.4)
        along = np.sqrt(fibre**2 - (law.optimal_fibre_length * np.sin(law.pennation)) ** 2)
        length = along + law.tendon_slack_length * rng.uniform(1.005, 1.04)
        low, high = sorted(rng.uniform(0.05, 0.95, 2))
        at = np.array([length, rng.uniform(-0.3, 0.3), low, high, fibre])[: 3 + count]

        def values(x: Any) -> Any:
            rates = law.state_rates(x[0], x[1], x[2], x[3:])
            return np.array([law.force(x[0], x[1], x[2], x[3:]), *rates])

        padded = [*at, 0.0, 0.0][:5]
        _, force = muscle_force_tangent(law.record, 0, *padded)
        _, _, first, second = muscle_rates_tangent(law.record, 0, *padded)
        exact = np.array([force, first, second])[: 1 + count]
        sizes = np.abs(exact * scale).max(axis=1)
        for k in range(3 + count):
            step = np.zeros(3 + count)
            step[k] = scale[k]
            slope = (
                8.0 * (values(at + step) - values(at - step))
                - values(at + 2.0 * step)
                + values(at - 2.0 * step)
            ) / (12.0 * scale[k])
            miss = np.abs(slope - exact[:, k]) * scale[k] / np.maximum(sizes, 1e-300)
            worst = max(worst, float(miss.max()))
    return worst


@claim("hill.power", source=f"{MILLARD}; {THELEN}", at_most=1e-5)
def power() -> Measurement:
    """Flexed forearm on an upper arm with a Hill muscle, 1 s of RK4 at 0.2 ms: mechanical energy and energy stored in
    tendon and fibre, less the work of the active element and the dampers' losses, relative to the work.
    """
    worst = {}
    for law in (Millard(**NUMBERS, pennation=0.2), Thelen(**NUMBERS, pennation=0.2)):
        worst[law.type] = _energy_leak(law)
    return Measurement(max(worst.values()), worst)


def _energy_leak(law: Any) -> float:
    builder = ph.ModelBuilder()
    builder.add_body("upper", joint=ph.joints.Hinge([0, 1, 0]), mass=2.0, inertia=BAR, com=(0, 0, -0.15))
    place = np.eye(4)
    place[2, 3] = -0.3
    hinge = ph.joints.Hinge([0, 1, 0])
    builder.add_body(
        "lower", "upper", joint=hinge, joint_in_parent=place, mass=1.0, inertia=BAR, com=(0, 0, -0.12)
    )
    path = [PathPoint("upper", (0.02, 0.0, 0.0)), PathPoint("lower", (0.03, 0.0, -0.05))]
    builder.add_muscle("flexor", path, law=law, activation=0.1)
    model = builder.build()
    excitation = Keyframes([0.0, 0.1, 0.3, 0.5], [0.1, 0.6, 0.6, 0.05])
    tau = ph.excite(model, {"flexor": excitation})
    run = ph.simulate(model, model.state([0.1, -0.4]), 1.0, 2e-4, "rk4", tau=tau)
    stored, given = np.empty(len(run.t)), np.empty(len(run.t))
    for k, t in enumerate(run.t):
        at = ph.muscle_lengths(model, model.state(run.q[k], run.qd[k], muscle_states=run.muscle_states[k]))
        state = run.muscle_states[k]
        tendon, fibre, active, loss = law.energies(at.lengths[0], at.rates[0], excitation(t), state)
        stored[k], given[k] = tendon + fibre + run.energy[k, 2], active - loss
    step = run.t[1] - run.t[0]
    work = step * (given[1:-1:2].sum() * 4.0 + given[2:-1:2].sum() * 2.0 + given[0] + given[-1]) / 3.0
    return float(abs(stored[-1] - stored[0] - work) / (step * np.abs(given).sum()))


@claim(
    "opensim.models",
    "OpenSim's models beside this checkout, read and built: number of unsupported items, without missing meshes",
    source="Delp et al. 2007",
    at_most=0,
)
def models() -> Measurement:
    files = sorted((SHARED / "models").glob("*.osim")) if (SHARED / "models").is_dir() else []
    if not files:
        raise Skipped("OpenSim's models are not beside this checkout")
    left = {}
    for file in files:
        read = ph.read_opensim(file)
        read.build()
        unread = [words for words in read.warnings if "geometry not found" not in words]
        left[file.stem] = [words for words in unread if "is welded; it is merged into" not in words]
    return Measurement(float(sum(map(len, left.values()))), left)
