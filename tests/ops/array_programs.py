"""One-line programs on arrays, strings and numbers; what TensorFlow 1.15.5 makes of them.

The programs are in tests/data/arrays and tests/data/math: those of graphs.txt are compared by the
ops that they make, those of values.txt by their static shapes, values and errors. A Python that has
TensorFlow 1.15 writes recorded.json.gz anew: PYTHON tests/ops/array_programs.py arrays math
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

DATA = Path(__file__).parents[1] / "data"
FOLDERS = ("arrays", "math")


def programs(folder: str, name: str) -> list[str]:
    return [line for line in (DATA / folder / f"{name}.txt").read_text().splitlines() if line]


def names(tf: Any) -> dict[str, Any]:
    """What a program may call, besides tf and np."""
    return {
        "tf": tf,
        "np": np,
        "placed": lambda shape=None, dtype=tf.float32: tf.placeholder(dtype, shape, "p"),
        "count": lambda shape=None: tf.placeholder(tf.int32, shape, "i"),
        "unknown": lambda value, shape=None: tf.placeholder_with_default(np.array(value), shape),
        "x": tf.constant([[1, 2, 3], [4, 5, 6]], name="x"),
    }


def failure(error: Exception) -> str:
    """Class and first line of an error, without what only TensorFlow adds."""
    text = str(error).split("\n")[0].split(" and with ")[0].split(", error: ")[0]
    text = text.replace("bfloat16, ", "")
    return f"{type(error).__name__}: {text.rstrip('.')}"


def graph_of(tf: Any, program: str) -> list[str]:
    """The ops that a program makes, a line for each, and its error."""
    out = []
    with tf.Graph().as_default() as graph:
        try:
            eval(program, names(tf))
        except Exception as error:
            out.append(failure(error))
        for op in graph.get_operations():
            if op.name not in ("p", "i", "x"):
                out.append(line_of(op))
    return out


def line_of(op: Any) -> str:
    inputs = [t.name for t in op.inputs] + ["^" + c.name for c in op.control_inputs]
    shapes = [None if t.shape.ndims is None else t.shape.as_list() for t in op.outputs]
    types = [t.dtype.name for t in op.outputs]
    masks = [op.get_attr(a) for a in sorted(op.node_def.attr) if a.endswith("_mask")]
    return f"{op.name} {op.type} {inputs} {types} {shapes} {masks or ''}".rstrip()


def values_of(tf: Any, program: str, config: Any = None) -> list[Any]:
    """Static shapes and values of what a program returns, or its error."""
    with tf.Graph().as_default():
        try:
            made = eval(program, names(tf))
            tensors = list(made) if isinstance(made, (list, tuple)) else [made]
            shapes = [None if t.shape.ndims is None else t.shape.as_list() for t in tensors]
        except Exception as error:
            return [failure(error)]
        try:
            with tf.Session(config=config) as session:
                results = session.run(tensors)
        except Exception as error:
            return [shapes, failure(error)]
    return [shapes, [plain(r) for r in results]]


def plain(value: Any) -> Any:
    """A result as JSON holds it."""
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, complex):
        return [value.real, value.imag]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def recorded(folder: str) -> dict[str, dict[str, Any]]:
    return json.loads(gzip.decompress((DATA / folder / "recorded.json.gz").read_bytes()))


def record(folder: str) -> None:
    import tensorflow as tf

    config = tf.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    config.graph_options.optimizer_options.opt_level = -1
    out = {
        "graphs": {p: graph_of(tf, p) for p in programs(folder, "graphs")},
        "values": {p: values_of(tf, p, config) for p in programs(folder, "values")},
    }
    text = json.dumps(out, indent=0, sort_keys=True)
    (DATA / folder / "recorded.json.gz").write_bytes(gzip.compress(text.encode()))


if __name__ == "__main__":
    for folder in sys.argv[1:]:
        record(folder)
