"""One task of `minitf demo`: a 64-128-10 network learns handwritten digits, asynchronously.

A usual parameter-server script: nothing but the public API.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import minitf as tf

DIGITS = Path(__file__).parents[1] / "demo_data" / "digits.npz"
BATCH = 32
HELD_OUT = 297  # images for the test
REPORT_EVERY = 10  # steps


def digits() -> tuple[Any, Any]:
    """Images [1797, 64] with values from 0 to 1, and their labels, in a mixed order."""
    with np.load(DIGITS) as file:
        images, labels = file["images"], file["labels"]
    order = np.random.RandomState(0).permutation(len(labels))
    x = images.reshape(len(images), -1).astype("float32") / 16
    return x[order], labels.astype("int64")[order]


def dense(x: Any, inputs: int, units: int, name: str, seed: int) -> Any:
    with tf.variable_scope(name):
        init = tf.glorot_uniform_initializer(seed=seed)
        w = tf.get_variable("w", [inputs, units], initializer=init)
        b = tf.get_variable("b", [units], initializer=tf.zeros_initializer())
    return tf.nn.bias_add(tf.matmul(x, w), b)


class Model:
    """The network, its loss and accuracy, and the op that trains it."""

    def __init__(self) -> None:
        self.x = tf.placeholder(tf.float32, [None, 64], name="x")
        self.labels = tf.placeholder(tf.int64, [None], name="labels")
        hidden = tf.nn.relu(dense(self.x, 64, 128, "hidden", 1))
        logits = dense(hidden, 128, 10, "out", 2)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=self.labels, logits=logits)
        self.loss = tf.reduce_mean(losses, name="loss")
        right = tf.equal(tf.argmax(logits, 1), self.labels)
        self.accuracy = tf.reduce_mean(tf.cast(right, tf.float32), name="accuracy")
        self.step = tf.train.get_or_create_global_step()
        optimizer = tf.train.AdagradOptimizer(0.1)
        self.train = optimizer.minimize(self.loss, global_step=self.step)


def main(steps: int) -> None:
    """The task that TF_CONFIG names: a ps serves, a worker trains for `steps` steps."""
    config = json.loads(os.environ["TF_CONFIG"])
    job, index = config["task"]["type"], config["task"]["index"]
    cluster = tf.train.ClusterSpec(config["cluster"])
    server = tf.train.Server(cluster, job_name=job, task_index=index)
    if job == "ps":
        server.join()
    here = f"/job:worker/task:{index}"
    with tf.device(tf.train.replica_device_setter(worker_device=here, cluster=cluster)):
        model = Model()
        init = tf.global_variables_initializer()
        missing = tf.report_uninitialized_variables()
    with tf.Session(server.target) as session:
        if index == 0:
            session.run(init)
        while session.run(missing).size:
            time.sleep(0.02)
        train(session, model, steps, index)
        if index == 0:
            test(session, model, steps * cluster.num_tasks("worker"))


def train(session: Any, model: Model, steps: int, seed: int) -> None:
    x, labels = digits()
    random = np.random.RandomState(seed)
    for i in range(1, steps + 1):
        batch = random.randint(0, len(labels) - HELD_OUT, BATCH)
        feed = {model.x: x[batch], model.labels: labels[batch]}
        loss, _ = session.run([model.loss, model.train], feed)
        if i % REPORT_EVERY == 0 or i == steps:
            print(f"step {i} loss {loss:.4f}")


def test(session: Any, model: Model, steps: int) -> None:
    """Waits for the steps of all workers, then tries the network on what it has not seen."""
    while session.run(model.step) < steps:
        time.sleep(0.02)
    x, labels = digits()
    feed = {model.x: x[-HELD_OUT:], model.labels: labels[-HELD_OUT:]}
    print(f"accuracy {session.run(model.accuracy, feed):.4f}")


if __name__ == "__main__":
    main(int(sys.argv[1]))
