"""TensorArray ops: an array of tensors that lives for one step, written and read by index."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitf_runtime.errors import InvalidArgumentError, invalid
from minitf_runtime.ops.registry import Attr, ShapeContext, Type, kernel, op
from minitf_runtime.types import Shape, int32, is_full, merge_shapes, show_shape


class Array:
    """The elements; None where nothing was written. `grads` are the arrays that TensorArrayGrad
    made."""

    def __init__(self, size: int, attrs: Any, name: str) -> None:
        self.items: list[Any] = [None] * size
        self.read = [False] * size
        self.dtype = attrs["dtype"]
        self.dynamic = attrs["dynamic_size"]
        self.clear = attrs["clear_after_read"]
        self.shape: Shape = attrs["element_shape"]
        self.identical = attrs["identical_element_shapes"]  # the first element tells the shape
        self.name = name
        self.accumulates = False
        self.grads: dict[str, Array] = {}

    def check(self, i: int) -> None:
        if not 0 <= i < len(self.items):
            raise invalid(
                f"TensorArray {self.name}: Tried to read from index {i} but array size is: "
                f"{len(self.items)}"
            )

    def write(self, xp: Any, i: int, value: Any) -> None:
        if i >= len(self.items) and self.dynamic and i >= 0:
            more = i + 1 - len(self.items)
            self.items += [None] * more
            self.read += [False] * more
        if not 0 <= i < len(self.items):
            raise invalid(
                f"TensorArray {self.name}: Tried to write to index {i} but array is not resizeable "
                f"and size is: {len(self.items)}"
            )
        self._check_shape(i, value.shape)
        if self.items[i] is not None:
            if not self.accumulates:
                raise invalid(
                    f"TensorArray {self.name}: Could not write to TensorArray index {i} because it "
                    "has already been written to."
                )
            value = xp.add(self.items[i], value)
        self.items[i] = value

    def _check_shape(self, i: int, shape: tuple[int, ...]) -> None:
        try:
            merged = merge_shapes(self.shape, shape)
        except ValueError:
            raise invalid(
                f"TensorArray {self.name}: Could not write to TensorArray index {i} because the "
                f"value shape is {show_shape(shape)} which is incompatible with the TensorArray's "
                f"inferred element shape: {show_shape(self.shape)} (consider setting "
                "infer_shape=False)."
            ) from None
        if self.identical:
            self.shape = merged

    def get(self, xp: Any, i: int) -> Any:
        self.check(i)
        if self.read[i] and self.clear and not self.accumulates:
            raise invalid(
                f"TensorArray {self.name}: Could not read index {i} twice because it was cleared "
                "after a previous read (perhaps try setting clear_after_read = false?)"
            )
        value = self.items[i]
        if value is None:
            value = self._zeros(xp, i)
        self.read[i] = True
        if self.clear and not self.accumulates:
            self.items[i] = None
        return value

    def _zeros(self, xp: Any, i: int) -> Any:
        """An element never written reads as zeros where its shape is known."""
        if not is_full(self.shape):
            raise invalid(
                f"TensorArray {self.name}: Could not read from TensorArray index {i}.  "
                "Furthermore, the element shape is not fully defined: "
                f"{show_shape(self.shape)}.  It is possible you are working with a resizeable "
                "TensorArray and stop_gradients is not allowing the gradients to be written.  If "
                "you set the full element_shape property on the forward TensorArray, the proper "
                "all-zeros tensor will be returned instead of incurring this error."
            )
        return xp.zeros(self.shape, self.dtype.as_numpy_dtype)


def _handle_and_flow(c: ShapeContext) -> list[Shape]:
    return [(2,), ()]


def _scalar(c: ShapeContext) -> list[Shape]:
    return [()]


op(
    "TensorArrayV3",
    "size: int32 -> handle: resource, flow: float32",
    _handle_and_flow,
    dtype=Type(),
    element_shape=Attr("shape", None),
    dynamic_size=False,
    clear_after_read=True,
    identical_element_shapes=False,
    tensor_array_name="",
    stateful=True,
)
op(
    "TensorArrayGradV3",
    "handle: resource, flow_in: float32 -> grad_handle: resource, flow_out: float32",
    _handle_and_flow,
    source=Attr("string"),
    stateful=True,
)
op(
    "TensorArrayWriteV3",
    "handle: resource, index: int32, value: T, flow_in: float32 -> flow_out: float32",
    _scalar,
    T=Type(),
    stateful=True,
)
op(
    "TensorArrayReadV3",
    "handle: resource, index: int32, flow_in: float32 -> value: dtype",
    lambda c: [None],
    dtype=Type(),
    stateful=True,
)


@op(
    "TensorArrayGatherV3",
    "handle: resource, indices: int32, flow_in: float32 -> value: dtype",
    dtype=Type(),
    element_shape=Attr("shape", None),
    stateful=True,
)
def gather_shape(c: ShapeContext) -> list[Shape]:
    rows, element = c.shape(1), c["element_shape"]
    if element is None:
        return [None]
    return [(rows[0] if rows else None, *element)]


op(
    "TensorArrayScatterV3",
    "handle: resource, indices: int32, value: T, flow_in: float32 -> flow_out: float32",
    _scalar,
    T=Type(),
    stateful=True,
)
op(
    "TensorArrayConcatV3",
    "handle: resource, flow_in: float32 -> value: dtype, lengths: int64",
    lambda c: [None, (None,)],
    dtype=Type(),
    element_shape_except0=Attr("shape", None),
    stateful=True,
)
op(
    "TensorArraySplitV3",
    "handle: resource, value: T, lengths: int64, flow_in: float32 -> flow_out: float32",
    _scalar,
    T=Type(),
    stateful=True,
)
op("TensorArraySizeV3", "handle: resource, flow_in: float32 -> size: int32", _scalar, stateful=True)
op("TensorArrayCloseV3", "handle: resource ->", lambda c: [], stateful=True)
FLOW = np.float32(0)


@kernel("TensorArrayV3", host_inputs="size")
def tensor_array(xp: Any, size: Any, *, node: Any) -> Any:
    if int(size) < 0:
        raise invalid(f"Size should be >= 0, but got {int(size)}")
    name = node.attrs["tensor_array_name"] or node.name
    return Array(int(size), node.attrs, name), FLOW


@kernel("TensorArrayGradV3")
def tensor_array_grad(xp: Any, handle: Array, flow: Any, *, source: Any) -> Any:
    made = handle.grads.get(source)
    if made is None:
        attrs = dict(
            dtype=handle.dtype, dynamic_size=False, clear_after_read=False,
            element_shape=handle.shape, identical_element_shapes=handle.identical,
        )  # fmt: skip
        made = Array(len(handle.items), attrs, f"{handle.name}@{source}")
        made.accumulates = True
        handle.grads[source] = made
    return made, flow


@kernel("TensorArrayWriteV3", host_inputs="index")
def write(xp: Any, handle: Array, index: Any, value: Any, flow: Any) -> Any:
    handle.write(xp, int(index), value)
    return flow


@kernel("TensorArrayReadV3", host_inputs="index")
def read(xp: Any, handle: Array, index: Any, flow: Any) -> Any:
    return handle.get(xp, int(index))


@kernel("TensorArrayGatherV3", host_inputs="indices")
def gather(xp: Any, handle: Array, indices: Any, flow: Any, *, element_shape: Any) -> Any:
    values = [handle.get(xp, int(i)) for i in indices]
    if values:
        return xp.stack(values)
    if element_shape is None or None in element_shape:
        raise invalid(
            f"TensorArray has size zero, but element shape {show_shape(element_shape)} is not "
            "fully defined. Currently only static shapes are supported when packing zero-size "
            "TensorArrays."
        )
    return xp.zeros((0, *element_shape), handle.dtype.as_numpy_dtype)


@kernel("TensorArrayScatterV3", host_inputs="indices")
def scatter(xp: Any, handle: Array, indices: Any, value: Any, flow: Any) -> Any:
    if len(indices) != len(value):
        raise invalid(
            f"Expected len(indices) == values.shape[0], but saw: {len(indices)} vs. {len(value)}"
        )
    for i, v in zip(indices, value):
        handle.write(xp, int(i), v)
    return flow


@kernel("TensorArrayConcatV3", host_outputs="lengths")
def concat(xp: Any, handle: Array, flow: Any) -> Any:
    values = [handle.get(xp, i) for i in range(len(handle.items))]
    lengths = np.array([len(v) for v in values], np.int64)
    if not values:
        raise InvalidArgumentError(None, None, "Concat needs at least one element in a TensorArray")
    return xp.concatenate(values), lengths


@kernel("TensorArraySplitV3", host_inputs="lengths")
def split(xp: Any, handle: Array, value: Any, lengths: Any, flow: Any) -> Any:
    if int(lengths.sum()) != len(value):
        raise invalid(
            f"Expected sum of lengths to be equal to values.shape[0], but sum of lengths is "
            f"{int(lengths.sum())} and value's shape is: {show_shape(value.shape)}"
        )
    start = 0
    for i, n in enumerate(lengths.tolist()):
        handle.write(xp, i, value[start : start + n])
        start += n
    return flow


@kernel("TensorArraySizeV3", host_outputs="size")
def size(xp: Any, handle: Array, flow: Any) -> Any:
    return int32.as_numpy_dtype(len(handle.items))


@kernel("TensorArrayCloseV3")
def close(xp: Any, handle: Array) -> None:
    handle.items.clear()
