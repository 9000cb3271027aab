"""The knee's contact sheet: the joint's curve and frames close up, and instants of the swing."""

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import bpy
import numpy as np

from physics._typing import FloatArray
from physics.analysis import plots as drawings

from . import production
from .knee_scene import HIP, WHOLE_LEG, KneeScene
from .picture import Image, Shot
from .production import Progress, object_pose
from .staging import curve_object, frames_object

KNEE = (HIP[0] + 0.412, HIP[1], HIP[2] - 0.028)
ANKLE = np.array([0.0, 0.0, -0.42, 1.0])  # in the tibia's axes
CURVE_COLOR, SWING_COLOR = (1.0, 0.55, 0.08), (0.16, 0.34, 0.42)


def add_joint_display(
    knee: KneeScene, curve_poses: FloatArray, control_frames: Sequence[bpy.types.Object]
) -> None:
    """The joint's curve as a thread and its control frames as arrows, in the femur's axes and fixed to it."""
    femur = knee.leg.femur
    thread = curve_object("Joint curve", curve_poses[:, :3, 3], 0.0009, CURVE_COLOR, knee.stage)
    to_femur = np.linalg.inv(object_pose(femur))
    frames = np.array([to_femur @ object_pose(empty) for empty in control_frames])
    arrows = frames_object("Control frames", frames, 0.018, knee.stage)
    thread.parent = arrows.parent = femur


def add_swing_trace(knee: KneeScene, tibia_poses: FloatArray) -> bpy.types.Object:
    """The path of the ankle through the swing as a faint thread; `tibia_poses` (n, 4, 4) in the world."""
    points = (tibia_poses @ ANKLE)[:, :3]
    return curve_object("Swing", points, 0.0012, SWING_COLOR, knee.stage)


def contact_sheet(
    knee: KneeScene,
    frames: Sequence[int],
    captions: Sequence[tuple[str, str]],
    lines: Sequence[str],
    progress: Progress,
) -> Image:
    """The close-up with `lines` of text, and one small picture a frame with its two lines of caption."""
    hidden = [bone.name for bone in (knee.twin.femur, knee.twin.tibia, knee.twin.fibula)]
    eye = (KNEE[0] + 0.25, KNEE[1] - 1.0, KNEE[2] + 0.25)
    close_up = Shot(eye, KNEE, 0.185, frames[0], hidden=[*hidden, "Swing"])
    shown = list(zip(frames, captions, strict=True))
    return production.contact_sheet(
        knee.scene, close_up, replace(WHOLE_LEG, hidden=hidden), shown, lines, progress
    )


def plots(result: Any, fit_report: Any) -> Image:
    """Plots: the swing's coordinate and energy (left), the fit's residuals and the curve's evenness (right)."""
    residuals = SimpleNamespace(
        translation=1e-3 * fit_report.distances, rotation=np.radians(fit_report.angles)
    )
    fit = SimpleNamespace(joint=fit_report.curve, q=fit_report.q, residuals=residuals)
    figures = [drawings.plot_result(result, None, "The swing"), drawings.plot_fit(fit, None, "The fit")]
    return np.hstack([figure_image(figure) for figure in figures])


def figure_image(figure: Any) -> Image:
    """Pixels of a matplotlib figure."""
    figure.canvas.draw()
    pixels = np.asarray(figure.canvas.buffer_rgba(), dtype=np.float32) / 255.0
    return pixels[::-1]
