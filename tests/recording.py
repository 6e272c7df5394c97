"""Programs that build graphs, run on a real TensorFlow 1.15 once and on minitf in the tests.

A program is a function of the module `tf` that returns what it saw as a list of strings; `record`
adds the nodes of the graph that it built. Runs on Python 3.7, too.
"""

import gzip
import importlib
import json
import os
import sys

import numpy as np


def outcome(call):
    """What a call gives: the name or text of its result, or its error."""
    try:
        result = call()
    except Exception as e:
        return "%s: %s" % (type(e).__name__, str(e).split(" Originally defined at")[0][:160])
    return getattr(result, "name", None) or str(result)


def names(values):
    return " ".join(v.name for v in values)


def nodes(graph):
    return [describe(op) for op in graph.get_operations()]


def describe(op):
    """name | type | inputs | control inputs | requested device | colocation groups"""
    groups = [g.decode() for g in op.colocation_groups()]
    return " | ".join(
        [
            op.name,
            op.type,
            " ".join(t.name for t in op.inputs),
            " ".join(sorted("^" + c.name for c in op.control_inputs)),
            op.device,
            " ".join(g for g in groups if g != "loc:@" + op.name),
        ]
    )


def record(tf, program):
    """What a program says and builds in a new graph."""
    with tf.Graph().as_default() as graph:
        said = [str(line) for line in program(tf) or ()]
        return {"said": said, "nodes": nodes(graph)}


def evaluate(tf, program):
    """The numbers that the tensors of a program have in a new session, after two runs of an op.

    The program gives the tensors, the op (or None) and what to feed.
    """
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        fetches, op, feeds = program(tf)
        session.run(tf.global_variables_initializer())
        for _ in range(2 if op is not None else 0):
            session.run(op, feeds)
        return [value.tolist() for value in session.run(fetches, feeds)]


def main(programs, run=record):
    """TF=tensorflow python record.py > graphs.json.gz"""
    tf = importlib.import_module(os.environ["TF"])
    done = {name: run(tf, program) for name, program in programs.items()}
    sys.stdout.buffer.write(gzip.compress(json.dumps(done, sort_keys=True).encode(), 9))


def load(path):
    with gzip.open(str(path)) as f:
        return json.loads(f.read().decode())


def check_same(got, wanted):
    """That a program says, builds and computes what was recorded."""
    assert got["said"] == wanted["said"]
    assert got["nodes"] == wanted["nodes"]
    assert len(got["values"]) == len(wanted["values"])
    for value, known in zip(got["values"], wanted["values"]):
        np.testing.assert_allclose(value, known, rtol=2e-4, atol=2e-5)
