"""tf.Assert, tf.Print and tf.print: ops that look at values while the graph runs."""

from __future__ import annotations

import logging
import os
import pprint
import random
import sys
from collections.abc import Sequence
from typing import Any

from minitf import nest
from minitf.convert import to_tensor, to_tensors
from minitf.default import name_scope
from minitf.operation import Operation, Tensor
from minitf.ops.apply import apply_op
from minitf.ops.control_flow import cond
from minitf.ops.group import no_op
from minitf.ops.raw import passthrough
from minitf.sparse_tensor import SparseTensor
from minitf.variables.base import Variable
from minitf_runtime.types import int32, string

__all__ = ["Assert", "Print", "print", "timestamp"]

timestamp = passthrough("Timestamp", "timestamp")


def Assert(  # noqa: N802
    condition: Any, data: Sequence[Any], summarize: int | None = None, name: str | None = None
) -> Operation:
    """An op that fails with the data unless the condition holds (TF: Assert).

    Data that could lie on a GPU is looked at only when the condition does not hold.
    """
    with name_scope(name, "Assert", [condition, data]):
        tensors = to_tensors(list(data))
        if all(t.dtype in (string, int32) for t in tensors):
            return _assert(condition, data, summarize)
        condition = to_tensor(condition, name="Condition")
        guarded = cond(
            condition, no_op, lambda: _assert(condition, data, summarize), name="AssertGuard"
        )
        return guarded.op  # type: ignore[no-any-return]


def _assert(condition: Any, data: Sequence[Any], summarize: int | None) -> Operation:
    return apply_op(  # type: ignore[no-any-return]
        "Assert", condition, list(data), summarize=summarize, name="Assert"
    )


def Print(  # noqa: N802
    input_: Any,
    data: Sequence[Any],
    message: str | None = None,
    first_n: int | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Tensor:
    """input_, printing the data to standard error whenever it passes."""
    return apply_op(  # type: ignore[no-any-return]
        "Print", input_, data, message=message, first_n=first_n, summarize=summarize, name=name
    )


# ---- tf.print


def print(*inputs: Any, **kwargs: Any) -> Operation:  # noqa: A001
    """An op that prints values and tensors (TF: print).

    Keywords: output_stream (sys.stdout, sys.stderr, a logging function or level, or a path as
    "file://..."), summarize, sep, end, name. Raises ValueError for others.
    """
    stream = _stream_name(kwargs.pop("output_stream", sys.stderr))
    name = kwargs.pop("name", None)
    summarize = kwargs.pop("summarize", 3)
    sep = kwargs.pop("sep", " ")
    end = kwargs.pop("end", os.linesep)
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments for tf.print: {kwargs}")
    if len(inputs) == 1 and _is_text(inputs[0]):
        text = inputs[0]
    else:
        text = _formatted(inputs, sep, summarize, name and name + "_format")
    return apply_op("PrintV2", text, output_stream=stream, name=name, end=end)  # type: ignore


def _is_text(value: Any) -> bool:
    return isinstance(value, Tensor) and value.shape.ndims == 0 and value.dtype is string


def _stream_name(stream: Any) -> str:
    if isinstance(stream, str) and stream.startswith("file://"):
        return stream
    if stream is sys.stdout or stream is sys.stderr:
        return "stdout" if stream is sys.stdout else "stderr"
    level = _LEVELS.get(_level_name(stream))
    if level is None:
        raise ValueError(
            f"Unsupported output stream, logging level, or file.{stream}. Supported streams are "
            "sys.stdout, sys.stderr, tf.logging.info, tf.logging.warning, tf.logging.error. "
            "File needs to be in the form of 'file://<filepath>'."
        )
    return f"log({level})"


_LEVELS = {"info": "info", "warn": "warning", "warning": "warning", "error": "error"}


def _level_name(stream: Any) -> str:
    """The name of a logging function, or of a level as a number."""
    if isinstance(stream, int):
        return logging.getLevelName(stream).lower()
    return getattr(stream, "__name__", "")


def _is_tensor(value: Any) -> bool:
    return isinstance(value, (Tensor, SparseTensor, Variable))


def _formatted(inputs: Any, sep: str, summarize: int, name: str | None) -> Tensor:
    """The values as one string tensor."""
    texts = nest.map_structure(lambda x: "" if _is_tensor(x) else x, list(inputs))
    mark = _placeholder(" ".join(pprint.pformat(x) for x in texts))
    tensors: list[Any] = []
    templates = [_template(value, mark, tensors) for value in inputs]
    template = sep.join(templates).replace(f"'{mark}'", mark)
    return string_format(template, tensors, mark, summarize, name)


def _template(value: Any, mark: str, tensors: list[Any]) -> str:
    """A value's text, with marks for its tensors, which are added to the list."""
    if isinstance(value, str):
        return value
    marked = []
    for x in nest.flatten(value):
        if isinstance(x, SparseTensor):
            tensors += [x.indices, x.values, x.dense_shape]
            marked.append(f"SparseTensor(indices={mark}, values={mark}, shape={mark})")
        elif _is_tensor(x):
            tensors.append(x)
            marked.append(mark)
        else:
            marked.append(x)
    return pprint.pformat(nest.pack_sequence_as(value, marked))


def _placeholder(text: str) -> str:
    """A mark that the text does not contain."""
    mark = "{}"
    numbers = random.Random(5)  # the same marks in every process
    while mark in text:
        mark += str(numbers.randint(0, 9))
    return mark


def string_format(
    template: str,
    inputs: Any,
    placeholder: str = "{}",
    summarize: int = 3,
    name: str | None = None,
) -> Tensor:
    """The template with the text of each tensor at a placeholder (TF: strings.format)."""
    if isinstance(inputs, Tensor):
        inputs = [inputs]
    places = template.count(placeholder)
    if places != len(inputs):
        raise ValueError(
            f"{places} placeholder(s) in template does not match {len(inputs)} tensor(s) provided "
            "as input"
        )
    return apply_op(  # type: ignore[no-any-return]
        "StringFormat", inputs, template=template, placeholder=placeholder, summarize=summarize,
        name=name,
    )  # fmt: skip
