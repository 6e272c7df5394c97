"""The layers of transposed convolutions: what a convolution of the result would come from."""

from __future__ import annotations

from typing import Any

from minitf.initializers import zeros_initializer
from minitf.layers.arguments import layout, op_layout
from minitf.layers.convolutional import ConvBase
from minitf.layers.forms import function_form
from minitf.ops import array, conv
from minitf.ops.spatial import per_dimension
from minitf.tensor_shape import TensorShape


class ConvTranspose(ConvBase):
    """What transposed convolutions of images and volumes share."""

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str = "channels_last",
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
        self._settle(filters, kernel_size, strides, padding)

    def build(self, input_shape: Any) -> None:
        """Makes kernel and bias. Raises ValueError for a wrong rank or unknown channels."""
        shape = TensorShape(input_shape)
        if len(shape) != self.rank + 2:
            raise ValueError(
                f"Inputs should have rank {self.rank + 2}. Received input shape: {shape}"
            )
        channels = self._channels(shape)
        self._add_kernel([*self.kernel_size, self.filters, channels])
        self._add_bias(self.filters)
        self.built = True

    def call(self, inputs: Any) -> Any:
        sizes = array.shape(inputs)
        batch = sizes[0]
        start = 2 if self._first else 1
        space = [sizes[start + i] for i in range(self.rank)]
        out = self._longer(space)
        shape = [batch, self.filters, *out] if self._first else [batch, *out, self.filters]
        outputs = self._turned_round(inputs, array.stack(shape))
        outputs.set_shape(self.compute_output_shape(inputs.shape))
        return self._activated(self._with_bias(outputs, op_layout(self.data_format, 4)))

    def _turned_round(self, inputs: Any, output_shape: Any) -> Any:
        raise NotImplementedError

    def _longer(self, space: list[Any]) -> list[Any]:
        """Sizes after the convolution, as numbers or tensors."""
        windows = list(zip(space, self.kernel_size, self.strides))
        if self.padding == "valid":
            return [None if n is None else n * s + max(k - s, 0) for n, k, s in windows]
        return [None if n is None else n * s for n, _, s in windows]

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        batch, *rest = TensorShape(input_shape).as_list()
        out = self._longer(rest[1:] if self._first else rest[:-1])
        return TensorShape(
            [batch, self.filters, *out] if self._first else [batch, *out, self.filters]
        )


class Conv2DTranspose(ConvTranspose):
    """A transposed convolution of images (TF: layers.Conv2DTranspose).

    Channels first go through channels last, as the op of the CPU asks for.
    """

    rank = 2

    def _turned_round(self, inputs: Any, output_shape: Any) -> Any:
        if self._first:
            inputs = array.transpose(inputs, (0, 2, 3, 1))
            output_shape = array.stack([output_shape[i] for i in (0, 2, 3, 1)])
        else:
            output_shape[0]  # TF takes the batch size, an op, and looks whether it is None
        outputs = conv.conv2d_transpose(
            inputs,
            self.kernel,
            output_shape,
            (1, *self.strides, 1),
            padding=self.padding.upper(),
            data_format="NHWC",
        )
        return array.transpose(outputs, (0, 3, 1, 2)) if self._first else outputs


class Conv3DTranspose(ConvTranspose):
    """A transposed convolution of volumes (TF: layers.Conv3DTranspose)."""

    rank = 3

    def _turned_round(self, inputs: Any, output_shape: Any) -> Any:
        return conv.conv3d_transpose(
            inputs,
            self.kernel,
            output_shape,
            per_dimension(self.strides, 3, 1 if self._first else 4, "strides"),
            data_format=op_layout(self.data_format, 5),
            padding=self.padding.upper(),
        )


conv2d_transpose = function_form(Conv2DTranspose, "conv2d_transpose")
conv3d_transpose = function_form(Conv3DTranspose, "conv3d_transpose")
