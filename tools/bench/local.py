"""Programs of one process: each gives a step of the graph and the same step by hand, both of which
return what they computed. Keywords are sizes; tests pass small ones."""

from __future__ import annotations

import numpy as np

from tools.bench.models import Convolutions, Perceptron, random, variables
from tools.bench.optimizers import Adagrad, Adam, Momentum, Sgd, blocks


def run_overhead(tf):
    x = tf.placeholder(tf.float32, [])
    y = x + 1.0
    session = tf.Session()
    two, one = np.float32(2), np.float32(1)
    return lambda: session.run(y, {x: 2.0}), lambda: two + one


def op_overhead(tf, length=500):
    """Dependent products and sums of scalars."""
    x, start = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    y = start
    for _ in range(length):
        y = y * x + x
    session = tf.Session()

    def by_hand():
        half = np.float32(0.5)
        y = np.float32(3)
        for _ in range(length):
            y = y * half + half
        return y

    return lambda: session.run(y, {x: 0.5, start: 3.0}), by_hand


def wide_graph(tf, chains=64, length=4, size=64):
    """Chains of products of small matrices, and their sum."""
    start = random(size, size)
    factors = [random(size, size, seed=i) / np.float32(size**0.5) for i in range(chains)]
    x = tf.placeholder(tf.float32, [size, size])
    ends = []
    for factor in factors:
        y, w = x, tf.constant(factor)
        for _ in range(length):
            y = tf.matmul(y, w)
        ends.append(y)
    total = tf.add_n(ends)
    session = tf.Session()
    room = np.empty_like(start), np.empty_like(start)

    def by_hand():
        total = np.zeros_like(start)
        for factor in factors:
            y = start
            for i in range(length):
                y = np.matmul(y, factor, out=room[i % 2])
            total += y
        return total

    return lambda: session.run(total, {x: start}), by_hand


def mlp_small_sgd(tf, **sizes):
    return trained(tf, Perceptron(**sizes), Sgd(0.01))


def mlp_large_adam(tf, sizes=(784, 1024, 1024, 10), batch=128):
    return trained(tf, Perceptron(sizes, batch), Adam(1e-4))


def cnn(tf, **sizes):
    return trained(tf, Convolutions(**sizes), Momentum(0.001))


def trained(tf, model, optimizer):
    """A model's training step. Both sides start with the same parameters."""
    loss, feeds = model.loss(tf, variables(tf, model.params))
    train = optimizer.in_graph(tf).minimize(loss)
    session = initialized(tf)
    optimizer.start([p.copy() for p in model.params])

    def by_hand():
        loss, grads = model.gradients(optimizer.params)
        optimizer.apply(grads)
        return loss

    return lambda: session.run([loss, train], feeds)[0], by_hand


def initialized(tf):
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return session


def elementwise(tf, size=1_000_000):
    """The gradient of a long expression, and momentum."""
    start = random(size)
    (v,) = variables(tf, [start])
    s, t = tf.sigmoid(v), tf.tanh(v)
    y = tf.square(s * t + 0.5 * tf.exp(-tf.square(v))) / (1.0 + tf.square(v))
    loss = tf.reduce_mean(y)
    optimizer = Momentum(0.1)
    train = optimizer.in_graph(tf).minimize(loss)
    session = initialized(tf)
    optimizer.start([start])
    grad = np.empty_like(start)

    def by_hand():
        total = 0.0
        for v, out in blocks(start, grad):
            s = 1 / (1 + np.exp(-v))
            t = np.tanh(v)
            square = v * v
            bell = 0.5 * np.exp(-square)
            base = s * t + bell
            below = 1 + square
            y = base * base / below
            total += y.sum(dtype="d")
            inner = s * t * (1 - s) + s * (1 - t * t) - 2 * v * bell
            np.multiply(2 * base * inner - 2 * v * y, 1 / (below * size), out=out)
        optimizer.apply([grad])
        return total / size

    return lambda: session.run([loss, train])[0], by_hand


def rnn_loop(tf, length=28, batch=128, inputs=28, hidden=128):
    """A recurrent layer as a while_loop over a TensorArray, and its gradient."""
    xs, start = random(length, batch, inputs), random(inputs + hidden, hidden) / 20
    (w,) = variables(tf, [start])
    x = tf.placeholder(tf.float32, xs.shape)
    rows = tf.TensorArray(tf.float32, length).unstack(x)

    def body(i, h):
        return i + 1, tf.tanh(tf.matmul(tf.concat([rows.read(i), h], 1), w))

    begin = [tf.constant(0), tf.zeros([batch, hidden])]
    _, last = tf.while_loop(lambda i, h: i < length, body, begin)
    loss = tf.reduce_mean(tf.square(last))
    optimizer = Sgd(0.1)
    train = optimizer.in_graph(tf).minimize(loss)
    session = initialized(tf)
    optimizer.start([start])
    both = np.zeros((length, batch, inputs + hidden), "f")
    outs = np.empty((length, batch, hidden), "f")
    grad, part = np.empty_like(start), np.empty_like(start)

    def by_hand():
        both[:, :, :inputs] = xs
        for i in range(length):
            np.matmul(both[i], start, out=outs[i])
            np.tanh(outs[i], out=outs[i])
            if i + 1 < length:
                both[i + 1, :, inputs:] = outs[i]
        grad[...] = 0
        back = outs[-1] * np.float32(2 / outs[-1].size)
        for i in reversed(range(length)):
            slope = outs[i] * outs[i]
            np.subtract(1, slope, out=slope)
            slope *= back
            np.matmul(both[i].T, slope, out=part)
            np.add(grad, part, out=grad)
            np.matmul(slope, start[inputs:].T, out=back)
        loss = np.mean(np.square(outs[-1]))
        optimizer.apply([grad])
        return loss

    return lambda: session.run([loss, train], {x: xs})[0], by_hand


def embedding_sparse(tf, rows=100_000, width=64, count=1024):
    """Rows of a table, and a sparse update of those."""
    start = random(rows, width)
    chosen = np.random.RandomState(2).randint(rows, size=count)
    (table,) = variables(tf, [start])
    ids = tf.placeholder(tf.int64, [None])
    loss = tf.reduce_mean(tf.square(tf.nn.embedding_lookup(table, ids)))
    train = Adagrad(0.1).in_graph(tf).minimize(loss)
    session = initialized(tf)
    squares = np.full_like(start, 0.1)

    def by_hand():
        looked_up = start[chosen]
        loss = np.mean(np.square(looked_up))
        looked_up *= 2 / looked_up.size
        unique, place = np.unique(chosen, return_inverse=True)
        grad = np.zeros((len(unique), width), "f")
        np.add.at(grad, place, looked_up)
        total = squares[unique]
        total += grad * grad
        squares[unique] = total
        grad *= 0.1
        grad /= np.sqrt(total)
        start[unique] -= grad
        return loss

    return lambda: session.run([loss, train], {ids: chosen})[0], by_hand


def build(tf, length=300):
    """A chain is built, differentiated and run once; by hand, on a tape of functions."""

    def once():
        with tf.Graph().as_default():
            (v,) = variables(tf, [np.ones(8, "f")])
            y = v
            for _ in range(length):
                y = tf.tanh(y * 1.01)
            train = Sgd(0.1).in_graph(tf).minimize(tf.reduce_sum(y))
            with initialized(tf) as session:
                session.run(train)
                return session.run(v)

    def by_hand():
        y, tape = np.ones(8, "f"), []
        for _ in range(length):
            y = y * 1.01
            tape.append(lambda grad: grad * 1.01)
            y = np.tanh(y)
            tape.append(lambda grad, y=y: grad * (1 - y * y))
        grad = np.ones(8, "f")
        for back in reversed(tape):
            grad = back(grad)
        return 1 - 0.1 * grad

    return once, by_hand


PROGRAMS = {
    program.__name__: program
    for program in (
        run_overhead, op_overhead, wide_graph, mlp_small_sgd, mlp_large_adam, cnn, elementwise,
        rnn_loop, embedding_sparse, build,
    )
}  # fmt: skip
