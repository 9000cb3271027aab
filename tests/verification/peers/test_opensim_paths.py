"""Lengths and moment arms of whole models' muscles against OpenSim 4.6 (Delp et al. 2007)."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

opensim = pytest.importorskip("opensim", reason="OpenSim is only in the environment of the peers")

import physics as ph  # noqa: E402  (after the check that there is something to compare with)

from .test_opensim_models import coordinates_of, opened, order, set_values  # noqa: E402

pytestmark = pytest.mark.peers

LENGTH = 1e-13  # round-off of a sum of at most ten lengths below 1 m
ARM = 1e-12  # the same, of its derivative
POSES = 12


def placed_at(
    peer: Any, state: Any, read: ph.OpenSimModel, model: ph.Model, rng: np.random.Generator, share: float
) -> ph.State:
    """Set both models to a share of each coordinate's range, or at random if the share is negative; our state."""
    coordinates = coordinates_of(peer, state)
    low = np.array([max(coordinate.getRangeMin(), -3.0) for coordinate in coordinates])
    high = np.array([min(coordinate.getRangeMax(), 3.0) for coordinate in coordinates])
    q = rng.uniform(low, high) if share < 0.0 else low + share * (high - low)
    mine = np.empty(len(q))
    mine[order(peer, state, read, model)] = q
    set_values(peer, state, q)
    return model.state(q=mine)


def compare(peer: Any, state: Any, read: ph.OpenSimModel, model: ph.Model, ours: ph.State) -> np.ndarray:
    """Largest differences of lengths and moment arms of each muscle (muscles, 2)."""
    found = ph.muscle_lengths(model, ours)
    worst = np.zeros((len(model.muscles), 2))
    for k, muscle in enumerate(model.muscles):
        theirs = peer.getMuscles().get(muscle.name)
        worst[k, 0] = abs(theirs.getLength(state) - found.lengths[k])
        for name, coordinate in read.coordinates.items():
            arm = found.moment_arms[k, model.coordinate_names.index(coordinate.coordinate)]
            if arm != 0.0:
                miss = abs(theirs.computeMomentArm(state, peer.getCoordinateSet().get(name)) - arm)
                worst[k, 1] = max(worst[k, 1], miss)
    return worst


@pytest.mark.parametrize(
    "file", ["leg6dof9musc.osim", "gait10dof18musc_subject01.osim", "gait2392_thelen2003muscle.osim"]
)
def test_points_fixed_moving_and_conditional(file: str) -> None:
    peer, state, read, model = opened(file)
    assert [muscle.name for muscle in model.muscles] == [m.getName() for m in peer.getMuscles()]
    rng = np.random.default_rng(0)
    for share in [*np.linspace(0.02, 0.98, POSES), *np.full(POSES, -1.0)]:
        ours = placed_at(peer, state, read, model, rng, share)
        worst = compare(peer, state, read, model, ours)
        assert worst[:, 0].max() < LENGTH and worst[:, 1].max() < ARM


# By muscle: differences of lengths and moment arms [m] between OpenSim's approximate wraps and our geodesics. Its
# cylinders neglect the helix of an oblique path (BRA, TRIlat, TRImed); its ellipsoids use plane sections (BIClong,
# which jumps between two sides near -1.38 rad of the shoulder). TRIlong wraps over two surfaces at once above 1 rad,
# but over one at a time in OpenSim. BICshort does not wrap.
NEAR = {
    "BICshort": (1e-13, 1e-12), "BRA": (3e-5, 3e-4), "TRIlat": (3e-6, 3e-5), "TRImed": (3e-6, 3e-5),
    "BIClong": (1e-4, 6e-4), "TRIlong": (1.5e-2, 1.5e-2),
}  # fmt: skip
ONE_SURFACE, NEAR_ONE = 1.0, (3e-5, 6e-4)


def test_wraps_of_the_arm() -> None:
    peer, state, read, model = opened("arm26.osim", smoothing=0.0)
    ours = order(peer, state, read, model)
    rng = np.random.default_rng(1)
    for shoulder in np.linspace(-1.5, 3.0, 19):
        for elbow in rng.uniform(0.0, 2.2, 2):
            set_values(peer, state, np.array([shoulder, elbow]))
            mine = np.empty(2)
            mine[ours] = shoulder, elbow
            worst = compare(peer, state, read, model, model.state(q=mine))
            for muscle, (length, arm) in zip(model.muscles, worst):
                one = muscle.name == "TRIlong" and shoulder < ONE_SURFACE
                near = NEAR_ONE if one else NEAR[muscle.name]
                assert length < near[0] and arm < near[1], (muscle.name, shoulder, elbow)


def test_wraps_of_the_knee() -> None:
    """Stretches wrap wherever they touch: recfem over the femur only where the knee is bent far, -28.1 mm at 120
    degrees. The cylinders' neglected helix is all of the difference.
    """
    peer, state, read, model = opened("more/subject_walk_scaled.osim", smoothing=0.0)
    names = [muscle.name for muscle in model.muscles]
    over = [f"{name}_{side}" for name in ("recfem", "vasint", "vaslat", "vasmed") for side in "rl"]

    def lengths(angle: float) -> tuple[np.ndarray, list[float]]:
        for side in "rl":
            peer.getCoordinateSet().get(f"knee_angle_{side}").setValue(state, angle, False)
        peer.assemble(state)
        values = {name: peer.getCoordinateSet().get(name).getValue(state) for name in read.coordinates}
        found = ph.muscle_lengths(model, read.state(model, values)).lengths
        return found[[names.index(name) for name in over]], [
            peer.getMuscles().get(name).getLength(state) for name in over
        ]

    for angle in np.linspace(0.05, 2.05, 11):
        ours, theirs = lengths(angle)
        assert np.abs(ours - theirs).max() < 1e-5
        step = 1e-5
        arms = (lengths(angle - step)[0] - lengths(angle + step)[0]) / (2.0 * step)
        lengths(angle)
        for arm, name in zip(arms, over):
            knee = peer.getCoordinateSet().get(f"knee_angle_{name[-1]}")
            assert abs(peer.getMuscles().get(name).computeMomentArm(state, knee) - arm) < 1e-4


def own_length(peer: Any, state: Any, name: str, surfaces: dict[str, Any]) -> float:
    """Length of the path through OpenSim's own points, with the helix of each arc over a cylinder."""
    path = peer.getMuscles().get(name).getGeometryPath().getCurrentPath(state)
    points = [path.get(k) for k in range(path.getSize())]
    places = np.array([point.getLocationInGround(state).to_numpy() for point in points])
    wraps = [point.getWrapObject() for point in points]
    length = 0.0
    for k, (first, last) in enumerate(pairwise(wraps)):
        a, b = places[k : k + 2]
        if first and last and first.getName() == last.getName():
            frame, radius = surfaces[first.getName()]
            p, q = (places[k : k + 2] - frame[:3, 3]) @ frame[:3, :3]
            turn = np.angle((q[0] + 1j * q[1]) / (p[0] + 1j * p[1]))
            length += float(np.hypot(radius * turn, q[2] - p[2]))
        else:
            length += float(np.linalg.norm(b - a))
    return length


def test_two_surfaces_in_turn() -> None:
    """gaslat_r over the condyles and the shank. OpenSim's sum of its path is up to 7.3 mm less than the length of its
    own points: it keeps arcs of earlier iterations, which end where a length changes by less than 0.5 mm. By its points
    ours is the same path and never longer; so are the moment arms, which OpenSim takes from these.
    """
    peer, state, read, model = opened("more/subject_walk_scaled.osim", smoothing=0.0)
    (number,) = (k for k, muscle in enumerate(model.muscles) if muscle.name == "gaslat_r")
    knee = peer.getCoordinateSet().get("knee_angle_r")

    def lengths(angle: float) -> tuple[float, float]:
        knee.setValue(state, angle, False)
        peer.assemble(state)
        values = {name: peer.getCoordinateSet().get(name).getValue(state) for name in read.coordinates}
        ours = read.state(model, values)
        poses = dict(zip(model.body_names, ph.body_poses(model, ours)))
        (wrap,) = model.muscles[number].strands.values()
        named = zip(("GasLat_at_condyles_r", "GasLat_at_shank_r"), wrap.obstacles)
        surfaces = {name: (poses[part.body] @ part.frame, part.radius) for name, part in named}
        return ph.muscle_lengths(model, ours).lengths[number], own_length(peer, state, "gaslat_r", surfaces)

    for angle in (0.05, 0.2, 0.4, 0.6):  # over both
        ours, theirs = lengths(angle)
        arm = peer.getMuscles().get("gaslat_r").computeMomentArm(state, knee)
        assert -3e-5 < ours - theirs < 1e-9
        step = 1e-4
        slope = (lengths(angle - step)[0] - lengths(angle + step)[0]) / (2.0 * step)
        assert abs(slope - arm) < 3e-4  # the second order of OpenSim's tolerance for its points


def geodesic(peer: Any, muscle: Any, hints: dict[str, np.ndarray]) -> str:
    """A path of OpenSim's exact kind (Scholz et al. 2016) with the points and surfaces of our muscle; its name."""
    actuator = opensim.PathActuator()
    actuator.setName(f"{muscle.name}_geodesic")
    actuator.set_path(opensim.Scholz2015GeometryPath())
    path = opensim.Scholz2015GeometryPath.safeDownCast(actuator.updPath())
    for item in muscle.path:
        if not isinstance(item, ph.muscles.Wrap):
            path.appendPathPoint(frame_of(peer, item.body), opensim.Vec3(*map(float, item.position)))
            continue
        (surface,) = item.obstacles
        turn, place = surface.frame[:3, :3], opensim.Vec3(*surface.frame[:3, 3])
        angles = (
            np.arctan2(-turn[1, 2], turn[2, 2]),
            np.arcsin(turn[0, 2]),
            np.arctan2(-turn[0, 1], turn[0, 0]),
        )
        rest = place, opensim.Vec3(*angles), frame_of(peer, surface.body), f"{muscle.name}_surface"
        if isinstance(surface, ph.muscles.Cylinder):
            geometry = opensim.ContactCylinder(surface.radius, *rest)
        else:
            geometry = opensim.ContactEllipsoid(opensim.Vec3(*surface.radii), *rest)
        peer.addContactGeometry(geometry)
        path.appendObstacle(geometry, opensim.Vec3(*hints[muscle.name]))
        KEPT.append(geometry)
    peer.addForce(actuator)
    KEPT.append(actuator)
    return str(actuator.getName())


def touched(model: ph.Model, state: ph.State, name: str) -> np.ndarray:
    """A point where a muscle's path touches its surface, in the surface's frame."""
    muscle = next(muscle for muscle in model.muscles if muscle.name == name)
    (surface,) = next(item for item in muscle.path if isinstance(item, ph.muscles.Wrap)).obstacles
    body = dict(zip(model.body_names, ph.body_poses(model, state)))[surface.body]
    frame = body @ surface.frame
    points = (ph.muscle_polyline(model, state, name) - frame[:3, 3]) @ frame[:3, :3]
    cylinder = isinstance(surface, ph.muscles.Cylinder)
    scaled = points[:, :2] / surface.radius if cylinder else points / surface.radii
    on = np.flatnonzero(np.abs(np.linalg.norm(scaled, axis=1) - 1.0) < 1e-6)
    return points[on[len(on) // 2]]


KEPT: list[Any] = []  # owners of OpenSim's objects, which must stay alive as long as these


def frame_of(peer: Any, body: str | None) -> Any:
    return peer.getGround() if body is None else peer.getBodySet().get(body)


def test_wraps_of_the_arm_against_geodesics() -> None:
    """With OpenSim's exact shortest path, lengths agree to the tolerance of its solver, and moment arms to that of its
    contacts, which enter to first order. So the differences from its muscles' own paths are errors of those.
    """
    peer, state, read, model = opened("arm26.osim", smoothing=0.0)
    bent = read.state(model, {"r_elbow_flex": 2.0})
    hints = {name: touched(model, bent, name) for name in ("BIClong", "TRIlat")}
    numbers = {muscle.name: k for k, muscle in enumerate(model.muscles)}
    names = {name: geodesic(peer, model.muscles[numbers[name]], hints) for name in hints}
    peer.finalizeConnections()
    state = peer.initSystem()
    ours = order(peer, state, read, model)
    # always on the surfaces: a path of OpenSim's that has left one may return on the other side
    bends = {"TRIlat": [(0.0, elbow) for elbow in np.linspace(1.6, 2.2, 13)]}
    bends["BIClong"] = [(shoulder, 1.0) for shoulder in np.linspace(-1.2, 0.4, 13)]
    for name, poses in bends.items():
        theirs = opensim.PathActuator.safeDownCast(peer.getForceSet().get(names[name]))
        for pose in poses:
            set_values(peer, state, np.array(pose))
            mine = np.empty(2)
            mine[ours] = pose
            found = ph.muscle_lengths(model, model.state(q=mine))
            assert abs(theirs.getLength(state) - found.lengths[numbers[name]]) < 1e-9, (name, pose)
            for joint, coordinate in read.coordinates.items():
                arm = found.moment_arms[numbers[name], model.coordinate_names.index(coordinate.coordinate)]
                turning = peer.getCoordinateSet().get(joint)
                assert abs(theirs.computeMomentArm(state, turning) - arm) < 1e-6, (name, pose, joint)
