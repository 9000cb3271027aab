"""Tuples of arguments that the steps of all methods share, in this order."""

from __future__ import annotations

from typing import TypeAlias

from ..algebra.vectors import Array

# times (k,) and values (k, nv + inputs) of the generalized forces; in models with feedback more (see `layout`)
Tables: TypeAlias = Array
# q and q' (nv,)
State: TypeAlias = tuple[Array, Array]
# work, dof, flags
Spaces: TypeAlias = tuple[Array, Array, Array]
# counters (see `layout`), sample times, records of q with muscle states in columns after nv, and of q'
Log: TypeAlias = tuple[Array, Array, Array, Array]
# generalized forces with inputs and muscle states, accelerations, and forces on prescribed coordinates (nv,)
Loads: TypeAlias = tuple[Array, Array, Array]
# of a model: its arrays, constraints, contacts, prescribed motion, and tables
Parts: TypeAlias = tuple[Array, Array, Array, Array, Tables]
# of constrained steps: stages, forces on prescribed coordinates (nv,), system and memory of the rows, and spaces
Workspace: TypeAlias = tuple[Array, Array, Array, Array, Spaces]
# derivatives (nv, nv) of inverse dynamics by q, q' and q''
Slopes: TypeAlias = tuple[Array, Array, Array]
# of implicit steps: slopes, system, pivots, vectors, notes (see `implicit_stage`), tangents, and factors of
# `dynamics.branches` (no rows where the system is dense)
Implicit: TypeAlias = tuple[Slopes, Array, Array, Array, Array, Array, Array]
# None, or where a model has more than a tree: constraints, system, given motions, contacts, memory, forces that held
# coordinates take, and records of the rows' forces and of these
More: TypeAlias = Array
