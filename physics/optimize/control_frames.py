"""Control frames of spline joints as parameters of a motion.

A change of them displaces everything beyond the joint by a twist s(q) after it. In a model whose joint has six more
coordinates x behind it, held at 0, this is x = s(q). With R = ID - tau, its derivatives K, D, M by q, q' and q'', and y
of `kernels.adjoint.stage`, the change of y^T R is

    y^T K_x s + y^T D_x s' + y^T M_x s'' + R_x . s_y,

where ' is the rate along the motion and s_y the rate along y. So dynamics, elements and muscles need no derivatives of
their own, and s comes from the joint's product of exponentials alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from .._typing import FloatArray, IntArray
from ..bodies.body import Body
from ..errors import ModelError
from ..geometry import lie, splines
from ..joints import Composite, Free, Joint, SplineCurve, SplineSurface
from ..joints.spline_sites import Sites, control_twists, derivatives
from ..kernels import layout
from ..model.model import Model
from .path_points import AXES, carried

#: values at n places with their first and second rates along the motion, and their rates along y, each (n,)
Jet: TypeAlias = tuple[FloatArray, FloatArray, FloatArray, FloatArray]
COUNT = 6


def control_numbers(joint: Joint) -> FloatArray:
    """Numbers (m, 6) of a joint's control frames: rotation vector [rad] and position [m] of each of a curve; control
    values of a surface in C order; none, (0, 6), of other joints.
    """
    if isinstance(joint, SplineCurve):
        return np.concatenate([lie.so3_log(joint.frames[:, :3, :3]), joint.frames[:, :3, 3]], axis=1)
    if isinstance(joint, SplineSurface):
        return np.array(joint.values).reshape(-1, COUNT)
    return np.zeros((0, COUNT))


def with_numbers(joint: Any, numbers: FloatArray) -> Joint:
    """The spline joint with other control frames, on the same knots; itself if they are its own."""
    result: Joint = joint
    if np.array_equal(numbers, control_numbers(joint)):
        return result
    if isinstance(joint, SplineSurface):
        result = replace(joint, values=numbers.reshape(joint.values.shape))
        return result
    frames = np.tile(np.eye(4), (len(numbers), 1, 1))
    frames[:, :3, :3], frames[:, :3, 3] = lie.so3_exp(numbers[:, :3]), numbers[:, 3:]
    result = replace(joint, frames=frames)
    return result


def check_joint(model: Model, name: str) -> None:
    """ModelError if the joint of a body has no control frames, or a coordinate that changes with them."""
    joint = model.bodies[model.index(name)].joint
    if not len(control_numbers(joint)):
        raise ModelError(
            f"the joint of body {name!r}, {joint.type}, has no control frames: only spline curves and "
            "spline surfaces have, also no composite or inverted ones"
        )
    if isinstance(joint, SplineCurve) and joint.coordinate != "parameter":
        raise ModelError(
            f"control frames of body {name!r} have no gradient: its curve's coordinate is "
            f"{joint.coordinate!r}, which changes with them; take 'parameter'"
        )


@dataclass(frozen=True, eq=False)
class Followed(Composite):
    """A joint, then six coordinates that stay at 0; the joint's own keep their names."""

    def __post_init__(self) -> None:
        super().__post_init__()
        own, more = (joint.coordinate_names for joint in self.joints)
        object.__setattr__(self, "coordinate_names", (*own, *(f"displaced {name}" for name in more)))

    @property
    def prescribed(self) -> tuple[bool, ...]:
        return (*self.joints[0].prescribed, *(True,) * COUNT)


class Displaced:
    """A model in which some bodies' joints are followed by six held coordinates, and some path points carried by three;
    itself without any.

    Attributes:
        model: the wide one. bodies: numbers of those bodies. points: of those points among all muscles' (P,), rising.
        own: numbers of the coordinates (nv,) that were there before, extra: of the held ones (6 J + 3 P,).
    """

    def __init__(self, model: Model, bodies: Sequence[int] = (), points: Sequence[int] = ()) -> None:
        self.bodies, self.points, self.model = tuple(bodies), tuple(points), model
        if bodies or points:
            wide = [_followed(model, i) if i in bodies else body for i, body in enumerate(model.bodies)]
            more, muscles = carried(model, self.points)
            self.model = model.altered(bodies=[*wide, *more], muscles=muscles)
        ends = [self.model.coordinate_slice(model.body_names[i]).stop for i in bodies]
        extra = [np.arange(end - COUNT, end) for end in ends]
        behind = np.arange(-AXES * len(points), 0) + self.model.num_coordinates
        self.extra: IntArray = np.concatenate([*extra, behind]).astype(np.int64)
        self.own: IntArray = np.setdiff1d(np.arange(self.model.num_coordinates), self.extra)

    @property
    def order(self) -> IntArray:
        """Numbers of all coordinates, those behind joints last."""
        return np.concatenate([self.own, self.extra])

    def widen(self, rows: FloatArray) -> FloatArray:
        """Rows (n, nv + k) with zeros at the held coordinates."""
        if not len(self.extra):
            return np.ascontiguousarray(rows)
        wide = np.zeros((len(rows), rows.shape[1] + len(self.extra)))
        wide[:, self.kept(rows.shape[1])] = rows
        return wide

    def kept(self, width: int) -> IntArray:
        """Columns of a wide row that a row of this width has."""
        inputs = np.arange(len(self.own), width) + len(self.extra)
        return np.concatenate([self.own, inputs])


def _followed(model: Model, i: int) -> Body:
    body, rows = model.bodies[i], model.arrays[4][model.coordinate_slice(model.body_names[i])]

    def padded(values: FloatArray | None, rest: float = 0.0) -> Any:
        return None if values is None else np.concatenate([values, np.full((COUNT, *values.shape[1:]), rest)])

    names = "stiffness", "rest", "damping", "armature", "limit_restitution"
    more: dict[str, Any] = {name: padded(getattr(body, name)) for name in names}
    more |= {name: getattr(body, name) + (None,) * COUNT for name in ("elastic", "damper", "viscosity")}
    limits = padded(body.limits)
    limits[-COUNT:] = -np.inf, np.inf
    result = replace(
        body,
        joint=Followed((body.joint, Free(rotation_first=True))),
        limits=limits,
        limit_stiffness=padded(rows[:, layout.LIMIT_STIFFNESS]),
        limit_damping=padded(rows[:, layout.LIMIT_DAMPING]),
        **more,
    )
    return result.lock()


def pull_frames(joint: Any, numbers: FloatArray, motion: FloatArray, rows: FloatArray) -> FloatArray:
    """Derivatives by the numbers (m, 6) of control frames, from those by s, s', s'' and s_y at n moments, rows
    (n, 4, 6), with the motion (n, 4, coordinates): q, q', q'' and y.
    """
    if isinstance(joint, SplineSurface):
        return _pull_surface(joint, motion, rows)
    by_twist = _pull_curve(joint, motion[..., 0], rows)
    turns = by_twist[:, None, :3] @ lie.so3_right_jacobian(numbers[:, :3])
    shifts = np.einsum("mij,mj->mi", joint.frames[:, :3, :3], by_twist[:, 3:])
    return np.concatenate([turns[:, 0], shifts], axis=1)


def _times(rows: FloatArray, matrices: FloatArray) -> FloatArray:
    """Row vectors (n, 6) times matrices (n, 6, 6) or (6, 6)."""
    result: FloatArray = (rows[:, None] @ matrices)[:, 0]
    return result


def _through(z: FloatArray, phi: Jet, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Rows (n, 4, 6) after exp(z phi) into those before it, and the derivatives (n, 6) by z.

    With Q = Ad_exp(-z phi) and s the displacement before it, that after it is Q s, its rates are Q (s' - phi' ad_z s)
    and so on; dz adds phi J_r(z phi) dz, of which the rate is phi' Q dz.
    """
    value, rate, bend, along = phi
    ad = lie.ad(z)
    before = rows @ lie.adjoint_inverse(lie.exp(z * value[:, None]))
    turned = _times(before[:, 2], ad)
    by_z: FloatArray = np.einsum("in,nij->nj", np.stack([rate, bend, along]), before[:, 1:])
    by_z -= np.square(rate)[:, None] * turned
    before[:, 0] -= _times(by_z, ad)
    before[:, 1] -= 2.0 * rate[:, None] * turned
    return before, by_z + value[:, None] * _times(rows[:, 0], lie.right_jacobian(z * value[:, None]))


def _pull_curve(joint: SplineCurve, motion: FloatArray, rows: FloatArray) -> FloatArray:
    """Derivatives (m, 6) by body twists of the control frames; motion is (n, 4)."""
    frames, (q, qd, qdd, y), rows = joint.frames, motion.T.copy(), rows.copy()
    if (
        not joint.periodic
    ):  # beyond an end it goes on along s, which changes by the rate of the displacement and ad_s
        edge = np.clip(q, *joint.domain)
        out = np.nonzero(edge != q)[0]
        s, _ = derivatives(frames, Sites.at(edge[out], joint.knots, joint.order, False))
        at_end, by_s = _through(s, (q[out] - edge[out], qd[out], qdd[out], y[out]), rows[out])
        rows[out] = 0.0
        rows[out, 0], rows[out, 1] = at_end[:, 0] + _times(by_s, lie.ad(s)), by_s
        q, qd[out], qdd[out], y[out] = edge, 1.0, 0.0, 0.0
    sites, twists = Sites.at(q, joint.knots, joint.order, joint.periodic), control_twists(frames)
    by_twist, result = np.zeros_like(twists), np.zeros_like(twists)
    for k in range(joint.order - 2, -1, -1):
        slope = sites.slope[:, k]
        phi = sites.phi[:, k], slope * qd, sites.curve[:, k] * qd * qd + slope * qdd, slope * y
        index = sites.index[:, k + 1]
        rows, by_z = _through(twists[index], phi, rows)
        np.add.at(by_twist, index, by_z)
    np.add.at(result, sites.index[:, 0], rows[:, 0])
    by_next = _times(by_twist, lie.right_jacobian_inverse(twists))
    by_before = _times(by_next, lie.adjoint_inverse(lie.exp(twists)))
    return result + by_next - np.roll(by_before, -1, axis=0)


def _pull_surface(joint: SplineSurface, motion: FloatArray, rows: FloatArray) -> FloatArray:
    """Derivatives (m, 6) by the control values."""
    jets = [_basis_jets(joint, i, motion[..., i]) for i in range(joint.num_coordinates)]
    whole = jets[0]
    for jet in jets[1:]:
        whole = [_product(whole, jet, pairs) for pairs in PRODUCTS]
    net = joint.net.reshape(-1, COUNT)
    values = [each @ net for each in whole]
    angles = [(column, np.eye(COUNT)["xyz".index(axis)]) for column, axis in enumerate(joint.sequence)]
    lengths = [(column, np.eye(COUNT)[column]) for column in range(3, COUNT)]
    by_value = np.zeros((4, len(rows), COUNT))
    for column, twist in reversed([*angles, *lengths] if joint.rotation_first else [*lengths, *angles]):
        by_value[:, :, column] = (rows @ twist).T
        value, rate, bend, along = (each[:, column] for each in values)
        rows, _ = _through(np.tile(twist, (len(rows), 1)), (value, rate, bend, along), rows)
    by_net = sum(each.T @ by for each, by in zip(whole, by_value))
    numbers = np.arange(joint.values[..., 0].size).reshape(joint.values.shape[:-1])
    repeated = numbers[np.ix_(*(np.arange(n) % m for n, m in zip(joint.net.shape, numbers.shape)))]
    result = np.zeros((numbers.size, COUNT))
    np.add.at(result, repeated.ravel(), by_net)
    return result


# which jets of two factors, with what factor, make up each jet of their product
PRODUCTS = (
    ((0, 0, 1.0),),
    ((1, 0, 1.0), (0, 1, 1.0)),
    ((2, 0, 1.0), (1, 1, 2.0), (0, 2, 1.0)),
    ((3, 0, 1.0), (0, 3, 1.0)),
)


def _product(one: list[FloatArray], other: list[FloatArray], pairs: Any) -> FloatArray:
    """A jet of the product of bases (n, a) and (n, b), (n, a b)."""
    result = sum(factor * one[i][:, :, None] * other[j][:, None] for i, j, factor in pairs)
    return np.asarray(result).reshape(len(one[0]), -1)


def _basis_jets(joint: SplineSurface, direction: int, motion: FloatArray) -> list[FloatArray]:
    """Bases (n, m) of one direction, unrolled, with their rates: straight beyond its ends."""
    (q, qd, qdd, y), knots = motion.T[..., None], joint.unrolled_knots[direction]
    (lower, upper), period = joint.domain[direction], joint.periods[direction]
    if period:
        q = lower + np.mod(q - lower, period)
    inside = np.clip(q, lower, upper)
    value, slope, curve = (
        splines.basis(knots, joint.order[direction], inside[:, 0], derivative) for derivative in range(3)
    )
    curve[inside[:, 0] != q[:, 0]] = 0.0
    return [value + (q - inside) * slope, slope * qd, curve * qd * qd + slope * qdd, slope * y]
