"""Graphs and values of functions of slices and of templates, recorded from TensorFlow 1.15.5.

TF=tensorflow PYTHONPATH=tests python tests/data/functional/record.py > graphs.json.gz
"""

import collections

import numpy as np

from recording import main, nodes

MATRIX = np.arange(6, dtype=np.float32).reshape(3, 2)


def unknown(tf, value):
    return tf.placeholder_with_default(value, [None] * value.ndim)


def weighted(tf, x):
    w = tf.get_variable("w", [2], initializer=tf.constant_initializer(2.0))
    return x * w


def map_fn(tf):
    return tf.map_fn(lambda x: x * x, tf.constant(MATRIX))


def map_fn_of_unknown_length(tf):
    return tf.map_fn(tf.square, unknown(tf, MATRIX), parallel_iterations=1, back_prop=False)


def map_fn_of_a_structure(tf):
    def fn(s):
        return {"d": s[0] - s[1]["b"], "s": (s[0], tf.cast(s[1]["b"], tf.int32))}

    elems = (tf.constant([1.0, 2.0]), {"b": tf.constant([5.0, 7.0])})
    dtype = {"d": tf.float32, "s": (tf.float32, tf.int32)}
    return tf.map_fn(fn, elems, dtype=dtype, name="each")


def map_fn_of_arrays(tf):
    return tf.map_fn(lambda x: x[0] * x[1], (np.arange(3), np.arange(3) + 1), dtype=tf.int64)


def map_fn_of_shapes_that_differ(tf):
    return tf.map_fn(
        lambda i: tf.ones([i]), tf.constant([1, 1]), dtype=tf.float32, infer_shape=False
    )


def map_fn_with_a_variable(tf):
    with tf.variable_scope("layer"):
        return tf.map_fn(lambda x: weighted(tf, x), tf.constant(MATRIX), swap_memory=True)


def gradient_of_map_fn(tf):
    x = tf.constant(MATRIX)
    return tf.gradients(tf.map_fn(lambda v: weighted(tf, v * v), x), x)[0]


def scan(tf):
    return tf.scan(lambda a, x: a * x + 1.0, tf.constant(MATRIX))


def scan_backwards(tf):
    return tf.scan(lambda a, x: a * x + 1.0, tf.constant(MATRIX), reverse=True)


def scan_with_initializer(tf):
    start = (np.array(0), np.array(1))
    return tf.scan(lambda a, _: (a[1], a[0] + a[1]), np.zeros(6, np.int32), start)


def scan_of_unknown_length(tf):
    return tf.scan(
        lambda a, x: a + x,
        unknown(tf, np.float32([1, 2, 3])),
        10.0,
        reverse=True,
        infer_shape=False,
    )


def gradient_of_scan(tf):
    x = tf.constant([1.0, 2.0, 3.0])
    return tf.gradients(tf.scan(lambda a, v: a * v, x, 2.0), x)[0]


def foldl(tf):
    return tf.foldl(lambda a, x: a * 2.0 + x, tf.constant(MATRIX))


def foldl_with_initializer(tf):
    return tf.foldl(lambda a, x: (a + x) * 2, unknown(tf, np.int32([1, 2, 3])), 10, name="fold")


def foldl_of_a_structure(tf):
    elems = [tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])]
    return tf.foldl(lambda a, x: [a[0] + x[1], a[1] * x[0]], elems)


def foldr(tf):
    return tf.foldr(lambda a, x: a * 2.0 + x, tf.constant(MATRIX))


def foldr_with_initializer(tf):
    return tf.foldr(lambda a, x: (a + x) * 2, unknown(tf, np.int32([1, 2, 3])), tf.constant(10))


def gradient_of_foldr(tf):
    x = tf.constant([1.0, 2.0, 3.0])
    return tf.gradients(tf.foldr(lambda a, v: a * v, x, 2.0), x)[0]


def template(tf):
    scale = tf.make_template("scale", lambda x, by: weighted(tf, x) * by, by=3.0)
    with tf.variable_scope("outer"):
        first = scale(tf.constant([1.0, 2.0]))
    with tf.name_scope("again"):
        return first, scale(tf.constant([3.0, 4.0]))


def template_with_scope(tf):
    with tf.variable_scope("outer"):
        scale = tf.make_template("scale", lambda x: weighted(tf, x), create_scope_now_=True)
        other = tf.make_template("scale", lambda x: weighted(tf, x), create_scope_now_=True)
    return scale(tf.constant([1.0, 2.0])), scale(tf.constant([3.0])), other(tf.constant([1.0]))


def template_with_getter(tf):
    def doubled(getter, *args, **kwargs):
        return getter(*args, **kwargs) * 2.0

    with tf.variable_scope("outer"):
        scale = tf.make_template(
            "scale", lambda x: weighted(tf, x), unique_name_="mine", custom_getter_=doubled
        )
        return scale(tf.constant([1.0, 2.0]))


def case_of_one(tf):
    return tf.case([(tf.constant(True), lambda: tf.constant(1.0))])


def cond_of_a_variable_that_it_assigns(tf):
    v = tf.get_variable("v", initializer=True)
    return tf.cond(v, lambda: tf.assign(v, False), lambda: True)


def cond_of_a_single_named_tuple(tf):
    result = collections.namedtuple("result", "a")
    x = tf.constant(1.0)
    return tf.cond(x > 0, lambda: result(x), lambda: result(-x))


PROGRAMS = {
    f.__name__: f
    for f in list(globals().values())
    if callable(f) and f.__module__ == __name__ and f not in (unknown, weighted)
}


def run(tf, program):
    """The graph of a program, the names and static shapes of its results, and their values."""
    with tf.Graph().as_default() as graph, tf.Session() as session:
        flat = tf.nest.flatten(program(tf))
        said = ["%s %s" % (t.name, t.shape) for t in flat]
        built = nodes(graph)
        session.run(tf.global_variables_initializer())
        return {"said": said, "nodes": built, "values": [v.tolist() for v in session.run(flat)]}


if __name__ == "__main__":
    main(PROGRAMS, run)
