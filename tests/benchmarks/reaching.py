"""Inverse kinematics of a chain's last body, called for one goal after another as a script does."""

from typing import Any

import numpy as np

import physics as ph
from physics._typing import FloatArray

from . import chains
from .peers import GRAVITY
from .timing import Contestant
from .trees import chain

NEAR = 1e-6  # [m] and [rad] within which a goal is met
DAMPING, MOST_STEPS = 1e-12, 200  # of Pinocchio's loop, as in its example
GOALS = 16


class Reach:
    """Poses of the last body, and the bent chain from which each search begins."""

    def __init__(self, num_bodies: int) -> None:
        rng = np.random.default_rng(num_bodies)
        self.size, self.axes = num_bodies, chains.hinge_axes(num_bodies)
        self.model = chains.revolute(num_bodies)
        self.start = np.full(num_bodies, 0.05)
        goals = (self.model.state(q=0.3 * rng.standard_normal(num_bodies)) for _ in range(GOALS))
        self.goals = [ph.body_poses(self.model, state)[-1] for state in goals]

    def _repeated(self, name: str, solve: Any) -> Contestant:
        def run(count: int) -> Any:
            return [solve(self.goals[k % GOALS]) for k in range(count)]

        return Contestant(name, run)

    def ours(self) -> Contestant:
        """`inverse_kinematics`, which checks all that it is given."""
        last, state = self.model.body_names[-1], self.model.state(q=self.start)

        def solve(goal: FloatArray) -> FloatArray:
            found = ph.inverse_kinematics(self.model, ph.Target.pose(last, goal), state, starts=1)
            return found.state.q

        return self._repeated("inverse_kinematics", solve)

    def pinocchio_loop(self) -> Contestant:
        """The loop of Pinocchio's example with whole steps: on prepared data, without checks, ranges or limits."""
        import pinocchio

        from tests.verification.peers.pinocchio_model import PinocchioTree

        model = PinocchioTree(chain(self.axes, self.start).described(), GRAVITY).model
        data, joint = model.createData(), model.njoints - 1
        damped = DAMPING * np.eye(6)

        def solve(goal: FloatArray) -> FloatArray:
            wanted, q = pinocchio.SE3(goal), self.start.copy()
            for _ in range(MOST_STEPS):
                pinocchio.forwardKinematics(model, data, q)
                left = data.oMi[joint].actInv(wanted)
                error = pinocchio.log(left).vector
                if np.linalg.norm(error[:3]) < NEAR and np.linalg.norm(error[3:]) < NEAR:
                    break
                jacobian = -pinocchio.Jlog6(left.inverse()) @ pinocchio.computeJointJacobian(
                    model, data, q, joint
                )
                step = -jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + damped, error)
                q = pinocchio.integrate(model, q, step)
            return q

        return self._repeated("Pinocchio loop", solve)

    def check(self, *contestants: Contestant) -> None:
        """Check that each meets all goals.

        Raises:
            RuntimeError: one is missed by more than ten times what was asked.
        """
        for each in contestants:
            for goal, q in zip(self.goals, each.run(GOALS)):  # type: ignore[call-overload]
                missed = np.abs(ph.body_poses(self.model, self.model.state(q=q))[-1] - goal).max()
                if not missed <= 10.0 * NEAR:
                    raise RuntimeError(f"{each.name} misses a goal of {self.size} hinges by {missed:g}")


def sampled(num_bodies: int) -> Contestant:
    """`inverse_dynamics_of_samples` of a swinging chain, a frame a step."""
    model = chains.revolute(num_bodies)

    def run(frames: int) -> Any:
        times = 0.005 * np.arange(max(frames, 8))
        q = 0.3 * np.sin(times[:, None] + np.arange(num_bodies))
        return ph.inverse_dynamics_of_samples(model, times, q)

    return Contestant("inverse_dynamics_of_samples", run)
