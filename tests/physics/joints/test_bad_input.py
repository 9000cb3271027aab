"""What a joint or a model cannot take is told by one error that names it."""

from typing import Any

import numpy as np
import pytest

import physics as ph

VALUES = np.random.default_rng(1).normal(size=(5, 5, 6)) * 0.2


def model(joint: ph.joints.Joint) -> ph.Model:
    builder = ph.ModelBuilder()
    builder.add_body("ball", joint=joint, mass=1.0, inertia=np.eye(3))
    return builder.build()


@pytest.mark.parametrize("knots", [0.5, True, object(), [None]])
def test_knots_of_a_surface_are_lists(knots: Any) -> None:
    with pytest.raises(ph.ModelError, match="one list a direction"):
        ph.joints.SplineSurface(VALUES, knots=knots)


@pytest.mark.parametrize("outside", [[], {}, 3, "clamp"])
def test_outside_of_a_surface(outside: Any) -> None:
    with pytest.raises(ph.ModelError, match="outside must be one of"):
        ph.joints.SplineSurface(VALUES, outside=outside)


@pytest.mark.parametrize("key", ["coordinates", "units", "rotations", "translations"])
@pytest.mark.parametrize("value", [None, 3, "x", 0.5])
def test_parts_of_a_custom_joint_are_lists(key: str, value: Any) -> None:
    given = {"coordinates": ("a",), "units": (), "rotations": (), "translations": (), key: value}
    with pytest.raises(ph.ModelError, match=f"custom joint {key} must be a list"):
        ph.joints.Custom(**given)
    with pytest.raises(ph.ModelError, match=r"rotations\[0\] must be \(axis, function, coordinate\), got 1"):
        ph.joints.Custom(coordinates=("a",), rotations=(1, 2, 3), translations=())


@pytest.mark.parametrize("value", ["x", [[1.0], [1.0, 2.0]], [1.0, 2.0], 3.0])
def test_readings_of_a_composite(value: Any) -> None:
    joint = ph.joints.Composite((ph.joints.Hinge(), ph.joints.Euler()))
    for read in (joint.readings, joint.from_readings, model(joint).readings):
        with pytest.raises(ph.ModelError, match=r"coordinates|readings"):
            read(value)


@pytest.mark.parametrize("springs", [None, 3, "x", {"a": 1}])
def test_springs_of_a_description_are_a_list(springs: Any) -> None:
    description = {**model(ph.joints.Hinge()).to_dict(), "springs": springs}
    with pytest.raises(ph.FormatError, match="'springs' must be a list"):
        ph.ModelBuilder.from_dict(description)


@pytest.mark.parametrize("wrapped", [lambda j: j, ph.joints.Inverted, lambda j: ph.joints.Composite((j,))])
def test_models_of_other_angles_differ(wrapped: Any) -> None:
    """What is read off differs, though nothing that moves does."""
    one, other = (model(wrapped(ph.joints.Euler(sequence))) for sequence in ("xyz", "zyx"))
    assert one != other and hash(one) != hash(other)


@pytest.mark.parametrize(
    "limit", [ph.joints.RotationLimit((0.5, 1.0, 2.0)), ph.joints.ReachCone((0.0, 0.0, 1.0), 0.7), None]
)
def test_models_with_limited_balls_are_saved(limit: Any, tmp_path: Any) -> None:
    made = model(ph.joints.Inverted(ph.joints.Spherical(limit)))
    path = tmp_path / "ball.json"
    ph.save_model(made, path)
    loaded = ph.load_model(path).model
    assert loaded == made and loaded.to_dict() == made.to_dict()
    path.write_text(path.read_text().replace("rotation_limit", "limit").replace("reach_cone", "limit"))
    if limit is not None:
        with pytest.raises(
            ph.FormatError, match='unknown type "limit"; known are reach_cone, rotation_limit'
        ):
            ph.load_model(path)


WORDS = np.array(["rod", "natural"])  # an array is among no names, and equal to none


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (lambda: ph.constraints.DistanceConstraint("body", sense=WORDS), "sense of a distance constraint"),
        (lambda: ph.joints.Ellipsoid(1.0, 1.0, 1.0, normal=WORDS), "ellipsoid joint normal"),
        (lambda: ph.joints.CubicSpline([0, 1, 2], [0, 1, 0], ends=WORDS), "spline ends"),
        (lambda: ph.forward_dynamics(*hinge(), road=WORDS), "road must be one of"),
        (lambda: ph.lie.check_frames(10**400, "pose of a body"), "pose of a body must be numbers"),
    ],
)
def test_arrays_for_words_and_numbers_beyond_all_are_refused_by_name(made: Any, told: str) -> None:
    with pytest.raises(ph.ModelError, match=told):
        made()


def hinge() -> tuple[ph.Model, ph.State]:
    made = model(ph.joints.Hinge())
    return made, made.state()
