"""The pooling layers: the largest or mean element of windows of one to three dimensions."""

from __future__ import annotations

from typing import Any

from minitf.layers.arguments import layout, op_layout, padding_name, sizes
from minitf.layers.base import Layer
from minitf.layers.forms import function_form
from minitf.layers.input_spec import InputSpec
from minitf.ops import array, pooling
from minitf.tensor_shape import TensorShape


class Pooling(Layer):
    """What pooling layers share. `pool_function` pools images, or volumes."""

    rank: int
    pool_function: Any

    def __init__(
        self,
        pool_size: Any,
        strides: Any,
        padding: str = "valid",
        data_format: str = "channels_last",
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        if strides is None:
            raise ValueError("Argument `strides` must not be None.")
        super().__init__(name=name, **kwargs)
        self.pool_size = sizes(pool_size, self.rank, "pool_size")
        self.strides = sizes(strides, self.rank, "strides")
        self.padding = padding_name(padding)
        self.data_format = layout(data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    @property
    def _first(self) -> bool:
        return self.data_format == "channels_first"

    def _around(self, window: tuple[int, ...]) -> tuple[int, ...]:
        return (1, 1, *window) if self._first else (1, *window, 1)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        shape = TensorShape(input_shape).as_list()
        start = 2 if self._first else 1
        for i, (window, stride) in enumerate(zip(self.pool_size, self.strides), start):
            if shape[i] is not None:
                reach = window if self.padding == "valid" else 1
                shape[i] = (shape[i] - reach + stride) // stride  # type: ignore[operator]
        return TensorShape(shape)


class Pooling1D(Pooling):
    """Pools rows, as images of width one, with channels last."""

    rank = 1

    def call(self, inputs: Any) -> Any:
        axis = 3 if self._first else 2
        images = array.expand_dims(inputs, axis)
        if self._first:
            images = array.transpose(images, (0, 2, 3, 1))
        outputs = self.pool_function(
            images,
            (1, *self.pool_size, 1, 1),
            (1, *self.strides, 1, 1),
            padding=self.padding.upper(),
            data_format="NHWC",
        )
        if self._first:
            outputs = array.transpose(outputs, (0, 3, 1, 2))
        return array.squeeze(outputs, axis)


class Pooling2D(Pooling):
    """Pools images."""

    rank = 2

    def call(self, inputs: Any) -> Any:
        return self.pool_function(
            inputs,
            ksize=self._around(self.pool_size),
            strides=self._around(self.strides),
            padding=self.padding.upper(),
            data_format=op_layout(self.data_format, 4),
        )


class Pooling3D(Pooling):
    """Pools volumes, with channels last."""

    rank = 3

    def call(self, inputs: Any) -> Any:
        if self._first:
            inputs = array.transpose(inputs, (0, 2, 3, 4, 1))
        outputs = self.pool_function(
            inputs,
            ksize=(1, *self.pool_size, 1),
            strides=(1, *self.strides, 1),
            padding=self.padding.upper(),
        )
        return array.transpose(outputs, (0, 4, 1, 2, 3)) if self._first else outputs


class AveragePooling1D(Pooling1D):
    """The mean of windows of rows (TF: layers.AveragePooling1D)."""

    pool_function = staticmethod(pooling.avg_pool)


class MaxPooling1D(Pooling1D):
    """The largest element of windows of rows (TF: layers.MaxPooling1D)."""

    pool_function = staticmethod(pooling.max_pool)


class AveragePooling2D(Pooling2D):
    """The mean of windows of images (TF: layers.AveragePooling2D)."""

    pool_function = staticmethod(pooling.avg_pool)


class MaxPooling2D(Pooling2D):
    """The largest element of windows of images (TF: layers.MaxPooling2D)."""

    pool_function = staticmethod(pooling.max_pool)


class AveragePooling3D(Pooling3D):
    """The mean of windows of volumes (TF: layers.AveragePooling3D)."""

    pool_function = staticmethod(pooling.avg_pool3d)


class MaxPooling3D(Pooling3D):
    """The largest element of windows of volumes (TF: layers.MaxPooling3D)."""

    pool_function = staticmethod(pooling.max_pool3d)


average_pooling1d = function_form(AveragePooling1D, "average_pooling1d", shares=False)
average_pooling2d = function_form(AveragePooling2D, "average_pooling2d", shares=False)
average_pooling3d = function_form(AveragePooling3D, "average_pooling3d", shares=False)
max_pooling1d = function_form(MaxPooling1D, "max_pooling1d", shares=False)
max_pooling2d = function_form(MaxPooling2D, "max_pooling2d", shares=False)
max_pooling3d = function_form(MaxPooling3D, "max_pooling3d", shares=False)
