"""Panel and operators of soft bodies."""
