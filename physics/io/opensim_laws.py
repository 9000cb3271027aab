"""Force laws of OpenSim's muscles by our parameter names; notes name parameters without a counterpart."""

from typing import Any

from ..errors import ModelError
from ..muscles import DeGroote, ForceLaw, Millard, Schutte, Tension, Thelen
from .opensim_notes import Notes
from .opensim_parts import OpenSimMuscle

STATIC = {
    "max_isometric_force": "max_isometric_force",
    "optimal_fiber_length": "optimal_fibre_length",
    "tendon_slack_length": "tendon_slack_length",
    "pennation_angle_at_optimal": "pennation",
}
COMMON = STATIC | {
    "max_contraction_velocity": "max_contraction_velocity",
    "activation_time_constant": "activation_time",
    "deactivation_time_constant": "deactivation_time",
    "minimum_activation": "minimum_activation",
}
THELEN = COMMON | {
    "FmaxTendonStrain": "tendon_strain",
    "FmaxMuscleStrain": "passive_strain",
    "KshapeActive": "active_shape",
    "KshapePassive": "passive_shape",
    "Af": "concentric_shape",
    "Flen": "eccentric_force",
    "fv_linear_extrap_threshold": "eccentric_share",
}
MILLARD = COMMON | {
    "fiber_damping": "damping",
    "ActiveForceLengthCurve.min_norm_active_fiber_length": "active_low",
    "ActiveForceLengthCurve.transition_norm_fiber_length": "active_knee",
    "ActiveForceLengthCurve.max_norm_active_fiber_length": "active_high",
    "ActiveForceLengthCurve.shallow_ascending_slope": "active_slope",
    "ActiveForceLengthCurve.minimum_value": "active_least",
    "ForceVelocityCurve.concentric_slope_at_vmax": "concentric_slope",
    "ForceVelocityCurve.concentric_slope_near_vmax": "concentric_near_slope",
    "ForceVelocityCurve.isometric_slope": "isometric_slope",
    "ForceVelocityCurve.eccentric_slope_at_vmax": "eccentric_slope",
    "ForceVelocityCurve.eccentric_slope_near_vmax": "eccentric_near_slope",
    "ForceVelocityCurve.max_eccentric_velocity_force_multiplier": "eccentric_force",
    "ForceVelocityCurve.concentric_curviness": "concentric_curviness",
    "ForceVelocityCurve.eccentric_curviness": "eccentric_curviness",
    "FiberForceLengthCurve.strain_at_zero_force": "passive_strain_zero",
    "FiberForceLengthCurve.strain_at_one_norm_force": "passive_strain_one",
    "FiberForceLengthCurve.stiffness_at_low_force": "passive_low_stiffness",
    "FiberForceLengthCurve.stiffness_at_one_norm_force": "passive_stiffness",
    "FiberForceLengthCurve.curviness": "passive_curviness",
    "TendonForceLengthCurve.strain_at_one_norm_force": "tendon_strain",
    "TendonForceLengthCurve.stiffness_at_one_norm_force": "tendon_stiffness",
    "TendonForceLengthCurve.norm_force_at_toe_end": "tendon_toe_force",
    "TendonForceLengthCurve.curviness": "tendon_curviness",
}
DEGROOTE = COMMON | {
    "fiber_damping": "damping",
    "passive_fiber_strain_at_one_norm_force": "passive_strain",
    "tendon_strain_at_one_norm_force": "tendon_strain",
    "active_force_width_scale": "active_width",
    "activation_dynamics_smoothing": "activation_smoothing",
}
SCHUTTE = STATIC | {"damping": "damping"}
SCHUTTE_TIMES = {"time_scale": 0.1, "activation1": 7.667, "activation2": 1.459854}
SCHUTTE_CURVES = {f"{kind}_force_length_curve": f"{kind}_curve" for kind in ("active", "passive", "tendon")}
LAWS: dict[str, tuple[Any, dict[str, str]]] = {
    "Thelen2003Muscle": (Thelen, THELEN),
    "Millard2012EquilibriumMuscle": (Millard, MILLARD),
    "DeGrooteFregly2016Muscle": (DeGroote, DEGROOTE),
    "Schutte1993Muscle_Deprecated": (Schutte, SCHUTTE),
}
# OpenSim's defaults
DEFAULTS = {"max_isometric_force": 1000.0, "optimal_fibre_length": 0.1, "tendon_slack_length": 0.2}
MARGIN = 1e-5  # rad or m: OpenSim's conditional points are active so far beyond both ends of their range
LEAST_ACTIVATION = 0.01  # of Thelen's law in OpenSim
NO_LENGTH = 1e-9  # m, of a tendon without length; a rigid one is only subtracted from the path
FLAGS = frozenset({"ignore_tendon_compliance", "ignore_activation_dynamics"})
# used only by controllers, solvers and initial states
CONTROL = "optimal_force", "min_control", "max_control"
STARTS = "default_activation", "default_fiber_length", "default_normalized_tendon_force"
ASIDE = frozenset((*CONTROL, *STARTS, *SCHUTTE_TIMES))


def law_of(muscle: OpenSimMuscle, notes: Notes) -> ForceLaw | None:
    """The force law of a muscle, a plain tension for an unknown kind; None if it applies no force."""
    if not muscle.active:
        notes.note("muscles are switched off in the file and apply no force", muscle.name)
        return None
    if muscle.law is not None:
        return muscle.law
    if muscle.kind not in LAWS:
        return _plain(muscle, notes)
    make, names = LAWS[muscle.kind]
    values: dict[str, Any] = DEFAULTS | {
        ours: muscle.parameters[theirs] for theirs, ours in names.items() if theirs in muscle.parameters
    }
    flags = dict(muscle.flags)
    if names is DEGROOTE:
        values["passive"] = not flags.pop("ignore_passive_fiber_force", False)
    if names in (THELEN, DEGROOTE) and values.get("minimum_activation", LEAST_ACTIVATION) < LEAST_ACTIVATION:
        values["minimum_activation"] = LEAST_ACTIVATION
        notes.warn(f"minimum_activation is increased to {LEAST_ACTIVATION:g}", muscle.name)
    slack = values["tendon_slack_length"]
    values["rigid_tendon"] = muscle.flags.get("ignore_tendon_compliance", False) or slack == 0.0
    if slack == 0.0:
        values["tendon_slack_length"] = NO_LENGTH
        notes.note("a tendon without length is rigid", muscle.name)
    if muscle.flags.get("ignore_activation_dynamics", False):
        notes.warn("ignore_activation_dynamics is not supported; the time constants apply", muscle.name)
    for name, set_ in flags.items():
        if set_ and name not in FLAGS:
            notes.warn(f"{name} is not supported", muscle.name)
    for name, value in muscle.parameters.items():
        if name == "maximum_pennation_angle" and abs(value - 1.47063) > 1e-4:
            notes.warn(f"{name} {value:g} is not supported; acos(0.1) is used", muscle.name)
        elif name not in names and name not in ASIDE and name != "maximum_pennation_angle":
            notes.note(f"{name} of a {muscle.kind} is not read", muscle.name)
    try:
        if names is SCHUTTE:
            scale, rise, fall = (muscle.parameters.get(name, usual) for name, usual in SCHUTTE_TIMES.items())
            values |= {"max_contraction_velocity": 1.0 / scale, "activation_time": scale / (rise + fall)}
            values |= {"deactivation_time": scale / fall, **muscle.curves}
        law: ForceLaw = make(**values)
    except ModelError as error:
        raise ModelError(f"muscle {muscle.name!r}: {error}") from error
    except ZeroDivisionError as error:
        raise ModelError(f"muscle {muscle.name!r}: {', '.join(SCHUTTE_TIMES)} are too small") from error
    return law


def _plain(muscle: OpenSimMuscle, notes: Notes) -> ForceLaw | None:
    largest = muscle.parameters.get("max_isometric_force", muscle.parameters.get("optimal_force"))
    if largest is None and muscle.kind != "PathActuator":
        notes.warn(f"a {muscle.kind} is not supported; it applies no force", muscle.name)
        return None
    if muscle.kind != "PathActuator":
        cause = f"a {muscle.kind} is not supported; its force is the excitation times its largest force"
        notes.warn(cause, muscle.name)
    return Tension(abs(1.0 if largest is None else largest))
