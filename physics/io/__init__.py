"""Model and result files: each with a format, a version and a published JSON Schema, nothing executable."""

from .model_file import ModelFile, load_model, save_model
from .result_file import load_result, save_result

__all__ = ["ModelFile", "load_model", "load_result", "save_model", "save_result"]
