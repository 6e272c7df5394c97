"""Strings as tensors: rows of comma-separated values, compressed strings, serialised tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import minitf_runtime.ops.decoding  # noqa: F401  (declares them)
from minitf.operation import Tensor
from minitf.ops.apply import apply_op
from minitf.ops.raw import passthrough

__all__ = ["decode_compressed", "decode_csv", "parse_tensor", "serialize_tensor"]

decode_compressed = passthrough("DecodeCompressed", "decode_compressed")
parse_tensor = passthrough("ParseTensor", "parse_tensor")
serialize_tensor = passthrough("SerializeTensor", "serialize_tensor")


def decode_csv(
    records: Any,
    record_defaults: Sequence[Any],
    field_delim: str = ",",
    use_quote_delim: bool = True,
    name: str | None = None,
    na_value: str = "",
    select_cols: Sequence[int] | None = None,
) -> list[Tensor]:
    """The columns of rows. Raises ValueError for columns that are selected out of order."""
    if select_cols is not None:
        if any(a >= b for a, b in zip(select_cols, select_cols[1:])):
            raise ValueError("select_cols is not strictly increasing.")
        if select_cols[0] < 0:
            raise ValueError("select_cols contains negative values.")
        if len(select_cols) != len(record_defaults):
            raise ValueError("Length of select_cols and record_defaults do not match.")
    return apply_op(  # type: ignore[no-any-return]
        "DecodeCSV", records, record_defaults, field_delim=field_delim,
        use_quote_delim=use_quote_delim, na_value=na_value, select_cols=select_cols, name=name,
    )  # fmt: skip
