"""Noisy poses of known surfaces, fitted in the metric of SE(3) and naively, component by component."""

import warnings
from dataclasses import dataclass
from functools import cache

import numpy as np

import physics as ph
from physics._typing import FloatArray
from physics.geometry import lie

DATA_SETS = 20
POSES = 300
SHAPE = (6, 6)
SEQUENCE = "xyz"
# standard deviation of each of the six components of the noise's twist, lengths by `LENGTH` [rad]
NOISE = 0.03
LENGTH = 0.5  # metres that count as one radian
PLACES = 25  # points per side of the grid on which the distance from the truth is measured


@dataclass(frozen=True)
class Comparison:
    """Paired distances from the truth (root mean square over the surface, in the metric [rad]), ours minus naive.

    Attributes:
        ours, naive: distances (DATA_SETS,).
        worse: p of "ours is not farther" (one-sided paired t test): small if ours is farther.
        better: p of "ours is not closer": small if ours is closer.
    """

    ours: FloatArray
    naive: FloatArray
    worse: float
    better: float

    @property
    def difference(self) -> float:
        """Mean of ours minus naive [rad]."""
        return float((self.ours - self.naive).mean())

    @property
    def standard_error(self) -> float:
        """Standard error of the difference [rad]."""
        return float((self.ours - self.naive).std(ddof=1) / np.sqrt(len(self.ours)))

    def details(self) -> dict[str, float]:
        return {
            "ours [rad]": float(self.ours.mean()),
            "naive [rad]": float(self.naive.mean()),
            "difference [rad]": self.difference,
            "standard error [rad]": self.standard_error,
            "p better": self.better,
            "p worse": self.worse,
        }


def true_surface(rng: np.random.Generator, spread: float, bump: float = 0.1) -> ph.joints.SplineSurface:
    """A random surface whose middle angle varies from -spread to spread [rad] along its second direction, with bumps
    [rad] in the other five components.
    """
    across, along = np.meshgrid(*(np.linspace(-1.0, 1.0, m) for m in SHAPE), indexing="ij")
    values = bump * rng.normal(size=(*SHAPE, 6)) * np.repeat([1.0, LENGTH], 3)
    values[..., 1] = spread * along
    values[..., 0] += 0.6 * across
    values[..., 2] += 0.3 * across * along
    values[..., 3] += 0.4 * across
    values[..., 4] += 0.4 * along
    return ph.joints.SplineSurface(values, sequence=SEQUENCE)


def distance_from(truth: ph.joints.SplineSurface, fitted: ph.joints.SplineSurface) -> float:
    """Root mean square distance between two surfaces at equal coordinates, in the metric [rad]."""
    places = np.linspace(0.0, 1.0, PLACES)
    q = np.stack(np.meshgrid(places, places, indexing="ij"), axis=-1).reshape(-1, 2)
    twists = lie.log(lie.inverse(truth.transform(q)) @ fitted.transform(q))
    return float(np.sqrt(((twists / np.repeat([1.0, LENGTH], 3)) ** 2).sum(axis=1).mean()))


@cache
def compare(degrees: int, noise: float = NOISE) -> Comparison:
    """Both fits of `DATA_SETS` data sets, each a different surface with isotropic noise on its poses."""
    from scipy.stats import ttest_rel

    ours, naive = np.zeros(DATA_SETS), np.zeros(DATA_SETS)
    for k in range(DATA_SETS):
        rng = np.random.default_rng((degrees, k))
        truth = true_surface(rng, np.radians(degrees))
        q = rng.uniform(size=(POSES, 2))
        twists = noise * rng.normal(size=(POSES, 6)) * np.repeat([1.0, LENGTH], 3)
        given = (truth.transform(q) @ lie.exp(twists), q, SHAPE)
        options = {"domain": truth.domain, "sequence": SEQUENCE, "length_scale": LENGTH}
        with warnings.catch_warnings():
            # noise moves corners of the widest spread into gimbal lock, which is part of the comparison
            warnings.filterwarnings("ignore", message="a spline surface comes within")
            ours[k] = distance_from(truth, ph.fit_surface(*given, **options).joint)
            naive[k] = distance_from(truth, ph.naive_surface_fit(*given, **options).joint)
    return Comparison(
        ours,
        naive,
        float(ttest_rel(ours, naive, alternative="greater").pvalue),
        float(ttest_rel(ours, naive, alternative="less").pvalue),
    )
