"""Modal work ends whatever happens in it: the add-on must not wait for ever for a job that is no more."""

from __future__ import annotations

from types import SimpleNamespace

import pytest


@pytest.mark.small
@pytest.mark.parametrize("looked", [True, False])
def test_a_defect_in_a_job_does_not_block_the_addon(part, scene, monkeypatch, looked):
    jobs, session = part("jobs"), part("session")
    monkeypatch.setattr(jobs, "show_progress", lambda context: None)
    removed = []
    manager = SimpleNamespace(
        event_timer_add=lambda *_, **__: "timer",
        event_timer_remove=removed.append,
        modal_handler_add=lambda *_: None,
    )
    context = SimpleNamespace(scene=scene, window_manager=manager, window=None)
    broken = RuntimeError("linked and not editable")
    closed = []

    def poll():
        if looked:  # a live run shows poses there
            raise broken
        return True

    request = SimpleNamespace(poll=poll, wait=lambda: None, result=None, state="done", error=None)

    class Broken(jobs.JobOperator):
        title = "Bake"

        def steps(self, context):
            try:
                yield request
                raise broken
            finally:
                closed.append(True)

        def report(self, kind, text):
            raise AssertionError("a defect is raised, not reported as if it were the user's")

    operator = Broken()
    assert operator.start(context) == {"RUNNING_MODAL"}
    with pytest.raises(RuntimeError, match="not editable"):
        operator.modal(context, SimpleNamespace(type="TIMER", value="NOTHING"))
    assert session.job is None and removed == ["timer"] and closed == [True]
    assert "not editable" in session.message
