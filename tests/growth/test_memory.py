"""Steps leave nothing behind: what lives after 500 steps is what lived after the first ones."""

from __future__ import annotations

import gc
import tracemalloc

import numpy as np
import pytest

import minitf as tf
from minitf_runtime.plan import rendezvous

WARM, STEPS = 600, 500
ALLOWED = 60_000  # bytes; a leak of two small objects a step is more


@pytest.fixture(autouse=True)
def few_remembered(monkeypatch):
    """A task remembers a bounded number of finished steps; here so few that they are soon full."""
    monkeypatch.setattr(rendezvous, "REMEMBERED", 16)


def training():
    """A batch of changing size, dense and sparse variables, a slot for each."""
    x = tf.placeholder(tf.float32, [None, 8])
    ids = tf.placeholder(tf.int64, [None])
    w = tf.get_variable("w", [8, 4])
    table = tf.get_variable("table", [50, 4])
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + tf.nn.embedding_lookup(table, ids)))
    train = tf.train.AdamOptimizer(0.01).minimize(loss)

    def step(session, number):
        rows = 1 + number % 5
        session.run([train, loss], {x: np.ones([rows, 8]), ids: np.arange(rows)})

    return step


def looping():
    n = tf.placeholder(tf.int32, [])
    x = tf.placeholder(tf.float32, [4])
    _, y = tf.while_loop(lambda i, _: i < n, lambda i, y: (i + 1, tf.tanh(y * x)), [0, x])
    (grad,) = tf.gradients(y, x)
    return lambda session, number: session.run(grad, {n: number % 7, x: [1, 2, 3, 4]})


def failing():
    x = tf.placeholder(tf.float32, [None])
    y = tf.check_numerics(x, "x is bad")

    def step(session, number):
        with pytest.raises(tf.errors.InvalidArgumentError, match="x is bad"):
            session.run(y, {x: [float(number), np.nan]})

    return step


def growth(session, step):
    """Bytes that live longer than the steps which made them."""
    tracemalloc.start()
    try:
        for number in range(WARM):  # traced, for what is kept and replaced later counts as well
            step(session, number)
        gc.collect()
        before, _ = tracemalloc.get_traced_memory()
        for number in range(STEPS):
            step(session, number)
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("build", [training, looping, failing])
def test_in_one_process(build):
    step = build()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert growth(session, step) < ALLOWED


@pytest.mark.cluster
@pytest.mark.parametrize("build", [training, failing])
def test_in_a_cluster(cluster, build):
    spec, target = cluster
    with tf.device(tf.train.replica_device_setter(cluster=spec)):
        step = build()
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
        assert growth(session, step) < ALLOWED
