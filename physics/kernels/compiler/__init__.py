"""How kernels are compiled, linked by name and kept."""
