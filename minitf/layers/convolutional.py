"""The layers of plain and separable convolutions. The transposed ones: transposed.py."""

from __future__ import annotations

from typing import Any

from minitf.initializers import zeros_initializer
from minitf.layers.arguments import layout, op_layout, padding_name, sizes
from minitf.layers.core import WeightedLayer
from minitf.layers.forms import function_form
from minitf.layers.input_spec import InputSpec
from minitf.ops import array, nn
from minitf.ops.conv import conv2d as convolve_images
from minitf.ops.conv import convolve
from minitf.ops.depthwise import separable_conv2d as convolve_apart
from minitf.ops.spatial import gaps_as_batches, per_dimension, strides_and_dilations
from minitf.tensor_shape import TensorShape


class ConvBase(WeightedLayer):
    """What all layers of convolutions share: the window, and where the channels are."""

    rank: int

    def _settle(self, filters: int, kernel_size: Any, strides: Any, padding: Any) -> None:
        self.filters = filters
        self.kernel_size = sizes(kernel_size, self.rank, "kernel_size")
        self.strides = sizes(strides, self.rank, "strides")
        self.padding = padding_name(padding)
        if self.padding == "causal" and self.rank != 1:
            raise ValueError("Causal padding is only supported for `Conv1D`and ``SeparableConv1D`.")
        self.input_spec = InputSpec(ndim=self.rank + 2)

    @property
    def _first(self) -> bool:
        return self.data_format == "channels_first"

    def _channels(self, input_shape: Any) -> int:
        """The number of input channels; from now on it is fixed. Raises ValueError if unknown."""
        axis = 1 if self._first else -1
        size = TensorShape(input_shape)[axis].value
        if size is None:
            raise ValueError("The channel dimension of the inputs should be defined. Found `None`.")
        self.input_spec = InputSpec(ndim=self.rank + 2, axes={axis: size})
        return size

    def _padded(self, inputs: Any) -> Any:
        """The inputs, with room before them for a causal window."""
        if self.padding != "causal":
            return inputs
        before = [self.dilation_rate[0] * (self.kernel_size[0] - 1), 0]
        edges = [[0, 0], [0, 0], before] if self._first else [[0, 0], before, [0, 0]]
        return array.pad(inputs, edges)

    @property
    def _op_padding(self) -> Any:
        if isinstance(self.padding, str):
            return "VALID" if self.padding == "causal" else self.padding.upper()
        return self.padding

    def _with_bias(self, outputs: Any, data_format: str) -> Any:
        return nn.bias_add(outputs, self.bias, data_format) if self.use_bias else outputs

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        batch, *rest = TensorShape(input_shape).as_list()
        space = rest[1:] if self._first else rest[:-1]
        window = zip(space, self.kernel_size, self.strides, self.dilation_rate)
        out = [self._length(*each) for each in window]
        return TensorShape(
            [batch, self.filters, *out] if self._first else [batch, *out, self.filters]
        )

    def _length(self, size: int | None, kernel: int, stride: int, rate: int) -> int | None:
        if size is None:
            return None
        lost = (kernel - 1) * rate if self.padding == "valid" else 0
        return (size - lost + stride - 1) // stride


class Conv(ConvBase):
    """activation(convolution of the inputs with a kernel + bias)."""

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: Any = "valid",
        data_format: str = "channels_last",
        dilation_rate: Any = 1,
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
        self.data_format = layout(data_format)
        self.dilation_rate = sizes(dilation_rate, self.rank, "dilation_rate")
        self._settle(filters, kernel_size, strides, padding)

    def build(self, input_shape: Any) -> None:
        """Makes kernel and bias. Raises ValueError for an unknown number of channels."""
        channels = self._channels(input_shape)
        self._add_kernel([*self.kernel_size, channels, self.filters])
        self._add_bias(self.filters)
        steps, rates = strides_and_dilations(self.rank, self.strides, self.dilation_rate)
        data_format = op_layout(self.data_format, self.rank + 2)
        window = per_dimension(steps.tolist(), self.rank, 1 if self._first else -1, "strides")

        def op(x: Any, _: int, padding: Any) -> Any:
            if self.rank == 2:
                return convolve_images(x, self.kernel, window, padding, data_format=data_format)
            return convolve(self.rank, x, self.kernel, window, None, padding, data_format, None)

        self._convolution = gaps_as_batches(
            TensorShape(input_shape),
            rates,
            self._op_padding,
            op,
            filter_shape=self.kernel.shape,
            data_format=data_format,
        )
        self.built = True

    def call(self, inputs: Any) -> Any:
        outputs = self._convolution(self._padded(inputs))
        if self._first and outputs.shape[1].value is None and outputs.shape.ndims is not None:
            outputs.set_shape([None, self.filters, *[None] * self.rank])
        if self.use_bias and self._first and self.rank == 1:
            outputs += array.reshape(self.bias, (1, self.filters, 1))
        else:
            outputs = self._with_bias(outputs, "NCHW" if self._first else "NHWC")
        return self._activated(outputs)


class Conv1D(Conv):
    """A convolution of rows (TF: layers.Conv1D)."""

    rank = 1


class Conv2D(Conv):
    """A convolution of images (TF: layers.Conv2D)."""

    rank = 2


class Conv3D(Conv):
    """A convolution of volumes (TF: layers.Conv3D)."""

    rank = 3


class SeparableConv(ConvBase):
    """A convolution of each channel by itself, then one that mixes the channels."""

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str = "channels_last",
        dilation_rate: Any = 1,
        depth_multiplier: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = None,
        pointwise_initializer: Any = None,
        bias_initializer: Any = zeros_initializer(),  # noqa: B008
        depthwise_regularizer: Any = None,
        pointwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: Any = None,
        pointwise_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            activation,
            use_bias,
            (None, None, None),
            (bias_initializer, bias_regularizer, bias_constraint),
            activity_regularizer,
            trainable=trainable,
            name=name,
            **kwargs,
        )
        self.data_format = layout(data_format)
        self.dilation_rate = sizes(dilation_rate, self.rank, "dilation_rate")
        self.depth_multiplier = depth_multiplier
        self.depthwise_initializer = depthwise_initializer
        self.pointwise_initializer = pointwise_initializer
        self.depthwise_regularizer = depthwise_regularizer
        self.pointwise_regularizer = pointwise_regularizer
        self.depthwise_constraint = depthwise_constraint
        self.pointwise_constraint = pointwise_constraint
        self._settle(filters, kernel_size, strides, padding)

    def build(self, input_shape: Any) -> None:
        """Makes both kernels and the bias. Raises ValueError for an unknown number of channels."""
        channels = self._channels(input_shape)
        self.depthwise_kernel = self.add_weight(
            "depthwise_kernel",
            shape=[*self.kernel_size, channels, self.depth_multiplier],
            initializer=self.depthwise_initializer,
            regularizer=self.depthwise_regularizer,
            constraint=self.depthwise_constraint,
        )
        self.pointwise_kernel = self.add_weight(
            "pointwise_kernel",
            shape=[*[1] * self.rank, self.depth_multiplier * channels, self.filters],
            initializer=self.pointwise_initializer,
            regularizer=self.pointwise_regularizer,
            constraint=self.pointwise_constraint,
        )
        self._add_bias(self.filters)
        self.built = True


class SeparableConv1D(SeparableConv):
    """A separable convolution of rows, as images of height one (TF: layers.SeparableConv1D)."""

    rank = 1

    def call(self, inputs: Any) -> Any:
        axis = 2 if self._first else 1
        data_format = op_layout(self.data_format, 4)
        outputs = convolve_apart(
            array.expand_dims(self._padded(inputs), axis),
            array.expand_dims(self.depthwise_kernel, 0),
            array.expand_dims(self.pointwise_kernel, 0),
            strides=per_dimension(self.strides * 2, 2, 1 if self._first else 3, "strides"),
            padding=self._op_padding,
            rate=(1, *self.dilation_rate),
            data_format=data_format,
        )
        outputs = self._with_bias(outputs, data_format)
        return self._activated(array.squeeze(outputs, [axis]))


class SeparableConv2D(SeparableConv):
    """A separable convolution of images (TF: layers.SeparableConv2D)."""

    rank = 2

    def call(self, inputs: Any) -> Any:
        data_format = op_layout(self.data_format, 4)
        outputs = convolve_apart(
            inputs,
            self.depthwise_kernel,
            self.pointwise_kernel,
            strides=per_dimension(self.strides, 2, 1 if self._first else 3, "strides"),
            padding=self._op_padding,
            rate=self.dilation_rate,
            data_format=data_format,
        )
        return self._activated(self._with_bias(outputs, data_format))


conv1d = function_form(Conv1D, "conv1d")
conv2d = function_form(Conv2D, "conv2d")
conv3d = function_form(Conv3D, "conv3d")
separable_conv1d = function_form(SeparableConv1D, "separable_conv1d")
separable_conv2d = function_form(SeparableConv2D, "separable_conv2d")
