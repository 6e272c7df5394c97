"""contrib's layers without variables, and functions that repeat layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitf.contrib.framework.arg_scope import add_arg_scope
from minitf.contrib.layers.common import NHWC, check_layout, finished, layer_layout, variable_getter
from minitf.convert import to_tensor
from minitf.default import name_scope
from minitf.layers.core import Dropout
from minitf.layers.core import flatten as flatten_axes
from minitf.layers.pooling import AveragePooling2D, MaxPooling2D
from minitf.operation import Tensor
from minitf.ops import array, math, nn
from minitf.variable_scope import variable_scope
from minitf_runtime.types import int32


@add_arg_scope
def flatten(inputs: Any, outputs_collections: Any = None, scope: Any = None) -> Tensor:
    """All axes but the first as one."""
    with name_scope(scope, "Flatten", [inputs]) as sc:
        return finished(flatten_axes(to_tensor(inputs)), None, outputs_collections, sc)


@add_arg_scope
def dropout(
    inputs: Any,
    keep_prob: Any = 0.5,
    noise_shape: Any = None,
    is_training: Any = True,
    outputs_collections: Any = None,
    scope: Any = None,
    seed: int | None = None,
) -> Tensor:
    """Keeps each element with a probability, while training; what is kept is scaled up."""
    with variable_scope(scope, "Dropout", [inputs], custom_getter=variable_getter()) as sc:
        inputs = to_tensor(inputs)
        layer = Dropout(1 - keep_prob, noise_shape, seed, sc.name, _scope=sc)
        outputs = layer.apply(inputs, training=is_training)
        return finished(outputs, None, outputs_collections, sc.name)


@add_arg_scope
def max_pool2d(
    inputs: Any,
    kernel_size: Any,
    stride: Any = 2,
    padding: str = "VALID",
    data_format: str = NHWC,
    outputs_collections: Any = None,
    scope: Any = None,
) -> Tensor:
    """The greatest element of each window of images."""
    return _pool2d(MaxPooling2D, "MaxPool2D", **locals())


@add_arg_scope
def avg_pool2d(
    inputs: Any,
    kernel_size: Any,
    stride: Any = 2,
    padding: str = "VALID",
    data_format: str = NHWC,
    outputs_collections: Any = None,
    scope: Any = None,
) -> Tensor:
    """The mean of each window of images."""
    return _pool2d(AveragePooling2D, "AvgPool2D", **locals())


def _pool2d(
    kind: Any,
    default_name: str,
    inputs: Any,
    kernel_size: Any,
    stride: Any,
    padding: str,
    data_format: str,
    outputs_collections: Any,
    scope: Any,
) -> Tensor:
    check_layout(data_format)
    with name_scope(scope, default_name, [inputs]) as sc:
        layer = kind(kernel_size, stride, padding, layer_layout(data_format), _scope=sc)
        return finished(layer.apply(to_tensor(inputs)), None, outputs_collections, sc)


@add_arg_scope
def one_hot_encoding(
    labels: Any,
    num_classes: Any,
    on_value: Any = 1.0,
    off_value: Any = 0.0,
    outputs_collections: Any = None,
    scope: Any = None,
) -> Tensor:
    """Labels as rows with one element on."""
    with name_scope(scope, "OneHotEncoding", [labels, num_classes]) as sc:
        labels = to_tensor(labels)
        if labels.dtype is int32:
            labels = math.to_int64(labels)
        outputs = array.one_hot(labels, num_classes, on_value=on_value, off_value=off_value)
        return finished(outputs, None, outputs_collections, sc)


@add_arg_scope
def softmax(logits: Any, scope: Any = None) -> Tensor:
    """Softmax over the last axis, of any rank. Raises ValueError."""
    with variable_scope(scope, "softmax", [logits]):
        if (logits.shape.ndims or 0) < 2:
            raise ValueError(f"rank of shape must be at least 2 not: {logits.shape.ndims}")
        size = logits.shape[-1].value
        if size is None:
            raise ValueError(f"dimension -1 of shape must be known but is None: {logits.shape}")
        rows = nn.softmax(array.reshape(logits, [-1, size]))
        outputs = array.reshape(rows, array.shape(logits))
        outputs.set_shape(logits.shape)
        return outputs


@add_arg_scope
def maxout(inputs: Any, num_units: int, axis: int = -1, scope: Any = None) -> Tensor:
    """The greatest of each group of channels, so that `num_units` are left. Raises ValueError."""
    with variable_scope(scope, "MaxOut", [inputs]):
        inputs = to_tensor(inputs)
        shape = inputs.shape.as_list()
        channels = shape[axis]
        if channels % num_units:
            raise ValueError(
                f"number of features({channels}) is not a multiple of num_units({num_units})"
            )
        shape[axis] = num_units
        shape += [channels // num_units]
        sizes = [array.shape(inputs)[i] if n is None else n for i, n in enumerate(shape)]
        return math.reduce_max(array.reshape(inputs, sizes), -1, keepdims=False)


def repeat(
    inputs: Any, repetitions: int, layer: Callable[..., Any], *args: Any, **kwargs: Any
) -> Any:
    """A layer applied several times, in scopes that are numbered from 1."""
    return _one_after_another("Repeat", inputs, layer, [args] * repetitions, kwargs)


def stack(inputs: Any, layer: Callable[..., Any], stack_args: Any, **kwargs: Any) -> Any:
    """A layer applied once for each of `stack_args`, in scopes that are numbered from 1."""
    if not isinstance(stack_args, (list, tuple)):
        raise ValueError("stack_args need to be a list or tuple")
    calls = [a if isinstance(a, (list, tuple)) else [a] for a in stack_args]
    return _one_after_another("Stack", inputs, layer, calls, kwargs)


def _one_after_another(
    kind: str, inputs: Any, layer: Callable[..., Any], calls: list[Any], options: dict[str, Any]
) -> Any:
    scope = options.pop("scope", None)
    with variable_scope(scope, kind, [inputs]):
        outputs = to_tensor(inputs)
        if scope is None:
            function = getattr(layer, "func", layer)  # of a functools.partial
            scope = getattr(function, "__name__", kind.lower())
        for i, args in enumerate(calls, 1):
            outputs = layer(outputs, *args, **{**options, "scope": f"{scope}_{i}"})
        return outputs
