"""tf.sparse."""

from minitf.ops.filling import sparse_placeholder as placeholder
from minitf.ops.sparse import eye, from_dense
from minitf.ops.sparse import sparse_add as add
from minitf.ops.sparse import sparse_concat as concat
from minitf.ops.sparse import sparse_fill_empty_rows as fill_empty_rows
from minitf.ops.sparse import sparse_reduce_max as reduce_max
from minitf.ops.sparse import sparse_reduce_sum as reduce_sum
from minitf.ops.sparse import sparse_reorder as reorder
from minitf.ops.sparse import sparse_reshape as reshape
from minitf.ops.sparse import sparse_retain as retain
from minitf.ops.sparse import sparse_slice as slice
from minitf.ops.sparse import sparse_softmax as softmax
from minitf.ops.sparse import sparse_tensor_dense_matmul as matmul
from minitf.ops.sparse import sparse_tensor_dense_matmul as sparse_dense_matmul
from minitf.ops.sparse import sparse_tensor_to_dense as to_dense
from minitf.ops.sparse import sparse_transpose as transpose
from minitf.ops.sparse_forms import sparse_expand_dims as expand_dims
from minitf.ops.sparse_forms import sparse_mask as mask
from minitf.ops.sparse_forms import sparse_merge as merge
from minitf.ops.sparse_forms import sparse_reset_shape as reset_shape
from minitf.ops.sparse_forms import sparse_split as split
from minitf.ops.sparse_forms import sparse_to_indicator as to_indicator
from minitf.sparse_tensor import SparseTensor

__all__ = [
    "SparseTensor",
    "add",
    "concat",
    "expand_dims",
    "eye",
    "fill_empty_rows",
    "from_dense",
    "mask",
    "matmul",
    "merge",
    "placeholder",
    "reduce_max",
    "reduce_sum",
    "reorder",
    "reset_shape",
    "reshape",
    "retain",
    "slice",
    "softmax",
    "sparse_dense_matmul",
    "split",
    "to_dense",
    "to_indicator",
    "transpose",
]
