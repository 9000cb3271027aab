"""Plots are drawn, say what is on their axes, and cut nothing off."""

import os
import sys

import numpy as np
import pytest

import physics as ph
from physics.analysis import plots
from tests.physics.generators import smooth_frames
from tests.physics.small_models import alone


@pytest.fixture(scope="module")
def result():
    builder = ph.ModelBuilder()
    top = builder.add_body(
        "a body with a rather long name", joint=ph.joints.Spherical(), mass=1.0, inertia=np.eye(3)
    )
    builder.add_body(
        "slider", top, joint=ph.joints.Slider((1, 0, 0)), mass=0.1, inertia=np.eye(3), stiffness=50.0
    )
    model = builder.build()
    state = model.state(qd=[9.0, 1.0, 2.0, 0.1])  # fast enough to change the chart of the rotation vector
    return ph.simulate(model, state, duration=1.0, dt=1e-3, record_interval=5e-3, integrator="rk4")


@pytest.fixture(scope="module")
def fit():
    return ph.fit_curve(smooth_frames(np.random.default_rng(0), 13), num_frames=8)


def check_nothing_is_cut_off(figure):
    """Every text lies inside the picture."""
    from matplotlib.text import Text

    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    width, height = figure.canvas.get_width_height()
    for text in figure.findobj(Text):
        if text.get_visible() and text.get_text().strip():
            box = text.get_window_extent(renderer)
            inside = box.x0 >= -1 and box.y0 >= -1 and box.x1 <= width + 1 and box.y1 <= height + 1
            # labels of ticks beyond the limits exist, are placed outside and are never drawn
            assert inside or text in tick_labels_out_of_sight(figure), (
                f"{text.get_text()!r} is cut off: {box}"
            )


def tick_labels_out_of_sight(figure):
    found = []
    for axes in figure.axes:
        for name in axes._axis_names:
            axis, (low, high) = getattr(axes, f"{name}axis"), getattr(axes, f"get_{name}lim")()
            for tick in axis.get_major_ticks():
                if not low <= tick.get_loc() <= high:
                    found += [tick.label1, tick.label2]
    return found


def test_a_result_is_drawn(result, tmp_path):
    pytest.importorskip("matplotlib")
    figure = plots.plot_result(result, tmp_path / "motion.png", "Motion")
    assert (tmp_path / "motion.png").read_bytes().startswith(b"\x89PNG")
    assert os.listdir(tmp_path) == ["motion.png"]
    labels = [axes.get_ylabel() for axes in figure.axes]
    assert labels == ["angle [rad]", "position [m]", "energy [J]", "E − E(0)  [J]"]
    assert figure.axes[-1].get_xlabel() == "time [s]"
    check_nothing_is_cut_off(figure)


def test_a_change_of_chart_is_a_gap_and_no_stroke(result):
    pytest.importorskip("matplotlib")
    jumps = np.abs(np.diff(result.q[:, 0])) > 3.0
    assert jumps.any(), "the motion was meant to change its chart"
    drawn = plots.plot_result(result, None).axes[0].get_lines()[0].get_ydata()
    assert np.isnan(drawn[1:][jumps]).all() and np.isnan(drawn).sum() == jumps.sum()


def test_a_fit_is_drawn(fit, tmp_path):
    pytest.importorskip("matplotlib")
    figure = plots.plot_fit(fit, tmp_path / "fit.pdf")
    assert (tmp_path / "fit.pdf").read_bytes().startswith(b"%PDF")
    millimetres = figure.axes[0].get_lines()[0].get_ydata()
    np.testing.assert_allclose(millimetres, 1e3 * fit.residuals.translation)
    assert {axes.get_ylabel() for axes in figure.axes} == {
        "translation [mm]",
        "rotation [°]",
        "|s(q)|  [1]",
        "|ds/dq|  [1]",
    }
    check_nothing_is_cut_off(figure)


def test_a_still_model_and_a_perfect_fit_can_be_drawn(fit):
    pytest.importorskip("matplotlib")
    builder = alone("stone", ph.joints.Fixed())
    still = ph.Result(builder.build(), np.zeros(1), np.empty((1, 0)), np.empty((1, 0)))
    figure = plots.plot_result(still, None)
    assert [axes.get_ylabel() for axes in figure.axes] == ["energy [J]", "E − E(0)  [J]"]


def test_without_matplotlib_it_is_told(result, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ph.MissingDependencyError, match="plots need matplotlib"):
        plots.plot_result(result, tmp_path / "motion.png")
    assert os.listdir(tmp_path) == []
