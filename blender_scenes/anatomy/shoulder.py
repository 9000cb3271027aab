"""Right scapula, clavicle and humerus, and the ribs, sternum and spine.

Places are millimetres. The scapula's axes: x outward along the ribs to the socket, y up the blade, z away from the
ribs; its origin is the blade's middle. The clavicle's: x from the sternum to the acromion, z up. The humerus': z up,
the head's middle at the origin. Every surface is drawn here, none is a scan.
"""

from collections.abc import Sequence

import numpy as np

from .bones import MILLIMETRE, mm, stations, tilted
from .implicit import FloatArray, Shape, cut, smooth_maximum, smooth_path, sphere, union
from .surface import Mesh, mesh_from_shape

# corners of the blade, counter-clockwise seen from behind: lower angle, socket's neck, upper edge, upper angle
BLADE = np.array(
    [(-36.0, -88.0), (-24.0, -84.0), (38.0, 6.0), (44.0, 34.0), (8.0, 50.0), (-36.0, 62.0), (-46.0, 30.0)]
)
BLADE_RADIUS = 120.0  # mm, to which it is bent around the ribs
BLADE_THICKNESS = 2.2  # mm, half of it


def blade_shape() -> Shape:
    """A thin plate over BLADE, bent towards the ribs at its edges."""
    corners = BLADE * MILLIMETRE
    edges = np.roll(corners, -1, axis=0) - corners
    outward = np.column_stack([edges[:, 1], -edges[:, 0]]) / np.linalg.norm(edges, axis=1)[:, None]

    def distance(points: FloatArray) -> FloatArray:
        flat = points[:, :2]
        beside = ((flat[:, None] - corners) * outward).sum(axis=2).max(axis=1)
        bent = points[:, 2] + (flat**2).sum(axis=1) / (2.0 * BLADE_RADIUS * MILLIMETRE)
        return smooth_maximum(beside, np.abs(bent) - BLADE_THICKNESS * MILLIMETRE, 3.0 * MILLIMETRE)

    return distance


def scapula_shape() -> Shape:
    """Blade with thickened borders, spine, acromion, coracoid process and socket."""
    parts = [
        blade_shape(),
        stations((-29, -86, -32, 4.5), (10, -38, -6, 5.0), (40, 10, -6, 8)),
        stations((-42, 30, -11, 3.0), (-42, -20, -9, 3.0), (-31, -82, -30, 3.6)),
        stations((42, 16, -7, 10), (48, 28, -6, 12), (43, 37, -7, 9)),
        stations((-40, 30, -8, 3), (-12, 33, 6, 4), (18, 40, 16, 4.5), (42, 50, 24, 5.5), (58, 57, 24, 6.5)),
        stations((-20, 31, -1, 3), (14, 36, 6, 4), (36, 42, 12, 4)),
        tilted((64, 57, 19), (12, 5.5, 14), (0, 20, 14)),
        stations((38, 44, -10, 7), (46, 56, -20, 6.5), (56, 55, -36, 5.5), (62, 48, -42, 5.5)),
    ]
    body = union(parts, 7 * MILLIMETRE)
    return cut(body, sphere(mm(82, 26, -2), 27 * MILLIMETRE), 2 * MILLIMETRE)


def clavicle_shape(length: float) -> Shape:
    """The S of the clavicle over `length` mm: forward near the sternum, backward near the acromion."""
    share = np.array([0.03, 0.16, 0.34, 0.52, 0.70, 0.86, 0.955])
    # y is to the left and backward for a bone that points to the right and backward
    bow = np.array([0.0, -7.0, -11.0, -4.0, 6.0, 7.0, 2.0])
    radius = np.array([11.0, 7.5, 6.0, 5.6, 6.0, 7.2, 6.5])
    rows = [(share[k] * length, bow[k], 3.0 * np.sin(np.pi * share[k]), radius[k]) for k in range(7)]
    return stations(*rows)


def humerus_shape() -> Shape:
    """Head, tubercles, shaft and the elbow's end; the head looks to the left, inward."""
    return union(
        [
            sphere(mm(0, 0, 0), 22 * MILLIMETRE),
            stations((0, -8, -8, 18), (0, -20, -26, 15), (0, -25, -60, 12), (0, -26, -120, 10.5),
                     (0, -24, -190, 10), (0, -22, -250, 10), (0, -21, -285, 12)),
            tilted((6, -22, -4), (12, 10, 13)),
            stations((2, -46, -308, 7), (2, -30, -303, 10), (3, -12, -306, 10), (2, 6, -310, 8)),
            tilted((0, -40, -296), (8, 9, 10)),
            tilted((0, -2, -296), (8, 9, 10)),
        ],
        12 * MILLIMETRE,
    )  # fmt: skip


def rib(thorax: Sequence[float], height: float, front: Sequence[float], count: int = 60) -> FloatArray:
    """Middle line (n, 3) [m] of a right rib: around an ellipsoid from the spine at `height`, then to its place in
    `front` (3,), falling smoothly.
    """
    around = np.radians([12.0, 32.0, 54.0, 76.0, 98.0, 118.0])
    semi, end = np.asarray(thorax, dtype=np.float64), np.asarray(front, dtype=np.float64)
    z = height + (end[2] - height) * (0.5 - 0.5 * np.cos(around * np.radians(180.0) / np.radians(165.0)))
    ring = np.sqrt(np.maximum(1.0 - (z / semi[2]) ** 2, 0.05))
    way = np.column_stack([-semi[0] * ring * np.cos(around), -semi[1] * ring * np.sin(around), z])
    before = 0.45 * way[-1] + 0.55 * end + (0.012, -0.004, -0.004)  # cartilage bulges a little forward
    return smooth_path(np.vstack([way, before, end]), count)


def scapula(cell: float = 1.6e-3) -> Mesh:
    """Mesh of the right scapula in its own axes; `cell` is the size of its faces [m]."""
    return mesh_from_shape(scapula_shape(), mm(-62, -108, -62), mm(92, 82, 46), cell)


def clavicle(length: float, cell: float = 1.8e-3) -> Mesh:
    """Mesh of a right clavicle `length` metres long in its own axes."""
    size = length / MILLIMETRE
    return mesh_from_shape(clavicle_shape(size), mm(-14, -28, -20), mm(size + 14, 24, 24), cell)


def humerus(cell: float = 2.5e-3) -> Mesh:
    """Mesh of the right humerus in its own axes."""
    return mesh_from_shape(humerus_shape(), mm(-32, -64, -330), mm(34, 34, 34), cell)


def sternum_shape() -> Shape:
    """Handle, body and tip of the sternum, origin at the clavicle's joint on the right."""
    return union(
        [
            tilted((-4, 24, -16), (7, 26, 22), (0, -17, 0)),
            tilted((8, 24, -58), (6, 14, 36), (0, -17, 0)),
            tilted((22, 24, -104), (6, 16, 38), (0, -17, 0)),
            tilted((33, 24, -146), (4, 6, 16), (0, -12, 0)),
        ],
        10 * MILLIMETRE,
    )


def sternum(cell: float = 2.2e-3) -> Mesh:
    """Mesh of the sternum, origin where the right clavicle begins, x forward, y to the left, z up."""
    return mesh_from_shape(sternum_shape(), mm(-30, -22, -180), mm(56, 70, 24), cell)


def vertebra_shape() -> Shape:
    """Body, spinous and transverse processes of a thoracic vertebra; x forward, z up."""
    return union(
        [
            tilted((4, 0, 0), (15, 17, 15)),
            stations((-12, 0, 2, 8), (-28, 0, -6, 4.5), (-44, 0, -18, 4)),
            stations((-14, -4, 3, 5), (-20, -30, 8, 4.5)),
            stations((-14, 4, 3, 5), (-20, 30, 8, 4.5)),
        ],
        6 * MILLIMETRE,
    )


def vertebra(cell: float = 2.5e-3) -> Mesh:
    """Mesh of a thoracic vertebra, origin in its body."""
    return mesh_from_shape(vertebra_shape(), mm(-58, -42, -34), mm(28, 42, 24), cell)
