"""A ball on a sheet that deforms with time, after Lee & Terzopoulos 2008, Fig. 5d.

The sheet is a spline surface joint whose last direction is time. Its picture is the same spline: a mesh with one shape
key per layer of control values, whose weights are the B-splines of time.
"""

from typing import Any

import bpy
import numpy as np

import physics as ph
from addon.data.references import Body
from addon.making import bodies_and_joints
from physics._typing import FloatArray
from physics.geometry import splines

from . import sheet_model as model
from .gallery_parts import ball, moved
from .keys import SHOWN_WITHIN, key_values, shown_vertices
from .picture import Image, Shot, node_tree
from .production import (
    TILES,
    Made,
    Progress,
    Recipe,
    bake_shown,
    check,
    contact_sheet,
    new_file,
    set_simulation,
)
from .staging import add_studio, curve_object, faceted_object, plain_material, surface_object

NET = 49  # points along each side of the sheet's mesh
CYAN, PATH_COLOR = (0.05, 0.62, 0.72), (1.0, 0.55, 0.08)
EYE, TARGET = (0.35, -1.35, 0.62), (0.0, -0.02, 0.06)
TILE_FRAMES = tuple(1 + 12 * k for k in range(TILES))


def layer_points() -> FloatArray:
    """The sheet's mesh for each layer of control values, (LAYERS, NET, NET, 3)."""
    share = np.linspace(0.0, 1.0, NET)
    bases = splines.basis(model.side_knots(), model.ORDER, share)
    return np.einsum("ai,bj,ijlk->labk", bases, bases, model.control_values()[..., 3:])


def add_sheet(scene: bpy.types.Scene, into: bpy.types.Collection) -> bpy.types.Object:
    """The sheet with a shape key per layer, keyed by each layer's share in time."""
    layers = layer_points()
    made = surface_object("Sheet", layers[0], into, checked_material())
    made.shape_key_add(name="Basis", from_mix=False)
    for index, points in enumerate(layers):
        key = made.shape_key_add(name=f"Layer {index}", from_mix=False)
        key.data.foreach_set("co", points.astype(np.float32).ravel())
    frames = np.arange(scene.frame_start, scene.frame_end + 1)
    weights = model.layer_weights((frames - 1) / scene.render.fps)
    for index, column in enumerate(weights.T):
        path = f'key_blocks["Layer {index}"].value'
        key_values(made.data.shape_keys, path, frames, column[:, None], array=False)
    return made


def checked_material() -> bpy.types.Material:
    """Squares of two greys: they show how the sheet bends."""
    material = plain_material("Sheet", (0.5, 0.5, 0.5), 0.35)
    tree = node_tree(material)
    place = tree.nodes.new("ShaderNodeTexCoord")
    squares = tree.nodes.new("ShaderNodeTexChecker")
    squares.inputs["Scale"].default_value = 12.0
    squares.inputs["Color1"].default_value = (0.50, 0.53, 0.58, 1.0)
    squares.inputs["Color2"].default_value = (0.30, 0.33, 0.38, 1.0)
    flat = tree.nodes.new("ShaderNodeVectorMath")
    flat.operation = "MULTIPLY_ADD"  # all at one height, away from the squares' edges, which would flicker
    flat.inputs[1].default_value, flat.inputs[2].default_value = (1.0, 1.0, 0.0), (0.0, 0.0, 0.04)
    tree.links.new(place.outputs["Generated"], flat.inputs[0])
    tree.links.new(flat.outputs[0], squares.inputs["Vector"])
    tree.links.new(squares.outputs["Color"], tree.nodes["Principled BSDF"].inputs["Base Color"])
    return material


def add_joint(scene: bpy.types.Scene, made: bpy.types.Object) -> bpy.types.Object:
    """Add the ball as a body on the moving surface, through the add-on; returns the joint's Empty."""

    body = Body(made)
    center = (0.0, 0.0, model.BALL_RADIUS)
    bodies_and_joints.make_body(scene, body, mass=model.BALL_MASS, center=center, inertia=model.inertia())
    joint = bodies_and_joints.add_joint(
        scene, parent=None, child=body, kind="spline_surface", matrix=np.eye(4), name="Sheet joint"
    )
    surface = model.surface()
    settings = joint.condyle.joint
    settings.sequence = surface.sequence
    settings.grid, settings.grid_orders = surface.values.shape[:-1], surface.order
    settings.grid_periodic, settings.moving = surface.periodic, True
    frames = surface.control_frames.reshape(-1, 4, 4)
    joint.empty_display_size = 0.02
    bodies_and_joints.set_control_frames(scene, joint, frames, np.concatenate(surface.knots))
    for row, value in zip(settings.coordinates, model.START, strict=False):
        row.start, row.damping, row.limits = value, model.DAMPING, "NONE"
    return joint


def make() -> Made:
    """The sheet and the ball in a new file, ready to bake."""
    scene, (things, stage) = new_file("Sheet", ["Things", "Stage"])
    set_simulation(scene, model.SECONDS, model.TIME_STEP)
    sheet = add_sheet(scene, things)
    solid = moved(ball(model.BALL_RADIUS, 24, 48), (0.0, 0.0, model.BALL_RADIUS))
    made = faceted_object("Ball", *solid, things, plain_material("Ball", CYAN, 0.25), smooth=True)
    joint = add_joint(scene, made)
    add_studio(scene, stage, TARGET, 0.7)
    scene.frame_set(1)
    return Made(scene=scene, sheet=sheet, ball=made, joint=joint, stage=stage)


def sheet_error(sheet: Made) -> float:
    """Largest distance [m] of the shown sheet from the joint's surface, at every 24th frame."""
    share = np.linspace(0.0, 1.0, NET)
    places = np.stack([*np.meshgrid(share, share, indexing="ij"), np.zeros((NET, NET))], axis=-1)
    surface, largest = model.surface(), 0.0
    for frame in range(1, sheet.scene.frame_end + 1, 24):
        places[..., 2] = (frame - 1) / sheet.scene.render.fps
        wanted = surface.transform(places)[..., :3, 3].reshape(-1, 3)
        largest = max(largest, float(np.abs(shown_vertices(sheet.scene, sheet.sheet, frame) - wanted).max()))
    sheet.scene.frame_set(1)
    return largest


def energy_balance(seconds: float = 1.0, dt: float = 1e-3) -> float:
    """Difference of the energy and the sheet's work without damping, over the largest kinetic energy; Runge-Kutta 4.

    The sheet works on the ball by the generalized force of time, given by inverse dynamics.
    """
    of = model.model(damping=0.0)
    result = ph.simulate(of, model.start(of), seconds, dt, "rk4")
    power = []
    for time, q, qd in zip(result.t, result.q, result.qd, strict=True):
        state = of.state(q=q, qd=qd, time=time)
        power.append(ph.inverse_dynamics(of, state, ph.forward_dynamics(of, state))[-1])
    power = np.array(power)
    # Simpson over pairs of steps: of fourth order, like the motion
    work = np.concatenate([[0.0], np.cumsum(dt / 3.0 * (power[:-2:2] + 4.0 * power[1:-1:2] + power[2::2]))])
    gained = result.energy[::2, 2] - result.energy[0, 2]
    return float(np.abs(gained - work).max() / result.energy[:, 0].max())


def clearance(report: Any) -> tuple[float, float]:
    """Smallest and largest distance [m] from the ball's middle to the sheet around it, over every eighth frame."""
    near = np.linspace(-0.06, 0.06, 41)  # of a side: 36 mm either way
    surface, nearest = model.surface(), []
    for q, pose in zip(report.result.q[::8], report.poses["Ball"][::8], strict=True):
        places = np.stack(
            [*np.meshgrid(q[0] + near, q[1] + near, indexing="ij"), np.full((41, 41), q[2])], axis=-1
        )
        middle = pose[:3, 3] + model.BALL_RADIUS * pose[:3, 2]
        points = surface.transform(places.reshape(-1, 3))[:, :3, 3]
        nearest.append(np.linalg.norm(points - middle, axis=1).min())
    return float(min(nearest)), float(max(nearest))


def measure(sheet: Made, progress: Progress) -> tuple[Any, dict[str, str]]:
    """Simulate and bake; raises SceneError if the ball leaves the sheet or the bake differs from the simulation."""
    report, error = bake_shown(sheet.scene, progress)
    drawn = check("the shown sheet's distance from the joint", sheet_error(sheet), 0.0, SHOWN_WITHIN, "m")
    balance = check("the energy's distance from the sheet's work", energy_balance(), 0.0, 1e-6)
    near, far = clearance(report)
    radius = model.BALL_RADIUS
    for value in (near, far):
        check("the ball's middle above the sheet", value, 0.99 * radius, 1.01 * radius, "m")
    reach = max(float(np.ptp(report.result.q[:, k])) for k in (0, 1))
    check("the ball's way along a side", reach, 0.3, 0.9, "sides")
    figures = {
        "ball": f"{reach:.2f} of a side there and back, {report.times[-1]:.1f} s",
        "bake against simulation": f"{error:.1e} m, or of a matrix entry",
        "shown sheet against the joint": f"{1e3 * drawn:.1e} mm",
        "energy against the sheet's work": f"{balance:.1e} of the largest kinetic energy",
        "ball's middle above the sheet": f"{1e3 * near:.2f} to {1e3 * far:.2f} mm (radius {1e3 * radius:.0f})",
    }
    return report, figures


def draw(sheet: Made, report: Any, progress: Progress) -> Image:
    """The contact sheet; the path of the ball's middle stays in the scene as a thread."""
    poses = report.poses["Ball"]
    way = poses[: TILE_FRAMES[-1] + 24, :3, 3] + model.BALL_RADIUS * poses[: TILE_FRAMES[-1] + 24, :3, 2]
    curve_object("Way of the ball", way, 0.0022, PATH_COLOR, sheet.stage)
    lines = (
        "A ball on a deforming sheet",
        "Spline surface joint; its third direction is time",
        f"{model.ROWS} × {model.ROWS} × {model.LAYERS} control values",
    )
    captions = [(frame, (f"t = {(frame - 1) / 24:.1f} s",)) for frame in TILE_FRAMES]
    hero = Shot((0.3, -1.25, 1.1), (0.0, 0.0, 0.02), 0.84, 1 + 30)
    tile = Shot(EYE, TARGET, 0.88, hidden=["Way of the ball"])
    return contact_sheet(sheet.scene, hero, tile, captions, lines, progress)


RECIPE = Recipe("sheet", make, measure, draw)
build = RECIPE.build

if __name__ == "__main__":
    RECIPE.main(__doc__)
