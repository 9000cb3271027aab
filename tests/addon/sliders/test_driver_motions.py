"""Joints as rows of motions for drivers: their product is the joint, for every joint of physics and its inverse."""

import numpy as np
import pytest

pytest.importorskip("bpy")

# Cubics through samples follow a true normal to 1e-6 and a curve to 1e-7; what is linear or a cubic spline exactly.
FOLLOWS = 2e-6


def value_of(curve, readings):
    """A curve at u, straight on beyond its ends, as a driver of Blender has it."""
    u = sum(weight * readings[k] for k, weight in curve.weights.items())
    places, values, rates = curve.places, np.atleast_1d(curve.values), np.atleast_1d(curve.rates)
    k = int(np.clip(np.searchsorted(places, u) - 1, 0, len(places) - 2))
    h = places[k + 1] - places[k]
    t = (u - places[k]) / h
    return (
        (2 * t**3 - 3 * t**2 + 1) * values[k]
        + (t**3 - 2 * t**2 + t) * h * rates[k]
        + (3 * t**2 - 2 * t**3) * values[k + 1]
        + (t**3 - t**2) * h * rates[k + 1]
    )


def sum_of(terms, readings):
    return float(sum(np.prod([value_of(curve, readings) for curve in term]) for term in terms))


def turned(ph, vector):
    pose = np.eye(4)
    pose[:3, :3] = ph.lie.so3_exp(np.asarray(vector, dtype=float))
    return pose


def product(ph, motions, readings):
    """What a row of Empties does."""
    pose = np.eye(4)
    for motion in motions:
        place = np.eye(4)
        place[:3, 3] = [sum_of(terms, readings) for terms in motion.shift]
        pose = pose @ motion.frame @ place
        for letter, terms in motion.turns.items():
            pose = pose @ turned(ph, sum_of(terms, readings) * np.eye(3)["xyz".index(letter)])
        if motion.quaternions is not None:
            turn = np.eye(4)
            quaternion = value_of(motion.quaternions, readings)
            turn[:3, :3] = ph.lie.matrix_from_quaternion(quaternion / np.linalg.norm(quaternion))
            pose = pose @ turn
        if motion.vector is not None:
            first, sign, _ = motion.vector
            pose = pose @ turned(ph, sign * readings[first : first + 3])
    return pose


def surface(ph, **options):
    random = np.random.default_rng(3)
    values = 0.3 * random.standard_normal((5, 6, 6))
    return ph.joints.SplineSurface(values, sequence="xyz", **options)


def customs(ph):
    """OpenSim's joint of one coordinate, and of two and a function that is constant."""
    j = ph.joints
    axes, spline = np.eye(3), j.CubicSpline((-2.0, -0.5, 0.3, 2.0), (0.1, 0.4, -0.3, 0.2))
    slides = [
        (axes[0], spline, "a"),
        (axes[1], j.Polynomial((0.1, -0.2)), "a"),
        (axes[2], j.Linear(0.0, 0.3), None),
    ]
    turns = [
        (axes[0], j.Linear(1.0, 0.2), "a"),
        ((0.0, 0.6, 0.8), spline, "a"),
        (axes[2], j.Linear(0.0, 0.4), None),
    ]
    both = (
        [*slides[:2], (axes[2], j.Linear(0.5), "b")],
        [turns[0], (axes[1], j.Wave(1.4, 0.3), "b"), turns[2]],
    )
    return j.Custom(("a",), turns, slides), j.Custom(("a", "b"), both[1], both[0])


def joints_of(ph):
    j = ph.joints
    frames = np.array([turned(ph, (0.3 * k, 0.1 * k**2, 0)) for k in range(5)])
    frames[:, 0, 3] = 0.2 * np.arange(5)
    curve, tilted = j.SplineCurve(frames), (0.6, 0.0, 0.8)
    winding = np.array([turned(ph, (1.5 * np.sin(2 * k), 0.3 * k, 0.0)) for k in range(40)])
    winding[:, 0, 3] = 0.1 * np.arange(40)
    long = j.SplineCurve(winding)
    one, two = customs(ph)
    volume = 0.3 * np.random.default_rng(4).standard_normal((4, 5, 4, 6))
    return {
        "hinge": j.Hinge(tilted),
        "cylindrical": j.Cylindrical(tilted),
        "universal": j.Universal((0, 1, 0), tilted),
        "skewed": j.SkewedUniversal(0.3),
        "planar": j.Planar(),
        "slotted": j.SlottedHinge(),
        "spherical": j.Spherical(),
        "free": j.Free(),
        "free, rotation first": j.Free(rotation_first=True),
        "euler": j.Euler("zyx"),
        "proper euler": j.Euler("zxz"),
        "elliptic": j.Elliptic(0.3, 0.2),
        "ellipsoid": j.Ellipsoid(0.3, 0.2, 0.4, winging=0.4),
        "true ellipsoid": j.Ellipsoid(0.3, 0.2, 0.4, winging=0.4, normal="true"),
        "constant curvature": j.ConstantCurvature(0.3, (0.1, 0.2, 0.3)),
        "scapulothoracic": j.Scapulothoracic((0.3, 0.2, 0.4), (0.1, -0.05), 0.3),
        "custom": one,
        "custom of two": two,
        "roll pitch": j.RollPitch(),
        "roll pitch yaw": j.RollPitchYaw(),
        "surface": surface(ph),
        "surface, rotation first": surface(ph, rotation_first=True, order=(4, 5)),
        "closed surface": surface(ph, periodic=(True, False)),
        "volume": j.SplineSurface(volume),
        "bead": j.Composite((curve, j.Hinge((1, 0, 0)))),
        "long curve": long,
        "long curve, fixed": j.Composite((j.Inverted(long), j.Fixed())),
        "long bead": j.Composite((long, j.Hinge((1, 0, 0)))),
        "rolling": j.Composite((curve, j.Inverted(curve))),
        "nested": j.Composite((j.Euler("xyz"), j.Inverted(surface(ph)), j.Inverted(j.Cylindrical(tilted)))),
    }


NAMES = 30


@pytest.mark.parametrize("inverted", [False, True])
@pytest.mark.parametrize("number", range(NAMES))
def test_the_product_of_the_motions_is_the_joint(part, ph, number, inverted):
    everything = joints_of(ph)
    assert len(everything) == NAMES
    name = list(everything)[number]
    joint = ph.joints.Inverted(everything[name]) if inverted else everything[name]
    motions = part("sliders.driver_motions")
    ranges = motions.natural_ranges(joint)
    ranges = np.where(np.isfinite(ranges), ranges, [-1.4, 1.4])
    after = turned(ph, (0.1, 0.2, -0.3))
    after[:3, 3] = (0.3, 0.2, 0.1)
    row = motions.motions_of(joint, ranges, after)
    random = np.random.default_rng(number)
    for _ in range(25):
        readings = random.uniform(*ranges.T)
        expected = joint.transform(joint.from_readings(readings)) @ after
        assert np.abs(product(ph, row, readings) - expected).max() < FOLLOWS, name


def test_a_curve_is_sampled_alike_alone_and_in_a_composite_joint(part, ph):
    motions, everything = part("sliders.driver_motions"), joints_of(ph)
    samples = set()
    for name in ("long curve", "long curve, fixed", "long bead"):
        joint = everything[name]
        row = motions.motions_of(joint, np.clip(motions.natural_ranges(joint), -2.0, 2.0), np.eye(4))
        samples.add(len(row[0].quaternions.places))
    assert samples == {32 * 44 + 1}


def test_few_empties_suffice(part, ph):
    """Translations and one rotation share an Empty."""
    counts = {"free": 1, "spherical": 1, "euler": 1, "planar": 1, "surface": 1, "bead": 3}
    motions, everything = part("sliders.driver_motions"), joints_of(ph)
    for name, count in counts.items():
        joint = everything[name]
        ranges = motions.natural_ranges(joint)
        row = motions.motions_of(joint, np.where(np.isfinite(ranges), ranges, [-1.0, 1.0]), np.eye(4))
        assert len(row) == count, name


@pytest.mark.parametrize("inverted", [False, True])
@pytest.mark.parametrize(
    "options",
    [
        {"order": 5},
        {"outside": "clamp"},
        {"periodic": True},
        {"coordinate": "arc_length"},
        {"coordinate": "arc_length", "periodic": True},
    ],
    ids=str,
)
def test_many_poses_of_a_curve_are_those_of_the_kernels(part, ph, options, inverted):
    """Within the curve, at its ends and knots, and beyond."""
    frames = np.array([turned(ph, (0.3 * np.sin(k), 0.1 * k, 0.0)) for k in range(9)])
    frames[:, :2, 3] = 0.2 * np.array([[np.cos(0.7 * k), np.sin(0.7 * k)] for k in range(9)])
    joint = ph.joints.SplineCurve(frames, **options)
    ends, joint = joint.domain, ph.joints.Inverted(joint) if inverted else joint
    places = np.concatenate([np.linspace(*ends, 9), np.random.default_rng(2).uniform(-0.3, 2.0, 40)])
    found = part("sliders.factor_poses").along(joint, places)
    # round-off of some products of matrices
    assert np.abs(found - joint.transform(places[:, None])).max() < 1e-12


def test_a_factor_of_more_coordinates_has_no_poses_along_one(part, ph):
    (block,) = ph.joints.Spherical().factorization().blocks
    with pytest.raises(ph.ModelError, match="one coordinate"):
        part("sliders.factor_poses")._of_one(block, np.zeros(3))


def test_what_follows_functions_is_not_asked_pose_by_pose(part, ph, monkeypatch):
    """In Blender's process that takes a quarter of a millisecond each: OpenSim's legs, and a rod that bends, held the
    window for seconds.
    """
    one, two = customs(ph)
    everything, asked = joints_of(ph), []
    monkeypatch.setattr(
        ph.joints.Joint, "transform", lambda *_: pytest.fail("a joint was asked for its poses")
    )
    functions = part("blender.physics_access").part("kernels.joints.functions")
    evaluate = functions.evaluate_function
    monkeypatch.setattr(functions, "evaluate_function", lambda *given: asked.append(1) or evaluate(*given))
    wide = np.array([[-8.0 * np.pi, 8.0 * np.pi]])
    for joint, most in (
        (ph.joints.Hinge((0.6, 0.0, 0.8)), 0),
        (ph.joints.Inverted(one), 2 * 2012 + 8),
        (two, 3 * 2012 + 8),
        (everything["constant curvature"], 6),
        (everything["rolling"], 0),
        (everything["true ellipsoid"], 5 * 4001 + 32),
    ):
        asked.clear()
        part("sliders.driver_motions").motions_of(joint, np.tile(wide, (joint.num_coordinates, 1)), np.eye(4))
        assert len(asked) <= most
