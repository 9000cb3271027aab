"""Right hip bone and the bones of the right foot as one, to go with the femur and the tibia of `bones`.

Places are millimetres in OpenSim's axes: x forward, y up, z to the right. The hip bone's origin is the hip's centre,
the foot's is the ankle's, at ANKLE from the knee. Every surface is drawn here, none is a scan.
"""

from .bones import MILLIMETRE, mm, stations, tilted
from .implicit import Shape, cut, sphere, union
from .knee_kinematics import BLENDER_FROM_OPENSIM
from .surface import Mesh, mesh_from_shape

ANKLE = (0.0, -430.0, 3.0)  # mm, in the tibia's frame
SOCKET = 25.5  # mm, radius of the acetabulum; the femur's head has 22.5

# base, middle and head of each metatarsal with radii, then the toe's end with its radius
RAYS = (
    ((64, -30, -15, 9.5), (94, -39, -19, 6.5), (124, -49, -21, 9.5), (168, -56, -19, 6.5)),
    ((66, -25, -5, 7.0), (100, -37, -6, 4.6), (132, -50, -7, 6.5), (165, -57, -6, 4.6)),
    ((64, -27, 4, 7.0), (96, -38, 5, 4.4), (128, -50, 6, 6.2), (157, -57, 6, 4.4)),
    ((58, -31, 12, 7.0), (90, -40, 15, 4.3), (119, -51, 18, 6.0), (146, -57, 18, 4.2)),
    ((46, -40, 21, 8.0), (80, -46, 26, 4.4), (107, -52, 29, 6.0), (131, -57, 29, 4.0)),
)


def foot_shape() -> Shape:
    """Talus, heel, midfoot, metatarsals and toes."""
    talus = [
        tilted((0, 0, 0), (19, 14, 13)),
        stations((4, -6, -1, 12), (20, -12, -4, 10.5), (31, -17, -6, 11)),
        tilted((-3, -15, 1), (19, 12, 13)),
    ]
    heel = [
        stations((-43, -38, 1, 15), (-24, -32, 3, 14.5), (4, -31, 6, 12.5), (27, -36, 11, 11)),
        tilted((-50, -42, 1), (11, 15, 13)),
    ]
    middle = [
        tilted((39, -21, -7), (10, 13, 15)),
        tilted((54, -26, -7), (14, 11, 16)),
        tilted((40, -36, 13), (16, 10, 11)),
    ]
    rays = []
    for base, shaft, head, toe in RAYS:
        knuckle = tuple(0.55 * h + 0.45 * t for h, t in zip(head, toe, strict=True))
        rays += [
            stations(base, shaft, head),
            stations(head[:3] + (0.75 * head[3],), (*knuckle[:3], 0.92 * toe[3]), toe),
        ]
    back = union([*talus, *heel], 6 * MILLIMETRE)
    return union([union([back, *middle], 5 * MILLIMETRE), *rays], 4 * MILLIMETRE)


def hip_bone_shape() -> Shape:
    """Ilium, ischium and pubis about the socket of the hip."""
    body = union(
        [
            sphere(mm(-2, 7, -12), 31 * MILLIMETRE),
            stations((-6, 24, -16, 22), (-14, 50, -18, 17), (-22, 74, -16, 12)),
            tilted((-22, 86, -16), (66, 54, 9.5), (-12, 8, -8)),
            stations((34, 62, -24, 7), (42, 90, -15, 7), (20, 124, -5, 7.5), (-24, 136, -4, 7.5),
                     (-66, 118, -14, 7), (-84, 84, -25, 8)),
            stations((-18, 8, -26, 14), (-32, -26, -30, 14), (-34, -62, -28, 15), (-24, -80, -30, 13)),
            stations((12, 2, -34, 13), (32, -18, -52, 9), (40, -34, -76, 10)),
            stations((40, -40, -80, 9), (22, -66, -66, 6.5), (-8, -82, -44, 8), (-24, -80, -32, 10)),
        ],
        12 * MILLIMETRE,
    )  # fmt: skip
    body = cut(body, sphere(mm(0, 0, 0), SOCKET * MILLIMETRE), 2 * MILLIMETRE)
    return cut(body, stations((3, -3, 6, 26), (9, -18, 34, 34), (12, -30, 60, 40)), 5 * MILLIMETRE)


def foot(cell: float = 2.0e-3) -> Mesh:
    """Mesh of the right foot, Blender's axes, origin at the ankle's centre; `cell` is the size of its faces [m]."""
    mesh = mesh_from_shape(foot_shape(), mm(-70, -70, -45), mm(185, 25, 45), cell)
    return mesh.mapped(BLENDER_FROM_OPENSIM)


def hip_bone(cell: float = 2.5e-3) -> Mesh:
    """Mesh of the right hip bone, Blender's axes, origin at the hip's centre."""
    mesh = mesh_from_shape(hip_bone_shape(), mm(-110, -110, -105), mm(70, 150, 35), cell)
    return mesh.mapped(BLENDER_FROM_OPENSIM)
