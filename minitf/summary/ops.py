"""Ops that make serialised Summary messages, collected for merge_all."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from minitf import tf_logging
from minitf.convert import to_tensor
from minitf.default import GraphKeys, add_to_collections, get_collection, name_scope
from minitf.operation import Tensor
from minitf.ops.apply import apply_op
from minitf.proto.event import SummaryMetadata
from minitf_runtime.types import float32, string

_NOT_IN_TAGS = re.compile(r"[^-/\w\.]")


def scalar(
    name: str, tensor: Any, collections: Sequence[str] | None = None, family: str | None = None
) -> Tensor:
    """A summary of one number."""
    with _scope(name, family, tensor) as (tag, scope):
        return _collected(apply_op("ScalarSummary", tag, tensor, name=scope), collections)


def histogram(
    name: str, values: Any, collections: Sequence[str] | None = None, family: str | None = None
) -> Tensor:
    """A summary of how the values of a tensor are spread."""
    with _scope(name, family, values) as (tag, scope):
        return _collected(apply_op("HistogramSummary", tag, values, name=scope), collections)


def image(
    name: str,
    tensor: Any,
    max_outputs: int = 3,
    collections: Sequence[str] | None = None,
    family: str | None = None,
) -> Tensor:
    """A summary of images [batch, height, width, channels], of 1, 3 or 4 channels.

    Numbers are scaled, image by image: 0 to the largest becomes black to white; with negative
    numbers 0 is in the middle. uint8 values stay.
    """
    with _scope(name, family, tensor) as (tag, scope):
        made = apply_op("ImageSummary", tag, tensor, max_images=max_outputs, name=scope)
        return _collected(made, collections)


def audio(
    name: str,
    tensor: Any,
    sample_rate: Any,
    max_outputs: int = 3,
    collections: Sequence[str] | None = None,
    family: str | None = None,
) -> Tensor:
    """A summary of sounds [batch, frames, channels] or [batch, frames] between -1 and 1."""
    with _scope(name, family, tensor) as (tag, scope):
        rate = to_tensor(sample_rate, float32, name="sample_rate")
        made = apply_op("AudioSummaryV2", tag, tensor, rate, max_outputs=max_outputs, name=scope)
        return _collected(made, collections)


def text(name: str, tensor: Any, collections: Sequence[str] | None = None) -> Tensor:
    """A summary of strings, shown as Markdown. Raises ValueError for other tensors."""
    if tensor.dtype is not string:
        raise ValueError(f"Expected tensor {tensor.name} to have dtype string, got {tensor.dtype}")
    plugin = SummaryMetadata.PluginData(plugin_name="text")
    metadata = SummaryMetadata(plugin_data=plugin)
    return tensor_summary(name, tensor, collections=collections, summary_metadata=metadata)


def tensor_summary(
    name: str,
    tensor: Any,
    summary_description: str | None = None,
    collections: Sequence[str] | None = None,
    summary_metadata: SummaryMetadata | None = None,
    family: str | None = None,
    display_name: str | None = None,
) -> Tensor:
    """A summary of any tensor, with what a plugin of TensorBoard wants to know of it."""
    metadata = SummaryMetadata() if summary_metadata is None else summary_metadata
    if summary_description is not None:
        metadata.summary_description = summary_description
    if display_name is not None:
        metadata.display_name = display_name
    data = metadata.SerializeToString()
    with _scope(name, family, tensor) as (tag, scope):
        return _collected(apply_op("TensorSummaryV2", tag, tensor, data, name=scope), collections)


def merge(
    inputs: Sequence[Any], collections: Sequence[str] | None = None, name: str | None = None
) -> Tensor:
    """All values of several summaries; running it fails if two have one tag."""
    name = _clean(name)
    with name_scope(name, "Merge", inputs):
        merged = apply_op("MergeSummary", list(inputs), name=name)
        add_to_collections(collections or (), merged)
        return merged  # type: ignore[no-any-return]


def merge_all(
    key: str = GraphKeys.SUMMARIES, scope: str | None = None, name: str | None = None
) -> Tensor | None:
    """All summaries of a collection merged, or None if there are none."""
    found = get_collection(key, scope)
    return merge(found, name=name) if found else None


@contextmanager
def _scope(name: str, family: str | None, value: Any) -> Iterator[tuple[str, str]]:
    """The tag, which is the full name of the op (behind its family), and the op's name."""
    name, family = _clean(name) or "", _clean(family)
    with name_scope(f"{family}/{name}" if family else name, None, [value]) as scope:
        tag = scope.rstrip("/")
        yield f"{family}/{tag}" if family else tag, scope


def _clean(name: str | None) -> str | None:
    """A name without what tags cannot have."""
    if name is None:
        return None
    cleaned = _NOT_IN_TAGS.sub("_", name).lstrip("/")
    if cleaned != name:
        tf_logging.info("Summary name %s is illegal; using %s instead.", name, cleaned)
    return cleaned


def _collected(made: Tensor, collections: Sequence[str] | None) -> Tensor:
    add_to_collections([GraphKeys.SUMMARIES] if collections is None else collections, made)
    return made
