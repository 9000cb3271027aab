"""Starting."""
