"""The training loop of an Estimator: its hooks, and the session that they run in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minitf import tf_logging
from minitf.default import GraphKeys, add_to_collection, get_collection
from minitf.estimator.run_config import RunConfig
from minitf.estimator.spec import EstimatorSpec
from minitf.estimator.tf_config import TaskType
from minitf.summary.ops import scalar
from minitf.train.basic_session_run_hooks import LoggingTensorHook, NanTensorHook
from minitf.train.global_step import get_global_step
from minitf.train.monitored_session import MonitoredTrainingSession
from minitf.train.saver import Saver
from minitf.train.saving_hooks import (
    CheckpointSaverHook,
    CheckpointSaverListener,
    StepCounterHook,
    SummarySaverHook,
)
from minitf.train.session_run_hook import SessionRunHook


def train(
    spec: EstimatorSpec,
    config: RunConfig,
    hooks: Sequence[SessionRunHook],
    listeners: Sequence[CheckpointSaverListener],
) -> Any:
    """Runs the train op until a hook or the end of the input stops it; gives the last loss."""
    _add_defaults(spec, config)
    worker_hooks = [*hooks, *_watching(spec, config), *spec.training_hooks]
    saving = _saving_hooks(spec, config, worker_hooks, listeners)
    summary_steps, log_steps = config.save_summary_steps, config.log_step_count_steps
    if _evaluates_on_master(config):
        worker_hooks += _summaries_of_worker(spec, config)
        summary_steps, log_steps = 0, None
    loss = None
    made_steps = False
    with MonitoredTrainingSession(
        master=config.master,
        is_chief=config.is_chief,
        checkpoint_dir=config.model_dir,
        scaffold=spec.scaffold,
        hooks=worker_hooks,
        chief_only_hooks=[*saving, *spec.training_chief_hooks],
        save_checkpoint_secs=0,  # a hook saves
        save_summaries_steps=summary_steps,
        config=config.session_config,
        max_wait_secs=config.session_creation_timeout_secs,
        log_step_count_steps=log_steps,
    ) as session:
        while not session.should_stop():
            _, loss = session.run([spec.train_op, spec.loss])
            made_steps = True
    if not made_steps:
        tf_logging.warning(
            "Training with estimator made no steps. Perhaps input is empty or misspecified."
        )
    return loss


def _add_defaults(spec: EstimatorSpec, config: RunConfig) -> None:
    """A summary of the loss and a saver, unless the model has them."""
    if not any(s.op.name == "loss" for s in get_collection(GraphKeys.SUMMARIES)):
        scalar("loss", spec.loss)
    add_to_collection(GraphKeys.LOSSES, spec.loss)
    if spec.scaffold.saver or get_collection(GraphKeys.SAVERS):
        return
    saver = Saver(
        sharded=True,
        max_to_keep=config.keep_checkpoint_max,
        keep_checkpoint_every_n_hours=config.keep_checkpoint_every_n_hours,
        defer_build=True,
        save_relative_paths=True,
    )
    add_to_collection(GraphKeys.SAVERS, saver)


def _watching(spec: EstimatorSpec, config: RunConfig) -> list[SessionRunHook]:
    hooks: list[SessionRunHook] = [NanTensorHook(spec.loss)]
    if config.log_step_count_steps is not None:
        shown = {"loss": spec.loss, "step": get_global_step()}
        hooks.append(LoggingTensorHook(shown, every_n_iter=config.log_step_count_steps))
    return hooks


def _saving_hooks(
    spec: EstimatorSpec,
    config: RunConfig,
    hooks: Sequence[SessionRunHook],
    listeners: Sequence[CheckpointSaverListener],
) -> list[CheckpointSaverHook]:
    """The hook that saves, unless the user has one; it gets the listeners. Raises ValueError."""
    all_hooks = (*hooks, *spec.training_chief_hooks)
    saving = [hook for hook in all_hooks if isinstance(hook, CheckpointSaverHook)]
    added = []
    if not saving and (config.save_checkpoints_secs or config.save_checkpoints_steps):
        made = CheckpointSaverHook(
            config.model_dir,
            save_secs=config.save_checkpoints_secs,
            save_steps=config.save_checkpoints_steps,
            scaffold=spec.scaffold,
        )
        saving = added = [made]
    if listeners and not saving:
        raise ValueError(
            "There should be a CheckpointSaverHook to use saving_listeners. Please set one of the "
            "RunConfig.save_checkpoints_steps or RunConfig.save_checkpoints_secs."
        )
    if listeners:
        saving[0].add_listeners(listeners)
    return added


def _evaluates_on_master(config: RunConfig) -> bool:
    """Whether the chief evaluates between its steps, so that worker 0 writes the summaries."""
    jobs = config.cluster_spec.jobs
    return TaskType.MASTER in jobs and TaskType.WORKER in jobs


def _summaries_of_worker(spec: EstimatorSpec, config: RunConfig) -> list[SessionRunHook]:
    if config.task_type != TaskType.WORKER or config.task_id != 0:
        return []
    hooks: list[SessionRunHook] = []
    if config.save_summary_steps:
        steps, where = config.save_summary_steps, config.model_dir
        hooks.append(SummarySaverHook(steps, output_dir=where, scaffold=spec.scaffold))
    if config.log_step_count_steps:
        hooks.append(StepCounterHook(config.log_step_count_steps, output_dir=config.model_dir))
    return hooks
