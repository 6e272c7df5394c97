"""Measures how fast small things are on this machine: python tools/bench.py [--tf MODULE].

MODULE is minitf, or tensorflow to compare with a real TF 1.15 (under its own Python).
"""

import argparse
import importlib
import statistics
import subprocess
import sys
import time

import numpy as np

ROUNDS, STEPS = 5, 200


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tf", default="minitf", metavar="MODULE")
    module = parser.parse_args().tf
    print(f"{module:34} {'microseconds':>12}")
    show("import (process start included)", import_time(module))
    tf = importlib.import_module(module)
    show("build a 784-128-10 model and Adam", median(lambda: build(tf)))
    loss, train, feeds = build(tf)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        show("step: fetch a constant", step_time(session, tf.constant(1.0), None))
        show("step: loss, batch 64", step_time(session, loss, feeds))
        show("step: train with Adam, batch 64", step_time(session, train, feeds))


def show(what, seconds):
    print(f"{what:34} {seconds * 1e6:12.0f}", flush=True)


def median(act):
    """Median seconds of a call."""
    return statistics.median(elapsed(act) for _ in range(ROUNDS))


def elapsed(act):
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def import_time(module):
    return median(lambda: subprocess.check_call([sys.executable, "-c", "import " + module]))


def step_time(session, fetch, feeds):
    session.run(fetch, feeds)
    return median(lambda: [session.run(fetch, feeds) for _ in range(STEPS)]) / STEPS


def build(tf):
    """A fresh default graph with the model: its loss, its train op, and feeds of one batch."""
    tf.reset_default_graph()
    x = tf.placeholder(tf.float32, [None, 784])
    y = tf.placeholder(tf.int64, [None])
    hidden = tf.nn.relu(dense(tf, x, 784, 128, "hidden"))
    logits = dense(tf, hidden, 128, 10, "out")
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
    loss = tf.reduce_mean(losses)
    train = tf.train.AdamOptimizer(0.001).minimize(loss)
    numbers = np.random.RandomState(0)
    return loss, train, {x: numbers.rand(64, 784), y: numbers.randint(10, size=64)}


def dense(tf, x, inputs, outputs, name):
    with tf.variable_scope(name):
        w = tf.get_variable("w", [inputs, outputs])
        b = tf.get_variable("b", [outputs], initializer=tf.zeros_initializer())
    return tf.matmul(x, w) + b


if __name__ == "__main__":
    main()
