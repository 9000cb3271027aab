"""Mechanisms with closed loops, and the violation of their closure, measured from the bodies' poses only."""

from typing import Any

import numpy as np

import physics as ph
from blender_scenes import walker_model
from physics._typing import FloatArray
from physics.constraints import HingeConstraint, WeldConstraint
from physics.geometry import lie
from tests.physics.constraints.mechanisms import bar, four_bar, pose

from .generators import random_inertia, smooth_frames

CRANK, ROD = 0.3, 1.0  # m


def slider_crank() -> tuple[Any, Any]:
    """Crank, connecting rod and a piston on a slide 0.1 m off the crank's axis, gravity across the slide."""
    builder = ph.ModelBuilder(gravity=(0.0, -9.81, 0.0))
    bar(builder, "crank", None, CRANK, 0.0)
    bar(builder, "rod", "crank", ROD, CRANK)
    link = {"joint": ph.joints.Slider((1, 0, 0)), "mass": 2.0, "inertia": 0.01 * np.eye(3)}
    builder.add_body("piston", joint_in_parent=pose((0.0, 0.1, 0.0)), **link)
    builder.add_constraint("pin", HingeConstraint("rod", "piston", frame=pose((ROD, 0.0, 0.0))))
    model = builder.build()
    guess = model.state(q={"crank": 1.0, "rod": -1.2, "piston": 1.1}, qd={"crank": 6.0})
    return model, ph.assemble(model, guess)


def crossed_four_bar() -> tuple[Any, Any]:
    """The four-bar linkage of the tests, with hinges, released at rest."""
    return four_bar("hinge")


def jansen_leg() -> tuple[Any, Any]:
    """One leg of the walking machine on a fixed frame: six links, three loops, with a free shaft."""
    model = walker_model.build_model(walker_model.legs()[:1], walks=False)
    return model, ph.assemble(model, model.state(qd={"Shaft": 5.0}))


def thigh(rng: np.random.Generator, order: int) -> Any:
    """A spline curve through frames of a smooth motion of a few radians."""
    return ph.joints.SplineCurve(smooth_frames(rng, 9, angle=0.3, length=0.1), order=order)


def spline_ring(count: int = 8, order: int = 4) -> tuple[Any, Any]:
    """A ring of bodies with spline curves in space as joints, the last of which closes it; springs centre them."""
    rng = np.random.default_rng(12)
    builder = ph.ModelBuilder()
    joints = [thigh(rng, order) for _ in range(count)]
    middles = [float(np.mean(joint.range)) for joint in joints]
    spring = {"stiffness": 30.0, "damping": 0.02}
    parent = None
    for k, joint in enumerate(joints[:-1]):
        parent = builder.add_body(
            f"body {k}",
            parent,
            joint=joint,
            mass=1.0,
            com=0.05 * rng.standard_normal(3),
            inertia=random_inertia(rng, 1.0),
            rest=middles[k],
            **spring,
        )
    tree = builder.build()
    end = ph.body_poses(tree, tree.state(q=middles[:-1]))[-1]
    last = joints[-1]
    builder.add_loop_joint(
        "ring",
        parent,
        None,
        joint=last,
        joint_in_parent=end @ lie.inverse(last.transform(np.array(middles[-1:]))),
        rest=middles[-1],
        **spring,
    )
    model = builder.build()
    return model, ph.assemble(model, model.state(q=middles, qd=rng.standard_normal(count)))


RIDER = {"mass": 1.0, "com": (0.1, 0.05, -0.1), "inertia": np.diag([0.02, 0.03, 0.04])}
SPRING = 6.0  # keeps the body within the curve


def there_and_back() -> tuple[Any, Any]:
    """A body on a spline curve, and a second one on it by the inverted curve, which is welded to the world.

    Of the weld's six rows only one is independent: both coordinates are equal.
    """
    curve = thigh(np.random.default_rng(3), 6)
    builder = ph.ModelBuilder()
    start = float(np.mean(curve.range))
    builder.add_body("there", joint=curve, stiffness=SPRING, rest=start, **RIDER)
    builder.add_body("back", "there", joint=ph.joints.Inverted(curve), **RIDER)
    builder.add_constraint("weld", WeldConstraint("back"))
    model = builder.build()
    return model, ph.assemble(model, model.state(q=[start, start]))


def rider_alone() -> tuple[Any, Any]:
    """The body on the curve without the second one."""
    curve = thigh(np.random.default_rng(3), 6)
    builder = ph.ModelBuilder()
    start = float(np.mean(curve.range))
    builder.add_body("there", joint=curve, stiffness=SPRING, rest=start, **RIDER)
    model = builder.build()
    return model, model.state(q=[start])


LOOPS = {
    "four-bar": crossed_four_bar,
    "slider-crank": slider_crank,
    "Jansen's leg": jansen_leg,
    "ring of spline joints": spline_ring,
    "curve and inverted curve": there_and_back,
}


def frames_apart(constraint: Any, first: FloatArray, second: FloatArray) -> FloatArray:
    """Distance between two frames (n, 4, 4) that a hinge or a weld keeps together: metres, or radians."""
    between = lie.inverse(second) @ first
    places = np.linalg.norm(between[:, :3, 3], axis=1)
    if constraint.type == "weld":
        turns = np.linalg.norm(lie.so3_log(between[:, :3, :3]), axis=1)
    else:
        turns = np.linalg.norm(between[:, :2, 2], axis=1)  # sine of the angle between the axes
    return np.maximum(places, turns)


def closure(model: Any, poses: FloatArray) -> float:
    """The largest violation of any hinge or weld of a model in poses (n, nb, 4, 4) [m, rad]."""
    worst = 0.0
    for constraint in model.constraints.values():
        ends = []
        for name, frame in ((constraint.body, constraint.frame), (constraint.other, constraint.other_frame)):
            world = np.broadcast_to(np.eye(4), (len(poses), 4, 4))
            ends.append((world if name is None else poses[:, model.index(name)]) @ frame)
        worst = max(worst, float(frames_apart(constraint, *ends).max()))
    return worst
