"""Copies between host and GPU are lines of the plan, counted, and no more than needed."""

import numpy as np
import pytest

import minitf as tf
from minitf_runtime.plan.copies import Copies


def programs(sess):
    """The sources of all programs of a session, by the type of their device."""
    task = sess._master._own
    made = [p for g, _ in task._sessions[sess._handle].graphs.values() for p in g.programs]
    return {kind: [p.source for p in made if kind in p.device] for kind in ("GPU:0", "CPU:0")}


def copies(source):
    return [
        line.split("  #")[0].strip()
        for line in source.splitlines()
        if "to_device(" in line or "copy_and_send" in line
    ]


def test_a_feed_goes_up_and_a_fetch_comes_down(fake):
    device = fake()
    x = tf.placeholder(tf.float32, [2, 2], name="x")
    y = tf.matmul(x, x, name="y")
    with tf.Session() as sess:
        got = sess.run([y, y], {x: np.eye(2)})
        assert got[0].tolist() == [[1, 0], [0, 1]]
        (source,) = programs(sess)["GPU:0"]
        assert [line.partition("(")[0].split()[-1] for line in copies(source)] == [
            "to_device",
            "copy_and_send",
        ]
        assert (device.uploads, device.downloads) == (1, 1)
        sess.run(y, {x: np.eye(2)})
        assert (device.uploads, device.downloads) == (2, 2)


def test_variables_stay_on_the_device(fake):
    device = fake()
    v = tf.Variable(tf.zeros([100]))
    add = tf.assign_add(v, tf.ones([100]))
    with tf.Session() as sess:
        sess.run(v.initializer)
        sess.run(add.op)
        moved = device.uploads, device.downloads
        for _ in range(5):
            sess.run(add.op)
        assert (device.uploads, device.downloads) == moved
        assert sess.run(v)[0] == 6


def test_an_update_is_in_place_while_nobody_holds_the_value(fake):
    device = fake()
    v = tf.Variable(tf.zeros([1000]))
    add = tf.assign_add(v, tf.constant(1.0, shape=[1000]))
    with tf.Session() as sess:
        sess.run(v.initializer)
        sess.run(add.op)
        used, peak = device.memory()[0], device.peak
        for _ in range(5):
            sess.run(add.op)
        assert device.memory()[0] == used
        assert device.peak == peak


def test_shapes_and_sizes_stay_on_the_host(fake):
    """The gradient of a mean asks for the batch size; that costs no wait for the device."""
    device = fake()
    x = tf.placeholder(tf.float32, [None, 4])
    w = tf.Variable(tf.ones([4, 1]))
    loss = tf.reduce_mean(tf.matmul(x, w))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.Session() as sess:
        sess.run(w.initializer)
        sess.run(train, {x: np.ones((3, 4))})
        assert device.downloads == 0
        sess.run([train, loss], {x: np.ones((3, 4))})
        assert device.downloads == 1


def test_a_predicate_comes_down_through_a_pair_inside_the_device(fake):
    device = fake()
    x = tf.placeholder(tf.float32, [])
    y = tf.cond(x > 0, lambda: x * 2, lambda: x * 3)
    with tf.Session() as sess:
        assert sess.run(y, {x: 2.0}) == 4
        (source,) = programs(sess)["GPU:0"]
        assert sum("copy_and_send(" in line for line in copies(source)) == 2
        assert device.downloads == 2


def test_elementwise_ops_are_one_function_of_the_device(fake):
    made = []
    device = fake()
    device.fuse = lambda function: made.append(function) or function
    x = tf.placeholder(tf.float32, [256, 256])
    y = tf.tanh(x * 2 + 1) * x
    with tf.Session() as sess:
        got = sess.run(y, {x: np.full((256, 256), 0.5)})
        assert np.allclose(got, np.tanh(2.0) * 0.5)
        assert [f.__name__ for f in made] == ["fusion0"]
        assert "fusion0(" in programs(sess)["GPU:0"][0]


def test_a_plan_of_a_cpu_has_no_word_of_it():
    with tf.device("/cpu:0"):
        y = tf.constant(1.0) + 1
    with tf.Session() as sess:
        sess.run(y)
        assert "to_device" not in programs(sess)["CPU:0"][0]
        assert programs(sess)["GPU:0"] == []


def test_out_of_memory_names_the_largest_tensors(fake):
    fake(total=1_000_000)
    x = tf.placeholder(tf.float32, [None], name="x")
    big = tf.tile(x, [100], name="big")
    more = tf.identity(tf.concat([big, big, big], 0, name="more"))
    with tf.Session() as sess:
        with pytest.raises(tf.errors.ResourceExhaustedError) as caught:
            sess.run(more, {x: np.ones(1000)})
        text = str(caught.value)
        assert "Out of memory allocating 1,200,000 bytes" in text
        assert "400,000 of 1,000,000 bytes of the device are in use" in text
        assert "the largest tensors of this step: 'big' float32[100000] 400,000 bytes" in text
        assert "op 'more' ran on" in text
        assert sess.run(tf.reduce_sum(big), {x: np.ones(10)}) == 1000


def test_an_error_of_the_device_ends_the_step(fake, monkeypatch):
    device = fake()
    y = tf.ones([3]) * 2
    with tf.Session() as sess:
        sess.run(y)
        record = device.record

        def broken():
            event = record()
            event.synchronize = lambda: 1 / 0
            return event

        monkeypatch.setattr(device, "record", broken)
        with pytest.raises(tf.errors.InternalError, match="a tensor could not leave .*GPU:0"):
            sess.run(y)
        monkeypatch.undo()


def test_a_dead_value_is_not_copied(fake):
    device = fake()
    moved = Copies(device, "gpu")
    from minitf_runtime.types import DEAD

    assert moved.to_device(DEAD) is DEAD
    assert (moved.bytes_up, device.uploads) == (0, 0)
