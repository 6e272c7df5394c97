"""Hooks that write checkpoints, summaries and the training speed to a directory."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from minitf import tf_logging
from minitf.default import GraphKeys, get_collection, get_default_graph
from minitf.train import events
from minitf.train.basic_session_run_hooks import SecondOrStepTimer, global_step_read
from minitf.train.global_step import get_global_step
from minitf.train.scaffold import Scaffold
from minitf.train.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)


class CheckpointSaverListener:
    """Extends CheckpointSaverHook; does nothing itself."""

    def begin(self) -> None:
        """Called before the session is made."""

    def before_save(self, session: Any, global_step_value: int) -> None:
        """Called before a checkpoint is written."""

    def after_save(self, session: Any, global_step_value: int) -> bool | None:
        """Called after it; a true result ends the training."""

    def end(self, session: Any, global_step_value: int) -> None:
        """Called at the end."""


class CheckpointSaverHook(SessionRunHook):
    """Saves a checkpoint at the start, every so many steps or seconds, and at the end."""

    def __init__(
        self,
        checkpoint_dir: str,
        save_secs: float | None = None,
        save_steps: int | None = None,
        saver: Any = None,
        checkpoint_basename: str = "model.ckpt",
        scaffold: Scaffold | None = None,
        listeners: Sequence[CheckpointSaverListener] | None = None,
    ) -> None:
        tf_logging.info("Create CheckpointSaverHook.")
        if saver is not None and scaffold is not None:
            raise ValueError("You cannot provide both saver and scaffold.")
        self._saver = saver
        self._checkpoint_dir = checkpoint_dir
        self._save_path = os.path.join(checkpoint_dir, checkpoint_basename)
        self._scaffold = scaffold
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)
        self._listeners = list(listeners or ())

    def add_listeners(self, listeners: Sequence[CheckpointSaverListener]) -> None:
        """Adds those that it does not have."""
        self._listeners += [new for new in listeners if new not in self._listeners]

    def begin(self) -> None:
        self._writer = events.writer(self._checkpoint_dir)
        self._global_step = global_step_read("CheckpointSaverHook")
        for listener in self._listeners:
            listener.begin()

    def after_create_session(self, session: Any, coord: Any) -> None:
        step = session.run(self._global_step)
        graph = get_default_graph()
        events.write_graph(graph, self._checkpoint_dir)
        events.add_graph(self._writer, graph, self._get_saver())
        self._save(session, step)
        self._timer.update_last_triggered_step(step)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._global_step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if not self._timer.should_trigger_for_step(run_values.results + 1):
            return
        # What was fetched may be the value before this step or after it: look again.
        step = run_context.session.run(self._global_step)
        if self._timer.should_trigger_for_step(step):
            self._timer.update_last_triggered_step(step)
            if self._save(run_context.session, step):
                run_context.request_stop()

    def end(self, session: Any) -> None:
        step = session.run(self._global_step)
        if step != self._timer.last_triggered_step():
            self._save(session, step)
        for listener in self._listeners:
            listener.end(session, step)

    def _save(self, session: Any, step: int) -> bool:
        """Saves; whether a listener wants to stop."""
        tf_logging.info("Saving checkpoints for %d into %s.", step, self._save_path)
        for listener in self._listeners:
            listener.before_save(session, step)
        self._get_saver().save(session, self._save_path, global_step=step)
        events.add_checkpoint(self._writer, self._save_path, step)
        stop = False
        for listener in self._listeners:
            if listener.after_save(session, step):
                tf_logging.info(
                    "A CheckpointSaverListener requested that training be stopped. listener: %s",
                    listener,
                )
                stop = True
        return stop

    def _get_saver(self) -> Any:
        """The saver given, or of the scaffold, or the only one of the collection."""
        if self._saver is None and self._scaffold is not None:
            return self._scaffold.saver
        if self._saver is None:
            savers = get_collection(GraphKeys.SAVERS)
            if not savers:
                raise RuntimeError(
                    f"No items in collection {GraphKeys.SAVERS}. Please add a saver to the "
                    "collection or provide a saver or scaffold."
                )
            if len(savers) > 1:
                raise RuntimeError(
                    f"More than one item in collection {GraphKeys.SAVERS}. Please indicate which "
                    "one to use by passing it to the constructor."
                )
            self._saver = savers[0]
        return self._saver


class StepCounterHook(SessionRunHook):
    """Logs, and writes as a summary, how many steps are made in a second."""

    def __init__(
        self,
        every_n_steps: int | None = 100,
        every_n_secs: float | None = None,
        output_dir: str | None = None,
        summary_writer: Any = None,
    ) -> None:
        if (every_n_steps is None) == (every_n_secs is None):
            raise ValueError("exactly one of every_n_steps and every_n_secs should be provided.")
        self._timer = SecondOrStepTimer(every_secs=every_n_secs, every_steps=every_n_steps)
        self._writer = summary_writer
        self._output_dir = output_dir
        self._last_fetched: int | None = None

    def begin(self) -> None:
        if self._writer is None and self._output_dir:
            self._writer = events.writer(self._output_dir)
        self._global_step = global_step_read("StepCounterHook")
        self._tag = f"{get_global_step().op.name}/sec"

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._global_step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        fetched = run_values.results
        if self._timer.should_trigger_for_step(fetched + 1):
            step = run_context.session.run(self._global_step)
            if self._timer.should_trigger_for_step(step):
                seconds, steps = self._timer.update_last_triggered_step(step)
                if seconds is not None and steps is not None:
                    self._record(steps, seconds, step)
        if fetched == self._last_fetched:
            self._warn(fetched)
        self._last_fetched = fetched

    def _record(self, steps: int, seconds: float, step: int) -> None:
        rate = steps / max(seconds, 1e-9)  # a clock may stand still
        if self._writer is not None:
            events.add_scalar(self._writer, self._tag, rate, step)
        tf_logging.info("%s: %g", self._tag, rate)

    def _warn(self, step: int) -> None:
        tf_logging.log_first_n(
            tf_logging.WARN,
            "It seems that global step (tf.train.get_global_step) has not been increased. Current "
            "value (could be stable): %s vs previous value: %s. You could increase the global "
            "step by passing tf.train.get_global_step() to Optimizer.apply_gradients or "
            "Optimizer.minimize.",
            5,
            step,
            self._last_fetched,
        )


class SummarySaverHook(SessionRunHook):
    """Writes summaries every so many steps or seconds."""

    def __init__(
        self,
        save_steps: int | None = None,
        save_secs: float | None = None,
        output_dir: str | None = None,
        summary_writer: Any = None,
        scaffold: Scaffold | None = None,
        summary_op: Any = None,
    ) -> None:
        if (scaffold is None) == (summary_op is None):
            raise ValueError("Exactly one of scaffold or summary_op must be provided.")
        self._summary_op = summary_op
        self._writer = summary_writer
        self._output_dir = output_dir
        self._scaffold = scaffold
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)

    def begin(self) -> None:
        if self._writer is None and self._output_dir:
            self._writer = events.writer(self._output_dir)
        self._next_step: int | None = None
        self._behind = 1
        self._global_step = global_step_read("SummarySaverHook")

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        next_step = self._next_step
        self._due = next_step is None or self._timer.should_trigger_for_step(next_step)
        return SessionRunArgs([self._global_step, self._summaries() if self._due else []])

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if not self._writer:
            return
        fetched, summaries = run_values.results
        step = fetched + self._behind
        if self._due:
            step = run_context.session.run(self._global_step)
            # Whether a fetch gives the step before or after the update is the graph's choice.
            self._behind = min(step - fetched, 1)
        if self._next_step is None:
            events.add_start(self._writer, step)
        if self._due:
            self._timer.update_last_triggered_step(step)
            for summary in summaries:
                self._writer.add_summary(summary, step)
        self._next_step = step + 1

    def end(self, session: Any = None) -> None:
        if self._writer:
            self._writer.flush()

    def _summaries(self) -> list[Any]:
        op = self._summary_op
        if op is None and self._scaffold is not None:
            op = self._scaffold.summary_op
        if op is None:
            return []
        return op if isinstance(op, list) else [op]
