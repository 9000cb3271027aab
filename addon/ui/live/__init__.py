"""Panels and operators of the live mode."""
