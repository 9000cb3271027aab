"""Functions of one coordinate and of several, read from files, against OpenSim's values of them (Delp et al. 2007)."""

from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest

opensim = pytest.importorskip("opensim", reason="OpenSim is only in the environment of the peers")

import physics as ph  # noqa: E402  (after the check that there is something to compare with)
from tests.physics.io.osim import GROUND, body, coordinate, joint, write  # noqa: E402

pytestmark = pytest.mark.peers

NAMES = "abcd"
COUPLER = """<ConstraintSet><objects><CoordinateCouplerConstraint name="k"><coupled_coordinates_function>{}
</coupled_coordinates_function><independent_coordinate_names>{}</independent_coordinate_names>
<dependent_coordinate_name>z</dependent_coordinate_name></CoordinateCouplerConstraint></objects></ConstraintSet>"""


def difference(folder: Path, function: Any, q: np.ndarray) -> float:
    """Largest difference from OpenSim's values of a function of at most six digits at rows (n, k), as a share of the
    largest one.
    """
    names = NAMES[: q.shape[1]]
    bodies = list(zip((*names, "z"), (GROUND, *names)))
    joints = [joint("PinJoint", f"j{name}", parent, name, coordinate(name)) for name, parent in bodies]
    made = COUPLER.format(function.dump(), " ".join(names))
    read = ph.read_opensim(write(folder / "m.osim", "".join(map(body, (*names, "z"))), "".join(joints), made))
    assert not read.warnings
    model = read.build()
    values = np.zeros((len(q), model.num_coordinates))
    values[:, [model.coordinate_index(read.coordinates[name].coordinate) for name in names]] = q
    found, _ = model.constraints["k"].followed(model.coordinate_names, values, np.zeros_like(values))
    wanted = np.array([function.calcValue(opensim.Vector.createFromMat(row)) for row in q])
    return float(np.abs(found - wanted).max() / np.abs(wanted).max())


@pytest.mark.parametrize("degree", [1, 3, 5, 7])
def test_natural_splines(tmp_path: Path, degree: int) -> None:
    rng = np.random.default_rng(degree)
    spline = opensim.GCVSpline()
    spline.setDegree(degree)
    x = np.round(np.cumsum(rng.uniform(0.05, 0.4, 12)) - 1.5, 3)
    for at in x:
        spline.addPoint(float(at), round(float(rng.normal()), 3))
    looks = np.linspace(x[0] - 0.6, x[-1] + 0.6, 101)[:, None]  # beyond the ends as well
    assert difference(tmp_path, spline, looks) < 1e-11  # round-off of systems of 18 equations


@pytest.mark.parametrize(("count", "order"), [(1, 3), (2, 2), (2, 5), (3, 3), (4, 2), (3, 1)])
def test_polynomials_in_several_coordinates(tmp_path: Path, count: int, order: int) -> None:
    rng = np.random.default_rng(0)
    numbers = opensim.Vector.createFromMat(np.round(rng.normal(size=comb(count + order, order)), 3))
    function = opensim.MultivariatePolynomialFunction(numbers, count, order)
    assert difference(tmp_path, function, rng.uniform(-2.0, 2.0, (40, count))) < 1e-13  # round-off
