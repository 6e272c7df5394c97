"""Optimizers by hand, each with its twin of the graph. Gradients are only read: they may lie in a
message."""

from __future__ import annotations

import numpy as np

BLOCK = 1 << 14  # floats that stay in the cache


def blocks(*arrays):
    """The same part of each array after another, small enough to stay in the cache."""
    flat = [a.reshape(-1) for a in arrays]
    for start in range(0, flat[0].size, BLOCK):
        yield [a[start : start + BLOCK] for a in flat]


class Optimizer:
    """Updates `params` in place. slots: what each of them starts with, besides room to work in."""

    slots = ()

    def __init__(self, rate):
        self.rate = rate

    def start(self, params):
        self.steps = 0
        self.params = params
        self.state = [[np.full_like(p, s) for s in (*self.slots, 0)] for p in params]

    def apply(self, grads):
        self.steps += 1
        for param, grad, state in zip(self.params, grads, self.state):
            for block in blocks(param, grad, *state):
                self.update(*block)


class Sgd(Optimizer):
    def in_graph(self, tf):
        return tf.train.GradientDescentOptimizer(self.rate)

    def update(self, param, grad, work):
        np.multiply(grad, self.rate, out=work)
        param -= work


class Momentum(Optimizer):
    slots = (0,)

    def in_graph(self, tf):
        return tf.train.MomentumOptimizer(self.rate, 0.9)

    def update(self, param, grad, moment, work):
        moment *= 0.9
        moment += grad
        np.multiply(moment, self.rate, out=work)
        param -= work


class Adagrad(Optimizer):
    slots = (0.1,)

    def in_graph(self, tf):
        return tf.train.AdagradOptimizer(self.rate)

    def update(self, param, grad, squares, work):
        np.multiply(grad, grad, out=work)
        squares += work
        np.sqrt(squares, out=work)
        np.divide(grad, work, out=work)
        work *= self.rate
        param -= work


class Adam(Optimizer):
    slots = (0, 0)

    def in_graph(self, tf):
        return tf.train.AdamOptimizer(self.rate)

    def apply(self, grads):
        step = self.steps + 1
        self.corrected = self.rate * (1 - 0.999**step) ** 0.5 / (1 - 0.9**step)
        super().apply(grads)

    def update(self, param, grad, mean, variance, work):
        np.subtract(grad, mean, out=work)
        work *= 0.1
        mean += work
        np.multiply(grad, grad, out=work)
        work -= variance
        work *= 0.001
        variance += work
        np.sqrt(variance, out=work)
        work += 1e-8
        np.divide(mean, work, out=work)
        work *= self.corrected
        param -= work
