"""Ops that make serialised Summary messages, collected for merge_all."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from minitf import tf_logging
from minitf.default import GraphKeys, add_to_collections, get_collection, name_scope
from minitf.operation import Tensor
from minitf.ops.apply import apply_op
from minitf.ops.left_out import left_out

_NOT_IN_TAGS = re.compile(r"[^-/\w\.]")

image = left_out("summary.image")
audio = left_out("summary.audio")
text = left_out("summary.text")
tensor_summary = left_out("summary.tensor_summary")


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
