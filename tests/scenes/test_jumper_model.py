"""The jumping figure: a somersault, gravity alone in flight, soft parts that wobble and calm down. No Blender."""

import numpy as np
import pytest

from blender_scenes import jumper_model, jumper_search

PLANS = {"rigid": (False, jumper_model.RIGID), "wobbling": (True, jumper_model.WOBBLING_PLAN)}


@pytest.fixture(scope="module", params=PLANS)
def jump(request):
    wobbling, plan = PLANS[request.param]
    result = jumper_model.jump(jumper_model.build_model(wobbling), plan)
    return result, jumper_model.course(result)


def test_both_figures_are_as_heavy():
    masses = [
        sum(body.mass for body in jumper_model.build_model(wobbling).bodies) for wobbling in (False, True)
    ]
    assert masses[0] == pytest.approx(masses[1], abs=1e-12)
    assert masses[0] == pytest.approx(70.0, abs=0.5)


def test_figure_takes_off_again_and_turns_once(jump):
    result, course = jump
    assert 0 < course.touch < course.takeoff < course.landing
    assert result.t[course.landing] - result.t[course.takeoff] > 0.35
    turned = np.degrees(result.q[-1, 2] - result.q[course.touch, 2])
    assert -430.0 < turned < -320.0


def test_only_the_feet_come_near_the_plank(jump):
    result, course = jump
    assert jumper_search.clearances(result).min() > 0.05
    assert course.height.min() > -0.03


def test_flight_is_free(jump):
    result, course = jump
    inside = slice(course.takeoff + 2, course.landing - 1)
    bend = np.polyfit(result.t[inside], course.center[inside, 1], 2)[0]
    assert -2.0 * bend == pytest.approx(9.81, abs=0.01)
    turning = jumper_model.angular_momentum(result, inside)
    assert np.ptp(turning) < 1e-5 * abs(turning.mean())


def test_figure_stands_at_the_end(jump):
    result, course = jump
    assert course.center[-1, 1] > 0.7
    assert np.linalg.norm(course.center[-1] - course.center[-9]) / (result.t[-1] - result.t[-9]) < 0.4


def test_soft_parts_wobble_when_the_feet_land_and_calm_down():
    wobbling, plan = PLANS["wobbling"]
    model = jumper_model.build_model(wobbling)
    result = jumper_model.jump(model, plan)
    course = jumper_model.course(result)
    for name in jumper_model.WOBBLING:
        away = np.linalg.norm(result.q[:, model.coordinate_slice(f"{name} soft")][:, :2], axis=1)
        struck = away[course.touch : course.touch + 20].max()
        assert 0.005 < struck < 0.12
        assert np.ptp(away[-20:]) < 0.2 * struck


@pytest.mark.slow  # a search of half a minute
def test_gradients_find_a_somersault_from_a_guess_that_falls_on_its_head():
    model = jumper_model.build_model()
    first = jumper_model.jump(model, jumper_search.GUESS)
    assert jumper_search.clearances(first).min() < 0.0
    plan, gradients = jumper_search.search(model)
    assert gradients <= sum(most for *_, most in jumper_search.STAGES) == 200
    result = jumper_model.jump(model, plan)
    course = jumper_model.course(result)
    assert -430.0 < np.degrees(result.q[-1, 2] - result.q[course.touch, 2]) < -320.0
    assert jumper_search.clearances(result).min() > 0.05 and course.center[-1, 1] > 0.7
    assert np.abs(result.qd[-1]).max() < 0.5
