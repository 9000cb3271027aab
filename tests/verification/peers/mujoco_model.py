"""Chains, trees and closed loops for MuJoCo, without contacts."""

from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np

from physics._typing import FloatArray
from physics.geometry import lie


def text(values: Any) -> str:
    """Numbers in MuJoCo's XML format, without loss."""
    return " ".join(repr(float(value)) for value in values)


ON_LINK = (0.05, 0.02, -0.1)  # m, of a tendon's points


def mujoco_chain(links: list[dict[str, Any]], axes: FloatArray, dt: float, armature: float = 0.0) -> Any:
    """MuJoCo's model of a chain (`generators.chain`), Euler's method.

    Each link is connected to the previous one by a hinge at its own origin.

    Args:
        links: arguments of `add_body` for each link (see `generators.links`).
        axes: of the hinges (n, 3).
        dt: step [s].
        armature: of a tendon through ON_LINK of all links; 0: no tendon.
    """
    opening, closing = [], []
    for link, axis in zip(links, axes):
        position = link["joint_in_parent"][:3, 3]
        opening.append(
            f'<body pos="{text(position)}"><joint type="hinge" axis="{text(axis)}"/>'
            f'<inertial pos="{text(link["com"])}" mass="{link["mass"]!r}" '
            f'diaginertia="{text(np.diag(link["inertia"]))}"/>'
            f'<site name="s{len(opening)}" pos="{text(ON_LINK)}"/>'
        )
        closing.append("</body>")
    way = "".join(f'<site site="s{k}"/>' for k in range(len(opening)))
    tendon = f'<tendon><spatial armature="{armature!r}">{way}</spatial></tendon>' if armature else ""
    xml = f"""<mujoco><option timestep="{dt!r}" integrator="Euler" gravity="0 0 -9.81">
    <flag contact="disable" constraint="disable" energy="disable"/></option>
    <compiler angle="radian" autolimits="false"/>
    <worldbody>{"".join(opening)}{"".join(closing)}</worldbody>{tendon}</mujoco>"""
    return mujoco.MjModel.from_xml_string(xml)


DIFFERENCE = 1e-3  # s, of the motion for the derivative of the rows
# The most rigid connection in MuJoCo: its impedance is never above 0.9999.
HARDEST = 'solref="0.02 1" solimp="0.9999 0.9999 0.001 0.5 2"'


class MujocoTree:
    """MuJoCo's copy of a tree of hinges, sliders, balls and free roots, with springs; maps between velocities.

    MuJoCo rotates a ball about its body's axes and moves a free root along the world's; our joints use their own
    moving frame.
    """

    def __init__(
        self,
        bodies: list[dict[str, Any]],
        springs: list[dict[str, Any]],
        gravity: FloatArray,
        loops: Sequence[Sequence[tuple[int, FloatArray]]] = (),
    ) -> None:
        """bodies: arguments of `add_body`, parent an index or None. springs: arguments of `add_spring`. loops: pairs
        of points (body or -1 for the world, (3,) in its frame) that are connected.
        """
        self.bodies, self.springs, self.loops = bodies, springs, loops
        children: dict[int | None, list[int]] = {}
        for index, body in enumerate(bodies):
            children.setdefault(body["parent"], []).append(index)
        self.order: list[int] = []
        tree = "".join(self._element(index, children) for index in children[None])
        connected = "".join(
            f'<connect site1="end 0 {k}" site2="end 1 {k}" {HARDEST}/>' for k in range(len(loops))
        )
        constraint = "enable" if loops else "disable"
        # dense, so that its rows can be read directly; solved to convergence
        option = f'gravity="{text(gravity)}" jacobian="dense" tolerance="0" iterations="200"'
        xml = f"""<mujoco><option {option}><flag contact="disable" constraint="{constraint}"/></option>
        <compiler angle="radian" autolimits="false"/>
        <worldbody>{self._sites(None)}{tree}</worldbody><equality>{connected}</equality>
        <tendon>{"".join(self._tendon(number, spring) for number, spring in enumerate(springs))}</tendon></mujoco>"""
        self.model = mujoco.MjModel.from_xml_string(xml)
        self.data = mujoco.MjData(self.model)

    def _element(self, index: int, children: dict[int | None, list[int]]) -> str:
        body = self.bodies[index]
        self.order.append(index)
        frame, joint = body["body_in_joint"], body["joint"]
        place = body["joint_in_parent"] @ frame
        kind = {"hinge": "hinge", "slider": "slide", "spherical": "ball", "free": "free"}[joint.type]
        described = f'type="{kind}"'
        if kind in ("hinge", "slide"):
            described += f' axis="{text(frame[:3, :3].T @ joint.axis)}" springref="{text(body["rest"][:1])}"'
        if kind != "free":
            described += (
                f' pos="{text(-frame[:3, :3].T @ frame[:3, 3])}" stiffness="{text(body["stiffness"][:1])}"'
            )
            described += f' damping="{text(body["damping"][:1])}" armature="{text(body["armature"][:1])}"'
        xx, yy, zz, xy, xz, yz = body["inertia"][[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        inner = "".join(self._element(child, children) for child in children.get(index, []))
        return (
            f'<body name="{index}" pos="{text(place[:3, 3])}" '
            f'quat="{text(lie.quaternion_from_matrix(place[:3, :3]))}">'
            f'<joint {described}/><inertial pos="{text(body["com"])}" mass="{body["mass"]!r}" '
            f'fullinertia="{text([xx, yy, zz, xy, xz, yz])}"/>{self._sites(index)}{inner}</body>'
        )

    def _sites(self, body: int | None) -> str:
        return "".join(
            f'<site name="{end} {number}" pos="{text(spring[point])}"/>'
            for number, spring in enumerate(self.springs)
            for end, point in (("body", "point"), ("other", "other_point"))
            if spring[end] == body
        ) + "".join(
            f'<site name="end {side} {number}" pos="{text(point)}"/>'
            for number, ends in enumerate(self.loops)
            for side, (other, point) in enumerate(ends)
            if other == (-1 if body is None else body)
        )

    def _tendon(self, number: int, spring: dict[str, Any]) -> str:
        return (
            f'<spatial springlength="{text([spring["rest_length"]])}" stiffness="{text([spring["stiffness"]])}" '
            f'damping="{text([spring["damping"]])}"><site site="body {number}"/><site site="other {number}"/></spatial>'
        )

    def place(self, q: FloatArray, qd: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Set the copy to our state; returns the matrix J and the bias b with MuJoCo's v = J q' and v' = J q'' + b."""
        n = self.model.nv
        matrix, bias = np.zeros((n, n)), np.zeros(n)
        starts = np.cumsum([0] + [body["joint"].num_coordinates for body in self.bodies])
        for number, index in enumerate(self.order):
            body = self.bodies[index]
            own = slice(starts[index], starts[index + 1])
            rows = slice(first := self.model.jnt_dofadr[number], first + own.stop - own.start)
            at, joint, frame = self.model.jnt_qposadr[number], body["joint"], body["body_in_joint"]
            if joint.type in ("hinge", "slider"):
                self.data.qpos[at], matrix[rows, own] = q[own][0], 1.0
                continue
            pose, jacobian, hessian = joint.evaluate(q[own])
            drift = np.einsum("aij,i,j->a", hessian, qd[own], qd[own])
            turned = frame[:3, :3].T
            if joint.type == "spherical":
                rotation = turned @ pose[:3, :3] @ frame[:3, :3]
                self.data.qpos[at : at + 4] = lie.quaternion_from_matrix(rotation)
                matrix[rows, own], bias[rows] = turned @ jacobian[:3], turned @ drift[:3]
                continue
            whole = body["joint_in_parent"] @ pose @ frame
            self.data.qpos[at : at + 3] = whole[:3, 3]
            self.data.qpos[at + 3 : at + 7] = lie.quaternion_from_matrix(whole[:3, :3])
            to_body = lie.adjoint_inverse(frame)
            twist, rate = to_body @ jacobian @ qd[own], to_body @ drift
            rotation = whole[:3, :3]  # the world's axes do not rotate with the body
            shift = to_body @ jacobian
            matrix[rows, own] = np.concatenate([rotation @ shift[3:], shift[:3]])
            bias[rows] = np.concatenate([rotation @ (rate[3:] + np.cross(twist[:3], twist[3:])), rate[:3]])
        self.data.qvel[:] = matrix @ qd
        return matrix, bias

    def constraint_rows(self) -> FloatArray:
        """MuJoCo's Jacobian of the connections at its qpos (3 loops, nv)."""
        mujoco.mj_forward(self.model, self.data)
        return np.array(self.data.efc_J).reshape(self.data.nefc, self.model.nv)

    def rigid_accelerations(self) -> tuple[FloatArray, FloatArray]:
        """v' (nv,) and forces (3 loops,) of M v' = f + J^T l, J v' = -J' v with MuJoCo's M, f and J.

        MuJoCo does not provide J' v: it comes from fourth-order differences of J along the motion.
        """
        nv, start, qvel = self.model.nv, self.data.qpos.copy(), self.data.qvel.copy()
        turned = np.zeros((3 * len(self.loops), nv))
        for times, weight in zip((-2.0, -1.0, 1.0, 2.0), np.array([1.0, -8.0, 8.0, -1.0]) / 12.0):
            self.data.qpos[:] = start
            mujoco.mj_integratePos(self.model, self.data.qpos, qvel, times * DIFFERENCE)
            turned += weight / DIFFERENCE * self.constraint_rows()
        self.data.qpos[:] = start
        rows = self.constraint_rows()
        mass = np.zeros((nv, nv))
        for row, unit in zip(mass, np.eye(nv)):
            mujoco.mj_mulM(self.model, self.data, row, unit)
        system = np.block([[mass, -rows.T], [rows, np.zeros((len(rows), len(rows)))]])
        right = np.concatenate([self.data.qfrc_smooth, -turned @ qvel])
        # rows normal to a plane linkage are undetermined: take the least-norm forces
        solved = np.linalg.lstsq(system, right, rcond=1e-12)[0]
        return solved[:nv], solved[nv:]
