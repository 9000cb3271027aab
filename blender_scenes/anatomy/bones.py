"""Right femur, tibia and fibula of an adult, in the size and the frames of the OpenSim model gait2392.

Places are millimetres in OpenSim's axes: x forward, y up, z to the right (lateral on this leg). The femur's origin
is the hip's centre, that of tibia and fibula the knee's; both frames are parallel in the straight leg. Breadths,
heights and the course of the shafts follow an adult's bones; every surface is drawn here, none is a scan.

The femoral condyles get their profile from the knee's motion: the volume that the tibial plateau, thickened by the
cartilage, sweeps between 0 and 120 degrees is cut away. So the bones keep their distance over the whole range.
"""

import numpy as np
from numpy.typing import ArrayLike

from .implicit import FloatArray, Shape, confined, cut, ellipsoid, loft, smooth_maximum, sphere, tube, union
from .knee_kinematics import BLENDER_FROM_OPENSIM, opensim_poses, rotation_matrix
from .surface import Mesh, mesh_from_shape

MILLIMETRE = 1e-3
PLATEAU = -34.5 * MILLIMETRE  # height of the facets' lowest points in the tibia
CARTILAGE = 4.5 * MILLIMETRE  # of both bones together, which is the gap between them
# the sweep ends at this distance from the tibia's axis, short of the femur's shaft
PLATEAU_REACH = 33.0 * MILLIMETRE
FACET_DEPTH = 1.6 * MILLIMETRE
SWEEP_DEGREES = np.linspace(-4.0, 124.0, 33)
MEDIAL, LATERAL = -21.5, 22.0  # mm, the middle of the condyles and of their facets


def mm(*values: float) -> FloatArray:
    """Millimetres to metres."""
    return np.array(values) * MILLIMETRE


def stations(*rows: tuple[float, float, float, float]) -> Shape:
    """Tube through rows of x, y, z and radius in millimetres."""
    table = np.array(rows) * MILLIMETRE
    return tube(table[:, :3], table[:, 3])


def sections(*rows: tuple[float, float, float, float, float]) -> Shape:
    """Loft through rows of height y, middle x and z and radii along x and z in millimetres."""
    return loft(np.array(rows) * MILLIMETRE)


def tilted(center: ArrayLike, radii: ArrayLike, degrees: ArrayLike = (0.0, 0.0, 0.0)) -> Shape:
    """Ellipsoid in millimetres, turned by a rotation vector in degrees."""
    return ellipsoid(mm(*np.ravel(center)), mm(*np.ravel(radii)), rotation_matrix(np.radians(degrees)))


def plateau_height(x: FloatArray, z: FloatArray) -> FloatArray:
    """Height [m] of the tibial facets over (x, z) in the tibia's frame: two shallow bowls, rising to the eminence."""
    bowls = np.full_like(x, np.inf)
    for middle, length, breadth in ((MEDIAL, 26.0, 19.0), (LATERAL, 23.0, 19.0)):
        squared = ((x - 2.0e-3) / (length * MILLIMETRE)) ** 2 + (
            (z - middle * MILLIMETRE) / (breadth * MILLIMETRE)
        ) ** 2
        bowls = np.minimum(bowls, FACET_DEPTH * squared / (1.0 + 0.5 * squared))
    return PLATEAU + bowls


def swept_plateau(points: FloatArray) -> FloatArray:
    """Distance to the volume that the plateau, thicker by the cartilage, sweeps in the femur during flexion."""
    swept = np.full(len(points), np.inf)
    for pose in opensim_poses(np.radians(SWEEP_DEGREES)):
        local = (points - pose[:3, 3]) @ pose[:3, :3]
        above = local[:, 1] - plateau_height(local[:, 0], local[:, 2]) - CARTILAGE
        beside = np.hypot(local[:, 0], local[:, 2]) - PLATEAU_REACH
        np.minimum(swept, smooth_maximum(above, beside, 4 * MILLIMETRE), out=swept)
    return swept


def swept_eminence(points: FloatArray) -> FloatArray:
    """Distance to the volume that the intercondylar eminence, with room around it, sweeps in the femur."""
    room = eminence(extra=3.5)
    swept = np.full(len(points), np.inf)
    for pose in opensim_poses(np.radians(SWEEP_DEGREES[::2])):
        np.minimum(swept, room((points - pose[:3, 3]) @ pose[:3, :3]), out=swept)
    return swept


def eminence(extra: float = 0.0) -> Shape:
    """The two tubercles between the facets; `extra` mm thicker on request."""
    return union(
        [
            tilted((0.0, -36.5, -4.5), (11.5 + extra, 8.5 + extra, 5.5 + extra), (0, 8, 0)),
            tilted((-1.0, -37.0, 5.5), (10.0 + extra, 7.5 + extra, 5.0 + extra), (0, -8, 0)),
        ],
        5 * MILLIMETRE,
    )


def proximal_femur() -> Shape:
    """Head, neck and trochanters."""
    body = union(
        [
            stations((0, -2, 4, 16), (-3, -13, 17, 13.5), (-7, -25, 29, 15), (-9, -38, 35, 15)),
            stations((-2, -8, 8, 12), (-6, -32, 22, 12), (-8, -58, 32, 11)),
            tilted((-12, -22, 47), (17, 19, 12), (10, 0, 10)),
            tilted((-16, -11, 45), (13, 11, 10.5), (0, 0, 10)),
            tilted((-15, -60, 24), (9, 14, 8), (-25, 0, 0)),
        ],
        10 * MILLIMETRE,
    )
    crest = stations((-24, -14, 43, 4.5), (-24, -35, 34, 4.5), (-19, -56, 25, 5))
    return union([body, crest], 8 * MILLIMETRE)


def femoral_shaft() -> list[Shape]:
    """The bowed shaft, flaring into the distal end, and the linea aspera behind it."""
    return [
        sections(
            (-30, -10, 38, 14.5, 15), (-60, -7, 37, 15, 15), (-90, 0, 35.5, 14, 14), (-125, 7, 33.5, 13.2, 13),
            (-170, 15, 29.5, 12.8, 12.6), (-220, 20.5, 24.5, 12.8, 12.4), (-270, 22.5, 18.5, 13.2, 13),
            (-315, 21, 13, 13.8, 15), (-345, 18.5, 8.5, 14.8, 19), (-370, 15.5, 4, 16.5, 25.5), (-392, 12, 0, 18, 31),
            (-402, 11, 0, 18, 31),
        ),
        stations(
            (-10, -70, 37.5, 4), (-6, -100, 37, 3.4), (0, -140, 34, 3.6), (7, -190, 29, 3.8), (10, -240, 23.5, 3.6),
            (12.5, -285, 17.5, 3.2), (16, -320, 13, 2.6),
        ),
    ]  # fmt: skip


def distal_femur() -> list[Shape]:
    """Condyles (still without their tread) with epicondyles and the trochlea in front."""
    return [
        tilted((-6.0, -405.0, MEDIAL - 1.0), (20.5, 20.5, 14.0), (0, -7, 0)),
        tilted((10.0, -403, MEDIAL), (22.0, 23.5, 14.5), (0, -9, 0)),
        tilted((-5.5, -405.0, LATERAL), (20.5, 20.5, 13.5), (0, 4, 0)),
        tilted((12.0, -402.5, LATERAL - 1.0), (22.5, 23.5, 14.0), (0, 5, 0)),
        tilted((-5, -400, -33.5), (9, 11, 6.0)),
        tilted((-4, -401, 33.0), (8, 9, 5.5)),
        tilted((20, -397, LATERAL - 6.0), (14.0, 19, 11), (0, 0, 6)),
        tilted((18, -398, MEDIAL + 7.0), (13.0, 18, 12), (0, 0, 6)),
    ]


def femur_shape() -> Shape:
    """The whole femur in its own frame."""
    head = union([proximal_femur(), sphere(mm(0, 0, 0), 22.5 * MILLIMETRE)], 5 * MILLIMETRE)
    body = union([head, *femoral_shaft()], 9 * MILLIMETRE)
    body = union([body, *distal_femur()], 9 * MILLIMETRE)
    knee = mm(0, -405, 0)
    body = cut(body, confined(swept_plateau, knee, 65 * MILLIMETRE), 2.5 * MILLIMETRE)
    body = cut(body, confined(swept_eminence, knee, 45 * MILLIMETRE), 5 * MILLIMETRE)
    notch = stations((6, -434, 0.3, 6.5), (-3, -426, 0.3, 8.5), (-14, -412, 0.3, 9.0), (-27, -398, 0.3, 10.5))
    body = cut(body, notch, 6 * MILLIMETRE)
    groove = stations((38, -366, 3, 3), (47, -388, 2, 11), (46.5, -408, 1, 12), (32, -433, 0.3, 9.5))
    body = cut(body, groove, 9 * MILLIMETRE)
    fossa = tilted((-28, -9, 34), (7, 9, 5), (20, 0, 0))
    return cut(body, fossa, 6 * MILLIMETRE)


def tibial_shaft() -> list[Shape]:
    """The shaft, three-sided by its anterior crest and its two posterior borders."""
    return [
        sections(
            (-28, 0, 0, 22, 32), (-44, 0.5, 0, 23, 34), (-56, 1.5, 0, 22.5, 31), (-70, 4, -0.5, 20, 24.5),
            (-88, 7, -1, 16.5, 18), (-112, 8, -1, 13.5, 14), (-155, 7.5, 0, 11.5, 11.2), (-215, 6, 1, 10.4, 10),
            (-285, 5, 2, 9.6, 9.2), (-340, 4, 1.5, 10.6, 10.4), (-370, 2.5, 1, 13.2, 13.8), (-390, 1.5, 0, 16.5, 19),
            (-402, 1, 0, 17.5, 20.5), (-411, 1, 0, 16, 18.5), (-417, 1, 0, 10, 11),
        ),
        stations(
            (24, -60, 3, 8), (26.5, -76, 3.5, 7.5), (21.5, -105, 3.5, 5), (18, -150, 2, 3), (16.5, -220, -1, 2.4),
            (13.5, -290, -3, 2.4), (6, -350, -4, 3),
        ),
        stations(
            (0, -85, -8, 5), (-2, -120, -8, 4.4), (-3.5, -170, -7.5, 3.6), (-4, -250, -5.5, 3.4), (0, -345, -3, 4),
        ),
        stations((4, -85, 9, 5), (1, -130, 9.5, 3.8), (-1, -190, 9, 3.2), (-1.5, -270, 9, 3.0), (1, -345, 8, 4)),
    ]  # fmt: skip


def tibia_shape() -> Shape:
    """The whole tibia in its own frame."""
    ends = [
        tilted((-1, -47, MEDIAL + 1.0), (25.5, 20, 18.0), (0, 0, -4)),
        tilted((-2, -47, LATERAL - 1.0), (23.5, 19, 17.0), (0, 0, -4)),
        tilted((27, -75, 3.5), (8.5, 15, 9.5), (0, 0, 10)),
        tilted((1, -409, -17), (12.5, 17, 8), (-5, 0, 0)),
    ]
    body = union([*tibial_shaft(), *ends], 12 * MILLIMETRE)

    def above_plateau(points: FloatArray) -> FloatArray:
        return plateau_height(points[:, 0], points[:, 2]) - points[:, 1]

    body = cut(body, above_plateau, 8 * MILLIMETRE)
    body = union([body, eminence()], 7 * MILLIMETRE)
    plafond = tilted((0, -428, 3), (30, 16, 18))
    body = cut(body, plafond, 5 * MILLIMETRE)
    incisura = stations((0, -370, 31, 5), (-2, -395, 33, 12), (-2, -425, 33, 12))
    return cut(body, incisura, 6 * MILLIMETRE)


def fibula_shape() -> Shape:
    """The fibula in the tibia's frame."""
    return union(
        [
            sections(
                (-56, -12, 36.5, 7, 6), (-70, -11, 37, 7.5, 7), (-88, -9, 36.5, 5.6, 5.4), (-120, -6, 33, 4.8, 4.8),
                (-200, -4, 29.5, 5.4, 5), (-290, -4, 28.5, 5.2, 4.8), (-355, -3, 29.5, 5.2, 4.8),
                (-392, -3, 31.5, 7, 5.3), (-405, -3, 32.3, 7, 5), (-414, -3, 32.5, 4, 3),
            ),
            tilted((-11, -63, 36), (10, 9.5, 8), (0, 0, -15)),
            tilted((-4, -413, 32.5), (9.5, 20, 6), (-3, 0, 5)),
        ],
        8 * MILLIMETRE,
    )  # fmt: skip


def femur(cell: float = 2.5e-3) -> Mesh:
    """Mesh of the right femur, Blender's axes, origin at the hip's centre; `cell` is the size of its faces [m]."""
    mesh = mesh_from_shape(femur_shape(), mm(-55, -450, -60), mm(60, 40, 85), cell)
    return mesh.mapped(BLENDER_FROM_OPENSIM)


def tibia(cell: float = 2.5e-3) -> Mesh:
    """Mesh of the right tibia, Blender's axes, origin at the knee."""
    mesh = mesh_from_shape(tibia_shape(), mm(-50, -450, -50), mm(60, -10, 60), cell)
    return mesh.mapped(BLENDER_FROM_OPENSIM)


def fibula(cell: float = 2.0e-3) -> Mesh:
    """Mesh of the right fibula, Blender's axes, in the tibia's frame."""
    mesh = mesh_from_shape(fibula_shape(), mm(-35, -450, 10), mm(20, -35, 60), cell)
    return mesh.mapped(BLENDER_FROM_OPENSIM)
