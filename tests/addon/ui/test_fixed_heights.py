"""What comes and goes moves nothing under the mouse, and what is pressed often is near the top."""

from types import SimpleNamespace
from unittest.mock import MagicMock

import bpy
import pytest


@pytest.mark.parametrize("text", ["Ready", "word " * 40])
def test_the_status_is_two_lines_high_whatever_it_says(part, text):
    layout, context = MagicMock(), MagicMock()
    context.region.width = 300
    part("ui.layout").draw_status(layout, context, text, "INFO", False)
    column = layout.box.return_value.column.return_value
    row = column.row.return_value
    assert column.label.call_count == column.row.call_count == row.label.call_count == 1
    assert row.operator.call_count == (len(text) > 100)  # shows the rest
    told = SimpleNamespace(text=text)
    assert part("ui.checks.operators").ShowText.description(context, told) == text  # and so does its tooltip


def buttons(draw, *given):
    """Widgets of a panel from the top, as (row, kind, name): what is in one row has one number."""
    found, rows = [], [0]

    def layout(number=None):
        made = MagicMock()

        def placed(kind, name):
            rows[0] += number is None
            found.append((rows[0] if number is None else number, kind, name))
            return MagicMock()

        def row(*_, **__):
            rows[0] += number is None
            return layout(rows[0] if number is None else number)

        made.row.side_effect = made.split.side_effect = row
        made.column.side_effect = made.box.side_effect = lambda *_, **__: layout(number)
        for kind in ("operator", "operator_menu_enum", "prop", "popover", "label", "progress"):
            getattr(made, kind).side_effect = lambda *args, kind=kind, **options: placed(
                kind, args[-1] if args else options.get("text")
            )
        return made

    draw(SimpleNamespace(layout=layout()), *given)
    return found


def test_nothing_moves_where_warnings_a_job_or_a_failed_bake_come_and_go(part, scene, make, monkeypatch):
    session, findings = part("blender.session"), part("data.findings")
    panels, checks = part("ui.simulation.panels"), part("ui.checks.panels")
    context = SimpleNamespace(scene=scene, region=SimpleNamespace(width=290))

    def rows():
        return [row for row, _, _ in buttons(panels.BakePanel.draw, context)][-1]

    least = rows()
    assert ("popover", "CONDYLE_PT_warnings") in [
        each[1:] for each in buttons(panels.BakePanel.draw, context)
    ]
    part("data.finding_list").show(
        scene.session_uid, [findings.about(make.box(f"Box {k}"), "no-motion") for k in range(20)]
    )
    assert rows() == least and len(part("data.finding_list").shown(scene)) == 20
    kept = SimpleNamespace(frames=[1.0, 7.0])
    monkeypatch.setattr(panels.partial_bake, "of", lambda _scene: kept)
    assert rows() == least
    for endless in (False, True):
        job = part("jobs.operator").Job("Bake", 0.0, 0.5, "Reading the scene", endless=endless)
        monkeypatch.setattr(session, "job", job)
        assert rows() == least
    # a panel of the tab would move what is below it
    assert checks.WarningsPanel.bl_region_type == "HEADER" and not hasattr(
        checks.WarningsPanel, "bl_parent_id"
    )
    session.findings = []


def test_goals_are_solved_near_the_top_and_names_have_room(part, scene, make, body, monkeypatch):
    """From five settings above it the button was out of sight, and a name had a third of its row."""
    item, session, panels = make.box("Hand"), part("blender.session"), part("ui.goals.panels")
    part("making.bodies_and_joints").make_body(scene, body(item))
    bpy.context.view_layer.objects.active = item
    assert bpy.ops.condyle.add_goal(kind="REACH") == {"FINISHED"}
    for missed in (-1, scene.session_uid):
        monkeypatch.setattr(session, "missed_goals", missed)
        found = buttons(panels.GoalsPanel.draw, bpy.context)
        solve = [row for row, _, name in found if name == "condyle.solve_goals"]
        assert set(solve) == {2} and len(solve) == (1 if missed < 0 else 2)  # Write Anyway is beside it
    row, width = MagicMock(), 235 / 20  # of the sidebar at first, in widths of an icon
    panels.GoalRows.draw_row(None, None, row, None, item.condyle.goals.rows[0], 0)
    assert width - row.row.return_value.ui_units_x - 2 > 0.6 * width  # an icon and a checkbox
    assert row.label.call_args.kwargs["text"] == item.condyle.goals.rows[0].target.name


def test_fit_is_closed_at_first(part):
    assert "DEFAULT_CLOSED" in part("ui.fitting.panels").FitPanel.bl_options
