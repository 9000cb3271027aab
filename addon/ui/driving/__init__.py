"""Panel and operators of inverse kinematics."""
