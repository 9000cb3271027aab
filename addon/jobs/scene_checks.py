"""The check of a scene before it is simulated: all errors at once, and what an animator may not have meant.

All but `check` and `after_import` look at a snapshot of the scene without its bake, at the first frame.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np
from bpy.types import Object, Scene

from ..animation import follow_weights
from ..animation import inputs as forcing
from ..animation.scene_model import SceneModel
from ..baking import muscles, restoring
from ..blender import compat, compute_process, physics_access, units
from ..blender.compute_process import Breath, Steps
from ..checking import falling, start_penetration
from ..data import finding_list, findings, references
from ..data.findings import Finding
from ..data.frame_times import frame_ends
from ..data.joints import slider_ends, slider_names, title_of, torque_path
from ..data.references import Body
from ..data.stored_joints import starts_as_set
from ..making import connected_bones, orphans, rest_poses, rig_parts
from ..posing import project_poses
from ..reading import carriers as read_carriers
from ..reading import (
    conflicts,
    input_values,
    looks,
    masses,
    missing_joints,
    muscle_points,
    obstacles,
    snapshot,
    stepper,
)
from ..reading import followed as carriers
from ..reading import scene as scene_to_model
from ..sliders import sliders
from . import bake_preconditions, collider_checks, out_of_reach

# A muscle's point nearer than this share of an obstacle's thickness is told: rounded paths take little for outside.
DEEP = 0.95
# A body's mass by the box around it [kg/m³], and its radius of gyration by its size, between which nothing is told:
# pith to osmium and hollow shapes, and what is hung onto a bone; a heavy hub with light spokes
LIGHTEST, HEAVIEST = 1.0, 3e4
NARROWEST, WIDEST = 0.02, 2.0


def check(scene: Scene) -> list[Finding]:
    """What is wrong with a scene (errors, which stop a bake) and what may not be meant, as it is at its first frame."""
    begin, end = (int(frame) for frame in frame_ends(scene))
    frames = np.arange(begin, max(begin, end) + 1.0)
    unplayed = [*restoring.gone(scene), *restoring.put_aside(scene)]
    with stepper.unbaked(scene.session_uid, begin) as view:
        try:
            _, read = compute_process.run(read_checked(view, frames))
        except physics_access.physics().CondyleError as error:
            return [*bake_preconditions.by_settings(view), *errors(view, error), *unplayed]
        standing = _standing(view, read)
        found = [
            *unplayed,
            *bake_preconditions.by_settings(view),
            *bake_preconditions.with_model(view, read),
            *start_penetration.check(read, standing, lambda: _forces_now(view, read)),
            *warnings(view, read),
            *orphans.check(scene),
            *connected_bones.check(scene),
            *_sliders_elsewhere(view, read, begin),
            *falling.hints(read, standing, bool(references.connections_of(view))),
            *rig_parts.check(scene),
            *collider_checks.hints(view, read),
        ]
        return findings.gathered(found, findings.MUSCLE)


def after_import(scene: Scene, ground: Object) -> list[Finding]:
    """Hints about what will fall of an import, by the Empty of its ground; none where the scene cannot be read."""
    view = snapshot.take(scene)
    try:
        read = scene_to_model.read(view)
    except physics_access.physics().CondyleError:  # told by the check
        return []
    among = {item.session_uid for item in ground.children_recursive}
    found = falling.hints(read, _standing(view, read), bool(references.connections_of(view)), among)
    return findings.of_source(found, findings.CHECK, ground)


def _standing(scene: Scene, read: SceneModel) -> list[falling.Standing]:
    """How the bodies of the model are, as the scene is evaluated now."""
    found = []
    for entry in read.bodies:
        body = references.find_body_in(scene, entry.handle, entry.name)
        pose = units.to_metres(units.split_scale(body.matrix, body.name, body.owner)[0], scene)
        if not entry.joint_uid:
            found.append(falling.Standing(pose))
            continue
        item = references.find_in(scene, entry.joint_uid, entry.joint_name)
        settings = item.condyle.joint
        pushed = any(
            row.torque or compat.is_played(item, torque_path(number))
            for number, row in enumerate(settings.coordinates)
        )
        pushed = pushed or any(law.active for law in settings.feedback_laws)
        passive, held = not pushed and not looks.may_follow(item), follow_weights.holds(settings)
        found.append(falling.Standing(pose, passive, settings.driven, starts_as_set(scene, item), held))
    return found


def _forces_now(scene: Scene, read: SceneModel) -> np.ndarray | None:
    """Generalized forces and inputs at the frame that the scene shows; None where they are refused."""
    frames = scene.frame_current + np.arange(2.0)
    try:
        excited, pushed = muscles.excitations(scene, read, frames), input_values.torques(scene, read, frames)
    except physics_access.physics().CondyleError:
        return None
    given = forcing.table(read, excited, pushed, units.frame_times(frames, scene))
    return forcing.sampled(read.model, given, np.array([read.state.time]))[0]


def _sliders_elsewhere(scene: Scene, read: SceneModel, begin: int) -> list[Finding]:
    """Sliders that stand elsewhere than a simulation starts, a pre-roll before the first frame."""
    before = stepper.seen_at(scene, begin - scene.condyle.start.preroll)
    held = {item.name for item in references.joints_of(before) if follow_weights.holds(item.condyle.joint)}
    return looks.left_behind(before, read, held)


def read_checked(
    view: Scene,
    frames: np.ndarray,
    curves: Mapping[int, physics_access.Joint] | None = None,
    beside: stepper.Sampler | None = None,
    motors: bool = False,
) -> Steps[tuple[carriers.Moving, SceneModel]]:
    """Steps that read the animated carriers over whole frames (F,), and the model; curves: of joints that were fitted
    just now; beside: as of `carriers.sample`; motors: as of `scene.read_steps`.

    Raises:
        ModelError: something cannot be read or baked; or nobody could say where a body is, because sliders move it one
            change late, or what carries it follows another that is simulated.
    """
    moving = carriers.sample(view, frames, beside)
    yield Breath()
    read = yield from scene_to_model.read_steps(view, curves, moving.followed, motors)
    for entry in read.bodies:
        conflicts.check(references.find_body_in(view, entry.handle, entry.name))
        item = references.object_in(view, entry.joint_uid)
        if item is not None and item.condyle.joint.driven:
            sliders.check_in_time(view, item)
    conflicts.check_carriers(view, read)
    return moving, read


def stop(scene: Scene, error: Exception, curves: Mapping[int, physics_access.Joint]) -> Exception:
    """Tell all errors of a scene that cannot be simulated, of which this is the first; returns what to raise.

    curves: of joints that were fitted just now, by session uid.
    """
    found = errors(scene, error, curves)
    finding_list.show(scene.session_uid, found)
    more = f"{error}; and {len(found) - 1} more, {finding_list.WHERE}"
    return error if len(found) == 1 else physics_access.model_error(more)


def errors(
    scene: Scene, first: Exception, curves: Mapping[int, physics_access.Joint] | None = None
) -> list[Finding]:
    """All that can be found wrong where reading the scene has ended with an error; that one comes first."""
    found = list(_each_alone(scene, curves or {}))
    texts = [finding.text for finding in found]
    if str(first) in texts:
        found.insert(0, found.pop(texts.index(str(first))))
    else:
        found.insert(0, finding_list.named(scene, findings.error(None, first)))
    return findings.gathered(found, most=2)  # a wrong scale of a rig is one of all its bodies


def _each_alone(scene: Scene, curves: Mapping[int, physics_access.Joint]) -> Iterator[Finding]:
    """Errors of each body with its joint, read as if it were the only one."""
    problem = physics_access.physics().CondyleError
    moved: dict[references.Key, Any] = {}
    moving = read_carriers.simulated(scene)
    for item in references.joints_of(scene):
        try:
            child, _ = scene_to_model.ends(scene, item)
        except problem as error:
            yield findings.error(item, error)
            continue
        key = references.key_of(child)
        if item.condyle.joint.closes_loop:
            continue
        if key in moved:
            yield findings.error(item, references.two_movers(moved[key], item, child))
            continue
        moved[key] = item
        circle = read_carriers.circle(item, moving)
        yield from () if circle is None else [circle]
        yield from _alone(scene, child, item, curves)
    for body in references.bodies_of(scene):
        if body.data.body.motion == "FREE" and references.key_of(body) not in moved:
            yield from _alone(scene, body, None, curves)


def _alone(
    scene: Scene, body: Body, joint: Object | None, curves: Mapping[int, physics_access.Joint]
) -> Iterator[Finding]:
    problem = physics_access.physics().CondyleError
    try:
        mass = masses.mass_properties(scene, body)
        arguments = {"mass": mass.mass, "com": mass.center, "inertia": mass.inertia}
        fixed = physics_access.physics().joints.Fixed()
        physics_access.physics().ModelBuilder().add_body(body.name, joint=fixed, **arguments)
        conflicts.check(body)
        if joint is not None and joint.condyle.joint.driven:
            sliders.check_in_time(scene, joint)
    except problem as error:
        yield findings.error(body, error)
        return
    try:
        arguments = scene_to_model.alone(scene, body, joint, curves)
        physics_access.physics().ModelBuilder().add_body(body.name, **arguments)
    except problem as error:
        yield finding_list.named(scene, findings.error(None, error))


def warnings(view: Scene, read: SceneModel, fitted: Collection[int] = ()) -> list[Finding]:
    """What of a model that can be simulated may not be meant.

    fitted: joints that were fitted just now, by session uid: their control frames are not there yet.
    """
    found = [
        *_of_coordinates(view, read),
        *project_poses.stale_sliders(view, fitted),
        *rest_poses.check(view, fitted),
        *rest_poses.check_meshes(view, fitted),
        *out_of_reach.check(view, read, fitted),
        *_of_muscles(view, read),
        *_of_masses(view, read),
        *_keyed_in_bakes(view),
        *collider_checks.check(view),
        *missing_joints.check(view),
    ]
    if read.bodies and falling.nothing_holds(read, bool(references.connections_of(view))):
        found.insert(0, findings.about(read.bodies[0].handle, "nothing-holds"))
    return found


def _keyed_in_bakes(scene: Scene) -> Iterator[Finding]:
    """What was keyed while a bake was in place, in its action: the next bake reads what was there before."""
    for item in scene.objects:
        if item.keyed_since:
            yield findings.about(item, "keys-in-bake", object=item.name, action=item.keyed_since)


def _of_masses(scene: Scene, read: SceneModel) -> Iterator[Finding]:
    """Masses and inertias that can be simulated, but are not those of anything of the body's size."""
    for entry in read.bodies:
        body, simulated = entry.handle.find_in(scene), read.model.bodies[entry.index]
        if body is None or body.bone or body.object.type != "MESH":
            continue
        box = np.array(body.object.bound_box) * entry.scale * units.length_scale(scene)
        sides = np.ptp(box, axis=0)
        if not sides.min() > 0.0:
            continue
        density = simulated.mass / sides.prod()
        if not LIGHTEST < density < HEAVIEST:
            yield findings.about(body, "odd-density", body=entry.name, mass=simulated.mass, density=density)
        far = float(np.sqrt(np.linalg.eigvalsh(simulated.inertia)[-1] / simulated.mass))
        size = float(np.linalg.norm(sides))
        shown = units.told_length(size)
        if not NARROWEST * size < far < WIDEST * size:
            radius = units.told_length(far)
            yield findings.about(body, "odd-inertia", body=entry.name, radius=radius, size=shown)
        away = float(np.linalg.norm(np.clip(simulated.com, box.min(axis=0), box.max(axis=0)) - simulated.com))
        if away > size:
            distance = units.told_length(away)
            yield findings.about(
                body, "centre-of-mass-outside", body=entry.name, distance=distance, size=shown
            )


def _of_coordinates(scene: Scene, read: SceneModel) -> Iterator[Finding]:
    """Rests, starts and sliders outside of limits."""
    for entry in read.bodies:
        body, joint = read.model.bodies[entry.index], read.model.joints[entry.index]
        item = references.object_in(scene, entry.joint_uid)
        if item is None:
            continue
        settings = item.condyle.joint
        rows = zip(
            settings.coordinates,
            slider_names(settings),
            joint.reading_names,
            joint.reading_units,
            body.limits,
        )
        for row, slider, name, unit, (lower, upper) in rows:
            checked = []
            if row.stiffness > 0.0:
                checked.append(("rest-outside-limits", name, row.rest))
            if starts_as_set(scene, item):
                checked.append(("start-outside-limits", name, row.start))
            if settings.driven and isinstance(item.get(slider), float):
                value = item[slider] * (units.length_scale(scene) if unit == "m" else 1.0)
                checked.append(("slider-outside-limits", title_of(row), value))
            for code, coordinate, value in checked:
                slack = 1e-6 * max(1.0, abs(value))
                if not lower - slack <= value <= upper + slack:
                    at, low, high = (units.figure(each, unit) for each in (value, lower, upper))
                    yield findings.about(
                        item, code, joint=item.name, coordinate=coordinate, value=at, lower=low, upper=high
                    )
        yield from _keys_beyond(scene, item, joint)


def _keys_beyond(scene: Scene, item: Object, joint: physics_access.Joint) -> Iterator[Finding]:
    """Sliders with keys beyond their ends, where Blender stops them."""
    settings = item.condyle.joint
    whole = np.isinf(joint.range).any(axis=1) & (settings.type in {"spline_curve", "spline_surface"})
    for number, (row, slider) in enumerate(zip(settings.coordinates, slider_names(settings))):
        if not (settings.driven and isinstance(item.get(slider), float)):
            continue
        least, most = slider_ends(item, slider)
        keys = [
            key.co[1]
            for curve in compat.curves_in_use(item)
            if curve.data_path == f'["{slider}"]'
            for key in curve.keyframe_points
        ]
        slack = 1e-5 * (most - least)
        if not keys or (min(keys) >= least - slack and max(keys) <= most + slack):
            continue
        factor = units.length_scale(scene) if row.unit == "m" else 1.0
        first, last, lower, upper = (
            units.figure(value * factor, row.unit) for value in (min(keys), max(keys), least, most)
        )
        is_turn = whole[number] and row.limits != "CUSTOM" and row.unit != "m"
        yield findings.about(
            item,
            "keys-over-a-turn" if is_turn else "keys-outside-slider",
            joint=item.name,
            coordinate=title_of(row),
            first=first,
            last=last,
            lower=lower,
            upper=upper,
        )


def _of_muscles(scene: Scene, read: SceneModel) -> Iterator[Finding]:
    """Muscles with points on nothing, and those that join nothing; all points on one body are an error of the model."""
    simulated = {entry.session_uid for entry in read.muscles}
    for item in muscle_points.muscles_of(scene):
        if not item.condyle.muscle.active:
            continue
        carriers = [muscle_points.carrier(point.target) for point in muscle_points.points_of(item)]
        loose = [number for number, carrier in enumerate(carriers, 1) if carrier is None]
        if loose:
            points = ", ".join(str(number) for number in loose)
            yield findings.about(item, "loose-points", muscle=item.name, points=points)
        if item.session_uid not in simulated:
            yield findings.about(item, "muscle-left-out", muscle=item.name)
            continue
        yield from _inside_obstacles(item)


def _inside_obstacles(muscle: Object) -> Iterator[Finding]:
    """Points of a muscle that lie in an obstacle that it should run over: it goes straight there."""
    places = muscle_points.places_of(muscle)
    strands = muscle_points.strands_over(muscle, muscle_points.points_of(muscle))
    for number, surfaces in strands.items():
        ends = places[number : number + 2]
        for surface in surfaces:
            if surface.condyle.obstacle.shape == "torus":  # near is in its hole
                continue
            deep = [str(number + k + 1) for k in np.flatnonzero(obstacles.nearness(surface, ends) < DEEP)]
            if deep:
                called, points = surface.name, ", ".join(deep)
                yield findings.about(
                    muscle, "point-in-obstacle", muscle=muscle.name, obstacle=called, points=points
                )
