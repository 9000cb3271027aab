"""Force elements that cannot be are named before anything is added."""

import numpy as np
import pytest

import physics as ph

from .test_elements import model_with


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda b: b.add_force("", "a", (1, 0, 0), 1.0), "a force's name must be a string that is not empty, got ''"),
        (lambda b: b.add_force("f", "a", (0, 0, 0), 1.0), "direction of force 'f' must not be the zero vector"),
        (lambda b: b.add_force("f", "c", (1, 0, 0), 1.0), "body of force 'f' is missing: 'c'"),
        (lambda b: b.add_force("f", "a", (1, 0, 0), "push"), "follows an unknown input 'push'"),
        (lambda b: b.add_force("f", "a", (1, 0, 0), 1.0, axes="local"), "one of world, body, other, got 'local'"),
        (lambda b: b.add_force("old", "a", (1, 0, 0), 1.0), "there is a force named 'old' already"),
        (
            lambda b: b.add_spring("old", "a", (0, 0, 0), "b", (0, 0, 0), stiffness=1.0),
            "there is a force named 'old' already",
        ),
        (lambda b: b.add_wrench("f", "a", (0, 0, 0), (0, 0, 0)), "moment and force of force 'f' are both zero"),
        (lambda b: b.add_wrench("f", "a", (0, 0, 1), (0, 0, 0), other="b"), "axes of force 'f' with another body"),
        (lambda b: b.add_wrench("f", "a", (0, 0, np.inf), (0, 0, 0)), "moment of force 'f' must be finite, got inf"),
        (lambda b: b.add_body_damping("f", "a"), "angular and linear of force 'f' are both zero"),
        (lambda b: b.add_body_damping("f", "a", linear=-1.0), "linear of force 'f' must not be negative, got -1"),
        (lambda b: b.add_ground("f", "a", (0, 0), stiffness=1.0), r"points of force 'f' must have shape \(n, 3\)"),
        (lambda b: b.add_ground("f", "a", (0, 0, 0), stiffness=0.0), "stiffness of force 'f' must be positive, got 0"),
        (lambda b: b.add_bushing("f", "a", "a", elastic=[1.0] * 6), "both ends of force 'f' are on one body 'a'"),
        (
            lambda b: b.add_bushing("f", "a", None, elastic=[1.0] * 5),
            "elastic of force 'f' must be 6 functions or numbers",
        ),
        (
            lambda b: b.add_bushing("f", "a", None, elastic=[1.0] * 5 + [ph.joints.TangentAngle(1.0, 2.0)]),
            r"elastic of force 'f', entry 5 .*no closed form",
        ),
        (
            lambda b: b.add_sphere_contact("f", "a", (0, 0, 0), 0.0, stiffness=1.0),
            "radius of force 'f' must be positive, got 0",
        ),
        (
            lambda b: b.add_force_field("f", "a", (0, 0, 0), effect="tide", strength=1.0, mass=1.0),
            "effect of force 'f'",
        ),
        (
            lambda b: b.add_force_field("f", "a", (0, 0, 0), effect="wind", strength="w", mass=1.0),
            "strength of force 'f' follows an unknown input 'w'",
        ),
        (
            lambda b: b.add_ground("f", "a", (0, 0, 0), stiffness=1.0, exponent=0.5),
            "exponent of force 'f' must be at least 1, got 0.5",
        ),
        (
            lambda b: b.add_ground("f", "a", (0, 0, 0), stiffness=1.0, other="a"),
            "both ends of force 'f' are on one body 'a'",
        ),
        (
            lambda b: b.add_ground("f", "a", (0, 0, 0), stiffness=1.0, plane=np.diag([1, 1, 2.0, 1])),
            "plane of force 'f'",
        ),
    ],
)  # fmt: skip
def test_bad_forces_are_named_and_not_added(call, words):
    builder = ph.ModelBuilder()
    for name in ("a", "b"):
        builder.add_body(name, joint=ph.joints.Free(), mass=1.0, inertia=np.eye(3))
    builder.add_force("old", "a", (1, 0, 0), 1.0)
    with pytest.raises(ph.ModelError, match=words):
        call(builder)
    assert len(builder.forces) == 1


@pytest.mark.parametrize(
    "forces, words",
    [
        (3, "'forces' must be a list, got 3"),
        ([{"type": "wind", "name": "f", "body": "a"}], "unknown force type 'wind'"),
        ([{"type": "ground", "name": "f", "body": "a", "points": [[0, 0, 0]]}], "lacks the key 'stiffness'"),
        ([{"type": "body_damping", "name": "f", "body": "a", "lineal": 1}], "unknown key 'lineal'"),
    ],
)
def test_bad_descriptions_of_forces_are_told(forces, words):
    _, tree, _ = model_with(0)
    with pytest.raises(ph.FormatError, match=words):
        ph.ModelBuilder.from_dict(tree.to_dict() | {"forces": forces})
