"""Condyle: joints of living bodies for Blender, fitted, simulated and baked.

Enabling it imports neither numpy nor physics: what computes is imported at its first use (``blender.lazy``), and what
is slow runs in the compute process (``blender.compute_process``).
"""


def register() -> None:
    """Called by Blender when the add-on is enabled."""
    from . import registration

    registration.register()


def unregister() -> None:
    """Called by Blender when the add-on is disabled."""
    from . import registration

    registration.unregister()
