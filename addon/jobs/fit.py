"""Fitting a curve or a surface to keyed poses: a generator of jobs for the compute process, as in `bake`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from bpy.types import Context, Object, Scene

from ..animation import closed_keys
from ..baked import ik_chains
from ..blender import compute_process, physics_access, units
from ..blender.compute_process import Steps
from ..data import fit_settings, references, schema
from ..data.fitting import FitProperties
from ..data.joints import JointProperties
from ..making import bodies_and_joints, frame_grids, joint_places, rest_poses
from ..posing import project_poses
from ..reading import keyed_poses, masses
from ..sliders import sliders

SURFACE = "spline_surface"
TURNS_ONLY = (
    1e-4  # spread of what only turns, as a share of its size: some hundred times single precision's round-off
)
SAME = 1e-6  # what poses that are held differ by [m, rad]: Blender has them in single precision


@dataclass(frozen=True)
class FitReport:
    """What a fit found; distances in millimetres, angles in degrees.

    Attributes:
        joint_name: the joint's Empty. frames: keyed frames (n,).
        fit: the fit as physics gives it, in metres and radians.
        poses: the keyed poses (n, 4, 4) in the joint's frame, in metres.
        wished: what the fit was asked for, as the joint's settings have it.
        cyclic: of the keys, see `cycles.Cycle`. undriven: why the sliders do not drive the child; empty: they do.
        held: how many keys were left out, because the child stands at the one before as it does there.
    """

    joint_name: str
    frames: np.ndarray
    fit: Any
    poses: np.ndarray
    wished: dict[str, Any]
    cyclic: str = "NONE"
    undriven: str = ""
    held: int = 0

    @property
    def joint(self) -> Any:
        """The fitted joint, in metres."""
        return self.fit.joint

    @property
    def curve(self) -> physics_access.SplineCurve:
        """The fitted joint, in metres, where it is a curve."""
        return self.fit.joint

    @property
    def q(self) -> np.ndarray:
        """The coordinate at each keyed pose: (n,) on a curve, (n, 2) on a surface."""
        return self.fit.q

    @property
    def iterations(self) -> int:
        return int(self.fit.iterations)

    @property
    def converged(self) -> bool:
        return bool(self.fit.converged)

    @property
    def hessian_integral(self) -> float:
        return float(self.fit.hessian_integral)

    @property
    def distances(self) -> np.ndarray:
        return 1e3 * np.asarray(self.fit.residuals.translation)

    @property
    def angles(self) -> np.ndarray:
        return np.degrees(self.fit.residuals.rotation)

    @property
    def num_poses(self) -> int:
        return len(self.frames)

    @property
    def worst_distance_mm(self) -> float:
        return float(self.distances.max())

    @property
    def worst_angle_deg(self) -> float:
        return float(self.angles.max())

    @property
    def rms_distance_mm(self) -> float:
        return float(np.sqrt(np.mean(self.distances**2)))

    @property
    def rms_angle_deg(self) -> float:
        return float(np.sqrt(np.mean(self.angles**2)))

    @property
    def residuals(self) -> list[dict[str, float]]:
        """One entry a keyed pose: its frame, distance [mm] and angle [degrees]."""
        return [
            {"frame": float(frame), "mm": float(distance), "deg": float(angle)}
            for frame, distance, angle in zip(self.frames, self.distances, self.angles)
        ]


def fit_joint(
    scene: Scene, item: Object, kind: str = "", wished: dict[str, Any] | None = None
) -> Steps[FitReport]:
    """Fit a joint's curve or surface to its child's keyed poses without changing anything.

    Args:
        kind: "spline_curve" or "spline_surface"; empty: a surface where the joint is one.
        wished: see `wishes.values`; None: as the joint's settings say.
    """
    settings = item.condyle.joint
    if settings.type == "composite":
        raise physics_access.model_error(
            f"joint {item.name!r} is a composite joint, a fit would replace its parts: fit another joint, "
            "and let a part take its control points"
        )
    kind = kind or (SURFACE if settings.type == SURFACE else "spline_curve")
    given = keyed_poses.source_of_joint(item)
    return (yield from _steps(scene, given, settings, kind, wished, item.name))


def fit_selected(
    context: Context, item: Object, kind: str = "spline_curve", wished: dict[str, Any] | None = None
) -> Steps[FitReport]:
    """Steps of a fit of the joint at hand; without one (None), of a new joint of the active object or bone.

    The sliders drive the child afterwards. A new joint is made only when the fit has succeeded.
    """
    scene_uid = context.scene.session_uid
    if item is not None:
        item_uid = item.session_uid
        report = yield from fit_joint(context.scene, item, kind, wished)
        scene = references.find_scene(scene_uid)
        item = references.find_joint(item_uid, report.joint_name)
    else:
        child, parent = _keyed_child(context)
        matrix = units.array4(child.matrix)
        handle, above = (child.handle(), child.name), parent and (parent.handle(), parent.name)
        given = keyed_poses.source(child.name, child, parent, matrix, child.owner)
        report = yield from _steps(context.scene, given, child.object.condyle.joint, kind, wished)
        scene = references.find_scene(scene_uid)
        child = references.find_body(*handle)
        parent = above and references.find_body(*above)
        item = bodies_and_joints.add_joint(scene, parent, child, kind=kind, matrix=matrix)
        joint_places.begin_as_shown(scene, item)
        references.make_active(context, child)  # the panels show its joint, and the next press fits it again
    apply(scene, item, report)
    if not item.condyle.joint.driven:
        late = ik_chains.of_joint(scene, item)
        if late:
            return replace(report, undriven=late)
        sliders.set_driven(scene, item, True)
    # the child stays where it was keyed to be, and does not jump to where the sliders stood
    closest = int(np.argmin(np.abs(np.asarray(report.frames) - scene.frame_current)))
    project_poses.set_readings(scene, item, np.asarray(report.q).reshape(len(report.frames), -1)[closest])
    return report


def joint_of_selected(context: Context) -> Object | None:
    """The joint of the selected body that a fit would move; None: it has none yet."""
    return references.joint_of(context.scene, _keyed_child(context)[0])


def _keyed_child(context: Context) -> tuple[references.Body, references.Body | None]:
    """Child and parent of the joint that a fit makes: as Add Joint has them; where only the parent of two is keyed,
    that one moves."""
    active = references.active_body(context)
    others = [body for body in references.selected_bodies(context) if not references.same(body, active)]
    if len(others) != 1:
        return active, references.blender_parent(active)
    parent, child = references.parent_and_child(context)
    if len(keyed_poses.keyed_frames(parent)) and not len(keyed_poses.keyed_frames(child)):
        return parent, child
    return child, parent


def _steps(
    scene: Scene,
    given: keyed_poses.Source,
    settings: JointProperties,
    kind: str,
    wished: dict[str, Any] | None,
    name: str = "",
) -> Steps[FitReport]:
    surface = kind == SURFACE
    if wished is None:
        wished = fit_settings.values(settings.fit, fit_settings.SURFACE if surface else fit_settings.CURVE)
    asked: tuple[str, ...] = ()
    if surface and wished["parameters"] == "PROPERTIES":
        asked = (wished["parameter_1"], wished["parameter_2"])
    closed = bool(wished.get("periodic", settings.periodic)) and not surface
    wished = {name: value for name, value in wished.items() if name != "periodic"}
    frames, poses, places = keyed_poses.keyed_samples(scene, given, asked, wished["keys"])
    cycle = closed_keys.find(poses)
    if closed:  # the end is the beginning and counts once
        frames, poses = frames[: cycle.count], poses[: cycle.count]
    elif wished["keys"] == "ONE_WAY" and not surface:
        frames, poses = frames[cycle.one_way], poses[cycle.one_way]
    count = len(frames)
    if not surface:
        different = _different(poses, closed)
        frames, poses = frames[different], poses[different]
    keywords = _metric(scene, given, wished, poses) | {"smoothing": wished["smoothing"]}
    keywords |= _marked(settings.fit, frames, surface)
    if not surface:
        fewest = 2 if wished["smoothing"] else settings.order
        _check_count(given.child.name, len(poses), fewest)
        if not wished["smoothing"]:  # which alone lets there be more
            wished["num_frames"] = min(wished["num_frames"], len(poses))
        wished["num_frames"] = max(wished["num_frames"], settings.order)
    if surface:
        for name, order in zip(("rows", "columns"), settings.grid_orders):
            wished[name] = max(wished[name], order)
        keywords |= _of_surface(settings, wished, places)
    else:
        keywords |= _of_curve(scene, settings, wished, closed)
    requests = physics_access.part("worker.requests")
    ask, read = (
        (requests.fit_surface, requests.fit_surface_answer)
        if surface
        else (requests.fit_curve, requests.fit_curve_answer)
    )
    answer = yield ask(compute_process.client(), poses, **keywords)
    return FitReport(name, frames, read(answer), poses, wished, cycle.kind, held=count - len(frames))


def _check_count(name: str, count: int, fewest: int) -> None:
    """ModelError where the different keyed poses of a child are too few for a curve."""
    if count < fewest:
        raise physics_access.model_error(
            f"{name} has {count} keyed pose{'s' * (count != 1)} to fit: at least {fewest} different ones fix a curve "
            "of this order; key more, or take smoothing above 0"
        )


def _different(poses: np.ndarray, closed: bool) -> np.ndarray:
    """Which keyed poses (n, 4, 4) are another one than that before: a curve goes on from key to key, and a pose that is
    held counts once.
    """
    lie = physics_access.physics().lie
    steps = np.linalg.norm(lie.log(lie.inverse(poses) @ np.roll(poses, -1, axis=0)), axis=-1)
    moves = steps >= SAME
    if not closed:
        moves[-1] = True
    kept: np.ndarray = np.roll(moves, 1)
    kept[0] |= not kept.any()
    return np.flatnonzero(kept)


def _metric(
    scene: Scene, given: keyed_poses.Source, wished: dict[str, Any], poses: np.ndarray
) -> dict[str, Any]:
    """Of what only turns about its own origin the spread of places (n, 4, 4) [m] is round-off: its size counts then."""
    if wished["metric"] == "WEIGHTS":
        metric = {"rotation": wished["rotation_weight"], "translation": wished["translation_weight"]}
        return {"metric": metric}
    if wished["metric"] == "BODY":
        found = masses.mass_properties(scene, given.child)
        return {"metric": {"mass": found.mass, "com": found.center, "inertia": found.inertia}}
    length = wished["length_scale"] * units.length_scale(scene)
    size = bodies_and_joints.typical_length(given.child) * units.length_scale(scene)
    if length == 0.0 and float(np.ptp(poses[:, :3, 3], axis=0).max()) < TURNS_ONLY * size:
        length = size
    return {"length_scale": length} if length > 0.0 else {}


def _of_curve(
    scene: Scene, settings: JointProperties, wished: dict[str, Any], closed: bool
) -> dict[str, Any]:
    keywords: dict[str, Any] = {"order": settings.order, "periodic": closed}
    if wished["frames_by"] == "NUMBER":
        keywords["num_frames"] = wished["num_frames"]
    else:
        keywords["within"] = [wished["within_distance"] * units.length_scale(scene), wished["within_angle"]]
    if wished["robust"] != "NONE":
        keywords["robust"] = wished["robust"].lower()
    ends = [None if wished[end] == "FREE" else "straight" for end in ("first_end", "last_end")]
    if any(ends) and not closed:
        keywords["ends"] = ends
    if wished["coordinate"] != "PARAMETER":
        keywords["coordinate"] = wished["coordinate"].lower()
    if wished["coordinate"] == "ANGLE":
        keywords["axis"] = list(wished["angle_axis"])
    return keywords


def _of_surface(settings: JointProperties, wished: dict[str, Any], places: np.ndarray) -> dict[str, Any]:
    closed = list(settings.grid_periodic[:2])
    keywords: dict[str, Any] = {
        "num_frames": [wished["rows"], wished["columns"]],
        "order": list(settings.grid_orders[:2]),
        "periodic": closed,
        "sequence": None if wished["choose_sequence"] else settings.sequence,
        "rotation_first": settings.rotation_first,
    }
    if wished["parameters"] == "PROPERTIES":
        keywords["q"] = places
        if any(closed):  # where it closes, the property is an angle: a turn is the period
            low, high = places.min(axis=0), places.max(axis=0)
            ends = [[0.0, 2.0 * np.pi] if turns else [a, b] for a, b, turns in zip(low, high, closed)]
            keywords["domain"] = ends
    return keywords


def _marked(fit: FitProperties, frames: np.ndarray, surface: bool) -> dict[str, Any]:
    """Weights and pins that the user gave to keys in the list of the last fit; keys are known by their frames."""
    rows = {round(row.frame, 3): row for row in fit.residuals}
    known = [rows.get(round(float(frame), 3)) for frame in frames]
    weights = np.array([1.0 if row is None else row.weight for row in known])
    pinned = [number for number, row in enumerate(known) if row is not None and row.pinned]
    found: dict[str, Any] = {}
    if (weights != 1.0).any():
        found["weights"] = weights
    if pinned and not surface:
        found["pinned"] = pinned
    return found


def apply(scene: Scene, item: Object, report: FitReport) -> None:
    """Put a fitted joint's control frames, knots and figures into the scene."""
    settings = item.condyle.joint
    driven, settings.driven = settings.driven, False  # the sliders follow once, at the end
    try:
        settings.child_in_joint = tuple(np.eye(4).ravel())
        fit_settings.store(settings.fit, report.wished)
        if report.joint.type == SURFACE:
            frame_grids.place_joint(scene, item, report.joint)
        else:
            settings.type = "spline_curve"
            settings.periodic = report.joint.periodic
            settings.fit.metric_values = _metric_values(report)
            settings.length_scale = report.joint.length_scale / units.length_scale(scene)
            bodies_and_joints.set_control_frames(
                scene, item, units.to_blender(report.joint.frames, scene), report.joint.knots
            )
    finally:
        settings.driven = driven
    rest_poses.note(item)
    _note(scene, settings.fit, report)
    schema.stamp(item.condyle)
    if driven:
        sliders.refresh(scene, item)


def _metric_values(report: FitReport) -> np.ndarray:
    """Upper triangle (21,) of the metric of a curve's fit; zeros where a length scale says it all."""
    metric = report.joint.metric
    return np.zeros(21) if metric is None else np.asarray(metric)[np.triu_indices(6)]


def _note(scene: Scene, fit: FitProperties, report: FitReport) -> None:
    """Figures and residuals of a fit, as the panel shows them and as the next fit starts from."""
    fit.requested = False
    fit.num_poses, fit.iterations, fit.converged = report.num_poses, report.iterations, report.converged
    fit.cyclic = report.cyclic
    fit.coverage = getattr(report.fit, "coverage", 1.0)  # a curve's keys lie all along it
    fit.worst_distance, fit.worst_angle = report.worst_distance_mm, np.radians(report.worst_angle_deg)
    marks = {round(row.frame, 3): (row.pinned, row.weight) for row in fit.residuals}
    fit.residuals.clear()
    poses = units.to_blender(report.poses, scene).reshape(-1, 16)
    q = np.zeros((report.num_poses, 3))
    places = np.asarray(report.q).reshape(report.num_poses, -1)
    q[:, : places.shape[1]] = places
    trust = getattr(report.fit, "weights", None)  # a surface has none
    for k, frame in enumerate(report.frames):
        row = fit.residuals.add()
        row.frame, row.distance, row.angle = frame, report.distances[k], np.radians(report.angles[k])
        row.pose, row.q = poses[k], q[k]
        row.trust = 1.0 if trust is None else trust[k]
        row.pinned, row.weight = marks.get(round(float(frame), 3), (False, 1.0))
