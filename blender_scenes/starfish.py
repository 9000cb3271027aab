"""A soft starfish crawls on the ground, after Wang 2022, Figs. 6.1 and 6.2.

Ten of twenty joints are prescribed; the rest of the skeleton, a coarse mesh of tetrahedra and the fine skin that is
embedded in it move by themselves, and the skin touches the ground. Checked: dropped, it only loses energy; crawling, it
gains no more than the prescribed joints give; it gets ahead, and no deeper into the ground than stated.
"""

import numpy as np
from numpy.typing import NDArray

import physics as ph

from . import starfish_model as model
from .gallery_parts import together
from .keys import key_bodies, key_vertices, shown_vertices
from .picture import Image, Shot
from .production import Made, Progress, Recipe, check, check_shown, contact_sheet, new_file
from .shapes import capsule
from .staging import add_backdrop, add_studio, faceted_object, plain_material

FRAMES_A_SECOND = 24
FRAMES = 1 + round(model.SECONDS * FRAMES_A_SECOND)
SKIN, BONE, PRESCRIBED, EDGE = (0.90, 0.26, 0.08), (0.88, 0.84, 0.72), (0.10, 0.45, 0.85), (0.10, 0.75, 0.95)
# of free fall and rest of the lightest points, see `soft.ground.NodeGround`
DEEPEST = 4e-3  # m
HERO_FRAME, TILE_FRAMES = 56, (1, 50, 62, 74, 86, 98)
SHOWN = 1e-6  # m: Blender keeps places of vertices in single precision


def surface(tets: NDArray[np.int64]) -> list[tuple[int, ...]]:
    """Triangles that one tetrahedron alone has."""
    faces: dict[tuple[int, ...], tuple[int, ...]] = {}
    for a, b, c, d in tets.tolist():
        for face in ((a, c, b), (a, b, d), (b, c, d), (a, d, c)):
            key = tuple(sorted(face))
            if faces.pop(key, None) is None:
                faces[key] = face
    return list(faces.values())


def make() -> Made:
    """Skin, coarse mesh, bones, ground and marks in a new file."""
    scene, (star, stage) = new_file("Starfish", ["Starfish", "Stage"], FRAMES)
    mesh, (nodes, tets, _) = model.skin(), model.coarse()
    paint = plain_material("Skin", SKIN, 0.42)
    skin = faceted_object("Skin", mesh.vertices, mesh.faces.tolist(), star, paint, True)
    lattice = faceted_object("Coarse mesh", nodes, surface(tets), star, plain_material("Edges", EDGE, 0.4))
    lattice.modifiers.new("Edges", "WIREFRAME").thickness = 1.2e-3
    bone, led = plain_material("Bone", BONE, 0.5), plain_material("Prescribed", PRESCRIBED, 0.4)
    middle = [
        capsule(np.zeros(3), model.turned(arm) @ [model.JOINTS[0], 0.0, 0.0], 0.0045)
        for arm in range(model.ARMS)
    ]
    bodies = {"disc": faceted_object("Disc", *together(*middle), star, bone, True)}
    for arm in range(model.ARMS):
        for k, (begun, end) in enumerate(model.segments(), 1):
            solid = capsule(np.zeros(3), np.array([end - begun, 0.0, 0.0]), 0.0042, 0.0030)
            name = f"arm {arm} {k}"
            bodies[name] = faceted_object(name, *solid, star, led if k <= 2 else bone, True)
    add_studio(scene, stage, (0.07, 0.0, 0.02), 0.30)
    add_backdrop(stage, 0.0, 0.26)
    marks = []
    for k in range(-6, 12):
        half, x = 0.0012 if k % 2 == 0 else 0.0005, 0.05 * k
        corners = np.array([[x - half, -0.24], [x + half, -0.24], [x + half, 0.24], [x - half, 0.24]])
        marks.append((np.column_stack([corners, np.full(4, 0.0001)]), [(0, 1, 2, 3)]))
    faceted_object("Marks", *together(*marks), stage, plain_material("Marks", (0.30, 0.36, 0.42), 0.7))
    return Made(scene=scene, bodies=bodies, skin=skin, lattice=lattice)


def measure(made: Made, progress: Progress) -> tuple[ph.Result, dict[str, str]]:
    """Simulate and key; raises SceneError if a figure is out of its bounds."""
    dropped = model.build_model(crawls=False)
    fall = ph.simulate(dropped, dropped.state(), 1.0, model.TIME_STEP, "linearly_implicit_euler")
    of = model.build_model()
    progress(0.3, "simulating")
    result, steps = model.crawl(of, 1.0 / FRAMES_A_SECOND), model.crawl(of, model.TIME_STEP)
    frames = np.arange(1, FRAMES + 1)
    world = key_bodies([made.bodies[name] for name in of.body_names], frames, result.poses)
    soft = result.soft["starfish"]
    skin = soft.embed(soft.body.ground.points)
    key_vertices(made.skin, skin)
    key_vertices(made.lattice, soft.nodes)
    shown = check_shown(made.scene, frames, world)
    off = max(np.abs(shown_vertices(made.scene, made.skin, f) - skin[f - 1]).max() for f in (1, 60, FRAMES))
    check("the error of the skin that Blender shows", float(off), 0.0, SHOWN, "m")
    gained = float(np.diff(fall.energy[:, 2]).max() / np.ptp(fall.energy[:, 2]))
    # round-off of the sum over all points
    check("what a drop gains in a step, of all that it loses", gained, -1.0, 1e-9)
    given, more = model.work(steps), steps.energy[:, 2] - steps.energy[0, 2]
    loss = given - more
    check(
        "the most energy that nothing gives, of all that is given", float(-loss.min() / given[-1]), -1.0, 0.01
    )
    depth = max(float(fall.soft["starfish"].depth.max()), float(steps.soft["starfish"].depth.max()))
    check("the depth of the deepest point", depth, 0.0, DEEPEST, "m")
    center = result.poses[:, 0, :3, 3]
    turns = center[:: round(model.PERIOD * FRAMES_A_SECOND), 0]
    check("the least way ahead in a turn after the first", float(np.diff(turns)[1:].min()), 0.03, 0.1, "m")
    check("the drift aside", float(np.abs(center[:, 1]).max()), 0.0, 0.01, "m")
    tets = len(soft.body.tets)
    return result, {
        "soft body": f"{len(soft.body.nodes)} nodes, {tets} tetrahedra, {skin.shape[1]} vertices of the skin",
        "crawl": f"{1e3 * (center[-1, 0] - center[0, 0]):.0f} mm in {result.t[-1]:.0f} s",
        "aside": f"{1e3 * np.abs(center[:, 1]).max():.2f} mm",
        "dropped": f"loses {1e3 * np.ptp(fall.energy[:, 2]):.0f} mJ, gains at most {gained:.0e} of it in a step",
        "energy": f"{given[-1]:.2f} J given, {loss[-1]:.2f} J lost, at least {loss.min():.1e} J at any time",
        "depth": f"at most {1e3 * depth:.1f} mm",
        "bake against simulation": f"{shown:.1e} m, or of a matrix entry; skin {off:.1e} m",
    }


def draw(made: Made, result: ph.Result, progress: Progress) -> Image:
    """The contact sheet: the skin, and twice what is below it."""
    x, soft = result.poses[:, 0, 0, 3], result.soft["starfish"]
    bones = [item.name for item in made.bodies.values()]
    lines = (
        "A soft starfish",
        f"{len(soft.body.nodes)} nodes on a skeleton of 20 joints, ten prescribed;",
        f"{len(made.skin.data.vertices)} vertices of the skin touch the ground",
        f"{1e3 * (x[-1] - x[0]):.0f} mm in {result.t[-1]:.0f} s",
    )
    captions, shots = [], []
    for n, frame in enumerate(TILE_FRAMES):
        below = n in (0, 3)
        now = "skeleton, coarse mesh" if n == 0 else f"t = {(frame - 1) / FRAMES_A_SECOND:.2f} s"
        captions.append((frame, (now, f"x = {1e3 * x[frame - 1]:.0f} mm")))
        hidden = [made.skin.name] if below else [made.lattice.name, *bones]
        shots.append(Shot((0.35, -0.55, 0.42), (0.06, 0.0, 0.0), 0.44, hidden=hidden))
    hero = Shot((0.30, -0.40, 0.34), (0.045, 0.0, 0.02), 0.33, HERO_FRAME, hidden=[made.lattice.name, *bones])
    return contact_sheet(made.scene, hero, shots, captions, lines, progress)


RECIPE = Recipe("starfish", make, measure, draw)
build = RECIPE.build

if __name__ == "__main__":
    RECIPE.main(__doc__)
