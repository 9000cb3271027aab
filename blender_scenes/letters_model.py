"""The chain of letters SIGGRAPH, joined by spline joints (Lee & Terzopoulos 2008, Fig. 5c). No Blender.

Single joints: each letter touches its parent with one fixed point, which slides along the parent's outline (a spline
curve; 8 coordinates with the hinge of the first letter). Double joints: the point of contact slides on both letters (a
curve times an inverted curve; 15 coordinates).
"""

from functools import cache
from typing import Any

import numpy as np

import physics as ph
from physics._typing import FloatArray

from .letters_shapes import HALF, LEFT, RIGHT, SAMPLE, STROKE, frames_on, skeleton, stretch

WORD = "SIGGRAPH"
DENSITY = 0.6  # kg/m of stroke: beech
LENGTH_SCALE = 0.04  # m that count as a radian along an outline: about a letter's radius of gyration
FRICTION = 2.0  # N s/m along an outline
PIN_FRICTION = 0.03  # N m s
PIN = (0.0, HALF)  # x, z [m] in the S: a pin through the top of its stroke
KINDS = (False, True)  # whether the chain's joints are double
BEHIND = 0.6  # m, from the chain with single joints to that with double ones


def name(number: int, double: bool) -> str:
    """Name of a letter's body: the word has two letters G."""
    return f"{WORD[number]} {number + 1}{' double' if double else ''}"


@cache
def outline(letter: str, side: float) -> ph.joints.SplineCurve:
    """The curve along a letter's surface on one side; z points inward on the left, as on the parent's right."""
    frames = frames_on(stretch(letter, side), inward=side == LEFT)
    return ph.joints.SplineCurve(frames, length_scale=LENGTH_SCALE)


def touching(letter: str, side: float, level: float | None = None) -> float:
    """The coordinate of a curve where the normal points straight to the side; of several, the one nearest to `level`
    [m].
    """
    curve = outline(letter, side)
    q = np.linspace(*curve.range[0], 4001)
    frames = np.asarray(curve.transform(q[:, None]))
    tilt = np.abs(frames[:, 2, 2])  # of the normal from straight to the side
    near = tilt < tilt.min() + 5e-3
    target = frames[tilt.argmin(), 2, 3] if level is None else level
    return float(q[near][np.argmin(np.abs(frames[near, 2, 3] - target))])


def contacts(number: int) -> tuple[float, float]:
    """Coordinates of the contact on the parent's right and on the letter's left side when the word is a level row. The
    side whose normal is level at one height only determines the contact; straight sides (I, stems) touch at that
    height.
    """
    parent, child = WORD[number - 1], WORD[number]
    if parent == "I":
        own = touching(child, LEFT)
        return touching(parent, RIGHT, height(child, LEFT, own)), own
    along = touching(parent, RIGHT)
    return along, touching(child, LEFT, height(parent, RIGHT, along))


def height(letter: str, side: float, q: float) -> float:
    """Height [m] of a place of an outline, in the letter."""
    return float(outline(letter, side).transform([q])[2, 3])


def mass_properties(letter: str) -> tuple[float, FloatArray, FloatArray]:
    """Mass [kg], centre of mass (3,) [m] and inertia about it (3, 3) [kg m^2] of round strokes."""
    points = np.column_stack(
        [skeleton(letter)[:, 0], np.zeros(len(skeleton(letter))), skeleton(letter)[:, 1]]
    )
    mass = DENSITY * SAMPLE * len(points)
    center = points.mean(axis=0)
    second = (points - center).T @ (points - center) * (mass / len(points))
    round_stroke = 0.5 * mass * STROKE**2 * np.eye(3)
    return mass, center, np.trace(second) * np.eye(3) - second + round_stroke


def letter_joint(number: int, double: bool) -> tuple[ph.joints.Joint, FloatArray]:
    """Joint between a letter and the one before, and the letter's pose (4, 4) in the joint's moving frame."""
    curve = outline(WORD[number - 1], RIGHT)
    own = outline(WORD[number], LEFT)
    if double:
        return ph.joints.Composite((curve, ph.joints.Inverted(own))), np.eye(4)
    place: FloatArray = np.asarray(ph.lie.inverse(own.transform([contacts(number)[1]])))
    return curve, place


def build_model(kinds: tuple[bool, ...] = KINDS, friction: float = 1.0) -> ph.Model:
    """Chains on their pins: single ones (False), double ones (True); `friction` multiplies all damping."""
    builder = ph.ModelBuilder()
    for double in kinds:
        for number in range(len(WORD)):
            add_letter(builder, number, double, friction)
    return builder.build()


def add_letter(builder: ph.ModelBuilder, number: int, double: bool, friction: float) -> None:
    """Add a letter of a chain: the first on its pin, the others on the one before."""
    mass, center, inertia = mass_properties(WORD[number])
    body: dict[str, Any] = {"name": name(number, double), "mass": mass, "com": center, "inertia": inertia}
    if number == 0:
        place, hole = np.eye(4), np.eye(4)
        place[1, 3] = BEHIND if double else 0.0
        hole[0, 3], hole[2, 3] = -PIN[0], -PIN[1]
        hinge = ph.joints.Hinge((0.0, 1.0, 0.0))
        damping = friction * PIN_FRICTION
        builder.add_body(joint=hinge, joint_in_parent=place, body_in_joint=hole, damping=damping, **body)
        return
    joint, place = letter_joint(number, double)
    builder.add_body(
        parent=name(number - 1, double), joint=joint, body_in_joint=place,
        damping=friction * FRICTION * LENGTH_SCALE**2, limits=joint.range, limit_restitution=0.0, **body,
    )  # fmt: skip


def start(model: ph.Model, kinds: tuple[bool, ...] = KINDS) -> ph.State:
    """First state: the word in a level row, at rest, in each of the model's chains."""
    q = {}
    for double in kinds:
        for number in range(1, len(WORD)):
            on_parent, on_own = contacts(number)
            q[name(number, double)] = [on_parent, on_own] if double else [on_parent]
    return model.state(q=q)


def gaps(poses: dict[int, FloatArray]) -> FloatArray:
    """Distances (8, 8) [m] between the surfaces of letters at poses (4, 4) by number; negative if they overlap."""
    places = []
    for number, pose in sorted(poses.items()):
        flat = skeleton(WORD[number])
        points = np.column_stack([flat[:, 0], np.zeros(len(flat)), flat[:, 1]])
        places.append(points @ pose[:3, :3].T + pose[:3, 3])
    found = np.full((len(places), len(places)), np.inf)
    for i, one in enumerate(places):
        for j in range(i):
            away = one[:, None] - places[j]
            apart = np.sqrt(np.einsum("nmk,nmk->nm", away, away).min())
            found[i, j] = found[j, i] = apart - 2.0 * STROKE
    return found
