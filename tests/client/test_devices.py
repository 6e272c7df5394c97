"""The devices of a session, as TensorFlow 1.15's builds for the CPU have them."""

import numpy as np
import pytest

import minitf as tf


def test_a_local_session_has_a_cpu_and_an_xla_cpu():
    with tf.Session() as sess:
        devices = sess.list_devices()
    assert [(d.device_type, d.name) for d in devices] == [
        ("CPU", "/job:localhost/replica:0/task:0/device:CPU:0"),
        ("XLA_CPU", "/job:localhost/replica:0/task:0/device:XLA_CPU:0"),
    ]


def test_an_op_that_asks_for_xla_cpu_runs_there_and_others_do_not():
    with tf.device("/device:XLA_CPU:0"):
        there = tf.add(tf.constant([1.0, 2.0]), 1.0, name="there")
    here = tf.multiply(there, 3.0, name="here")
    metadata = tf.RunMetadata()
    with tf.Session() as sess:
        options = tf.RunOptions(output_partition_graphs=True)
        got = sess.run(here, options=options, run_metadata=metadata)
    assert got.tolist() == [6, 9]
    where = {n.name: n.device for g in metadata.partition_graphs for n in g.node}
    assert where["there"].endswith("XLA_CPU:0") and where["here"].endswith("/device:CPU:0")


def test_an_op_that_xla_does_not_compile_has_no_kernel_there():
    with tf.device("/device:XLA_CPU:0"):
        joined = tf.string_join(["a", "b"], name="joined")
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="joined"):
        sess.run(joined)
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as sess:
        assert sess.run(joined) == b"ab"


def test_an_unordered_read_comes_before_the_write():
    """TensorFlow's read of a resource variable is ready first: the write waits for its value."""
    v = tf.get_variable("v", [2], initializer=tf.ones_initializer(), use_resource=True)
    add = tf.assign_add(v, [1.0, 1.0])
    after = tf.identity(v)
    with tf.control_dependencies([add]):
        ordered = v.read_value()
    with tf.Session() as sess:
        sess.run(v.initializer)
        got = sess.run([add, after, ordered])
    np.testing.assert_array_equal(got, [[2, 2], [1, 1], [2, 2]])
