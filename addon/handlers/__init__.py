"""What runs after changes, loading, saving, undo and redo."""
