"""ProfilerHook: writes a Chrome trace of a step now and then."""

from __future__ import annotations

import os
from typing import Any

from minitf import gfile, tf_logging
from minitf.options import RunOptions
from minitf.timeline import Timeline
from minitf.train import events
from minitf.train.basic_session_run_hooks import SecondOrStepTimer, global_step_read
from minitf.train.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)


class ProfilerHook(SessionRunHook):
    """Writes `timeline-STEP.json`, and the metadata as an event, every so many steps or seconds.

    The first step is not traced (TF: ProfilerHook).
    """

    def __init__(
        self,
        save_steps: int | None = None,
        save_secs: float | None = None,
        output_dir: str = "",
        show_dataflow: bool = True,
        show_memory: bool = False,
    ) -> None:
        self._output_dir = output_dir
        self._writer = events.writer(output_dir or ".")
        self._show = {"show_dataflow": show_dataflow, "show_memory": show_memory}
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)

    def begin(self) -> None:
        self._next_step: int | None = None
        self._global_step = global_step_read("ProfilerHook")

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        next_step = self._next_step
        self._due = next_step is not None and self._timer.should_trigger_for_step(next_step)
        traced = RunOptions(trace_level=RunOptions.FULL_TRACE) if self._due else None
        return SessionRunArgs(self._global_step, options=traced)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        step = run_values.results + 1
        if self._next_step is None:
            self._timer.update_last_triggered_step(run_values.results)
        if self._due:
            step = run_context.session.run(self._global_step)
            self._timer.update_last_triggered_step(step)
            self._write(step, run_values.run_metadata)
        self._next_step = step + 1

    def _write(self, step: int, run_metadata: Any) -> None:
        path = os.path.join(self._output_dir, f"timeline-{step}.json")
        tf_logging.info("Saving timeline for %d into '%s'.", step, path)
        trace = Timeline(run_metadata.step_stats).generate_chrome_trace_format(**self._show)
        with gfile.Open(path, "w") as f:
            f.write(trace)
        self._writer.add_run_metadata(run_metadata, f"step_{step}", step)

    def end(self, session: Any) -> None:
        self._writer.flush()
