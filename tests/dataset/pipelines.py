"""One-line datasets, and what TensorFlow 1.15.5 makes of them: ops, structure, elements, errors.

They are in tests/data/datasets/pipelines.txt. A Python that has TensorFlow 1.15 writes
recorded.json.gz anew: PYTHON tests/dataset/pipelines.py
"""

import gzip
import json
import re
import sys
import warnings
from pathlib import Path

import numpy as np

DATA = Path(__file__).parents[1] / "data" / "datasets"
MOST = 40  # elements


def programs():
    return [line for line in (DATA / "pipelines.txt").read_text().splitlines() if line]


def names(tf):
    """What a program may call."""
    return {
        "tf": tf,
        "np": np,
        "D": tf.data.Dataset,
        "X": tf.data.experimental,
        "x": np.arange(12, dtype=np.float32).reshape(6, 2),
        "files": [str(DATA / "lines.txt"), str(DATA / "more.txt")],
        "records": str(DATA / "two.tfrecord"),
        "fixed": str(DATA / "fixed.bin"),
    }


def plain(value):
    """An element as JSON can hold it."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if hasattr(value, "dense_shape"):
        return ["sparse", *(plain(v) for v in value)]
    if isinstance(value, tuple):
        return [plain(v) for v in value]
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, np.ndarray) and value.dtype == object:
        return [plain(v) for v in value.ravel().tolist()]
    return value.tolist() if hasattr(value, "tolist") else value


def failure(error):
    """Class and first line of an error, without what only TensorFlow adds."""
    text = str(error).split("\n")[0].split("}} ")[-1].replace(str(DATA), "DATA")
    text = re.sub(r"\[_Derived_\]|<class '.*\.", "", text).strip()
    return "%s: %s" % (type(error).__name__, text)


def described(op):
    """name | type | inputs | device | colocation | attributes, without names of functions."""
    groups = [g.decode() for g in op.colocation_groups()]
    attrs = []
    for key, value in sorted(op.node_def.attr.items()):
        if key not in ("_class", "value", "incompatible_shape_error"):
            text = "f" if value.WhichOneof("value") == "func" else " ".join(str(value).split())
            attrs.append("%s=%s" % (key, text))
    parts = op.name, op.type, " ".join(t.name for t in op.inputs), op.device
    return " | ".join([*parts, " ".join(g for g in groups if g != "loc:@" + op.name), *attrs])


def elements(tf, session, following):
    """What a pass gives, with its errors; at most some."""
    found = []
    while len(found) < MOST:
        try:
            found.append(plain(session.run(following)))
        except tf.errors.OutOfRangeError as e:
            return [*found, failure(e)]
        except tf.errors.OpError as e:
            found.append(failure(e))
            if "{{node" not in str(e):
                return found
    return found


def outcome(tf, program, one_shot):
    """All that a program makes, in a graph of its own: with one kind of iterator."""
    with tf.Graph().as_default() as graph, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tf.set_random_seed(3)
        try:
            dataset = eval(program, names(tf))
            if one_shot:
                iterator = tf.compat.v1.data.make_one_shot_iterator(dataset)
            else:
                iterator = tf.compat.v1.data.make_initializable_iterator(dataset)
        except Exception as e:
            return [failure(e)]
        following = iterator.get_next()
        nodes = [described(op) for op in graph.get_operations()]
        passes = []
        with tf.Session() as session:
            for _ in range(1 if one_shot else 2):
                try:
                    session.run([] if one_shot else iterator.initializer)
                except tf.errors.OpError as e:
                    passes.append(failure(e))
                    continue
                passes.append(elements(tf, session, following))
        return {"is": repr(dataset).split(" ", 1)[1], "nodes": nodes, "passes": passes}


def recorded():
    with gzip.open(str(DATA / "recorded.json.gz")) as f:
        return json.loads(f.read().decode())


def main():
    import tensorflow as tf

    made = {p: [outcome(tf, p, False), outcome(tf, p, True)] for p in programs()}
    text = re.sub(re.escape(str(DATA)), "DATA", json.dumps(made, sort_keys=True, indent=0))
    (DATA / "recorded.json.gz").write_bytes(gzip.compress(text.encode(), 9))


if __name__ == "__main__":
    sys.exit(main())
