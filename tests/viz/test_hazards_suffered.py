"""What the hazards of waiting warn of does happen, and does not once they are mended."""

from __future__ import annotations

import threading

import pytest

import minitf as tf

SOON = tf.RunOptions(timeout_in_ms=300)


def sync_model(replicas, rate=0.1):
    w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
    step = tf.train.get_or_create_global_step()
    sync = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(rate), replicas)
    train = sync.minimize(tf.reduce_sum(w * w), global_step=step)
    return sync, train, tf.global_variables_initializer()


def test_an_update_waits_for_gradients_that_nobody_gives():
    for replicas, outcome in ((2, tf.errors.DeadlineExceededError), (1, None)):
        tf.reset_default_graph()
        sync, train, init = sync_model(replicas)
        runner = sync.get_chief_queue_runner()
        coord = tf.train.Coordinator()
        with tf.Session() as sess:
            sess.run([init, sync.chief_init_op])
            runner.create_threads(sess, coord, daemon=True, start=True)
            if outcome is None:
                sess.run(train, options=tf.RunOptions(timeout_in_ms=20_000))
            else:
                with pytest.raises(outcome):
                    sess.run(train, options=SOON)
            coord.request_stop()


def test_the_queue_runner_feeds_nothing():
    tf.reset_default_graph()
    sync, train, init = sync_model(1, tf.placeholder(tf.float32, [], name="rate"))
    (update,) = sync.get_chief_queue_runner().enqueue_ops
    with tf.Session() as sess:
        sess.run([init, sync.chief_init_op])
        given = threading.Thread(target=lambda: sess.run(train), daemon=True)
        given.start()
        with pytest.raises(tf.errors.InvalidArgumentError, match="must feed a value for.*'rate'"):
            sess.run(update, options=tf.RunOptions(timeout_in_ms=20_000))
        sess.run(sync.get_init_tokens_op(1))
        given.join(20)


def test_a_step_waits_for_a_queue_that_nobody_closed():
    tf.reset_default_graph()
    queue = tf.FIFOQueue(3, tf.float32)
    fill, end, item = queue.enqueue([1.0]), queue.close(), queue.dequeue()
    with tf.Session() as sess:
        sess.run(fill)
        assert sess.run(item) == 1.0
        with pytest.raises(tf.errors.DeadlineExceededError):
            sess.run(item, options=SOON)
        sess.run(end)
        with pytest.raises(tf.errors.OutOfRangeError):
            sess.run(item, options=tf.RunOptions(timeout_in_ms=20_000))


@pytest.mark.cluster
def test_a_session_waits_for_a_worker_it_does_not_need(free_ports):
    ports = free_ports(2)
    cluster = {"worker": [f"localhost:{port}" for port in ports]}
    server = tf.train.Server(cluster, "worker", 0)
    tf.reset_default_graph()
    with tf.device("/job:worker/task:0"):
        one = tf.constant(1.0) + 0.0
    wait = tf.ConfigProto(operation_timeout_in_ms=500)
    with (
        pytest.raises(tf.errors.DeadlineExceededError),
        tf.Session(server.target, config=wait) as s,
    ):
        s.run(one)
    filtered = tf.ConfigProto(operation_timeout_in_ms=20_000, device_filters=["/job:worker/task:0"])
    with tf.Session(server.target, config=filtered) as sess:
        assert sess.run(one) == 1.0
