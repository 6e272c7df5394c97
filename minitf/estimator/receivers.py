"""What a served model takes: receivers of tf.estimator.export, and functions that make them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from minitf.operation import Tensor
from minitf.ops.filling import placeholder
from minitf.sparse_tensor import SparseTensor
from minitf.tensor_shape import TensorShape
from minitf_runtime.types import string

_DEFAULT_NAMES = {
    "feature": "feature",
    "receiver_tensor": "input",
    "receiver_tensors_alternative": "input",
}


class _Received(NamedTuple):
    features: Any
    receiver_tensors: dict[str, Any]
    receiver_tensors_alternatives: dict[str, dict[str, Any]] | None


class ServingInputReceiver(_Received):
    """Features for the model_fn, and the tensors that a server feeds, each one or a dict.

    Raises ValueError for what is missing or no tensor.
    """

    __slots__ = ()

    def __new__(
        cls,
        features: Any,
        receiver_tensors: Any,
        receiver_tensors_alternatives: Mapping[str, Any] | None = None,
    ) -> ServingInputReceiver:
        features = _tensors(features, "feature", int_keys=True)
        received = _tensors(receiver_tensors, "receiver_tensor")
        others = receiver_tensors_alternatives
        if others is not None:
            if not isinstance(others, dict):
                raise ValueError(f"receiver_tensors_alternatives must be a dict: {others}.")
            others = {k: _tensors(v, "receiver_tensors_alternative") for k, v in others.items()}
        return super().__new__(cls, features, received, others)


class TensorServingInputReceiver(_Received):
    """A receiver whose model_fn takes one tensor as its features."""

    __slots__ = ()

    def __new__(
        cls,
        features: Any,
        receiver_tensors: Any,
        receiver_tensors_alternatives: Mapping[str, Any] | None = None,
    ) -> TensorServingInputReceiver:
        if features is None:
            raise ValueError("features must be defined.")
        _check_tensor(features, "feature")
        made = ServingInputReceiver(features, receiver_tensors, receiver_tensors_alternatives)
        return super().__new__(cls, made.features["feature"], *made[1:])


def _tensors(given: Any, field: str, int_keys: bool = False) -> dict[Any, Any]:
    """The tensors by name; a lone one gets the name that TensorFlow gives it."""
    if given is None:
        raise ValueError(f"{field}s must be defined.")
    by_name = given if isinstance(given, dict) else {_DEFAULT_NAMES[field]: given}
    kinds = (str, int) if int_keys else str
    for name, tensor in by_name.items():
        if not isinstance(name, kinds):
            wanted = "strings or ints" if int_keys else "strings"
            raise ValueError(f"{field} keys must be {wanted}: {name}.")
        _check_tensor(tensor, f"{field} {name}")
    return by_name


def _check_tensor(tensor: Any, what: str) -> None:
    if not isinstance(tensor, (Tensor, SparseTensor)):
        raise ValueError(f"{what} must be a Tensor or SparseTensor.")


def build_parsing_serving_input_receiver_fn(
    feature_spec: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], ServingInputReceiver]:
    """A function that makes a receiver of serialised Examples."""

    def serving_input_receiver_fn() -> ServingInputReceiver:
        from minitf.ops.parsing import parse_example

        serialized = placeholder(string, [default_batch_size], name="input_example_tensor")
        features = parse_example(serialized, feature_spec)
        return ServingInputReceiver(features, {"examples": serialized})

    return serving_input_receiver_fn


def build_raw_serving_input_receiver_fn(
    features: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], ServingInputReceiver]:
    """A function that makes a receiver of the features themselves.

    Their placeholders are like the tensors given, with the batch size in place of the first axis.
    """

    def serving_input_receiver_fn() -> ServingInputReceiver:
        made = {name: _placeholder(tensor, default_batch_size) for name, tensor in features.items()}
        return ServingInputReceiver(made, made)

    return serving_input_receiver_fn


def _placeholder(like: Tensor, batch_size: int | None) -> Tensor:
    shape = TensorShape([batch_size]).concatenate(like.shape[1:])
    return placeholder(like.dtype, shape, name=like.op.name)
