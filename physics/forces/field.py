"""A force field on a body: wind, force, vortex or drag, as Blender computes them for particles."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from .._typing import FloatArray
from ..kernels import layout
from ..validation import NOT_NEGATIVE, POSITIVE, number, one_of
from .base import POINT, POSE, ForceElement, element_row, link_axes, link_points
from .elements import MAGNITUDE

EFFECTS = ("wind", "force", "vortex", "drag")  # as numbered in `kernels.layout`
SHAPES = ("point", "plane", "line")
FALLOFFS = ("sphere", "tube", "cone")
ANY = {"check": number}
#: keywords of a distance at which a field begins or ends to fade; below 0: none
NONE_BELOW = -1.0


@dataclass(frozen=True, eq=False)
class ForceField(ForceElement):
    """A field that acts on a point of a body as on Blender's particle of 1 kg, times `mass`.

    Its formulas are in ``kernels.forces.field``. Distances and forces are those of Blender, in units of its own. It
    stores no energy, and nothing acts back on its carrier. Where a coordinate moves both body and carrier, derivatives
    by its velocity are left out.

    Attributes:
        name: unique among the model's springs and forces.
        body: index of the body. point: in its frame (3,) [m]. other: of the body that carries the field, -1: the world.
        frame: pose of the field there (4, 4) [m]; z is its axis.
        effect: of `EFFECTS`. shape: of `SHAPES`. falloff: of `FALLOFFS`.
        strength: a number, or the name of the model's input that it follows; of a drag the quadratic one.
        linear: of a drag. flow: drag of the moving air. mass: [kg]. unit: [m], positive.
        power, least, most: f = (1 + x - least)^-power beyond least, 0 beyond most; below 0 there is none of these.
        radial_power, radial_least, radial_most: likewise across the axis, of a cone by the angle [degrees].
        side: 1 or -1: it acts at this side of its origin alone; 0 at both.
        squared: 1: a force divided by the square of the distance; 0: not.
    """

    name: str
    body: int
    point: FloatArray = field(metadata=POINT)
    other: int
    frame: FloatArray = field(metadata=POSE)
    effect: str = field(metadata=one_of(*EFFECTS))
    shape: str = field(metadata=one_of(*SHAPES))
    falloff: str = field(metadata=one_of(*FALLOFFS))
    strength: float | str = field(metadata=MAGNITUDE)
    linear: float = field(metadata=ANY)
    flow: float = field(metadata=ANY)
    mass: float = field(metadata=NOT_NEGATIVE)
    unit: float = field(metadata=POSITIVE)
    power: float = field(metadata=ANY)
    least: float = field(metadata=ANY)
    most: float = field(metadata=ANY)
    radial_power: float = field(metadata=ANY)
    radial_least: float = field(metadata=ANY)
    radial_most: float = field(metadata=ANY)
    side: float = field(metadata=ANY)
    squared: float = field(metadata=ANY)
    type: ClassVar[str] = "force_field"
    stores_all: ClassVar[bool] = False

    def packed(self, body_frames: Sequence[FloatArray], inputs: Mapping[str, int]) -> FloatArray:
        """The row for the kernels (``kernels.layout``)."""
        strength = [self.strength, -1] if not isinstance(self.strength, str) else [0.0, inputs[self.strength]]
        return element_row(
            layout.FIELD_ELEMENT,
            self.body,
            self.other,
            link_points(self.point, self.body, body_frames),
            link_points(self.frame[:3, 3], self.other, body_frames),
            link_axes(self.frame[:3, 2], self.other, body_frames),
            [EFFECTS.index(self.effect), SHAPES.index(self.shape), FALLOFFS.index(self.falloff)],
            [*strength, self.linear, self.flow, self.mass, self.unit],
            [self.least, self.most, self.power, self.radial_least, self.radial_most, self.radial_power],
            [self.side, self.squared],
        )
