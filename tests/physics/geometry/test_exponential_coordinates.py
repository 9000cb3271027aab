"""The formulas of Kim, Lee & Park 2014 against 50-digit arithmetic, their charts, reach cones and impulses."""

import numpy as np
import pytest

import physics as ph
from physics.geometry import exponential_coordinates
from tests.physics.generators import random_inertia, random_pose

ANGLES = (
    *(0.0, 1e-12, 1e-8, 1e-4, 1e-2, 0.3, 0.9999, 1.0001, 2.0, 3.0, np.pi, 4.0, 5.0, 6.0),
    *(2 * np.pi - 1e-2, 2 * np.pi - 1e-4, 2 * np.pi - 1e-6),
)


class Exact:
    """The maps of eqs. 6, 14, 15, 16 and their derivatives along a motion, in many digits."""

    def __init__(self):
        self.mp = pytest.importorskip("mpmath").mp
        self.mp.dps = 50

    def vector(self, x):
        return self.mp.matrix([self.mp.mpf(float(value)) for value in x])

    def cross(self, a, b):
        return self.mp.matrix(
            [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
        )

    def angle(self, r):
        return self.mp.sqrt(r[0] ** 2 + r[1] ** 2 + r[2] ** 2)

    def velocity(self, r, rd, side):
        t = self.angle(r)
        if t == 0:
            return rd
        beta, gamma = (1 - self.mp.cos(t)) / t**2, (t - self.mp.sin(t)) / t**3
        return rd + side * beta * self.cross(rd, r) + gamma * self.cross(r, self.cross(r, rd))

    def rate(self, r, w, side):
        t = self.angle(r)
        if t == 0:
            return w
        zeta = (1 - t / 2 * self.mp.cot(t / 2)) / t**2
        return w + side * self.cross(r, w) / 2 + zeta * self.cross(r, self.cross(r, w))

    def along(self, function, r, rd):
        h = self.mp.mpf(10) ** -18  # error of the central difference about h^2 = 1e-36
        return (function(r + h * rd) - function(r - h * rd)) / (2 * h)


@pytest.mark.parametrize("angle", ANGLES)
def test_against_many_digits(angle):
    """Error in norm at most 1e-14 max(1, (t / (2 pi - t))^p): p = 1 for the inverse map, one more a derivative."""
    exact = Exact()
    rng = np.random.default_rng(int(angle * 1000))
    for _ in range(3):
        direction, rd, rdd = (x / np.linalg.norm(x) for x in rng.normal(size=(3, 3)))
        r = angle * direction
        t = float(np.linalg.norm(r))
        growth = max(1.0, t / (2.0 * np.pi - t))
        r_, rd_, rdd_ = exact.vector(r), exact.vector(rd), exact.vector(rdd)
        for side, name in ((1, "body"), (-1, "spatial")):

            def bias(f, r_=r_, side=side):
                if not angle:
                    return lambda v, speed: exact.vector([0, 0, 0])
                return lambda v, speed: exact.along(lambda x, v=v, f=f: f(x, v, side), r_, speed)  # noqa: B023

            turning = exact.rate(r_, rd_, side)
            velocity_bias = bias(exact.velocity)(rd_, rd_)
            rate_bias = bias(exact.rate)(rd_, turning)
            cases = [
                (f"{name}_velocity", (rd,), exact.velocity(r_, rd_, side), 0),
                (f"rate_of_{name}_velocity", (rd,), turning, 1),
                (f"{name}_velocity_bias", (rd,), velocity_bias, 0),
                (f"{name}_acceleration", (rd, rdd), exact.velocity(r_, rdd_, side) + velocity_bias, 0),
                (f"{name}_rate_bias", (rd,), rate_bias, 2),
                (f"second_rate_of_{name}", (rd, rdd), exact.rate(r_, rdd_, side) + rate_bias, 2),
            ]
            for function, arguments, expected, power in cases:
                error = float(
                    exact.mp.norm(
                        exact.vector(getattr(exponential_coordinates, function)(r, *arguments)) - expected
                    )
                )
                assert error <= 1e-14 * growth**power, (function, angle, error)


def test_maps_are_inverse_and_take_batches():
    rng = np.random.default_rng(1)
    r, rd, rdd = rng.normal(size=(3, 50, 3))
    w, wd = (
        exponential_coordinates.body_velocity(r, rd),
        exponential_coordinates.body_acceleration(r, rd, rdd),
    )
    assert np.allclose(exponential_coordinates.rate_of_body_velocity(r, w), rd, atol=1e-13)
    assert np.allclose(exponential_coordinates.second_rate_of_body(r, w, wd), rdd, atol=1e-12)
    w, wd = (
        exponential_coordinates.spatial_velocity(r, rd),
        exponential_coordinates.spatial_acceleration(r, rd, rdd),
    )
    assert np.allclose(exponential_coordinates.second_rate_of_spatial(r, w, wd), rdd, atol=1e-12)
    assert np.allclose(w, np.einsum("nij,nj->ni", ph.lie.so3_left_jacobian(r), rd), atol=1e-14)


@pytest.mark.parametrize("length", [0.5, 3.0, 3.3, 5.0, 9.0, 14.0])
def test_reparametrization_keeps_rotation_velocity_acceleration_and_power(length):
    rng = np.random.default_rng(int(10 * length))
    r, rd, rdd, tau = rng.normal(size=(4, 3))
    r *= length / np.linalg.norm(r)
    chart = exponential_coordinates.reparametrize(r, rd, rdd, tau)
    assert np.linalg.norm(chart.r) <= np.pi + 1e-12
    assert np.allclose(ph.lie.so3_exp(chart.r), ph.lie.so3_exp(r), atol=1e-13)
    assert np.allclose(
        exponential_coordinates.body_velocity(chart.r, chart.rd),
        exponential_coordinates.body_velocity(r, rd),
        atol=1e-12,
    )
    new, old = (
        exponential_coordinates.body_acceleration(chart.r, chart.rd, chart.rdd),
        exponential_coordinates.body_acceleration(r, rd, rdd),
    )
    assert np.allclose(new, old, atol=1e-11)
    assert np.isclose(chart.tau @ chart.rd, tau @ rd, atol=1e-12)


def test_whole_turns_have_no_chart():
    with pytest.raises(ph.ModelError, match="singular"):
        exponential_coordinates.reparametrize([2.0 * np.pi, 0.0, 0.0])
    assert not exponential_coordinates.reparametrize(np.zeros(3)).r.any()


def test_reach_cone_is_the_deflection_of_its_axis():
    cone = exponential_coordinates.ReachCone((0.0, 0.6, 0.8), 0.7)
    rng = np.random.default_rng(2)
    for r in rng.normal(size=(50, 3)) * 1.5:
        deflection = cone.axis @ ph.lie.so3_exp(r) @ cone.axis
        assert np.isclose(cone.value(r), deflection - np.cos(0.7), atol=1e-14)
        numeric = [(cone.value(r + h) - cone.value(r - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
        assert np.allclose(cone.gradient(r), numeric, atol=1e-9)
    with pytest.raises(ph.ModelError, match=r"at most pi, got 4"):
        exponential_coordinates.ReachCone((0, 0, 1), 4.0)


@pytest.mark.parametrize("restitution", [0.0, 0.4, 1.0])
def test_impact_at_a_reach_cone_in_a_tree(restitution):
    """Velocity reversed by the restitution, momentum balanced through the tree, energy never up."""
    rng = np.random.default_rng(3)
    builder = ph.ModelBuilder()
    upper = builder.add_body(
        "upper", joint=ph.joints.Spherical(), mass=2.0, com=(0, 0, -0.15), inertia=random_inertia(rng, 2.0)
    )
    builder.add_body(
        "lower",
        upper,
        joint=ph.joints.Universal(),
        joint_in_parent=random_pose(rng),
        mass=1.0,
        com=(0, 0, -0.1),
        inertia=random_inertia(rng, 1.0),
    )
    model = builder.build()
    cone = exponential_coordinates.ReachCone((0, 0, 1), 0.5)
    state = model.state(q=[0.5, 0.0, 0.0, 0.2, -0.3], qd=[2.0, 0.3, 0.1, 1.0, -1.0])
    gradient = np.concatenate([cone.gradient(state.q[:3]), [0.0, 0.0]])
    after, impulse = ph.limit_impact(model, state, gradient, restitution)
    assert impulse > 0.0
    assert np.isclose(gradient @ after.qd, -restitution * (gradient @ state.qd), atol=1e-12)
    change = ph.mass_matrix(model, state) @ (after.qd - state.qd)
    assert np.allclose(change, impulse * gradient, atol=1e-12)
    before, now = ph.energy(model, state).kinetic, ph.energy(model, after).kinetic
    lost = 0.5 * (1.0 - restitution) * impulse * -(gradient @ state.qd)
    assert np.isclose(before - now, lost, atol=1e-12)
    # round-off: the speed after the impact is zero but for the last bit, and processors round it differently
    assert abs(ph.limit_impact(model, after, gradient, restitution).impulse) < 1e-12 * impulse
