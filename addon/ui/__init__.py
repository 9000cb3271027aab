"""Operators and panels, one folder a feature; a file that holds classes ends in ``operators`` or ``panels``."""
