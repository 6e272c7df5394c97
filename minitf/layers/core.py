"""The layers Dense, Dropout and Flatten."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitf.convert import to_tensor
from minitf.initializers import zeros_initializer
from minitf.layers.arguments import activation_of, function_of, layout, smart_cond
from minitf.layers.base import Layer
from minitf.layers.forms import function_form
from minitf.layers.input_spec import InputSpec
from minitf.ops import array, math, matmul, nn
from minitf.ops.apply import apply_op
from minitf.tensor_shape import TensorShape
from minitf_runtime.types import as_dtype, float32


class WeightedLayer(Layer):
    """What layers with a kernel and a bias share."""

    def __init__(
        self,
        activation: Any,
        use_bias: bool,
        kernel: tuple[Any, Any, Any],
        bias: tuple[Any, Any, Any],
        activity_regularizer: Any,
        **options: Any,
    ) -> None:
        """`kernel` and `bias` are each an initializer, a regularizer and a constraint."""
        regularizer = function_of("regularizer", activity_regularizer)
        super().__init__(activity_regularizer=regularizer, **options)
        self.activation = activation_of(activation)
        self.use_bias = use_bias
        self.kernel_initializer, self.kernel_regularizer, self.kernel_constraint = kernel
        self.bias_initializer, self.bias_regularizer, self.bias_constraint = bias
        self.bias: Any = None

    def _add_kernel(self, shape: Any) -> None:
        self.kernel = self.add_weight(
            "kernel",
            shape=shape,
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )

    def _add_bias(self, size: int) -> None:
        if self.use_bias:
            self.bias = self.add_weight(
                "bias",
                shape=[size],
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )

    def _activated(self, outputs: Any) -> Any:
        return outputs if self.activation is None else self.activation(outputs)


class Dense(WeightedLayer):
    """activation(inputs * kernel + bias), along the last axis (TF: layers.Dense)."""

    def __init__(
        self,
        units: int,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = None,
        bias_initializer: Any = zeros_initializer(),  # noqa: B008
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            activation,
            use_bias,
            (kernel_initializer, kernel_regularizer, kernel_constraint),
            (bias_initializer, bias_regularizer, bias_constraint),
            activity_regularizer,
            trainable=trainable,
            name=name,
            **kwargs,
        )
        self.units = int(units)
        self.input_spec = InputSpec(min_ndim=2)

    def build(self, input_shape: Any) -> None:
        """Makes kernel and bias. Raises TypeError, or ValueError for an unknown last size."""
        dtype = as_dtype(self.dtype or float32)
        if not (dtype.is_floating or dtype.is_complex):
            raise TypeError(f"Unable to build `Dense` layer with non-floating point dtype {dtype}")
        size = TensorShape(input_shape)[-1].value
        if size is None:
            raise ValueError(
                "The last dimension of the inputs to `Dense` should be defined. Found `None`."
            )
        self.input_spec = InputSpec(min_ndim=2, axes={-1: size})
        self._add_kernel([size, self.units])
        self._add_bias(self.units)
        self.built = True

    def call(self, inputs: Any) -> Any:
        rank = len(inputs.shape)
        if rank > 2:
            outputs = matmul.tensordot(inputs, self.kernel, [[rank - 1], [0]])
            outputs.set_shape([*inputs.shape.as_list()[:-1], self.units])
        else:
            outputs = apply_op("MatMul", math.cast(inputs, self.dtype), self.kernel)
        if self.use_bias:
            outputs = nn.bias_add(outputs, self.bias)
        return self._activated(outputs)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        shape = TensorShape(input_shape).with_rank_at_least(2)
        if shape[-1].value is None:
            raise ValueError(
                f"The innermost dimension of input_shape must be defined, but saw: {shape}"
            )
        return shape[:-1].concatenate(self.units)  # type: ignore[no-any-return]


class Dropout(Layer):
    """Drops a share of the elements while training (TF: layers.Dropout)."""

    def __init__(
        self,
        rate: Any = 0.5,
        noise_shape: Any = None,
        seed: int | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, **kwargs)
        self.rate = rate
        self.noise_shape = noise_shape
        self.seed = seed

    def _get_noise_shape(self, inputs: Any) -> Any:
        if self.noise_shape is None:
            return None
        sizes = array.shape(inputs)
        return to_tensor([sizes[i] if n is None else n for i, n in enumerate(self.noise_shape)])

    def call(self, inputs: Any, training: Any = False) -> Any:
        def dropped() -> Any:
            noise_shape = self._get_noise_shape(inputs)
            return nn.dropout(inputs, noise_shape=noise_shape, seed=self.seed, rate=self.rate)

        return smart_cond(training, dropped, lambda: array.identity(inputs))

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape


class Flatten(Layer):
    """All axes but the first as one (TF: layers.Flatten)."""

    def __init__(self, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format = layout(data_format)
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs: Any) -> Any:
        rank = inputs.shape.ndims
        if self.data_format == "channels_first" and rank is not None and rank > 1:
            inputs = array.transpose(inputs, perm=[0, *range(2, rank), 1])
        outputs = array.reshape(inputs, (inputs.shape[0].value or array.shape(inputs)[0], -1))
        outputs.set_shape(self.compute_output_shape(inputs.shape))
        return outputs

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        first, *rest = TensorShape(input_shape).as_list()
        return TensorShape([first, int(np.prod(rest)) if all(rest) else None])


dense = function_form(Dense, "dense")


def dropout(
    inputs: Any,
    rate: Any = 0.5,
    noise_shape: Any = None,
    seed: int | None = None,
    training: Any = False,
    name: str | None = None,
) -> Any:
    """The outputs of a new Dropout layer for `inputs`."""
    return Dropout(rate, noise_shape, seed, name).apply(inputs, training=training)


def flatten(inputs: Any, name: str | None = None, data_format: str = "channels_last") -> Any:
    """The outputs of a new Flatten layer for `inputs`."""
    return Flatten(name=name, data_format=data_format).apply(inputs)
