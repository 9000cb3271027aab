"""Our joints as OpenSim's: exactly where it has them, others with one coordinate as splines."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from .. import joints
from .._typing import FloatArray
from ..errors import ModelError
from ..geometry import lie
from ..joints.base import IDENTITY
from ..joints.symbols import facing
from .opensim_out import angles, function_or_spline, made, splines

PROBE = 0.3  # rad or m: a move by which a joint's screws are measured
WIDE = 2.0 * np.pi  # end of the splines of a coordinate without limits
EXACT = 1e-12  # of poses, round-off
STILL = joints.Linear(0.0, 0.0)
AXES = np.eye(3)


@dataclass(frozen=True)
class Form:
    """A joint of OpenSim.

    Attributes:
        tag: its class. transform: the SpatialTransform of a custom joint, with numbers in place of coordinates' names.
        values: other entries.
        coordinates: ours, by their numbers in our joint, in OpenSim's order; with `angles` OpenSim's are three angles
            about x, y and z and, of a free joint, the position, in place of ours.
        before, after: poses (4, 4) before and after the motion. turned: whether parent and child change places.
        error: of its poses [m, rad].
    """

    tag: str
    transform: Element | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    coordinates: tuple[int, ...] = ()
    angles: bool = False
    before: FloatArray = field(default_factory=lambda: IDENTITY)
    after: FloatArray = field(default_factory=lambda: IDENTITY)
    turned: bool = False
    error: float = 0.0


def form_of(joint: joints.Joint, held: Any, span: FloatArray, tolerance: float) -> Form:
    """OpenSim's joint.

    Args:
        held: values of coordinates that keep them (n,), nan for others. span: (n, 2) of the coordinates that count.
        tolerance: of a fitted joint [m, rad].

    Raises:
        ModelError: there is none.
    """
    if isinstance(joint, joints.Inverted):
        inner = form_of(joint.joint, held, span, tolerance)
        if isinstance(joint.joint, joints.Scapulothoracic):
            raise ModelError("OpenSim's scapulothoracic joint cannot be turned round")
        return replace(inner, turned=not inner.turned)
    if any(joint.prescribed):
        raise ModelError("OpenSim has no joint that moves by time")
    if isinstance(joint, joints.Fixed):
        return Form("WeldJoint")
    if isinstance(joint, joints.Hinge):
        turn = facing(np.zeros(3), np.array(joint.axis))
        return Form("PinJoint", coordinates=(0,), before=turn, after=lie.inverse(turn))
    if isinstance(joint, joints.Slider):
        turn = facing(np.zeros(3), np.array(joint.axis))
        turn[:3, :3] = turn[:3, [2, 0, 1]]
        return Form("SliderJoint", coordinates=(0,), before=turn, after=lie.inverse(turn))
    if isinstance(joint, joints.Spherical | joints.Euler | joints.RollPitchYaw):
        return Form(
            "BallJoint", coordinates=(0, 1, 2), angles=True, turned=isinstance(joint, joints.RollPitchYaw)
        )
    if isinstance(joint, joints.Free):  # with the rotation first it is the inverse of one
        order = (0, 1, 2, 3, 4, 5) if joint.rotation_first else (3, 4, 5, 0, 1, 2)
        return Form("FreeJoint", coordinates=order, angles=True, turned=joint.rotation_first)
    if isinstance(joint, joints.Scapulothoracic):
        values = {
            "thoracic_ellipsoid_radii_x_y_z": joint.radii,
            "scapula_winging_axis_origin": joint.winging_origin,
            "scapula_winging_axis_direction": joint.winging_direction,
        }
        return Form("ScapulothoracicJoint", values=values, coordinates=(0, 1, 2, 3))
    if isinstance(joint, joints.ConstantCurvature):
        values = {"length": joint.rod_length, "neutral_angle_x_z_y": joint.neutral}
        return Form("ConstantCurvatureJoint", values=values, coordinates=(0, 1, 2))
    if (
        isinstance(joint, joints.Ellipsoid)
        and joint.winging == 0.0
        and joint.normal == "opensim"
        and held[3] == 0.0
    ):
        return Form(
            "EllipsoidJoint", values={"radii_x_y_z": (joint.a, joint.b, joint.c)}, coordinates=(0, 1, 2)
        )
    custom = joint if isinstance(joint, joints.Custom) else _of_screws(joint)
    if custom is not None:
        transform, error = _transform(custom, span, tolerance)
        return Form("CustomJoint", transform, coordinates=tuple(range(joint.num_coordinates)), error=error)
    if joint.num_coordinates != 1:
        raise ModelError(f"OpenSim has no joint of type {joint.type!r}")
    return _fitted(joint, span[0], tolerance)


def _of_screws(joint: joints.Joint) -> joints.Custom | None:
    """A joint of at most three translations and three rotations about axes through one point, in any order."""
    count = joint.num_coordinates
    kinds: tuple[list[Any], list[Any]] = [], []
    for name, step in zip(joint.coordinate_names, PROBE * np.eye(count)):
        w, v = np.split(lie.log(joint.transform(step)) / PROBE, 2)
        turns = bool(np.linalg.norm(w) > 0.5)
        kinds[turns].append((w if turns else v, joints.Linear(), name))
    if any(len(entries) > 3 for entries in kinds):
        return None
    units = tuple("m" if unit == "m" else "rad" for unit in joint.coordinate_units)
    looks = np.random.default_rng(0).uniform(-1.0, 1.0, (8, count))
    wanted, still = joint.transform(looks), [(axis, STILL, None) for axis in AXES]
    slides = [*kinds[0], *still][:3]
    for order in permutations(kinds[1]):
        try:
            found = joints.Custom(joint.coordinate_names, tuple([*order, *still][:3]), tuple(slides), units)
        except ModelError:
            return None
        if np.abs(found.transform(looks) - wanted).max() < EXACT:
            return found
    return None


def _transform(joint: joints.Custom, span: FloatArray, tolerance: float) -> tuple[Element, float]:
    """The SpatialTransform, and a bound of the error of functions that became splines."""
    axes, whole = [], 0.0
    for kind, entries in (("rotation", joint.rotations), ("translation", joint.translations)):
        for k, ((_, function, name), direction) in enumerate(zip(entries, _independent(entries)), 1):
            shape: joints.Function = (
                function if name is not None else joints.Linear(0.0, float(function(0.0)))
            )
            index = 0 if name is None else joint.coordinates.index(name)
            low, high = np.where(np.isfinite(span[index]), span[index], [-WIDE, WIDE])
            element, error = function_or_spline(shape, (float(low), float(high)), tolerance / 6.0)
            whole += error
            number = "" if name is None else str(index)
            axes.append(made("TransformAxis", element, name=f"{kind}{k}", coordinates=number, axis=direction))
    return made("SpatialTransform", *axes), whole


def _independent(entries: Any) -> list[FloatArray]:
    """Axes of which those that nothing moves are across the others, as OpenSim allows no parallel ones."""
    kept = [
        np.array(axis) for axis, function, name in entries if name is not None or float(function(0.0)) != 0.0
    ]
    spare = list(
        np.linalg.svd(np.array(kept).reshape(-1, 3))[2][np.linalg.matrix_rank(kept) if kept else 0 :]
    )
    return [
        np.array(axis) if name is not None or float(function(0.0)) != 0.0 else spare.pop()
        for axis, function, name in entries
    ]


def _fitted(joint: joints.Joint, span: FloatArray, tolerance: float) -> Form:
    """A joint with one coordinate: three angles and three displacements as splines, about the axis of most turning."""
    if isinstance(joint, joints.SplineCurve) and joint.periodic and not np.isfinite(span).any():
        span = np.array([0.0, joint.period])
    if not np.isfinite(span).all():
        raise ModelError(f"a joint of type {joint.type!r} without limits has no splines")
    looks = joint.transform(np.linspace(span[0], span[1], 65)[:, None])
    before = looks[32].copy()
    moved = lie.inverse(before) @ looks
    spins = lie.so3_log(moved[1:, :3, :3] @ moved[:-1, :3, :3].swapaxes(1, 2))
    turn = np.eye(4)
    turn[:3, :3] = facing(np.zeros(3), np.linalg.eigh(spins.T @ spins)[1][:, 2])[:3, [2, 0, 1]]
    before, after = before @ turn, lie.inverse(turn)

    def relative(x: FloatArray) -> FloatArray:
        return lie.inverse(before) @ joint.transform(x[:, None]) @ turn

    def numbers(x: FloatArray) -> FloatArray:
        poses = relative(x)
        turns = np.unwrap([angles(pose[:3, :3]) for pose in poses], axis=0)
        return np.concatenate([turns, poses[:, :3, 3]], axis=1)

    def custom(found: Any) -> joints.Custom:
        entries = [(axis, spline, "q") for axis, spline in zip((*AXES, *AXES), found)]
        return joints.Custom(("q",), tuple(entries[:3]), tuple(entries[3:]))

    def miss(found: Any, x: FloatArray) -> float:
        apart = lie.inverse(relative(x)) @ custom(found).transform(x[:, None])
        turned = np.linalg.norm(lie.so3_log(apart[:, :3, :3]), axis=-1)
        return float(max(turned.max(), np.linalg.norm(apart[:, :3, 3], axis=-1).max()))

    found, error = splines(numbers, miss, (float(span[0]), float(span[1])), tolerance)
    transform, _ = _transform(custom(found), span[None], tolerance)
    return Form("CustomJoint", transform, coordinates=(0,), before=before, after=after, error=error)
