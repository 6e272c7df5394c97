"""Hooks for an Estimator's training: evaluation within it, and an end that all workers share."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

from minitf.default import GraphKeys, get_collection
from minitf.estimator import evaluation
from minitf.estimator.checks import checked_hooks
from minitf.estimator.estimator import Estimator
from minitf.graph import Graph
from minitf.ops.filling import placeholder
from minitf.ops.group import group
from minitf.ops.state import assign
from minitf.train.basic_session_run_hooks import (
    SecondOrStepTimer,
    StopAtStepHook,
    global_step_read,
)
from minitf.train.checkpoint_reader import saved_step
from minitf.train.scaffold import Scaffold
from minitf.train.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)


class InMemoryEvaluatorHook(SessionRunHook):
    """Evaluates the variables as they are, every so many steps, without a checkpoint.

    For training in one process: raises ValueError in a cluster.
    """

    def __init__(
        self,
        estimator: Estimator,
        input_fn: Callable[..., Any],
        steps: int | None = None,
        hooks: Iterable[SessionRunHook] | None = None,
        name: str | None = None,
        every_n_iter: int | None = 100,
    ) -> None:
        if every_n_iter is None or every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        config = estimator.config
        if config.num_ps_replicas > 0 or config.num_worker_replicas > 1:
            raise ValueError("InMemoryEvaluator supports only single machine (aka Local) setting.")
        self._estimator = estimator
        self._input_fn = input_fn
        self._hooks = [*checked_hooks(hooks), *evaluation.stop_after(steps)]
        self._eval_dir = estimator.eval_dir(name)
        self._timer = SecondOrStepTimer(every_steps=every_n_iter)

    def begin(self) -> None:
        """Builds the graph of the evaluation, with a way to feed the variables."""
        self._timer.reset()
        self._runs = 0
        self._graph = Graph()
        with self._graph.as_default():
            made = evaluation.build(self._estimator._model, self._input_fn, self._hooks, None)
            for what, given in (
                ("saver", made.scaffold.saver),
                ("init_fn", made.scaffold.init_fn),
            ):
                if given is not None:
                    raise ValueError(f"InMemoryEvaluator does not support custom {what}")
            self._evaluation = made
            self._variables = {v.name: v for v in get_collection(GraphKeys.GLOBAL_VARIABLES)}

    def after_create_session(self, session: Any, coord: Any) -> None:
        if get_collection(GraphKeys.SAVEABLE_OBJECTS):
            raise ValueError(
                "InMemoryEvaluator does not support saveables other than global variables."
            )
        trained = {v.name: v for v in get_collection(GraphKeys.GLOBAL_VARIABLES)}
        self._trained = {name: trained[name] for name in self._variables if name in trained}
        with self._graph.as_default():
            self._fed = {name: placeholder(self._variables[name].dtype) for name in self._trained}
            self._feed = group(*(assign(self._variables[n], p) for n, p in self._fed.items()))
        self._evaluate(session)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        self._runs += 1
        if self._timer.should_trigger_for_step(self._runs):
            self._evaluate(run_context.session)

    def end(self, session: Any) -> None:
        self._evaluate(session)

    def _evaluate(self, train_session: Any) -> None:
        values = train_session.run(self._trained)
        feeds = {self._fed[name]: value for name, value in values.items()}

        def init_fn(scaffold: Scaffold, session: Any) -> None:
            session.run(self._feed, feeds)

        with self._graph.as_default():
            scaffold = Scaffold(init_fn=init_fn, copy_from_scaffold=self._evaluation.scaffold)
            made = self._evaluation._replace(scaffold=scaffold)
            evaluation.run(made, self._estimator.config, None, self._eval_dir)
        self._timer.update_last_triggered_step(self._runs)


class _StopAtCheckpointStep(SessionRunHook):
    """Ends when the chief has saved the last step: until then a worker waits."""

    def __init__(self, model_dir: str, last_step: int, wait_secs: float) -> None:
        self._model_dir = model_dir
        self._last_step = last_step
        self._wait_secs = wait_secs

    def begin(self) -> None:
        self._global_step = global_step_read("StopAtCheckpointStepHook")

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._global_step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if run_values.results + 1 < self._last_step:
            return
        if saved_step(self._model_dir) >= self._last_step:
            run_context.request_stop()
        else:
            time.sleep(self._wait_secs)


def make_stop_at_checkpoint_step_hook(
    estimator: Estimator, last_step: int, wait_after_file_check_secs: float = 30
) -> SessionRunHook:
    """Ends the training at a step; workers go on until the chief has saved it."""
    if estimator.config.is_chief:
        return StopAtStepHook(last_step=last_step)
    return _StopAtCheckpointStep(estimator.model_dir, last_step, wait_after_file_check_secs)
