"""Coordinates that functions of time prescribe are animated joints in the scene."""

import numpy as np
import pytest

from .levers import SMALL

SINE = "<Sine><amplitude>0.3</amplitude><phase>0.5</phase><omega>6</omega><offset>0.1</offset></Sine>"
BODY = """<Body name="cap"><mass>0.5</mass><mass_center>0.1 -0.1 0</mass_center>
<inertia>1e-2 1e-2 1e-2 0 0 0</inertia></Body>"""
PIN = """<PinJoint name="second"><socket_parent_frame>/bodyset/rod</socket_parent_frame>
<socket_child_frame>/bodyset/cap</socket_child_frame><coordinates><Coordinate name="beta"/></coordinates></PinJoint>"""


def _given(function):
    return (
        f"<prescribed_function>{function}</prescribed_function><prescribed>true</prescribed><default_value>"
    )


def _model(tmp_path, joint="PinJoint", more=""):
    """A rod that the sine prescribes on the world, beyond its range, and a cap that swings on it."""
    text = SMALL.replace("</Body></objects>", f"</Body>{BODY}</objects>").replace("-1.5 1.5", "0.1 0.2")
    text = text.replace("PinJoint", joint).replace("</Coordinate>", f"</Coordinate>{more}")
    text = text.replace(f"</{joint}></objects>", f"</{joint}>{PIN}</objects>")
    path = tmp_path / "given.osim"
    path.write_text(text.replace("<default_value>", _given(SINE)), "utf-8")
    return path


@pytest.mark.parametrize(("joint", "name"), [("PinJoint", "angle"), ("SliderJoint", "distance")])
def test_a_prescribed_joint_is_animated(part, scene, ph, tmp_path, joint, name):
    scene.frame_start, scene.frame_end = 3, 27
    scene.unit_settings.scale_length = 0.5
    path = _model(tmp_path, joint)
    made = part("making.opensim_import").import_model(scene, str(path))
    made.muscles["cord"].condyle.muscle.excitation = 0.05
    assert {each.code for each in made.warnings if each.is_hint} >= {"import-prescribed"}
    assert not [each for each in made.warnings if not each.is_hint]
    report = part("jobs.bake").bake_now(scene)
    file = ph.read_opensim(path)
    model, dt = file.build(), scene.condyle.simulation.time_step
    start = file.state(model, {"swing": float(file.coordinates["swing"].prescribed(0.0))})
    motions = file.motions(np.linspace(0.0, 1.0, 241))
    wanted = ph.simulate(model, start, duration=1.0, dt=dt, record_interval=1.0 / 24.0, motions=motions)
    follows = 0.1 + 0.3 * np.sin(6.0 * np.arange(25) / 24.0 + 0.5)
    # Blender stores keys in single precision; the speeds of cubics between them are 0.3 6^4 / 24^3 / 124 = 2e-4 off
    assert np.abs(report.coordinates[f"rod joint.{name}"] - follows).max() < 1e-7
    swung = wanted.q[:, 1]
    assert np.ptp(swung) > 0.1 and np.abs(report.coordinates["cap joint.angle"] - swung).max() < 1e-4


def test_a_joint_with_other_coordinates_that_are_free_stays_free(part, scene, tmp_path):
    path = _model(tmp_path, "UniversalJoint", '<Coordinate name="other"/>')
    made = part("making.opensim_import").import_model(scene, str(path))
    assert "import-prescribed-free" in {each.code for each in made.warnings if not each.is_hint}
    assert not made.joints["rod"].condyle.joint.prescribed
    locked = '<Coordinate name="other"><locked>true</locked></Coordinate>'
    made = part("making.opensim_import").import_model(scene, str(_model(tmp_path, "UniversalJoint", locked)))
    assert made.joints["rod"].condyle.joint.prescribed
