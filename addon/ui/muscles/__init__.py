"""Panels and operators of muscles and obstacles."""
