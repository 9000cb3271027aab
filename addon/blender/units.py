"""The only module that converts between Blender's units and SI: lengths, time, rigid poses, mass properties.

Blender stores lengths in scene units and everything in float32; physics has metres, seconds, kilograms and
float64. Our masses, inertias, stiffnesses and speeds are stored in SI and say so in their names: Blender
would scale a property with ``unit='MASS'`` by the cube of the unit scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import physics_access, scales

if TYPE_CHECKING:
    from bpy.types import Object, PoseBone, Scene
    from mathutils import Matrix

#: parts of matrices, by the matrices' bytes: a bake asks for those of a body several times
_SPLIT: dict[bytes, tuple[np.ndarray, float]] = {}
SPLIT_KEPT = 4096


@dataclass(frozen=True)
class MassProperties:
    """Mass [kg], centre of mass (3,) [m] and inertia (3, 3) about it [kg m^2], in the axes of the body."""

    mass: float
    center: np.ndarray
    inertia: np.ndarray


def length_scale(scene: Scene) -> float:
    """Metres in one Blender unit."""
    return float(scene.unit_settings.scale_length)


def told_length(metres: float) -> str:
    """A length as text: in millimetres with three digits, at least 0.001 mm; in metres from 1 m on."""
    millimetres = 1e3 * metres
    if millimetres < 0.001:
        return "under 0.001 mm"
    if millimetres < 999.5:
        return f"{millimetres:.3g} mm"
    return f"{metres:.3g} m" if metres < 999.5 else f"{metres:,.0f} m"


def told_apart(metres: float, angle: float) -> str:
    """A length and an angle [rad] as text, without the one that is negligible."""
    turned = float(np.degrees(angle))
    parts = [told_length(metres)] if metres >= 1e-6 or turned < 1e-3 else []
    return " and ".join([*parts, *([f"{turned:.2g}°"] if turned >= 1e-3 else [])])


def metres_of(body: Any, scene: Scene) -> float:
    """How many metres in the world a unit of the location of a `Body` is."""
    _, scale = split_scale(body.matrix, body.name, body.owner)
    own = abs(float(body.owner.scale[0])) or 1.0
    return length_scale(scene) * scale / own


def delta_rotation(item: Object, mode: str) -> np.ndarray:
    """The turn (3, 3) that an object has before that of its own channels, in a rotation mode."""
    if mode == "QUATERNION":
        return np.array(item.delta_rotation_quaternion.normalized().to_matrix())  # as Blender takes it
    if mode == "AXIS_ANGLE":  # Blender has no delta for it in the interface
        return np.eye(3)
    return np.array(item.delta_rotation_euler.to_matrix())


def frames_per_second(scene: Scene) -> float:
    """Frames in one second of the scene, e.g. 29.97 = 30 / 1.001."""
    return float(scene.render.fps) / float(scene.render.fps_base)


def frame_times(frames: np.ndarray, scene: Scene) -> np.ndarray:
    """Seconds (n,) from the first of the frames (n,) to each."""
    return (frames - frames[0]) / frames_per_second(scene)


def inverses(matrices: np.ndarray) -> np.ndarray:
    """Inverses (..., 4, 4) of affine matrices: as `numpy.linalg.inv`, for 1000 matrices in a tenth of the time.

    Raises:
        LinAlgError: a matrix is singular.
    """
    result = np.zeros(matrices.shape)
    linear = result[..., :3, :3]
    linear[...] = _linear_inverses(matrices[..., :3, :3])
    result[..., :3, 3] = -(linear @ matrices[..., :3, 3:])[..., 0]
    result[..., 3, 3] = 1.0
    return result


def _linear_inverses(linear: np.ndarray) -> np.ndarray:
    """Inverses of matrices (..., 3, 3): the cofactors, transposed, over the determinant."""
    rows = np.ascontiguousarray(np.moveaxis(linear, (-2, -1), (0, 1)))  # each entry of all matrices together
    found = np.empty_like(rows)
    for i in range(3):
        next_row, last_row = rows[(i + 1) % 3], rows[(i + 2) % 3]
        for j in range(3):
            right, left = (j + 1) % 3, (j + 2) % 3
            found[j, i] = next_row[right] * last_row[left] - next_row[left] * last_row[right]
    determinant = rows[0, 0] * found[0, 0] + rows[0, 1] * found[1, 0] + rows[0, 2] * found[2, 0]
    if not determinant.all():
        raise np.linalg.LinAlgError("a matrix is singular")
    found /= determinant
    return np.moveaxis(found, (0, 1), (-2, -1))


def orthogonal(linear: np.ndarray) -> np.ndarray:
    """Nearest orthogonal matrices (..., 3, 3) to nearly orthogonal ones times a scale: their polar factors, by the
    iteration of Newton and Schulz (Higham, Functions of Matrices, 2008, eq. 8.20), which doubles the digits at each
    turn and needs products only.
    """
    size = np.sqrt(np.einsum("...ij,...ij->...", linear, linear) / 3.0)
    found = linear / size[..., None, None]
    for _ in range(30):
        away = np.ascontiguousarray(found.swapaxes(-1, -2)) @ found - np.eye(3)
        worst = max(away.max(), -away.min())
        if worst > 1e-14:  # round-off
            found = found - 0.5 * (found @ away)
        if worst < 1e-9:  # the remaining error is its square
            break
    return found


def array4(matrix: Matrix | Sequence[Sequence[float]] | np.ndarray) -> np.ndarray:
    """A Blender matrix as float64 (4, 4)."""
    return np.array(matrix, dtype=np.float64).reshape(4, 4)


def split_scale(
    matrix: Matrix | list[list[float]] | np.ndarray, name: str, carrier: Object | PoseBone | None = None
) -> tuple[np.ndarray, float]:
    """A matrix (4, 4) as a rigid pose (4, 4) and its uniform scale; of what bones or constraints stretch, the nearest
    pose, and the scale that gives its volume.

    Args:
        carrier: the object or pose bone with this world matrix: a parent of it may have the scale.

    Raises:
        ModelError: not finite, mirrored, of zero scale, or an object gives it a non-uniform one, which also shears; the
            message names `name`.
    """
    matrix = array4(matrix)
    known = _SPLIT.get(matrix.tobytes())
    if known is not None:
        return known[0].copy(), known[1]
    if not np.isfinite(matrix).all():
        raise physics_access.model_error(f"{name}: its transform is not finite: {matrix.tolist()}")
    linear = matrix[:3, :3]
    lengths = np.sqrt((linear * linear).sum(axis=0)).tolist()
    scale = sum(lengths) / 3.0
    x, y, z = linear.tolist()
    determinant = (
        x[0] * (y[1] * z[2] - y[2] * z[1])
        + x[1] * (y[2] * z[0] - y[0] * z[2])
        + x[2] * (y[0] * z[1] - y[1] * z[0])
    )
    shown = "{:.4g}, {:.4g}, {:.4g}".format
    if determinant < 0.0:
        scales.blame(name, carrier, "negative scale, which mirrors it", lambda size: float(size.prod() < 0.0))
        raise physics_access.model_error(f"{name}: its scale is negative; apply the scale (Ctrl+A) first")
    if not determinant > 0.0:
        scales.blame(name, carrier, scales.ZERO, lambda size: float(not size.all()))
        raise physics_access.model_error(
            f"{name}: its scale is zero ({shown(*lengths)}); make it greater first"
        )
    left, stretch, right = np.linalg.svd(linear)
    pose = np.eye(4)
    pose[:3, :3] = left @ right
    pose[:3, 3] = matrix[:3, 3]
    is_uneven = max(max(lengths) - scale, scale - min(lengths)) > scales.TOLERANCE * scale
    if is_uneven or stretch[0] - stretch[2] > 2.0 * scales.TOLERANCE * scale:
        if carrier is not None and not any(scales.wrong(carrier, scales.UNEVEN, scales.unevenness)):
            return pose, float(np.cbrt(determinant))
        scales.blame(name, carrier, scales.UNEVEN, scales.unevenness)
        raise physics_access.model_error(
            f"{name}: non-uniform scale ({shown(*lengths)}); apply it (Ctrl+A) first"
            if is_uneven
            else f"{name}: sheared by a parent with non-uniform scale; apply the parent's scale (Ctrl+A) first"
        )
    if len(_SPLIT) >= SPLIT_KEPT:
        _SPLIT.clear()
    _SPLIT[matrix.tobytes()] = pose.copy(), scale
    return pose, scale


def to_metres(pose: np.ndarray, scene: Scene) -> np.ndarray:
    """Rigid poses (..., 4, 4) in Blender units -> metres."""
    return scaled_translation(pose, length_scale(scene))


def to_blender(pose: np.ndarray, scene: Scene) -> np.ndarray:
    """Rigid poses (..., 4, 4) in metres -> Blender units."""
    return scaled_translation(pose, 1.0 / length_scale(scene))


def scaled_translation(pose: np.ndarray, factor: float) -> np.ndarray:
    """Poses (..., 4, 4) with their translations multiplied."""
    result = np.array(pose, dtype=np.float64)
    result[..., :3, 3] *= factor
    return result


def mesh_mass_properties(
    vertices: np.ndarray, triangles: np.ndarray, density: float, name: str
) -> MassProperties:
    """Mass, centre and inertia of the solid that a closed triangle mesh bounds, by exact volume integrals in float64.

    Args:
        vertices: (n, 3) [m]. triangles: (m, 3) indices, counter-clockwise seen from outside. density: [kg/m^3].

    Raises:
        ModelError: density not positive, no triangles, a mesh with holes or flipped faces, or no volume.

    Source: Blow & Binstock, *How to find the inertia tensor of a solid body* (2004): covariances of signed tetrahedra.
    """
    if not (np.isfinite(density) and density > 0.0):
        raise physics_access.model_error(f"{name}: density must be positive, got {density:g} kg/m^3")
    if len(triangles) == 0:
        raise physics_access.model_error(f"{name}: its mesh has no faces, no volume; give the mass by hand")
    _check_closed(triangles, name)
    middle = vertices.mean(axis=0)  # integrals about a point nearby lose fewer digits
    corners = (vertices - middle)[triangles]
    six_volumes = np.linalg.det(corners)
    volume = six_volumes.sum() / 6.0
    size = float(np.ptp(vertices, axis=0).max())
    if abs(volume) <= 1e-9 * size**3:
        raise physics_access.model_error(
            f"{name}: its mesh encloses no volume ({volume:.3g} m^3); give the mass by hand"
        )
    if volume < 0.0:
        raise physics_access.model_error(f"{name}: its mesh is inside out; recalculate its normals (Shift+N)")
    sums = corners.sum(axis=1)
    first = (six_volumes[:, None] * sums).sum(axis=0) / 24.0
    outer = np.einsum("t,tci,tcj->ij", six_volumes, corners, corners)
    covariance = (outer + np.einsum("t,ti,tj->ij", six_volumes, sums, sums)) / 120.0
    center = first / volume
    covariance = density * (covariance - volume * np.outer(center, center))
    inertia = np.trace(covariance) * np.eye(3) - covariance
    return MassProperties(density * volume, center + middle, inertia)


def _check_closed(triangles: np.ndarray, name: str) -> None:
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]).astype(
        np.int64
    )
    stride = int(edges.max()) + 1
    directed, counts = np.unique(edges[:, 0] * stride + edges[:, 1], return_counts=True)
    reverse = np.unique(edges[:, 1] * stride + edges[:, 0])
    if (counts > 1).any() or not np.array_equal(directed, reverse):
        lonely = len(np.setdiff1d(directed, reverse))
        raise physics_access.model_error(
            f"{name}: its mesh is not closed ({lonely} open edges, {int((counts > 1).sum())} shared by flipped "
            "or doubled faces), so it has no volume; merge by distance and fill the holes, or give the mass by hand"
        )


def figure(value: float, unit: str) -> str:
    """A coordinate as text."""
    if unit == "rad":
        return f"{np.degrees(value):.4g}°"
    return f"{value:.4g} {unit}" if unit != "1" else f"{value:.4g}"


def in_si(group: type, settings: Any, name: str, metres: float) -> Any:
    """A setting with lengths in metres and vectors as arrays.

    Args:
        group: class that declares the property. settings: has its value. metres: metres per unit of length.
    """
    value = getattr(settings, name)
    if isinstance(value, (str, bool)):
        return value
    value = value if isinstance(value, (int, float)) else np.array(value, dtype=np.float64)
    return value * metres if group.__annotations__[name].keywords.get("unit") == "LENGTH" else value
