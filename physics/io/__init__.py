"""Model and result files, each with a version and a published JSON Schema and without executable content; OpenSim's
models and tables.
"""

from .model_file import ModelFile, load_model, save_model
from .opensim import read_opensim
from .opensim_motion import motion_samples
from .opensim_parts import OpenSimModel
from .opensim_write import OpenSimReport, write_opensim
from .result_file import load_result, save_result
from .storage import Storage, read_storage, write_storage

__all__ = [
    "ModelFile",
    "OpenSimModel",
    "OpenSimReport",
    "Storage",
    "load_model",
    "load_result",
    "motion_samples",
    "read_opensim",
    "read_storage",
    "save_model",
    "save_result",
    "write_opensim",
    "write_storage",
]
