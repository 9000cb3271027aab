"""Offsets in the arrays of local loops (see `loops`), the entry of a system that only models with such loops have."""

from __future__ import annotations

# positions in the tuple: whether the factors are known (1,); clusters, parents first; their bodies, cluster by cluster,
# parents first; whether a body's parent is in its cluster (nb,); their coordinates, cluster by cluster, and the place
# of each in its cluster (nv,); their rows; then of each cluster the factors L, Y by rows, the factors of K with order
# and begins; K of one cluster; of each row its own answer; of coordinates (nv, 8): motion subspaces and couplings F;
# of bodies wrenches or accelerations (nb, 8); of coordinates pull h, changes, and their sum over a step; workspaces:
# three vectors, and G by rows
(
    STATE,
    CLUSTERS,
    MEMBERS,
    INNER,
    OWNED,
    PLACES,
    ROWS,
    LOWER,
    ACROSS,
    FACTOR,
    ORDER,
    BEGINS,
    MATRIX,
    OWN,
    SUBSPACES,
    COUPLINGS,
    TWISTS,
    PULL,
    CHANGE,
    TOTAL,
    VECTORS,
    SIDES,
) = range(22)

# columns of clusters: first and one past the last of its bodies, the first of its coordinates and how many, first and
# one past the last of its rows, the body that carries it (-1: the world), rank of K
FIRST, END, FIRST_OWN, COORDINATES, FIRST_ROW, END_ROW, CARRIER, RANK = range(8)
CLUSTER_WIDTH = 8
