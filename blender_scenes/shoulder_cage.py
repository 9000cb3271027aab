"""The rib cage of the shoulder's scene: ribs on an ellipsoid, spine and sternum."""

import bpy
import numpy as np

from .anatomy import shoulder
from .shoulder_model import STERNUM, THORAX
from .staging import curve_object, mesh_object

RIBS = 9
RIB_RADIUS = 0.0052  # m
INSIDE = 0.004  # m, middle lines of the ribs inside the thorax' surface
# where the right ribs end in front: seven at the sternum's edge, two at the arch of cartilage below
FRONTS = (
    (0.052, -0.020, 0.058), (0.060, -0.012, 0.034), (0.066, -0.012, 0.012), (0.072, -0.013, -0.008),
    (0.078, -0.014, -0.028), (0.083, -0.013, -0.046), (0.085, -0.012, -0.060), (0.083, -0.040, -0.082),
    (0.070, -0.070, -0.104),
)  # fmt: skip


def add_cage(into: bpy.types.Collection, bone: bpy.types.Material) -> list[bpy.types.Object]:
    """Nine ribs on either side, ten vertebrae and the sternum."""
    made = [mesh_object("Sternum", shoulder.sternum(), into, bone)]
    made[0].location = STERNUM
    spine = mesh_object("Vertebra", shoulder.vertebra(), into, bone).data
    bpy.data.objects.remove(bpy.data.objects["Vertebra"])
    heights = np.linspace(0.155, -0.125, RIBS + 1)
    for k, height in enumerate(heights):
        made.append(bpy.data.objects.new(f"Vertebra {k + 1}", spine))
        into.objects.link(made[-1])
        # the spine is behind the ellipsoid's middle and bends with it
        made[-1].location = (
            -0.9 * THORAX[0] * np.sqrt(1.0 - (0.8 * height / THORAX[2]) ** 2) + 0.008,
            0.0,
            height,
        )
    for k, (height, front) in enumerate(zip(heights[:RIBS], FRONTS, strict=True)):
        line = shoulder.rib(THORAX - INSIDE, height, front)
        for side, name in ((1.0, "right"), (-1.0, "left")):
            rib = curve_object(
                f"Rib {k + 1} {name}", line * (1.0, side, 1.0), RIB_RADIUS, (0.9, 0.8, 0.66), into
            )
            rib.data.materials[0] = bone
            made.append(rib)
    return made
