"""The compute process: a child of Blender that fits and simulates, so that the window never waits.

``client`` is used by the parent and imports numpy alone; ``main`` is the script that the child runs;
``protocol`` is what they say to each other, ``jobs`` what the child can do, ``requests`` the typed face of it
for the parent.
"""
