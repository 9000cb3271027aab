"""Claims about the Blender side: bakes, unit scales, times of the first bake. They need bpy.

A claim here calls the measuring function that a test of the add-on uses too, kept beside that test in
`tests/addon`, and raises `Skipped` where bpy is missing.
"""
