"""Compiling: whether kernels run compiled here."""
