"""tf.saved_model.utils: tensors as TensorInfo messages, and back."""

from __future__ import annotations

from typing import Any

from minitf.default import get_default_graph
from minitf.graph import Graph
from minitf.proto.meta_graph import TensorInfo
from minitf.proto.tensor import shape_proto
from minitf.scoped_names import within_scope
from minitf.sparse_tensor import SparseTensor
from minitf.tensor_shape import as_shape

__all__ = ["build_tensor_info", "get_tensor_from_tensor_info"]


def build_tensor_info(tensor: Any) -> TensorInfo:
    """The name (of a SparseTensor: the three names), type and shape of a tensor."""
    made = TensorInfo(dtype=tensor.dtype.number)
    made.tensor_shape.CopyFrom(shape_proto(as_shape(tensor.get_shape())))
    if isinstance(tensor, SparseTensor):
        made.coo_sparse.values_tensor_name = tensor.values.name
        made.coo_sparse.indices_tensor_name = tensor.indices.name
        made.coo_sparse.dense_shape_tensor_name = tensor.dense_shape.name
    else:
        made.name = tensor.name
    return made


def get_tensor_from_tensor_info(
    tensor_info: TensorInfo, graph: Graph | None = None, import_scope: str | None = None
) -> Any:
    """The tensor in the (default) graph. Raises KeyError if it is not there, ValueError if the
    message names none."""
    find, rename = (graph or get_default_graph()).get_tensor_by_name, within_scope(import_scope)
    encoding = tensor_info.WhichOneof("encoding")
    if encoding == "name":
        return find(rename(tensor_info.name))
    if encoding == "coo_sparse":
        names = tensor_info.coo_sparse
        return SparseTensor(
            find(rename(names.indices_tensor_name)),
            find(rename(names.values_tensor_name)),
            find(rename(names.dense_shape_tensor_name)),
        )
    raise ValueError(f"Invalid TensorInfo.encoding: {encoding}")
