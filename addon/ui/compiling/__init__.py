"""Preferences and panel about compiling."""
