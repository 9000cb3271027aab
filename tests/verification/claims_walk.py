"""Inverse dynamics of a walk while part of a shank's mass is in its muscles (Wang 2022, secs. 6.2.8 and 6.2.9)."""

from functools import cache
from typing import Any

import numpy as np

import physics as ph

from . import walk
from .claim import Measurement, Plot, claim

SHARES = (0.0, 0.2, 0.4, 0.6, 0.8)
ANKLE, KNEE = "talus_r.angle", "tibia_r.knee_angle_r"


@cache
def swings() -> tuple[Any, dict[str, Any]]:
    """Times of the swing (n,) and, by coordinate, the generalized forces for each share (shares, n)."""
    found: dict[str, list[Any]] = {ANKLE: [], KNEE: []}
    begin, end = walk.swing()
    times = np.zeros(0)
    for share in SHARES:
        model = walk.subject(share)
        all_times, q = walk.samples(model)
        tau = ph.inverse_dynamics_of_samples(model, all_times, q, cutoff=walk.CUTOFF).tau
        during = (all_times >= begin) & (all_times <= end)
        times = all_times[during]
        for name, rows in found.items():
            rows.append(tau[during, model.coordinate_names.index(name)])
    return times, {name: np.array(rows) for name, rows in found.items()}


def change(rows: Any) -> float:
    """Largest difference of the last row from the first, over the largest value of the first."""
    return float(np.abs(rows[-1] - rows[0]).max() / np.abs(rows[0]).max())


def pointwise(rows: Any, above: float = 0.3) -> float:
    """As `change`, over the value at that time, of all above a share of the largest."""
    first = np.abs(rows[0])
    kept = first > above * first.max()
    return float((np.abs(rows[-1] - rows[0])[kept] / first[kept]).max())


def moments(coordinate: str, title: str) -> Plot:
    times, found = swings()
    lines = {
        f"{100.0 * share:.0f} % in the muscles": (times, row) for share, row in zip(SHARES, found[coordinate])
    }
    return Plot(
        f"walk_{title.split()[0].lower()}",
        f"{title} in the swing of a walk",
        "time [s]",
        "moment [N m]",
        lines,
    )


@claim("muscles.walk_ankle_moment", source="Wang 2022, sec. 6.2.8, Fig. 6.16", at_most=0.35, at_least=0.25)
def walk_ankle_moment() -> Measurement:
    """Inverse dynamics of the swing phase of a walk, 80 % of the shank's mass in four ankle muscles (types I, II, III):
    largest change of the ankle moment at any time, over its largest value in the swing. Where the moment is above 0.3
    of that, it changes by up to 65 % of itself. The paper states "as much as 40 %", in a run at 19.1 km/h, without the
    measure.
    """
    times, found = swings()
    details = {
        "swing [s]": [float(times[0]), float(times[-1])],
        "ankle: peak at 0 % [N m]": float(np.abs(found[ANKLE][0]).max()),
        "ankle: largest change over the moment there, above 0.3 of the peak": pointwise(found[ANKLE]),
        "knee: largest change over its peak": change(found[KNEE]),
        "ankle: change over the peak by share": [
            float(np.abs(row - found[ANKLE][0]).max() / np.abs(found[ANKLE][0]).max()) for row in found[ANKLE]
        ],
    }
    plots = moments(ANKLE, "Ankle moment"), moments(KNEE, "Knee moment")
    return Measurement(change(found[ANKLE]), details, plots)


@claim("muscles.walk_changes_smoothly", source="Wang 2022, sec. 6.2.9, Fig. 6.17", at_most=0.2)
def walk_changes_smoothly() -> Measurement:
    """Change of the ankle and knee moments by 80 % of it in the muscles: its largest second difference over the samples
    in time, over that of the moment without mass in muscles.
    """
    ratios = {
        name: float(np.abs(np.diff(r[-1] - r[0], 2)).max() / np.abs(np.diff(r[0], 2)).max())
        for name, r in swings()[1].items()
    }
    return Measurement(max(ratios.values()), dict(ratios))


@claim("muscles.walk_degrades_gracefully", source="Wang 2022, sec. 6.2.9, Fig. 6.17", at_most=1e-9)
def walk_degrades_gracefully() -> float:
    """0 %, 20 %, 40 %, 60 % and 80 % of it: largest second difference of the ankle and knee moments over the shares,
    relative to the largest change; the moments are linear in the mass.
    """
    return max(
        float(np.abs(np.diff(r, 2, axis=0)).max() / np.abs(r[-1] - r[0]).max()) for r in swings()[1].values()
    )
