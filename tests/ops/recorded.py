"""What TensorFlow 1.15 gave for the cases of test_table.py, and how it declares their ops.

`PYTHONPATH=tests PYTHON tests/ops/recorded.py` records both anew in tests/data, with a Python that
has TensorFlow 1.15. A case whose inputs have changed since counts as not recorded.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

DATA = Path(__file__).parents[1] / "data"
RESULTS = DATA / "op_results.json.gz"
DEFINITIONS = DATA / "op_definitions.json.gz"
_loaded: dict = {}


def load(file: Path) -> dict:
    """What a file of records holds."""
    if file not in _loaded:
        _loaded[file] = json.loads(gzip.decompress(file.read_bytes()))
    return _loaded[file]


def save(file: Path, value: dict) -> None:
    rows = (f"{json.dumps(k)}: {json.dumps(v)}" for k, v in sorted(value.items()))
    text = "{\n" + ",\n".join(rows) + "\n}\n"
    with gzip.GzipFile(file, "wb", mtime=0) as out:
        out.write(text.encode())


def key(op: str, i: int, arrays: list) -> str:
    """The name of a case's results: changes with its inputs."""
    digest = hashlib.sha1()
    for x in arrays:
        digest.update(repr((x.dtype.str, x.shape, x.tolist())).encode())
    return f"{op}.{i}.{digest.hexdigest()[:8]}"


def results_of(op: str, i: int, arrays: list) -> Any:
    """The recorded outputs of a case, or None."""
    found = load(RESULTS).get(key(op, i, arrays))
    return None if found is None else [unpacked(*row) for row in found]


def packed(x: np.ndarray) -> list:
    """An array as type, shape and plain values."""
    if x.dtype == object:
        return ["O", x.shape, [v.decode("latin-1") for v in x.ravel()]]
    flat = x.ravel()
    if x.dtype.kind == "c":
        flat = flat.view(flat.real.dtype)
    return [x.dtype.str, x.shape, flat.tolist()]


def unpacked(dtype: str, shape: list, values: list) -> np.ndarray:
    if dtype == "O":
        out = np.empty(len(values), object)
        out[:] = [v.encode("latin-1") for v in values]
        return out.reshape(shape)
    kind = np.dtype(dtype)
    parts = np.array(values, kind.type(0).real.dtype if kind.kind == "c" else kind)
    return parts.view(kind).reshape(shape)


# ---- recording


def record() -> None:
    import tensorflow as tf

    from ops.cases import every

    library = _Library(tf)
    results = {}
    for op, cases in every("CASES").items():
        for i, case in enumerate(cases):
            if "recorded" not in case.skipped:
                _record_case(tf, library, op, i, case, results)
    save(RESULTS, results)
    save(DEFINITIONS, library.definitions())


def _record_case(tf: Any, library: _Library, op: str, i: int, case: Any, results: dict) -> None:
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.opt_level = -1
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        try:
            outputs = session.run(library.make(op, case).outputs)
        except Exception as error:
            print(op, i, str(error).split("\n")[0])
            return
    arrays = [x for v in case.inputs for x in (v if isinstance(v, list) else [v])]
    results[key(op, i, arrays)] = [
        packed(np.array(r, object) if isinstance(r, bytes) else np.asarray(r)) for r in outputs
    ]


class _Library:
    """TensorFlow's ops by the names of their declarations."""

    def __init__(self, tf: Any) -> None:
        from tensorflow.core.framework import op_def_pb2
        from tensorflow.python import pywrap_tensorflow
        from tensorflow.python.framework import op_def_library

        _ = tf.contrib.seq2seq.gather_tree  # loads the one op that is not in the core library
        ops = op_def_pb2.OpList()
        ops.ParseFromString(pywrap_tensorflow.TF_GetBuffer(pywrap_tensorflow.TF_GetAllOpList()))
        self.tf = tf
        self.defs = {op.name: op for op in ops.op}
        self.library = op_def_library.OpDefLibrary()
        self.library.add_op_list(ops)

    def make(self, op: str, case: Any) -> Any:
        """The op of a case."""
        constant = self.tf.constant
        inputs = [
            [constant(x) for x in v] if isinstance(v, list) else constant(v) for v in case.inputs
        ]
        declared = self.defs[op]
        values = {attr.name: None for attr in declared.attr}  # None: the default
        values.update(case.attrs)
        for arg in declared.input_arg:
            for told in (arg.type_attr, arg.number_attr, arg.type_list_attr):
                values.pop(told, None)
        values.update(zip((arg.name for arg in declared.input_arg), inputs))
        return self.library._apply_op_helper(op, **values)[-1]

    def definitions(self) -> dict:
        """All ops: inputs, outputs, attributes (kind, default, allowed), state, gradient."""
        return {name: self._definition(op) for name, op in self.defs.items()}

    def _definition(self, op: Any) -> dict:
        from tensorflow.python.framework.ops import _gradient_registry

        known = _gradient_registry._registry.get(op.name)
        gradient = "missing" if known is None else "none" if known["type"] is None else "some"
        return {
            "inputs": [self._arg(a) for a in op.input_arg],
            "outputs": [self._arg(a) for a in op.output_arg],
            "attrs": {a.name: self._attr_definition(a) for a in op.attr},
            "stateful": op.is_stateful,
            "gradient": gradient,
        }

    def _arg(self, arg: Any) -> str:
        text = arg.type_list_attr or arg.type_attr or self.tf.as_dtype(arg.type).name
        if arg.is_ref:
            text = f"Ref({text})"
        return f"{arg.name}: {arg.number_attr + ' * ' if arg.number_attr else ''}{text}"

    def _attr_definition(self, attr: Any) -> dict:
        out: dict = {"kind": attr.type}
        if attr.HasField("default_value"):
            out["default"] = self._value(attr.default_value)
        if attr.HasField("allowed_values"):
            out["allowed"] = self._value(attr.allowed_values)
        if attr.has_minimum:
            out["minimum"] = attr.minimum
        return out

    def _value(self, value: Any) -> Any:
        kind = value.WhichOneof("value")
        if kind == "type":
            return self.tf.as_dtype(value.type).name
        if kind in ("i", "f", "b"):
            return getattr(value, kind)
        if kind == "s":
            return value.s.decode("latin-1")
        if kind == "list":
            items = value.list
            texts = [self.tf.as_dtype(t).name for t in items.type]
            return texts + [s.decode("latin-1") for s in items.s] + [*items.i, *items.f, *items.b]
        return kind


if __name__ == "__main__":
    record()
