"""tf.TensorArray: an array of tensors that a loop writes and reads by index."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from minitf import nest
from minitf.convert import to_tensor
from minitf.default import (
    colocate_with,
    control_dependencies,
    device,
    name_scope,
)
from minitf.operation import Tensor
from minitf.ops.apply import apply_op
from minitf.tensor_shape import TensorShape, as_shape
from minitf_runtime.types import as_dtype, int64

__all__ = ["TensorArray"]


class TensorArray:
    """Write-once array of tensors of one type (TF: TensorArray). Each write gives a new `flow`.

    Raises ValueError when neither size nor handle is given, or elements differ in shape.
    """

    def __init__(
        self,
        dtype: Any,
        size: Any = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Tensor | None = None,
        flow: Tensor | None = None,
        infer_shape: bool = True,
        element_shape: Any = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        _check_arguments(handle, size, flow, element_shape, dynamic_size, clear_after_read)
        self._dtype = as_dtype(dtype).base
        self._infer_shape = infer_shape
        # shared by all arrays that come from this one by writing
        self._element_shape = [TensorShape(element_shape)]
        self._beside: list[Tensor] | None = [] if colocate_with_first_write_call else None
        with name_scope(name, "TensorArray", [handle, size, flow]) as scope:
            if handle is not None and flow is not None:
                self._handle, self._flow = handle, flow
                return
            options = dict(
                dtype=self._dtype,
                element_shape=as_shape(element_shape),
                identical_element_shapes=infer_shape,
                dynamic_size=bool(dynamic_size),
                clear_after_read=clear_after_read is not False,
                tensor_array_name=tensor_array_name or "",
                name=scope,
            )
            if colocate_with_first_write_call:
                with device(None), colocate_with(None, ignore_existing=True):
                    self._handle, self._flow = apply_op("TensorArrayV3", size, **options)
            else:
                self._handle, self._flow = apply_op("TensorArrayV3", size, **options)

    @property
    def dtype(self) -> Any:
        return self._dtype

    @property
    def handle(self) -> Tensor:
        return self._handle

    @property
    def flow(self) -> Tensor:
        return self._flow

    @property
    def element_shape(self) -> TensorShape:
        return self._element_shape[0]

    def with_flow(self, flow: Tensor) -> TensorArray:
        """The same array after what `flow` stands for."""
        made = TensorArray.__new__(TensorArray)
        made.__dict__.update(self.__dict__)
        made._flow = flow
        return made

    def identity(self) -> TensorArray:
        return self.with_flow(apply_op("Identity", self._flow))

    def grad(self, source: str, flow: Tensor | None = None, name: str | None = None) -> TensorArray:
        """The array that collects the gradients of this one's elements."""
        flow = self._flow if flow is None else flow
        with name_scope(name, "TensorArrayGrad", [self._handle]), colocate_with(self._handle):
            handle, _ = apply_op("TensorArrayGradV3", self._handle, flow, source=source, name=name)
            with control_dependencies([handle]):
                flow = apply_op("Identity", flow, name="gradient_flow")
            made = TensorArray(
                self._dtype,
                handle=handle,
                flow=flow,
                infer_shape=self._infer_shape,
                colocate_with_first_write_call=False,
            )
            made._element_shape = self._element_shape
            return made

    def read(self, index: Any, name: str | None = None) -> Tensor:
        value = apply_op(
            "TensorArrayReadV3", self._handle, index, self._flow, dtype=self._dtype, name=name
        )
        value.set_shape(self.element_shape)
        return value  # type: ignore[no-any-return]

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        with name_scope(name, "TensorArrayWrite", [self._handle, index, value]):
            value = self._element(value)
            self._merge_shape(value.shape)
            with self._colocated(value):
                flow = apply_op(
                    "TensorArrayWriteV3", self._handle, index, value, self._flow, name=name
                )
            return self.with_flow(flow)

    def stack(self, name: str | None = None) -> Tensor:
        """All elements as one tensor, along a new first axis."""
        with colocate_with(self._handle), name_scope(name, "TensorArrayStack", [self._handle]):
            return self.gather(_range(self.size()), name=name)

    def gather(self, indices: Any, name: str | None = None) -> Tensor:
        value = apply_op(
            "TensorArrayGatherV3",
            self._handle,
            indices,
            self._flow,
            dtype=self._dtype,
            element_shape=self.element_shape,
            name=name,
        )
        if self.element_shape.dims is not None:
            value.set_shape([None, *self.element_shape.dims])
        return value  # type: ignore[no-any-return]

    def concat(self, name: str | None = None) -> Tensor:
        """All elements joined along their first axis."""
        value, _ = apply_op(
            "TensorArrayConcatV3",
            self._handle,
            self._flow,
            dtype=self._dtype,
            element_shape_except0=self.element_shape[1:],
            name=name,
        )
        if self.element_shape.dims is not None:
            value.set_shape([None, *self.element_shape.dims[1:]])
        return value

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """Writes value[i] at each i."""
        from minitf.ops.array import shape

        with name_scope(name, "TensorArrayUnstack", [self._handle, value]):
            return self.scatter(_range(shape(value)[0]), value, name=name)

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        with name_scope(name, "TensorArrayScatter", [self._handle, value, indices]):
            value = self._element(value)
            self._merge_shape(value.shape[1:])
            with self._colocated(value):
                flow = apply_op(
                    "TensorArrayScatterV3", self._handle, indices, value, self._flow, name=name
                )
            return self.with_flow(flow)

    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        """Cuts a value along its first axis into elements of these lengths."""
        from minitf.ops.math import cast

        with name_scope(name, "TensorArraySplit", [self._handle, value, lengths]):
            value = to_tensor(value, self._dtype, name="value")
            with self._colocated(value):
                flow = apply_op(
                    "TensorArraySplitV3",
                    self._handle,
                    value,
                    cast(lengths, int64),
                    self._flow,
                    name=name,
                )
            return self.with_flow(flow)

    def size(self, name: str | None = None) -> Tensor:
        return apply_op("TensorArraySizeV3", self._handle, self._flow, name=name)  # type: ignore

    def close(self, name: str | None = None) -> Any:
        return apply_op("TensorArrayCloseV3", self._handle, name=name)

    def _element(self, value: Any) -> Tensor:
        value = to_tensor(value, preferred_dtype=self._dtype, name="value")
        if value.dtype.base is not self._dtype:
            raise TypeError(
                f"TensorArray dtype is {self._dtype.name} but Op is trying to write dtype "
                f"{value.dtype.name}"
            )
        return value

    def _merge_shape(self, shape: TensorShape) -> None:
        if not shape.is_compatible_with(self.element_shape):
            raise ValueError(f"Inconsistent shapes: saw {shape} but expected {self.element_shape} ")
        if self._infer_shape:
            self._element_shape[0] = self.element_shape.merge_with(shape)

    @contextmanager
    def _colocated(self, value: Tensor) -> Iterator[None]:
        """The first value written decides where all writes go."""
        if self._beside is None:
            yield
            return
        if not self._beside:
            self._beside.append(value)
        with colocate_with(self._beside[0]):
            yield


def _check_arguments(
    handle: Any, size: Any, flow: Any, element_shape: Any, dynamic_size: Any, clear: Any
) -> None:
    if handle is None:
        if size is None:
            raise ValueError("Size must be provided if handle is not provided")
        return
    if not isinstance(handle, Tensor):
        raise TypeError("Handle must be a Tensor")
    given = dict(size=size, element_shape=element_shape, dynamic_size=dynamic_size,
                 clear_after_read=clear)  # fmt: skip
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"Cannot provide both a handle and {name} at the same time")
    if flow is None:
        raise ValueError("flow must not be None if handle is not None.")


def _range(limit: Any) -> Tensor:
    from minitf.ops.math import range as range_

    return range_(0, limit)  # type: ignore[no-any-return]


def to_flow(value: Any) -> Any:
    """What a loop or branch carries for a value: the flow of a TensorArray."""
    return value.flow if isinstance(value, TensorArray) else value


def from_flows(structure: Any, values: list[Any]) -> list[Any]:
    """Tensors as what stood in the structure: a TensorArray where there was one."""
    flat = nest.flatten(structure, expand_composites=True)
    return [
        old.with_flow(new) if isinstance(old, TensorArray) else new
        for old, new in zip(flat, values, strict=True)
    ]
