"""Joints: how two bodies move against each other."""
