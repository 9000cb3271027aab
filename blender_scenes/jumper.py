"""A figure jumps down on a stiff plank, takes off again and turns a somersault, after Ertl et al. 1993, Fig. 5.

The front figure is rigid, the rear one has soft parts that wobble on its bones. Controllers with limited torque move
their joints towards target angles, found for each figure by goals along gradients of its motion. Four times slower than
life. Checked: a whole turn between two touches, a parabola and no change of angular momentum in flight, and standing at
the end.
"""

from dataclasses import dataclass

import bpy
import numpy as np

import physics as ph
from physics._typing import FloatArray

from . import jumper_model as model
from .gallery_parts import Solid, ball, box, moved, together
from .jumper_search import clearances
from .keys import key_bodies, key_property
from .picture import Image, Shot
from .production import Made, Progress, Recipe, check, check_shown, contact_sheet, new_file
from .shapes import capsule
from .staging import add_backdrop, add_studio, curve_object, faceted_object, plain_material

FRAMES_A_SECOND = 96  # of the motion; shown at 24
FRAMES = 1 + round(model.SECONDS * FRAMES_A_SECOND)
EVERY = round(1.0 / (FRAMES_A_SECOND * model.TIME_STEP))  # steps a frame
# y of the plane [m]
FIGURES = {"Rigid": (False, model.RIGID, -0.75), "Wobbling": (True, model.WOBBLING_PLAN, 0.75)}
FLOOR = -0.35  # m
SUIT, BONE, SOFT, HEAD = (0.85, 0.30, 0.06), (0.88, 0.84, 0.72), (0.15, 0.50, 0.90), (0.80, 0.60, 0.48)
WOOD, BLOCK, PATH_COLOR = (0.42, 0.24, 0.10), (0.13, 0.17, 0.24), (0.10, 0.75, 0.95)
# distance of paired limbs from the middle [m]; radii of segments, and of bones for the figure that wobbles
LEGS_APART, ARMS_APART = 0.10, 0.20
RADII = {"Arms": (0.045, 0.034), "Thighs": (0.078, 0.058), "Shanks": (0.056, 0.040)}
BONES = {"Arms": (0.045, 0.034), "Thighs": (0.030, 0.026), "Shanks": (0.026, 0.022)}
ENDS = {"Arms": -model.ARM, "Thighs": -model.THIGH, "Shanks": -model.SHANK}


def limb(name: str, radii: dict[str, tuple[float, float]]) -> Solid:
    """Both arms, thighs or shanks."""
    aside = ARMS_APART if name == "Arms" else LEGS_APART
    ends = [(np.array([0.0, 0.0, z]), np.array([0.0, ENDS[name], z])) for z in (-aside, aside)]
    return together(*(capsule(*pair, *radii[name]) for pair in ends))


def feet() -> Solid:
    """Both feet, their soles at the points of contact."""
    pieces = []
    for z in (-LEGS_APART, LEGS_APART):
        heel, toe = (np.array([*point, z]) for point in (model.HEEL, model.TOE))
        ankle = np.array([0.0, 0.0, z])
        rise = np.array([0.0, 0.016, 0.0])
        pieces += [capsule(heel + rise, toe + 0.4 * rise, model.SOLE + 0.016, model.SOLE + 0.0064)]
        pieces += [capsule(heel + rise, ankle, model.SOLE + 0.016, 0.036)]
        pieces += [capsule(ankle, toe + 0.4 * rise, 0.034, model.SOLE + 0.0064)]
    return together(*pieces)


def trunk(wobbling: bool) -> list[Solid]:
    """Trunk and head; of the wobbling figure: pelvis, spine and shoulders."""
    hip, shoulder, neck = np.zeros(3), np.array([0.0, model.HIP_SHOULDER, 0.0]), np.array([0.0, 0.60, 0.0])
    across = np.array([0.0, 0.0, 1.0])
    head = moved(ball(0.105, 14, 28), (0.015, model.HEAD - 0.105, 0.0))
    if wobbling:
        bars = [
            capsule(hip, neck, 0.034, 0.026),
            capsule(hip - LEGS_APART * across, hip + LEGS_APART * across, 0.045),
        ]
        bars += [capsule(shoulder - ARMS_APART * across, shoulder + ARMS_APART * across, 0.034)]
        return [together(*bars), head]
    sides = [
        capsule(hip + 0.055 * side * across, shoulder + 0.085 * side * across, 0.105, 0.115)
        for side in (-1.0, 1.0)
    ]
    shoulders = capsule(shoulder - ARMS_APART * across, shoulder + ARMS_APART * across, 0.055)
    return [together(*sides, shoulders, capsule(shoulder, neck, 0.06, 0.045)), head]


def soft_parts(name: str) -> Solid:
    """The soft parts of a segment, in the axes of their body, whose origin is the mass centre."""
    center = np.array([*model.CENTERS[name], 0.0])
    if name == "Trunk":
        ends = np.array([0.0, 0.06, 0.0]) - center, np.array([0.0, model.HIP_SHOULDER - 0.03, 0.0]) - center
        across = np.array([0.0, 0.0, 1.0])
        sides = (-across, across)
        return together(*(capsule(ends[0] + 0.05 * s, ends[1] + 0.075 * s, 0.115, 0.12) for s in sides))
    length, (first, last) = ENDS[name], RADII[name]
    pieces = []
    for z in (-LEGS_APART, LEGS_APART):
        begin, end = np.array([0.0, 0.12 * length, z]) - center, np.array([0.0, 0.85 * length, z]) - center
        pieces.append(capsule(begin, end, 1.12 * first, 1.05 * last))
    return together(*pieces)


def add_figure(
    figure: str, wobbling: bool, into: bpy.types.Collection
) -> dict[tuple[str, str], bpy.types.Object]:
    """The objects of a figure by figure and body."""
    paint = plain_material("Bone", BONE, 0.5) if wobbling else plain_material("Suit", SUIT, 0.45)
    skin, radii = plain_material("Head", HEAD, 0.5), BONES if wobbling else RADII
    frame, head = trunk(wobbling)
    solids = {"Trunk": frame, "Feet": feet(), **{name: limb(name, radii) for name in ENDS}}
    made = {}
    for name in model.LINKS:
        color = skin if name in ("Arms", "Feet") else paint
        made[figure, name] = faceted_object(f"{figure} {name.lower()}", *solids[name], into, color, True)
    top = faceted_object(f"{figure} head", *head, into, skin, True)
    top.parent = made[figure, "Trunk"]
    for name in model.WOBBLING if wobbling else ():
        clear = plain_material("Soft", SOFT, 0.4, alpha=0.45)
        item = faceted_object(f"{figure} {name.lower()} soft", *soft_parts(name), into, clear, True)
        made[figure, f"{name} soft"] = item
    return made


def add_plank(lane: float, stage: bpy.types.Collection) -> None:
    """Plank with its feet, and the block to jump from."""
    wood, block = plain_material("Plank", WOOD, 0.5), plain_material("Block", BLOCK, 0.6)
    board = moved(box((1.65, 0.42, 0.03)), (1.95, lane, -0.03))
    faceted_object(f"Plank at {lane:g} m", *board, stage, wood)
    half = 0.5 * (-0.06 - FLOOR)
    for x in (0.6, 1.95, 3.3):
        foot = moved(box((0.06, 0.38, half)), (x, lane, FLOOR + half))
        faceted_object(f"Foot at {x:g}, {lane:g} m", *foot, stage, block)
    top = model.STANDING + model.START_HEIGHT - 0.02 - lowest_foot()
    half = 0.5 * (top - FLOOR)
    start = moved(box((0.35, 0.42, half)), (-0.23, lane, FLOOR + half))
    faceted_object(f"Block at {lane:g} m", *start, stage, block)


def lowest_foot() -> float:
    """Height [m] of the hip above the soles at first."""
    of = model.build_model()
    poses = ph.body_poses(of, model.start(of, model.RIGID))
    ends = [(poses[of.index("Feet")] @ np.array([*point, 0.0, 1.0]))[2] for point in (model.HEEL, model.TOE)]
    return float(model.STANDING + model.START_HEIGHT - (min(ends) - model.SOLE))


def make() -> Made:
    """Both figures, planks and blocks in a new file; bodies by figure and name."""
    scene, (people, stage) = new_file("Jumper", ["Figures", "Stage"], FRAMES)
    bodies = {}
    for figure, (wobbling, _, lane) in FIGURES.items():
        bodies.update(add_figure(figure, wobbling, people))
        add_plank(lane, stage)
    add_studio(scene, stage, (1.6, 0.0, 0.8), 2.1)
    add_backdrop(stage, FLOOR, 2.0)
    return Made(scene=scene, bodies=bodies, stage=stage)


@dataclass(frozen=True)
class Jump:
    """A figure's motion and its phases."""

    result: ph.Result
    course: model.Course
    peak: float  # greatest vertical force of the plank over all steps [N]


def measure(made: Made, progress: Progress) -> tuple[dict[str, Jump], dict[str, str]]:
    """Simulate and bake to keys; raises SceneError if a figure fails."""
    jumps, figures, world = {}, {}, {}
    frames = np.arange(1, FRAMES + 1)
    for number, (figure, (wobbling, plan, lane)) in enumerate(FIGURES.items()):
        progress(0.5 * number, f"simulating the {figure.lower()} figure")
        of = model.build_model(wobbling, lane)
        result = model.jump(of, plan, every=EVERY)
        peak = float(plank_force(model.jump(of, plan, every=1)).max())
        jumps[figure] = Jump(result, model.course(result), peak)
        figures.update(
            {f"{figure.lower()}: {name}": text for name, text in check_jump(jumps[figure]).items()}
        )
        world |= key_bodies([made.bodies[figure, name] for name in of.body_names], frames, result.poses)
        key_property(made.bodies[figure, "Feet"], "force", frames, plank_force(result))
    shown = check_shown(made.scene, frames, world)
    return jumps, {**figures, "bake against simulation": f"{shown:.1e} m, or of a matrix entry"}


def check_jump(jump: Jump) -> dict[str, str]:
    """Check that a jump is a somersault (else SceneError); returns the figures to print."""
    result, found = jump.result, jump.course
    check("the sample of the landing", found.landing, 1, len(result.t))
    flight = result.t[found.landing] - result.t[found.takeoff]
    check("the flight", flight, 0.35, 1.0, "s")
    turned = np.degrees(result.q[[found.takeoff, found.landing, -1], 2] - result.q[found.touch, 2])
    check("the turn from the first touch to the end", -turned[2], 320.0, 430.0, "degrees")
    check("the turn in flight", turned[0] - turned[1], 240.0, 430.0, "degrees")
    low = clearances(result)
    check("the lowest of head, hands, hips and knees", float(low.min()), 0.05, 2.0, "m")
    check("the deepest the feet go into the plank", float(-found.height.min()), 0.0, 0.03, "m")
    inside = slice(found.takeoff + 2, found.landing - 1)
    fall = np.polyfit(result.t[inside], found.center[inside, 1], 2)[0]
    check("twice the parabola's bend", float(-2.0 * fall), 9.80, 9.82, "m/s^2")
    turning = model.angular_momentum(result)[inside]
    kept = check(
        "the change of angular momentum in flight", float(np.ptp(turning) / abs(turning.mean())), 0.0, 0.01
    )
    speed = np.linalg.norm(np.gradient(found.center, result.t, axis=0)[-8:], axis=1).max()
    check("the speed of the mass centre at the end", float(speed), 0.0, 0.4, "m/s")
    check("the height of the mass centre at the end", float(found.center[-1, 1]), 0.7, 1.3, "m")
    texts = {
        "flight": f"{flight:.2f} s, {turned[0] - turned[1]:.0f}° of {-turned[2]:.0f}° in all",
        "angular momentum in flight": f"{turning.mean():.1f} kg m^2/s, kept to {kept:.1e}",
        "greatest force of the plank": f"{1e-3 * jump.peak:.1f} kN",
        "feet": f"at most {-1e3 * found.height.min():.1f} mm deep",
    }
    soft = wobble(result)
    if soft:
        check("the greatest displacement of a soft part", max(soft.values()), 0.005, 0.12, "m")
        texts["soft parts"] = ", ".join(f"{name} {1e3 * value:.0f} mm" for name, value in soft.items())
    return texts


def plank_force(result: ph.Result) -> FloatArray:
    """Vertical force of the plank (n,) [N]."""
    of = result.model
    states = (of.state(q=q, qd=qd) for q, qd in zip(result.q, result.qd))
    return np.array([ph.force_wrenches(of, state)["Plank"].body[5] for state in states])


def wobble(result: ph.Result) -> dict[str, float]:
    """Greatest displacement [m] of each soft part."""
    of = result.model
    found = {}
    for name in model.WOBBLING:
        if f"{name} soft" in of.body_names:
            away = result.q[:, of.coordinate_slice(f"{name} soft")][:, :2]
            found[name.lower()] = float(np.linalg.norm(away, axis=1).max())
    return found


def draw(made: Made, jumps: dict[str, Jump], progress: Progress) -> Image:
    """The contact sheet; the paths of the mass centres stay in the scene."""
    for figure, jump in jumps.items():
        center = jump.course.center
        way = np.column_stack([center[:, 0], np.full(len(center), FIGURES[figure][2]), center[:, 1]])
        curve_object(f"Way of the {figure.lower()} figure", way, 0.005, PATH_COLOR, made.stage)
    rigid = jumps["Rigid"].course
    middle = (rigid.takeoff + rigid.landing) // 2
    force = [1e-3 * plank_force(jump.result) for jump in jumps.values()]
    peaks = [1e-3 * jump.peak for jump in jumps.values()]
    lines = (
        "A jump down, and a somersault",
        "five links; in front rigid, behind with wobbling masses,",
        f"the plank pushes with {peaks[0]:.1f} and {peaks[1]:.1f} kN at most",
    )
    picked = (rigid.touch // 2, rigid.touch + 3, (rigid.touch + rigid.takeoff) // 2, rigid.takeoff + 5)
    picked += (middle, len(rigid.height) - 9)
    captions = []
    for k in picked:
        pushes = f"{force[0][k]:.1f} and {force[1][k]:.1f} kN"
        captions.append((int(k) + 1, (f"t = {k / FRAMES_A_SECOND:.2f} s", pushes)))
    tile = Shot((4.6, -6.5, 3.4), (1.50, 0.0, 0.72), 5.15)
    hero = Shot((5.0, -5.0, 2.3), (1.66, -0.05, 0.75), 4.55, middle - 4)
    return contact_sheet(made.scene, hero, tile, captions, lines, progress)


RECIPE = Recipe("jumper", make, measure, draw)
build = RECIPE.build

if __name__ == "__main__":
    RECIPE.main(__doc__)
