"""A joint of somebody's own: its class and a line of the registry are all that files and drawings ask for."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import physics as ph
from physics.io import load_model
from physics.joints.drawing import drawing


@dataclass(frozen=True, eq=False)
class Ratchet(ph.joints.Hinge):
    """As a hinge; a new joint, with a key of its own."""

    teeth: int = 12
    type: ClassVar[str] = "ratchet"

    def to_dict(self):
        return {**super().to_dict(), "teeth": self.teeth}


def test_a_new_joint_needs_its_class_and_its_place_in_the_registry_alone(tmp_path, monkeypatch):
    monkeypatch.setitem(ph.joints.REGISTRY, "ratchet", Ratchet)
    builder = ph.ModelBuilder()
    builder.add_body("wheel", joint=Ratchet(teeth=7), mass=1.0, inertia=np.eye(3))
    ph.save_model(builder.build(), tmp_path / "m.json")
    assert load_model(tmp_path / "m.json").model.bodies[0].joint.teeth == 7
    with pytest.raises(ph.FormatError, match="unknown key 'cogs'"):
        ph.joints.from_dict({"type": "ratchet", "cogs": 3})
    assert len(drawing(Ratchet()).points)
