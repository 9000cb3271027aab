"""Settings and report of a fit, part of a joint's data."""

from bpy.types import Context, PropertyGroup

from .fit_settings import CommonWishes, CurveWishes, SurfaceWishes
from .properties import angle, choice, collection, flag, integer, number, span, vector


class PoseResidual(PropertyGroup):
    """One keyed pose of the last fit, and its distance from the joint."""

    frame: number("Frame", "Frame of the key")
    distance: number("Distance [mm]", "Distance of the keyed pose from the joint")
    angle: angle("Angle", "Angle between the keyed pose and the joint")
    trust: number("Trust", "Weight of the key in the last fit: less than 1 for an outlier", default=1.0)
    weight: number("Weight", "Relative weight of the key in the next fit", **span(0.0, 10.0, default=1.0))
    pinned: flag("Pinned", "The next fit passes through this key exactly (curves only)")
    pose: vector("Keyed Pose", "Of the child in the joint's frame, row by row", size=16)
    q: vector("Coordinates", "Coordinates of the joint nearest to the key, in radians or metres", size=3)


def _jump(self: "FitProperties", context: Context) -> None:
    """Show the frame of a key that was clicked in the list."""
    if 0 <= self.active_residual < len(self.residuals):
        frame = self.residuals[self.active_residual].frame
        context.scene.frame_set(int(frame // 1.0), subframe=frame % 1.0)


class FitProperties(CommonWishes, CurveWishes, SurfaceWishes, PropertyGroup):  # type: ignore[misc]  # its `keys`
    """Settings of a spline joint's fit to the child's keyed poses, and its result."""

    requested: flag("Fit before Baking", "Bake first fits the joint to the keyframes")
    num_poses: integer("Keyed Poses", "Poses that the last fit used")
    worst_distance: number("Worst Distance [mm]", "Largest distance of a keyed pose from the joint")
    worst_angle: angle("Worst Angle", "Largest angle between a keyed pose and the joint")
    iterations: integer("Iterations", "Iterations of the last fit")
    converged: flag("Converged", "Whether the last fit converged")
    metric_values: vector(
        "Metric",
        "Upper triangle of the last fit's metric, row by row, in SI; zeros: that of a length scale",
        size=21,
    )
    coverage: number(
        "Coverage", "How well the keys of the last fit cover the surface: 1 well, 0 not at all", default=1.0
    )
    cyclic: choice(
        "Cyclic",
        "Whether the keys of the last fit come back to where they began",
        items=(
            ("NONE", "No", "They end elsewhere"),
            ("CLOSED", "Closed", "Once round a closed path"),
            ("TO_AND_FRO", "To and Fro", "Back on the path that they came on"),
        ),
    )
    residuals: collection("Residuals", type=PoseResidual)
    active_residual: integer("Key", "Click on a key to go to its frame", default=-1, update=_jump)
    worst_first: flag("Worst First", "Sort the keys by their distance from the joint", default=True)
    show_ghosts: flag(
        "Show in View", "Show every key in the view, coloured by its distance from the joint", default=True
    )
