"""Springs that are no straight line and dampers by table, against their functions, their energy and quadrature."""

import numpy as np
import pytest
from scipy.integrate import quad

import physics as ph
from physics.kernels.forces.passive import passive_slopes
from physics.kernels.joints.functions import evaluate_function

j = ph.joints
TABLE = {"x": [-1.0, -0.4, 0.3, 1.2], "y": [-9.0, -1.0, 0.5, 14.0]}
FUNCTIONS = [
    j.Linear(3.0, 0.5),
    j.Wave(2.0, 1.0, -0.3),
    j.Polynomial([0.2, -1.0, 0.0, 40.0]),
    j.CubicSpline(**TABLE),
    j.CubicSpline(**TABLE, ends="natural"),
    j.CubicSpline([0.5, 1.0, 1.7], [1.0, 5.0, 4.0]),  # 0 lies beyond its ends
    j.PiecewiseLinear(**TABLE),
    j.PiecewiseLinear([-3.0, -2.0, -1.0], [-5.0, -1.0, 0.0]),
    j.PiecewisePolynomial([-1.0, 0.3, 1.2], [[-2.0, 1.0, 0.5, 3.0], [0.5, 2.0, -1.0, 0.7]]),
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.type)
def test_integrals_are_exact(function):
    data = function.integral("elastic")
    for q in (-4.0, -1.3, -0.4, -0.1, 0.0, 0.3, 0.9, 1.2, 2.5):
        value, slope, curve = evaluate_function(data, 0, q)
        breaks = [x for x in getattr(function, "x", ()) if min(0.0, q) < x < max(0.0, q)] or None
        assert abs(value - quad(lambda x: float(function(x)), 0.0, q, points=breaks)[0]) < 1e-9
        expected = function.derivatives(q)
        assert abs(slope - expected[0]) < 1e-12 * (1.0 + abs(slope))
        if q not in TABLE["x"]:  # a table's slope jumps there
            assert abs(curve - expected[1]) < 1e-12 * (1.0 + abs(curve))


def swing(elastic=None, damper=None, joint=None, **changes):
    builder = ph.ModelBuilder(gravity=(0, 0, 0))
    inertial = {"mass": 1.0, "inertia": np.eye(3) * 0.5}
    builder.add_body("arm", joint=joint or j.Hinge(), elastic=elastic, damper=damper, **changes, **inertial)
    return builder.build()


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.type)
def test_force_energy_and_slope_come_from_one_function(function):
    model = swing(elastic=function, damper=j.PiecewiseLinear([-1.0, 0.0, 2.0], [-3.0, 0.0, 1.0]))
    for q, qd in ((0.7, 0.5), (-2.1, -0.5)):
        state = model.state(q=[q], qd=[qd])
        resisting = -0.5 * ph.forward_dynamics(model, state)[0]
        damper = 0.5 * qd if qd > 0.0 else 3.0 * qd
        assert abs(resisting - float(function(q)) - damper) < 1e-12 * (1.0 + abs(resisting))
        stored = ph.energy(model, state).potential
        assert abs(stored - evaluate_function(function.integral(""), 0, q)[0]) < 1e-12 * (1.0 + abs(stored))
        _, _, _, data, dof_float = model.arrays
        tau = np.zeros(1)
        by_q, by_qd = passive_slopes(dof_float, data, tau, 0, q, qd)
        step = 1e-6
        ahead, behind = (
            0.5 * ph.forward_dynamics(model, model.state(q=[q + s], qd=[qd]))[0] for s in (step, -step)
        )
        assert abs(by_q - (ahead - behind) / (2.0 * step)) < 1e-7 * (1.0 + abs(by_q))
        assert abs(by_qd + damper / qd) < 1e-12


def test_straight_laws_are_springs_and_dampers():
    law = swing(elastic=j.Linear(3.0), damper=j.Linear(0.4))
    plain = swing(stiffness=3.0, damping=0.4)
    state = law.state(q=[0.3], qd=[-0.8])
    assert np.allclose(ph.forward_dynamics(law, state), ph.forward_dynamics(plain, state), rtol=1e-14)
    assert np.isclose(ph.energy(law, state).potential, ph.energy(plain, state).potential, rtol=1e-14)


def test_a_viscosity_is_a_damping_that_depends_on_the_coordinate():
    model = swing(viscosity=j.Polynomial([0.2, 0.0, 3.0]))
    q, qd = 0.7, -1.3
    damping = 0.2 + 3.0 * q**2
    found = 0.5 * ph.forward_dynamics(model, model.state(q=[q], qd=[qd]))[0]
    assert found == pytest.approx(-damping * qd, rel=1e-14)
    _, _, _, data, dof_float = model.arrays
    by_q, by_qd = passive_slopes(dof_float, data, np.zeros(1), 0, q, qd)
    assert (by_q, by_qd) == pytest.approx((-6.0 * q * qd, -damping), rel=1e-14)
    again = ph.ModelBuilder.from_dict(model.to_dict()).build()
    assert again == model and again.bodies[0].viscosity == model.bodies[0].viscosity
    with pytest.raises(ph.ModelError, match=r"viscosity of body 'arm'.*-1 at"):
        swing(viscosity=j.PiecewiseLinear([-1.0, 0.0, 1.0], [0.0, -1.0, 0.0]))


def test_table_spring_keeps_energy_and_its_period():
    function = j.CubicSpline([-1.0, -0.5, 0.0, 0.5, 1.0], [-3.0, -1.0, 0.0, 1.0, 3.0], ends="natural")
    model = swing(elastic=function)
    energy = function.integral("")

    def speed(q):  # from rest at 0.9, inertia 0.5
        return np.sqrt(4.0 * (evaluate_function(energy, 0, 0.9)[0] - evaluate_function(energy, 0, q)[0]))

    # dx / x' with x = 0.9 sin u, smooth up to the turning point
    quarter = quad(
        lambda u: 0.9 * np.cos(u) / speed(0.9 * np.sin(u)), 0.0, np.pi / 2.0, points=[np.arcsin(5 / 9)]
    )[0]
    result = ph.simulate(model, model.state(q=[0.9]), 4.0 * quarter, 1e-3, "rk4", record_interval=quarter)
    # jumps of the spline's third derivative leave RK4 at third order on a step or two each swing
    assert np.abs(result.q[:, 0] - 0.9 * np.array([1, 0, -1, 0, 1])).max() < 1e-8
    assert np.abs(result.energy[:, 2] / result.energy[0, 2] - 1.0).max() < 1e-9


def test_laws_are_given_by_name_number_or_list():
    first, second = j.Linear(1.0), j.Polynomial([0.0, 0.0, 0.0, 2.0])
    models = [
        swing(joint=j.Planar(), elastic=given, damper={"y": j.Linear(0.5)})
        for given in ({"x": first, "angle": second}, {0: first, 2: second}, [first, None, second])
    ]
    assert models[0] == models[1] == models[2]
    assert models[0].bodies[0].elastic == (first, None, second)


def test_laws_come_back_from_a_file(tmp_path):
    model = swing(joint=j.Free(), elastic=[*FUNCTIONS[:4], None, FUNCTIONS[6]], damper={"r_x": j.Linear(2.0)})
    ph.save_model(model, tmp_path / "model.json")
    again = ph.load_model(tmp_path / "model.json").model
    assert again == model and again.bodies[0].elastic == model.bodies[0].elastic


@pytest.mark.parametrize(
    "values, words",
    [
        ({"elastic": 3.0}, "elastic of body 'arm' must be functions"),
        ({"elastic": {"w": j.Linear()}}, "elastic of body 'arm' names an unknown coordinate 'w'"),
        ({"elastic": {7: j.Linear()}}, "elastic of body 'arm' names an unknown coordinate 7"),
        ({"elastic": {0: 2.0}}, "elastic of body 'arm', coordinate 0, must be a function of physics.joints, got 2.0"),
        ({"elastic": {0: j.TangentAngle(1.0, 2.0)}}, "elastic of body 'arm' cannot be a function of type 'tangent_an"),
        ({"elastic": j.Linear()}, "elastic of body 'arm' must name a coordinate: x, y, angle"),
        ({"damper": {0: j.Linear(1.0, 0.5)}}, "damper of body 'arm' must be 0 at velocity 0, got 0.5"),
        (
            {"damper": {0: j.PiecewiseLinear([-1.0, 0.0, 1.0], [1.0, 0.0, 1.0])}},
            "damper of body 'arm' must resist the motion, got 1 at velocity -1",
        ),
        ({"damper": {0: j.Linear(-1.0)}}, "must resist the motion, got 0.001 at velocity -0.001"),
        ({"damper": {0: j.Polynomial([0.0, 0.0, 2.0])}}, "damper of body 'arm' must resist the motion, got 2e-06 at"),
        ({"damper": {0: j.Polynomial([0.0, 1.0, 0.0, -0.1])}}, "must resist the motion, got 90 at velocity -10"),
    ],
)  # fmt: skip
def test_bad_laws_are_named(values, words):
    with pytest.raises(ph.ModelError, match=words):
        swing(joint=j.Planar(), **values)


def test_joints_follow_functions_with_kinks():
    """Exactly: on both sides of a kink, and along its first and last line beyond the table."""
    table = j.PiecewiseLinear([0.0, 1.0, 2.0], [0.0, 1.0, 0.0])
    still = [((0, 1, 0), j.Linear(0.0), None), ((0, 0, 1), j.Linear(0.0), None)]
    joint = j.Custom(("a",), [((1, 0, 0), j.Linear(0.0), None), *still], [((1, 0, 0), table, "a"), *still])
    for value, x in ((-0.5, -0.5), (0.5, 0.5), (1.0, 1.0), (1.25, 0.75), (3.0, -1.0)):
        assert joint.transform(np.array([value]))[0, 3] == x
