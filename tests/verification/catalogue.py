"""Imports the modules that declare claims: all files `claims_*.py` of this folder."""

import importlib
from pathlib import Path

from .claim import REGISTRY, Claim


def load() -> tuple[list[Claim], dict[str, Exception]]:
    """Import every module of claims.

    Returns:
        The claims, by module and then in order of declaration, and the error of each module that cannot be imported.
    """
    errors: dict[str, Exception] = {}
    for module in sorted(path.stem for path in Path(__file__).parent.glob("claims_*.py")):
        try:
            importlib.import_module(f"{__package__}.{module}")
        except Exception as error:  # a broken module must not hide the claims of the others
            errors[module] = error
    return list(REGISTRY.values()), errors
