"""Joints against OpenSim 4.6 (Seth et al. 2018): poses to round-off, accelerations of a body on each."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

opensim = pytest.importorskip("opensim", reason="OpenSim is only in the environment of the peers")

import physics as ph  # noqa: E402  (after the check that there is something to compare with)

from .opensim_joint import COM, GRAVITY, INERTIA, MASS, OpenSimBody, kinetic_energy, our_custom, our_model  # noqa: E402

pytestmark = pytest.mark.peers

SHARED = Path(__file__).resolve().parents[4] / "shared"
ENERGY = 1e-12  # round-off of some products
POSE = 1e-12  # round-off of sines and products near 1
ACCELERATION = 1e-9  # the same, times the condition of the inertia that a coordinate moves


def agree(peer: OpenSimBody, model: Any, q: np.ndarray, speeds: np.ndarray, fixed: int = 0) -> None:
    """Compare pose and q'' of both; the last `fixed` coordinates of ours are 0, as the peer does not have them."""
    pose, rate, acceleration = peer.move(q, speeds)
    state = model.state(q=[*q, *np.zeros(fixed)], qd=[*rate, *np.zeros(fixed)])
    assert np.abs(ph.body_poses(model, state)[0] - pose).max() < POSE
    n = len(q)
    free = ph.mass_matrix(model, state)[:n, :n]
    ours = np.linalg.solve(free, -ph.inverse_dynamics(model, state)[:n])
    assert np.abs(ours - acceleration).max() < ACCELERATION * max(np.abs(acceleration).max(), 1.0)
    if not fixed:
        assert np.abs(ph.forward_dynamics(model, state) - ours).max() < ACCELERATION * np.abs(ours).max()


def test_ellipsoid() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        radii = rng.uniform(0.1, 0.5, 3)
        peer = OpenSimBody(
            lambda name, parent, child, radii=radii: opensim.EllipsoidJoint(
                name,
                parent,
                opensim.Vec3(0),
                opensim.Vec3(0),
                child,
                opensim.Vec3(0),
                opensim.Vec3(0),
                opensim.Vec3(*radii),
            )
        )
        model = our_model(ph.joints.Ellipsoid(*radii))
        for _ in range(10):
            agree(peer, model, rng.uniform(-1.2, 1.2, 3), rng.normal(size=3), fixed=1)


def test_scapulothoracic() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        radii, origin, direction = rng.uniform(0.05, 0.3, 3), rng.uniform(-0.1, 0.1, 2), rng.uniform(-1, 1)
        peer = OpenSimBody(
            lambda name, parent, child, given=(radii, origin, direction): opensim.ScapulothoracicJoint(
                name,
                parent,
                opensim.Vec3(0),
                opensim.Vec3(0),
                child,
                opensim.Vec3(0),
                opensim.Vec3(0),
                opensim.Vec3(*given[0]),
                opensim.Vec2(*given[1]),
                float(given[2]),
            )
        )
        model = our_model(ph.joints.Scapulothoracic(radii, origin, direction))
        for _ in range(10):
            agree(peer, model, rng.uniform(-1.2, 1.2, 4), rng.normal(size=4))


def test_constant_curvature() -> None:
    """Poses, and the joint's Jacobian by mass matrix and accelerations at rest.

    OpenSim 4.6 takes the twists of this joint, which are in the child's axes, for ones in the parent's, and leaves out
    their rate: its velocities contradict its own poses. Ours are compared as it takes them.
    """
    rng = np.random.default_rng(3)
    for _ in range(10):
        length, neutral = rng.uniform(0.1, 0.5), rng.uniform(-0.4, 0.4, 3)
        peer = OpenSimBody(
            lambda name, parent, child, given=(length, neutral): opensim.ConstantCurvatureJoint(
                name, parent, child, opensim.Vec3(*given[1]), float(given[0])
            )
        )
        joint = ph.joints.ConstantCurvature(length, neutral)
        for q in rng.uniform(-1.1, 1.1, (10, 3)):
            if np.hypot(*(q + neutral)[:2]) < 1e-2:  # below 1e-3 OpenSim's rod is straight
                continue
            pose, _, acceleration = peer.move(q, np.zeros(3))
            transform, twists, _ = joint.evaluate(q)
            assert np.abs(transform - pose).max() < POSE
            turn = transform[:3, :3]
            arm = turn @ COM
            moved = np.concatenate([twists[:3], twists[3:] + np.cross(twists[:3].T, arm).T])
            inertia = np.zeros((6, 6))
            inertia[:3, :3], inertia[3:, 3:] = turn @ INERTIA @ turn.T, MASS * np.eye(3)
            mass = moved.T @ inertia @ moved
            expected = np.linalg.solve(mass, moved[3:].T @ (MASS * np.array(GRAVITY)))
            assert np.abs(acceleration - expected).max() < ACCELERATION * np.abs(expected).max()
            speeds = rng.normal(size=3)
            energy = kinetic_energy(peer, q, speeds)
            assert 0.5 * speeds @ mass @ speeds == pytest.approx(energy, rel=ENERGY)


def custom_pair(transform: Any) -> tuple[OpenSimBody, Any]:
    """A body on a custom joint, in OpenSim and here."""

    def make(name: str, parent: Any, child: Any) -> Any:
        zero = opensim.Vec3(0)
        joint = opensim.CustomJoint(name, parent, zero, zero, child, zero, zero, transform)
        joint.finalizeFromProperties()  # creates its coordinates
        return joint

    return OpenSimBody(make), our_model(our_custom(transform))


def places(low: float, high: float) -> list[float]:
    """Values within and beyond the range of splines, whose second derivatives are one-sided at their ends."""
    return [*np.linspace(low, high, 40)[1:-1], low - 0.4, high + 0.4]


def test_knee_of_gait2392() -> None:
    path = SHARED / "models" / "gait2392_thelen2003muscle.osim"
    if not path.exists():
        pytest.skip("the model gait2392 is not beside this checkout")
    whole = opensim.Model(str(path))  # owns its parts, so it must stay alive
    knee = opensim.CustomJoint.safeDownCast(whole.getJointSet().get("knee_r"))
    peer, model = custom_pair(knee.getSpatialTransform())
    rng = np.random.default_rng(2)
    for q in places(-2.0, 0.15):
        agree(peer, model, np.array([q]), rng.normal(size=1))


def test_knee_of_rajagopal() -> None:
    """Poses and mass agree to round-off. The accelerations of OpenSim 4.6 contradict its own kinetic energy for custom
    joints with several moving rotations, by up to a fifth here (wrong velocity term in Simbody's function-based
    mobilizer). Ours are compared with those of the kinetic energy: q'' = -m'(q) q'^2 / (2 m).
    """
    path = SHARED / "reference" / "opensim_rajagopal_knee.json"
    if not path.exists():
        pytest.skip("the tables of the Rajagopal knee are not beside this checkout")
    transform = opensim.SpatialTransform()
    for axis in json.loads(path.read_text())["joints"]["walker_knee_r"]["axes"]:
        target = getattr(transform, f"upd_{axis['name']}")()
        target.setAxis(opensim.Vec3(*axis["axis"]))
        if axis["coords"]:
            names = opensim.ArrayStr()
            names.append(axis["coords"][0])
            target.setCoordinateNames(names)
        function = rajagopal_function(axis)
        function.this.disown()  # the axis owns it now
        target.setFunction(function)
    peer, model = custom_pair(transform)
    still = ph.ModelBuilder.from_dict(model.to_dict() | {"gravity": [0.0, 0.0, 0.0]}).build()
    one = np.ones(1)
    for q in places(0.0, 2.0944):
        state = still.state(q=[q], qd=one)
        pose, rate, _ = peer.move(np.array([q]), one)
        assert rate == one and np.abs(ph.body_poses(still, state)[0] - pose).max() < POSE
        mass = 2.0 * kinetic_energy(peer, np.array([q]), one)
        assert abs(ph.mass_matrix(still, state)[0, 0] - mass) < 1e-12
        step = 1e-4
        ahead, behind = (2.0 * kinetic_energy(peer, np.array([q + s]), one) for s in (step, -step))
        expected = -0.5 * (ahead - behind) / (2.0 * step) / mass
        # second-order differences, and the jump of the spline's third derivative at knots
        assert abs(ph.forward_dynamics(still, state)[0] - expected) < 1e-4 * max(abs(expected), 0.1)


def rajagopal_function(axis: dict[str, Any]) -> Any:
    """OpenSim's function of one axis from the published table."""
    if axis["function"] == "SimmSpline":
        spline = opensim.SimmSpline()
        for x, y in zip(axis["x"], axis["y"]):
            spline.addPoint(float(x), float(y))
        return spline
    if axis["function"] == "LinearFunction":
        return opensim.LinearFunction(float(axis["slope"]), float(axis["intercept"]))
    return opensim.Constant(float(axis["value"]))
