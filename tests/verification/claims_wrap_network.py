"""The network that replaces paths over a cylinder, against the shortest paths it learned and the smooth ones."""

from typing import Any

import numpy as np

from physics.kernels.wrapping.layout import ALONG_NODES
from physics.muscles import Cylinder, Wrap, network
from tests.physics.muscles.strands import at_rest
from tests.tools import train_wrap_network

from .claim import Measurement, claim

RADIUS = 0.05
SMOOTHING = 1e-3


def network_errors(count: int = 400) -> Any:
    """Distances from the shortest path in radii, of the network's and of smooth paths' points; shares wrapped."""
    rng = np.random.default_rng(4)
    inputs, _ = train_wrap_network.samples(rng, count, 0.0)
    _, wrap, length = train_wrap_network.planar_paths(inputs.astype(np.float64))
    rows = []
    for a, b, angle, part in inputs.astype(np.float64):
        ends = np.array([[a, 0.0, 0.0], [b * np.cos(angle), b * np.sin(angle), 0.3]]) * RADIUS
        raw, *others = (
            at_rest(Wrap([Cylinder(radius=RADIUS, side="counterclockwise")], width, trained), *ends)
            for width, trained in ((0.0, None), (SMOOTHING, network.Network.read()), (SMOOTHING, None))
        )
        x = raw.point(part * raw.length)[0]
        rows.append([np.linalg.norm(other.point(part * other.length)[0] - x) for other in others])
    return np.array(rows) / RADIUS, wrap / length


@claim("wrapping.network", source="Wang 2022, sec. 5.3.3", at_most=5e-3)
def network_accuracy() -> Measurement:
    """The network's paths over a cylinder (new random ends within its box, 400 points): root mean square
    distance from the shortest path, in radii; that of the smooth path of 1 mm over a radius of 5 cm in the details. It
    was trained with the paper's threshold of 1 %; no threshold does best here (cylinder_network_table.json).
    """
    errors, share = network_errors()
    kinds = {
        "straight": share == 0.0,
        "just touching": (share > 0.0) & (share < 0.01),
        "wrapped": share >= 0.01,
    }
    details: dict[str, Any] = {}
    for k, label in enumerate(("network", "smooth path")):
        rms = np.sqrt(np.mean(errors[:, k] ** 2))
        details[label] = {"root mean square": float(rms), "largest": float(errors[:, k].max())}
        details[label] |= {
            f"largest, {kind}": float(errors[chosen, k].max())
            for kind, chosen in kinds.items()
            if chosen.any()
        }
    return Measurement(details["network"]["root mean square"], details)


@claim("wrapping.network_box", unit="m", source="Wang 2022, Fig. 6.12", at_most=1e-15)
def network_box() -> float:
    """Network's points for inputs outside its box (radius too large, an end too far, turned too far; after Fig. 6.12):
    distance from those of the smooth path, which must be used instead.
    """
    worst = 0.0
    for radius, ends in (
        (0.5, [[0.51, 0.0, 0.0], [-0.6, 0.2, 0.1]]),
        (0.05, [[0.6, 0.0, 0.0], [-0.2, 0.1, 0.1]]),
        (0.05, [[0.2, 0.0, 0.0], [-0.6, 0.1, 0.1]]),
        (0.05, [[0.2, 0.0, 0.0], [0.1, -0.2, 0.1]]),
    ):
        cylinder = Cylinder(radius=radius, side="counterclockwise")
        found, smooth = (
            at_rest(Wrap(cylinder, SMOOTHING, trained), *map(np.array, ends))
            for trained in (network.Network.read(), None)
        )
        away = found.point(0.4 * found.length)[0] - smooth.point(0.4 * smooth.length)[0]
        worst = max(worst, np.inf if found.status == ALONG_NODES else float(np.abs(away).max()))
    return worst
