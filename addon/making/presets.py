"""Presets of anatomical joints: their names, types, coordinates and ranges.

Ranges are those of healthy adults, rounded. They are ordinary limits of the joint that the user can change.

Sources: *AAOS*: American Academy of Orthopaedic Surgeons 1965, Joint Motion: Method of Measuring and Recording.
*Delp*: Delp et al. 1990, IEEE Trans. Biomed. Eng. 37, 757-767. *Ludewig*: Ludewig et al. 2009, J. Bone Joint Surg. Am.
91, 378-389. *Seth*: Seth et al. 2016, PLoS ONE 11, e0141028. *Ferrario*: Ferrario et al. 2005, J. Oral Rehabil. 32,
401-408. *Hollister*: Hollister et al. 1992, J. Orthop. Res. 10, 454-460.
"""

from dataclasses import dataclass

# of a figure that faces the front view
BACK, FRONT, DOWN = ((0.0, 1.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, -1.0))


@dataclass(frozen=True)
class Coordinate:
    """One slider of a preset.

    Attributes:
        title: its name in the panel. lower, upper: limits; both 0: none. rest: rest value of its spring. All in
            degrees; for a wire, shares of its length.
        hold: stiffness of that spring per radian, in units of the moment of the child's weight stretched out level.
        on_left: title on the left of the figure, where its sign is reversed; empty: as on the right.
    """

    title: str
    lower: float
    upper: float
    rest: float = 0.0
    hold: float = 0.0
    on_left: str = ""


@dataclass(frozen=True)
class Preset:
    """One entry of the menu.

    Attributes:
        name: in scripts. kind: type of joint. toward: world direction in which a positive first coordinate turns the
            child's far end. anchor: place of the joint (see `presets_placing`). parent, child: names of new bodies.
    """

    name: str
    label: str
    description: str
    kind: str
    coordinates: tuple[Coordinate, ...]
    parent: str
    child: str
    toward: tuple[float, float, float] = DOWN
    anchor: str = "BETWEEN"


PRESETS: tuple[Preset, ...] = (
    Preset(
        "knee",
        "Knee",
        "Bends backward while the shin rolls and slides on the thigh (spline curve)",
        "spline_curve",
        (Coordinate("Flexion", 0.0, 120.0),),  # the range of the published motion (Delp)
        "Thigh",
        "Shin",
        BACK,
    ),
    Preset(
        "hip",
        "Hip",
        "Ball joint with flexion, abduction and outward rotation",
        "euler",
        (
            Coordinate("Flexion", -30.0, 120.0),  # AAOS: extension 30, flexion 120
            Coordinate("Abduction", -30.0, 45.0),  # AAOS: adduction 30, abduction 45
            Coordinate("External Rotation", -45.0, 45.0),  # AAOS: 45 both ways
        ),
        "Pelvis",
        "Thigh",
        FRONT,
    ),
    Preset(
        "elbow",
        "Elbow",
        "Bends forward, and turns the forearm",
        "universal",
        (
            Coordinate("Flexion", 0.0, 150.0),  # AAOS
            Coordinate("Pronation", -80.0, 80.0),  # AAOS: supination and pronation 80
        ),
        "Upper Arm",
        "Forearm",
        FRONT,
    ),
    Preset(
        "shoulder",
        "Shoulder on the Thorax",
        "Shoulder blade that glides over the ribs, rotates upward and wings (scapulothoracic; Seth et al. 2016)",
        "scapulothoracic",
        (
            # As the arm is fully raised from rest, the blade rotates upward by about 50 and tips by 20 to 30 (Ludewig);
            # gliding ranges are those of a shrug and a reach (Seth), rounded.
            Coordinate("Protraction", -25.0, 25.0, 0.0, 2.0, "Retraction"),
            Coordinate("Elevation", -15.0, 25.0, 0.0, 2.0),
            # the joint type models a right blade; z points outward on both sides
            Coordinate("Upward Rotation", -10.0, 50.0, 0.0, 2.0, "Downward Rotation"),
            Coordinate("Winging", -10.0, 30.0, 0.0, 2.0, "Winging In"),
        ),
        "Thorax",
        "Shoulder Blade",
        anchor="PARENT",
    ),
    Preset(
        "wrist",
        "Wrist (Condyloid)",
        "Bends to the palm and to the side",
        "universal",
        (
            Coordinate("Flexion", -70.0, 80.0, 0.0, 0.5),  # AAOS: extension 70, flexion 80
            # AAOS: radial 20, ulnar 30. With the palm to the front, towards the body on the right
            Coordinate("Ulnar Deviation", -20.0, 30.0, 0.0, 0.5, "Radial Deviation"),
        ),
        "Forearm",
        "Hand",
    ),
    Preset(
        "thumb",
        "Thumb (Saddle)",
        "Saddle joint with two perpendicular axes that do not intersect (Hollister et al. 1992)",
        "composite",
        (
            Coordinate("Flexion", -20.0, 15.0, 0.0, 0.5),  # AAOS: extension 20, flexion 15
            Coordinate("Adduction", -70.0, 0.0, -20.0, 0.5, "Abduction"),  # AAOS: abduction 70
        ),
        "Wrist Bone",
        "Thumb Bone",
        FRONT,
    ),
    Preset(
        "jaw",
        "Jaw",
        "Opens: its heads first turn, then slide forward and down (spline curve)",
        "spline_curve",
        (Coordinate("Opening", 0.0, 30.0, 0.0, 1.5),),  # Ferrario: about 30 degrees wide open
        "Skull",
        "Lower Jaw",
        anchor="BEHIND",
    ),
    Preset(
        "finger",
        "Finger",
        "Middle joint of a finger, bends to the palm",
        "hinge",
        (Coordinate("Flexion", 0.0, 100.0, 20.0, 0.5),),  # AAOS: proximal interphalangeal joint
        "First Bone",
        "Second Bone",
    ),
    Preset(
        "bead",
        "Bead on a Wire",
        "Slides along a curve object: select the curve and the bead",
        "spline_curve",
        (Coordinate("Along the Wire", 0.0, 1.0),),
        "Wire",
        "Bead",
        anchor="WIRE",
    ),
    Preset(
        "hinge",
        "Hinge",
        "Turns about the long edge where the two bodies meet, like a door",
        "hinge",
        (Coordinate("Angle", -90.0, 90.0),),
        "Frame",
        "Door",
        FRONT,
        "EDGE",
    ),
)
BY_NAME = {each.name: each for each in PRESETS}
