"""Programs for ops that shape, slice, join and gather."""

from gradients.graphs.core import case, floats


@case
def shapes(tf):
    (x,) = floats(tf, [2, 3])
    tf.gradients(tf.reshape(x, [6]), x)
    tf.gradients(tf.expand_dims(x, 1), x)
    tf.gradients(tf.squeeze(tf.expand_dims(x, 0)), x)
    tf.gradients(tf.transpose(x), x)
    tf.gradients(tf.transpose(x, [1, 0]), x)
    tf.gradients(tf.tile(x, [2, 1]), x)
    tf.gradients(tf.broadcast_to(x, [4, 2, 3]), x)
    tf.gradients(tf.fill([2, 3], x[0, 0]), x)
    tf.gradients(tf.reverse(x, [1]), x)
    tf.gradients(tf.reverse_sequence(x, [1, 2], seq_axis=1, batch_axis=0), x)
    tf.gradients(tf.roll(x, 1, 0), x)
    tf.gradients(tf.identity(x), x)
    tf.gradients(tf.identity_n([x, x * 2])[1], x)
    tf.gradients(tf.placeholder_with_default(x, [2, 3]), x)


@case
def unknown_shapes(tf):
    (x,) = floats(tf, [None, 3])
    tf.gradients(tf.reshape(x, [-1]), x)
    tf.gradients(tf.tile(x, [2, 1]), x)
    tf.gradients(tf.pad(x, [[1, 0], [0, 2]]), x)
    tf.gradients(x[1:, 0], x)
    tf.gradients(tf.slice(x, [0, 1], [1, 2]), x)


@case
def paddings(tf):
    (x,) = floats(tf, [2, 3])
    tf.gradients(tf.pad(x, [[1, 0], [0, 2]]), x)
    tf.gradients(tf.pad(x, [[1, 0], [0, 2]], constant_values=1.0), x)
    (dx,) = tf.gradients(tf.pad(x, [[1, 0], [0, 2]], "REFLECT") ** 2, x)
    tf.gradients(dx, x)


@case
def blocks(tf):
    (x,) = floats(tf, [1, 4, 4, 4])
    tf.gradients(tf.space_to_batch_nd(x, [2, 2], [[0, 0], [0, 0]]), x)
    tf.gradients(tf.space_to_depth(x, 2), x)
    tf.gradients(tf.depth_to_space(x, 2), x)
    (y,) = floats(tf, [4, 2, 2, 1])
    tf.gradients(tf.batch_to_space_nd(y, [2, 2], [[0, 0], [0, 0]]), y)


@case
def patches(tf):
    (x,) = floats(tf, [1, 4, 4, 2])
    tf.gradients(tf.extract_image_patches(x, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "SAME"), x)


@case
def lists(tf):
    x, y = floats(tf, [2, 3], [2, 3])
    tf.gradients(tf.stack([x, y], 1), [x, y])
    tf.gradients(tf.unstack(x, axis=1)[1], x)
    tf.gradients(tf.split(x, 3, 1)[0], x)
    tf.gradients(tf.split(x, [1, 2], 1)[0], x)


@case
def concatenations(tf):
    x, y = floats(tf, [2, 3], [4, 3])
    tf.gradients(tf.concat([x, y], 0), [x, y])
    tf.gradients(tf.concat([x, x], -1), [x])
    tf.gradients(tf.concat([x] * 17, 1), [x])
    tf.gradients(tf.raw_ops.Concat(concat_dim=0, values=[x, y]), [x, y])
    (z,) = floats(tf, [None, 3])
    tf.gradients(tf.concat([x, z], 0), [x, z])


@case
def sparse_concatenations(tf):
    x, y = floats(tf, [2, 3], [4, 3])
    tf.gradients(tf.gather(tf.concat([x, y], 0), [1]), [x, y])
    tf.gradients(tf.gather(tf.concat([x, x], 1), [1]), [x])


@case
def slices(tf):
    (x,) = floats(tf, [2, 3])
    tf.gradients(tf.slice(x, [0, 1], [1, 2]), x)
    (dx,) = tf.gradients(x[1:, 0] ** 2, x)
    tf.gradients(dx, x)
    tf.gradients(x[..., tf.newaxis, 1], x)


@case
def diagonals(tf):
    x, m, n = floats(tf, [3], [3, 3], [3, 4])
    tf.gradients(tf.diag(x), x)
    tf.gradients(tf.diag_part(m), m)
    tf.gradients(tf.matrix_diag(x), x)
    tf.gradients(tf.matrix_diag_part(m), m)
    tf.gradients(tf.matrix_diag_part(n), n)
    tf.gradients(tf.matrix_set_diag(m, x), [m, x])
    tf.gradients(tf.matrix_set_diag(n, x), [n, x])
    tf.gradients(tf.matrix_band_part(m, 1, 0), m)
    (u,) = floats(tf, [None, 3])
    tf.gradients(tf.matrix_set_diag(u, x), [u, x])


@case
def checked(tf):
    (x,) = floats(tf, [2])
    tf.gradients(tf.Print(x, [x]), x)


# ---- gathers and scatters


@case
def gathers(tf):
    (x,) = floats(tf, [4, 3])
    tf.gradients(tf.gather(x, [[1, 2], [0, 0]]), x)
    tf.gradients(tf.gather(x, [1, 2], axis=1), x)
    tf.gradients(tf.raw_ops.Gather(params=x, indices=[1]), x)
    tf.gradients(tf.gather_nd(x, [[1, 2], [0, 0]]), x)
    tf.gradients(tf.gather_nd(x, [[1], [0]]), x)
    (y,) = floats(tf, [2, 4, 3])
    tf.gradients(tf.gather(y, [[1, 2], [0, 0]], batch_dims=1, axis=1), y)


@case
def gathers_elsewhere(tf):
    with tf.device("/job:ps"):
        (x,) = floats(tf, [4, 3])
    with tf.device("/job:worker"):
        y = tf.gather(x, [1, 2])
        tf.gradients(y, x)


@case
def dense_from_rows(tf):
    (x,) = floats(tf, [4, 3])
    tf.gradients(tf.gather(tf.sin(x), [1, 2]), x)
    tf.gradients(tf.gather(tf.reshape(x, [3, 4]), [1, 2]), x)
    tf.gradients(tf.gather(tf.tile(x, [2, 1]), [1, 2]), x)


@case
def scatters(tf):
    x, u = floats(tf, [4, 3], [2, 3])
    at = tf.constant([[1], [0]])
    tf.gradients(tf.scatter_nd(at, u, [4, 3]), u)
    tf.gradients(tf.tensor_scatter_update(x, at, u), [x, u])
    tf.gradients(tf.tensor_scatter_add(x, at, u), [x, u])
    tf.gradients(tf.tensor_scatter_sub(x, at, u), [x, u])


@case
def partitions(tf):
    (x,) = floats(tf, [4, 3])
    a, b = tf.dynamic_partition(x, [0, 1, 1, 0], 2)
    tf.gradients([a, b], x)
    tf.gradients(a, x)
    tf.gradients(tf.dynamic_stitch([[0, 2], [1, 3]], [x[:2], x[2:]]), x)
