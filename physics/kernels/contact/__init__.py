"""Contacts and impacts: detection, impulses with friction, constrained steps."""
