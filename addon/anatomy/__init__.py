"""Bone shapes made from formulas: implicit surfaces (numpy alone, no Blender) and the meshes taken from them."""
