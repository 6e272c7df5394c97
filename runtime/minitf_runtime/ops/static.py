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
from minitf_runtime.types import Shape, is_full, num_elements, resource

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

    def has_none(self, key: Hashable) -> None:
        """Says that the tensor has no constant value, which saves looking for one."""
        self._values[key] = None

    def shape_value(self, key: Hashable, depth: int = 0) -> Shape:
        """The (1-D integer) tensor read as a shape, -1 meaning unknown, as far as it is known."""
        value = self.value(key)
        if value is not None:
            if value.ndim == 0:
                return None
            return tuple(None if n < 0 else int(n) for n in value)
        op, attrs, inputs, shapes, index, own = self._describe(key)
        if op in SHAPES:
            return shapes[index]  # type: ignore[no-any-return]
        rule = _SHAPE_RULES.get(op)
        found = rule(self, attrs, inputs, shapes, depth + 1) if rule and depth < MAX_DEPTH else None
        if found is None and own is not None and len(own) == 1 and own[0] is not None:
            return (None,) * own[0]
        return found

    def _compute(self, key: Hashable, depth: int) -> Any:
        op, attrs, inputs, shapes, index, own = self._describe(key)
        if op == "Const":
            value = np.asarray(attrs["value"])
            return value if value.size <= MAX_ELEMENTS else None
        if op in SHAPES and is_full(shapes[index]):
            return np.array(shapes[index], attrs["out_type"].as_numpy_dtype)
        opdef = OPS.get(op)
        kernel = find_kernel(op, attrs, "CPU") if opdef is not None else None
        if opdef is None or kernel is None or opdef.stateful or not inputs:
            return None
        if op == "PlaceholderWithDefault":
            return None  # a run may feed another value
        if "node" in kernel.keywords or (num_elements(own) or 0) > MAX_ELEMENTS:
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


def _from_pack(s: StaticValues, attrs: Any, inputs: Any, shapes: Any, depth: int) -> Shape:
    """TF knows a size only as a constant: not as x.shape[i] of a partly known shape."""
    if () not in shapes or any(shape not in ((), None) for shape in shapes):
        return None
    values = (s.value(i, depth) for i in inputs)
    return tuple(None if v is None or v < 0 else int(v) for v in values)


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
    return s.shape_value(inputs[0], depth) if attrs["T"] is resource else None


def _from_slice(s: StaticValues, attrs: Any, inputs: Any, shapes: Any, depth: int) -> Shape:
    """shape[begin:end:stride], in the simple forms that Python code makes."""
    whole = s.shape_value(inputs[0], depth)
    begin, end, step = (s.value(i, depth) for i in inputs[1:4])
    if whole is None or begin is None or end is None or step is None or begin.size != 1:
        return None
    if attrs["ellipsis_mask"] or attrs["new_axis_mask"] or attrs["shrink_axis_mask"]:
        return None
    first = None if attrs["begin_mask"] & 1 else int(begin[0])
    last = None if attrs["end_mask"] & 1 else int(end[0])
    return whole[first : last : int(step[0])]


SHAPES = ("Shape", "ShapeN")  # an output for each input: its shape
_SHAPE_RULES: dict[str, Callable[..., Shape]] = {
    "VarHandleOp": _from_handle,
    "Pack": _from_pack,
    "ConcatV2": _from_concat,
    "Identity": _through,
    "StridedSlice": _from_slice,
}
