"""Laws of OpenSim's muscles."""

from dataclasses import replace

import pytest

import physics as ph
from physics.io.opensim_laws import law_of
from physics.io.opensim_notes import Notes
from physics.io.opensim_parts import OpenSimMuscle
from tests.physics.io.osim import wrapped


def test_a_muscle_of_de_groote_has_its_curves():
    """OpenSim 4.6: calcActiveForceLengthMultiplier, calcPassiveForceMultiplier, calcForceVelocityMultiplier."""
    notes = Notes()
    numbers = {"max_isometric_force": 1.0, "optimal_fiber_length": 1.0, "tendon_slack_length": 1.0}
    flags = {"ignore_tendon_compliance": True}
    kind = "DeGrooteFregly2016Muscle"
    law = law_of(OpenSimMuscle("m", kind, (), parameters=numbers, flags=flags), notes)
    active = {0.6: 0.30210306555158, 0.8: 0.83643956611465, 1.2: 0.793689718066, 1.4: 0.3802428537960}
    passive = {1.0: 0.01822882382007, 1.2: 0.06940116116983, 1.6: 1.0}
    rising = {-0.5: 0.2340363935488, -0.1: 0.7451715850302, 0.5: 1.5884234012498}
    alone = replace(law, passive=False)
    for length, force in active.items():
        assert alone.force(1.0 + length, 0.0, 1.0, [1.0]) == pytest.approx(force, abs=1e-12)
    for length, force in passive.items():
        place = 1.0 + length, 0.0, 1.0, [1.0]
        assert law.force(*place) - alone.force(*place) == pytest.approx(force, abs=1e-12)
    for speed, force in rising.items():
        assert alone.force(2.0, 10.0 * speed, 1.0, [1.0]) == pytest.approx(force, abs=1e-12)
    assert not notes.lines(physics=True) and law.activation_time == 0.015


@pytest.mark.parametrize("times", [{"time_scale": 0.0}, {"activation2": 0.0}, {"activation1": -1.459854}])
def test_times_of_schuttes_muscle(times):
    muscle = OpenSimMuscle("a name", "Schutte1993Muscle_Deprecated", (), parameters=times)
    with pytest.raises(ph.ModelError, match=r"muscle 'a name': time_scale, .* are too small"):
        law_of(muscle, Notes())


def test_forces_take_what_they_leave_out_from_the_defaults_of_the_file(tmp_path):
    """OpenSim 4.6: a muscle has its default's values, but none of a curve's that the muscle has itself."""
    path = wrapped(tmp_path)
    given = "<max_contraction_velocity>15</max_contraction_velocity>"
    default = f'<defaults><Thelen2003Muscle name="default">{given}</Thelen2003Muscle></defaults>'
    path.write_text(path.read_text().replace("<gravity>", default + "<gravity>"))
    assert ph.read_opensim(path).build().muscles[0].law.max_contraction_velocity == 15.0


def test_muscles_without_a_tendon_are_rigid():
    notes = Notes()
    numbers = {"tendon_slack_length": 0.0, "optimal_fiber_length": 0.1}
    law = law_of(OpenSimMuscle("m", "Millard2012EquilibriumMuscle", (), parameters=numbers), notes)
    assert law.rigid_tendon and not notes.lines(physics=True)
