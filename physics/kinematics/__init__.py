"""Inverse kinematics, and the nearest coordinates of given poses."""
