"""Operators and panels, one folder per feature; files with classes end in ``operators`` or ``panels``."""
