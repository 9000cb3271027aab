"""Condyle's physics: joints, fitting, dynamics; float64, SI units, radians, no Blender.

Twists are [angular, linear] in the body frame, wrenches [moment, force], quaternions wxyz, poses 4x4 matrices.
"""

from typing import TYPE_CHECKING

from . import constraints, forces, joints, muscles
from .analysis.muscle_ranking import MuscleMassEffect, rank_muscle_masses
from .analysis.muscle_readings import (
    MuscleLengths,
    MusclePoints,
    muscle_length_biases,
    muscle_lengths,
    muscle_points,
    muscle_polyline,
)
from .bodies.body import Body
from .bodies.state import State
from .dynamics import Energy, body_poses, energy, forward_dynamics, inverse_dynamics, mass_matrix
from .dynamics.complementarity import ContactForce
from .dynamics.constrained import ConstrainedDynamics, assemble, constrained_dynamics
from .dynamics.derivatives import (
    ForwardDerivatives,
    InverseDerivatives,
    forward_dynamics_derivatives,
    inverse_dynamics_derivatives,
)
from .dynamics.hybrid import HybridMotion, hybrid_dynamics
from .dynamics.impact import Impact, limit_impact
from .dynamics.jacobian import body_bias, body_jacobian
from .dynamics.maximal import MaximalCoordinates, maximal_coordinates
from .dynamics.multipliers import ConstrainedMotion, constrained_bodies, joint_reactions
from .dynamics.samples import ExternalForce, SampledDynamics, inverse_dynamics_of_samples
from .dynamics.wrenches import ForceWrench, force_wrenches
from .errors import (
    CancelledError,
    CondyleError,
    DivergedError,
    FitError,
    FormatError,
    JointRangeError,
    MissingDependencyError,
    ModelError,
    SimulationWarning,
)
from .fitting import (
    CurveCheck,
    CurveFit,
    MeshJointFit,
    SurfaceFit,
    check_curve,
    fit_curve,
    fit_joint_to_meshes,
    fit_surface,
    naive_surface_fit,
)
from .io import (
    ModelFile,
    OpenSimModel,
    OpenSimReport,
    Storage,
    load_model,
    load_result,
    motion_samples,
    read_opensim,
    read_storage,
    save_model,
    save_result,
    write_opensim,
    write_storage,
)
from .kinematics.projection import Projection, project
from .kinematics.solve import InverseKinematics, KinematicSolution, inverse_kinematics
from .kinematics.targets import Target
from .model.builder import ModelBuilder
from .model.diagnosis import Finding
from .model.model import Model
from .model.result import Result
from .motions.excitation import excite
from .motions.keyframes import keyframe_table
from .motions.motion import Motion
from .motions.table import Table
from .optimize import objectives
from .optimize.excitations import Excitations, excitations
from .optimize.gradient import Gradient, gradient
from .optimize.marker_fit import JointFit, fit_joint_to_motion
from .optimize.nearest_motion import NearestMotion, nearest_motion
from .optimize.optimum import Optimum, optimize
from .optimize.parameters import Parameter
from .simulation.hyper_reduced import HyperReduced
from .simulation.loop import simulate_loop
from .simulation.many import simulate_many
from .simulation.simulate import simulate
from .soft.lattice import soft_lattice

if TYPE_CHECKING:
    from .geometry import exponential_coordinates, lie, splines
else:
    from .geometry.face import exponential_coordinates, lie, splines

__all__ = [
    "joints",
    "constraints",
    "forces",
    "muscles",
    "excite",
    "muscle_lengths",
    "MuscleLengths",
    "muscle_length_biases",
    "muscle_points",
    "MusclePoints",
    "muscle_polyline",
    "rank_muscle_masses",
    "MuscleMassEffect",
    "force_wrenches",
    "ForceWrench",
    "lie",
    "splines",
    "exponential_coordinates",
    "ModelBuilder",
    "Model",
    "Body",
    "State",
    "forward_dynamics",
    "inverse_dynamics",
    "inverse_dynamics_derivatives",
    "InverseDerivatives",
    "forward_dynamics_derivatives",
    "ForwardDerivatives",
    "mass_matrix",
    "body_poses",
    "energy",
    "Energy",
    "body_jacobian",
    "body_bias",
    "maximal_coordinates",
    "MaximalCoordinates",
    "joint_reactions",
    "constrained_bodies",
    "ConstrainedMotion",
    "HyperReduced",
    "hybrid_dynamics",
    "HybridMotion",
    "inverse_dynamics_of_samples",
    "SampledDynamics",
    "ExternalForce",
    "inverse_kinematics",
    "InverseKinematics",
    "KinematicSolution",
    "Target",
    "project",
    "Projection",
    "limit_impact",
    "Impact",
    "constrained_dynamics",
    "ConstrainedDynamics",
    "ContactForce",
    "assemble",
    "soft_lattice",
    "Motion",
    "simulate",
    "simulate_many",
    "simulate_loop",
    "gradient",
    "Gradient",
    "Parameter",
    "objectives",
    "optimize",
    "nearest_motion",
    "NearestMotion",
    "Optimum",
    "excitations",
    "Excitations",
    "fit_joint_to_motion",
    "JointFit",
    "Table",
    "keyframe_table",
    "Result",
    "Finding",
    "fit_curve",
    "CurveFit",
    "check_curve",
    "CurveCheck",
    "fit_joint_to_meshes",
    "MeshJointFit",
    "fit_surface",
    "naive_surface_fit",
    "SurfaceFit",
    "save_model",
    "load_model",
    "ModelFile",
    "save_result",
    "load_result",
    "read_opensim",
    "OpenSimModel",
    "write_opensim",
    "OpenSimReport",
    "motion_samples",
    "Storage",
    "read_storage",
    "write_storage",
    "CondyleError",
    "ModelError",
    "JointRangeError",
    "FormatError",
    "FitError",
    "DivergedError",
    "CancelledError",
    "MissingDependencyError",
    "SimulationWarning",
]
