"""Inverse kinematics, and projection of poses onto joints."""
