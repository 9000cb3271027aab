"""Blender."""
