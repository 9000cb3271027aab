"""The hidden Empties that move as a joint does, one for each motion, driven by the joint's sliders.

Drivers of type average and simple expressions use no Python, so files need neither trust nor the add-on.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import bpy
import numpy as np
from bpy.types import FCurve, Object, Scene
from mathutils import Matrix

from ..blender import compat, physics_access
from ..curves import fcurve_arrays
from ..curves.slopes import Slopes
from ..data import references
from .driver_motions import Curve, Motion, Sum

#: longest expression of Blender
LONGEST = 255
#: Blender merges keys of a curve closer than 0.01
CLOSEST = 0.02


class Inputs:
    """The sliders of a joint as drivers read them: its Empty, the properties, and SI units per unit of each.

    ``bounds`` has, by index of a slider, limits in its units that clamp its value: keys may exceed its range.
    """

    def __init__(
        self, item: Object, names: list[str], factors: list[float], bounds: dict[int, tuple[float, float]]
    ) -> None:
        self.item, self.names, self.factors, self.bounds = item, names, factors, bounds

    def text(self, reading: int) -> str:
        """Expression that reads a slider."""
        if reading not in self.bounds:
            return f"q{reading}"
        lower, upper = self.bounds[reading]
        return f"min(max(q{reading},{lower:.9g}),{upper:.9g})"


def chain_of(item: Object) -> list[Object]:
    """A joint's followers from its Empty outwards; empty if it has none of its own.

    A duplicated joint still points at its original's.
    """
    chain: list[Any] = []
    last = item.condyle.joint.follower
    while last is not None and last != item and last not in chain:
        chain.insert(0, last)
        last = above(last)
    return chain if last == item else []


def above(follower: Object) -> Object | None:
    """The parent of a follower, or the joint of one that hangs on nothing."""
    return follower.parent or follower.condyle.frame_of


def arrange(
    scene: Scene, inputs: Inputs, motions: list[Motion], scale: float, base: np.ndarray | None = None
) -> None:
    """Make or update the Empties of a joint with their drivers, one for each motion.

    Args:
        motions: in Blender units. scale: of the joint's Empty.
        base: pose (4, 4) on which they hang in the world; None: on the joint's Empty.
    """
    needs_helpers = any(_needs_helpers(motion) for motion in motions)
    if base is not None:
        motions = [replace(motions[0], frame=base @ motions[0].frame), *motions[1:]]
    if needs_helpers or base is not None:
        motions = [Motion(np.eye(4)), *motions]
    chain = _ensure_chain(scene, inputs.item, len(motions))
    holder = _Drivers(chain[0], inputs, None)
    everything = [holder, *(_Drivers(follower, inputs, holder) for follower in chain[1:])]
    parent = inputs.item if base is None else None
    chain[0].condyle.frame_of = None if base is None else inputs.item
    for drivers, motion in zip(everything, motions):
        follower = drivers.follower
        follower.parent = parent
        frame = motion.frame.copy()
        frame[:3, 3] /= scale
        follower.matrix_parent_inverse = Matrix(frame.tolist())
        _set_up(drivers, motion, scale)
        parent = follower
    for drivers in everything:
        drivers.remove_others()


def _needs_helpers(motion: Motion) -> bool:
    """Whether drivers of a motion need helper properties.

    These are on a separate Empty, the first: if drivers of one object read properties that other drivers of it set,
    Blender takes the previous value once in 100 000 evaluations (seen in 5.0 with both cores busy).
    """
    sums = [*motion.shift, *motion.turns.values()]
    if any(len(terms) > 1 or (len(terms) == 1 and len(terms[0]) > 1) for terms in sums):
        return True
    return motion.vector is not None and hasattr(motion.vector[2], "angle")


def remove(item: Object) -> None:
    """Delete a joint's own followers."""
    for follower in reversed(chain_of(item)):
        bpy.data.objects.remove(follower)


def _ensure_chain(scene: Scene, item: Object, count: int) -> list[Object]:
    """Keeps the last Empty, since the child's constraints point at it."""
    settings = item.condyle.joint
    chain = chain_of(item)
    last = settings.follower
    if not chain and last is not None and last.parent is None:  # its parent was cleared by hand
        chain = [last]
    if not all(references.in_scene(scene, follower) for follower in chain):
        chain = [follower for follower in chain[:-1] if references.in_scene(scene, follower)]
        chain.append(_new(item, "Follower"))
    elif not chain:
        chain = [_new(item, "Follower")]
    while len(chain) > count:
        bpy.data.objects.remove(chain.pop(0))
    while len(chain) < count:
        chain.insert(0, _new(item, "Step"))
    settings.follower = chain[-1]
    _hide(chain)
    return chain


def put_away(item: Object) -> bool:
    """Hide a joint's followers again, which Blender shows and selects after pasting; returns whether any was shown."""
    seen = [follower for follower in chain_of(item) if not (follower.hide_viewport and follower.hide_select)]
    for follower in seen:
        if follower.select_get():
            follower.select_set(False)
    _hide(seen)
    return bool(seen)


def _hide(chain: list[Object]) -> None:
    for follower in chain:
        follower.hide_viewport = follower.hide_select = True


def _new(item: Object, name: str) -> Object:
    follower = bpy.data.objects.new(f"{item.name} {name}", None)
    for collection in item.users_collection:
        collection.objects.link(follower)
    follower.empty_display_size = 0.01
    return follower


def _set_up(drivers: _Drivers, motion: Motion, scale: float) -> None:
    """Give an Empty the drivers of a motion."""
    follower = drivers.follower
    letters = "".join(motion.turns)
    mode = "QUATERNION"
    if motion.turns:
        mode = "".join(sorted("xyz", key=lambda letter: (letters + "xyz").index(letter)))[::-1].upper()
    elif motion.vector is not None:
        mode = "AXIS_ANGLE"
    if follower.rotation_mode != mode:
        follower.rotation_mode = mode
    for axis, terms in enumerate(motion.shift):
        drivers.sum("location", axis, terms, 1.0 / scale)
    for letter, terms in motion.turns.items():
        drivers.sum("rotation_euler", "xyz".index(letter), terms, 1.0)
    if motion.quaternions is not None:
        curve = motion.quaternions
        for index in range(4):
            part = Curve(curve.weights, curve.places, curve.values[:, index], curve.rates[:, index])
            drivers.curve("rotation_quaternion", index, part, 1.0)
    if motion.vector is not None:
        drivers.vector(*motion.vector)


class _Drivers:
    """Makes the drivers of one Empty, reusing existing ones."""

    def __init__(self, follower: Object, inputs: Inputs, holder: _Drivers | None) -> None:
        self.follower, self.inputs, self.holder = follower, inputs, holder or self
        self.made: set[tuple[str, int]] = set()
        found = follower.animation_data.drivers if follower.animation_data else ()
        self.known = {(curve.data_path, curve.array_index): curve for curve in found}
        self.helpers = 0

    def sum(self, path: str, index: int, terms: Sum, factor: float) -> None:
        """Drive a channel by a sum of products: by one curve, or through helper properties and an expression."""
        if len(terms) == 1 and len(terms[0]) == 1:
            self.curve(path, index, terms[0][0], factor)
            return
        names = [self._helper(curve) for term in terms for curve in term]
        following = iter(names)
        products = ["*".join(next(following) for _ in term) for term in terms]
        if products:
            self._expression(path, index, list(_short(products)), factor)

    def curve(self, path: str, index: int, curve: Curve, factor: float) -> None:
        """Drive a channel by a function of readings."""
        names, factors = self.inputs.names, self.inputs.factors
        spacing = float(np.diff(curve.places).min())
        stretch = 1.0 if spacing > CLOSEST else CLOSEST / spacing
        weights = {reading: weight * factors[reading] * stretch for reading, weight in curve.weights.items()}
        sources = {f"q{reading}": (self.inputs.item, f'["{names[reading]}"]') for reading in weights}
        text = "+".join(f"{weight!r}*{self.inputs.text(reading)}" for reading, weight in weights.items())
        if list(weights.values()) == [1.0] and not self.inputs.bounds.keys() & weights:
            text = ""
        made = self._driver(path, index, sources, text)
        values, rates = factor * curve.values[:, None], factor / stretch * curve.rates[:, None]
        compat.give(made, *fcurve_arrays.made(stretch * curve.places, values, Slopes.smooth(rates)))
        made.update()

    def vector(
        self, first: int, sign: float, limit: physics_access.ReachCone | physics_access.RotationLimit | None
    ) -> None:
        """Turn the Empty by a rotation vector: its length is the angle, its direction the axis; limits shorten it."""
        path = "rotation_axis_angle"
        sources = {
            letter: (self.inputs.item, f'["{self.inputs.names[first + k]}"]')
            for k, letter in enumerate("xyz")
        }
        for k, letter in enumerate("xyz", 1):
            self._plain(path, k, sources, letter if sign > 0 else f"-{letter}")
        square = "(x*x+y*y+z*z)"
        most = "" if limit is None else self._most(sources, square, limit)
        text = f"min(sqrt{square},{most})" if most else f"sqrt{square}"
        self._plain(path, 0, {**sources, **self._own_helpers(most)}, text)

    def _most(
        self,
        sources: dict[str, tuple[Any, str]],
        square: str,
        limit: physics_access.ReachCone | physics_access.RotationLimit,
    ) -> str:
        """Expression for the largest angle within a limit along the vector; very large without a limit."""
        if hasattr(limit, "most"):
            weights = [f"{most**2:.6g}*{letter}*{letter}" for most, letter in zip(limit.most, "xyz")]
            return f"sqrt(({'+'.join(weights)})/max({square},1e-12))"
        # with d = a . r and s = |r|^2, the tilt t of a is cos t = d^2 / s + (1 - d^2 / s) cos |r|
        along = self._helper_of(
            sources, "+".join(f"({value:.9g})*{letter}" for value, letter in zip(limit.axis, "xyz"))
        )
        d, s = f"{along}*{along}", square
        ratio = f"({math.cos(limit.angle):.9g}*{s}-{d})/max({s}-{d},1e-12)"
        return self._helper_of(
            {**sources, **self._own_helpers(along)}, f"100.0 if {ratio}<=-1 else acos({ratio})"
        )

    def _own_helpers(self, text: str) -> dict[str, tuple[Any, str]]:
        """The helper property of that name, if there is one."""
        return self._own(text) if text in self.holder.follower else {}

    def _helper_of(self, sources: dict[str, tuple[Any, str]], text: str) -> str:
        """A helper property with the value of an expression."""
        name = self.holder.new_helper()
        self.holder._plain(f'["{name}"]', 0, sources, text)
        return name

    def remove_others(self) -> None:
        """Remove unused drivers and helper properties; channels without a driver are set to rest."""
        item = self.follower
        for key, curve in self.known.items():
            if key not in self.made:
                item.animation_data.drivers.remove(curve)
        for name in list(item.keys()):
            if name[0] == "f" and name[1:].isdigit() and (f'["{name}"]', 0) not in self.made:
                del item[name]
        still = {"location": (0, 0, 0), "rotation_euler": (0, 0, 0), "rotation_quaternion": (1, 0, 0, 0)}
        for path, values in still.items():
            for index, value in enumerate(values):
                if (path, index) not in self.made:
                    getattr(item, path)[index] = value

    def _helper(self, curve: Curve) -> str:
        name = self.holder.new_helper()
        self.holder.curve(f'["{name}"]', 0, curve, 1.0)
        return name

    def new_helper(self) -> str:
        name = f"f{self.helpers}"
        self.helpers += 1
        if name not in self.follower:
            self.follower[name] = 0.0
        return name

    def _expression(self, path: str, index: int, sums: list[str], factor: float) -> None:
        """A channel as a factor times a sum of short texts; all but one become helpers."""
        while len(sums) > 1:
            name = self._helper_of(self._own(sums[0]), sums[0])
            sums = list(_short([name, *sums[1:]]))
        text = sums[0] if factor == 1.0 else f"{factor!r}*({sums[0]})"
        self._plain(path, index, self._own(sums[0]), text)

    def _own(self, text: str) -> dict[str, tuple[Any, str]]:
        names = sorted(set(text.replace("*", "+").split("+")))
        return {name: (self.holder.follower, f'["{name}"]') for name in names}

    def _plain(self, path: str, index: int, sources: dict[str, tuple[Any, str]], text: str) -> None:
        """A driver without a curve."""
        self._driver(path, index, sources, text).keyframe_points.clear()

    def _driver(self, path: str, index: int, sources: dict[str, tuple[Any, str]], text: str) -> FCurve:
        """Add a driver to a channel; without an expression it copies its only source."""
        self.made.add((path, index))
        curve = self.known.get((path, index))
        if curve is None:
            is_property = path.startswith("[")
            curve = self.follower.driver_add(path) if is_property else self.follower.driver_add(path, index)
            for modifier in list(curve.modifiers):
                curve.modifiers.remove(modifier)
            curve.extrapolation = "LINEAR"
        driver = curve.driver
        driver.type = "SCRIPTED" if text else "AVERAGE"
        have = {
            name: (each.targets[0].id, each.targets[0].data_path) for name, each in driver.variables.items()
        }
        if have != sources:
            for variable in list(driver.variables):
                driver.variables.remove(variable)
            for name, (source, source_path) in sources.items():
                variable = driver.variables.new()
                variable.name = name
                variable.targets[0].id, variable.targets[0].data_path = source, source_path
        if text and driver.expression != text:
            driver.expression = text
        return curve


def _short(products: list[str]) -> Iterator[str]:
    """Products joined by +, in texts short enough for another factor."""
    text = ""
    for product in products:
        if text and len(text) + len(product) > LONGEST - 40:
            yield text
            text = ""
        text = f"{text}+{product}" if text else product
    yield text
