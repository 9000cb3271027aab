"""Obstacles as users and files have them."""

import json
from typing import Any

import numpy as np
import pytest

from physics.errors import FormatError, ModelError
from physics.kernels.wrapping import surface
from physics.muscles.obstacles import (
    REGISTRY,
    Cylinder,
    DoubleCylinder,
    Ellipsoid,
    Sphere,
    SphereCappedCylinder,
    Torus,
    obstacle_from_dict,
)
from physics.muscles.wrapping import Wrap

SECOND = np.array([[1.0, 0, 0, 0.1], [0, 0, -1, 0.2], [0, 1, 0, 0], [0, 0, 0, 1]])
EXAMPLES = [
    Sphere(body="femur", radius=0.1),
    Cylinder(radius=0.1, side="-x"),
    Cylinder(radius=0.1, length=0.3, side="clockwise"),
    SphereCappedCylinder(radius=0.1, length=0.2, side=(0.1, 0.2, 0.0)),
    Ellipsoid(radii=(0.1, 0.2, 0.3), side="+z"),
    Torus(major_radius=0.3, minor_radius=0.1),
    DoubleCylinder(radius=0.1, second_radius=0.2, second_frame=SECOND, second_side="+y"),
]


def test_every_kind_has_an_example_and_the_kernels_number() -> None:
    assert {example.type for example in EXAMPLES} == set(REGISTRY)
    for kind in set(REGISTRY.values()) - {DoubleCylinder}:  # it consists of others
        name = "CAPSULE" if kind is SphereCappedCylinder else kind.type.upper()
        assert kind.kind == getattr(surface, name)


@pytest.mark.parametrize("obstacle", EXAMPLES, ids=lambda obstacle: obstacle.type)
def test_round_trip(obstacle: Any) -> None:
    description = json.loads(json.dumps(obstacle.to_dict()))
    again = obstacle_from_dict(description)
    assert type(again) is type(obstacle)
    assert again.to_dict() == obstacle.to_dict()
    wrap = Wrap([obstacle, obstacle], 1e-3)
    assert Wrap.from_dict(json.loads(json.dumps(wrap.to_dict()))).to_dict() == wrap.to_dict()


@pytest.mark.parametrize("obstacle", EXAMPLES, ids=lambda obstacle: obstacle.type)
def test_drawing(obstacle: Any) -> None:
    drawing = obstacle.drawing()
    assert np.isfinite(drawing.points).all()
    assert len(drawing.lines) > 10


@pytest.mark.parametrize(
    "values, words",
    [
        ({"type": "sphere", "radius": -1.0}, "radius of a sphere must be positive"),
        ({"type": "sphere", "radius": 1.0, "side": "clockwise"}, "side of a sphere"),
        ({"type": "sphere", "radius": 1.0, "side": [0.0, 0.0, 0.0]}, "must not be its origin"),
        ({"type": "cylinder", "radius": float("nan")}, "must be finite"),
        ({"type": "torus", "major_radius": 0.1, "minor_radius": 0.2}, "less than its major_radius 0.1"),
        ({"type": "ellipsoid", "radii": [1.0, 0.0, 1.0]}, "must be positive"),
    ],
)
def test_bad_values(values: Any, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        obstacle_from_dict(values)


@pytest.mark.parametrize(
    "values, words",
    [
        ({"type": "cone"}, "unknown obstacle type 'cone'"),
        ({"type": "sphere"}, "lacks the key 'radius'"),
        ({"type": "sphere", "radius": 1.0, "colour": 1}, "unknown key 'colour'"),
        (3, "must be an object"),
    ],
)
def test_bad_descriptions(values: Any, words: str) -> None:
    with pytest.raises(FormatError, match=words):
        obstacle_from_dict(values)


def test_bad_wraps() -> None:
    with pytest.raises(ModelError, match="at least one obstacle"):
        Wrap([])
    with pytest.raises(ModelError, match="must not be negative"):
        Wrap(Sphere(radius=1.0), -1.0)
    with pytest.raises(ModelError, match="body 'femur', which the model lacks"):
        Wrap(EXAMPLES[0]).packed({}, [])
