"""Recorder: which steps are taken down, one after another and at once."""

from __future__ import annotations

from minitf_runtime.server.recorder import Recorder

STEP, OTHER = object(), object()


def test_a_failed_step_is_made_up_for_however_many_came_meanwhile():
    recorder = Recorder(STEP, 1)
    assert recorder.claim(STEP)
    assert not any(recorder.claim(STEP) for _ in range(5))  # one is on its way
    recorder.add(None)
    assert recorder.claim(STEP)
    recorder.add({"device": []})
    assert recorder.wait(1, 0.0) == [{"device": []}]
    assert not recorder.claim(STEP)


def test_steps_of_another_kind_do_not_count():
    recorder = Recorder(STEP, 1)
    assert not recorder.claim(OTHER)
    assert recorder.claim(STEP)
