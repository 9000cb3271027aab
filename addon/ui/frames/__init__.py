"""Panels and operators of control frames."""
