"""Finds the Tensor or Operation that a user's object or name means, with TF's error texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minitf.operation import Operation, Tensor

if TYPE_CHECKING:
    from minitf.graph import Graph


def as_graph_element(graph: Graph, obj: Any, allow_tensor: bool, allow_operation: bool) -> Any:
    """Raises KeyError (no such name), ValueError (other graph, bad name) or TypeError (wrong
    kind)."""
    if allow_tensor and allow_operation:
        wanted = "Tensor or Operation"
    elif allow_tensor or allow_operation:
        wanted = "Tensor" if allow_tensor else "Operation"
    else:
        raise ValueError("allow_tensor and allow_operation can't both be False.")
    if hasattr(obj, "_as_graph_element"):
        obj = obj._as_graph_element()
    if isinstance(obj, bytes):
        obj = obj.decode()
    if isinstance(obj, str):
        return _by_name(graph, obj, allow_tensor, allow_operation)
    if isinstance(obj, Tensor) and allow_tensor:
        if obj.graph is not graph:
            raise ValueError(f"Tensor {obj} is not an element of this graph.")
        return obj
    if isinstance(obj, Operation) and allow_operation:
        if obj.graph is not graph:
            raise ValueError(f"Operation {obj!r} is not an element of this graph.")
        return obj
    raise TypeError(f"Can not convert a {type(obj).__name__} into a {wanted}.")


def _by_name(graph: Graph, name: str, allow_tensor: bool, allow_operation: bool) -> Any:
    if ":" in name and allow_tensor:
        return _tensor_by_name(graph, name)
    if ":" in name:
        raise ValueError(f"Name {name!r} appears to refer to a Tensor, not a Operation.")
    if allow_operation:
        op = graph._by_name.get(name)
        if op is None:
            raise KeyError(f"The name {name!r} refers to an Operation not in the graph.")
        return op
    if name in graph._by_name:
        raise ValueError(
            f"The name {name!r} refers to an Operation, not a Tensor. Tensor names must be of the "
            'form "<op_name>:<output_index>".'
        )
    raise ValueError(
        f"The name {name!r} looks like an (invalid) Operation name, not a Tensor. Tensor names "
        'must be of the form "<op_name>:<output_index>".'
    )


def _tensor_by_name(graph: Graph, name: str) -> Tensor:
    op_name, _, index = name.partition(":")
    if not index.isdigit():
        raise ValueError(
            f"The name {name!r} looks like a Tensor name, but is not a valid one. Tensor names "
            'must be of the form "<op_name>:<output_index>".'
        )
    op = graph._by_name.get(op_name)
    if op is None:
        raise KeyError(
            f"The name {name!r} refers to a Tensor which does not exist. The operation, "
            f"{op_name!r}, does not exist in the graph."
        )
    if int(index) >= len(op.outputs):
        raise KeyError(
            f"The name {name!r} refers to a Tensor which does not exist. The operation, "
            f"{op_name!r}, exists but only has {len(op.outputs)} outputs."
        )
    return op.outputs[int(index)]
