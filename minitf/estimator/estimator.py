"""tf.estimator.Estimator: a model_fn, and how it is trained, evaluated, asked and exported."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from minitf import tf_logging
from minitf.estimator import evaluation, training
from minitf.estimator.checks import check_members, check_positive, checked_hooks, checked_listeners
from minitf.estimator.exporting import export
from minitf.estimator.model import Model
from minitf.estimator.predictions import predict
from minitf.estimator.run_config import RunConfig, default_session_config
from minitf.estimator.spec import EstimatorSpec, ModeKeys
from minitf.estimator.tf_config import TaskType
from minitf.estimator.warm_start import settings_of
from minitf.graph import Graph
from minitf.train.basic_session_run_hooks import StopAtStepHook
from minitf.train.checkpoint_management import latest_checkpoint
from minitf.train.checkpoint_reader import list_variables, load_variable, saved_step
from minitf.train.device_setter import STANDARD_PS_OPS, replica_device_setter
from minitf.train.global_step import get_or_create_global_step_read
from minitf.train.saving_hooks import CheckpointSaverListener
from minitf.train.session_run_hook import SessionRunHook
from minitf_runtime.errors import UnimplementedError


class Estimator:
    """Trains, evaluates and asks a model, in `model_dir` (TF: Estimator).

    `model_fn(features, labels, mode, params, config)` gives an EstimatorSpec; only `features` is
    needed. Raises ValueError for a model_fn with other arguments.
    """

    def __init__(
        self,
        model_fn: Callable[..., EstimatorSpec],
        model_dir: Any = None,
        config: RunConfig | None = None,
        params: Any = None,
        warm_start_from: Any = None,
    ) -> None:
        check_members(Estimator, type(self))
        self._config = _config_with(config, model_dir)
        self._model_dir = self._config.model_dir
        tf_logging.info("Using config: %s", vars(self._config))
        self._device_fn = self._config.device_fn or _device_setter(self._config)
        if model_fn is None:
            raise ValueError("model_fn must be provided to Estimator.")
        self._model = Model(model_fn, params, self._config, settings_of(warm_start_from))

    @property
    def model_dir(self) -> str:
        return self._model_dir  # type: ignore[no-any-return]

    @property
    def config(self) -> RunConfig:
        return self._model.config

    @property
    def params(self) -> Any:
        return self._model.params

    @property
    def model_fn(self) -> Callable[..., EstimatorSpec]:
        """The model_fn with these parameters: (features, labels, mode, config)."""
        return self._model.call

    # ---- what a checkpoint holds

    def get_variable_value(self, name: str) -> Any:
        """The value in the last checkpoint. Raises ValueError if there is none."""
        self._check_trained()
        return load_variable(self._model_dir, name)

    def get_variable_names(self) -> list[str]:
        """Those in the last checkpoint. Raises ValueError if there is none."""
        self._check_trained()
        return [name for name, _ in list_variables(self._model_dir)]

    def latest_checkpoint(self) -> str | None:
        return latest_checkpoint(self._model_dir)

    def eval_dir(self, name: str | None = None) -> str:
        """Where the results of evaluations of that name are written."""
        return os.path.join(self._model_dir, f"eval_{name}" if name else "eval")

    def _check_trained(self) -> None:
        if not self.latest_checkpoint():
            raise ValueError(f"Could not find trained model in model_dir: {self._model_dir}.")

    # ---- training

    def train(
        self,
        input_fn: Callable[..., Any],
        hooks: Iterable[SessionRunHook] | None = None,
        steps: int | None = None,
        max_steps: int | None = None,
        saving_listeners: Iterable[CheckpointSaverListener] | None = None,
    ) -> Estimator:
        """Trains for so many more steps, up to a step, or to the end of the input.

        Raises ValueError for steps that are not positive, and in a ps or an evaluator.
        """
        if self._config.task_type in (TaskType.EVALUATOR, TaskType.PS):
            raise ValueError(
                "Train has been called wrong configuration. Please use "
                "tf.estimator.train_and_evaluate which calls proper API according to given "
                f"configuration. Current configuration: {self._config}."
            )
        if steps is not None and max_steps is not None:
            raise ValueError("Can not provide both steps and max_steps.")
        check_positive("steps", steps)
        check_positive("max_steps", max_steps)
        if max_steps is not None and max_steps <= saved_step(self._model_dir):
            tf_logging.info("Skipping training since max_steps has already saved.")
            return self
        all_hooks = checked_hooks(hooks)
        if steps is not None or max_steps is not None:
            all_hooks.append(StopAtStepHook(steps, max_steps))
        listeners = checked_listeners(saving_listeners)
        with Graph().as_default() as graph, graph.device(self._device_fn):
            self._model.begin()
            get_or_create_global_step_read()
            features, labels, input_hooks = self._model.inputs(input_fn, ModeKeys.TRAIN)
            spec = self._model.call(features, labels, ModeKeys.TRAIN)
            self._model.warm_start()
            loss = training.train(spec, self._config, [*input_hooks, *all_hooks], listeners)
        tf_logging.info("Loss for final step: %s.", loss)
        return self

    # ---- evaluation

    def evaluate(
        self,
        input_fn: Callable[..., Any],
        steps: int | None = None,
        hooks: Iterable[SessionRunHook] | None = None,
        checkpoint_path: str | None = None,
        name: str | None = None,
    ) -> dict[str, Any]:
        """The metrics of a checkpoint (the last one) over so many batches, or all of the input."""
        all_hooks = [*checked_hooks(hooks), *evaluation.stop_after(steps)]
        checkpoint_path = checkpoint_path or self._last_checkpoint("evaluate")
        with Graph().as_default():
            made = evaluation.build(self._model, input_fn, all_hooks, checkpoint_path)
            return evaluation.run(made, self._config, checkpoint_path, self.eval_dir(name))

    def _last_checkpoint(self, purpose: str) -> str | None:
        found = self.latest_checkpoint()
        if not found:
            tf_logging.info(
                "Could not find trained model in model_dir: %s, running initialization to %s.",
                self._model_dir,
                purpose,
            )
        return found

    # ---- prediction

    def predict(
        self,
        input_fn: Callable[..., Any],
        predict_keys: Any = None,
        hooks: Iterable[SessionRunHook] | None = None,
        checkpoint_path: str | None = None,
        yield_single_examples: bool = True,
    ) -> Iterator[Any]:
        """The predictions for the input, example by example, or batch by batch.

        Raises ValueError for keys that the predictions do not have.
        """
        all_hooks = checked_hooks(hooks)
        checkpoint_path = checkpoint_path or self._last_checkpoint("predict")
        yield from predict(
            self._model, input_fn, predict_keys, all_hooks, checkpoint_path, yield_single_examples
        )

    # ---- export

    def export_saved_model(
        self,
        export_dir_base: Any,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
        experimental_mode: str = ModeKeys.PREDICT,
    ) -> bytes:
        """Writes the model of a checkpoint as a SavedModel; gives its directory.

        Raises ValueError without a checkpoint.
        """
        if experimental_mode != ModeKeys.PREDICT:
            raise UnimplementedError(
                None, None, f"export_saved_model with the mode {experimental_mode!r}"
            )
        return self._export(
            export_dir_base, serving_input_receiver_fn, assets_extra, as_text, checkpoint_path, True
        )

    def export_savedmodel(
        self,
        export_dir_base: Any,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
        strip_default_attrs: bool = False,
    ) -> bytes:
        """The older form of export_saved_model."""
        tf_logging.warning("DEPRECATION: use `export_saved_model` instead of `export_savedmodel`.")
        return self._export(
            export_dir_base,
            serving_input_receiver_fn,
            assets_extra,
            as_text,
            checkpoint_path,
            strip_default_attrs,
        )

    def _export(
        self,
        export_dir_base: Any,
        receiver_fn: Callable[[], Any],
        assets_extra: Mapping[str, str] | None,
        as_text: bool,
        checkpoint_path: str | None,
        strip_default_attrs: bool,
    ) -> bytes:
        if not receiver_fn:
            raise ValueError("An input_receiver_fn must be defined.")
        checkpoint_path = checkpoint_path or self.latest_checkpoint() or self._warm_checkpoint()
        made = export(
            self._model,
            export_dir_base,
            receiver_fn,
            checkpoint_path,
            assets_extra,
            as_text,
            strip_default_attrs,
        )
        return os.fsencode(made)

    def _warm_checkpoint(self) -> str:
        """The checkpoint that an untrained model begins with. Raises ValueError without one."""
        settings = self._model.warm_start_settings
        source = settings.ckpt_to_initialize_from if settings else None
        found = latest_checkpoint(source) if source and os.path.isdir(source) else source
        if not found:
            raise ValueError(f"Couldn't find trained model at {self._model_dir}.")
        return found


def _config_with(config: RunConfig | None, model_dir: Any) -> RunConfig:
    """The config with a directory, given or temporary. Raises ValueError if two differ."""
    if config is None:
        config = RunConfig()
        tf_logging.info("Using default config.")
    if not isinstance(config, RunConfig):
        raise ValueError(f"config must be an instance of `RunConfig`, but provided {config}.")
    if config.session_config is None:
        config = config.replace(session_config=default_session_config())
    model_dir = None if model_dir is None else os.fspath(model_dir)
    if model_dir is not None and config.model_dir not in (None, model_dir):
        raise ValueError(
            "`model_dir` are set both in constructor and `RunConfig`, but with different values. "
            f"In constructor: '{model_dir}', in `RunConfig`: '{config.model_dir}' "
        )
    if model_dir or config.model_dir:
        return config.replace(model_dir=model_dir or config.model_dir)
    model_dir = tempfile.mkdtemp()
    tf_logging.warning("Using temporary folder as model directory: %s", model_dir)
    return config.replace(model_dir=model_dir)


def _device_setter(config: RunConfig) -> Callable[[Any], str] | None:
    """Variables go to the parameter servers, if there are any, all else to this task."""
    return replica_device_setter(
        ps_tasks=config.num_ps_replicas,
        worker_device=f"/job:{config.task_type}/task:{config.task_id}",
        ps_ops=list(STANDARD_PS_OPS),
        cluster=config.cluster_spec or None,
    )
