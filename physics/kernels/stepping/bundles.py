"""Tuples of arguments that the steps of all methods take, in this order."""

from __future__ import annotations

from typing import TypeAlias

from ..algebra.spatial import Array

# times (k,) and values (k, nv + inputs) of the generalized forces
Tables: TypeAlias = tuple[Array, Array]
# q and q' (nv,)
State: TypeAlias = tuple[Array, Array]
# work, dof, flags
Spaces: TypeAlias = tuple[Array, Array, Array]
# counters (see `layout`), sample times, records of q with columns for muscle states behind nv, and of q'
Log: TypeAlias = tuple[Array, Array, Array, Array]
# generalized forces with inputs and muscle states, accelerations, and forces that held coordinates take (nv,)
Loads: TypeAlias = tuple[Array, Array, Array]
# of a model: its arrays, constraints, contacts, given motions, and tables
Parts: TypeAlias = tuple[Array, Array, Array, Array, Tables]
# of constrained steps: stages, forces that held coordinates take (nv,), system and memory of the rows, and spaces
Room: TypeAlias = tuple[Array, Array, Array, Array, Spaces]
# of implicit steps: slopes by q, by q' and by q'', system, pivots, vectors, notes (see `implicit_stage`), tangents
Implicit: TypeAlias = tuple[tuple[Array, Array, Array], Array, Array, Array, Array, Array]
# of implicit steps with more than a tree: constraints, system, given motions, contacts, memory, forces that held
# coordinates take, and records of the rows' forces and of these
More: TypeAlias = tuple[Array, Array, Array, Array, Array, Array, Array, Array]
