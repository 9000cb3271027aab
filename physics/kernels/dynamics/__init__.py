"""The articulated-body, Newton-Euler and composite-body algorithms, and their derivatives."""
