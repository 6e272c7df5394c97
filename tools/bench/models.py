"""Models as a graph and by hand: `loss` builds one, `gradients` computes the same in plain NumPy,
with arrays that are made once."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import as_strided


def random(*shape, seed=0):
    return np.random.RandomState(seed).randn(*shape).astype("f")


def variables(tf, params):
    """A variable for each initial value."""
    made = []
    for i, value in enumerate(params):
        start = tf.constant_initializer(value) if value.any() else tf.zeros_initializer()
        made.append(tf.get_variable("param%d" % i, value.shape, initializer=start))
    return made


class Linear:
    """A column of weights and the mean square error."""

    def __init__(self, rows=8, size=4):
        self.params = [np.zeros((size, 1), "f")]
        self.x, self.target = random(rows, size), np.ones((rows, 1), "f")

    def loss(self, tf, params):
        x, target = tf.placeholder(tf.float32, [None, self.x.shape[1]]), tf.placeholder(tf.float32)
        loss = tf.reduce_mean(tf.square(tf.matmul(x, params[0]) - target))
        return loss, {x: self.x, target: self.target}

    def gradients(self, params):
        error = self.x @ params[0]
        error -= self.target
        grad = self.x.T @ error
        grad *= 2 / len(error)
        return np.mean(np.square(error)), [grad]


class Blocks:
    """Weights that a step moves as a whole and hardly computes with."""

    def __init__(self, count=4, size=6_553_600):
        self.params = [np.zeros(size, "f") for _ in range(count)]
        self.grads = [np.zeros(size, "f") for _ in range(count)]

    def loss(self, tf, params):
        return tf.add_n([tf.reduce_sum(tf.square(p - 1.0)) for p in params]), {}

    def gradients(self, params):
        loss = 0
        for param, grad in zip(params, self.grads):
            np.subtract(param, 1, out=grad)
            loss += np.dot(grad, grad)
            grad *= 2
        return loss, self.grads


class Softmax:
    """The mean cross-entropy of rows of logits, whose place their gradient takes."""

    def __init__(self, rows, classes):
        self.labels = np.random.RandomState(1).randint(classes, size=rows)
        self.rows = np.arange(rows)

    def loss(self, tf, logits):
        labels = tf.placeholder(tf.int64, [None])
        each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        return tf.reduce_mean(each), {labels: self.labels}

    def differentiate(self, logits):
        logits -= logits.max(1, keepdims=True)
        right = logits[self.rows, self.labels]
        np.exp(logits, out=logits)
        total = logits.sum(1, keepdims=True)
        logits /= total
        logits[self.rows, self.labels] -= 1
        logits /= len(logits)
        return np.mean(np.log(total[:, 0]) - right)


class Perceptron:
    """Dense layers with relu between them, over a softmax."""

    def __init__(self, sizes=(784, 100, 10), batch=100):
        pairs = list(zip(sizes, sizes[1:]))
        weights = [random(a, b, seed=i) / np.float32(a**0.5) for i, (a, b) in enumerate(pairs)]
        self.params = [p for w in weights for p in (w, np.zeros(w.shape[1], "f"))]
        self.x = random(batch, sizes[0])
        self.top = Softmax(batch, sizes[-1])
        self.outputs = [np.empty((batch, n), "f") for n in sizes[1:]]
        self.backs = [np.empty((batch, n), "f") for n in sizes[1:-1]]
        self.grads = [np.empty_like(p) for p in self.params]

    def loss(self, tf, params):
        x = tf.placeholder(tf.float32, [None, self.x.shape[1]])
        h = tf.matmul(x, params[0]) + params[1]
        for weights, bias in zip(params[2::2], params[3::2]):
            h = tf.matmul(tf.nn.relu(h), weights) + bias
        loss, feeds = self.top.loss(tf, h)
        return loss, {x: self.x, **feeds}

    def gradients(self, params):
        weights, inputs = params[::2], [self.x, *self.outputs]
        for i, out in enumerate(self.outputs):
            np.matmul(inputs[i], weights[i], out=out)
            out += params[2 * i + 1]
            if out is not self.outputs[-1]:
                np.maximum(out, 0, out=out)
        loss = self.top.differentiate(out)
        for i in reversed(range(len(weights))):
            np.matmul(inputs[i].T, out, out=self.grads[2 * i])
            np.sum(out, 0, out=self.grads[2 * i + 1])
            if i:
                out = np.matmul(out, weights[i].T, out=self.backs[i - 1])
                out *= inputs[i] > 0
        return loss, self.grads


class Convolution:
    """5x5, same padding, relu, and the largest of each 2x2."""

    def __init__(self, batch, size, channels, filters):
        self.padded = np.zeros((batch, size + 4, size + 4, channels), "f")
        self.inner = self.padded[:, 2:-2, 2:-2]
        self.spread = np.empty_like(self.padded)
        images, rows, columns, values = self.padded.strides
        shape = batch, size, size, 5, 5, channels
        strides = images, rows, columns, rows, columns, values
        self.windows = as_strided(self.padded, shape, strides)
        self.columns = np.empty(self.windows.shape, "f")
        self.flat = self.columns.reshape(-1, 25 * channels)
        self.out = np.empty((batch, size, size, filters), "f")
        self.back = np.empty_like(self.out)
        self.pooled = np.empty((batch, size // 2, size // 2, filters), "f")

    def forward(self, x, kernel, bias):
        self.inner[...] = x
        self.columns[...] = self.windows
        out = self.out.reshape(-1, self.out.shape[-1])
        np.matmul(self.flat, kernel.reshape(-1, kernel.shape[-1]), out=out)
        out += bias
        np.maximum(out, 0, out=out)
        a, b, c, d = quarters(self.out)
        np.maximum(a, b, out=self.pooled)
        np.maximum(self.pooled, c, out=self.pooled)
        return np.maximum(self.pooled, d, out=self.pooled)

    def backward(self, grad, kernel_grad, bias_grad):
        """What comes to the sums before relu; zeros alone are ever the largest of a 2x2 twice."""
        grad = grad * (self.pooled > 0)
        for out, back in zip(quarters(self.out), quarters(self.back)):
            np.multiply(grad, out == self.pooled, out=back)
        back = self.back.reshape(-1, self.back.shape[-1])
        np.matmul(self.flat.T, back, out=kernel_grad.reshape(-1, back.shape[-1]))
        np.sum(back, 0, out=bias_grad)
        return back

    def to_input(self, back, kernel):
        """The gradient of the input; the columns give their room."""
        np.matmul(back, kernel.reshape(-1, back.shape[-1]).T, out=self.flat)
        self.spread[...] = 0
        height, width = self.out.shape[1:3]
        for row in range(5):
            for column in range(5):
                place = self.spread[:, row : row + height, column : column + width]
                place += self.columns[:, :, :, row, column]
        return self.spread[:, 2:-2, 2:-2]


def quarters(x):
    return x[:, ::2, ::2], x[:, ::2, 1::2], x[:, 1::2, ::2], x[:, 1::2, 1::2]


class Convolutions:
    """Two convolutions and a dense layer, over a softmax."""

    def __init__(self, batch=32, size=28, filters=(16, 32), classes=10):
        first, second = filters
        self.flat = (size // 4) ** 2 * second
        shapes = ([5, 5, 1, first], [5, 5, first, second], [self.flat, classes])
        kernels = [random(*s, seed=i) / 10 for i, s in enumerate(shapes)]
        self.params = [p for k in kernels for p in (k, np.zeros(k.shape[-1], "f"))]
        self.grads = [np.empty_like(p) for p in self.params]
        self.layers = (
            Convolution(batch, size, 1, first),
            Convolution(batch, size // 2, first, second),
        )
        self.x = random(batch, size, size, 1)
        self.top = Softmax(batch, classes)

    def loss(self, tf, params):
        x = tf.placeholder(tf.float32, [None, *self.x.shape[1:]])
        h = x
        for kernel, bias in (params[:2], params[2:4]):
            h = tf.nn.relu(tf.nn.conv2d(h, kernel, [1, 1, 1, 1], "SAME") + bias)
            h = tf.nn.max_pool(h, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
        h = tf.matmul(tf.reshape(h, [-1, self.flat]), params[4]) + params[5]
        loss, feeds = self.top.loss(tf, h)
        return loss, {x: self.x, **feeds}

    def gradients(self, params):
        one, two = self.layers
        pooled = two.forward(one.forward(self.x, *params[:2]), *params[2:4])
        flat = pooled.reshape(len(pooled), -1)
        logits = flat @ params[4]
        logits += params[5]
        loss = self.top.differentiate(logits)
        np.matmul(flat.T, logits, out=self.grads[4])
        np.sum(logits, 0, out=self.grads[5])
        grad = (logits @ params[4].T).reshape(pooled.shape)
        back = two.backward(grad, *self.grads[2:4])
        one.backward(two.to_input(back, params[2]), *self.grads[:2])
        return loss, self.grads
