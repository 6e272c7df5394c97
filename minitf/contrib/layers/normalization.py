"""contrib's layers that normalize or shift, over one example: layer_norm, bias_add, unit_norm."""

from __future__ import annotations

from typing import Any

from minitf.contrib.framework.arg_scope import add_arg_scope
from minitf.contrib.framework.variables import model_variable
from minitf.contrib.layers.common import (
    NCHW,
    NHWC,
    channels_of,
    check_layout,
    collections_of,
    finished,
)
from minitf.convert import to_tensor
from minitf.initializers import ones_initializer, zeros_initializer
from minitf.operation import Tensor
from minitf.ops import array, math, nn, normalization
from minitf.variable_scope import variable_scope
from minitf_runtime.types import float16, int32

_ZEROS = zeros_initializer()


@add_arg_scope
def layer_norm(
    inputs: Any,
    center: bool = True,
    scale: bool = True,
    activation_fn: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    begin_norm_axis: int = 1,
    begin_params_axis: int = -1,
    scope: Any = None,
) -> Tensor:
    """Each example with mean 0 and variance 1 over its axes, then scaled and shifted.

    Raises ValueError for an unknown rank, or sizes of the parameters that are not known.
    """
    with variable_scope(scope, "LayerNorm", [inputs], reuse=reuse) as sc:
        inputs = to_tensor(inputs)
        rank = inputs.shape.ndims
        if rank is None:
            raise ValueError(f"Inputs {inputs.name} has undefined rank.")
        if begin_norm_axis < 0:
            begin_norm_axis += rank
        if begin_params_axis >= rank or begin_norm_axis >= rank:
            raise ValueError(
                f"begin_params_axis ({begin_params_axis}) and begin_norm_axis ({begin_norm_axis}) "
                f"must be < rank(inputs) ({rank})"
            )
        shape = inputs.shape[begin_params_axis:]
        if not shape.is_fully_defined():
            raise ValueError(
                f"Inputs {inputs.name}: shape(inputs)[{begin_params_axis}:] is not fully defined: "
                f"{inputs.shape}"
            )

        def parameter(name: str, initializer: Any) -> Any:
            return model_variable(
                name,
                shape=shape,
                dtype=inputs.dtype.base,
                initializer=initializer,
                collections=collections_of(variables_collections, name),
                trainable=trainable,
            )

        beta = parameter("beta", _ZEROS) if center else None
        gamma = parameter("gamma", ones_initializer()) if scale else None
        axes = list(range(begin_norm_axis, rank))
        mean, variance = normalization.moments(inputs, axes, keep_dims=True)
        epsilon = 1e-3 if inputs.dtype is float16 else 1e-12
        outputs = normalization.batch_normalization(inputs, mean, variance, beta, gamma, epsilon)
        outputs.set_shape(inputs.shape)
        return finished(outputs, activation_fn, outputs_collections, sc.name)


@add_arg_scope
def bias_add(
    inputs: Any,
    activation_fn: Any = None,
    initializer: Any = _ZEROS,
    regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    data_format: str = NHWC,
    scope: Any = None,
) -> Tensor:
    """The inputs plus biases, one per channel. Raises ValueError."""
    check_layout(data_format)
    with variable_scope(scope, "BiasAdd", [inputs], reuse=reuse) as sc:
        inputs = to_tensor(inputs)
        if inputs.shape.ndims not in (None, 4) and data_format == NCHW:
            raise ValueError("Data format NCHW only supports 4D Tensor")
        biases = model_variable(
            "biases",
            shape=[channels_of(inputs, data_format)],
            dtype=inputs.dtype.base,
            initializer=initializer,
            regularizer=regularizer,
            collections=collections_of(variables_collections, "biases"),
            trainable=trainable,
        )
        outputs = nn.bias_add(inputs, biases, data_format=data_format)
        return finished(outputs, activation_fn, outputs_collections, sc.name)


@add_arg_scope
def unit_norm(inputs: Any, dim: int, epsilon: float = 1e-7, scope: Any = None) -> Tensor:
    """The inputs with length 1 along an axis. Raises ValueError."""
    with variable_scope(scope, "UnitNorm", [inputs]):
        rank = inputs.shape.ndims
        if rank is None:
            raise ValueError("The input rank must be known.")
        if not 0 <= dim < rank:
            raise ValueError("dim must be positive but smaller than the input rank.")
        squares = math.reduce_sum(math.square(inputs), dim, True)
        lengths = math.sqrt(epsilon + squares)
        before = [array.ones([dim], int32)] if dim > 0 else []
        along = array.strided_slice(array.shape(inputs), [dim], [dim + 1])
        after = [array.ones([rank - 1 - dim], int32)] if dim < rank - 1 else []
        return math.div(inputs, array.tile(lengths, array.concat([*before, along, *after], 0)))
