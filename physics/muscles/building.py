"""The part of ModelBuilder that collects muscles."""

from collections.abc import Mapping
from typing import Any

from ..bodies.body import Body
from ..bodies.names import NameIndex, coordinate_names
from ..errors import FormatError, ModelError
from ..forces.base import new_name
from ..forces.inputs import Input
from ..registry import arguments, checked_entries, instance_from_dict
from ..validation import number
from .force_law import ForceLaw
from .hill import law_from_dict
from .mass import MassPoints
from .muscle import ROUNDING, Muscle
from .path import PathPoint, point_from_dict
from .wrapping import Wrap


class MuscleBuilder:
    """The muscles of `ModelBuilder`, to which `bodies`, `inputs` and their indices belong."""

    bodies: list[Body]
    inputs: list[Input]
    body_numbers: Any
    inputs_by_name: Any
    add_input: Any

    def __init__(self) -> None:
        super().__init__()
        self.muscles: list[Muscle] = []
        self._muscles_by_name = NameIndex()
        self._bodies_by_coordinate = NameIndex()

    def add_muscle(
        self,
        name: str,
        path: Any,
        *,
        mass: float = 0.0,
        num_points: int = 20,
        masses: MassPoints | None = None,
        tension: float | str = 0.0,
        velocity_terms: bool = True,
        law: ForceLaw | None = None,
        excitation: float | str | None = None,
        activation: float | None = None,
        rounding: float = ROUNDING,
        armature: float = 0.0,
        wraps_once: bool = False,
    ) -> Muscle:
        """Add a muscle along path points of bodies added before (Wang 2022, sec. 5.3).

        Args:
            name: unique among muscles, not empty.
            path: `PathPoint`s from origin to insertion, with a `Wrap` between two of them where obstacles are in the
                way.
            mass: [kg], spread evenly over the path at num_points mass points; 0: none.
            masses: another distribution of mass, instead of `mass`.
            tension: [N], not negative, or the name of an input that it follows.
            velocity_terms, rounding, armature, wraps_once: as in `Muscle`.
            law: a force law instead of a tension: `muscles.Millard`, `muscles.Thelen`, `muscles.Tension`.
            excitation: of the law, a number, or the name of an input. None: adds an input ``name.excitation``, 0 by
                default.
            activation: initial activation in [0, 1]; None: the least that the law allows.
        """
        new_name(name, "muscle", self._muscles_by_name(self.muscles))
        if masses is None and number(mass, f"mass of muscle {name!r:.80}", not_negative=True) > 0.0:
            masses = MassPoints.uniform(mass, num_points)
        elif masses is not None and mass != 0.0:
            raise ModelError(f"muscle {name!r}: give its mass or its masses, not both")
        own = None
        if law is None and excitation is not None:
            raise ModelError(f"muscle {name!r} has an excitation but no law that it excites")
        if law is not None:
            if isinstance(tension, str) or number(tension, f"tension of muscle {name!r:.80}") != 0.0:
                raise ModelError(f"muscle {name!r}: give its tension or its law, not both")
            own = f"{name}.excitation" if excitation is None else None
            tension = own or (0.0 if excitation is None else excitation)
        muscle = Muscle(
            name, path, masses, tension, velocity_terms, law, activation, rounding, armature, wraps_once
        )
        self._check_known(muscle, own)
        if own is not None and own not in self.inputs_by_name(self.inputs):
            self.add_input(own, 0.0)
        self.muscles.append(muscle)
        return muscle

    def _check_known(self, muscle: Muscle, own: str | None) -> None:
        """ModelError if a muscle names a missing body, coordinate or input; `own` is the input still to be added."""
        bodies, coordinates = self.body_numbers(), self._bodies_by_coordinate(self.bodies, coordinate_names)
        carriers = [name for wrap in muscle.strands.values() for name in wrap.bodies]
        follows = [point.condition.coordinate for point in muscle.points if point.condition is not None]
        follows += [name for point in muscle.points for name in point.coordinates]
        pull = [muscle.tension] if isinstance(muscle.tension, str) and muscle.tension != own else []
        needed: tuple[tuple[str, Any, Mapping[str, int]], ...] = (
            ("body of an obstacle", carriers, bodies),
            ("body of a path point", [point.body for point in muscle.points], bodies),
            ("coordinate of a path point", follows, coordinates),
            ("input", pull, self.inputs_by_name(self.inputs)),
        )
        for what, names, known in needed:
            for name in names:
                if name is not None and name not in known:
                    raise ModelError(
                        f"the {what} of muscle {muscle.name!r} is missing: {name!r}; add it first"
                    )

    def read_muscles(self, entries: Any) -> None:
        """Add the muscles of a `Model.to_dict`."""
        known, required = arguments(MuscleBuilder.add_muscle)
        known = tuple(key for key in known if key not in ("mass", "num_points"))  # written as masses
        for entry in checked_entries(entries, "muscles", known, required):
            values = dict(entry)
            if values.get("masses") is not None:
                values["masses"] = instance_from_dict(values["masses"], MassPoints, "mass points")
            if values.get("law") is not None:
                values["law"] = law_from_dict(values["law"])
            self.add_muscle(path=_path(values.pop("path")), **values)


def _path(entries: Any) -> list[PathPoint | Wrap]:
    if not isinstance(entries, list | tuple):
        raise FormatError(f"the path of a muscle must be a list, got {entries!r:.80}")
    for entry in entries:
        if not isinstance(entry, Mapping):
            raise FormatError(f"a path point must be an object, got {entry!r:.80}")
    return [
        Wrap.from_dict(entry) if entry.get("type") == "wrap" else point_from_dict(entry) for entry in entries
    ]
