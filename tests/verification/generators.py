"""Random joints, coordinates, inertias and trees; all random numbers come from the given generator."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator

import physics as ph
from physics._typing import FloatArray
from physics.geometry import lie
from tests.physics.generators import JOINT_KINDS, random_joint

MakeJoint = Callable[[Generator], Any]


def unit_vector(rng: Generator) -> FloatArray:
    """A direction, uniform on the sphere."""
    vector = rng.standard_normal(3)
    return vector / np.linalg.norm(vector)


def random_pose(rng: Generator, angle: float = 3.0, length: float = 0.5) -> FloatArray:
    """A pose with a rotation of up to `angle` rad about any axis and a translation of about `length` m."""
    rotation = unit_vector(rng) * rng.uniform(0.0, angle)
    pose = np.eye(4)
    pose[:3, :3] = lie.so3_exp(rotation)
    pose[:3, 3] = length * rng.standard_normal(3)
    return pose


def smooth_frames(rng: Generator, count: int, angle: float = 0.3, length: float = 0.08) -> FloatArray:
    """Frames along a smooth motion whose twist varies slowly (count, 4, 4)."""
    phases = np.linspace(0.0, 2.0, count - 1)[:, None]
    start, slope, bend = (np.concatenate([unit_vector(rng), unit_vector(rng)]) for _ in range(3))
    twists = start + 0.6 * np.sin(phases) * slope + 0.3 * np.sin(2.0 * phases) * bend
    twists[:, :3] *= angle
    twists[:, 3:] *= length
    frames = [random_pose(rng)]
    for twist in twists:
        frames.append(frames[-1] @ lie.exp(twist))
    return np.array(frames)


def closed_frames(rng: Generator, count: int) -> FloatArray:
    """Frames around a closed loop with one full rotation (count, 4, 4)."""
    angles = 2.0 * np.pi * np.arange(count) / count
    wobble, zero = rng.uniform(0.1, 0.4, size=2), np.zeros(count)
    frames = np.broadcast_to(np.eye(4), (count, 4, 4)).copy()
    rotations = np.stack([wobble[0] * np.cos(angles), wobble[1] * np.sin(2 * angles), zero], axis=1)
    turns = lie.so3_exp(np.stack([zero, zero, angles], axis=1))
    frames[:, :3, :3] = turns @ lie.so3_exp(rotations)
    loop = [0.4 * np.cos(angles), 0.3 * np.sin(angles), 0.1 * np.sin(3 * angles)]
    frames[:, :3, 3] = np.stack(loop, axis=1)
    return random_pose(rng) @ frames


def spline_curve(rng: Generator, order: int = 4, count: int = 8, **options: Any) -> Any:
    """A spline curve joint through a smooth random motion."""
    return ph.joints.SplineCurve(smooth_frames(rng, count), order=order, **options)


def surface(rng: Generator, shape: tuple[int, ...] = (6, 7), **options: Any) -> Any:
    """A bumpy patch that rotates along the way, far from the singularity of its angles."""
    grid = np.stack(np.meshgrid(*[np.linspace(-0.5, 0.5, m) for m in shape], indexing="ij"), axis=-1)
    values = 0.1 * rng.standard_normal((*shape, 6))
    values[..., : len(shape)] += 0.8 * grid
    values[..., 3 : 3 + len(shape)] += grid
    return ph.joints.SplineSurface(values, **options)


def _large_steps(rng: Generator) -> Any:
    """A spline curve with control frames almost half a turn apart, where the logarithm is ill-conditioned."""
    frames = [random_pose(rng)]
    for _ in range(7):
        twist = np.concatenate([unit_vector(rng) * (np.pi - 1e-3), 0.1 * rng.standard_normal(3)])
        frames.append(frames[-1] @ lie.exp(twist))
    return ph.joints.SplineCurve(np.array(frames))


def _nearly_straight(rng: Generator) -> Any:
    """A spline curve that hardly rotates, where the differential of exp is near its removable singularity."""
    return ph.joints.SplineCurve(smooth_frames(rng, 8, angle=1e-6))


def _custom(rng: Generator) -> Any:
    """Rotations and translations that follow smooth functions of two coordinates."""
    functions = ph.joints.Linear(1.3, 0.2), ph.joints.Wave(0.2, -0.1), ph.joints.Polynomial((0.1, 0.2, -0.05))
    return ph.joints.Custom(
        coordinates=("flexion", "twist"),
        rotations=[
            (unit_vector(rng), function, name)
            for function, name in zip(functions, ("flexion", "twist", None))
        ],
        translations=[
            (unit_vector(rng), function, name)
            for function, name in zip(functions, ("twist", None, "flexion"))
        ],
    )


# Joints for the claims; missing types come from the table of the tests.
JOINTS: dict[str, MakeJoint] = {
    "fixed": lambda rng: ph.joints.Fixed(),
    "hinge": lambda rng: ph.joints.Hinge(unit_vector(rng)),
    "slider": lambda rng: ph.joints.Slider(unit_vector(rng)),
    "helical": lambda rng: ph.joints.Helical(unit_vector(rng), pitch=rng.uniform(-0.2, 0.2)),
    "cylindrical": lambda rng: ph.joints.Cylindrical(unit_vector(rng)),
    "universal": lambda rng: ph.joints.Universal(),
    "planar": lambda rng: ph.joints.Planar(),
    "translational": lambda rng: ph.joints.Translational(),
    "spherical": lambda rng: ph.joints.Spherical(),
    "free": lambda rng: ph.joints.Free(),
    "spline_curve": spline_curve,
    "spline_curve_order_5": lambda rng: spline_curve(rng, order=5),
    "spline_curve_order_6": lambda rng: spline_curve(rng, order=6),
    "spline_curve_periodic": lambda rng: ph.joints.SplineCurve(closed_frames(rng, 10), periodic=True),
    "spline_curve_large_steps": _large_steps,
    "spline_curve_nearly_straight": _nearly_straight,
    "planar_translation": lambda rng: ph.joints.PlanarTranslation(),
    "slotted_hinge": lambda rng: ph.joints.SlottedHinge(),
    "skewed_universal": lambda rng: ph.joints.SkewedUniversal(rng.uniform(-1.0, 1.0)),
    "euler": lambda rng: ph.joints.Euler(str(rng.choice(["zyx", "zxz"]))),
    "elliptic": lambda rng: ph.joints.Elliptic(*rng.uniform(0.3, 1.0, size=2)),
    "ellipsoid": lambda rng: ph.joints.Ellipsoid(*rng.uniform(0.3, 1.0, size=3), winging=0.3),
    "ellipsoid_plain": lambda rng: ph.joints.Ellipsoid(*rng.uniform(0.3, 1.0, size=3)),
    "ellipsoid_true_normal": lambda rng: ph.joints.Ellipsoid(*rng.uniform(0.3, 1.0, size=3), normal="true"),
    "scapulothoracic": lambda rng: ph.joints.Scapulothoracic(
        rng.uniform(0.05, 0.3, 3), rng.uniform(-0.1, 0.1, 2), rng.uniform(-1.0, 1.0)
    ),
    "reversed_hinge": lambda rng: ph.joints.ReversedHinge(),
    "roll_pitch": lambda rng: ph.joints.RollPitch(),
    "roll_pitch_yaw": lambda rng: ph.joints.RollPitchYaw(),
    "free_rotation_first": lambda rng: ph.joints.Free(rotation_first=True),
    "custom": _custom,
    "inverted": lambda rng: ph.joints.Inverted(ph.joints.Free()),
    "spline_surface": surface,
    "spline_surface_inverted": lambda rng: ph.joints.Inverted(surface(rng)),
    "spline_volume": lambda rng: surface(rng, shape=(5, 6, 5)),
    "composite": lambda rng: ph.joints.Composite(
        joints=(spline_curve(rng), ph.joints.Universal(), ph.joints.Slider(unit_vector(rng)))
    ),
}


def _of_the_tests() -> dict[str, MakeJoint]:
    """A maker of each type that only the table of the tests has."""
    known = {make(np.random.default_rng(0)).type for make in JOINTS.values()}
    found = {}
    for kind in JOINT_KINDS:
        if random_joint(np.random.default_rng(0), kind).type not in known:
            found[kind] = partial(random_joint, kind=kind)
    return found


JOINTS |= _of_the_tests()
# coordinates on flexible surfaces move nothing without these
TREE_JOINTS = tuple(kind for kind in JOINTS if kind != "flexible_surface")


def parts(joint: Any) -> list[Any]:
    """The joints of a composite, else the joint alone."""
    return [part for child in joint.joints for part in parts(child)] if joint.type == "composite" else [joint]


def rotation_slice(joint: Any) -> slice | None:
    """Where a joint has the three exponential coordinates of a rotation, if any."""
    if joint.type == "free":
        return slice(0, 3) if joint.rotation_first else slice(3, 6)
    return slice(0, 3) if joint.type in ("spherical", "euler") else None


def curve_range(joint: Any) -> tuple[float, float]:
    """The range of a spline curve; one turn of a closed one."""
    start = float(joint.knots[joint.order - 1])
    return (start, start + joint.period) if joint.periodic else tuple(np.ravel(joint.range))


def random_coordinates(joint: Any, rng: Generator, largest_angle: float = 3.0) -> FloatArray:
    """Coordinates (n,) within the range, or a few turns; rotation vectors up to `largest_angle` rad."""
    values = []
    for part in parts(joint):
        lower, upper = np.asarray(part.range, dtype=float).reshape(-1, 2).T
        bounded = np.isfinite(lower) & np.isfinite(upper)
        reach = np.array([1.0 if unit == "m" else 3.0 for unit in part.coordinate_units])
        q = reach * rng.uniform(-1.0, 1.0, size=len(reach))
        q[bounded] = rng.uniform(lower[bounded], upper[bounded])
        if part.type == "spline_curve" and part.periodic:
            q = rng.uniform(-1.5, 1.5, size=1) * part.period
        where = rotation_slice(part)
        if where is not None:
            q[where] = unit_vector(rng) * rng.uniform(0.0, largest_angle)
        values.append(q)
    return np.concatenate(values) if values else np.zeros(0)


def random_inertia(rng: Generator, mass: float, size: float = 0.2) -> FloatArray:
    """Inertia about the centre of mass of a body of about `size` m (3, 3).

    Built from second moments of mass, so that it satisfies the triangle inequality.
    """
    second_moments = mass * (size * rng.uniform(0.3, 1.0, size=3)) ** 2
    principal = np.diag(second_moments.sum() - second_moments)
    rotation = lie.so3_exp(unit_vector(rng) * rng.uniform(0.0, 3.0))
    inertia = rotation @ principal @ rotation.T
    return 0.5 * (inertia + inertia.T)


def random_body(rng: Generator, kinds: tuple[str, ...] = TREE_JOINTS) -> dict[str, Any]:
    """Arguments of `add_body`, without the parent: a joint of one of the kinds and a body of 0.2 to 5 kg."""
    mass = float(np.exp(rng.uniform(np.log(0.2), np.log(5.0))))
    return {
        "joint": JOINTS[kinds[rng.integers(len(kinds))]](rng),
        "joint_in_parent": random_pose(rng),
        "body_in_joint": random_pose(rng),
        "mass": mass,
        "com": 0.1 * rng.standard_normal(3),
        "inertia": random_inertia(rng, mass),
    }


PASSIVE = {"stiffness": 5.0, "damping": 0.05, "armature": 0.02}  # at most, SI units


def random_tree(rng: Generator, num_bodies: int, kinds: tuple[str, ...] = TREE_JOINTS) -> Any:
    """A tree (or forest) of bodies with joints of these kinds; long branches are as likely as bushy ones.

    Every coordinate has a spring, a damper and some armature.
    """
    builder = ph.ModelBuilder(gravity=9.81 * unit_vector(rng))
    bodies: list[Any] = []
    for index in range(num_bodies):
        parent = None
        if bodies and rng.random() > 0.05:
            parent = bodies[-1] if rng.random() < 0.6 else bodies[rng.integers(len(bodies))]
        body = random_body(rng, kinds)
        count = body["joint"].num_coordinates
        passive = {name: most * rng.random(count) for name, most in PASSIVE.items()}
        bodies.append(builder.add_body(f"body {index}", parent=parent, **body, **passive))
    return builder.build()


def with_force_elements(model: Any, rng: Generator) -> Any:
    """The model with force laws, compliant limits, springs, dampers, deformable ground and wrenches added.

    The limits are narrow: most random states exceed some of them.
    """
    description = model.to_dict()
    for body, entry in zip(model.bodies, description["bodies"]):
        count = body.joint.num_coordinates
        if not count:
            continue
        stiffening, resisting = np.array([1.0, 0.0, 0.3]), np.array([0.5, 0.0, 0.1])
        for key, law in (("elastic", stiffening), ("damper", resisting)):
            laws = [ph.joints.Polynomial([0.0, *law * rng.random(3)]) for _ in range(count)]
            entry[key] = [each.to_dict() for each in laws]
        middle = body.joint.readings(random_coordinates(body.joint, rng))
        entry["limits"] = np.stack([middle - 0.1, middle + 0.1], axis=1).tolist()
        entry["limit_stiffness"] = (50.0 * rng.random(count)).tolist()
        entry["limit_damping"] = rng.random(count).tolist()
    builder = ph.ModelBuilder.from_dict(description)
    names = model.body_names
    for index in range(1 + len(names) // 3):
        one = int(rng.integers(len(names)))
        other = int(rng.integers(-1, len(names)))
        far = None if other in (-1, one) else names[other]
        points = 0.2 * rng.standard_normal((2, 3))
        pull = {"stiffness": 50.0 * rng.random(), "damping": 2.0 * rng.random(), "rest_length": rng.random()}
        builder.add_spring(f"spring {index}", names[one], points[0], far, points[1], **pull)
        builder.add_body_damping(f"drag {index}", names[one], angular=rng.random(), linear=rng.random())
        ground = {"stiffness": 100.0, "exponent": 1.5, "damping": 1.0, "friction": 0.5}
        plane = random_pose(rng)
        builder.add_ground(f"ground {index}", names[one], points[0], other=far, plane=plane, **ground)
        builder.add_wrench(f"wrench {index}", names[one], *rng.standard_normal((2, 3)), point=points[1])
    return builder.build()


def random_state(model: Any, rng: Generator, largest_angle: float = 3.0, speed: float = 1.0) -> Any:
    """A state within every joint's range, with velocities of about `speed`."""
    values = [random_coordinates(joint, rng, largest_angle) for joint in model.joints]
    q = np.concatenate([*values, np.zeros(0)])
    return model.state(q=q, qd=speed * rng.standard_normal(model.num_coordinates))


LINK_LENGTH, LINK_MASS, LINK_RADIUS = 0.3, 1.0, 0.02


def links(num_bodies: int) -> list[dict[str, Any]]:
    """Arguments of `add_body`, without joint and parent, for a chain of equal rods."""
    across, along = LINK_MASS * LINK_LENGTH**2 / 12.0, LINK_MASS * LINK_RADIUS**2 / 2.0
    body = {
        "mass": LINK_MASS,
        "com": (0.0, 0.0, -0.5 * LINK_LENGTH),
        "inertia": np.diag([across, across, along]),
    }
    end = np.eye(4)
    end[2, 3] = -LINK_LENGTH
    return [body | {"joint_in_parent": end if index else np.eye(4)} for index in range(num_bodies)]


def chain(num_bodies: int, joint: Callable[[int], Any]) -> Any:
    """A chain of equal rods of 1 kg and 0.3 m; `joint(i)` makes the i-th joint."""
    builder = ph.ModelBuilder(gravity=(0.0, 0.0, -9.81))
    body = None
    for index, link in enumerate(links(num_bodies)):
        body = builder.add_body(f"link {index}", parent=body, joint=joint(index), **link)
    return builder.build()
