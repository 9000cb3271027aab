"""Random mechanisms through all methods: finite results or documented errors, soon and in little memory."""

import pytest

from tests.fuzz.sweeps import any_seed, swept


@pytest.mark.slow
def test_random_mechanisms_go_through_all_methods(request):
    """For half of --fuzz-seconds: 20 s."""
    seconds = 0.5 * request.config.getoption("--fuzz-seconds")
    outcome = swept("mechanism_sweep", any_seed(request), seconds)
    assert outcome["faults"] == []
    assert outcome["runs"] > 0
