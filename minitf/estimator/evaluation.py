"""Evaluations of a checkpoint: their graph, the loop over the input, and what is written."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from minitf import tf_logging
from minitf.default import GraphKeys, control_dependencies, get_default_graph
from minitf.estimator.checks import check_positive
from minitf.estimator.model import Model
from minitf.estimator.run_config import RunConfig
from minitf.estimator.spec import ModeKeys
from minitf.initializers import zeros_initializer
from minitf.metrics.mean import mean
from minitf.ops.group import group
from minitf.ops.shapes import identity
from minitf.ops.state import assign_add
from minitf.proto.event import Summary
from minitf.summary.writer import FileWriterCache
from minitf.tensor_util import make_tensor_proto
from minitf.train.basic_session_run_hooks import FinalOpsHook
from minitf.train.global_step import get_global_step
from minitf.train.monitored_session import MonitoredSession
from minitf.train.scaffold import Scaffold
from minitf.train.session_creator import ChiefSessionCreator
from minitf.train.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from minitf.variable_scope import get_variable
from minitf_runtime.storage.protobuf import DecodeError
from minitf_runtime.types import int64, string

_LOSS = "loss"  # the metric that every evaluation has


def eval_step() -> Any:
    """The counter of this evaluation's batches. Raises ValueError if the graph has several."""
    found = get_default_graph().get_collection(GraphKeys.EVAL_STEP)
    if len(found) > 1:
        raise ValueError("Multiple tensors added to tf.GraphKeys.EVAL_STEP")
    if found:
        return found[0]
    return get_variable(
        "eval_step",
        shape=[],
        dtype=int64,
        initializer=zeros_initializer(),
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.EVAL_STEP],
    )


class StopAfterNEvalsHook(SessionRunHook):
    """Ends an evaluation after so many batches, and logs how far it is."""

    def __init__(self, num_evals: int) -> None:
        self._num_evals = num_evals
        self._log_every = 1 if num_evals < 20 else math.floor(num_evals / 10)
        self.evals_completed: Any = None  # the tensor that tells, once it is made

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self.evals_completed)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        done = run_values.results
        if done % self._log_every == 0 or done == self._num_evals:
            tf_logging.info("Evaluation [%d/%d]", done, self._num_evals)
        if done >= self._num_evals:
            run_context.request_stop()


def stop_after(steps: int | None) -> list[SessionRunHook]:
    """The hook for so many batches, none for all of the input. Raises ValueError for steps <= 0."""
    check_positive("steps", steps)
    return [] if steps is None else [StopAfterNEvalsHook(steps)]


class Evaluation(NamedTuple):
    """A graph in which a model is evaluated."""

    scaffold: Scaffold
    update_op: Any  # takes a batch into account
    values: dict[str, Any]  # the metrics so far
    hooks: list[SessionRunHook]


def build(
    model: Model,
    input_fn: Callable[..., Any],
    hooks: Sequence[SessionRunHook],
    checkpoint_path: str | None,
) -> Evaluation:
    """Builds it in the default graph. Raises ValueError for a metric of a name that is taken."""
    model.begin()
    features, labels, input_hooks = model.inputs(input_fn, ModeKeys.EVAL)
    spec = model.call(features, labels, ModeKeys.EVAL)
    metrics = spec.eval_metric_ops
    for reserved in (_LOSS, GraphKeys.GLOBAL_STEP):
        if reserved in metrics:
            raise ValueError(
                f"Metric with name `{reserved}` is not allowed, because Estimator already defines "
                "a default metric with the same name."
            )
    ordered = sorted({**metrics, _LOSS: mean(spec.loss)}.items())
    update_op = group(*(update for _, (_, update) in ordered))
    if not checkpoint_path:
        model.warm_start()
    values = {name: value for name, (value, _) in ordered}
    values[GraphKeys.GLOBAL_STEP] = get_global_step()
    scaffold = spec.scaffold
    if scaffold.local_init_op is not None:  # there are local variables that it does not know
        eval_step()
        both = group(scaffold.local_init_op, Scaffold.default_local_init_op())
        scaffold = Scaffold(local_init_op=both, copy_from_scaffold=scaffold)
    return Evaluation(scaffold, update_op, values, [*input_hooks, *hooks, *spec.evaluation_hooks])


def run(
    made: Evaluation, config: RunConfig, checkpoint_path: str | None, output_dir: str
) -> dict[str, Any]:
    """Evaluates until the input ends or a hook stops it; gives and writes the metrics."""
    step = eval_step()
    updates = [made.update_op, assign_add(step, 1, use_locking=True)]
    with control_dependencies(updates):
        completed = identity(step.read_value())
    for hook in made.hooks:
        if isinstance(hook, StopAfterNEvalsHook):
            hook.evals_completed = completed
    tf_logging.info("Starting evaluation at %s", time.strftime("%Y-%m-%dT%H:%M:%SZ"))
    creator = ChiefSessionCreator(
        made.scaffold,
        config.evaluation_master,
        config.session_config,
        checkpoint_filename_with_path=checkpoint_path,
    )
    final = FinalOpsHook(made.values)
    with MonitoredSession(creator, [*made.hooks, final]) as session:
        while not session.should_stop():
            session.run(updates)
    tf_logging.info("Finished evaluation at %s", time.strftime("%Y-%m-%d-%H:%M:%S"))
    results: dict[str, Any] = final.final_ops_values
    write_results(output_dir, results, checkpoint_path)
    return results


def write_results(output_dir: str, results: Mapping[str, Any], checkpoint_path: str | None) -> None:
    """Logs the results of an evaluation, and writes those that a summary can hold."""
    step = results[GraphKeys.GLOBAL_STEP]
    shown = sorted((k, v) for k, v in results.items() if not isinstance(v, bytes))
    text = ", ".join("%s = %s" % pair for pair in shown)
    tf_logging.info("Saving dict for global step %d: %s", step, text)
    summary = Summary()
    for name, value in results.items():
        if name != GraphKeys.GLOBAL_STEP and value is not None:
            summary.value.extend(_summary_values(name, value))
    _add(output_dir, summary, step)
    if not checkpoint_path:
        return
    tf_logging.info(
        "Saving 'checkpoint_path' summary for global step %d: %s", step, checkpoint_path
    )
    tensor = make_tensor_proto(checkpoint_path, dtype=string)
    _add(output_dir, Summary(value=[Summary.Value(tag="checkpoint_path", tensor=tensor)]), step)


def _add(output_dir: str, summary: Summary, step: int) -> None:
    writer = FileWriterCache.get(output_dir)
    writer.add_summary(summary, step)
    writer.flush()


def _summary_values(name: str, value: Any) -> list[Any]:
    if isinstance(value, (float, np.float32, int, np.int32, np.int64)):
        return [Summary.Value(tag=name, simple_value=float(value))]
    if isinstance(value, np.ndarray):
        tensor = make_tensor_proto(value)
        return [Summary.Value(tag=name, node_name=name, tensor=tensor)]
    if isinstance(value, bytes):
        return _of_serialised(name, value)
    tf_logging.warning(
        "Skipping summary for %s, must be a float, np.float32, np.int64, np.int32 or int or "
        "np.ndarray or a serialized string of Summary.",
        name,
    )
    return []


def _of_serialised(name: str, data: bytes) -> list[Any]:
    """The values of a summary that an op made, each under a tag of its own."""
    try:
        made = Summary.FromString(data)
    except DecodeError:
        tf_logging.warning("Skipping summary for %s, cannot parse string to Summary.", name)
        return []
    for i, value in enumerate(made.value):
        value.tag = f"{name}/{i}"
    return list(made.value)
