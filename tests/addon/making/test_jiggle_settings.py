"""Settings of Wiggle 2 and Jiggle Physics become chains that move alike; neither add-on is installed."""

import bpy
import numpy as np
import pytest

from ..chain_rigs import rig_with_tail, tail

DT = 1.0 / 24.0


def wiggle(stiff=400.0, damp=1.0, gravity=1.0, chain=True):
    return {"stiff": stiff, "damp": damp, "gravity": gravity, "chain": chain}


def one_tip(stiff, damp, dt, iterations, acceleration=0.0, start=1.0, frames=4000):
    """Offsets of one tip from where its bone points, by the rules of Wiggle 2."""
    place, step, seen = start, 0.0, []
    for _ in range(frames):
        before = place
        place += step * max(1.0 - damp * dt, 0.0) + acceleration * dt * dt
        for _ in range(iterations):
            place -= place * min(stiff * dt * dt / iterations, 1.0)
        step = place - before
        seen.append(place)
    return np.array(seen)


@pytest.mark.parametrize(("stiff", "damp"), [(400.0, 1.0), (100.0, 3.0), (60.0, 0.1)])
def test_one_bone_swings_as_often_and_dies_away_as_fast_as_in_wiggle_2(part, stiff, damp):
    dt = DT
    made = part("making.jiggle_settings").wiggle_figures(wiggle(stiff, damp), 1, dt)
    seen = one_tip(stiff, damp, dt, 2)[:12]
    # of a linear recursion of second order any four values give the two factors, exactly
    total, product = np.linalg.solve([[seen[1], -seen[0]], [seen[2], -seen[1]]], seen[2:4])
    rates = np.log(np.roots([1.0, -total, product]).astype(complex)) / dt
    speed = np.sqrt(np.abs(np.prod(rates)))
    assert 2.0 * np.pi * made.frequency == pytest.approx(speed, rel=1e-9)
    ratio = made.damping_ratio + 0.5 * made.drag / speed  # springs and air
    assert ratio == pytest.approx(-rates.sum().real / (2.0 * speed), rel=1e-9)
    hangs = one_tip(stiff, damp, dt, 2, acceleration=9.81, start=0.0)[-1]
    assert 1.5 * made.gravity * 9.81 / speed**2 == pytest.approx(hangs, rel=1e-9)


def test_a_longer_chain_is_slower_in_wiggle_2_and_not_in_jiggle_physics(part):
    settings = part("making.jiggle_settings")
    found = [settings.wiggle_figures(wiggle(), links, DT).frequency for links in (1, 2, 4, 8)]
    assert found == sorted(found, reverse=True)
    alone = [settings.wiggle_figures(wiggle(chain=False), links, DT).frequency for links in (1, 8)]
    assert alone[0] == pytest.approx(
        alone[1], rel=0.02
    )  # eight equal eigenvalues: to the eighth root of round-off
    made = settings.jiggle_figures(settings.JIGGLE | {"air_drag": 0.2, "gravity": 0.5}, DT)
    assert made.drag < 0.2 * 24.0 and 0.0 < made.gravity < 0.5
    for extreme in (wiggle(0.0, 0.0), wiggle(1e6, 0.0), wiggle(0.0, 100.0)):
        figures = settings.wiggle_figures(extreme, 3, DT)
        assert np.isfinite([figures.frequency, figures.damping_ratio, figures.gravity, figures.drag]).all()


@pytest.mark.small
def test_a_file_without_the_add_ons_is_converted(part, scene, make):
    rig = rig_with_tail(make, 3)
    with pytest.raises(RuntimeError, match="no bone"):
        bpy.ops.condyle.convert_jiggle()
    first, second, third = (rig.pose.bones[name] for name in tail(rig))
    first["wiggle_tail"], first["wiggle_stiff"], first["wiggle_gravity"] = 1, 200.0, 0.5
    second["wiggle_tail"], second["wiggle_mute"] = 1, 1
    third["jiggle"] = {"enable": 1, "mode": 2}
    third["jiggle_air_drag"] = 0.2
    names = ("wiggle_tail", "wiggle_stiff", "wiggle_gravity")
    assert bpy.ops.condyle.convert_jiggle() == {"FINISHED"}
    assert [first[name] for name in names] == [1, 200.0, 0.5]
    settings = part("making.jiggle_settings")
    made = settings.wiggle_figures(wiggle(200.0, gravity=0.5), 1, DT)
    ours = first.condyle.body
    assert (ours.spring.frequency, ours.spring.damping_ratio, ours.gravity, ours.drag) == pytest.approx(
        (made.frequency, made.damping_ratio, made.gravity, made.drag), rel=1e-6
    )
    assert not second.condyle.body.spring.enabled
    drag = settings.jiggle_figures(settings.JIGGLE | {"air_drag": 0.2}, DT).drag
    assert third.condyle.body.drag == pytest.approx(drag, rel=1e-6)
    with pytest.raises(RuntimeError, match="no bone"):  # those that have joints keep them
        bpy.ops.condyle.convert_jiggle()


def test_an_add_on_that_is_installed_is_read_and_muted(part, scene, make):
    rig = rig_with_tail(make, 2, connect=False)
    bone = rig.pose.bones[tail(rig)[1]]
    bpy.types.PoseBone.wiggle_head = bpy.props.BoolProperty()
    bpy.types.PoseBone.wiggle_stiff_head = bpy.props.FloatProperty(default=300.0)
    bpy.types.Object.wiggle_mute = bpy.props.BoolProperty()
    try:
        bone.wiggle_head = True
        (found,) = part("making.jiggle_settings").find(scene)
        assert found.kind == "translational" and found.body.bone == bone.name
        expected = part("making.jiggle_settings").wiggle_figures(wiggle(300.0), 1, DT, kind="translational")
        assert found.tuning == expected
        bpy.ops.condyle.convert_jiggle()
        assert rig.wiggle_mute and bone.wiggle_head
    finally:
        del bpy.types.PoseBone.wiggle_head, bpy.types.PoseBone.wiggle_stiff_head, bpy.types.Object.wiggle_mute
    assert part("making.jiggle_settings").stored(bone, "wiggle_head")  # as the file keeps it, the add-on gone
