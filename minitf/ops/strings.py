"""Functions on strings (tf.strings and the old top-level names), and raw decoding."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitf.convert import constant, to_tensor
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops.apply import apply_op
from minitf.ops.arguments import renamed
from minitf.ops.raw import passthrough
from minitf.ops.reduction import range as range_op
from minitf.ops.shapes import rank
from minitf.sparse_tensor import SparseTensor
from minitf_runtime.types import float32, int32, string

__all__ = [
    "as_string",
    "decode_base64",
    "decode_raw",
    "encode_base64",
    "reduce_join",
    "regex_replace",
    "string_join",
    "string_split",
    "string_strip",
    "string_to_hash_bucket",
    "string_to_hash_bucket_fast",
    "string_to_hash_bucket_strong",
    "string_to_number",
    "substr",
]

encode_base64 = passthrough("EncodeBase64", "encode_base64")
decode_base64 = passthrough("DecodeBase64", "decode_base64")
string_strip = passthrough("StringStrip", "string_strip")
string_to_hash_bucket_fast = passthrough("StringToHashBucketFast", "string_to_hash_bucket_fast")
string_to_hash_bucket_strong = passthrough(
    "StringToHashBucketStrong", "string_to_hash_bucket_strong"
)
as_string = passthrough("AsString", "as_string")
lower = passthrough("StringLower", "lower")
upper = passthrough("StringUpper", "upper")


def decode_raw(
    input_bytes: Any = None,
    out_type: Any = None,
    little_endian: bool = True,
    name: str | None = None,
    bytes: Any = None,  # noqa: A002
) -> Tensor:
    """The bytes of strings as a last axis of numbers."""
    data = renamed("input_bytes", input_bytes, "bytes", bytes)
    if out_type is None:
        raise ValueError("decode_raw_v1() missing 1 positional argument: 'out_type'")
    return apply_op("DecodeRaw", data, out_type=out_type, little_endian=little_endian, name=name)


def string_join(inputs: Any, separator: str = "", name: str | None = None) -> Tensor:
    """The inputs joined element by element."""
    return apply_op("StringJoin", inputs, separator=separator, name=name)


def reduce_join(
    inputs: Any,
    axis: Any = None,
    keep_dims: bool | None = None,
    separator: str = "",
    name: str | None = None,
    reduction_indices: Any = None,
    keepdims: bool | None = None,
) -> Tensor:
    """Strings joined along axes (all, by default), in the order in which these are given."""
    keep = renamed("keepdims", keepdims, "keep_dims", keep_dims)
    axis = renamed("axis", axis, "reduction_indices", reduction_indices)
    with name_scope(None, "ReduceJoin", [inputs, axis]):
        x = to_tensor(inputs)
        if axis is None:
            axis = _axes_from_last(x)
        return apply_op("ReduceJoin", x, axis, keep_dims=keep, separator=separator, name=name)


def _axes_from_last(x: Tensor) -> Tensor:
    if x._shape is not None:
        return constant(np.arange(len(x._shape) - 1, -1, -1), int32)
    return range_op(rank(x) - 1, -1, -1)


# ---- splitting


def string_split(
    source: Any, sep: Any = None, skip_empty: bool = True, delimiter: Any = None,
    result_type: str = "SparseTensor", name: str | None = None,
) -> SparseTensor:  # fmt: skip
    """The parts between any of the separator's bytes, row by row."""
    between = renamed("sep", sep, "delimiter", delimiter)
    _only_sparse(result_type)
    with name_scope(name, "StringSplit", [source]):
        between = to_tensor(" " if between is None else between, string)
        source = to_tensor(source, string)
        return _parts(apply_op("StringSplit", source, between, skip_empty=skip_empty))


def split(
    input: Any = None, sep: Any = None, maxsplit: int = -1,  # noqa: A002
    result_type: str = "SparseTensor", source: Any = None, name: str | None = None,
) -> SparseTensor:  # fmt: skip
    """The parts between separators (any white space, by default), row by row."""
    text = renamed("input", input, "source", source)
    _only_sparse(result_type)
    with name_scope(name, "StringSplit", [text]):
        text = to_tensor(text, string, name="input")
        between = to_tensor("" if sep is None else sep, string)
        return _parts(apply_op("StringSplitV2", text, between, maxsplit=maxsplit))


def _only_sparse(result_type: str) -> None:
    if result_type == "RaggedTensor":
        raise NotImplementedError(
            "ragged tensors are not supported: use result_type='SparseTensor'"
        )
    if result_type != "SparseTensor":
        raise ValueError("result_type must be 'RaggedTensor' or 'SparseTensor'.")


def _parts(found: Any) -> SparseTensor:
    indices, values, dense_shape = found
    indices.set_shape([None, 2])
    values.set_shape([None])
    dense_shape.set_shape([2])
    return SparseTensor(indices, values, dense_shape)


# ---- regular expressions


def _is_text(value: Any) -> bool:
    return isinstance(value, (str, bytes))


def regex_replace(
    input: Any,  # noqa: A002
    pattern: Any,
    rewrite: Any,
    replace_global: bool = True,
    name: str | None = None,
) -> Tensor:
    """Each match (or the first one) replaced; the rewrite names groups as \\\\1."""
    every = replace_global
    if not (_is_text(pattern) and _is_text(rewrite)):
        return apply_op("RegexReplace", input, pattern, rewrite, replace_global=every, name=name)
    return apply_op(
        "StaticRegexReplace",
        input,
        pattern=_as_bytes(pattern),
        rewrite=_as_bytes(rewrite),
        replace_global=every,
        name=name,
    )


def regex_full_match(input: Any, pattern: Any, name: str | None = None) -> Tensor:  # noqa: A002
    """Whether the pattern matches the whole string."""
    if not _is_text(pattern):
        return apply_op("RegexFullMatch", input, pattern, name=name)
    return apply_op("StaticRegexFullMatch", input, pattern=_as_bytes(pattern), name=name)


def _as_bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


# ---- parts and numbers


def length(input: Any, name: str | None = None, unit: str = "BYTE") -> Tensor:  # noqa: A002
    """The number of bytes (or, by unit UTF8_CHAR, of characters)."""
    return apply_op("StringLength", input, unit=unit, name=name)


def substr(input: Any, pos: Any, len: Any, name: str | None = None, unit: str = "BYTE") -> Tensor:  # noqa: A002
    """`len` bytes (or characters) from `pos`; a negative pos counts from the end."""
    return apply_op("Substr", input, pos, len, unit=unit, name=name)


def string_to_number(
    string_tensor: Any = None,
    out_type: Any = float32,
    name: str | None = None,
    input: Any = None,  # noqa: A002
) -> Tensor:
    """The numbers that strings spell."""
    text = renamed("input", input, "string_tensor", string_tensor)
    return apply_op("StringToNumber", text, out_type=out_type, name=name)


def string_to_hash_bucket(
    string_tensor: Any = None,
    num_buckets: int | None = None,
    name: str | None = None,
    input: Any = None,  # noqa: A002
) -> Tensor:
    """A number below num_buckets for each string; prefer the fast variant."""
    text = renamed("input", input, "string_tensor", string_tensor)
    return apply_op("StringToHashBucket", text, num_buckets=num_buckets, name=name)


def format(  # noqa: A001
    template: str, inputs: Any, placeholder: str = "{}", summarize: int = 3, name: str | None = None
) -> Tensor:
    """The template with each placeholder replaced by a printed tensor."""
    values = [inputs] if isinstance(inputs, Tensor) else inputs
    count = template.count(placeholder)
    if count != len(values):
        raise ValueError(
            f"{count} placeholder(s) in template does not match {len(values)} tensor(s) provided "
            "as input"
        )
    return apply_op(
        "StringFormat",
        values,
        template=template,
        placeholder=placeholder,
        summarize=summarize,
        name=name,
    )
