"""contrib's layers with weights and biases: fully connected ones and convolutions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from minitf.contrib.framework.arg_scope import add_arg_scope
from minitf.contrib.layers.common import (
    NHWC,
    check_layout,
    collect,
    finished,
    layer_layout,
    normalized,
    variable_getter,
)
from minitf.contrib.layers.initializers import xavier_initializer
from minitf.convert import to_tensor
from minitf.initializers import zeros_initializer
from minitf.layers.base import Layer
from minitf.layers.convolutional import Conv1D, Conv2D, Conv3D
from minitf.layers.core import Dense
from minitf.layers.transposed import Conv2DTranspose
from minitf.operation import Tensor
from minitf.ops import nn
from minitf.variable_scope import variable_scope

_XAVIER, _ZEROS = xavier_initializer(), zeros_initializer()
_NAMES = {"kernel": "weights", "bias": "biases"}


def _outputs(
    default_name: str, given: dict[str, Any], make: Callable[[Tensor, dict[str, Any]], Layer]
) -> Tensor:
    """The outputs of the layer that `make` makes, from the arguments `given` to a function."""
    a = SimpleNamespace(**given)
    with variable_scope(
        a.scope, default_name, [a.inputs], reuse=a.reuse, custom_getter=variable_getter(_NAMES)
    ) as scope:
        inputs = to_tensor(a.inputs)
        options = dict(
            use_bias=bool(not a.normalizer_fn and a.biases_initializer),
            kernel_initializer=a.weights_initializer,
            bias_initializer=a.biases_initializer,
            kernel_regularizer=a.weights_regularizer,
            bias_regularizer=a.biases_regularizer,
            trainable=a.trainable,
            name=scope.name,
            dtype=inputs.dtype.base,
            _scope=scope,
            _reuse=a.reuse,
        )
        layer = make(inputs, options)
        outputs = layer.apply(inputs)
        collect(layer.kernel, a.variables_collections, "weights")
        if layer.bias is not None:
            collect(layer.bias, a.variables_collections, "biases")
        outputs = normalized(outputs, a.normalizer_fn, a.normalizer_params)
        return finished(outputs, a.activation_fn, a.outputs_collections, scope.name)


@add_arg_scope
def fully_connected(
    inputs: Any,
    num_outputs: int,
    activation_fn: Any = nn.relu,
    normalizer_fn: Any = None,
    normalizer_params: Any = None,
    weights_initializer: Any = _XAVIER,
    weights_regularizer: Any = None,
    biases_initializer: Any = _ZEROS,
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Tensor:
    """activation(inputs * weights + biases), along the last axis; relu unless told otherwise."""
    given = dict(locals())
    if not isinstance(num_outputs, int):
        raise ValueError(f"num_outputs type should be one of {[int]}, got {type(num_outputs)}.")
    return _outputs("fully_connected", given, lambda _, options: Dense(num_outputs, **options))


relu = functools.partial(fully_connected, activation_fn=nn.relu)
relu6 = functools.partial(fully_connected, activation_fn=nn.relu6)
elu = functools.partial(fully_connected, activation_fn=nn.elu)
linear = functools.partial(fully_connected, activation_fn=None)

_CONVOLUTIONS = {3: Conv1D, 4: Conv2D, 5: Conv3D}


def _convolution(
    inputs: Any,
    num_outputs: int,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str | None = None,
    rate: Any = 1,
    activation_fn: Any = nn.relu,
    normalizer_fn: Any = None,
    normalizer_params: Any = None,
    weights_initializer: Any = _XAVIER,
    weights_regularizer: Any = None,
    biases_initializer: Any = _ZEROS,
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
    conv_dims: int | None = None,
) -> Tensor:
    """activation(convolution of the inputs with weights + biases); relu unless told otherwise."""
    given = dict(locals())
    if data_format not in (None, "NWC", "NCW", "NHWC", "NCHW", "NDHWC", "NCDHW"):
        raise ValueError(f"Invalid data_format: {data_format!r}")

    def make(inputs: Tensor, options: dict[str, Any]) -> Layer:
        rank = inputs.shape.ndims
        if conv_dims is not None and conv_dims + 2 != rank:
            raise ValueError(f"Convolution expects input with rank {conv_dims + 2}, got {rank}")
        if rank not in _CONVOLUTIONS:
            raise ValueError("Convolution not supported for input with rank", rank)
        return _CONVOLUTIONS[rank](
            num_outputs,
            kernel_size,
            strides=stride,
            padding=padding,
            data_format=layer_layout(data_format),
            dilation_rate=rate,
            **options,
        )

    return _outputs("Conv", given, make)


def _convolution_of(dims: int) -> Callable[..., Tensor]:
    @functools.wraps(_convolution)
    def convolution(*args: Any, **kwargs: Any) -> Tensor:
        return _convolution(*args, **kwargs, conv_dims=dims)

    convolution.__name__ = f"convolution{dims}d"
    return add_arg_scope(convolution)


convolution = add_arg_scope(_convolution)
conv1d = convolution1d = _convolution_of(1)
conv2d = convolution2d = _convolution_of(2)
conv3d = convolution3d = _convolution_of(3)


@add_arg_scope
def convolution2d_transpose(
    inputs: Any,
    num_outputs: int,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str = NHWC,
    activation_fn: Any = nn.relu,
    normalizer_fn: Any = None,
    normalizer_params: Any = None,
    weights_initializer: Any = _XAVIER,
    weights_regularizer: Any = None,
    biases_initializer: Any = _ZEROS,
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Tensor:
    """activation(transposed convolution of images with weights + biases)."""
    given = dict(locals())
    check_layout(data_format)

    def make(_: Tensor, options: dict[str, Any]) -> Layer:
        return Conv2DTranspose(
            num_outputs,
            kernel_size,
            strides=stride,
            padding=padding,
            data_format=layer_layout(data_format),
            **options,
        )

    return _outputs("Conv2d_transpose", given, make)


conv2d_transpose = convolution2d_transpose
