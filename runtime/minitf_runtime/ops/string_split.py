"""Ops that split strings into sparse tensors of their parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minitf_runtime.errors import invalid
from minitf_runtime.ops import dims
from minitf_runtime.ops.registry import ShapeContext, kernel, op
from minitf_runtime.types import Shape, show_shape

_PARTS = "indices: int64, values: string, shape: int64"


def _split_shape(c: ShapeContext) -> list[Shape]:
    dims.with_rank(c.shape(0), 1)
    return [(None, 2), (None,), (2,)]


op("StringSplit", f"input: string, delimiter: string -> {_PARTS}", _split_shape, skip_empty=True)
op("StringSplitV2", f"input: string, sep: string -> {_PARTS}", _split_shape, maxsplit=-1)


def _as_sparse(x: Any, split: Callable[[bytes], list[bytes]]) -> tuple[Any, Any, Any]:
    """The parts of each string as a row of a sparse matrix."""
    if x.ndim != 1:
        raise invalid(f"input must be a vector, got shape: {show_shape(x.shape)}")
    rows = [split(text) for text in x]
    places = [(i, j) for i, parts in enumerate(rows) for j in range(len(parts))]
    values = np.empty(len(places), object)
    values[:] = [part for parts in rows for part in parts]
    widest = max(map(len, rows), default=0)
    indices = np.array(places, np.int64).reshape(-1, 2)
    return indices, values, np.array([len(rows), widest], np.int64)


@kernel("StringSplit", device="CPU")
def string_split(xp: Any, x: Any, delimiter: Any, *, skip_empty: Any) -> Any:
    """Every byte of the delimiter separates; an empty one cuts between all bytes."""
    at = _scalar(delimiter, "delimiter must scalar")

    def split(text: bytes) -> list[bytes]:
        if not at:
            return [text[i : i + 1] for i in range(len(text))]
        spaced = text.translate(bytes.maketrans(at, at[:1] * len(at)))
        parts = spaced.split(at[:1]) if text else []
        return [p for p in parts if p] if skip_empty else parts

    return _as_sparse(x, split)


@kernel("StringSplitV2", device="CPU")
def string_split_v2(xp: Any, x: Any, sep: Any, *, maxsplit: Any) -> Any:
    """As Python's bytes.split; an empty separator means any white space."""
    between = _scalar(sep, "sep must be a scalar") or None
    return _as_sparse(x, lambda text: text.split(between, maxsplit))


def _scalar(x: Any, complaint: str) -> bytes:
    if x.ndim:
        raise invalid(f"{complaint}, got shape: {show_shape(x.shape)}")
    return x.reshape(1)[0]
