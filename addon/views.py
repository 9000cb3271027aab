"""Where points of the world are seen. numpy only."""

from __future__ import annotations

import numpy as np


def pixels(points: np.ndarray, view: np.ndarray, size: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    """Where points (m, 3) of the world are seen in a region, in pixels (m, 2), and which are before the eye (m,).

    Args:
        view: the region's perspective matrix (4, 4). size: its width and height.
    """
    clip = np.column_stack([points, np.ones(len(points))]) @ view.T
    ahead = clip[:, 3] > 0.0
    shares = clip[:, :2] / np.where(ahead, clip[:, 3], 1.0)[:, None]
    return 0.5 * (shares + 1.0) * size, ahead
