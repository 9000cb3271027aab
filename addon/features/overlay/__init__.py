"""Overlay: joints drawn over the 3D view."""
