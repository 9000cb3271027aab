"""The chain of `generators.chain` for MuJoCo: hinges, no contacts, no constraints, Euler's method."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def text(values: Any) -> str:
    """Numbers as MuJoCo's XML takes them, without loss."""
    return " ".join(repr(float(value)) for value in values)


def mujoco_chain(links: list[dict[str, Any]], axes: FloatArray, dt: float) -> Any:
    """MuJoCo's model of a chain: each link hangs from the one before by a hinge at its own origin.

    Args:
        links: arguments of `add_body` for each link (see `generators.links`).
        axes: of the hinges (n, 3).
        dt: step [s].
    """
    opening, closing = [], []
    for link, axis in zip(links, axes):
        position = link["joint_in_parent"][:3, 3]
        opening.append(
            f'<body pos="{text(position)}"><joint type="hinge" axis="{text(axis)}"/>'
            f'<inertial pos="{text(link["com"])}" mass="{link["mass"]!r}" '
            f'diaginertia="{text(np.diag(link["inertia"]))}"/>'
        )
        closing.append("</body>")
    xml = f"""<mujoco><option timestep="{dt!r}" integrator="Euler" gravity="0 0 -9.81">
    <flag contact="disable" constraint="disable" energy="disable"/></option>
    <compiler angle="radian" autolimits="false"/>
    <worldbody>{"".join(opening)}{"".join(closing)}</worldbody></mujoco>"""
    return mujoco.MjModel.from_xml_string(xml)
