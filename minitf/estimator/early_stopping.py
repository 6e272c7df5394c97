"""Hooks that end a training because of the metrics that were written of its evaluations."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable
from typing import Any

from minitf import gfile, tf_logging
from minitf.default import GraphKeys
from minitf.estimator.estimator import Estimator
from minitf.initializers import constant as constant_initializer
from minitf.ops.state import assign
from minitf.summary.reader import summary_iterator
from minitf.train.basic_session_run_hooks import SecondOrStepTimer
from minitf.train.global_step import get_global_step
from minitf.train.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from minitf.variable_scope import AUTO_REUSE, get_variable, variable_scope
from minitf_runtime.types import bool_

Metrics = dict[int, dict[str, float]]  # by step


def make_early_stopping_hook(
    estimator: Estimator,
    should_stop_fn: Callable[[], bool],
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """Ends the training on all workers once the chief finds that `should_stop_fn()` is true.

    Raises TypeError for no Estimator, ValueError for two intervals.
    """
    if not isinstance(estimator, Estimator):
        raise TypeError(
            f"`estimator` must have type `tf.estimator.Estimator`. Got: {type(estimator)}"
        )
    if run_every_secs is not None and run_every_steps is not None:
        raise ValueError("Only one of `run_every_secs` and `run_every_steps` must be set.")
    if not estimator.config.is_chief:
        return _StopWithChief()
    return _StopOnPredicate(should_stop_fn, run_every_secs, run_every_steps)


def stop_if_higher_hook(
    estimator: Estimator,
    metric_name: str,
    threshold: float,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """Ends the training once a metric is above a value."""
    crossed = _crossed(estimator, metric_name, threshold, operator.gt, eval_dir, min_steps)
    return make_early_stopping_hook(estimator, crossed, run_every_secs, run_every_steps)


def stop_if_lower_hook(
    estimator: Estimator,
    metric_name: str,
    threshold: float,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """Ends the training once a metric is below a value."""
    crossed = _crossed(estimator, metric_name, threshold, operator.lt, eval_dir, min_steps)
    return make_early_stopping_hook(estimator, crossed, run_every_secs, run_every_steps)


def stop_if_no_increase_hook(
    estimator: Estimator,
    metric_name: str,
    max_steps_without_increase: int,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """Ends the training once a metric has not increased for so many steps."""
    stuck = _stuck(
        estimator, metric_name, max_steps_without_increase, operator.gt, eval_dir, min_steps
    )
    return make_early_stopping_hook(estimator, stuck, run_every_secs, run_every_steps)


def stop_if_no_decrease_hook(
    estimator: Estimator,
    metric_name: str,
    max_steps_without_decrease: int,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """Ends the training once a metric has not decreased for so many steps."""
    stuck = _stuck(
        estimator, metric_name, max_steps_without_decrease, operator.lt, eval_dir, min_steps
    )
    return make_early_stopping_hook(estimator, stuck, run_every_secs, run_every_steps)


def _crossed(
    estimator: Estimator,
    name: str,
    threshold: float,
    is_beyond: Callable[[float, float], bool],
    eval_dir: str | None,
    min_steps: int,
) -> Callable[[], bool]:
    """Whether the metric was beyond the threshold at a step."""

    def should_stop() -> bool:
        metrics = _written(eval_dir or estimator.eval_dir(), min_steps)
        for step, value in ((step, values[name]) for step, values in metrics.items()):
            if is_beyond(value, threshold):
                tf_logging.info(
                    'At step %s, metric "%s" has value %s which is %s the configured threshold '
                    "(%s) for early stopping.",
                    step,
                    name,
                    value,
                    "greater than" if is_beyond is operator.gt else "less than",
                    threshold,
                )
                return True
        return False

    return should_stop


def _stuck(
    estimator: Estimator,
    name: str,
    max_steps: int,
    is_better: Callable[[float, float], bool],
    eval_dir: str | None,
    min_steps: int,
) -> Callable[[], bool]:
    """Whether so many steps went by after the best value of the metric until then."""

    def should_stop() -> bool:
        best: tuple[int, float] | None = None
        for step, values in _written(eval_dir or estimator.eval_dir(), min_steps).items():
            if best is None or is_better(values[name], best[1]):
                best = step, values[name]
            if step - best[0] >= max_steps:
                tf_logging.info(
                    'No %s in metric "%s" for %s steps, which is greater than or equal to max '
                    "steps (%s) configured for early stopping.",
                    "increase" if is_better is operator.gt else "decrease",
                    name,
                    step - best[0],
                    max_steps,
                )
                return True
        return False

    return should_stop


def _written(eval_dir: str, min_steps: int) -> Metrics:
    """The metrics that the event files of a directory tell of, by step, from a step on."""
    found: Metrics = {}
    for path in gfile.Glob(os.path.join(eval_dir, "events.out.tfevents.*")):
        for event in summary_iterator(path):
            values = event.summary.value
            metrics = {v.tag: v.simple_value for v in values if v.HasField("simple_value")}
            if metrics and event.step >= min_steps:
                found.setdefault(event.step, {}).update(metrics)
    return dict(sorted(found.items()))


def _stop_variable() -> Any:
    """What the chief tells the other workers by."""
    with variable_scope("signal_early_stopping", values=[], reuse=AUTO_REUSE):
        return get_variable(
            "STOP",
            shape=[],
            dtype=bool_,
            initializer=constant_initializer(False),
            collections=[GraphKeys.GLOBAL_VARIABLES],
            trainable=False,
        )


class _StopOnPredicate(SessionRunHook):
    """On the chief: asks the function now and then, and tells all workers to stop."""

    def __init__(
        self,
        should_stop_fn: Callable[[], bool],
        run_every_secs: float | None,
        run_every_steps: int | None,
    ) -> None:
        if not callable(should_stop_fn):
            raise TypeError("`should_stop_fn` must be callable.")
        self._should_stop_fn = should_stop_fn
        self._timer = SecondOrStepTimer(run_every_secs, run_every_steps)

    def begin(self) -> None:
        self._global_step = get_global_step()
        self._stop = assign(_stop_variable(), True)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._global_step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        step = run_values.results
        if not self._timer.should_trigger_for_step(step):
            return
        self._timer.update_last_triggered_step(step)
        if self._should_stop_fn():
            tf_logging.info("Requesting early stopping at global step %d", step)
            run_context.session.run(self._stop)
            run_context.request_stop()


class _StopWithChief(SessionRunHook):
    def begin(self) -> None:
        self._variable = _stop_variable()

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._variable)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if run_values.results:
            tf_logging.info("Early stopping requested, suspending run.")
            run_context.request_stop()
