"""Random mechanisms through all methods: finite results or documented errors, soon and in little memory."""

import os

import pytest

from tests.fuzz.sweeps import any_seed, swept


@pytest.mark.slow
def test_random_mechanisms_go_through_all_methods():
    """Another seed each time; CONDYLE_FUZZ_SECONDS=500 for a long search."""
    outcome = swept("mechanism_sweep", any_seed(), float(os.environ.get("CONDYLE_FUZZ_SECONDS", "20")))
    assert outcome["faults"] == []
    assert outcome["runs"] > 0
