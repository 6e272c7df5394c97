"""tf.estimator.EstimatorSpec: the parts of a model, as a model_fn gives them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from minitf.default import get_default_graph
from minitf.estimator.export_outputs import with_default_output
from minitf.nest import flatten
from minitf.operation import Operation, Tensor
from minitf.ops.shapes import reshape
from minitf.train.scaffold import Scaffold
from minitf.train.session_run_hook import SessionRunHook
from minitf.variables import Variable


class ModeKeys:
    """What a model is built for."""

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"


class _Parts(NamedTuple):
    mode: str
    predictions: Any
    loss: Any
    train_op: Any
    eval_metric_ops: dict[str, tuple[Any, Any]]
    export_outputs: Any
    training_chief_hooks: tuple[SessionRunHook, ...]
    training_hooks: tuple[SessionRunHook, ...]
    scaffold: Scaffold
    evaluation_hooks: tuple[SessionRunHook, ...]
    prediction_hooks: tuple[SessionRunHook, ...]


class EstimatorSpec(_Parts):
    """Needs loss and train_op to train, loss to evaluate, predictions to predict.

    Raises ValueError for what is missing or of another graph, TypeError for what has another type.
    """

    __slots__ = ()

    def __new__(
        cls,
        mode: str,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metric_ops: dict[str, tuple[Any, Any]] | None = None,
        export_outputs: Any = None,
        training_chief_hooks: Iterable[SessionRunHook] | None = None,
        training_hooks: Iterable[SessionRunHook] | None = None,
        scaffold: Scaffold | None = None,
        evaluation_hooks: Iterable[SessionRunHook] | None = None,
        prediction_hooks: Iterable[SessionRunHook] | None = None,
    ) -> EstimatorSpec:
        train_op = _checked_train_op(train_op, mode)
        loss = _checked_loss(loss, mode)
        predictions = _checked_predictions(predictions, mode)
        if mode == ModeKeys.PREDICT:
            export_outputs = with_default_output(export_outputs, predictions)
        return super().__new__(
            cls,
            mode,
            predictions,
            loss,
            train_op,
            _checked_metrics(eval_metric_ops),
            export_outputs,
            _checked_hooks(training_chief_hooks),
            _checked_hooks(training_hooks),
            _checked_scaffold(scaffold),
            _checked_hooks(evaluation_hooks),
            _checked_hooks(prediction_hooks),
        )

    def _replace(self, **kwds: Any) -> EstimatorSpec:
        """A copy with other parts. Raises ValueError for another mode."""
        if kwds.get("mode", self.mode) != self.mode:
            raise ValueError("mode of EstimatorSpec cannot be changed.")
        return EstimatorSpec(**{**self._asdict(), **kwds})


def _of_this_graph(value: Any, what: str, shown: str) -> None:
    if value.graph is not get_default_graph():
        raise ValueError(
            f'{what} with "{shown}" must be from the default graph. Possible causes of this error '
            f"include: \n\n1) {what} was created outside the context of the default graph.\n\n"
            "2) The object passed through to EstimatorSpec was not created in the most recent "
            'call to "model_fn".'
        )


def _tensor(value: Any, what: str) -> Any:
    if not isinstance(value, (Tensor, Variable)):
        raise TypeError(f"{what} must be Tensor, given: {value}")
    return value


def _checked_train_op(train_op: Any, mode: str) -> Any:
    if train_op is None:
        if mode == ModeKeys.TRAIN:
            raise ValueError("Missing train_op.")
        return None
    if not isinstance(train_op, (Operation, Tensor, Variable)):
        raise TypeError(f"train_op must be Operation or Tensor, given: {train_op}")
    if isinstance(train_op, Variable):
        train_op = train_op.op
    _of_this_graph(train_op, "train_op", train_op.name)
    return train_op


def _checked_loss(loss: Any, mode: str) -> Any:
    if loss is None:
        if mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
            raise ValueError("Missing loss.")
        return None
    loss = _tensor(loss, "loss")
    if loss.shape.num_elements() not in (None, 1):
        raise ValueError(f"Loss must be scalar, given: {loss}")
    if not loss.shape.is_compatible_with([]):
        loss = reshape(loss, [])
    _of_this_graph(loss, "loss", loss.name)
    return loss


def _checked_predictions(predictions: Any, mode: str) -> Any:
    if predictions is None:
        if mode == ModeKeys.PREDICT:
            raise ValueError("Missing predictions.")
        return {}
    if not isinstance(predictions, dict):
        _of_this_graph(_tensor(predictions, "predictions"), "prediction values", predictions.name)
        return predictions
    for key, value in predictions.items():
        _tensor(value, f"predictions[{key}]")
        _of_this_graph(value, "prediction values", f"{key}: {value.name}")
    return dict(predictions)


def _checked_metrics(metrics: Any) -> dict[str, tuple[Any, Any]]:
    if metrics is None:
        return {}
    if not isinstance(metrics, dict):
        raise TypeError(f"eval_metric_ops must be a dict, given: {metrics}")
    for key, value in metrics.items():
        if not isinstance(value, tuple) or len(value) != 2:
            raise TypeError(
                "Values of eval_metric_ops must be (metric_value, update_op) tuples, given: "
                f"{value} for key: {key}"
            )
        for part in flatten(value):
            _of_this_graph(part, "eval_metric_ops", f"{key}: {part.name}")
    return metrics


def _checked_hooks(hooks: Iterable[SessionRunHook] | None) -> tuple[SessionRunHook, ...]:
    hooks = tuple(hooks or ())
    for hook in hooks:
        if not isinstance(hook, SessionRunHook):
            raise TypeError(f"All hooks must be SessionRunHook instances, given: {hook}")
    return hooks


def _checked_scaffold(scaffold: Any) -> Scaffold:
    scaffold = scaffold or Scaffold()
    if not isinstance(scaffold, Scaffold):
        raise TypeError(f"scaffold must be tf.train.Scaffold. Given: {scaffold}")
    return scaffold
