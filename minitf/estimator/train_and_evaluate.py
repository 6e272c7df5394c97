"""tf.estimator.train_and_evaluate: the part of this process, alone or in a cluster (TF_CONFIG)."""

from __future__ import annotations

import os
import time
from typing import Any

from minitf import tf_logging, train
from minitf.default import GraphKeys
from minitf.estimator.estimator import Estimator
from minitf.estimator.run_config import RunConfig
from minitf.estimator.tf_config import TaskType
from minitf.estimator.training_specs import EvalSpec, TrainSpec
from minitf.options import ConfigProto
from minitf.train.basic_session_run_hooks import SecondOrStepTimer
from minitf.train.saving_hooks import CheckpointSaverListener

_DELAY_SECS_PER_WORKER = 5
_MAX_DELAY_SECS = 60
_SECONDS_BETWEEN_WARNINGS = 600


def train_and_evaluate(
    estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec
) -> tuple[Any, Any] | None:
    """Trains up to `train_spec.max_steps`, and evaluates and exports what is saved meanwhile.

    In a cluster the chief and the workers train, the evaluator evaluates, and a ps serves until
    the process ends. Alone: gives the last metrics and exports. Raises TypeError, ValueError.
    """
    for name, value, kind in (
        ("eval_spec", eval_spec, EvalSpec),
        ("estimator", estimator, Estimator),
        ("train_spec", train_spec, TrainSpec),
    ):
        if not isinstance(value, kind):
            raise TypeError(
                f"`{name}` must have type `tf.estimator.{kind.__name__}`. Got: {type(value)}"
            )
    config = estimator.config
    if config.task_type == TaskType.EVALUATOR:
        if config.task_id > 0:
            raise ValueError(
                "For distributed training, there can only be one `evaluator` task (with task id "
                f"0).  Given task id {config.task_id}"
            )
        return _evaluate_until_trained(estimator, train_spec, eval_spec)
    if not config.cluster_spec:
        return _train_alone(estimator, train_spec, eval_spec)
    return _train_in_cluster(estimator, train_spec, eval_spec)


# ---- alone


def _train_alone(
    estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec
) -> tuple[Any, Any]:
    config = estimator.config
    tf_logging.info("Running training and evaluation locally (non-distributed).")
    tf_logging.info(
        "Start train and evaluate loop. The evaluate will happen after every checkpoint. "
        "Checkpoint frequency is determined based on RunConfig arguments: save_checkpoints_steps "
        "%s or save_checkpoints_secs %s.",
        config.save_checkpoints_steps,
        config.save_checkpoints_secs,
    )
    listener = _EvaluateEachCheckpoint(_Evaluator(estimator, train_spec, eval_spec))
    _train(estimator, train_spec, listener)
    return listener.metrics, listener.exports


def _train(estimator: Estimator, spec: TrainSpec, *listeners: CheckpointSaverListener) -> None:
    estimator.train(
        spec.input_fn, hooks=spec.hooks, max_steps=spec.max_steps, saving_listeners=listeners
    )


class _Evaluator:
    """Evaluates the last checkpoint, if it has not done so, and calls the exporters."""

    def __init__(self, estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec) -> None:
        self._estimator = estimator
        self._max_steps = train_spec.max_steps
        self.spec = eval_spec
        self._evaluated: str | None = None
        self._last_warning = 0.0

    def evaluate(self) -> tuple[dict[str, Any] | None, list[Any]]:
        """The metrics, or None where there is no new checkpoint, and the exported directories."""
        path = self._estimator.latest_checkpoint()
        if not path or path == self._evaluated:
            self._warn(path)
            return None, []
        spec = self.spec
        metrics = self._estimator.evaluate(
            spec.input_fn,
            steps=spec.steps,
            name=spec.name,
            checkpoint_path=path,
            hooks=spec.hooks,
        )
        is_last = self.is_last(metrics)
        directory = os.path.join(self._estimator.model_dir, "export")
        exports = [
            exporter.export(
                estimator=self._estimator,
                export_path=os.path.join(directory, exporter.name),
                checkpoint_path=path,
                eval_result=metrics,
                is_the_final_export=is_last,
            )
            for exporter in spec.exporters
        ]
        self._last_warning = 0.0
        self._evaluated = path
        return metrics, exports

    def is_last(self, metrics: dict[str, Any]) -> bool:
        """Whether that was the end of the training."""
        return self._max_steps is not None and bool(
            metrics[GraphKeys.GLOBAL_STEP] >= self._max_steps
        )

    def _warn(self, path: str | None) -> None:
        if time.time() - self._last_warning <= _SECONDS_BETWEEN_WARNINGS:
            return
        self._last_warning = time.time()
        tf_logging.warning(
            "No new checkpoint ready for evaluation. Skip the current evaluation pass as "
            "evaluation results are expected to be same for the same checkpoint."
            if path
            else "Estimator is not trained yet. Will start an evaluation when a checkpoint is "
            "ready."
        )


class _EvaluateEachCheckpoint(CheckpointSaverListener):
    """Evaluates between the steps of the training, once in `throttle_secs`, and at its end."""

    def __init__(self, evaluator: _Evaluator) -> None:
        self._evaluator = evaluator
        self._throttle_secs = evaluator.spec.throttle_secs
        self.metrics: Any = None
        self.exports: Any = None

    def begin(self) -> None:
        self._timer = SecondOrStepTimer(every_secs=self._throttle_secs)
        self._is_first = True

    def after_save(self, session: Any, global_step_value: int) -> None:
        if self._is_first:  # nothing is trained yet
            self._is_first = False
        elif self._timer.should_trigger_for_step(global_step_value):
            self._evaluate(global_step_value)
        else:
            tf_logging.info(
                "Skip the current checkpoint eval due to throttle secs (%s secs).",
                self._throttle_secs,
            )

    def end(self, session: Any, global_step_value: int) -> None:
        if global_step_value != self._timer.last_triggered_step():
            self._evaluate(global_step_value)

    def _evaluate(self, step: int) -> None:
        self._timer.update_last_triggered_step(step)
        self.metrics, self.exports = self._evaluator.evaluate()
        if self.metrics is None:
            raise RuntimeError("There was no new checkpoint after the training.")


# ---- in a cluster


def _train_in_cluster(estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec) -> None:
    config = estimator.config
    roles = (TaskType.CHIEF, TaskType.MASTER, TaskType.PS, TaskType.WORKER)
    if config.task_type not in roles:
        raise ValueError(
            f"Task type {config.task_type} is not supported. Supported task types are "
            f"{sorted([*roles, TaskType.EVALUATOR])}"
        )
    server = _start_server(config)
    if config.task_type == TaskType.PS:
        assert server is not None
        server.join()
        return
    if config.task_type == TaskType.WORKER:
        _wait_for_start(config)
    listeners = []
    if config.task_type == TaskType.MASTER:
        evaluator = _Evaluator(estimator, train_spec, eval_spec)
        listeners.append(_EvaluateEachCheckpoint(evaluator))
    _train(estimator, train_spec, *listeners)


def _start_server(config: RunConfig) -> train.Server | None:
    """The server of this task, which the other tasks wait for."""
    if not config.master:
        if config.task_type != TaskType.PS:
            tf_logging.info(
                "Skip starting Tensorflow server as there is only one node in the cluster."
            )
            return None
        raise RuntimeError(
            "Could not start server; be sure to specify master in RunConfig or set the TF_CONFIG "
            "environment variable."
        )
    tf_logging.info("Start Tensorflow server.")
    options = config.session_config.gpu_options if config.session_config else None
    return train.Server(
        config.cluster_spec,
        job_name=config.task_type,
        task_index=config.task_id,
        config=ConfigProto(log_device_placement=False, gpu_options=options),
        protocol=config.protocol,
    )


def _wait_for_start(config: RunConfig) -> None:
    """Workers start one after the other: asynchronous training converges better so."""
    longest = config.experimental_max_worker_delay_secs
    longest = _MAX_DELAY_SECS if longest is None else longest
    seconds = min(longest, (config.task_id + 1) * _DELAY_SECS_PER_WORKER)
    if seconds > 0:
        tf_logging.info("Waiting %d secs before starting training.", seconds)
        time.sleep(seconds)


def _evaluate_until_trained(
    estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec
) -> None:
    """Evaluates each new checkpoint, until that of the last step."""
    if eval_spec.start_delay_secs:
        tf_logging.info("Waiting %f secs before starting eval.", eval_spec.start_delay_secs)
        time.sleep(eval_spec.start_delay_secs)
    evaluator = _Evaluator(estimator, train_spec, eval_spec)
    while True:
        start = time.time()
        metrics, _ = evaluator.evaluate()
        if metrics is not None and evaluator.is_last(metrics):
            tf_logging.info(
                "Exiting evaluation, global_step=%s >= train max_steps=%s",
                metrics[GraphKeys.GLOBAL_STEP],
                train_spec.max_steps,
            )
            return
        rest = eval_spec.throttle_secs - (time.time() - start)
        if rest > 0:
            tf_logging.info("Waiting %f secs before starting next eval run.", rest)
            time.sleep(rest)
        elif not eval_spec.throttle_secs and metrics is None:
            tf_logging.warning(
                "EvalSpec.throttle_secs is set as 0. This might overload the job before finding "
                "(next) new checkpoint. Please consider to increase it."
            )
