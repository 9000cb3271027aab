"""Where a path lets go of the end of a cylinder."""

import math

from ..algebra.vectors import Array
from ..compiler.jit import inline
from . import layout as wrap
from .planar import dot2, pair


@inline
def beyond(own: Array, half: float) -> bool:
    """Whether both tangent points lie beyond the ends of a cylinder of this half length: at the heights at which the
    plane of both ends and the axis between them has these points, as in OpenSim, not at those of the path.
    """
    p, s, normals = pair(own, wrap.START), pair(own, wrap.STOP), wrap.NORMALS
    far, away = math.sqrt(dot2(p, p)), math.sqrt(dot2(s, s))
    across = s[0] / away - p[0] / far, s[1] / away - p[1] / far  # from the bisector between both
    before, whole = dot2(p, across), dot2(s, across) - dot2(p, across)
    low, rise, rho = own[wrap.START + 2], own[wrap.STOP + 2] - own[wrap.START + 2], own[wrap.RADIUS]
    nearest = 1e300
    for k in range(2):
        part = (rho * dot2(pair(own, normals + 2 * k), across) - before) / whole if whole > 0.0 else 0.0
        nearest = min(nearest, abs(low + min(max(part, 0.0), 1.0) * rise))
    return bool(nearest > half)
