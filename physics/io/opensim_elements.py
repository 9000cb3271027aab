"""OpenSim's forces between bodies that the engine has elements for."""

from __future__ import annotations

import numpy as np

from ..model.builder import ModelBuilder
from .opensim_frames import Frames
from .opensim_notes import Notes
from .opensim_xml import Node


def add_point_spring(node: Node, frames: Frames, builder: ModelBuilder, notes: Notes) -> None:
    """A PointToPointSpring."""
    ends = [
        frames.resolve(node.text(f"socket_body{k}") or node.text(f"body{k}"), "/", node.path) for k in (1, 2)
    ]
    places = [
        end.pose[:3, :3] @ node.numbers(f"point{k}", np.zeros(3), 3) + end.pose[:3, 3]
        for k, end in zip((1, 2), ends)
    ]
    if ends[0].body is None:
        ends, places = ends[::-1], places[::-1]
    if ends[0].body == ends[1].body:
        notes.note("a spring within a body moves nothing", node.path)
    elif node.truth("appliesForce", True):
        numbers = {"stiffness": node.number("stiffness", 1.0), "rest_length": node.number("rest_length", 0.0)}
        builder.add_spring(
            node.name or node.tag, ends[0].body or "", places[0], ends[1].body, places[1], **numbers
        )
    node.forget()
