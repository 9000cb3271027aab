"""What the scene shows at frames."""

import bpy
import numpy as np


def over_frames(frames, read):
    """What is read at frames, whole ones or between, as one array."""
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(int(frame), subframe=frame % 1.0)
        found.append(np.array(read()))
    return np.array(found)
