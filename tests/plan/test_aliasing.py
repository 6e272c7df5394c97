"""Whose memory is whose, with and without passes: no fetched or fed array changes by itself, and
what a caller does to one changes nothing inside."""

from __future__ import annotations

import numpy as np
import pytest

import minitf as tf

PLAIN = tf.ConfigProto(
    graph_options=tf.GraphOptions(optimizer_options=tf.OptimizerOptions(opt_level=-1))
)
SHAPES = [(), (0,), (3,), (40, 50), (2, 0, 3), (300, 400)]
both = pytest.mark.parametrize("config", [None, PLAIN], ids=["passes", "plain"])


@both
@pytest.mark.parametrize("dtype", [tf.float32, tf.float64, tf.int32, tf.int64])
@pytest.mark.parametrize("shape", SHAPES)
def test_fetched_variables_stay_as_they_were(config, dtype, shape):
    v = tf.get_variable("v", shape, dtype, initializer=tf.ones_initializer())
    read = [v, tf.identity(v), tf.reshape(v, [-1]), tf.add(v, 0)]
    add = tf.assign_add(v, tf.ones(shape, dtype))
    with tf.Session(config=config) as sess:
        sess.run(v.initializer)
        kept = [sess.run([*read, add]) for _ in range(4)]
        for number, values in enumerate(kept, 1):
            assert values[-1].tolist() == np.full(shape, number + 1).tolist()
        first = sess.run(read)
        sess.run(add)
        assert all((value == 5).all() for value in first)


@both
@pytest.mark.parametrize("shape", SHAPES)
def test_what_a_caller_writes_to_arrays_changes_no_variable(config, shape):
    v = tf.get_variable("v", shape, initializer=tf.ones_initializer())
    x = tf.placeholder(tf.float32, shape)
    change = tf.assign(v, x)
    with tf.Session(config=config) as sess:
        fed = np.full(shape, 2.0, "f")
        for _ in range(3):
            got = sess.run([change, tf.identity(x)], {x: fed})
            assert (fed == 2).all()
            fed[...] = 9
            assert (sess.run(v) == 2).all()
            for value in got:
                if isinstance(value, np.ndarray) and value.flags.writeable:
                    value[...] = 7
            assert (sess.run(v) == 2).all()
            fed[...] = 2


@both
def test_sparse_updates_leave_what_was_fetched(config):
    v = tf.get_variable("v", [1000, 50], initializer=tf.ones_initializer())
    ids = tf.placeholder(tf.int32, [None])
    loss = tf.reduce_sum(tf.gather(v, ids))
    train = tf.train.AdagradOptimizer(0.1).minimize(loss)
    with tf.Session(config=config) as sess:
        sess.run(tf.global_variables_initializer())
        before = sess.run(v)
        for rows in ([1, 5, 1], [], [999, 0]):
            sess.run(train, {ids: np.array(rows, "i")})
        after = sess.run(v)
    assert (before == 1).all()
    assert sorted(np.unique(np.nonzero(after != 1)[0])) == [0, 1, 5, 999]
