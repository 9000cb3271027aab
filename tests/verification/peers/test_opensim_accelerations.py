"""Initial accelerations with all forces are OpenSim's, but for muscles whose paths over surfaces are not.

`tests.verification.peers.accelerations` prints tables of a folder of models.
"""

import pytest

pytest.importorskip("opensim", reason="OpenSim is only in the environment of the peers")

from .accelerations import SAME, compared
from .test_opensim_models import FILES, MODELS

pytestmark = pytest.mark.peers

OVER_SURFACES = {"arm26.osim"}  # of whose muscles two have other lengths than OpenSim's


@pytest.mark.parametrize("file", FILES)
def test_initial_accelerations(file: str) -> None:
    path = MODELS / file
    if not path.exists():
        pytest.skip(f"the model {file} is not beside this checkout")
    found = compared(path)
    assert found["off"][-1] < SAME
    assert set(found["causes"]) <= ({"path"} if file in OVER_SURFACES else set())
