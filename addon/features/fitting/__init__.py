"""Fitting: a joint from keyframes."""
