"""Panels and operators of fits."""
