"""A machine that walks on twelve legs after Theo Jansen, driven by one shaft.

Every leg closes three loops of its links. The shaft's motion is prescribed; contact with the compliant ground (Ertl et
al. 1993, eq. 8) lets the machine walk. Checked: the loops stay closed, the machine stays level and advances.
"""

import bpy
import numpy as np

import physics as ph
from physics._typing import FloatArray

from . import walker_model as model
from .gallery_parts import Solid, ball, moved, together
from .keys import key_bodies, key_property
from .picture import Image, Shot
from .production import TILES, Made, Progress, Recipe, check, check_shown, contact_sheet, new_file
from .shapes import capsule
from .staging import add_backdrop, add_studio, curve_object, faceted_object, plain_material

FRAMES_A_SECOND = 24
FRAMES = 1 + round(model.SECONDS * FRAMES_A_SECOND)
# distances of a leg's links from its plane, so that they can pass one another [m]
LAYERS = {
    "upper": 0.0,
    "link": -0.024,
    "top rod": 0.024,
    "low rod": -0.048,
    "lower": -0.024,
    "rear rod": 0.024,
}
WEB = 0.062  # of the cranks, from the plane [m]
COLORS = {"upper": (0.85, 0.55, 0.10), "lower": (0.85, 0.55, 0.10), "link": (0.80, 0.74, 0.58)}
RODS, STEEL, RUBBER = (0.80, 0.74, 0.58), (0.62, 0.65, 0.70), (0.03, 0.03, 0.035)
PATH_COLOR = (0.10, 0.75, 0.95)
TILE_FRAMES = tuple(1 + 10 * k + 60 for k in range(TILES))
HERO_FRAME = 97


def link_solid(leg: model.Leg, part: str) -> Solid:
    """Tubes of a leg's link in the axes of its body, with pins at its joints across to the neighbouring links."""
    bars = leg.bars()[part]
    origin = bars[0][0]
    layer = side_of(leg) * LAYERS[part]
    tubes = [
        capsule(model.in_space(a - origin, layer), model.in_space(b - origin, layer), model.TUBE)
        for a, b in bars
    ]
    tubes += [capsule(*pin(point - origin, layer), 0.7 * model.TUBE, sides=10, rings=3) for point, _ in bars]
    return together(*tubes)


def pin(point: FloatArray, layer: float) -> tuple[FloatArray, FloatArray]:
    """Ends of a pin (3,) through the layers."""
    return model.in_space(point, layer - 0.026), model.in_space(point, layer + 0.026)


def side_of(leg: model.Leg) -> float:
    """Front and rear legs lie in mirrored layers, so that their rods share a crank."""
    return 1.0 if leg.pivot[0] > 0.0 else -1.0


def foot_solid(leg: model.Leg) -> Solid:
    """The rubber at the end of the lower triangle, in the leg's plane where it touches."""
    at = model.in_space(leg.foot - leg.low, 0.0)
    layer = model.in_space(leg.foot - leg.low, side_of(leg) * LAYERS["lower"])
    return together(moved(ball(model.FOOT, 10, 20), at), capsule(layer, at, 0.8 * model.FOOT, sides=12))


def shaft_solid() -> Solid:
    """Journals on the axis, and between them the cranks: two webs and a pin each."""
    pieces, last = [], -model.FRAME_SIZE[1] - 0.04
    for place, phase in zip(model.PLACES, model.PHASES):
        point = model.CRANK * np.array([np.cos(phase), np.sin(phase)])
        near, far = place - WEB, place + WEB
        pieces.append(capsule(np.array([0.0, last, 0.0]), np.array([0.0, near, 0.0]), 0.016))
        for y in (near, far):
            pieces.append(capsule(np.array([0.0, y, 0.0]), model.in_space(point, y), 0.016))
        pieces.append(capsule(model.in_space(point, near), model.in_space(point, far), 0.010))
        last = far
    pieces.append(
        capsule(np.array([0.0, last, 0.0]), np.array([0.0, model.FRAME_SIZE[1] + 0.04, 0.0]), 0.016)
    )
    return together(*pieces)


def frame_solid() -> Solid:
    """Two long axles that carry the legs' pivots, and cross pieces that carry the shaft."""
    ends = model.FRAME_SIZE[1] + 0.04
    left, right = (np.array([side * model.PIVOT_ASIDE, 0.0, -model.PIVOT_BELOW]) for side in (-1.0, 1.0))
    along = np.array([0.0, 1.0, 0.0])
    pieces = [capsule(end - ends * along, end + ends * along, 0.014) for end in (left, right)]
    for place in (-0.70, -0.50, -0.30, 0.0, 0.30, 0.50, 0.70):
        at = place * along
        pieces += [
            capsule(left + at, at, 0.012),
            capsule(right + at, at, 0.012),
            capsule(left + at, right + at, 0.012),
        ]
    return together(*pieces)


def make() -> Made:
    """Machine, ground and marks on it in a new file, in the pose in which the walk begins."""
    scene, (machine, stage) = new_file("Walker", ["Machine", "Stage"], FRAMES)
    steel = plain_material("Steel", STEEL, 0.3, metallic=0.6)
    blue, red = plain_material("Frame", (0.10, 0.20, 0.42)), plain_material("Shaft", (0.80, 0.08, 0.05))
    bodies = {
        "Frame": faceted_object("Frame", *frame_solid(), machine, blue, True),
        "Shaft": faceted_object("Shaft", *shaft_solid(), machine, red, True),
    }
    rubber = plain_material("Rubber", RUBBER, 0.8)
    for leg in model.legs():
        for part in model.PARENTS:
            name = leg.body(part)
            paint = plain_material(part, COLORS[part], 0.4) if part in COLORS else steel
            bodies[name] = faceted_object(name, *link_solid(leg, part), machine, paint, True)
        foot = faceted_object(f"{leg.name} rubber", *foot_solid(leg), machine, rubber, True)
        foot.parent = bodies[leg.body("lower")]
    add_studio(scene, stage, (2.0, 0.0, 0.5), 2.2)
    add_backdrop(stage, 0.0, 1.9)
    add_marks(stage)
    return Made(scene=scene, bodies=bodies, stage=stage)


def add_marks(stage: bpy.types.Collection) -> None:
    """A line on the ground every half metre, a wide one every metre: they show how the machine advances."""
    pieces = []
    for k in range(-6, 17):
        half = 0.012 if k % 2 == 0 else 0.004
        x = 0.5 * k
        corners = np.array([[x - half, -1.1], [x + half, -1.1], [x + half, 1.1], [x - half, 1.1]])
        pieces.append((np.column_stack([corners, np.full(4, 0.0008)]), [(0, 1, 2, 3)]))
    faceted_object("Marks", *together(*pieces), stage, plain_material("Marks", (0.30, 0.36, 0.42), 0.7))


def measure(made: Made, progress: Progress) -> tuple[ph.Result, dict[str, str]]:
    """Simulate and bake to keys; raises SceneError if a loop opens, the machine falls or does not advance."""
    of = model.build_model()
    result = ph.simulate(
        of, model.start(of), model.SECONDS, model.TIME_STEP, motions=model.drive(),
        record_interval=1.0 / FRAMES_A_SECOND, progress=lambda share: progress(share, "simulating"),
    )  # fmt: skip
    frames = np.arange(1, FRAMES + 1)
    world = key_bodies([made.bodies[name] for name in of.body_names], frames, result.poses)
    torque = crank_torque(result)
    key_property(made.bodies["Shaft"], "torque", frames, torque)
    shown = check_shown(made.scene, frames, world)
    gap = check("the gap of a loop's hinge", model.closure(of, result.poses), 0.0, 1e-8, "m")
    figures = walk_figures(result)
    speed = figures["way"] / result.t[-1]
    check("the way ahead", figures["way"], 3.0, 6.0, "m")
    check("the drift aside", figures["aside"], 0.0, 0.3, "m")
    check("the frame's tilt", figures["tilt"], 0.0, 3.0, "degrees")
    check("the frame's rise and fall", figures["bob"], 0.0, 0.05, "m")
    check("a foot's depth in the ground", figures["depth"], 0.0, 0.01, "m")
    return result, {
        "loops": f"{len(of.constraints)} hinges closed to {gap:.1e} m",
        "walk": f"{figures['way']:.2f} m in {result.t[-1]:.0f} s, {speed:.2f} m/s",
        "aside": f"{1e3 * figures['aside']:.0f} mm",
        "frame": f"level to {figures['tilt']:.2f}°, up and down {1e3 * figures['bob']:.1f} mm",
        "feet": f"at most {1e3 * figures['depth']:.1f} mm deep",
        "torque of the shaft": f"{torque.min():.1f} to {torque.max():.1f} N m",
        "bake against simulation": f"{shown:.1e} m, or of a matrix entry",
    }


def crank_torque(result: ph.Result) -> FloatArray:
    """Torque (n,) on the shaft [N m], positive in its direction of rotation."""
    column = result.model.coordinate_slice("Shaft").start
    return np.sign(model.SPEED) * result.efforts[:, column]


def walk_figures(result: ph.Result) -> dict[str, float]:
    """Forward and sideways distance, rise and fall of the frame, depth of the feet [m], tilt [degrees]."""
    of = result.model
    frame = result.poses[:, of.index("Frame")]
    upright = np.clip(frame[:, 2, 2], -1.0, 1.0)
    feet = model.foot_points(of, result.poses)
    return {
        "way": float(frame[-1, 0, 3] - frame[0, 0, 3]),
        "aside": float(np.abs(frame[:, 1, 3]).max()),
        "tilt": float(np.degrees(np.arccos(upright)).max()),
        "bob": float(np.ptp(frame[:, 2, 3])),
        "depth": float(model.FOOT - feet[..., 2].min()),
    }


def draw(made: Made, result: ph.Result, progress: Progress) -> Image:
    """The contact sheet; a foot's path stays in the scene, relative to the frame and to the ground."""
    of = result.model
    leg = model.legs()[-1]
    turn = np.linspace(0.0, 2.0 * np.pi, 121)
    seen = [model.make_leg("", leg.place, model.FRONT, angle).foot for angle in turn]
    points = np.array([model.in_space(point, leg.place) for point in seen])
    loop = curve_object("Foot's loop", points, 0.005, PATH_COLOR, made.stage)
    loop.parent = made.bodies["Frame"]
    frames = result.poses[:, of.index("Frame"), 0, 3]
    lines = (
        "Twelve legs after Theo Jansen",
        f"{of.num_bodies} bodies, {len(of.constraints)} loops closed by hinges",
        f"open by at most {model.closure(of, result.poses):.0e} m",
        f"{frames[-1] - frames[0]:.1f} m in {result.t[-1]:.0f} s, one shaft with a prescribed motion",
    )
    torque = crank_torque(result)
    captions, shots = [], []
    for frame in TILE_FRAMES:
        x = frames[frame - 1]
        now = f"t = {(frame - 1) / FRAMES_A_SECOND:.2f} s"
        captions.append((frame, (now, f"x = {x:.2f} m, {torque[frame - 1]:.1f} N m")))
        shots.append(Shot((x + 0.5, -6.0, 1.5), (x, 0.0, 0.42), 2.75, hidden=["Foot's loop"]))
    x = frames[HERO_FRAME - 1]
    hero = Shot((x + 2.2, -3.6, 2.1), (x - 0.02, -0.1, 0.72), 2.55, HERO_FRAME)
    return contact_sheet(made.scene, hero, shots, captions, lines, progress)


RECIPE = Recipe("walker", make, measure, draw)
build = RECIPE.build

if __name__ == "__main__":
    RECIPE.main(__doc__)
