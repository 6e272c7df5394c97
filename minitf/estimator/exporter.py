"""Exporters: which of the models that train_and_evaluate evaluates are written to be served."""

from __future__ import annotations

import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from minitf import gfile, tf_logging
from minitf.estimator.arguments import argument_names
from minitf.summary.reader import summary_iterator

if TYPE_CHECKING:
    from minitf.estimator.estimator import Estimator

Results = Mapping[str, Any]
_COMPARED = {"best_eval_result", "current_eval_result"}


class Exporter(ABC):
    """Writes models below the directory export/<name> of an Estimator."""

    @property
    @abstractmethod
    def name(self) -> str: ...

    @abstractmethod
    def export(
        self,
        estimator: Estimator,
        export_path: str,
        checkpoint_path: str,
        eval_result: Results,
        is_the_final_export: bool,
    ) -> Any:
        """Writes the model of a checkpoint, or not; gives its directory or None."""


class _SavedModels(Exporter):
    """What the exporters below have in common."""

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[[], Any] | None,
        assets_extra: Mapping[str, str] | None,
        as_text: bool,
        exports_to_keep: int | None,
    ) -> None:
        if exports_to_keep is not None and exports_to_keep <= 0:
            raise ValueError(
                f"`exports_to_keep`, if provided, must be a positive number. Got {exports_to_keep}"
            )
        self._name = name
        self._receiver_fn = serving_input_receiver_fn
        self._assets_extra = assets_extra
        self._as_text = as_text
        self._exports_to_keep = exports_to_keep

    @property
    def name(self) -> str:
        return self._name

    def _write(self, estimator: Estimator, export_path: str, checkpoint_path: str) -> bytes:
        """Writes the model, and removes the oldest of those that are too many."""
        made = estimator.export_saved_model(
            export_path,
            self._receiver_fn,  # type: ignore[arg-type]
            assets_extra=self._assets_extra,
            as_text=self._as_text,
            checkpoint_path=checkpoint_path,
        )
        if self._exports_to_keep is not None:
            exports = [n for n in os.listdir(export_path) if len(n) == 10 and n.isdigit()]
            for old in sorted(exports)[: -self._exports_to_keep]:
                shutil.rmtree(os.path.join(export_path, old), ignore_errors=True)
        return made


class FinalExporter(_SavedModels):
    """Writes the model at the end of the training."""

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
    ) -> None:
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text, None)

    def export(
        self,
        estimator: Estimator,
        export_path: str,
        checkpoint_path: str,
        eval_result: Results,
        is_the_final_export: bool,
    ) -> bytes | None:
        if not is_the_final_export:
            return None
        tf_logging.info("Performing the final export in the end of training.")
        return self._write(estimator, export_path, checkpoint_path)


class LatestExporter(_SavedModels):
    """Writes every model, and keeps the last few."""

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ) -> None:
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text, exports_to_keep)

    def export(
        self,
        estimator: Estimator,
        export_path: str,
        checkpoint_path: str,
        eval_result: Results,
        is_the_final_export: bool,
    ) -> bytes:
        return self._write(estimator, export_path, checkpoint_path)


def _loss_smaller(best_eval_result: Results, current_eval_result: Results) -> bool:
    """Whether the current loss is smaller. Raises ValueError where there is no loss."""
    for name, result in (
        ("best_eval_result", best_eval_result),
        ("current_eval_result", current_eval_result),
    ):
        if not result or "loss" not in result:
            raise ValueError(f"{name} cannot be empty or no loss is found in it.")
    return bool(best_eval_result["loss"] > current_eval_result["loss"])


class BestExporter(_SavedModels):
    """Writes each model that is better than all before, also those of an earlier run.

    Those are read from the event files of the pattern below the Estimator's directory; with None
    an earlier run does not count. Raises ValueError for another compare_fn than one of
    (best_eval_result, current_eval_result).
    """

    def __init__(
        self,
        name: str = "best_exporter",
        serving_input_receiver_fn: Callable[[], Any] | None = None,
        event_file_pattern: str | None = "eval/*.tfevents.*",
        compare_fn: Callable[..., bool] = _loss_smaller,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ) -> None:
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text, exports_to_keep)
        _check_compare_fn(compare_fn)
        self._compare_fn = compare_fn
        self._event_file_pattern = event_file_pattern
        self._model_dir: str | None = None
        self._best: Results | None = None

    def export(
        self,
        estimator: Estimator,
        export_path: str,
        checkpoint_path: str,
        eval_result: Results,
        is_the_final_export: bool,
    ) -> bytes | None:
        if self._model_dir != estimator.model_dir and self._event_file_pattern:
            tf_logging.info("Loading best metric from event files.")
            self._model_dir = estimator.model_dir
            pattern = os.path.join(self._model_dir, self._event_file_pattern)
            self._best = self._best_of_files(pattern)
        if self._best is not None and not self._is_better(eval_result):
            return None
        tf_logging.info("Performing best model export.")
        self._best = eval_result
        return self._write(estimator, export_path, checkpoint_path)

    def _is_better(self, result: Results) -> bool:
        return self._compare_fn(best_eval_result=self._best, current_eval_result=result)

    def _best_of_files(self, pattern: str) -> Results | None:
        self._best = None
        for path in gfile.Glob(pattern):
            for event in summary_iterator(path):
                values = event.summary.value
                result = {v.tag: v.simple_value for v in values if v.HasField("simple_value")}
                if result and (self._best is None or self._is_better(result)):
                    self._best = result
        return self._best


def _check_compare_fn(compare_fn: Any) -> None:
    if compare_fn is None:
        raise ValueError("`compare_fn` must not be None.")
    names = set(argument_names(compare_fn))
    for wanted in sorted(_COMPARED - names):
        raise ValueError(f"compare_fn ({compare_fn}) must include {wanted} argument.")
    unknown = sorted(names - _COMPARED)
    if unknown:
        raise ValueError(f"compare_fn ({compare_fn}) has following not expected args: {unknown}")
