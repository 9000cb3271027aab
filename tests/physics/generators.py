"""Random joints, bodies and trees for tests: everything from one numpy Generator."""

from collections.abc import Callable

import numpy as np

import physics as ph


def random_rotation(rng: np.random.Generator) -> np.ndarray:
    return ph.lie.so3_exp(rng.normal(size=3) * rng.choice([0.1, 1.0, 2.0]))


def random_pose(rng: np.random.Generator, distance: float = 0.3) -> np.ndarray:
    pose = np.eye(4)
    pose[:3, :3] = random_rotation(rng)
    pose[:3, 3] = rng.normal(size=3) * distance
    return pose


def random_inertia(rng: np.random.Generator, mass: float, size: float = 0.1) -> np.ndarray:
    """Of a random box: obeys the triangle inequality by its making."""
    a, b, c = (size * rng.uniform(0.2, 1.0, 3)) ** 2
    moments = mass / 3.0 * np.array([b + c, a + c, a + b])
    rotation = random_rotation(rng)
    inertia = rotation @ np.diag(moments) @ rotation.T
    return 0.5 * (inertia + inertia.T)


def smooth_frames(rng: np.random.Generator, count: int, step: float = 0.4) -> np.ndarray:
    """Frames along a smooth random motion: twists that wander."""
    frames, pose, twist = [], np.eye(4), rng.normal(size=6)
    for _ in range(count):
        frames.append(pose)
        twist = 0.8 * twist + 0.4 * rng.normal(size=6)
        pose = pose @ ph.lie.exp(step * twist / np.linalg.norm(twist))
    return np.array(frames)


def loop_frames(rng: np.random.Generator, count: int) -> np.ndarray:
    """Frames along a closed curve that wobbles."""
    angles = 2.0 * np.pi * np.arange(count) / count
    frames = []
    phase = rng.uniform(0.0, 2.0 * np.pi, 3)
    for angle in angles:
        wobble = np.array([0.3 * np.sin(angle + phase[0]), 0.3 * np.cos(2 * angle + phase[1]), 0.0])
        pose = np.eye(4)
        pose[:3, :3] = ph.lie.so3_exp(np.array([0.0, 0.0, angle])) @ ph.lie.so3_exp(wobble)
        pose[:3, 3] = [np.cos(angle), np.sin(angle), 0.2 * np.sin(angle + phase[2])]
        frames.append(pose)
    return np.array(frames)


def random_joint(rng: np.random.Generator, kind: str) -> ph.joints.Joint:
    return joint_makers(rng)[kind]()


def joint_makers(rng: np.random.Generator) -> dict[str, Callable[[], ph.joints.Joint]]:
    axis, other = rng.normal(size=3), rng.normal(size=3)
    joints = ph.joints
    return {
        "fixed": lambda: joints.Fixed(),
        "hinge": lambda: joints.Hinge(axis),
        "slider": lambda: joints.Slider(axis),
        "helical": lambda: joints.Helical(axis, pitch=rng.uniform(-0.2, 0.2)),
        "cylindrical": lambda: joints.Cylindrical(axis),
        "universal": lambda: joints.Universal(axis, other),
        "planar": lambda: joints.Planar(),
        "translational": lambda: joints.Translational(),
        "spherical": lambda: joints.Spherical(),
        "free": lambda: joints.Free(rotation_first=bool(rng.integers(2))),
        "spline_curve": lambda: joints.SplineCurve(
            smooth_frames(rng, int(rng.integers(6, 12))), order=int(rng.integers(4, 7))
        ),
        "periodic_curve": lambda: joints.SplineCurve(
            loop_frames(rng, int(rng.integers(8, 14))), order=int(rng.integers(4, 7)), periodic=True
        ),
        "composite": lambda: joints.Composite(
            (
                joints.SplineCurve(smooth_frames(rng, 7)),
                joints.Fixed(),
                joints.Hinge(axis),
                joints.Spherical(),
            )
        ),
        "planar_translation": lambda: joints.PlanarTranslation(),
        "slotted_hinge": lambda: joints.SlottedHinge(),
        "skewed_universal": lambda: joints.SkewedUniversal(rng.uniform(-1.0, 1.0)),
        "euler": lambda: joints.Euler(str(rng.choice(["zyx", "xyz", "zxz"]))),
        "elliptic": lambda: joints.Elliptic(*rng.uniform(0.3, 1.5, 2)),
        "ellipsoid": lambda: joints.Ellipsoid(
            *rng.uniform(0.3, 1.0, 3),
            winging=rng.uniform(-0.5, 0.5),
            normal=str(rng.choice(["opensim", "true"])),
        ),
        "scapulothoracic": lambda: joints.Scapulothoracic(
            rng.uniform(0.05, 0.3, 3), rng.uniform(-0.1, 0.1, 2), rng.uniform(-1.0, 1.0)
        ),
        "constant_curvature": lambda: joints.ConstantCurvature(
            rng.uniform(0.1, 0.6), rng.uniform(-0.5, 0.5, 3)
        ),
        "reversed_hinge": lambda: joints.ReversedHinge(),
        "roll_pitch": lambda: joints.RollPitch(),
        "roll_pitch_yaw": lambda: joints.RollPitchYaw(),
        "custom": lambda: custom_joint(rng),
        "inverted": lambda: joints.Inverted(
            joints.Composite((random_joint(rng, "spline_curve"), joints.Hinge(axis), joints.Spherical()))
        ),
        "inverted_ellipsoid": lambda: joints.Inverted(random_joint(rng, "ellipsoid")),
        "spline_surface": lambda: random_surface(rng),
        "moving_surface": lambda: random_surface(rng, moving=True),
        "inverted_surface": lambda: joints.Inverted(random_surface(rng)),
        "surface_on_surface": lambda: joints.Composite(
            (random_surface(rng), joints.Inverted(random_surface(rng)))
        ),
        "flexible_surface": lambda: joints.FlexibleSurface(flat_patch(rng)),
    }


def random_surface(rng: np.random.Generator, moving: bool = False) -> ph.joints.SplineSurface:
    """A patch of a bumpy surface of one to three coordinates, smooth enough for differences across knots."""
    directions = int(rng.integers(1 + moving, 4))
    shape = tuple(rng.integers(7, 10, directions))
    grid = np.stack(np.meshgrid(*[np.linspace(-0.5, 0.5, m) for m in shape], indexing="ij"), axis=-1)
    values = 0.15 * rng.normal(size=(*shape, 6))
    values[..., :directions] += grid
    values[..., 3 : 3 + directions] += grid
    return ph.joints.SplineSurface(
        values,
        order=tuple(int(k) for k in rng.integers(6, 8, directions)),
        periodic=tuple(bool(p) for p in rng.integers(0, 2, directions)),
        sequence=str(rng.choice(["xyz", "zyx", "yxz"])),
        rotation_first=bool(rng.integers(2)),
        moving=moving,
    )


def flat_patch(rng: np.random.Generator) -> ph.joints.SplineSurface:
    """A surface of one or two coordinates, translations first."""
    shape = (7, 8)[: int(rng.integers(1, 3))]
    grid = np.stack(np.meshgrid(*[np.linspace(-0.5, 0.5, m) for m in shape], indexing="ij"), axis=-1)
    values = 0.03 * rng.normal(size=(*shape, 6))
    values[..., 3 : 3 + len(shape)] += grid
    return ph.joints.SplineSurface(values, order=6)


def custom_joint(rng: np.random.Generator) -> ph.joints.Custom:
    """Two coordinates, functions of every kind, a rotation that does not move."""
    joints = ph.joints
    knots = np.cumsum(rng.uniform(0.3, 0.8, 7)) - 2.0
    return joints.Custom(
        coordinates=("flexion", "twist"),
        rotations=(
            (rng.normal(size=3), joints.Linear(1.2, 0.1), "flexion"),
            (rng.normal(size=3), joints.Polynomial(rng.normal(size=4) * 0.2), "flexion"),
            (rng.normal(size=3), joints.Linear(-0.7), "twist"),
        ),
        translations=(
            (rng.normal(size=3), joints.CubicSpline(knots, rng.normal(size=7) * 0.1), "flexion"),
            (rng.normal(size=3), joints.CubicSpline(knots, rng.normal(size=7) * 0.1, "natural"), "twist"),
            (rng.normal(size=3), joints.Linear(0.0, 0.3), None),
        ),
    )


JOINT_KINDS = tuple(joint_makers(np.random.default_rng(0)))
# coordinates on flexible surfaces move nothing without these
TREE_KINDS = tuple(kind for kind in JOINT_KINDS if kind != "flexible_surface")


def random_coordinates(rng: np.random.Generator, joint: ph.joints.Joint, size: float = 1.5) -> np.ndarray:
    """Inside the range, away from the singular values of universal joints and rotation vectors."""
    q = rng.uniform(-size, size, joint.num_coordinates)
    for d, (lower, upper) in enumerate(joint.range.reshape(-1, 2)):
        if np.isfinite(lower):
            q[d] = rng.uniform(lower, upper)
    return q


def random_tree(rng: np.random.Generator, count: int, kinds: tuple[str, ...] = TREE_KINDS) -> ph.Model:
    """A tree whose bodies hang on a random earlier body (or the world)."""
    builder = ph.ModelBuilder(gravity=rng.normal(size=3) * 5.0)
    for i in range(count):
        parent = f"body_{rng.integers(max(i - 3, 0), i)}" if i and rng.uniform() < 0.9 else None
        mass = float(np.exp(rng.uniform(-1.0, 1.0)))
        kind = str(rng.choice(kinds))
        builder.add_body(
            f"body_{i}",
            parent,
            joint=random_joint(rng, kind),
            joint_in_parent=random_pose(rng),
            body_in_joint=random_pose(rng, 0.1),
            mass=mass,
            com=rng.normal(size=3) * 0.1,
            inertia=random_inertia(rng, mass),
            stiffness=rng.uniform(0.0, 2.0),
            damping=rng.uniform(0.0, 0.5),
            armature=0.01,
        )
    return builder.build()


def random_state(rng: np.random.Generator, model: ph.Model) -> ph.State:
    q = np.concatenate([random_coordinates(rng, joint) for joint in model.joints])
    return model.state(q=q, qd=rng.normal(size=model.num_coordinates))
