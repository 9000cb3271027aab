"""Panels and operators of joints."""
