"""Small programs whose values, and gradients, are compared with those of TensorFlow 1.15.5.

Run by a Python that has TensorFlow, this file writes the recorded values anew:
    PYTHON tests/ops/nn_value_cases.py > tests/data/nn_values.json
A case gives tensors; a pair (tensor, inputs) adds the gradients of the tensor by its inputs.
"""

import json
import sys

import numpy as np

CASES = {}


def case(fn):
    CASES[fn.__name__] = fn
    return fn


def numbers(*shape, **kw):
    """Distinct numbers between -2 and 2, in an order that looks random."""
    n = int(np.prod(shape))
    mixed = (np.arange(n) * 7919 + 13) % max(1, n)
    return ((mixed + 0.5) / max(1, n) * 4 - 2).reshape(shape).astype(kw.get("dtype", "float32"))


@case
def activations(tf):
    x = tf.constant(np.append(numbers(3, 5).ravel(), [0.0, 7.0, 60.0, -60.0]).astype("f"))
    names = "relu relu6 elu selu softplus softsign leaky_relu sigmoid tanh".split()
    return [(getattr(tf.nn, n)(x), [x]) for n in names]


@case
def steep_leaky_relu(tf):
    x = tf.constant(numbers(5))
    return [(tf.nn.leaky_relu(x, 3.0), [x])]


@case
def activations_of_float64(tf):
    x = tf.constant(numbers(3, 5, dtype="float64"))
    return [(getattr(tf.nn, n)(x), [x]) for n in "elu selu softplus softsign".split()]


@case
def softmax(tf):
    x = tf.constant(numbers(2, 3, 4) * 10)
    return [
        (tf.nn.softmax(x) ** 2, [x]), (tf.nn.log_softmax(x) ** 2, [x]),
        tf.nn.softmax(x, axis=1), tf.nn.log_softmax(x, axis=0),
    ]  # fmt: skip


@case
def cross_entropies(tf):
    x, y = tf.constant(numbers(3, 4)), tf.nn.softmax(numbers(3, 4) * 2)
    labels = tf.constant([3, 0, 2], tf.int64)
    v2 = tf.nn.softmax_cross_entropy_with_logits_v2
    return [
        (v2(labels=y, logits=x), [x, y]),
        (tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=x), [x]),
        (tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=x), [x]),
        (tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=x), [x, y]),
        (tf.nn.weighted_cross_entropy_with_logits(y, x, 2.5), [x]),
        (tf.nn.log_poisson_loss(tf.exp(x), x, True), [x]),
        tf.raw_ops.SoftmaxCrossEntropyWithLogits(features=x, labels=y[:1])[0],
        v2(labels=[[1.0, 0.0]], logits=tf.constant([[3.0, 4.0]], tf.float16)),
    ]  # fmt: skip


@case
def biases(tf):
    x, b = tf.constant(numbers(2, 3, 3, 4)), tf.constant(numbers(4))
    y, c = tf.constant(numbers(2, 3, 4)), tf.constant(numbers(3))
    return [
        (tf.nn.bias_add(x, b) ** 2, [x, b]),
        (tf.nn.xw_plus_b(numbers(2, 3), numbers(3, 4), b), [b]),
        tf.raw_ops.BiasAddGrad(out_backprop=x),
        tf.raw_ops.BiasAddGrad(out_backprop=y, data_format="NCHW"),
        tf.nn.bias_add(x[:, :, 0], c, "NCHW"),
        (tf.nn.l2_loss(x), [x]),
    ]  # fmt: skip


@case
def normalisation(tf):
    x = tf.constant(numbers(2, 3, 2, 6))
    c = tf.constant(numbers(6))
    mean, variance = tf.nn.moments(x, [0, 1, 2])
    return [
        (tf.nn.l2_normalize(x, 3) ** 3, [x]),
        (mean * variance, [x]),
        (tf.nn.batch_normalization(x, mean, variance, c, c, 1e-3) ** 2, [x, c]),
        (tf.nn.lrn(x, 2, 1.5, 0.7, 0.6) ** 2, [x]),
        tf.nn.lrn(x),
        *tf.nn.weighted_moments(x, [1, 3], tf.abs(c)),
        *tf.nn.sufficient_statistics(x, [0, 2], shift=0.5)[:3],
    ]  # fmt: skip


@case
def fused_batch_norm(tf):
    x, scale, offset = tf.constant(numbers(3, 2, 4, 5)), numbers(5) + 3, numbers(5)
    scale, offset = tf.constant(scale), tf.constant(offset)
    y, mean, variance = tf.nn.fused_batch_norm(x, scale, offset)
    given = tf.nn.fused_batch_norm(x, scale, offset, offset, scale, is_training=False)
    return [
        (y**2, [x, scale, offset]), mean, variance,
        (given[0] ** 2, [x, scale, offset]),
        tf.nn.fused_batch_norm(x[:1, :1, :1], scale, offset)[2],
    ]  # fmt: skip


@case
def conv2d(tf):
    x, f = tf.constant(numbers(2, 7, 6, 3)), tf.constant(numbers(3, 2, 3, 4))
    one = tf.constant(numbers(1, 1, 3, 2))
    pads = [[0, 0], [1, 2], [0, 3], [0, 0]]
    return [
        (tf.nn.conv2d(x, f, 1, "SAME"), [x, f]),
        (tf.nn.conv2d(x, f, [1, 2, 3, 1], "SAME"), [x, f]),
        (tf.nn.conv2d(x, f, 2, "VALID") ** 2, [x, f]),
        (tf.nn.conv2d(x, f, 2, pads), [x, f]),
        (tf.nn.conv2d(x, one, 1, "VALID"), [x, one]),
        tf.nn.conv2d(x, f, 1, "SAME", dilations=2),
        tf.nn.atrous_conv2d(x, f, 2, "SAME"),
        tf.nn.conv2d_transpose(numbers(2, 4, 3, 4), f, [2, 7, 6, 3], 2),
        tf.nn.conv2d(x[:0], f, 1, "SAME"),
        tf.nn.conv2d(tf.cast(x, tf.float64), tf.cast(f, tf.float64), 1, "SAME"),
    ]  # fmt: skip


@case
def conv_of_other_ranks(tf):
    x, f = tf.constant(numbers(2, 7, 3)), tf.constant(numbers(4, 3, 2))
    v, g = tf.constant(numbers(1, 4, 5, 4, 2)), tf.constant(numbers(2, 3, 2, 2, 3))
    return [
        (tf.nn.conv1d(x, f, 2, "SAME"), [x, f]),
        (tf.nn.conv3d(v, g, [1, 1, 2, 1, 1], "SAME"), [v, g]),
        (tf.nn.conv3d(v, g, [1, 2, 1, 1, 1], "VALID"), [v, g]),
        tf.nn.conv1d_transpose(numbers(2, 4, 2), f, [2, 7, 3], 2),
    ]  # fmt: skip


@case
def depthwise(tf):
    x, f = tf.constant(numbers(2, 6, 5, 3)), tf.constant(numbers(3, 2, 3, 2))
    point = tf.constant(numbers(1, 1, 6, 4))
    return [
        (tf.nn.depthwise_conv2d_native(x, f, [1, 1, 1, 1], "SAME"), [x, f]),
        (tf.nn.depthwise_conv2d_native(x, f, [1, 2, 2, 1], "VALID"), [x, f]),
        (tf.nn.separable_conv2d(x, f, point, [1, 1, 1, 1], "SAME"), [x, f, point]),
        tf.nn.depthwise_conv2d(x, f, [1, 1, 1, 1], "SAME", rate=[2, 2]),
    ]  # fmt: skip


@case
def pooling(tf):
    x = tf.constant(numbers(2, 7, 6, 3))
    v = tf.constant(numbers(1, 4, 5, 4, 2))
    flat = tf.constant(np.ones((1, 4, 4, 2), "f"))
    return [
        (tf.nn.max_pool(x, 2, 2, "SAME") ** 2, [x]),
        (tf.nn.max_pool(x, 3, 2, "VALID") ** 2, [x]),
        (tf.nn.max_pool(x, [1, 3, 2, 1], [1, 1, 3, 1], "SAME") ** 2, [x]),
        tf.nn.max_pool(x, [1, 1, 1, 3], [1, 1, 1, 3], "VALID"),
        (tf.nn.max_pool(flat, 2, 1, "SAME"), [flat]),
        (tf.nn.avg_pool(x, 2, 2, "SAME") ** 2, [x]),
        (tf.nn.avg_pool(x, 3, 2, "SAME") ** 2, [x]),
        (tf.nn.avg_pool(x, [1, 2, 3, 1], 1, "VALID") ** 2, [x]),
        (tf.nn.max_pool3d(v, 2, 2, "SAME") ** 2, [v]),
        (tf.nn.avg_pool3d(v, 2, 2, "SAME") ** 2, [v]),
        *tf.nn.max_pool_with_argmax(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME"),
        tf.nn.max_pool(tf.constant([[[[-3], [5]], [[4], [-9]]]]), 2, 1, "SAME"),
        tf.nn.pool(x, [2, 2], "MAX", "VALID", dilation_rate=[2, 2]),
    ]  # fmt: skip


@case
def embeddings(tf):
    tables = [tf.constant(numbers(3, 2)), tf.constant(numbers(2, 2) * 3)]
    ids = tf.constant([[0, 3], [4, 1]])
    sparse = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], tf.constant([1, 3, 3], tf.int64), [3, 2])
    weights = tf.SparseTensor(sparse.indices, [1.0, 2.0, 0.5], sparse.dense_shape)
    out = [
        tf.nn.embedding_lookup(tables, ids), tf.nn.embedding_lookup(tables, ids, "div"),
        tf.nn.embedding_lookup(tables[0], [2, 0], max_norm=1.0),
    ]  # fmt: skip
    for combiner in ("sum", "mean", "sqrtn"):
        for w in (None, weights):
            out.append(tf.nn.embedding_lookup_sparse(tables, sparse, w, combiner=combiner))
    out.append(tf.nn.safe_embedding_lookup_sparse(tables, sparse, weights))
    return out + [tf.nn.safe_embedding_lookup_sparse(tables, sparse, default_id=2)]


@case
def sampled(tf):
    w, b = tf.constant(numbers(12, 3)), tf.constant(numbers(12))
    x, labels = tf.constant(numbers(2, 3)), tf.constant([[3], [1]], tf.int64)
    values = tf.nn.log_uniform_candidate_sampler(labels, 1, 4, True, 12, seed=5)
    uniform = tf.nn.uniform_candidate_sampler(labels, 1, 6, False, 12, seed=6)
    every = tf.nn.all_candidate_sampler(labels, 1, 12, True)
    return [
        *values, *uniform, *every, *tf.nn.compute_accidental_hits(labels, every[0], 1),
        (tf.nn.nce_loss(w, b, labels, x, 4, 12, sampled_values=values), [w, x]),
        (tf.nn.sampled_softmax_loss(w, b, labels, x, 4, 12, sampled_values=values), [w, x]),
        tf.nn.sampled_softmax_loss(w, b, labels, x, 4, 12, seed=8),
    ]  # fmt: skip


@case
def losses(tf):
    x, y = tf.constant(numbers(3, 4)), tf.constant((numbers(3, 4) > 0).astype("f"))
    w = tf.constant([[0.5], [0.0], [2.0]])
    p = tf.nn.sigmoid(x)
    of = tf.losses
    simple = [
        of.absolute_difference(y, x, w), of.hinge_loss(y, x, w), of.huber_loss(y, x, w, 0.5),
        of.log_loss(y, p, w), of.mean_squared_error(y, x, w), of.cosine_distance(y, x, 1),
        of.mean_pairwise_squared_error(y, x, w), of.sigmoid_cross_entropy(y, x, w, 0.1),
        of.softmax_cross_entropy(y, x, [1.0, 0.0, 2.0], 0.1),
        of.sparse_softmax_cross_entropy([1, 2, 0], x, [0.0, 1.0, 1.0]), of.get_total_loss(),
    ]  # fmt: skip
    kinds = sorted(set(of.Reduction.all()))
    return [(loss, [x]) for loss in simple] + [
        of.compute_weighted_loss(x, w, reduction=kind) for kind in kinds
    ]


@case
def checks(tf):
    x = tf.constant([1, 2, 2, 5])
    return [
        tf.is_non_decreasing(x), tf.is_strictly_increasing(x), tf.is_strictly_increasing([3]),
        tf.nn.zero_fraction([0.0, 1.0, 0.0, 0.0]), tf.nn.in_top_k(numbers(2, 3), [0, 1], 2),
    ]  # fmt: skip


def tensors(tf, build):
    """The tensors of a case and the gradients that it asks for."""
    out = []
    for made in build(tf):
        if not isinstance(made, tuple):
            out.append(made)
            continue
        value, inputs = made
        out += [value] + [tf.convert_to_tensor(g) for g in tf.gradients(value, inputs)]
    return out


def values(tf, build):
    with tf.Graph().as_default(), tf.Session() as session:
        return [np.asarray(v) for v in session.run(tensors(tf, build))]


if __name__ == "__main__":
    import tensorflow

    recorded = {
        name: [[v.dtype.name, v.shape, [float("%.8g" % x) for x in v.ravel()]] for v in found]
        for name, found in ((n, values(tensorflow, CASES[n])) for n in sorted(CASES))
    }
    json.dump(recorded, sys.stdout)
