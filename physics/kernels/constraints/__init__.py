"""Rows of loops, couplings and rolling, and the bodies' response to them."""
