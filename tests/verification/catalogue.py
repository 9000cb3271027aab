"""The modules that declare claims, one per line."""

from __future__ import annotations

import importlib

from .claim import REGISTRY, Claim

MODULES = (
    "claims_joints",
    "claims_dynamics",
    "claims_hybrid",
    "claims_loops",
    "claims_rows",
    "claims_closure",
    "claims_impacts",
    "claims_contacts",
    "claims_methods",
    "claims_thrown",
    "claims_rolling",
    "claims_integrators",
    "claims_event_driven",
    "claims_forces",
    "claims_limits",
    "claims_muscles",
    "claims_muscle_paths",
    "claims_wrapping",
    "claims_wrap_network",
    "claims_hill",
    "claims_walk",
    "claims_wrapped_pendulums",
    "claims_energy",
    "claims_convergence",
    "claims_steps",
    "claims_scenes",
    "claims_surface_scenes",
    "claims_mechanism_scenes",
    "claims_muscle_scenes",
    "claims_determinism",
    "claims_kinematics",
    "claims_fitting",
    "claims_fit_options",
    "claims_surfaces",
    "claims_addon",
    "claims_batch",
    "claims_live",
)


def load() -> tuple[list[Claim], dict[str, Exception]]:
    """Import every module of claims.

    Returns:
        The claims in order of declaration, and the error by name of each module that cannot be imported.
    """
    errors: dict[str, Exception] = {}
    for module in MODULES:
        try:
            importlib.import_module(f"{__package__}.{module}")
        except Exception as error:  # a broken module must not hide the claims of the others
            errors[module] = error
    return list(REGISTRY.values()), errors
