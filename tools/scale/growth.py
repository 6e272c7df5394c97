"""How cost grows in one process: with ops, with bytes fed and fetched, with steps."""

from __future__ import annotations

import functools
import resource
import statistics
import time

import numpy as np

import minitf as tf

CHAINS = (250, 2_500, 25_000)  # of a product and a tanh, each about 13 ops with its gradient
SIZES = (1 << 10, 1 << 16, 1 << 20, 1 << 24, 1 << 28)
STEPS, EVERY = 10_000, 2_000


class Laps:
    """Seconds since the last lap."""

    def __init__(self):
        self.last = time.perf_counter()

    def lap(self):
        before, self.last = self.last, time.perf_counter()
        return self.last - before


def ops():
    print(f"{'ops':>8} {'forward':>9} {'gradient':>9} {'place':>9} {'cut, run':>9}  us an op")
    for length in CHAINS:
        with tf.Graph().as_default() as graph, tf.Session() as session:
            laps = Laps()
            y = tf.get_variable("v", [8], initializer=tf.ones_initializer())
            for _ in range(length):
                y = tf.tanh(y * 1.01)
            forward, seconds = len(graph.get_operations()), [laps.lap()]
            train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(y))
            total = len(graph.get_operations())
            seconds.append(laps.lap())
            for target in (tf.global_variables_initializer(), train):
                session.run(target)
                seconds.append(laps.lap())
        each = zip(seconds, (forward, total - forward, total, total))
        print(f"{total:8}", *(f"{s / n * 1e6:9.0f}" for s, n in each), flush=True)


def sizes():
    print(f"{'bytes':>10} {'ms':>9} {'GB/s':>9}  a step that feeds and fetches so many")
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None])
        y = tf.negative(x)
        for size in SIZES:
            value = np.ones(size // 4, np.float32)
            step = functools.partial(session.run, y, {x: value})
            seconds = statistics.median(timed(step) for _ in range(9))
            print(f"{size:10} {seconds * 1e3:9.3f} {2 * size / seconds / 1e9:9.1f}", flush=True)


def timed(act):
    laps = Laps()
    act()
    return laps.lap()


def steps():
    print(f"{'steps':>8} {'MB':>6}  resident at most")
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 64])
        w = tf.get_variable("w", [64, 64])
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w)))
        train = tf.train.AdamOptimizer(0.01).minimize(loss)
        session.run(tf.global_variables_initializer())
        numbers = np.random.RandomState(0)
        for step in range(STEPS + 1):
            session.run([train, loss], {x: numbers.rand(1 + step % 32, 64)})
            if step % EVERY == 0:
                peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
                print(f"{step:8} {peak / 1024:6.1f}", flush=True)
