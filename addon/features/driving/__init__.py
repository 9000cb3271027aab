"""Joints moved by their sliders: by hand, by dragging bodies, by targets."""
