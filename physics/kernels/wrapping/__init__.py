"""Shortest paths over wrap surfaces."""
