"""Settings of Wiggle 2 and Jiggle Physics on bones, and the chains that move about as they do.

Both add-ons move the tips of bones once a frame, by positions. Sideways and for small swings that is linear: tips x
(n,) of a chain of n bones of equal length with the same settings, with the steps u from the frame before, go to
P (x + d u + a dt^2) at an acceleration a. Of a mode for which P is the number p the powers z = exp(s dt) are the roots
of z^2 - p (1 + d) z + p d, and they give the frequency and the damping ratio: w^2 = s1 s2, 2 ratio w = -(s1 + s2). Most
of the damping comes from p: it depends on the frame rate, and a spring constant does not show it.

- Wiggle 2: d = 1 - damp dt. P goes through all bones `iterations` times: a tip goes by the share
  stiff dt^2 / iterations to where its parent points, and its parent goes back by half of that in a chain, but for the
  last time. p is the largest eigenvalue.
- Jiggle Physics: d = 1 - friction. P brings each tip by the share angle_elasticity^2 to where its parent points, and
  moves no parent: p is 1 - share in a chain of any length. Softened elasticity is that of a swing by `SOFTENED`.

A tip hangs down by a dt^2 p / (1 - p), that of a rod or chain of Condyle by 1.5 a / w^2, of a sliding bone by a / w^2:
these give the shares of gravity and drag. Drag damps the swing, too, so that the ratio of the springs is less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from bpy.types import Object, PoseBone, Scene

from ..blender import units
from ..blender.physics_access import model_error
from ..data import references
from ..data.references import Body
from . import chains

SOFTENED = 0.2  # of a bone's length
LOOSEST, LEAST = 1e-4, 1e-9  # share of the way back in a frame, and size of a power of the recursion
LEVER = {"spherical": 1.5, "translational": 1.0}
#: defaults of Wiggle 2, without and with the suffix "_head", and of Jiggle Physics
WIGGLE = {"stiff": 400.0, "damp": 1.0, "gravity": 1.0, "chain": True}
JIGGLE = {"angle_elasticity": 0.6, "elasticity_soften": 0.0, "friction": 0.1, "air_drag": 0.0, "gravity": 1.0}


@dataclass(frozen=True)
class Found:
    """A bone with settings of another add-on: the kind of joint that moves alike, and how."""

    body: Body
    source: str
    kind: str
    tuning: chains.Tuning


def stored(owner: Any, name: str, default: Any = None) -> Any:
    """A property of another add-on: as it is registered, else as the file has it, which may have no such add-on."""
    if name in getattr(getattr(owner, "bl_rna", None), "properties", ()):
        return getattr(owner, name)
    value = owner.get(name)
    if value is None and hasattr(owner, "bl_system_properties_get"):  # Blender 5
        value = (owner.bl_system_properties_get() or {}).get(name)
    return default if value is None else value


def find(scene: Scene) -> list[Found]:
    """Bones of the scene's armatures that either add-on moves, carriers first; muted ones are none."""
    rigs = [item for item in scene.objects if item.type == "ARMATURE"]
    return [found for rig in rigs for part in (_wiggle, _jiggle) for found in part(scene, rig)]


def convert(scene: Scene) -> list[Found]:
    """Make chains of all bones that either add-on moves and that have no joint; returns these.

    Raises:
        ModelError: there is none, or one cannot be simulated.
    """
    found = [each for each in find(scene) if references.joint_of(scene, each.body) is None]
    if not found:
        raise model_error("no bone without a joint has settings of Wiggle 2 or Jiggle Physics")
    for kind in LEVER:
        chosen = [each for each in found if each.kind == kind]
        if chosen:
            chains.add(scene, [each.body for each in chosen], kind, chosen[0].tuning)
        for each in chosen:
            chains.tune(each.body, each.tuning)
    return found


def mute(found: list[Found]) -> None:
    """Mute the armatures in the add-on of their settings, where that is installed."""
    for rig in {each.body.object for each in found}:
        if "wiggle_mute" in rig.bl_rna.properties:
            rig.wiggle_mute = True
        if "jiggle" in rig.bl_rna.properties:
            rig.jiggle.mute = True


def wiggle_figures(
    settings: Mapping[str, Any], links: int, dt: float, iterations: int = 2, kind: str = "spherical"
) -> chains.Tuning:
    """How a chain of so many bones swings in Wiggle 2 with a frame each dt [s]; kind: of its joints."""
    damp, chain = float(settings["damp"]), bool(settings["chain"])
    share = min(max(settings["stiff"] * dt * dt, LOOSEST) / iterations, 1.0)
    back = np.eye(links)
    for turn in range(iterations):
        given = 0.5 if chain and turn + 1 < iterations else 0.0
        for k in range(links):
            pointed = 2.0 * back[k - 1] - (back[k - 2] if k > 1 else 0.0) if k else 0.0
            way = share * (pointed - back[k])
            back[k] += (1.0 - (given if k else 0.0)) * way
            if k:
                back[k - 1] -= given * way
    left = float(np.abs(np.linalg.eigvals(back)).max())
    return _tuning(left, max(1.0 - damp * dt, 0.0), dt, settings["gravity"], min(damp, 1.0 / dt), kind)


def jiggle_figures(settings: Mapping[str, float], dt: float) -> chains.Tuning:
    """How a chain swings in Jiggle Physics with a frame each dt [s]."""
    softer = SOFTENED ** (settings["elasticity_soften"] ** 2)
    left, loss = 1.0 - max(settings["angle_elasticity"] ** 2 * softer, LOOSEST), settings["air_drag"] / dt
    return _tuning(left, 1.0 - settings["friction"], dt, settings["gravity"], loss, "spherical")


def _tuning(left: float, kept: float, dt: float, gravity: float, loss: float, kind: str) -> chains.Tuning:
    """The chain that swings as a mode of p = left, d = kept. loss: of speed in the air [1/s]."""
    left = min(max(left, LEAST), 1.0 - LOOSEST**2)
    powers = np.roots([1.0, -left * (1.0 + kept), left * max(kept, LEAST)]).astype(complex)
    rates = np.log(powers) / dt
    speed = float(np.sqrt(np.abs(rates[0] * rates[1])))
    share = min(dt * dt * left / (1.0 - left) * speed**2 / LEVER[kind], 1.0)
    ratio = (-float(rates.sum().real) - loss * share) / (2.0 * speed)
    return chains.Tuning(speed / (2.0 * np.pi), max(ratio, 0.0), gravity * share, loss * share)


def _wiggle(scene: Scene, rig: Object) -> Iterator[Found]:
    """Bones that Wiggle 2 moves: by their tails, or by their heads alone."""
    iterations = int(stored(stored(scene, "wiggle", {}), "iterations", 2))

    def moves(bone: PoseBone) -> bool:
        by_head = stored(bone, "wiggle_head") and not bone.bone.use_connect
        return bool((stored(bone, "wiggle_tail") or by_head) and not stored(bone, "wiggle_mute"))

    for bone, links in _links(rig, moves):
        tail = bool(stored(bone, "wiggle_tail"))
        end = "" if tail else "_head"
        figures = {name: stored(bone, f"wiggle_{name}{end}", value) for name, value in WIGGLE.items()}
        kind = "spherical" if tail else "translational"
        dt, count = 1.0 / units.frames_per_second(scene), links if tail else 1
        made = wiggle_figures(figures, count, dt, iterations, kind)
        yield Found(Body(rig, bone.name), "Wiggle 2", kind, made)


def _jiggle(scene: Scene, rig: Object) -> Iterator[Found]:
    """Bones that Jiggle Physics moves."""

    def moves(bone: PoseBone) -> bool:
        return bool(stored(stored(bone, "jiggle", {}), "enable"))

    for bone in filter(moves, rig.pose.bones):
        figures = {name: float(stored(bone, f"jiggle_{name}", value)) for name, value in JIGGLE.items()}
        made = jiggle_figures(figures, 1.0 / units.frames_per_second(scene))
        yield Found(Body(rig, bone.name), "Jiggle Physics", "spherical", made)


def _links(rig: Object, moves: Callable[[PoseBone], bool]) -> Iterator[tuple[PoseBone, int]]:
    """Bones that an add-on moves, and how many are in the longest chain that each is in."""
    chosen = {bone.name: bone for bone in rig.pose.bones if moves(bone)}
    above = {
        name: [each for each in bone.parent_recursive if each.name in chosen] for name, bone in chosen.items()
    }
    below = dict.fromkeys(chosen, 0)
    for each in above.values():
        for distance, bone in enumerate(each, start=1):
            below[bone.name] = max(below[bone.name], distance)
    for name, bone in chosen.items():
        yield bone, len(above[name]) + 1 + below[name]
