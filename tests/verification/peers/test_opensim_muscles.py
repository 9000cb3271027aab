"""Forces, speeds and energies of single muscles against OpenSim 4.6 (Millard et al. 2013; Thelen 2003)."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

opensim = pytest.importorskip("opensim", reason="OpenSim is only in the environment of the peers")

import physics as ph  # noqa: E402  (after the check that there is something to compare with)

from . import quiet_opensim  # noqa: E402

pytestmark = pytest.mark.peers

FORCE = 1e-7  # of the largest force: OpenSim's equilibrium has a tolerance of 1e-8 of it
SPEED = 1e-9  # of the largest speed: its equilibrium of speeds has one of 1e-10 of the largest force
ENERGY = 1e-7  # of force times length: OpenSim integrates Millard's curves by a spline through samples
LIMIT = 0.01  # N: at which OpenSim's equilibrium of Schutte's muscles ends
PASSIVE = ph.joints.CubicSpline([0.0, 0.7, 1.0, 1.25, 1.5, 2.0], [0.0, 0.02, 0.1, 0.3, 1.0, 3.0])
MUSCLE = {"max_isometric_force": 1234.0, "optimal_fibre_length": 0.09, "tendon_slack_length": 0.21}


class Bench:
    """A muscle of OpenSim along a slider, so that its length can be set."""

    def __init__(self, muscle: Any) -> None:
        quiet_opensim()
        model = opensim.Model()
        body = opensim.Body("body", 1.0, opensim.Vec3(0), opensim.Inertia(1.0, 1.0, 1.0, 0.0, 0.0, 0.0))
        model.addBody(body)
        joint = opensim.SliderJoint("slide", model.getGround(), body)
        model.addJoint(joint)
        muscle.addNewPathPoint("origin", model.getGround(), opensim.Vec3(0))
        muscle.addNewPathPoint("insertion", body, opensim.Vec3(0))
        model.addForce(muscle)
        model.finalizeConnections()
        self.model, self.muscle, self.coordinate = model, muscle, joint.get_coordinates(0)
        self.state = model.initSystem()

    def place(self, length: float, speed: float = 0.0) -> Any:
        self.coordinate.setValue(self.state, length)
        self.coordinate.setSpeedValue(self.state, speed)
        return self.state


def millard(law: Any) -> Any:
    """OpenSim's muscle with the same parameters."""
    muscle = opensim.Millard2012EquilibriumMuscle(
        "m", law.max_isometric_force, law.optimal_fibre_length, law.tendon_slack_length, law.pennation
    )
    muscle.set_max_contraction_velocity(law.max_contraction_velocity)
    muscle.setFiberDamping(law.damping)
    muscle.set_ignore_tendon_compliance(law.rigid_tendon)
    return muscle


def thelen(law: Any) -> Any:
    """OpenSim's muscle with the same parameters."""
    muscle = opensim.Thelen2003Muscle(
        "m", law.max_isometric_force, law.optimal_fibre_length, law.tendon_slack_length, law.pennation
    )
    muscle.set_max_contraction_velocity(law.max_contraction_velocity)
    muscle.set_FmaxTendonStrain(law.tendon_strain)
    muscle.set_KshapeActive(law.active_shape)
    muscle.set_KshapePassive(law.passive_shape)
    muscle.set_Af(law.concentric_shape)
    muscle.set_Flen(law.eccentric_force)
    return muscle


def degroote(law: Any) -> Any:
    """OpenSim's muscle with the same parameters."""
    muscle = opensim.DeGrooteFregly2016Muscle()
    muscle.setName("m")
    muscle.set_max_isometric_force(law.max_isometric_force)
    muscle.set_optimal_fiber_length(law.optimal_fibre_length)
    muscle.set_tendon_slack_length(law.tendon_slack_length)
    muscle.set_pennation_angle_at_optimal(law.pennation)
    muscle.set_max_contraction_velocity(law.max_contraction_velocity)
    muscle.set_tendon_strain_at_one_norm_force(law.tendon_strain)
    muscle.set_passive_fiber_strain_at_one_norm_force(law.passive_strain)
    muscle.set_active_force_width_scale(law.active_width)
    muscle.set_activation_dynamics_smoothing(law.activation_smoothing)
    muscle.set_fiber_damping(law.damping)
    muscle.set_ignore_tendon_compliance(law.rigid_tendon)
    return muscle


LAWS = [
    (ph.muscles.Millard(**MUSCLE), millard),
    (ph.muscles.Millard(**MUSCLE, pennation=0.4, damping=0.05), millard),
    (ph.muscles.Millard(**MUSCLE, pennation=0.2, damping=0.0), millard),
    (ph.muscles.Thelen(**MUSCLE), thelen),
    (ph.muscles.Thelen(**MUSCLE, pennation=0.3, tendon_strain=0.033, passive_shape=4.0), thelen),
    (ph.muscles.Thelen(**MUSCLE, eccentric_force=1.8, concentric_shape=0.3, active_shape=0.5), thelen),
]


def lengths(rng: np.random.Generator, count: int) -> list[float]:
    """Path lengths from a slack tendon to fibres well beyond their optimal length."""
    return list(
        MUSCLE["tendon_slack_length"] + MUSCLE["optimal_fibre_length"] * rng.uniform(0.55, 1.5, count)
    )


@pytest.mark.parametrize(("law", "make"), LAWS)
def test_equilibrium(law: Any, make: Any) -> None:
    bench = Bench(make(law))
    rng = np.random.default_rng(0)
    for length in lengths(rng, 60):
        activation = rng.uniform(0.01, 1.0)
        state = bench.place(length)
        bench.muscle.setActivation(state, activation)
        bench.model.realizeVelocity(state)
        bench.muscle.computeEquilibrium(state)
        bench.model.realizeDynamics(state)
        states = law.initial_states(length, activation)
        assert states[0] == pytest.approx(activation, abs=1e-15)
        force = law.force(length, states=states)
        assert abs(force - bench.muscle.getTendonForce(state)) < FORCE * law.max_isometric_force
        assert abs(law.state_rates(length, 0.0, activation, states)[1]) < 1e-9


@pytest.mark.parametrize(("law", "make"), LAWS)
def test_speed_of_the_fibre(law: Any, make: Any) -> None:
    """Fibre speed at any fibre length, also far from equilibrium."""
    bench = Bench(make(law))
    rng = np.random.default_rng(1)
    slack, optimal = law.tendon_slack_length, law.optimal_fibre_length
    for _ in range(200):
        activation, fibre = rng.uniform(0.01, 1.0), optimal * rng.uniform(0.6, 1.6)
        along = np.sqrt(fibre**2 - (optimal * np.sin(law.pennation)) ** 2)
        length, speed = along + slack * rng.uniform(0.99, 1.06), rng.normal()
        state = bench.place(length, speed)
        bench.muscle.setActivation(state, activation)
        bench.muscle.setStateVariableValue(state, "fiber_length", fibre)
        bench.model.realizeDynamics(state)
        states = [activation, fibre]
        assert law.force(length, states=states) == pytest.approx(
            bench.muscle.getTendonForce(state), rel=1e-11
        )
        rate = law.state_rates(length, speed, activation, states)[1]
        largest = law.max_contraction_velocity * optimal
        assert abs(rate - bench.muscle.getFiberVelocity(state)) < SPEED * max(largest, abs(rate))
        tendon, passive, _, _ = law.energies(length, speed, activation, states)
        scale = law.max_isometric_force * optimal
        assert abs(tendon - bench.muscle.getTendonPotentialEnergy(state)) < ENERGY * scale
        # for Thelen's fibres OpenSim returns 0: it tests whether metres exceed 1
        if isinstance(law, ph.muscles.Millard):
            assert abs(passive - bench.muscle.getFiberPotentialEnergy(state)) < ENERGY * scale


@pytest.mark.parametrize(("law", "make"), [LAWS[0], LAWS[3]])
def test_activation(law: Any, make: Any) -> None:
    bench = Bench(make(law))
    rng = np.random.default_rng(2)
    length = law.tendon_slack_length + law.optimal_fibre_length
    for _ in range(50):
        excitation, activation = rng.uniform(0.01, 1.0, 2)  # OpenSim leaves bounds to its controllers
        state = bench.place(length)
        bench.muscle.setActivation(state, activation)
        controls = opensim.Vector(1, float(excitation))
        bench.model.setControls(state, controls)
        bench.model.realizeAcceleration(state)
        theirs = bench.muscle.getStateVariableDerivativeValue(state, "activation")
        ours = law.state_rates(length, 0.0, excitation, [activation, law.optimal_fibre_length])[0]
        assert ours == pytest.approx(theirs, rel=1e-12, abs=1e-12)


def test_rigid_tendon() -> None:
    law = ph.muscles.Millard(**MUSCLE, pennation=0.3, rigid_tendon=True)
    bench = Bench(millard(law))
    rng = np.random.default_rng(3)
    for length in lengths(rng, 100):
        activation, speed = rng.uniform(0.01, 1.0), rng.normal() * 0.5
        state = bench.place(length, speed)
        bench.muscle.setActivation(state, activation)
        bench.model.realizeDynamics(state)
        theirs = bench.muscle.getTendonForce(state)
        assert abs(law.force(length, speed, states=[activation]) - theirs) < 1e-9 * law.max_isometric_force


@pytest.mark.parametrize("file", ["arm26.osim", "leg6dof9musc.osim", "gait10dof18musc_subject01.osim"])
def test_equilibrium_of_whole_models(file: str) -> None:
    """Every muscle of a model at random poses and activations: the tendon's force at rest."""
    from .test_opensim_models import opened
    from .test_opensim_paths import placed_at

    peer, state, read, model = opened(file)
    rng = np.random.default_rng(5)
    compared = 0
    for _ in range(10):
        placed_at(peer, state, read, model, rng, -1.0)
        peer.realizeVelocity(state)
        for muscle in model.muscles:
            theirs = peer.getMuscles().get(muscle.name)
            activation = rng.uniform(0.02, 1.0)
            theirs.setActivation(state, activation)
            try:
                theirs.computeEquilibrium(state)
            except RuntimeError:  # OpenSim finds no equilibrium for muscles folded far beyond their range
                continue
            compared += 1
            peer.realizeDynamics(state)
            length = theirs.getLength(state)
            ours = muscle.law.force(length, states=muscle.law.initial_states(length, activation))
            largest = muscle.law.max_isometric_force
            assert abs(ours - theirs.getTendonForce(state)) < 1e-6 * largest, (
                muscle.name,
                length,
                activation,
            )
    assert compared > 8 * len(model.muscles)


def test_accelerations_of_a_walker_that_muscles_pull() -> None:
    """Joints, gravity, paths and muscles together: q'' and the states' rates at random states."""
    from physics.kernels.muscles.hill import muscle_state_rates

    from .test_opensim_models import opened, order

    peer, state, read, model = opened("gait10dof18musc_subject01.osim")
    ours = order(peer, state, read, model)
    rng = np.random.default_rng(6)
    base = read.state(model).q
    muscles = [peer.getMuscles().get(muscle.name) for muscle in model.muscles]
    for _ in range(10):
        q, qd = base + rng.uniform(-0.2, 0.2, len(base)), rng.normal(size=len(base))
        for coordinate in read.coordinates.values():  # beyond the ranges OpenSim's moving points do not move
            index = model.coordinate_names.index(coordinate.coordinate)
            q[index] = np.clip(q[index], *coordinate.range)
        at_rest = model.state(q=q)
        activations = rng.uniform(0.02, 0.9, len(muscles))
        lengths = ph.muscle_lengths(model, at_rest).lengths
        states = []
        for muscle, length, activation in zip(model.muscles, lengths, activations):
            still = muscle.law.initial_states(length, activation)
            states += [activation, still[1] * rng.uniform(0.98, 1.02)]
        placed = model.state(q=q, qd=qd, muscle_states=states)
        for k, value in enumerate(q[ours]):
            state.updQ().set(k, float(value))
            state.updU().set(k, float(qd[ours[k]]))
        excitations = rng.uniform(0.02, 1.0, len(muscles))
        for k, muscle in enumerate(muscles):
            muscle.setActivation(state, activations[k])
            muscle.setStateVariableValue(state, "fiber_length", states[2 * k + 1])
        peer.realizeVelocity(state)
        controls = peer.updDefaultControls()
        for k, muscle in enumerate(muscles):
            muscle.setControls(opensim.Vector(1, float(excitations[k])), controls)
        peer.setControls(state, controls)
        peer.realizeAcceleration(state)
        tau = {f"{muscle.name}.excitation": excitations[k] for k, muscle in enumerate(model.muscles)}
        found = ph.forward_dynamics(model, placed, model.with_inputs(tau))
        theirs = np.array([state.getUDot().get(k) for k in range(len(ours))])
        assert np.abs(found[ours] - theirs).max() < 1e-8 * np.abs(theirs).max()
        rates = ph.muscle_lengths(model, placed)
        for k, muscle in enumerate(model.muscles):
            record = muscle.law.record
            given = rates.lengths[k], rates.rates[k], excitations[k], activations[k], states[2 * k + 1]
            first, second = muscle_state_rates(record, 0, *given)
            assert first == pytest.approx(
                muscles[k].getStateVariableDerivativeValue(state, "activation"), rel=1e-9
            )
            speed = muscles[k].getFiberVelocity(state)
            assert abs(second - speed) < 1e-8 * record[6]


@pytest.mark.parametrize("options", [{}, {"pennation": 0.3, "tendon_strain": 0.06, "active_width": 1.2}])
def test_de_groote(options: dict[str, float]) -> None:
    """Fibre speed and force with OpenSim's state, the tendon's force; equilibrium; activation; a rigid tendon."""
    law = ph.muscles.DeGroote(**MUSCLE, **options, activation_smoothing=4.0)
    bench = Bench(degroote(law))
    rng, compared = np.random.default_rng(8), 0
    for _ in range(40):
        activation, excitation, speed = rng.uniform(0.05, 0.95), rng.uniform(0.05, 0.95), 0.2 * rng.normal()
        force = rng.uniform(0.05, 1.2)
        tendon = law.tendon_slack_length * (1.0 + law.tendon_strain * np.log1p(5.0 * force) / np.log(6.0))
        fibre = law.optimal_fibre_length * rng.uniform(0.7, 1.3)
        along = np.sqrt(fibre**2 - (law.optimal_fibre_length * np.sin(law.pennation)) ** 2)
        state = bench.place(tendon + along, speed)
        bench.muscle.setActivation(state, activation)
        bench.muscle.setStateVariableValue(state, "normalized_tendon_force", force)
        bench.model.setControls(state, opensim.Vector(1, float(excitation)))
        bench.model.realizeAcceleration(state)
        states = [activation, fibre]
        ours = law.force(tendon + along, speed, states=states)
        assert ours == pytest.approx(bench.muscle.getTendonForce(state), rel=1e-10)
        rates = law.state_rates(tendon + along, speed, excitation, states)
        given = bench.muscle.getFiberVelocity(state)
        if (
            abs(given) < 20.0 * law.optimal_fibre_length * law.max_contraction_velocity
        ):  # beyond it ours goes on straight
            assert rates[1] == pytest.approx(given, abs=1e-8)
            compared += 1
        theirs = bench.muscle.getStateVariableDerivativeValue(state, "activation")
        assert rates[0] == pytest.approx(theirs, rel=1e-11)
        state = bench.place(tendon + along)
        bench.muscle.setActivation(state, activation)
        bench.model.realizeVelocity(state)
        bench.muscle.computeEquilibrium(state)
        bench.model.realizeDynamics(state)
        still = law.initial_states(tendon + along, activation)
        difference = law.force(tendon + along, states=still) - bench.muscle.getTendonForce(state)
        assert abs(difference) < 1e-6 * law.max_isometric_force
    assert compared > 20


def test_de_groote_on_a_rigid_tendon() -> None:
    law = ph.muscles.DeGroote(**MUSCLE, pennation=0.2, damping=0.05, rigid_tendon=True)
    bench = Bench(degroote(law))
    rng = np.random.default_rng(9)
    for length in lengths(rng, 40):
        activation, speed = rng.uniform(0.05, 0.95), 0.1 * rng.normal()
        state = bench.place(length, speed)
        bench.muscle.setActivation(state, activation)
        bench.model.realizeDynamics(state)
        theirs = bench.muscle.getTendonForce(state)
        assert abs(law.force(length, speed, states=[activation]) - theirs) < 1e-9 * law.max_isometric_force


@pytest.mark.parametrize("options", [{}, {"pennation": 0.3, "damping": 0.017, "passive_curve": PASSIVE}])
def test_schutte(tmp_path: Path, options: dict[str, Any]) -> None:
    """Force and rates with OpenSim's states, of the law as written to a file and read; OpenSim's equilibrium."""
    builder = ph.ModelBuilder()
    builder.add_body("body", mass=1.0, inertia=np.eye(3), joint=ph.joints.Slider())
    points = [ph.muscles.PathPoint(body, [0.0, 0.0, 0.0]) for body in (None, "body")]
    builder.add_muscle("m", points, law=ph.muscles.Schutte(**MUSCLE, activation_time=0.02, **options))
    ph.write_opensim(builder.build(), tmp_path / "m.osim", tolerance=1e-6)
    law: Any = ph.read_opensim(tmp_path / "m.osim").build().muscles[0].law
    quiet_opensim()
    peer = opensim.Model(str(tmp_path / "m.osim"))
    state, muscle, slide = peer.initSystem(), peer.getMuscles().get(0), peer.getCoordinateSet().get(0)
    rng = np.random.default_rng(10)
    for _ in range(60):
        activation, excitation, speed = rng.uniform(), rng.uniform(), 0.3 * rng.normal()
        fibre = law.optimal_fibre_length * rng.uniform(0.6, 1.5)
        along = np.sqrt(fibre**2 - (law.optimal_fibre_length * np.sin(law.pennation)) ** 2)
        length = along + law.tendon_slack_length * rng.uniform(0.99, 1.05)
        slide.setValue(state, length)
        slide.setSpeedValue(state, speed)
        muscle.setActivation(state, activation)
        peer.setStateVariableValue(state, "/forceset/m/fiber_length", fibre)
        peer.setControls(state, opensim.Vector(1, float(excitation)))
        peer.realizeAcceleration(state)
        theirs = [
            peer.getStateVariableDerivativeValue(state, f"/forceset/m/{name}")
            for name in ("activation", "fiber_length")
        ]
        ours = law.force(length, speed, excitation, [activation, fibre])
        assert abs(ours - muscle.getActuation(state)) < 1e-12 * law.max_isometric_force
        assert law.state_rates(length, speed, excitation, [activation, fibre]) == pytest.approx(
            theirs, rel=1e-11, abs=1e-11
        )
        slide.setSpeedValue(state, 0.0)
        peer.realizeVelocity(state)
        muscle.computeEquilibrium(state)
        peer.realizeDynamics(state)
        still = law.force(length, states=law.initial_states(length, activation))
        assert abs(still - muscle.getActuation(state)) < LIMIT
