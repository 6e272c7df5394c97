"""Functions that move blocks of space to depth or batch and back, and cut images into patches."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitf.convert import to_tensor
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops.apply import apply_op
from minitf.ops.arguments import renamed
from minitf.ops.constant_value import constant_value
from minitf.ops.filling import zeros
from minitf.ops.joining import stack
from minitf.ops.raw import passthrough
from minitf_runtime.types import int32

__all__ = [
    "batch_to_space",
    "batch_to_space_nd",
    "depth_to_space",
    "extract_image_patches",
    "required_space_to_batch_paddings",
    "space_to_batch",
    "space_to_batch_nd",
    "space_to_depth",
]

space_to_batch_nd = passthrough("SpaceToBatchND", "space_to_batch_nd")
batch_to_space_nd = passthrough("BatchToSpaceND", "batch_to_space_nd")


def space_to_batch(
    input: Any,  # noqa: A002
    paddings: Any,
    block_size: int | None = None,
    name: str | None = None,
    block_shape: int | None = None,
) -> Tensor:
    """Square blocks of images as further images of the batch."""
    size = renamed("block_shape", block_shape, "block_size", block_size)
    out = space_to_batch_nd(input, np.array([size, size], np.int64), paddings, name=name)
    out.set_shape(out.shape.with_rank(4))
    return out


def batch_to_space(
    input: Any,  # noqa: A002
    crops: Any,
    block_size: int | None = None,
    name: str | None = None,
    block_shape: int | None = None,
) -> Tensor:
    """What space_to_batch did, undone."""
    size = renamed("block_shape", block_shape, "block_size", block_size)
    out = batch_to_space_nd(input, np.array([size, size], np.int64), crops, name=name)
    out.set_shape(out.shape.with_rank(4))
    return out


def space_to_depth(
    input: Any,
    block_size: int,
    name: str | None = None,
    data_format: str = "NHWC",  # noqa: A002
) -> Tensor:
    """Square blocks of an image as channels of one pixel."""
    return apply_op(
        "SpaceToDepth", input, block_size=block_size, data_format=data_format, name=name
    )


def depth_to_space(
    input: Any,
    block_size: int,
    name: str | None = None,
    data_format: str = "NHWC",  # noqa: A002
) -> Tensor:
    """What space_to_depth did, undone."""
    return apply_op(
        "DepthToSpace", input, block_size=block_size, data_format=data_format, name=name
    )


def extract_image_patches(
    images: Any,
    ksizes: Any = None,
    strides: Any = None,
    rates: Any = None,
    padding: str | None = None,
    name: str | None = None,
    sizes: Any = None,
) -> Tensor:
    """The pixels of each window of an image, depth last."""
    windows = renamed("sizes", sizes, "ksizes", ksizes)
    return apply_op(
        "ExtractImagePatches",
        images,
        ksizes=windows,
        strides=strides,
        rates=rates,
        padding=padding,
        name=name,
    )


def required_space_to_batch_paddings(
    input_shape: Any, block_shape: Any, base_paddings: Any = None, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Paddings that make the input divisible by blocks, and the crops that undo what they add."""
    default = "required_space_to_batch_paddings"
    with name_scope(name, default, [input_shape, block_shape]):
        input_shape = to_tensor(input_shape, int32, name="input_shape")
        block_shape = to_tensor(block_shape, int32, name="block_shape")
        block_shape.shape.assert_is_fully_defined()
        block_shape.shape.assert_has_rank(1)
        count = block_shape._shape[0]
        if count == 0:
            return zeros([0, 2], int32), zeros([0, 2], int32)
        input_shape.shape.assert_is_compatible_with([count])
        if base_paddings is None:
            base_paddings = zeros([count, 2], int32)
        else:
            base_paddings = to_tensor(base_paddings, int32, name="base_paddings")
            base_paddings.shape.assert_is_compatible_with([count, 2])
        known = [constant_value(t) for t in (block_shape, input_shape, base_paddings)]
        if all(v is not None for v in known):
            block_shape, input_shape, base_paddings = known
        start = base_paddings[:, 0]
        end = base_paddings[:, 1]
        full = input_shape + start + end
        extra = (block_shape - full % block_shape) % block_shape
        end = end + extra
        paddings = stack([[start[i], end[i]] for i in range(count)], name="paddings")
        crops = stack([[0, extra[i]] for i in range(count)], name="crops")
        return paddings, crops
