"""Numbers of contrib's layers in TensorFlow 1.15.5; recorded in values.json.gz.

TF=tensorflow PYTHONPATH=tests PYTHON tests/data/contrib/values.py > values.json.gz
"""

import numpy as np

from recording import evaluate, main

PROGRAMS = {}


def program(fn):
    PROGRAMS[fn.__name__] = fn
    return fn


def inputs(*shape):
    size = int(np.prod(shape))
    return np.sin(np.arange(size, dtype=np.float32) * 1.7).reshape(shape)


def learn(tf, out):
    """Outputs, loss and variables, after two steps of training with all updates."""
    loss = tf.reduce_sum(tf.square(out - 0.5)) + tf.losses.get_regularization_loss()
    variables = tf.trainable_variables()
    gradients = tf.gradients(loss, variables)
    # no update of a variable before all gradients are there
    with tf.control_dependencies(gradients + tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        optimizer = tf.train.GradientDescentOptimizer(0.01)
        train = optimizer.apply_gradients(list(zip(gradients, variables)))
    return [out, loss] + [v.read_value() for v in tf.global_variables()], train, {}


@program
def dense_layers(tf):
    layers = tf.contrib.layers
    x = layers.fully_connected(
        tf.constant(inputs(4, 3)), 5, weights_regularizer=layers.l1_l2_regularizer(0.1, 0.2)
    )
    return learn(tf, layers.linear(layers.layer_norm(x), 2))


@program
def convolutions(tf):
    layers = tf.contrib.layers
    x = layers.conv2d(tf.constant(inputs(2, 8, 8, 3)), 4, 3, 2, normalizer_fn=layers.batch_norm)
    x = layers.max_pool2d(x, 2)
    x = layers.conv2d_transpose(x, 2, 3, 2, weights_initializer=layers.xavier_initializer(False))
    return learn(tf, layers.flatten(x))


@program
def batch_norm_in_all_ways(tf):
    batch_norm = tf.contrib.layers.batch_norm
    x, train = tf.constant(inputs(6, 4)), tf.placeholder_with_default(True, [])
    x = batch_norm(x, 0.9, scale=True, updates_collections=None)
    x = batch_norm(x, 0.9, scale=True, fused=False, updates_collections=None, is_training=train)
    return learn(tf, batch_norm(x, 0.9, batch_weights=tf.constant(inputs(6)) + 1.0))


@program
def batch_norm_of_the_averages(tf):
    batch_norm = tf.contrib.layers.batch_norm
    x, train = tf.constant(inputs(6, 4)), tf.placeholder_with_default(False, [])
    x = batch_norm(x, is_training=train, updates_collections=None)
    return learn(tf, batch_norm(x, is_training=False, scale=True))


@program
def by_optimize_loss(tf):
    layers = tf.contrib.layers
    ids = tf.constant([[1, 2, 1], [0, 2, 2]])
    out = layers.embed_sequence(ids, 4, 3, unique=True)
    step = tf.train.get_or_create_global_step()
    train = layers.optimize_loss(
        tf.nn.l2_loss(out - 1.0), step, 0.1, "Momentum", clip_gradients=1.0, summaries=[]
    )
    return [v.read_value() for v in tf.global_variables()], train, {}


@program
def functions(tf):
    layers = tf.contrib.layers
    x = tf.constant(inputs(2, 3, 4))
    return (
        [
            layers.softmax(x),
            layers.maxout(x, 2),
            layers.unit_norm(x, 2),
            layers.one_hot_encoding([2, 0], 3, 5.0, 1.0),
            layers.dropout(x, 0.5, seed=3),
        ],
        None,
        {},
    )


@program
def sequence_loss(tf):
    loss = tf.contrib.seq2seq.sequence_loss
    logits, targets = tf.constant(inputs(2, 3, 4)), tf.constant([[0, 1, 2], [3, 2, 1]])
    weights = tf.constant([[1.0, 0.5, 0.0], [1.0, 0.0, 0.0]])
    sums = dict(average_across_timesteps=False, average_across_batch=False)
    return (
        [
            loss(logits, targets, weights),
            loss(logits, targets, weights, **sums),
            loss(logits, targets, weights, sum_over_timesteps=True, sum_over_batch=True, **sums),
            loss(logits, targets, weights, sum_over_batch=True, **sums),
            loss(logits, targets, weights, average_across_timesteps=False),
        ],
        None,
        {},
    )


if __name__ == "__main__":
    main(PROGRAMS, evaluate)
