"""Panels and operators for an empty scene."""
