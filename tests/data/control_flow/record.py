"""Graphs with loops and conditionals that are exchanged with a real TensorFlow 1.15: built here or
there, imported and differentiated here and there.

PYTHONPATH=. TF=tensorflow python record.py recorded.zip
"""

import importlib
import json
import os
import sys
import tempfile
import zipfile


def inputs(tf):
    x = tf.constant(2.0, name="x")
    c = tf.constant([1.0, 2.0], name="c")
    return x, c, tf.placeholder_with_default(True, [], name="p")


def loop(tf):
    x, c, _ = inputs(tf)
    return tf.while_loop(
        lambda i, a: i < 3,
        lambda i, a: (i + 1, a * x + tf.reduce_sum(c)),
        [0, x],
        swap_memory=True,
        parallel_iterations=4,
    )[1]


def bounded(tf):
    x, c, _ = inputs(tf)
    y = tf.while_loop(lambda a: a < 100, lambda a: a * x, [c[1]], maximum_iterations=5)
    return y * c[0]


def nested(tf):
    x, c, _ = inputs(tf)

    def body(i, a):
        return i + 1, tf.while_loop(lambda j, b: j < i, lambda j, b: (j + 1, b * x), [0, a])[1]

    return tf.while_loop(lambda i, a: i < 4, body, [0, c[1]])[1] * c[0]


def branches(tf):
    x, c, p = inputs(tf)

    def inner():
        return x * tf.cond(x > c[0], lambda: x * c[1], lambda: x + 1)

    return tf.cond(p, inner, lambda: c[0] * x)


def cond_in_loop(tf):
    x, c, p = inputs(tf)

    def body(i, a):
        even = tf.logical_and(p, tf.equal(i % 2, 0))
        return i + 1, tf.cond(even, lambda: a * x, lambda: a + c[1])

    return tf.while_loop(lambda i, a: i < 4, body, [0, x])[1]


def loop_in_cond(tf, with_gradients=False):
    x, c, p = inputs(tf)

    def repeated():
        return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x), [0, c[1]])[1]

    y = tf.cond(p, repeated, lambda: x * c[0])
    if with_gradients:
        tf.gradients(y, x)
    return y


def arrays(tf):
    x, c, _ = inputs(tf)
    read = tf.TensorArray(tf.float32, 2).unstack(c)
    write = tf.TensorArray(tf.float32, 2)
    _, state, write = tf.while_loop(
        lambda i, *_: i < 2,
        lambda i, s, w: (i + 1, tf.tanh(s + read.read(i)), w.write(i, s)),
        [0, x * 0.1, write],
    )
    return tf.reduce_sum(write.stack()) + state


def differentiated(tf):
    """Its own gradients are in the graph already: the loop has been added to."""
    return loop_in_cond(tf, with_gradients=True)


MODELS = {
    f.__name__: f
    for f in (
        loop, bounded, nested, branches, cond_in_loop, loop_in_cond, arrays, differentiated
    )
}  # fmt: skip


def build(tf, name, path, scope=None):
    """Builds a graph and writes its meta graph; under a scope, only that is exported."""
    with tf.Graph().as_default():
        with tf.name_scope(scope):
            tf.identity(MODELS[name](tf), name="y")
        tf.train.export_meta_graph(path, export_scope=scope)


def run(tf, path, scope=None):
    """Imports a graph and differentiates y: y, dy/dx and dy/dc, for both values of p."""
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(path, import_scope=scope)
        before = scope + "/" if scope else ""
        x, c, p, y = (graph.get_tensor_by_name(before + n + ":0") for n in ("x", "c", "p", "y"))
        wanted = [y, *tf.gradients(y, [x, c])]
        with tf.Session() as session:
            runs = [session.run(wanted, {p: choice}) for choice in (True, False)]
        return [[value.tolist() for value in values] for values in runs]


def main(target):
    tf = importlib.import_module(os.environ["TF"])
    with tempfile.TemporaryDirectory() as directory:
        done = {}
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in MODELS:
                file = os.path.join(directory, name + ".meta")
                build(tf, name, file)
                done[name] = run(tf, file)
                archive.write(file, name + ".meta")
            archive.writestr("runs.json", json.dumps(done, sort_keys=True))


if __name__ == "__main__":
    main(sys.argv[1])
