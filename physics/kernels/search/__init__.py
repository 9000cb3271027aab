"""Inverse kinematics and projection of poses to a joint."""
