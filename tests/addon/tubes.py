"""The tube that a muscle is shown as."""

import bpy
import numpy as np


def seen(item):
    """Middles of the rings (n, 3) of the tube that is seen, and their radii (n,)."""
    item.data.use_fill_caps = False
    evaluated = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = evaluated.to_mesh()
    values = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", values)
    evaluated.to_mesh_clear()
    around = 4 + 2 * item.data.bevel_resolution
    count = len(item.data.splines[0].points)
    rings = values.reshape(count, around, 3)
    middles = rings.mean(axis=1)
    return middles, np.linalg.norm(rings - middles[:, None], axis=2).mean(axis=1)
