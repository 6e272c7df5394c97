"""InputSpec: what a layer asks of its inputs, and the check of that."""

from __future__ import annotations

from typing import Any

from minitf import nest
from minitf_runtime.types import as_dtype


class InputSpec:
    """Type, shape or rank of one input, or the sizes of some of its axes (TF: layers.InputSpec)."""

    def __init__(
        self,
        dtype: Any = None,
        shape: Any = None,
        ndim: int | None = None,
        max_ndim: int | None = None,
        min_ndim: int | None = None,
        axes: Any = None,
    ) -> None:
        self.dtype = None if dtype is None else as_dtype(dtype).name
        self.shape = shape
        self.ndim = ndim if shape is None else len(shape)
        self.max_ndim = max_ndim
        self.min_ndim = min_ndim
        try:
            self.axes = {int(axis): size for axis, size in (axes or {}).items()}
        except (ValueError, TypeError, AttributeError):
            raise TypeError("The keys in axes must be integers.") from None
        rank = self.ndim if self.ndim is not None else self.max_ndim
        if self.axes and rank is not None and max(self.axes) > rank - 1:
            raise ValueError(
                f"Axis {max(self.axes)} is greater than the maximum allowed value: {rank - 1}"
            )

    def __repr__(self) -> str:
        told = [f"{name}={value}" for name, value in vars(self).items() if value]
        return f"InputSpec({', '.join(told)})"


def check_inputs(spec: Any, inputs: Any, layer_name: str) -> None:
    """Raises ValueError for inputs that a layer's input_spec does not allow."""
    if not spec:
        return
    inputs, specs = nest.flatten(inputs), nest.flatten(spec)
    if len(inputs) != len(specs):
        raise ValueError(
            f"Layer {layer_name} expects {len(specs)} inputs, but it received {len(inputs)} input "
            f"tensors. Inputs received: {inputs}"
        )
    for i, (x, one) in enumerate(zip(inputs, specs)):
        if one is not None:
            fault = _fault(one, x)
            if fault:
                raise ValueError(
                    f"Input {i} of layer {layer_name} is incompatible with the layer: {fault}"
                )


def _fault(spec: InputSpec, x: Any) -> str:
    """What is wrong with an input, or ''."""
    shape = x.shape
    if shape.ndims is None:
        if (spec.ndim, spec.min_ndim, spec.max_ndim) == (None, None, None):
            return ""
        return "its rank is undefined, but the layer requires a defined rank."
    full = f" Full shape received: {shape.as_list()}"
    if spec.ndim is not None and shape.ndims != spec.ndim:
        return f"expected ndim={spec.ndim}, found ndim={shape.ndims}.{full}"
    if spec.max_ndim is not None and shape.ndims > spec.max_ndim:
        return f"expected max_ndim={spec.max_ndim}, found ndim={shape.ndims}"
    if spec.min_ndim is not None and shape.ndims < spec.min_ndim:
        return f": expected min_ndim={spec.min_ndim}, found ndim={shape.ndims}.{full}"
    if spec.dtype is not None and x.dtype.name != spec.dtype:
        return f"expected dtype={spec.dtype}, found dtype={x.dtype}"
    return _wrong_size(spec, shape.as_list())


def _wrong_size(spec: InputSpec, sizes: list[int | None]) -> str:
    for axis, wanted in spec.axes.items():
        wanted = getattr(wanted, "value", wanted)
        if wanted is not None and sizes[axis] not in (wanted, None):
            return (
                f"expected axis {axis} of input shape to have value {wanted} but received input "
                f"with shape {sizes}"
            )
    for wanted, size in zip(spec.shape or (), sizes):
        if None not in (wanted, size) and wanted != size:
            return f"expected shape={spec.shape}, found shape={sizes}"
    return ""
