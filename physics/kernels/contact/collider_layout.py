"""Offsets in the arrays of colliders.

A model with colliders has a fourth entry in its contacts: ``(ints, floats, shapes, posed, bounds, order, slots, places,
joined, space)``. `shapes` holds the shapes in link frames; `posed` is a copy with vertices and normals turned to world
axes, each from its link's origin. A bounded shape is a core, a convex polytope of any dimension (a point, a segment, a
hull), and a radius about it: a sphere is a point, a capsule a segment.
"""

from __future__ import annotations

# positions in the tuple
INTS, FLOATS, SHAPES, POSED, BOUNDS, ORDER, SLOTS, PLACES, JOINED, SPACE = range(10)

# ints, one row a collider: its body (-1 the world); the first body of those that are rigid with it and the one that
# carries that by a joint (-2: nothing); groups as bits; kind; offset of its record in shapes; ignored groups as bits
SOLID_BODY, SOLID_WELD, SOLID_CARRIER, SOLID_GROUPS, SOLID_KIND, SOLID_SHAPE, SOLID_IGNORES = range(7)
SOLID_INTS = 7
CORE, MESH, HALF_SPACE = range(3)

# floats, one row a collider: radius about the core with the margin, friction, restitution, the size of the shape, the
# farthest point from its body's origin, the least reach of detection, and the corners of its bounds in the link frame,
# all lengths in metres
SOLID_RADIUS, SOLID_FRICTION, SOLID_RESTITUTION, SOLID_SIZE, SOLID_FARTHEST, SOLID_REACH = range(6)
SOLID_LOWER, SOLID_UPPER = 6, 9
SOLID_FLOATS = 12

# a core: numbers of vertices, faces and edges, offsets of the rows of faces and edges, then the vertices
CORE_VERTICES, CORE_FACES, CORE_EDGES, CORE_FACE_ROWS, CORE_EDGE_ROWS, CORE_POINTS = range(6)
# a face: unit normal, its distance from the origin, first and number of the entries of its loop; they go about the
# normal, each has a vertex and the face beyond the edge to the next one
FACE_NORMAL, FACE_OFFSET, FACE_LOOP, FACE_COUNT = 0, 3, 4, 5
FACE_WIDTH, LOOP_WIDTH = 6, 2
# an edge: two vertices and the faces beside it, b x a along the edge for their normals a and b; -1 for a lone segment
EDGE_FROM, EDGE_TO, EDGE_FACE, EDGE_BESIDE = range(4)
EDGE_WIDTH = 4
# a mesh: as a core without faces and edges, where the offsets are those of its tree and of its triangles. The tree is
# the number of nodes, and for each its bounds, the node after all below it, its first triangle and their number, 0 if
# it is no leaf
NODE_LOWER, NODE_UPPER, NODE_SKIP, NODE_FIRST, NODE_COUNT = 0, 3, 6, 7, 8
NODE_WIDTH = 9
# a triangle is a core of one face, with the normals beyond its edges as further faces, and its convex edges only
TRIANGLE_NORMALS = 4
TRIANGLE_WIDTH = CORE_POINTS + 9 + TRIANGLE_NORMALS * FACE_WIDTH + 3 * LOOP_WIDTH + 3 * EDGE_WIDTH
# a half-space: unit normal and its distance from the origin

# bounds in the world: lower and upper corner, reach
LOWER, UPPER, REACH = 0, 3, 6
BOUNDS_WIDTH = 7

# order, one row a collider: colliders along an axis, first slot of each; then a row: detections so far, first free
# slot, whether the last detection found no room
SORTED, CHAIN = 0, 1
NOW, UNUSED, OVERFLOW = 0, 1, 2
ORDER_WIDTH = 3
# slots of contacts between steps: the other collider, the next slot of the chain, the last detection that found it
SLOT_OTHER, SLOT_NEXT, SLOT_SEEN = range(3)

# space, in four parts: candidates, two polygons, and what was found of a mesh's triangles. A candidate is a point of
# the first body's core, the unit normal towards it, the gap between the cores, and a mark: first whether the gap is
# exact, then whether it is taken
POINT, NORMAL, GAP, EXACT, TAKEN = 0, 3, 6, 7, 7
# a corner of a polygon: the edge that leaves it (that of the loop, or -1 - side), its kind, the edge and the side that
# cross in it
LEAVING, CORNER_KIND, CROSSED_EDGE, CROSSED_SIDE = 3, 4, 5, 6
OWN_VERTEX, CROSSING, OTHER_VERTEX = range(3)
SPACE_WIDTH = 8
# contacts of a pair
MOST_POINTS = 4
