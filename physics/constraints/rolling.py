"""Surfaces in contact that roll without slip (future work in Lee & Terzopoulos 2008, sec. 8)."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ..errors import ModelError
from ..joints import Composite, SplineSurface
from ..kernels.constraints import layout
from ..muscles.view import ModelView
from .base import BODY, Constraint, PackedConstraint


@dataclass(frozen=True, eq=False)
class RollingConstraint(Constraint):
    """Prevents slip at the contact of a composite joint that begins with a spline surface.

    The surface's moving frame is the point of contact; the rest of the composite orients the body relative to it (an
    inverted surface, a hinge about its normal and one about a tangent, ...). Both components of slip in the surface
    are zero; spin about the normal is free. It constrains velocities only: `value` is zero.

    Attributes:
        body: the body, or its name.
    """

    body: Any = field(metadata=BODY)
    type: ClassVar[str] = "rolling"

    @property
    def num_rows(self) -> int:
        return 2

    def packed(self, model: ModelView) -> PackedConstraint:
        index = model.index(self.body)
        body = model.bodies[index]
        joint = body.joint
        surface = joint.joints[0] if isinstance(joint, Composite) else None
        if not isinstance(surface, SplineSurface) or surface.num_coordinates < 2:
            raise ModelError(
                f"rolling of body {self.body!r} needs a composite joint that begins with a spline surface, "
                f"got {joint.type!r}"
            )
        blocks = len(surface.factorization().blocks)
        return PackedConstraint(
            layout.ROLLING, index, body.parent, rows=2, data=np.zeros(1), marked=(index, blocks)
        )
