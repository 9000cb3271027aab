"""A point of one body on a surface of another: a plane, or plane segments (ArtiSynth's guide, secs. 3.4.13-14).

Such a constraint adds no coordinates: the body may turn and slide along the surface. A unilateral one keeps its value
from falling below 0, a bilateral one keeps it at 0.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from .. import kernels
from .._typing import FloatArray
from ..errors import ModelError
from ..forces.base import POSE, VECTOR
from ..kernels.constraints import layout
from ..muscles.view import ModelView
from ..validation import TRUTH, finite_array, float_array
from .base import BODY, OTHER, Constraint, PackedConstraint, index_of, translated

ALONG_Z = 4  # the lock of the translation along z


@dataclass(frozen=True, eq=False)
class Connector(Constraint):
    """Base of the connectors, which keep a point of `body` on a surface in the frame D of `other`.

    Attributes:
        body: the body with the point, or its name.
        point: (3,) in its frame.
        other: the body with the surface, or its name; None: the world.
        frame: D in the frame of `other`, (4, 4).
        unilateral: keep the point on the side of the surface's normal instead of on the surface.
    """

    body: Any = field(metadata=BODY)
    point: Any = field(default=(0.0, 0.0, 0.0), metadata=VECTOR)
    other: Any = field(default=None, metadata=OTHER)
    frame: Any = field(default=None, metadata=POSE)
    unilateral: bool = field(default=False, metadata=TRUTH)

    def surface(self, place: FloatArray) -> tuple[float, FloatArray]:
        """Signed distance of a point (3,) in D from the surface, and the surface's normal (3,) there."""
        raise TypeError(f"{type(self).__name__} does not implement surface()")

    def _packed_as(self, model: ModelView, kind: int, data: FloatArray) -> PackedConstraint:
        return PackedConstraint(
            kind,
            index_of(model, self.body),
            index_of(model, self.other),
            locks=ALONG_Z,
            sense=layout.UNILATERAL if self.unilateral else layout.EQUALITY,
            frame=translated(self.point),
            other_frame=self.frame,
            data=data,
        )


@dataclass(frozen=True, eq=False)
class PlanarConnector(Connector):
    """Keeps a point on the x-y plane of D, or with `unilateral` at z >= 0 (ArtiSynth's guide, sec. 3.4.13).

    Attributes as `Connector`: body, point, other, frame, unilateral.
    """

    type: ClassVar[str] = "planar_connector"

    def surface(self, place: FloatArray) -> tuple[float, FloatArray]:
        return float(place[2]), np.array([0.0, 0.0, 1.0])

    def packed(self, model: ModelView) -> PackedConstraint:
        return self._packed_as(model, layout.FRAMES, np.zeros(0))


def _corners(value: Any, name: str) -> FloatArray:
    corners = float_array(value, name)
    corners = finite_array(corners, (*corners.shape[:1], 2), name)
    if len(corners) < 2:
        raise ModelError(f"{name} must have at least 2 corners (m, 2), got {len(corners)}")
    lengths = np.linalg.norm(np.diff(corners, axis=0), axis=1)
    if not (lengths > 1e-12).all():
        k = int(np.argmin(lengths))
        raise ModelError(f"corners {k} and {k + 1} of {name} coincide: {corners[k].tolist()}")
    return corners


@dataclass(frozen=True, eq=False)
class SegmentedPlanarConnector(Connector):
    """Keeps a point on a polyline in the x-z plane of D, extruded along y (ArtiSynth's guide, sec. 3.4.14).

    The plane of the nearest segment applies; the first and last segments extend beyond their ends. If several are
    equally near, around a convex corner, the one with the farthest plane applies, so that the value is continuous.

    Attributes:
        segments: corners (m, 2) of the polyline, x and z. The normal is on the left of the direction of travel, seen
            against y: z for a segment along x (eq. 3.30).
    """

    segments: Any = field(default=(), metadata={"check": _corners})
    type: ClassVar[str] = "segmented_planar_connector"

    def surface(self, place: FloatArray) -> tuple[float, FloatArray]:
        height, x, z = kernels.constraints.rows.nearest_segment(
            self._table(), 0, float(place[0]), float(place[2])
        )
        return height, np.array([x, 0.0, z])

    def packed(self, model: ModelView) -> PackedConstraint:
        return self._packed_as(model, layout.SEGMENTS, self._table())

    def _table(self) -> FloatArray:
        """Table for the kernels: number of segments; start, direction and length of each."""
        along = np.diff(self.segments, axis=0)
        lengths = np.linalg.norm(along, axis=1)[:, None]
        segments = np.concatenate([self.segments[:-1], along / lengths, lengths], axis=1)
        return np.concatenate([[len(segments)], segments.ravel()])
