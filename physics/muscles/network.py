"""A trained network that lays paths over a cylinder (Wang 2022, sec. 5.3.3), with weights that come with the package.

The smooth path of a `Wrap` needs no training, accepts any input, has a chosen error, and is faster. The claims
``wrapping.network`` and ``muscles.network_energy`` compare both; the benchmark ``wrap_network_over_geodesic`` their
cost. The report of the weights is next to them; ``cylinder_network_table.json`` has the errors of networks of other
depths, widths and thresholds.
"""

from __future__ import annotations

import zipfile
import zlib
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

import numpy as np

from .._typing import FloatArray
from ..errors import ModelError
from ..geometry.immutable import ReadOnlyArrays, Value
from ..kernels.wrapping import layout as at
from ..validation import bounded, finite_array, whole_number

#: of the weights that come with the package
LAYERS, UNITS = 6, 64
#: bounds of the inputs: distances of both ends from the axis over the radius, angle between them, fraction
LOWEST, HIGHEST = (at.NEAREST, at.NEAREST, 0.0, 0.0), (at.FARTHEST, at.FARTHEST, at.MOST_TURN, 1.0)
WEIGHTS = Path(__file__).parent / "cylinder_network.npz"


@dataclass(frozen=True, eq=False)
class Network(ReadOnlyArrays, Value):
    """A dense network of hyperbolic tangents that gives a path over a cylinder (eq. 5.38, `kernels.wrapping.network`).

    Attributes:
        layers: number of hidden layers, 1 to 12. units: of each, an even number, 4 to 256.
        weights: (k,) of each layer the matrix (inputs, outputs) by rows, then the offsets.
        points: number of its points on a path, in the middles of equal pieces: those of as many equal mass points.
    """

    layers: int = field(metadata={"check": partial(whole_number, least=1, most=12)})
    units: int = field(metadata={"check": partial(whole_number, least=4, most=256)})
    weights: FloatArray
    points: int = field(default=20, metadata={"check": partial(whole_number, least=1, most=200)})
    of: ClassVar[str] = " of a network"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.units % 2:
            raise ModelError(f"units of a network must be even, got {self.units}")
        sizes = [at.NETWORK_INPUTS, *[self.units] * self.layers, at.NETWORK_OUTPUTS]
        size = sum((before + 1) * after for before, after in pairwise(sizes))
        given = finite_array(self.weights, (size,), "weights of a network")
        vars(self)["weights"] = bounded(given, "weights of a network", 1e6)
        self.lock()

    @property
    def nodes(self) -> FloatArray:
        """Fractions of the path's length at which its points lie, and both ends."""
        return np.array([0.0, *((np.arange(self.points) + 0.5) / self.points), 1.0])

    @property
    def workspace_size(self) -> int:
        """Size of its part of a strand's memory."""
        return at.nodes_size(self.points + 2, self.units)

    def record(self) -> FloatArray:
        """The record for the kernels (``kernels.wrapping.layout``)."""
        nodes = self.nodes
        return np.concatenate(
            [[self.layers, self.units, len(nodes)], nodes, _curvatures(nodes).ravel(), self.weights]
        )

    @classmethod
    def read(cls, path: str | Path = WEIGHTS, points: int = 20) -> Network:
        """The network with the weights of an archive of arrays ``weights_k``, ``offsets_k``.

        Raises:
            ModelError: the file is missing or damaged, or its arrays are not those of such a network.
        """
        try:
            return cls._read(Path(path), points)
        except ModelError:
            raise
        except (OSError, EOFError, ValueError, zipfile.BadZipFile, zlib.error) as error:
            raise ModelError(f"the network's weights {path} cannot be read: {error}") from error

    @classmethod
    def _read(cls, path: Path, points: int) -> Network:
        if not zipfile.is_zipfile(path):
            raise ModelError(f"{path.name} is missing or no archive of arrays")
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: np.asarray(file[name], dtype=np.float64) for name in file.files}
        layers, first = len(arrays) // 2 - 1, arrays.get("offsets_0", np.zeros(0))
        parts = []
        for k, shape in enumerate(pairwise([at.NETWORK_INPUTS, *[first.size] * layers, at.NETWORK_OUTPUTS])):
            for name, wanted in ((f"weights_{k}", shape), (f"offsets_{k}", shape[1:])):
                if name not in arrays or arrays[name].shape != wanted:
                    raise ModelError(f"{path.name} has no array {name!r} of shape {wanted}")
                parts.append(arrays[name].ravel())
        return cls(layers, first.size, np.concatenate(parts), points)


def _curvatures(x: FloatArray) -> FloatArray:
    """Second derivatives (n, n) at places x of the natural cubic spline through values there, by these values."""
    left, right, inner = np.diff(x)[:-1], np.diff(x)[1:], np.arange(1, len(x) - 1)
    system, load = np.eye(len(x)), np.zeros((len(x), len(x)))
    system[inner, inner - 1], system[inner, inner], system[inner, inner + 1] = (
        left / 6,
        (left + right) / 3,
        right / 6,
    )
    load[inner, inner - 1], load[inner, inner], load[inner, inner + 1] = (
        1 / left,
        -1 / left - 1 / right,
        1 / right,
    )
    return np.asarray(np.linalg.solve(system, load))
