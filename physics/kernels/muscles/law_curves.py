"""The curves of a force law, for drawings and checks."""

from ..algebra.vectors import Array
from ..compiler.jit import entry
from .hill import active_factor, active_force, passive_force, tendon_force

ACTIVE, PASSIVE, TENDON, VELOCITY = 0, 1, 2, 3


@entry
def law_curve(law: Array, which: int, x: Array, out: Array) -> None:
    """A normalized curve of the law with this record and its slope (n, 2) at x (n,)."""
    for k in range(x.shape[0]):
        if which == ACTIVE:
            value, slope = active_factor(law, 0, x[k])
        elif which == PASSIVE:
            value, slope = passive_force(law, 0, x[k])
        elif which == TENDON:
            value, slope = tendon_force(law, 0, x[k])
        else:
            value, slope, _, _ = active_force(law, 0, 1.0, 1.0, x[k])
        out[k, 0], out[k, 1] = value, slope
