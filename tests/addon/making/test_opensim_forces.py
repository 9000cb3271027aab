"""What acts in an OpenSim model acts in the scene: both have the same accelerations at the start."""

import numpy as np
import pytest

from .levers import SMALL

START, END = SMALL.index("<Thelen"), SMALL.index("</objects></ForceSet>")
THELEN = SMALL[START:END]
CURVE = """<passive_force_length_curve><SimmSpline><x>0.5 1 1.5 2</x><y>0 0.1 0.5 2</y></SimmSpline>
</passive_force_length_curve>"""


def _muscle(kind, rest=""):
    return THELEN.replace("</Thelen2003Muscle>", f"{rest}</Thelen2003Muscle>").replace(
        "Thelen2003Muscle", kind
    )


FORCES = {
    "Thelen": THELEN,
    "Millard": _muscle("Millard2012EquilibriumMuscle", "<fiber_damping>0.05</fiber_damping>"),
    "De Groote": _muscle(
        "DeGrooteFregly2016Muscle", "<active_force_width_scale>1.2</active_force_width_scale>"
    ),
    "Schutte": _muscle("Schutte1993Muscle_Deprecated", CURVE),
    "spring of a coordinate": '<SpringGeneralizedForce name="f"><coordinate>swing</coordinate><stiffness>8</stiffness>'
    "<rest_length>0.1</rest_length><viscosity>0.3</viscosity></SpringGeneralizedForce>",
}


@pytest.mark.parametrize("kind", FORCES)
def test_forces_of_the_file_act_in_the_scene(part, scene, ph, tmp_path, kind):
    path = tmp_path / "forced.osim"
    speed = "<default_speed_value>0.4</default_speed_value><default_value>"
    path.write_text((SMALL[:START] + FORCES[kind] + SMALL[END:]).replace("<default_value>", speed), "utf-8")
    scene.unit_settings.scale_length = 0.5
    made = part("making.opensim_import").import_model(scene, str(path))
    model = (file := ph.read_opensim(path)).build()
    for muscle in made.muscles.values():
        muscle.condyle.muscle.excitation = 0.05  # from which the activation starts; the file's default
    read = part("reading.scene").read(scene)
    wanted = ph.forward_dynamics(model, file.state(model))
    # Blender stores places and figures in single precision
    np.testing.assert_allclose(ph.forward_dynamics(read.model, read.state), wanted, rtol=1e-6)
    assert [each.code for each in made.warnings] == ["import-note"]  # of the meshes that are not there
