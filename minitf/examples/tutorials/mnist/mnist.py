"""The tutorial's network for MNIST: two hidden layers, its loss, training and evaluation."""

from __future__ import annotations

import math

from minitf import losses, summary
from minitf.default import name_scope
from minitf.operation import Operation, Tensor
from minitf.ops.elementwise import cast, to_int64
from minitf.ops.filling import zeros
from minitf.ops.matmul import matmul
from minitf.ops.nn import relu
from minitf.ops.random import truncated_normal
from minitf.ops.reduction import reduce_sum
from minitf.ops.sorting import in_top_k
from minitf.train.gradient_descent import GradientDescentOptimizer
from minitf.variables.base import Variable
from minitf_runtime.types import int32

__all__ = ["evaluation", "inference", "loss", "training"]

NUM_CLASSES = 10
IMAGE_SIZE = 28
IMAGE_PIXELS = IMAGE_SIZE * IMAGE_SIZE


def _layer(name: str, inputs: Tensor, size: int, outputs: int, hidden: bool = True) -> Tensor:
    with name_scope(name):
        start = truncated_normal([size, outputs], stddev=1.0 / math.sqrt(float(size)))
        weights = Variable(start, name="weights")
        biases = Variable(zeros([outputs]), name="biases")
        sums = matmul(inputs, weights) + biases
        return relu(sums) if hidden else sums


def inference(images: Tensor, hidden1_units: int, hidden2_units: int) -> Tensor:
    """Logits [batch, 10] of images [batch, 784]."""
    hidden = _layer("hidden1", images, IMAGE_PIXELS, hidden1_units)
    hidden = _layer("hidden2", hidden, hidden1_units, hidden2_units)
    return _layer("softmax_linear", hidden, hidden2_units, NUM_CLASSES, hidden=False)


def loss(logits: Tensor, labels: Tensor) -> Tensor:
    """The mean cross entropy of logits [batch, 10] and labels, ints [batch]."""
    return losses.sparse_softmax_cross_entropy(labels=to_int64(labels), logits=logits)


def training(loss: Tensor, learning_rate: float) -> Operation:
    """An op that makes one step of gradient descent; the loss is summarised."""
    summary.scalar("loss", loss)
    optimizer = GradientDescentOptimizer(learning_rate)
    global_step = Variable(0, name="global_step", trainable=False)
    return optimizer.minimize(loss, global_step=global_step)


def evaluation(logits: Tensor, labels: Tensor) -> Tensor:
    """How many of a batch's logits are greatest at the label, as int32."""
    return reduce_sum(cast(in_top_k(logits, labels, 1), int32))
