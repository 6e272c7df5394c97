"""Hooks that stop, wait, log or check; those that write files are in saving_hooks.py."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitf import tf_logging
from minitf.default import get_default_graph
from minitf.train.global_step import get_or_create_global_step_read
from minitf.train.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from minitf_runtime.errors import OutOfRangeError

WAIT_SECONDS = 0.5  # how often GlobalStepWaiterHook looks


class SecondOrStepTimer:
    """Says at which steps something is due: every so many seconds, or steps."""

    def __init__(self, every_secs: float | None = None, every_steps: int | None = None) -> None:
        if every_secs is None and every_steps is None:
            raise ValueError("Either every_secs or every_steps should be provided.")
        if every_secs is not None and every_steps is not None:
            raise ValueError("Can not provide both every_secs and every_steps.")
        self._every_secs = every_secs
        self._every_steps = every_steps
        self.reset()

    def reset(self) -> None:
        self._last_step: int | None = None
        self._last_time = 0.0

    def should_trigger_for_step(self, step: int) -> bool:
        """Whether it is due, which it always is at first, and never twice for one step."""
        if self._last_step is None:
            return True
        if step == self._last_step:
            return False
        if self._every_secs is not None:
            return time.time() >= self._last_time + self._every_secs
        assert self._every_steps is not None
        return step >= self._last_step + self._every_steps

    def update_last_triggered_step(self, step: int) -> tuple[float | None, int | None]:
        """Takes note that it was done; the seconds and steps since the time before."""
        now = time.time()
        since: tuple[float | None, int | None] = (None, None)
        if self._last_step is not None:
            since = now - self._last_time, step - self._last_step
        self._last_step, self._last_time = step, now
        return since

    def last_triggered_step(self) -> int | None:
        return self._last_step


class _Never(SecondOrStepTimer):
    """A timer for what is done at the end only."""

    def __init__(self) -> None:
        super().__init__(every_steps=0)

    def should_trigger_for_step(self, step: int) -> bool:
        return False


def global_step_read(hook: str) -> Any:
    """The tensor that hooks fetch to know the step. Raises RuntimeError if there is no step."""
    read = get_or_create_global_step_read()
    if read is None:
        raise RuntimeError(f"Global step should be created to use {hook}.")
    return read


class StopAtStepHook(SessionRunHook):
    """Asks to stop at a step, or after so many steps of this session."""

    def __init__(self, num_steps: int | None = None, last_step: int | None = None) -> None:
        if num_steps is None and last_step is None:
            raise ValueError("One of num_steps or last_step must be specified.")
        if num_steps is not None and last_step is not None:
            raise ValueError("Only one of num_steps or last_step can be specified.")
        self._num_steps = num_steps
        self._last_step = last_step

    def begin(self) -> None:
        self._global_step = global_step_read("StopAtStepHook")

    def after_create_session(self, session: Any, coord: Any) -> None:
        if self._last_step is None:
            self._last_step = session.run(self._global_step) + self._num_steps

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._global_step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        assert self._last_step is not None
        if run_values.results + 1 < self._last_step:
            return
        # What was fetched may be the value before this step or after it: look again.
        if run_context.session.run(self._global_step) >= self._last_step:
            run_context.request_stop()


class GlobalStepWaiterHook(SessionRunHook):
    """Lets a worker begin only when the others have made so many steps."""

    def __init__(self, wait_until_step: int) -> None:
        self._wait_until_step = wait_until_step

    def begin(self) -> None:
        self._started = self._wait_until_step <= 0
        self._global_step = global_step_read("_GlobalStepWaiterHook")

    def before_run(self, run_context: SessionRunContext) -> None:
        if self._started:
            return
        tf_logging.info(
            "Waiting for global step %d before starting training.", self._wait_until_step
        )
        logged = 0
        while True:
            step = run_context.session.run(self._global_step)
            if step >= self._wait_until_step:
                self._started = True
                return
            if step - logged > 1000:
                tf_logging.info(
                    "Waiting for global step %d before starting training. Current step is %d.",
                    self._wait_until_step,
                    step,
                )
                logged = step
            time.sleep(WAIT_SECONDS)


class FeedFnHook(SessionRunHook):
    """Feeds what `feed_fn()` gives, anew for each step."""

    def __init__(self, feed_fn: Callable[[], dict[Any, Any]]) -> None:
        self.feed_fn = feed_fn

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(None, feed_dict=self.feed_fn())


class FinalOpsHook(SessionRunHook):
    """Runs ops at the end, and keeps their values."""

    def __init__(self, final_ops: Any, final_ops_feed_dict: Any = None) -> None:
        self._final_ops = final_ops
        self._final_ops_feed_dict = final_ops_feed_dict
        self._final_ops_values: Any = None

    @property
    def final_ops_values(self) -> Any:
        return self._final_ops_values

    def end(self, session: Any) -> None:
        if self._final_ops is None:
            return
        try:
            self._final_ops_values = session.run(self._final_ops, self._final_ops_feed_dict)
        except (OutOfRangeError, StopIteration):
            tf_logging.warning(
                "An OutOfRangeError or StopIteration exception is raised by the code in "
                "FinalOpsHook: its ops take another element of an input that has ended. They "
                "should only read variables, as a metric's value op does."
            )
            raise


class NanLossDuringTrainingError(RuntimeError):
    """The loss is not a number any more."""

    def __str__(self) -> str:
        return "NaN loss during training."


class NanTensorHook(SessionRunHook):
    """Raises NanLossDuringTrainingError, or asks to stop, when the loss becomes NaN."""

    def __init__(self, loss_tensor: Any, fail_on_nan_loss: bool = True) -> None:
        self._loss_tensor = loss_tensor
        self._fail_on_nan_loss = fail_on_nan_loss

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._loss_tensor)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if not np.isnan(run_values.results):
            return
        message = "Model diverged with loss = NaN."
        if self._fail_on_nan_loss:
            tf_logging.error(message)
            raise NanLossDuringTrainingError
        tf_logging.warning(message)
        run_context.request_stop()


class LoggingTensorHook(SessionRunHook):
    """Logs tensors every so many runs or seconds, or at the end.

    `tensors` are tensors or names, or a dict of them by tag; `formatter` makes a text of the
    values by tag. Raises ValueError for no or too many intervals.
    """

    def __init__(
        self,
        tensors: Sequence[Any] | dict[str, Any],
        every_n_iter: int | None = None,
        every_n_secs: float | None = None,
        at_end: bool = False,
        formatter: Callable[[dict[Any, Any]], str] | None = None,
    ) -> None:
        intervals = (every_n_iter is not None) + (every_n_secs is not None)
        if intervals > 1 or not (intervals or at_end):
            raise ValueError(
                "either at_end and/or exactly one of every_n_iter and every_n_secs must be "
                "provided."
            )
        if every_n_iter is not None and every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        by_tag = isinstance(tensors, dict)
        self._tag_order = sorted(tensors) if by_tag else list(tensors)
        self._tensors = tensors if by_tag else {item: item for item in tensors}
        self._formatter = formatter
        self._timer = SecondOrStepTimer(every_n_secs, every_n_iter) if intervals else _Never()
        self._log_at_end = at_end

    def begin(self) -> None:
        self._timer.reset()
        self._runs = 0
        self._current = {tag: _tensor(t) for tag, t in self._tensors.items()}

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        self._due = self._timer.should_trigger_for_step(self._runs)
        return SessionRunArgs(self._current) if self._due else None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if self._due:
            self._log(run_values.results)
        self._runs += 1

    def end(self, session: Any) -> None:
        if self._log_at_end:
            self._log(session.run(self._current))

    def _log(self, values: dict[Any, Any]) -> None:
        seconds, _ = self._timer.update_last_triggered_step(self._runs)
        with np.printoptions(suppress=True):
            if self._formatter:
                tf_logging.info(self._formatter(values))
                return
            text = ", ".join("%s = %s" % (tag, values[tag]) for tag in self._tag_order)
        if seconds is None:
            tf_logging.info("%s", text)
        else:
            tf_logging.info("%s (%.3f sec)", text, seconds)


def _tensor(given: Any) -> Any:
    """The tensor or variable given, or the one of that name. Raises ValueError."""
    graph = get_default_graph()
    if not isinstance(given, str):
        if getattr(given, "graph", None) is not graph:
            raise ValueError(
                f"Passed {given} should have graph attribute that is equal to current graph "
                f"{graph}."
            )
        return given
    if ":" in given:
        return graph.as_graph_element(given)
    op = graph.get_operation_by_name(given)
    if len(op.outputs) > 1:
        raise ValueError(
            f"Name {given} is ambiguous, as this `Operation` has multiple outputs (at least 2)."
        )
    return graph.as_graph_element(f"{given}:0")
