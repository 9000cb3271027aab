"""Panels and operators of connections."""
