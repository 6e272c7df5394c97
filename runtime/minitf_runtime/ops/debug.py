"""Ops for looking at a running graph: assertions, printing, formatting, and the time."""

from __future__ import annotations

import itertools
import sys
import time
from typing import Any

import numpy as np

from minitf_runtime.errors import invalid
from minitf_runtime.ops import dims
from minitf_runtime.ops.registry import (
    Attr,
    ShapeContext,
    Type,
    Types,
    kernel,
    no_outputs,
    op,
    scalar,
    unchanged,
)
from minitf_runtime.ops.summarize import summarize as shorten
from minitf_runtime.ops.summarize import summarize_ends
from minitf_runtime.types import Shape, merge_shapes, show_shape

# ---- Assert


@op("Assert", "condition: bool, data: T ->", stateful=True, T=Types(minimum=1), summarize=3)
def assert_shape(c: ShapeContext) -> list[Shape]:
    """Fails unless the condition holds, telling the data."""
    c.rank(0, 0)
    return []


@kernel("Assert", host_inputs="condition data")
def assert_kernel(xp: Any, condition: Any, data: Any, *, summarize: int) -> None:
    if np.ndim(condition):
        raise invalid(f"In[0] should be a scalar: {show_shape(np.shape(condition))}")
    if not condition:
        shown = " ".join(f"[{shorten(x, summarize)}]" for x in data)
        raise invalid(f"assertion failed: {shown}")


@op("EnsureShape", "input: T -> output: T", T=Type(), shape=Attr("shape"))
def ensure_shape_shape(c: ShapeContext) -> list[Shape]:
    """Its input, which must have a shape that fits."""
    return [dims.merge(c.shape(0), c["shape"])]


@kernel("EnsureShape")
def ensure_shape(xp: Any, x: Any, *, shape: Shape) -> Any:
    try:
        merge_shapes(x.shape, shape)
    except ValueError:
        raise invalid(
            f"Shape of tensor {show_shape(x.shape)} is not compatible with expected shape "
            f"{show_shape(shape)}."
        ) from None
    return x


# ---- printing


op(
    "Print",
    "input: T, data: U -> output: T",
    unchanged,
    stateful=True,
    T=Type(),
    U=Types(),
    message="",
    first_n=-1,
    summarize=3,
)


@kernel("Print", host_inputs="data")
def print_kernel(
    xp: Any, x: Any, data: Any, *, message: str, first_n: int, summarize: int, node: Any
) -> Any:
    """Passes on its input and prints the data, the first `first_n` times."""
    if first_n < 0 or next(node.keep(itertools.count)) < first_n:
        shown = "".join(f"[{shorten(d, summarize)}]" for d in data)
        print(f"{message}{shown}", file=sys.stderr, flush=True)
    return x


op("PrintV2", "input: string ->", no_outputs, stateful=True, output_stream="stderr", end="\n")
_LOG_LEVELS = {"log(info)": "I", "log(warning)": "W", "log(error)": "E"}


@kernel("PrintV2", host_inputs="input")
def print_v2(xp: Any, text: Any, *, output_stream: str, end: str) -> None:
    if np.ndim(text):
        raise invalid(f"Input is expected to be scalar, but got {show_shape(np.shape(text))}")
    line = np.asarray(text, object).item().decode(errors="replace") + end
    if output_stream.startswith("file://"):
        with open(output_stream[len("file://") :], "a", encoding="utf-8") as file:
            file.write(line)
    elif output_stream in _LOG_LEVELS:
        print(f"{_LOG_LEVELS[output_stream]} {line}", file=sys.stderr, flush=True)
    elif output_stream in ("stdout", "stderr"):
        print(line, end="", file=getattr(sys, output_stream), flush=True)
    else:
        raise invalid(f"Unknown output stream: {output_stream}")


@op(
    "StringFormat",
    "inputs: T -> output: string",
    T=Types(),
    template="%s",
    placeholder="%s",
    summarize=3,
)
def string_format_shape(c: ShapeContext) -> list[Shape]:
    """The template with a placeholder for each input, replaced by its text."""
    places = c["template"].count(c["placeholder"])
    if places != len(c.shapes):
        raise ValueError(
            f"Num placeholders in template and num inputs must match: {places} vs {len(c.shapes)}"
        )
    return [()]


@kernel("StringFormat", host_inputs="inputs", host_outputs="output")
def string_format(xp: Any, inputs: Any, *, template: str, placeholder: str, summarize: int) -> Any:
    between = template.split(placeholder)
    shown = [summarize_ends(x, summarize) for x in inputs]
    text = between[0] + "".join(s + t for s, t in zip(shown, between[1:]))
    out = np.empty((), object)
    out[()] = text.encode()
    return out


# ---- the time


op("Timestamp", "-> ts: float64", scalar, stateful=True)


@kernel("Timestamp", host_outputs="ts")
def timestamp(xp: Any) -> Any:
    """Seconds since 1970."""
    return np.float64(time.time())
