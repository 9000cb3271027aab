"""Settings on the scene: outputs and targets of a bake; and statistics of the last bake."""

from bpy.types import PropertyGroup

from .properties import angle, choice, flag, integer, number, span, text

TARGETS = (
    (
        "NEW",
        "New Action",
        "A new action with a copy of all other animation; the action in use is put aside. One that is blended with the "
        "NLA becomes a track below it",
        0,
    ),
    (
        "CURRENT",
        "Current Action",
        "A copy of the action in use, with new keys in the frames that are baked; its keys before and after them stay",
        1,
    ),
    ("OVERWRITE", "Current Action (All)", "Of earlier versions: a bake reads it as Current Action", 2),
    (
        "STRIP",
        "NLA Strip",
        "A strip on a track above all others; the action in use becomes a track below it",
        3,
    ),
)
EXTRAS = (
    ("COORDINATES", "Coordinates", "Angles and lengths of each joint, on its Empty (rad, m)", 1),
    (
        "TORQUES",
        "Torques",
        "What set torques, springs, dampers, limits, controllers and given motions push each coordinate with, on the "
        "joint's Empty (N·m, N)",
        2,
    ),
    ("ENERGY", "Energy", "Kinetic, potential and total energy, on the scene (J)", 4),
    ("MUSCLES", "Muscles", "Length (m) and activation (0 to 1) of each muscle, on its curve", 8),
)


class OutputProperties(PropertyGroup):
    """Settings: outputs and targets of a bake."""

    target: choice("Bake To", "Where the keys go", items=TARGETS)
    every: integer(
        "Every", "Key every n-th frame; the last frame is always keyed", default=1, min=1, soft_max=25
    )
    reduce: flag("Fewer Keys", "Leave out keys that the motion does not need within the tolerances")
    tolerance_distance: number(
        "Distance [mm]",
        "Largest distance in millimetres, relative to its parent, by which a body may miss a key that "
        "is left out",
        **span(0.0001, 10.0, default=0.5, precision=3),
    )
    tolerance_angle: angle(
        "Angle",
        "Largest angle, relative to its parent, by which a body may miss a key that is left out",
        **span(1e-6, 0.1, default=0.0017453292519943296, precision=3),
    )
    extras: choice(
        "Figures",
        "Keyed custom properties, for the Graph Editor and for drivers",
        items=EXTRAS,
        options={"ENUM_FLAG"},
    )
    told: text("Keys", "How many keys the last bake left out, and the error of that")
    read: text(
        "Read",
        "Fingerprints of the inputs of the last bake, as JSON: if they differ, the bake is out of date",
    )
