"""All functions on arrays, of the eight files that hold them, under one name. No logic here."""

from minitf.ops.blocks import (
    batch_to_space,
    batch_to_space_nd,
    depth_to_space,
    extract_image_patches,
    required_space_to_batch_paddings,
    space_to_batch,
    space_to_batch_nd,
    space_to_depth,
)
from minitf.ops.filling import (
    all_dimensions as all_dimensions,
)
from minitf.ops.filling import (
    fill,
    meshgrid,
    one_hot,
    ones,
    ones_like,
    placeholder,
    placeholder_with_default,
    sequence_mask,
    sparse_placeholder,
    zeros,
    zeros_like,
)
from minitf.ops.gather import (
    batch_gather,
    dynamic_partition,
    dynamic_stitch,
    gather,
    gather_nd,
    scatter_nd,
    tensor_scatter_add,
    tensor_scatter_sub,
    tensor_scatter_update,
)
from minitf.ops.gather import (
    parallel_dynamic_stitch as parallel_dynamic_stitch,
)
from minitf.ops.joining import (
    concat,
    pad,
    parallel_stack,
    split,
    stack,
    tile,
    unstack,
)
from minitf.ops.repeating import (
    repeat,
)
from minitf.ops.shapes import (
    bitcast,
    broadcast_dynamic_shape,
    broadcast_static_shape,
    broadcast_to,
    expand_dims,
    guarantee_const,
    identity,
    identity_n,
    matrix_transpose,
    rank,
    reshape,
    shape,
    shape_n,
    size,
    squeeze,
    stop_gradient,
    transpose,
)
from minitf.ops.shapes import (
    rank_internal as rank_internal,
)
from minitf.ops.shapes import (
    shape_internal as shape_internal,
)
from minitf.ops.shapes import (
    size_internal as size_internal,
)
from minitf.ops.slicing import (
    boolean_mask,
    newaxis,
    reverse,
    reverse_sequence,
    roll,
    slice,
    strided_slice,
)
from minitf.ops.slicing import (
    slice_helper as slice_helper,
)
from minitf.ops.sorting import (
    argsort,
    invert_permutation,
    searchsorted,
    setdiff1d,
    sort,
    unique,
    unique_with_counts,
    unravel_index,
    where,
    where_v2,
)
from minitf.ops.sorting import (
    in_top_k as in_top_k,
)
from minitf.ops.sorting import (
    nth_element as nth_element,
)
from minitf.ops.sorting import (
    top_k as top_k,
)

__all__ = [
    "argsort",
    "batch_gather",
    "batch_to_space",
    "batch_to_space_nd",
    "bitcast",
    "boolean_mask",
    "broadcast_dynamic_shape",
    "broadcast_static_shape",
    "broadcast_to",
    "concat",
    "depth_to_space",
    "dynamic_partition",
    "dynamic_stitch",
    "expand_dims",
    "extract_image_patches",
    "fill",
    "gather",
    "gather_nd",
    "guarantee_const",
    "identity",
    "identity_n",
    "invert_permutation",
    "matrix_transpose",
    "meshgrid",
    "newaxis",
    "one_hot",
    "ones",
    "ones_like",
    "pad",
    "parallel_stack",
    "placeholder",
    "placeholder_with_default",
    "rank",
    "repeat",
    "required_space_to_batch_paddings",
    "reshape",
    "reverse",
    "reverse_sequence",
    "roll",
    "scatter_nd",
    "searchsorted",
    "sequence_mask",
    "setdiff1d",
    "shape",
    "shape_n",
    "size",
    "slice",
    "sort",
    "space_to_batch",
    "space_to_batch_nd",
    "space_to_depth",
    "sparse_placeholder",
    "split",
    "squeeze",
    "stack",
    "stop_gradient",
    "strided_slice",
    "tensor_scatter_add",
    "tensor_scatter_sub",
    "tensor_scatter_update",
    "tile",
    "transpose",
    "unique",
    "unique_with_counts",
    "unravel_index",
    "unstack",
    "where",
    "where_v2",
    "zeros",
    "zeros_like",
]
