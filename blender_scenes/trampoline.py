"""A ball on a trampoline and a bead on a springy wire, after Lee & Terzopoulos 2008, sec. 8.

Sheet and wire are spline surfaces with mass, tension and bending: they bend under the bodies that slide on them.
Checked: energy only falls, and without damping it stays; the bodies are on the surfaces that Blender shows.
"""

import bpy
import numpy as np

import physics as ph
from physics._typing import FloatArray

from . import trampoline_model as model
from .gallery_parts import ball, moved
from .keys import key_bodies, key_vertices, shown_vertices
from .picture import Image, Shot
from .production import Made, Progress, Recipe, check, check_shown, contact_sheet, new_file
from .shapes import capsule
from .sheet import checked_material
from .staging import add_studio, faceted_object, plain_material, surface_object

FRAMES_A_SECOND = 24
FRAMES = 1 + round(model.SECONDS * FRAMES_A_SECOND)
NET, ALONG, RING, WIRE_RADIUS = 49, 97, 16, 0.006
COLORS = {"Ball": (0.05, 0.62, 0.72), "Bead": (0.80, 0.12, 0.30)}
STEEL, FRAME = (0.55, 0.58, 0.62), (0.10, 0.11, 0.13)
LIFT = 0.16  # m: of everything over the floor
HERO_FRAME, TILE_FRAMES = 19, (1, 9, 25, 49, 85, 145)
SHOWN = 1e-6  # m: Blender keeps places of vertices in single precision
WITHIN = 1e-6  # m: between steps, coordinates and control points are interpolated apart
EYE, TARGET = (0.62, -1.25, 0.62), (0.0, 0.08, 0.22)


def wire_skin(points: FloatArray) -> FloatArray:
    """Net (n, RING + 1, 3) of the skin of a wire along points (n, 3) in a plane y = const."""
    along = np.gradient(points, axis=0)
    beside = np.array([0.0, 1.0, 0.0])
    up = np.cross(along, beside)
    up /= np.linalg.norm(up, axis=1, keepdims=True)
    angle = np.linspace(0.0, 2.0 * np.pi, RING + 1)[:, None]
    return points[:, None] + WIRE_RADIUS * (np.cos(angle) * beside + np.sin(angle) * up[:, None])


def make() -> Made:
    """Ball, bead, sheet, wire and their supports in a new file."""
    scene, (things, stage) = new_file("Trampoline", ["Things", "Stage"], FRAMES)
    up = np.array([0.0, 0.0, LIFT])
    of = model.model()
    nodes = {each.name: each.nodes[None] for each in of.soft_bodies}
    sheet = surface_object(
        "Sheet", model.sheet_points(nodes["Trampoline"], NET)[0] + up, things, checked_material()
    )
    wire = wire_skin(model.wire_points(nodes["Wire"], ALONG)[0] + up)
    wire = surface_object("Wire", wire, things, plain_material("Wire", STEEL, 0.25))
    bodies = {}
    for name, color in COLORS.items():
        radius = (model.BEAD if name == "Bead" else model.BALL)[0]
        solid = moved(ball(radius, 24, 48), (0.0, 0.0, 0.0 if name == "Bead" else radius))
        bodies[name] = faceted_object(name, *solid, things, plain_material(name, color, 0.25), True)
    add_supports(stage)
    add_studio(scene, stage, TARGET, 0.8)
    scene.frame_set(1)
    return Made(scene=scene, bodies=bodies, sheet=sheet, wire=wire)


def add_supports(stage: bpy.types.Collection) -> None:
    """The rim of the sheet on four legs, and two posts of the wire."""
    paint, half = plain_material("Frame", FRAME, 0.4), 0.5 * model.SIDE
    corners = np.array([[-half, -half], [half, -half], [half, half], [-half, half]])
    ends = np.array([[-0.5 * model.SPAN, model.BEHIND], [0.5 * model.SPAN, model.BEHIND]])
    top = LIFT + model.HEIGHT + model.SAG
    rods = [
        (np.array([*a, LIFT]), np.array([*b, LIFT])) for a, b in zip(corners, np.roll(corners, -1, axis=0))
    ]
    rods += [(np.array([*c, 0.0]), np.array([*c, LIFT])) for c in corners]
    rods += [(np.array([*e, 0.0]), np.array([*e, top])) for e in ends]
    for number, (first, last) in enumerate(rods, 1):
        faceted_object(f"Rod {number}", *capsule(first, last, 0.009), stage, paint, True)


def off_surfaces(result: ph.Result) -> float:
    """Largest distance [m] of bodies from the surfaces through the control points at all samples."""
    names, largest = list(result.model.body_names), 0.0
    for surface, joint in (("Trampoline", model.sheet_joint()), ("Wire", model.wire_joint())):
        body = result.soft[surface].body
        nodes = result.soft[surface].nodes
        for name in body.surface.bodies:
            first = list(result.model.coordinate_names).index(f"{name}.q_1")
            for k in range(0, len(result.t), 7):
                values = joint.surface.values.copy()
                values[..., 3:] = nodes[k].reshape(values[..., 3:].shape)
                bent = ph.joints.SplineSurface(values, order=joint.surface.order)
                place = bent.transform(result.q[k, first : first + bent.num_coordinates])[:3, 3]
                found = result.poses[k, names.index(name), :3, 3]
                largest = max(largest, float(np.abs(place - found).max()))
    return largest


def measure(made: Made, progress: Progress) -> tuple[ph.Result, dict[str, str]]:
    """Simulate and key; raises SceneError if a figure is out of its bounds."""
    of, free = model.model(), model.model(damped=False)
    progress(0.3, "simulating")
    result, kept = model.run(of, 1.0 / FRAMES_A_SECOND), model.run(free, 0.01, 1.0)
    frames, up = np.arange(1, FRAMES + 1), np.array([0.0, 0.0, LIFT])
    world = key_bodies([made.bodies[name] for name in of.body_names], frames, result.poses, up)
    sheet = model.sheet_points(result.soft["Trampoline"].nodes, NET).reshape(FRAMES, -1, 3) + up
    lines = model.wire_points(result.soft["Wire"].nodes, ALONG) + up
    key_vertices(made.sheet, sheet)
    key_vertices(made.wire, np.array([wire_skin(points).reshape(-1, 3) for points in lines]))
    shown = check_shown(made.scene, frames, world)
    seen = max(
        np.abs(shown_vertices(made.scene, made.sheet, f) - sheet[f - 1]).max() for f in (1, 40, FRAMES)
    )
    check("the error of the sheet that Blender shows", float(seen), 0.0, SHOWN, "m")
    off = check("the bodies' distance from the surfaces", off_surfaces(result), 0.0, WITHIN, "m")
    gain = float(np.diff(result.energy[:, 2]).max() / np.ptp(result.energy[:, 2]))
    check("what the energy gains in a frame, of all that is lost", gain, -1.0, 0.0)
    drift = float(np.ptp(kept.energy[:, 2]) / kept.energy[:, 0].max())
    # Runge-Kutta's loss in the fastest swings of the wire, of order 5 in the step
    check("the energy's change without damping, of the largest kinetic energy", drift, 0.0, 5e-4)
    dent = float(-sheet[..., 2].min() + LIFT)
    check("the deepest dent", dent, 0.05, 0.15, "m")
    sag = float((lines[0, :, 2] - lines[..., 2]).max())
    check("the deepest sag of the wire", sag, 0.01, 0.05, "m")
    return result, {
        "trampoline": f"{model.ROWS} x {model.ROWS} control points, dent {1e3 * dent:.0f} mm",
        "wire": f"{model.POINTS} control points, sag {1e3 * sag:.0f} mm",
        "energy": f"falls in each frame; without damping {drift:.1e} of the largest kinetic energy in a second",
        "bodies from the surfaces": f"{off:.1e} m",
        "bake against simulation": f"{shown:.1e} m, or of a matrix entry; sheet {seen:.1e} m",
    }


def draw(made: Made, result: ph.Result, progress: Progress) -> Image:
    """The contact sheet."""
    lines = (
        "A trampoline and a springy wire",
        "Spline surfaces with mass, tension and bending",
        f"{model.ROWS} × {model.ROWS} and {model.POINTS} control points move under ball and bead",
    )
    captions = [(frame, (f"t = {(frame - 1) / FRAMES_A_SECOND:.1f} s",)) for frame in TILE_FRAMES]
    hero = Shot(EYE, TARGET, 1.12, HERO_FRAME)
    return contact_sheet(made.scene, hero, Shot(EYE, TARGET, 1.12), captions, lines, progress)


FILM = [Shot(EYE, TARGET, 1.12, frame) for frame in range(1, FRAMES + 1)]
RECIPE = Recipe("trampoline", make, measure, draw, FILM)
build = RECIPE.build

if __name__ == "__main__":
    RECIPE.main(__doc__)
