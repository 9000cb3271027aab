"""A joint of physics -> the settings of a joint's Empty."""

from __future__ import annotations

import json
from typing import Any

from .features.joints.properties import match_coordinates
from .features.joints.types import TYPES

#: settings of a joint that are named as in physics and take its values as they are
SAME = ("sequence", "rotation_first", "skew")
AXES = {"axis": "axis", "axis_1": "axis", "axis_2": "axis_2"}
#: figures of a joint that are what the settings have at first, so that nothing is lost without them
KNOWN = {"type", "limit", "coordinates", *SAME, *AXES}


def set_joint(settings: Any, joint: Any) -> bool:
    """Make a joint's Empty hold a joint of physics; False where it cannot (then it is as it was)."""
    inverted = joint.type == "inverted"
    if inverted:
        joint = joint.joint
    described = joint.to_dict()
    plain = {key for key in described if key not in KNOWN and described[key] is not None}
    if joint.type not in TYPES or (joint.type != "custom" and plain):
        return False
    settings.type = joint.type
    settings.inverted = inverted
    if joint.type == "custom":
        settings.custom_text = json.dumps({key: value for key, value in described.items() if key != "type"})
    else:
        for key, value in described.items():
            if key in AXES:
                setattr(settings, AXES[key], tuple(value))
            elif key in SAME:
                setattr(settings, key, value)
    match_coordinates(settings)
    return True
