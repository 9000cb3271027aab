"""Right ulna, radius and hand, palm forward, to go with the humerus of `shoulder`.

Places are millimetres; x forward, y to the left (inward), z up along the hanging forearm. The origin is the elbow's
middle, about whose y axis the forearm turns. Every surface is drawn here, none is a scan.
"""

from itertools import pairwise

from .bones import MILLIMETRE, mm, stations, tilted
from .implicit import Shape, cut, union
from .surface import Mesh, mesh_from_shape

ELBOW = (0.002, -0.020, -0.306)  # m, in the humerus

# base, middle and head of each metacarpal with radii, then the joints of the finger and its tip; thumb first
RAYS = (
    ((8, -24, -270, 7), (16, -36, -291, 5.2), (23, -45, -311, 7)),
    ((4, -16, -282, 6.5), (4, -22, -312, 4.6), (5, -26, -343, 7)),
    ((4, -5, -284, 6.5), (4, -7, -315, 4.6), (5, -8, -348, 7)),
    ((4, 6, -282, 6.0), (4, 8, -312, 4.2), (5, 10, -341, 6.4)),
    ((4, 15, -279, 5.6), (4, 21, -307, 4.0), (5, 25, -331, 5.8)),
)
FINGERS = (
    ((27, -50, -329, 5.5), (31, -53, -344, 5.8), (34, -54, -366, 4.6)),
    ((8, -28, -366, 4.8), (12, -30, -386, 5.4), (20, -31, -424, 4.2)),
    ((8, -9, -374, 4.8), (12, -10, -396, 5.4), (21, -10, -438, 4.2)),
    ((8, 11, -366, 4.6), (12, 12, -386, 5.2), (21, 12, -425, 4.0)),
    ((8, 27, -351, 4.2), (11, 29, -365, 4.8), (19, 30, -396, 3.8)),
)


def ulna_shape() -> Shape:
    """Olecranon and coronoid process around the humerus' trochlea, the shaft, the head at the wrist."""
    body = union(
        [
            tilted((-17, 8, 9), (8.5, 10, 15)),
            stations((-17, 8, 8, 9), (-15, 9, -16, 10), (-8, 10, -42, 8), (-2, 11, -80, 6.8), (1, 12, -130, 6.2),
                     (2, 11, -190, 5.4), (2, 11, -232, 5.4), (2, 11, -250, 7)),
            stations((-12, 9, -17, 9), (2, 8, -18, 7), (11, 8, -15, 5)),
            stations((-2, 14, -252, 3.5), (-3, 15, -258, 2.5)),
        ],
        7 * MILLIMETRE,
    )  # fmt: skip
    return cut(body, stations((0, -40, 0, 12.2), (0, 0, 0, 12.2), (0, 40, 0, 12.2)), 2 * MILLIMETRE)


def radius_shape() -> Shape:
    """Head, neck, tuberosity, the shaft that bows outward, the broad end at the wrist."""
    return union(
        [
            tilted((0, -17, -20), (10.5, 10.5, 6)),
            stations((0, -17, -22, 7.5), (0, -16, -34, 6.2), (3, -13, -48, 7.5), (3, -17, -80, 6), (4, -21, -130, 6.2),
                     (4, -20, -180, 6.4), (3, -15, -220, 8.5), (3, -11, -240, 11)),
            tilted((3, -9, -245), (9, 16, 9)),
            stations((3, -22, -248, 5.5), (3, -24, -256, 3.5)),
        ],
        6 * MILLIMETRE,
    )  # fmt: skip


def hand_shape() -> Shape:
    """Carpal bones as one, metacarpals and fingers, these a little bent."""
    carpals = union(
        [tilted((3, -10, -263), (9, 13, 8)), tilted((3, 6, -264), (9, 11, 8)), tilted((4, -3, -276), (9.5, 21, 9))],
        5 * MILLIMETRE,
    )  # fmt: skip
    rays = []
    for bones, finger in zip(RAYS, FINGERS, strict=True):
        rays.append(stations(*bones))
        ends = (bones[-1], *finger)
        for first, last in pairwise(ends):
            middle = tuple(0.5 * (a + b) for a, b in zip(first[:3], last[:3])) + (3.9,)
            rays.append(stations((*first[:3], 0.8 * first[3]), middle, last))
    return union([carpals, *rays], 3 * MILLIMETRE)


def ulna(cell: float = 1.8e-3) -> Mesh:
    """Mesh of the right ulna in the forearm's axes; `cell` is the size of its faces [m]."""
    return mesh_from_shape(ulna_shape(), mm(-36, -14, -270), mm(24, 30, 34), cell)


def radius(cell: float = 1.8e-3) -> Mesh:
    """Mesh of the right radius in the forearm's axes."""
    return mesh_from_shape(radius_shape(), mm(-18, -38, -268), mm(24, 16, -6), cell)


def hand(cell: float = 1.6e-3) -> Mesh:
    """Mesh of the right hand's bones in the forearm's axes."""
    return mesh_from_shape(hand_shape(), mm(-14, -66, -450), mm(46, 42, -246), cell)
