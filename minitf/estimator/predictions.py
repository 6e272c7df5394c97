"""Asking a model: its predictions for an input, example by example or batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from minitf import tf_logging
from minitf.estimator import input_fn as inputs
from minitf.estimator.model import Model
from minitf.estimator.spec import ModeKeys
from minitf.graph import Graph
from minitf.train.monitored_session import MonitoredSession
from minitf.train.session_creator import ChiefSessionCreator
from minitf.train.session_run_hook import SessionRunHook


def predict(
    model: Model,
    input_fn: Callable[..., Any],
    predict_keys: Any,
    hooks: Sequence[SessionRunHook],
    checkpoint_path: str | None,
    yield_single_examples: bool,
) -> Iterator[Any]:
    """The graph is the default one while a step runs, not while the caller has its predictions."""
    with Graph().as_default() as graph:
        model.begin()
        features, _, input_hooks = model.inputs(input_fn, ModeKeys.PREDICT)
        if not inputs.can_end(features):
            tf_logging.warning(
                "Input graph does not use tf.data.Dataset or contain a QueueRunner. That means "
                "predict yields forever. This is probably a mistake."
            )
        spec = model.call(features, None, ModeKeys.PREDICT)
        if not checkpoint_path:
            model.warm_start()
        fetches = _chosen(spec.predictions, predict_keys)
        config = model.config
        creator = ChiefSessionCreator(
            spec.scaffold,
            config.master,
            config.session_config,
            checkpoint_filename_with_path=checkpoint_path,
        )
        session = MonitoredSession(creator, [*input_hooks, *hooks, *spec.prediction_hooks])
    with session:
        while not session.should_stop():
            with graph.as_default():
                batch = session.run(fetches)
            yield from _examples(batch) if yield_single_examples else [batch]


def _chosen(predictions: Any, keys: Any) -> Any:
    """The predictions of these keys, or all. Raises ValueError if there are none."""
    if not keys:
        return predictions
    if not isinstance(predictions, dict):
        raise ValueError("predict_keys argument is not valid in case of non-dict predictions.")
    found = {key: value for key, value in predictions.items() if key in keys}
    if not found:
        raise ValueError(
            f"Expected to run at least one output from {list(predictions)}, provided {keys}."
        )
    return found


def _examples(batch: Any) -> Iterator[Any]:
    """The predictions of each example. Raises ValueError for batches of several lengths."""
    if not isinstance(batch, dict):
        yield from batch
        return
    length = next(iter(batch.values())).shape[0]
    for key, value in batch.items():
        if value.shape[0] != length:
            raise ValueError(
                f"Batch length of predictions should be same. {key} has different batch length "
                "than others."
            )
    for i in range(length):
        yield {key: value[i] for key, value in batch.items()}
