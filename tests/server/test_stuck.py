"""A step that is out of time says what it waited for; so does the log, when it is asked to."""

from __future__ import annotations

import gc
import logging
import re
import threading

import pytest

import minitf as tf
from minitf_runtime.server.watch import VARIABLE


def timed_out(session, fetch, milliseconds=300):
    options = tf.RunOptions(timeout_in_ms=milliseconds)
    with pytest.raises(tf.errors.DeadlineExceededError) as e:
        session.run(fetch, options=options)
    first, *told = e.value.message.splitlines()
    assert first == "Operation timed out."
    return [re.sub(r"[^\s(]*/(?=test_stuck)", "", text).strip() for text in told]


def test_an_empty_queue_of_this_process():
    queue = tf.FIFOQueue(3, tf.float32, shapes=[[]], shared_name="q")
    queue.enqueue(1.0, name="fill")
    get = queue.dequeue_many(2, name="get")
    with tf.Session() as sess:
        (told,) = timed_out(sess, get + 1.0)
    begin = "localhost:0: 'get' (QueueDequeueManyV2, made at test_stuck.py:"
    assert told.startswith(begin)
    assert "waits for FIFOQueue 'q', which has 0 elements; 2 wanted, for 0.3 s: 'fill' (" in told
    assert told.endswith("of localhost:0 would add to it, but no running step is still to run it")


def test_part_of_a_batch_has_come():
    queue = tf.FIFOQueue(3, tf.float32, shapes=[[]], shared_name="q")
    fill, get = queue.enqueue(1.0), queue.dequeue_many(2)
    with tf.Session() as sess:
        sess.run(fill)
        (told,) = timed_out(sess, get)
        assert "which has 1 element; 2 wanted" in told
        sess.run(fill)  # what was taken has been put back, and the session is usable
        assert sess.run(get).tolist() == [1.0, 1.0]


def test_a_shuffled_queue_keeps_some():
    queue = tf.RandomShuffleQueue(9, 2, tf.float32, shapes=[[]], shared_name="q")
    fill, get = queue.enqueue_many([[1.0, 2.0]]), queue.dequeue()
    with tf.Session() as sess:
        sess.run(fill)
        (told,) = timed_out(sess, get)
    assert "RandomShuffleQueue 'q', which has 2 elements, of which 2 are to stay; 1 wanted" in told


def test_too_few_gradients():
    gradients = tf.ConditionalAccumulator(tf.float32, [], shared_name="g")
    give, take = gradients.apply_grad(1.0), gradients.take_grad(2)
    with tf.Session() as sess:
        sess.run(give)
        (told,) = timed_out(sess, take)
    assert "waits for accumulator 'g', which has 1 of 2 gradients" in told


@pytest.mark.cluster
def test_a_step_of_two_tasks(free_ports):
    """The master asks the other task; the end of the chain is there."""
    ports = free_ports(2)
    spec = {job: [f"127.0.0.1:{port}"] for job, port in zip(("ps", "worker"), ports)}
    tf.train.Server(spec, "ps", 0)
    server = tf.train.Server(spec, "worker", 0)
    with tf.device("/job:ps/task:0"):
        get = tf.FIFOQueue(1, tf.float32, shapes=[[]], shared_name="q").dequeue(name="get")
    with tf.device("/job:worker/task:0"):
        here = tf.identity(get, name="here")
    with tf.Session(server.target) as sess:
        (told,) = timed_out(sess, here, 500)
    assert told.startswith("ps:0: 'get' (QueueDequeueV2, made at test_stuck.py:")
    assert told.endswith("no op in an open session would add to it")


def test_the_log_tells_once(monkeypatch, caplog):
    monkeypatch.setenv(VARIABLE, "0.2")
    get = tf.FIFOQueue(1, tf.float32, shapes=[[]], shared_name="q").dequeue(name="get")
    caplog.set_level(logging.WARNING, "minitf")
    with tf.Session() as sess:
        assert sess.run(tf.constant(1.0)) == 1.0
        timed_out(sess, get, 900)
    (said,) = [r.getMessage() for r in caplog.records]
    assert re.match(r"A step has run for 0\.\d s \(get:0\)\.\n  localhost:0: 'get' \(", said)


def test_the_watch_ends_with_its_master(monkeypatch):
    monkeypatch.setenv(VARIABLE, "0.1")
    before = watches()
    with tf.Session() as sess:
        sess.run(tf.constant(1.0))
        (mine,) = watches() - before
    del sess
    gc.collect()
    mine.join(5)
    assert not mine.is_alive()


def watches():
    return {t for t in threading.enumerate() if t.name == "minitf-stuck"}


@pytest.mark.parametrize("text", ["soon", "-1", "0"])
def test_a_limit_that_is_none(monkeypatch, caplog, text):
    monkeypatch.setenv(VARIABLE, text)
    before = watches()
    with tf.Session() as sess:
        assert sess.run(tf.constant(1.0)) == 1.0
    expected = f"{VARIABLE}: expected a number of seconds above 0, got '{text}'"
    assert [r.getMessage() for r in caplog.records] == [expected]
    assert watches() <= before
