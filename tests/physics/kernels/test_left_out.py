"""Kernels of contacts are compiled only for models that may have them."""

import pytest

from physics.kernels.compiler import jit
from tests.benchmarks import compile_time

PROGRAM = """
builder = ph.ModelBuilder()
for name, parent in (("a", None), ("b", "a")):
    builder.add_body(name, parent, joint=ph.joints.Hinge(), mass=1.0, com=(0, 0, -1), inertia=np.eye(3))
model = builder.build()
ph.simulate(model, model.state(), 2e-3, 1e-3, motions={"a": ph.Motion([0.0, 0.5, 1.0], [[0.0], [0.1], [0.2]])})
"""
#: with what steps of equalities use; `unilateral` has the rows of limits, and the memory of all
OF_EQUALITIES = {"contact.constrained_step", "contact.row_impulses", "contact.unilateral"}


@pytest.mark.slow
@pytest.mark.skipif(not jit.JITTED, reason="needs numba")
def test_a_chain_on_what_moves_compiles_no_kernel_of_contacts(tmp_path):
    """It compiled 82, more than a third of the time to the first picture."""
    compiled = compile_time.child(PROGRAM, str(tmp_path))["kernels"]
    modules = {path.parent.name.partition("-")[0] for path in tmp_path.rglob("*.nbc")}
    assert {name for name in modules if name.startswith("contact.")} <= OF_EQUALITIES
    assert "stepping.stepper" in modules and not any("feedback" in name for name in modules)
    assert compiled  # `test_compiling` relies on it
