"""tf.estimator.RunConfig: how an Estimator runs. Where it runs comes from tf_config.py."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable
from typing import Any

from minitf import tf_logging
from minitf.estimator import tf_config
from minitf.estimator.arguments import argument_names
from minitf.estimator.tf_config import TaskType
from minitf.options import ConfigProto, GraphOptions, RewriterConfig
from minitf_runtime.errors import UnimplementedError

_USE_DEFAULT: Any = object()
_REPLACEABLE = [
    "model_dir", "tf_random_seed", "save_summary_steps", "save_checkpoints_steps",
    "save_checkpoints_secs", "session_config", "keep_checkpoint_max",
    "keep_checkpoint_every_n_hours", "log_step_count_steps", "train_distribute", "device_fn",
    "protocol", "eval_distribute", "experimental_distribute",
    "experimental_max_worker_delay_secs", "session_creation_timeout_secs",
]  # fmt: skip
_BOTH_INTERVALS = "`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set."
_RULES: tuple[tuple[str, Callable[[Any], bool], str], ...] = (
    ("model_dir", bool, "model_dir should be non-empty"),
    ("save_summary_steps", lambda n: n >= 0, "save_summary_steps should be >= 0"),
    ("save_checkpoints_steps", lambda n: n >= 0, "save_checkpoints_steps should be >= 0"),
    ("save_checkpoints_secs", lambda n: n >= 0, "save_checkpoints_secs should be >= 0"),
    (
        "session_config",
        lambda c: isinstance(c, ConfigProto),
        "session_config must be instance of ConfigProto",
    ),
    ("keep_checkpoint_max", lambda n: n >= 0, "keep_checkpoint_max should be >= 0"),
    (
        "keep_checkpoint_every_n_hours",
        lambda n: n > 0,
        "keep_checkpoint_every_n_hours should be > 0",
    ),
    ("log_step_count_steps", lambda n: n > 0, "log_step_count_steps should be > 0"),
    ("tf_random_seed", lambda s: isinstance(s, int), "tf_random_seed must be integer."),
    (
        "experimental_max_worker_delay_secs",
        lambda s: isinstance(s, int),
        "experimental_max_worker_delay_secs must be an integer if set.",
    ),
    (
        "session_creation_timeout_secs",
        lambda s: s > 0,
        "session_creation_timeout_secs should be > 0",
    ),
    (
        "device_fn",
        lambda fn: callable(fn) and argument_names(fn) == ("op",),
        'device_fn must be callable with exactly one argument "op".',
    ),
    ("protocol", lambda p: p in ("grpc", "grpc+verbs"), "protocol should be grpc or grpc+verbs"),
)


def _kept(name: str) -> Any:
    return property(lambda self: getattr(self, f"_{name}"))


class RunConfig:
    """What is given here, and the task of this process in its cluster (TF: RunConfig).

    The cluster and the task are those of the environment variable TF_CONFIG. Raises ValueError.
    """

    def __init__(
        self,
        model_dir: Any = None,
        tf_random_seed: int | None = None,
        save_summary_steps: int | None = 100,
        save_checkpoints_steps: int | None = _USE_DEFAULT,
        save_checkpoints_secs: float | None = _USE_DEFAULT,
        session_config: ConfigProto | None = None,
        keep_checkpoint_max: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000,
        log_step_count_steps: int | None = 100,
        train_distribute: Any = None,
        device_fn: Callable[[Any], str] | None = None,
        protocol: str | None = None,
        eval_distribute: Any = None,
        experimental_distribute: Any = None,
        experimental_max_worker_delay_secs: int | None = None,
        session_creation_timeout_secs: float = 7200,
    ) -> None:
        steps, secs = _intervals(save_checkpoints_steps, save_checkpoints_secs)
        config = tf_config.read()
        if config:
            tf_logging.info("TF_CONFIG environment variable: %s", config)
        self._set(
            model_dir=_model_dir(config, model_dir),
            tf_random_seed=tf_random_seed,
            save_summary_steps=save_summary_steps,
            save_checkpoints_steps=steps,
            save_checkpoints_secs=secs,
            session_config=session_config,
            keep_checkpoint_max=keep_checkpoint_max,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            log_step_count_steps=log_step_count_steps,
            train_distribute=train_distribute,
            device_fn=device_fn,
            protocol=protocol,
            eval_distribute=eval_distribute,
            experimental_distribute=experimental_distribute,
            experimental_max_worker_delay_secs=experimental_max_worker_delay_secs,
            session_creation_timeout_secs=session_creation_timeout_secs,
        )
        vars(self).update({f"_{k}": v for k, v in tf_config.task_of(config)._asdict().items()})
        if self._session_config is None and self._cluster_spec:
            self._session_config = _session_config_of(self._task_type, self._task_id)

    model_dir = _kept("model_dir")
    tf_random_seed = _kept("tf_random_seed")
    save_summary_steps = _kept("save_summary_steps")
    save_checkpoints_steps = _kept("save_checkpoints_steps")
    save_checkpoints_secs = _kept("save_checkpoints_secs")
    session_config = _kept("session_config")
    keep_checkpoint_max = _kept("keep_checkpoint_max")
    keep_checkpoint_every_n_hours = _kept("keep_checkpoint_every_n_hours")
    log_step_count_steps = _kept("log_step_count_steps")
    train_distribute = _kept("train_distribute")
    eval_distribute = _kept("eval_distribute")
    device_fn = _kept("device_fn")
    protocol = _kept("protocol")
    experimental_max_worker_delay_secs = _kept("experimental_max_worker_delay_secs")
    session_creation_timeout_secs = _kept("session_creation_timeout_secs")
    service = _kept("service")
    cluster_spec = _kept("cluster_spec")
    task_type = _kept("task_type")
    task_id = _kept("task_id")
    global_id_in_cluster = _kept("global_id_in_cluster")
    master = _kept("master")
    evaluation_master = _kept("evaluation_master")
    is_chief = _kept("is_chief")
    num_ps_replicas = _kept("num_ps_replicas")
    num_worker_replicas = _kept("num_worker_replicas")

    def replace(self, **kwargs: Any) -> RunConfig:
        """A copy in which properties have other values. Raises ValueError for others than those
        that the constructor takes."""
        return copy.deepcopy(self)._set(**kwargs)

    def _set(self, **values: Any) -> RunConfig:
        for name, value in values.items():
            if name not in _REPLACEABLE:
                raise ValueError(
                    f"Replacing {name} is not supported. Allowed properties are {_REPLACEABLE}."
                )
            if name.endswith("_distribute") and value is not None:
                raise UnimplementedError(
                    None, None, f"tf.distribute, as RunConfig's {name} asks for"
                )
            setattr(self, f"_{name}", value)
        self._settle_intervals(values)
        for name, holds, message in _RULES:
            value = getattr(self, name)
            if value is not None and not holds(value):
                raise ValueError(message)
        return self

    def _settle_intervals(self, given: dict[str, Any]) -> None:
        """Of steps and seconds between checkpoints, the one that is set replaces the other."""
        steps, secs = given.get("save_checkpoints_steps"), given.get("save_checkpoints_secs")
        if steps is not None and secs is not None:
            raise ValueError(_BOTH_INTERVALS)
        if steps is not None:
            self._save_checkpoints_secs = None
        if secs is not None:
            self._save_checkpoints_steps = None


def _intervals(steps: Any, secs: Any) -> tuple[Any, Any]:
    """600 seconds if neither is given; None for one that is not."""
    if steps is _USE_DEFAULT and secs is _USE_DEFAULT:
        return None, 600
    return (None if steps is _USE_DEFAULT else steps), (None if secs is _USE_DEFAULT else secs)


def _model_dir(config: dict[str, Any], model_dir: Any) -> str | None:
    """The directory given, or that of TF_CONFIG. Raises ValueError if they differ."""
    model_dir = None if model_dir is None else os.fspath(model_dir)
    told = config.get("model_dir")
    if model_dir == "":
        raise ValueError("model_dir should be non-empty.")
    if told == "":
        raise ValueError("model_dir in TF_CONFIG should be non-empty.")
    if told:
        if model_dir and told != model_dir:
            raise ValueError(
                "`model_dir` provided in RunConfig construct, if set, must have the same value as "
                f"the model_dir in TF_CONFIG. model_dir: {model_dir}\n"
                f'TF_CONFIG["model_dir"]: {told}.\n'
            )
        tf_logging.info("Using model_dir in TF_CONFIG: %s", told)
    return model_dir or told


def default_session_config(device_filters: list[str] | None = None) -> ConfigProto:
    once = RewriterConfig(meta_optimizer_iterations=RewriterConfig.ONE)
    return ConfigProto(
        allow_soft_placement=True,
        graph_options=GraphOptions(rewrite_options=once),
        device_filters=device_filters,
    )


def _session_config_of(task_type: str, task_id: int) -> ConfigProto | None:
    """That of a task of a cluster: a worker sees itself and the parameter servers only."""
    filters = {
        TaskType.MASTER: ["/job:ps", "/job:master"],
        TaskType.CHIEF: ["/job:ps", "/job:chief"],
        TaskType.WORKER: ["/job:ps", f"/job:worker/task:{task_id}"],
        TaskType.PS: ["/job:ps", "/job:worker", "/job:chief", "/job:master"],
    }.get(task_type)
    return default_session_config(filters) if filters else None
