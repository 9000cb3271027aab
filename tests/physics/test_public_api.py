"""Public names: more may be added, none may be removed or renamed; each is documented."""

import ast
import inspect
from pathlib import Path

import physics as ph

PUBLIC_NAMES = """
excite muscles muscle_lengths MuscleLengths muscle_points MusclePoints muscle_polyline rank_muscle_masses
MuscleMassEffect joints constraints lie splines exponential_coordinates ModelBuilder Model Body State
forward_dynamics inverse_dynamics inverse_dynamics_derivatives InverseDerivatives forward_dynamics_derivatives
ForwardDerivatives mass_matrix body_poses energy Energy body_jacobian body_bias maximal_coordinates
MaximalCoordinates joint_reactions constrained_bodies ConstrainedMotion HyperReduced hybrid_dynamics
constrained_dynamics ConstrainedDynamics ContactForce assemble Motion HybridMotion inverse_dynamics_of_samples
SampledDynamics ExternalForce inverse_kinematics InverseKinematics KinematicSolution Target project Projection
limit_impact Impact simulate simulate_many simulate_loop Table keyframe_table forces force_wrenches
ForceWrench Result fit_curve CurveFit check_curve CurveCheck fit_surface naive_surface_fit SurfaceFit
save_model load_model ModelFile save_result load_result read_opensim OpenSimModel motion_samples Storage
read_storage write_storage write_opensim OpenSimReport muscle_length_biases
soft_lattice gradient Gradient Parameter objectives optimize Optimum excitations Excitations
fit_joint_to_motion JointFit fit_joint_to_meshes MeshJointFit nearest_motion NearestMotion
CondyleError ModelError JointRangeError FormatError FitError DivergedError
CancelledError MissingDependencyError Finding SimulationWarning
"""
JOINT_NAMES = """
fixed hinge slider helical cylindrical universal planar translational spherical free spline_curve composite
planar_translation slotted_hinge skewed_universal euler elliptic ellipsoid custom inverted spline_surface
scapulothoracic reversed_hinge roll_pitch roll_pitch_yaw
"""
PUBLIC, JOINTS = set(PUBLIC_NAMES.split()), set(JOINT_NAMES.split())
SOURCES = sorted(Path(ph.__file__).parent.rglob("*.py"))


def test_public_names():
    assert set(ph.__all__) == PUBLIC
    assert set(ph.joints.REGISTRY) >= JOINTS  # none goes; a new one needs no line here
    assert all(hasattr(ph, name) for name in PUBLIC)


def test_everything_public_is_documented():
    for name in PUBLIC:
        assert inspect.getdoc(getattr(ph, name)), name
    for name, joint in ph.joints.REGISTRY.items():
        assert inspect.getdoc(joint), name


def roots(nodes):
    """The packages that these statements import, but for relative ones."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module.split(".")[0]


def test_what_sources_import():
    """Inside the extension the package has another name, and Blender's modules are the add-on's business. SciPy, numba
    and matplotlib are imported where they are used, inside functions; numba by the compiler alone.
    """
    for path in SOURCES:
        tree = ast.parse(path.read_text())
        assert not {"bpy", "mathutils", "gpu", "physics", "addon"} & {*roots(ast.walk(tree))}, path
        if path.parent.name != "compiler":
            assert not {"scipy", "numba", "matplotlib"} & {*roots(tree.body)}, path
