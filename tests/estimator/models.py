"""Models and inputs that the tests of this folder share."""

from __future__ import annotations

import numpy as np

import minitf as tf

X = np.arange(8, dtype=np.float32)


def scaled(features, labels, mode, params):
    """y = w * x, with a squared error; w begins at 0."""
    w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
    predictions = features["x"] * w
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"y": predictions})
    loss = tf.reduce_mean(tf.square(predictions - labels))
    optimizer = tf.train.GradientDescentOptimizer(params["rate"])
    return tf.estimator.EstimatorSpec(
        mode,
        loss=loss,
        train_op=optimizer.minimize(loss, global_step=tf.train.get_global_step()),
        eval_metric_ops={"mae": tf.metrics.mean_absolute_error(labels, predictions)},
    )


def batches(num_epochs=None, shuffle=False):
    """Four of the eight pairs (x, 3 x) at a time."""
    return tf.estimator.inputs.numpy_input_fn(
        {"x": X}, 3 * X, batch_size=4, num_epochs=num_epochs, shuffle=shuffle
    )


def estimator(path, rate=0.01, **config):
    return tf.estimator.Estimator(
        scaled, str(path), tf.estimator.RunConfig(**config), params={"rate": rate}
    )


def serving():
    x = tf.placeholder(tf.float32, [None], name="px")
    return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})
