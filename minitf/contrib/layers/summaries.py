"""Summaries of tensors and of whole collections (TF: contrib.layers.summarize_*)."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from typing import Any

from minitf import summary
from minitf.default import GraphKeys, get_collection
from minitf.operation import Tensor
from minitf.ops import math
from minitf_runtime.types import bool_, string


def summarize_tensor(tensor: Any, tag: str | None = None) -> Tensor | None:
    """A scalar of a scalar, else a histogram; None for strings and truth values."""
    if tensor.dtype.base in (string, bool_):
        return None
    write = summary.scalar if tensor.shape.ndims == 0 else summary.histogram
    return write(tag or f"{tensor.op.name}_summary", tensor)


def summarize_tensors(
    tensors: Iterable[Any], summarizer: Callable[[Any], Any] = summarize_tensor
) -> list[Any]:
    return [summarizer(tensor) for tensor in tensors]


def summarize_collection(
    collection: str,
    name_filter: str | None = None,
    summarizer: Callable[[Any], Any] = summarize_tensor,
) -> list[Any]:
    """Summaries of a collection, of all or of the names that match a pattern."""
    tensors = get_collection(collection)
    if name_filter is not None:
        tensors = [t for t in tensors if re.match(name_filter, t.op.name)]
    return summarize_tensors(tensors, summarizer)


def summarize_activation(op: Any) -> Tensor:
    """A histogram of a layer's outputs, and the shares of them that the activation cut off."""
    kind, name = op.op.type, op.op.name

    def share(compare: Callable[..., Tensor], bound: float, what: str) -> None:
        inputs = op.op.inputs[0]
        cut = compare(inputs, math.cast(bound, inputs.dtype))
        summary.scalar(f"{name}/{what}", math.reduce_mean(math.to_float(cut)))

    if kind in ("Relu", "Softplus", "Relu6"):
        share(math.less, 0.0, "zeros")
    if kind == "Relu6":
        share(math.greater, 6.0, "sixes")
    return summary.histogram(f"{name}/activation", op)


summarize_activations = functools.partial(
    summarize_collection, GraphKeys.ACTIVATIONS, summarizer=summarize_activation
)
