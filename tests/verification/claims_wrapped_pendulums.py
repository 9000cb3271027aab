"""Double pendulums with a heavy muscle over a cylinder: energy with and without its velocity terms, and Jacobians."""

from typing import Any

import numpy as np

import physics as ph
from blender_scenes import pendulums_model as pendulums
from physics.muscles import PathPoint
from physics.muscles.network import Network

from .claim import Measurement, Plot, claim

MILLIMETRES = 1e3 * pendulums.SMOOTHING
ATTACH = np.radians(np.linspace(-12.0, 4.0, 1601))


def energies(name: str, title: str, **options: Any) -> tuple[list[float], Plot]:
    """Drifts of the first pendulum with and without velocity terms, and its energies."""
    drifts, lines = [], {}
    for terms, label in ((True, "with"), (False, "without")):
        result = pendulums.swing(pendulums.build_model(pendulums.GROUP[0], velocity_terms=terms, **options))
        drifts.append(pendulums.drift(result))
        few = slice(None, None, 10)
        lines[f"total, {label} velocity terms"] = (result.t[few], result.energy[few, 2])
        if terms:
            lines["kinetic, with velocity terms"] = (result.t[few], result.energy[few, 0])
    return drifts, Plot(name, title, "time [s]", "energy [J]", lines)


@claim("muscles.type_2_energy", source="Wang 2022, sec. 6.2.4, Fig. 6.6 a-b", at_most=1e-4, cost="slow")
def type_2_energy() -> Measurement:
    """Double pendulum, a muscle as heavy as either bone through a path point that its mass slides past (type II),
    SDIRK2, 10 s at 1 ms: energy drift over the swing.
    """
    drifts, plot = energies("muscle_energy_2", "A type II muscle", wraps=False)
    return Measurement(drifts[0], {"without velocity terms": drifts[1]}, (plot,))


@claim("muscles.type_3_energy", source="Wang 2022, sec. 6.2.4, Fig. 6.6 c-d", at_most=1e-4, cost="slow")
def type_3_energy() -> Measurement:
    """Double pendulum, a muscle as heavy as either bone over a cylinder (type III), the worst of five pendulums that
    differ in origin, insertion, cylinder, SDIRK2, 10 s at 1 ms: energy drift over the swing.
    """
    drifts = {
        f"pendulum {k}": pendulums.drift(pendulums.swing(pendulums.build_model(variant)))
        for k, variant in enumerate(pendulums.GROUP, 1)
    }
    reference = pendulums.drift(pendulums.swing(pendulums.build_model(None)))
    plot = energies("muscle_energy_3", "A type III muscle")[1]
    return Measurement(max(drifts.values()), {**drifts, "no muscle": reference}, (plot,))


def between_points(variant: pendulums.Variant, rounding: float) -> ph.Model:
    """A pendulum whose muscle bends at a point on either side of the cylinder, 6 cm farther out than its ends."""
    description = pendulums.build_model(variant).to_dict()
    muscle, half = description["muscles"][0], 0.5 * pendulums.LENGTH
    (x, y, z), (u, v, w) = variant.origin, variant.insertion
    muscle["path"].insert(2, PathPoint("Distal", (u + 0.06, v, 0.5 * w)).to_dict())
    muscle["path"].insert(1, PathPoint("Proximal", (x + 0.06, y, 0.5 * z - half)).to_dict())
    muscle["rounding"] = rounding
    return ph.ModelBuilder.from_dict(description).build()


@claim("muscles.types_2_and_3_energy", source="Wang 2022, sec. 6.2.4", at_most=2e-5, cost="slow")
def types_2_and_3_energy() -> Measurement:
    """Double pendulum, a muscle as heavy as either bone over a cylinder, between two path points that its mass slides
    past (types II and III), SDIRK2, 10 s at 1 ms: energy drift over the swing, the worst of the five; with sharp
    corners in the details.
    """
    drifts = {}
    for k, variant in enumerate(pendulums.GROUP, 1):
        for rounding, label in ((0.4, ""), (0.0, ", raw corners")):
            model = between_points(variant, rounding)
            drifts[f"pendulum {k}{label}"] = pendulums.drift(pendulums.swing(model))
    return Measurement(max(drifts[f"pendulum {k}"] for k in range(1, len(pendulums.GROUP) + 1)), drifts)


@claim("muscles.default_smoothing_energy", source="Wang 2022, sec. 6.2.4", at_most=2.5e-4, cost="slow")
def default_smoothing_energy() -> Measurement:
    """Double pendulum, a muscle as heavy as either bone over a cylinder, SDIRK2, 10 s at 1 ms: energy drift over the
    swing, smooth over the default length, a fifth of the radius: the worst of the five.
    """
    drifts, lengths = {}, {}
    for k, variant in enumerate(pendulums.GROUP, 1):
        model = pendulums.build_model(variant, smoothing=None)
        (wrap,) = model.muscles[0].strands.values()
        lengths[f"pendulum {k}, smoothing [mm]"] = 1e3 * wrap.smoothing_length(massive=True)
        drifts[f"pendulum {k}"] = pendulums.drift(pendulums.swing(model))
    return Measurement(max(drifts.values()), {**drifts, **lengths})


@claim(
    "muscles.network_energy",
    source="Wang 2022, secs. 5.3.3.2, 6.2.3, 6.2.4, Figs. 6.5, 6.6 c-d",
    at_most=2e-4,
    cost="slow",
)
def network_energy() -> Measurement:
    """Double pendulum, a muscle as heavy as either bone over a cylinder, its mass points laid by the trained network,
    the worse of the first two pendulums of the claim ``muscles.type_3_energy``, which has the smooth path's, SDIRK2,
    10 s at 1 ms: energy drift over the swing; without velocity terms in the details.
    """
    trained, drifts = Network.read(), {}
    for k, variant in enumerate(pendulums.GROUP[:2], 1):
        model = pendulums.build_model(variant, network=trained)
        drifts[f"pendulum {k}"] = pendulums.drift(pendulums.swing(model))
    model = pendulums.build_model(pendulums.GROUP[0], network=trained, velocity_terms=False)
    without = pendulums.drift(pendulums.swing(model))
    return Measurement(max(drifts.values()), {**drifts, "without velocity terms": without})


@claim(
    "muscles.type_3_without_velocity_terms",
    source="Wang 2022, sec. 6.2.4, Fig. 6.6 c",
    at_least=0.05,
    cost="slow",
)
def type_3_without_velocity_terms() -> float:
    """Double pendulum, a muscle as heavy as either bone over a cylinder (type III), SDIRK2, 10 s at 1 ms: energy drift
    over the swing, without the muscle's quadratic velocity vector.
    """
    model = pendulums.build_model(pendulums.GROUP[0], velocity_terms=False)
    return pendulums.drift(pendulums.swing(model))


@claim("muscles.smoothing_keeps_energy", source="Wang 2022, sec. 6.2.3", at_least=100.0, cost="slow")
def smoothing_keeps_energy() -> Measurement:
    """Double pendulum, a muscle as heavy as either bone over a cylinder, SDIRK2, 10 s at 1 ms: energy drift over the
    swing, with the exact shortest path, over the drift with the smooth one.
    """
    found = {}
    for smoothing in (0.0, 5e-4, 2e-3, 5e-3, pendulums.SMOOTHING, 2e-2):
        model = pendulums.build_model(pendulums.GROUP[0], smoothing=smoothing)
        found[smoothing] = pendulums.drift(pendulums.swing(model))
    details = {f"smoothing {1e3 * length:g} mm": value for length, value in found.items()}
    return Measurement(found[0.0] / found[pendulums.SMOOTHING], details)


def middle_jacobian(smoothing: float) -> Any:
    """Derivatives of the middle mass point by the second angle (n, 3), while the pendulum folds towards the muscle."""
    model = pendulums.build_model(pendulums.GROUP[0], smoothing=smoothing)
    half = pendulums.NUM_POINTS // 2
    return np.array(
        [ph.muscle_points(model, model.state(q=[0.0, a]), "Muscle").jacobians[half, :, 1] for a in ATTACH]
    )


def jump(jacobian: Any) -> float:
    """Largest change between neighbouring angles (0.01 degrees) over the range."""
    return float(np.linalg.norm(np.diff(jacobian, axis=0), axis=1).max() / np.ptp(jacobian, axis=0).max())


@claim("muscles.jacobian_jump", source="Wang 2022, Fig. 1.6", at_least=0.3)
def jacobian_jump() -> Measurement:
    """Derivative of the middle mass point by the second angle where the muscle leaves the cylinder: largest change
    within 0.01 degrees over its range, exact shortest path; the smooth one in the details.
    """
    raw, smooth = middle_jacobian(0.0), middle_jacobian(pendulums.SMOOTHING)
    lines = {
        "shortest path": (np.degrees(ATTACH), raw[:, 2]),
        f"smooth over {MILLIMETRES:g} mm": (np.degrees(ATTACH), smooth[:, 2]),
    }
    plot = Plot("muscle_jacobian", "A mass point's Jacobian, z", "second angle [degrees]", "m/rad", lines)
    return Measurement(jump(raw), {"smooth": jump(smooth)}, (plot,))


@claim("muscles.smooth_jacobian_jump", source="Wang 2022, Fig. 1.6", at_most=0.02)
def smooth_jacobian_jump() -> float:
    """The same with the path smooth over {MILLIMETRES:g} mm."""
    return jump(middle_jacobian(pendulums.SMOOTHING))
