"""Programs for losses, convolutions, normalisation and linear algebra."""

from gradients.graphs.core import case, floats


@case
def losses(tf):
    logits, labels = floats(tf, [4, 3], [4, 3])
    loss = tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits)
    (dx,) = tf.gradients(loss, logits)
    tf.gradients(dx, logits)
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 1, 2, 0], logits=logits)
    tf.gradients(loss, logits)
    tf.gradients(tf.nn.l2_loss(logits), logits)
    loss = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
    tf.gradients(loss, logits)


@case
def biases(tf):
    x, b = floats(tf, [4, 3], [3])
    (dx, db) = tf.gradients(tf.square(tf.nn.bias_add(x, b)), [x, b])
    tf.gradients(db, x)


@case
def convolutions(tf):
    x, k = floats(tf, [1, 5, 5, 2], [3, 3, 2, 4])
    dx, dk = tf.gradients(tf.nn.conv2d(x, k, [1, 1, 1, 1], "SAME"), [x, k])
    tf.gradients(dx, [x, k])
    tf.gradients(dk, [x, k])
    (d,) = floats(tf, [3, 3, 2, 2])
    tf.gradients(tf.nn.depthwise_conv2d_native(x, d, [1, 1, 1, 1], "VALID"), [x, d])


@case
def pools(tf):
    (x,) = floats(tf, [1, 4, 4, 2])
    for pool in (tf.nn.max_pool, tf.nn.avg_pool):
        (dx,) = tf.gradients(pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "VALID"), x)
        tf.gradients(dx, x)


@case
def normalised(tf):
    x, scale, offset = floats(tf, [2, 3, 3, 4], [4], [4])
    y, _, _ = tf.nn.fused_batch_norm(x, scale, offset)
    tf.gradients(y, [x, scale, offset])
    mean, variance = floats(tf, [4], [4])
    y, _, _ = tf.nn.fused_batch_norm(x, scale, offset, mean, variance, is_training=False)
    tf.gradients(y, [x, scale, offset])
    tf.gradients(tf.nn.lrn(x), x)
    mean, variance = tf.nn.moments(x, [0, 1, 2])
    tf.gradients(tf.nn.batch_normalization(x, mean, variance, offset, scale, 1e-3), x)


# ---- linear algebra


@case
def inverses(tf):
    a, b = floats(tf, [3, 3], [3, 2])
    tf.gradients(tf.matrix_inverse(a), a)
    tf.gradients(tf.matrix_determinant(a), a)
    tf.gradients(tf.linalg.slogdet(a)[1], a)
    tf.gradients(tf.cholesky(a), a)
    for adjoint in (False, True):
        tf.gradients(tf.matrix_solve(a, b, adjoint=adjoint), [a, b])
        tf.gradients(tf.matrix_triangular_solve(a, b, lower=adjoint, adjoint=adjoint), [a, b])


@case
def decompositions(tf):
    (a,) = floats(tf, [3, 3])
    tf.gradients(tf.self_adjoint_eig(a), a)
    tf.gradients(tf.qr(a), a)
    tf.gradients(tf.svd(a), a)
    tf.gradients(tf.svd(a, compute_uv=False), a)
    (b,) = floats(tf, [3, 2])
    tf.gradients(tf.svd(b), b)


@case
def least_squares(tf):
    a, b = floats(tf, [3, 2], [3, 1])
    tf.gradients(tf.matrix_solve_ls(a, b), [a, b])
    a, b = floats(tf, [2, 3], [2, 1])
    tf.gradients(tf.matrix_solve_ls(a, b), [a, b])


@case
def gamma_samples(tf):
    (a,) = floats(tf, [2])
    tf.gradients(tf.random_gamma([5], a, seed=1), a)
