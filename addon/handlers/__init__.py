"""Blender handlers and timers: after changes, loading, saving, undo and redo."""
