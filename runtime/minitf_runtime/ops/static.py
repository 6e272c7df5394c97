"""What is known of a tensor before any run: its value, or its value read as a shape.

Shape functions ask this (TF: EvaluateConstantTensor, MakeShapeFromShapeTensor). Works on the
client's
tensors and on the engine's nodes alike: `describe(key)` tells the op behind a tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from minitf_runtime.errors import OpError
from minitf_runtime.ops.registry import OPS, OpDef, arity, find_kernel
from minitf_runtime.types import Shape, is_full

MAX_ELEMENTS = 10_000  # larger values are not worth knowing at graph construction
MAX_DEPTH = 60

# op type, attrs, input keys, input shapes, output index, static shape of the tensor itself
Described = tuple[str, Any, Sequence[Hashable], Sequence[Shape], int, Shape]


class StaticValues:
    """Memoised knowledge of the tensors of one graph."""

    def __init__(self, describe: Callable[[Hashable], Described]) -> None:
        self._describe = describe
        self._values: dict[Hashable, Any] = {}

    def value(self, key: Hashable, depth: int = 0) -> np.ndarray[Any, Any] | None:
        """The constant value of the tensor, or None."""
        if key in self._values:
            return self._values[key]
        value = self._compute(key, depth) if depth < MAX_DEPTH else None
        self._values[key] = value
        return value

    def shape_value(self, key: Hashable, depth: int = 0) -> Shape:
        """The (1-D integer) tensor read as a shape, -1 meaning unknown, as far as it is known."""
        value = self.value(key)
        if value is not None:
            if value.ndim == 0:
                return None
            return tuple(None if n < 0 else int(n) for n in value)
        op, attrs, inputs, shapes, _, own = self._describe(key)
        rule = _SHAPE_RULES.get(op)
        found = rule(self, attrs, inputs, shapes, depth + 1) if rule and depth < MAX_DEPTH else None
        if found is None and own is not None and len(own) == 1 and own[0] is not None:
            return (None,) * own[0]
        return found

    def size_value(self, key: Hashable, depth: int) -> int | None:
        """A scalar (or one-element) integer tensor, where known."""
        value = self.value(key)
        if value is not None and value.size == 1:
            return int(value.reshape(()))
        op, attrs, inputs, _, _, _ = self._describe(key)
        if op == "StridedSlice" and depth < MAX_DEPTH:
            picked = _strided(self, attrs, inputs, depth + 1)
            return picked if isinstance(picked, int) else None
        if op in ("Cast", "Identity") and depth < MAX_DEPTH:
            return self.size_value(inputs[0], depth + 1)
        return None

    def _compute(self, key: Hashable, depth: int) -> Any:
        op, attrs, inputs, shapes, index, own = self._describe(key)
        if op == "Const":
            value = np.asarray(attrs["value"])
            return value if value.size <= MAX_ELEMENTS else None
        if op == "Shape" and is_full(shapes[0]):
            return np.array(shapes[0], attrs["out_type"].as_numpy_dtype)
        if op == "Rank" and shapes[0] is not None:
            return np.array(len(shapes[0]), np.int32)
        if op == "Size" and is_full(shapes[0]):
            return np.array(
                int(np.prod(shapes[0], dtype=np.int64)), attrs["out_type"].as_numpy_dtype
            )
        opdef = OPS.get(op)
        kernel = find_kernel(op, attrs, "CPU") if opdef is not None else None
        if opdef is None or kernel is None or opdef.stateful or not inputs or not is_full(own):
            return None
        if int(np.prod(own, dtype=np.int64)) > MAX_ELEMENTS or "node" in kernel.keywords:
            return None
        values = []
        for one in inputs:
            v = self.value(one, depth + 1)
            if v is None:
                return None
            values.append(v)
        return _run(kernel, opdef, attrs, values, index)


def _run(kernel: Any, opdef: OpDef, attrs: Any, values: list[Any], index: int) -> Any:
    try:
        with np.errstate(all="ignore"):
            out = kernel.fn(
                np, *group_inputs(opdef, attrs, values), **{k: attrs[k] for k in kernel.keywords}
            )
    except (OpError, ValueError, TypeError, KeyError, IndexError):
        return None  # a bad constant is an error of the run, not of the construction
    return np.asarray(out[index] if isinstance(out, (tuple, list)) else out)


def group_inputs(opdef: OpDef, attrs: Any, flat: Sequence[Any]) -> list[Any]:
    """Flat inputs as the arguments of the signature: a list where the argument is a list."""
    out: list[Any] = []
    i = 0
    for arg in opdef.inputs:
        if arg.is_list:
            n = arity(arg, attrs)
            out.append(list(flat[i : i + n]))
            i += n
        else:
            out.append(flat[i])
            i += 1
    return out


def _from_shape(s: StaticValues, attrs: Any, inputs: Any, shapes: Any, depth: int) -> Shape:
    return shapes[0]  # type: ignore[no-any-return]


def _from_pack(s: StaticValues, attrs: Any, inputs: Any, shapes: Any, depth: int) -> Shape:
    sizes = (s.size_value(i, depth) for i in inputs)
    return tuple(None if n is None or n < 0 else n for n in sizes)


def _from_concat(s: StaticValues, attrs: Any, inputs: Any, shapes: Any, depth: int) -> Shape:
    out: tuple[int | None, ...] = ()
    for one in inputs[:-1]:
        part = s.shape_value(one, depth)
        if part is None:
            return None
        out += part
    return out


def _from_handle(s: StaticValues, attrs: Any, inputs: Any, shapes: Any, depth: int) -> Shape:
    """A handle, read as a shape, is the shape of the variable behind it."""
    return attrs["shape"]  # type: ignore[no-any-return]


def _through(s: StaticValues, attrs: Any, inputs: Any, shapes: Any, depth: int) -> Shape:
    return s.shape_value(inputs[0], depth)


def _from_slice(s: StaticValues, attrs: Any, inputs: Any, shapes: Any, depth: int) -> Shape:
    picked = _strided(s, attrs, inputs, depth)
    return picked if isinstance(picked, tuple) else None


def _strided(s: StaticValues, attrs: Any, inputs: Any, depth: int) -> Any:
    """shape[begin:end:stride] or shape[i], for the simple forms that Python code makes."""
    whole = s.shape_value(inputs[0], depth)
    begin, end, step = (s.value(i) for i in inputs[1:4])
    if whole is None or begin is None or end is None or step is None or begin.size != 1:
        return None
    if attrs["ellipsis_mask"] or attrs["new_axis_mask"]:
        return None
    if attrs["shrink_axis_mask"] & 1:
        at = int(begin[0])
        return whole[at] if -len(whole) <= at < len(whole) else None
    first = None if attrs["begin_mask"] & 1 else int(begin[0])
    last = None if attrs["end_mask"] & 1 else int(end[0])
    return whole[first : last : int(step[0])]


_SHAPE_RULES: dict[str, Callable[..., Shape]] = {
    "Shape": _from_shape,
    "VarHandleOp": _from_handle,
    "Pack": _from_pack,
    "ConcatV2": _from_concat,
    "Cast": _through,
    "Identity": _through,
    "StridedSlice": _from_slice,
}
