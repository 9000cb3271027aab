"""What a muscle looks like: a material whose colour goes from rest to full activation."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

#: the node of a muscle's material that its activation is keyed on
NODE = "Activation"
#: linear colours at rest and at full activation
REST, FULL = (0.28, 0.06, 0.07), (1.0, 0.16, 0.05)


def colors(activation: np.ndarray) -> np.ndarray:
    """Linear colours (n, 3) of activations (n,)."""
    return np.array(REST) + np.clip(activation, 0.0, 1.0)[:, None] * (np.array(FULL) - np.array(REST))


def material_of(item: Any) -> Any:
    """A new material for a muscle: a value named Activation goes through a colour ramp."""
    found = bpy.data.materials.new(f"{item.name} Muscle")
    found.diffuse_color = (*REST, 1.0)
    if found.node_tree is None:  # before 5.0
        found.use_nodes = True
    tree = found.node_tree
    shader = next((node for node in tree.nodes if node.type == "BSDF_PRINCIPLED"), None)
    if shader is None:
        return found
    value, ramp = tree.nodes.new("ShaderNodeValue"), tree.nodes.new("ShaderNodeValToRGB")
    value.name = value.label = NODE
    value.location, ramp.location = (-500.0, 250.0), (-300.0, 300.0)
    for element, color in zip(ramp.color_ramp.elements, (REST, FULL)):
        element.color = (*color, 1.0)
    tree.links.new(value.outputs[0], ramp.inputs[0])
    tree.links.new(ramp.outputs[0], shader.inputs["Base Color"])
    shader.inputs["Roughness"].default_value = 0.45
    return found
