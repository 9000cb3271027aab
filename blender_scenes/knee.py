"""A knee from published motion: keyed, fitted, simulated and baked.

    python -m blender_scenes.knee --out out          out/knee.blend: bones, keys, bodies and joints, ready to bake
    python -m blender_scenes.knee --demo --out out   the same fitted, simulated and baked, with pictures and figures

The tibia is keyed at 13 poses from 0 to 120 degrees of flexion (Delp et al. 1990, OpenSim gait2392, CC BY 3.0; see
anatomy.knee_kinematics). A second leg carries the same keys with noise. Every figure is checked: if one is out of its
bounds, the script raises SceneError and exits with 1.
"""

import argparse
import sys
from pathlib import Path

import bpy

from addon.making.demo_knee import add_joint
from physics import CondyleError, MissingDependencyError

from . import SceneError, knee_joint
from .knee_pictures import add_joint_display, add_swing_trace, contact_sheet, plots
from .knee_scene import KneeScene, bone_gap, check_bones, new_scene, relative_pose
from .picture import Image, write_image
from .process import leave
from .production import TILES, Progress, Stages, energy_drift, registered_addon, save, set_simulation

README_PICTURE = Path(__file__).parent / "pictures" / "knee.png"


def set_up() -> tuple[KneeScene, bpy.types.Object, bpy.types.Object, dict[str, float]]:
    """Make the scene with bodies and joints, ready to bake; returns its two joints, and the checked figures."""
    knee = new_scene()
    figures = check_bones(knee)
    joint, twin_joint = (add_joint(knee.scene, leg, knee_joint.FRAMES_KEPT) for leg in (knee.leg, knee.twin))
    twin_joint.condyle.joint.fit.num_frames = knee_joint.FRAMES_FINE
    twin_joint.condyle.joint.fit.smoothing = knee_joint.SMOOTHING
    set_simulation(knee.scene, knee_joint.SECONDS, knee_joint.TIME_STEP)
    return knee, joint, twin_joint, figures


def build(out: Path) -> Path:
    """Build knee.blend, not fitted nor simulated yet, into the folder `out`. Raises SceneError."""
    with registered_addon():
        set_up()
        return save(out / "knee.blend")


def demo(out: Path, readme: bool = False) -> None:
    """Build, fit, simulate, bake and draw the knee into the folder `out`, and print the figures.

    With `readme` the picture in the README is renewed as well.
    """
    stages = Stages()
    out.mkdir(parents=True, exist_ok=True)
    with registered_addon():
        with stages.stage("build"):
            knee, joint, twin_joint, figures = set_up()
        with stages.stage("fit") as progress:
            fits = knee_joint.fit_all(knee, joint, twin_joint, progress)
            knee_joint.check_fits(fits)
        with stages.stage("simulate and bake") as progress:
            figures["energy_drift"] = energy_drift(knee.scene, (joint, twin_joint), progress)
            swing = knee_joint.bake(knee, progress)
            knee_joint.check_swing(swing)
            figures |= swing_figures(knee, swing)
        with stages.stage("pictures") as progress:
            sheet = draw(knee, joint, fits, swing, progress)
            for path in (out / "knee.png", *([README_PICTURE] if readme else [])):
                write_image(sheet, path)
            try:
                write_image(plots(swing.report.result, fits.kept), out / "knee_plots.png")
            except MissingDependencyError as error:
                print(f"knee_plots.png is left out: {error}", file=sys.stderr)
        save(out / "knee.blend")
    print(table(fits, swing, figures, stages.seconds))
    for name in ("knee.blend", "knee.png", "knee_plots.png"):
        if (out / name).exists():
            print(f"  {out / name}")


def swing_figures(knee: KneeScene, swing: knee_joint.Swing) -> dict[str, float]:
    """Distance of the bones [m] over the baked swing; raises SceneError if they overlap or are too far apart."""
    gaps = []
    for frame in swing.report.frames[::4]:
        knee.scene.frame_set(int(frame))
        gaps.append(bone_gap(knee.meshes, relative_pose(knee.leg)))
    knee.scene.frame_set(knee.scene.frame_start)
    if not 2e-3 < min(gaps) <= max(gaps) < 8e-3:
        raise SceneError(
            f"in the swing the bones are {1e3 * min(gaps):.1f} to {1e3 * max(gaps):.1f} mm apart"
        )
    return {"swing_smallest_gap": min(gaps), "swing_largest_gap": max(gaps)}


def draw(
    knee: KneeScene,
    joint: bpy.types.Object,
    fits: knee_joint.Fits,
    swing: knee_joint.Swing,
    progress: Progress,
) -> Image:
    """The contact sheet; the joint's curve, its frames and the ankle's path stay in the scene."""
    _, curve_poses = knee_joint.dense_curve(joint, knee.leg, fits.kept.curve, count=200)
    add_joint_display(knee, curve_poses, [frame.object for frame in joint.condyle.joint.frames])
    add_swing_trace(knee, swing.report.poses[knee.leg.tibia.name])
    picked = [3 * k for k in range(TILES)]  # eighths of a second at 24 frames a second
    frames = [int(swing.report.frames[k]) for k in picked]
    captions = [(f"t = {swing.report.times[k]:.3f} s", f"flexion {swing.flexion[k]:.0f}°") for k in picked]
    lines = (
        "The knee as a spline joint",
        f"{len(knee.leg.poses)} keyed poses, {knee_joint.FRAMES_KEPT} control frames",
        f"largest residual {fits.kept.worst_distance_mm:.3f} mm",
    )
    return contact_sheet(knee, frames, captions, lines, progress)


def table(
    fits: knee_joint.Fits, swing: knee_joint.Swing, figures: dict[str, float], seconds: dict[str, float]
) -> str:
    """The figures as lines of text."""
    lines = ["", "  fit                          worst              rms           iterations"]
    for name, report in (
        (f"{knee_joint.FRAMES_KEPT} control frames", fits.kept),
        (f"{knee_joint.FRAMES_FINE} control frames", fits.fine),
        (f"{knee_joint.FRAMES_FINE}, noisy keys", fits.noisy),
        (f"{knee_joint.FRAMES_FINE}, noisy, smoothed", fits.smoothed),
    ):
        worst = f"{report.worst_distance_mm:6.3f} mm {report.worst_angle_deg:6.3f}°"
        rms = f"{report.rms_distance_mm:6.3f} mm {report.rms_angle_deg:6.3f}°"
        lines.append(f"  {name:22} {worst}   {rms}   {report.iterations:4d}")
    ratio = fits.noisy.hessian_integral / fits.smoothed.hessian_integral
    errors = [1e3 * error for error in (fits.noisy_error, fits.smoothed_error)]
    gaps = [1e3 * figures[name] for name in ("swing_smallest_gap", "swing_largest_gap")]
    rows = {
        f"smoothing {knee_joint.SMOOTHING:g} cuts the joint's bending": f"{ratio:.1f}-fold",
        "off the published motion (rms)": f"{errors[0]:.3f} mm noisy, {errors[1]:.3f} mm smoothed",
        "swing": f"{swing.flexion.min():.1f}° to {swing.flexion.max():.1f}° of flexion, {swing.report.times[-1]:.2f} s",
        "bake against simulation": f"{swing.bake_error:.1e}, m and matrix entries",
        "energy drift, undamped, RK4": f"{figures['energy_drift']:.1e} of the swing's",
        "gap between the bones": f"{gaps[0]:.1f} to {gaps[1]:.1f} mm",
        "seconds": ", ".join(f"{stage} {value:.1f}" for stage, value in seconds.items()),
    }
    return "\n".join([*lines, "", *(f"  {name:36} {text}" for name, text in rows.items())])


def main(arguments: list[str] | None = None) -> int:
    """Exit code: 0 done, 1 a check failed, 2 usage."""
    parser = argparse.ArgumentParser(
        prog="python -m blender_scenes.knee", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--out", type=Path, default=Path("out"), help="the folder to write into")
    parser.add_argument("--demo", action="store_true", help="fit, simulate, bake and draw as well")
    parser.add_argument(
        "--readme", action="store_true", help=f"with --demo: renew {README_PICTURE.name} of the README"
    )
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    try:
        if options.demo:
            demo(options.out, options.readme)
        else:
            print(build(options.out))
    except (SceneError, CondyleError) as error:
        print(f"knee: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    leave(main())
