"""Gradients of ops that shape, copy and rearrange tensors."""

from __future__ import annotations

import warnings
from typing import Any

from minitf.gradients.registry import GradientFunction, gradient
from minitf.indexed_slices import IndexedSlices
from minitf.operation import Tensor
from minitf.ops.apply import apply_op
from minitf.ops.array import (
    concat,
    rank,
    shape,
    size,
    stack,
    transpose,
    unstack,
)
from minitf.ops.array import (
    slice as slice_op,
)
from minitf.ops.elementwise import cast
from minitf.ops.reduction import range as range_op
from minitf.ops.reduction import reduce_sum

# ---- the same values


@gradient("Identity", "RefIdentity", "PlaceholderWithDefault", "EnsureShape")
def identity(op: Any, grad: Any) -> Any:
    return grad


@gradient("IdentityN")
def identity_n(op: Any, *grads: Any) -> Any:
    return grads


# ---- shapes


def quiet_reshape(grad: Any, sizes: Any) -> Tensor:
    """Reshape that may make IndexedSlices dense without a warning."""
    if isinstance(grad, IndexedSlices):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Converting sparse IndexedSlices")
            return apply_op("Reshape", grad, sizes)  # type: ignore[no-any-return]
    return apply_op("Reshape", grad, sizes)  # type: ignore[no-any-return]


@gradient("Reshape", "ExpandDims", "Squeeze")
def reshape(op: Any, grad: Any) -> Any:
    back = quiet_reshape(grad, shape(op.inputs[0]))
    return back, *[None] * (len(op.inputs) - 1)


@gradient("Fill")
def fill(op: Any, grad: Any) -> Any:
    return None, reduce_sum(grad)


@gradient("Tile")
def tile(op: Any, grad: Any) -> Any:
    """Sums over the copies: [m0, n0, m1, n1, ...] with the multiples m reduced away."""
    x, multiples = op.inputs
    x_shape = shape(x, out_type=multiples.dtype)
    split = apply_op("Reshape", transpose(stack([multiples, x_shape])), [-1])
    axes = range_op(0, size(split), 2)
    if isinstance(grad, IndexedSlices):
        rows = cast(x_shape[0], grad.indices.dtype)
        kept = apply_op("FloorMod", grad.indices, rows)
        grad = apply_op("UnsortedSegmentSum", grad.values, kept, rows)
        split = concat([[1], split[1:]], axis=0)
    back = reduce_sum(apply_op("Reshape", grad, split), axes)
    back.set_shape(x.shape)
    return back, None


@gradient("BroadcastTo")
def broadcast_to(op: Any, grad: Any) -> Any:
    x, wanted = op.inputs
    x_shape = shape(x)
    _, axes = apply_op("BroadcastGradientArgs", wanted, x_shape)
    kept = reduce_sum(grad, axis=axes, keepdims=True)
    return apply_op("Reshape", kept, x_shape), None


# ---- order


@gradient("Transpose")
def transpose_(op: Any, grad: Any) -> Any:
    return transpose(grad, apply_op("InvertPermutation", op.inputs[1])), None


@gradient("ConjugateTranspose")
def conjugate_transpose(op: Any, grad: Any) -> Any:
    back = apply_op("InvertPermutation", op.inputs[1])
    return transpose(grad, back, conjugate=True), None


@gradient("ReverseV2")
def reverse_v2(op: Any, grad: Any) -> Any:
    return apply_op("ReverseV2", grad, op.inputs[1]), None


@gradient("Reverse")
def reverse_v1(op: Any, grad: Any) -> Any:
    return apply_op("Reverse", grad, op.inputs[1]), None


@gradient("ReverseSequence")
def reverse_sequence(op: Any, grad: Any) -> Any:
    same = {k: op.get_attr(k) for k in ("seq_dim", "batch_dim")}
    return apply_op("ReverseSequence", grad, op.inputs[1], **same), None


@gradient("Roll")
def roll(op: Any, grad: Any) -> Any:
    _, shift, axis = op.inputs
    return apply_op("Roll", grad, -shift, axis), None, None


# ---- padding


@gradient("Pad", "PadV2")
def pad(op: Any, grad: Any) -> Any:
    x, paddings = op.inputs[:2]
    before = slice_op(paddings, [0, 0], stack([rank(x), 1]))
    begin = apply_op("Reshape", before, [-1])
    sizes = shape(x)
    return slice_op(grad, begin, sizes), *[None] * (len(op.inputs) - 1)


def opposites(one: str, other: str, *attrs: str) -> None:
    """Registers two ops that undo each other, with the same further inputs and attributes."""
    for op_type, back in ((one, other), (other, one)):
        gradient(op_type)(_made_by(back, attrs))


def _made_by(op_type: str, attrs: tuple[str, ...]) -> GradientFunction:
    def opposite(op: Any, grad: Any) -> Any:
        same = {k: op.get_attr(k) for k in attrs}
        more = op.inputs[1:]
        return apply_op(op_type, grad, *more, **same), *[None] * len(more)

    return opposite


opposites("MirrorPad", "MirrorPadGrad", "mode")

# ---- lists of tensors


@gradient("Pack")
def pack(op: Any, grad: Any) -> Any:
    return unstack(grad, num=op.get_attr("N"), axis=op.get_attr("axis"))


@gradient("Unpack")
def unpack(op: Any, *grads: Any) -> Any:
    return stack(grads, axis=op.get_attr("axis"))


@gradient("Split")
def split(op: Any, *grads: Any) -> Any:
    return None, concat(list(grads), op.inputs[0])


@gradient("SplitV")
def split_v(op: Any, *grads: Any) -> Any:
    return concat(list(grads), op.inputs[2]), None, None
