"""Small programs whose gradient graphs are compared, op by op, with those of TensorFlow 1.15.5.

Run by a Python that has TensorFlow, this file writes the recorded graphs anew:
    PYTHON tests/gradients/graph_cases.py > tests/data/gradient_graphs.txt
"""

CASES = {}

UNARY = dict.fromkeys(
    "Neg Abs Reciprocal Square Sqrt Rsqrt Exp Expm1 Log Log1p Sin Cos Tan Asin Acos Atan Sinh Cosh "
    "Tanh Asinh Acosh Atanh Sigmoid Erf Erfc Lgamma Digamma BesselI0e BesselI1e Sign".split(),
    "x",
)
UNARY.update(dict.fromkeys("Relu Relu6 Elu Selu LeakyRelu Softplus Softsign".split(), "features"))
UNARY.update(dict.fromkeys(("Softmax", "LogSoftmax"), "logits"))
TWICE = set(
    "Reciprocal Square Sqrt Rsqrt Exp Tanh Sigmoid Relu Relu6 Elu Selu LeakyRelu Softplus".split()
)
BINARY = (
    "Add AddV2 Sub Mul MulNoNan Div RealDiv DivNoNan FloorMod Pow Maximum Minimum "
    "SquaredDifference Atan2 Xlogy Xdivy Igamma Igammac Zeta Polygamma NextAfter FloorDiv".split()
)
OTHER_NAMES = {
    "Atan2": ("y", "x"),
    "Igamma": ("a", "x"),
    "Igammac": ("a", "x"),
    "Zeta": ("x", "q"),
    "Polygamma": ("a", "x"),
    "NextAfter": ("x1", "x2"),
}


def case(fn):
    CASES[fn.__name__] = fn
    return fn


def unary(op_type):
    def build(tf):
        x = tf.placeholder(tf.float32, [2, 3], name="x")
        y = getattr(tf.raw_ops, op_type)(**{UNARY[op_type]: x})
        (dx,) = tf.gradients(y, x)
        if op_type in TWICE:
            tf.gradients(dx, x, name="second")

    return build


def binary(op_type, *shapes):
    def build(tf):
        x, y = (tf.placeholder(tf.float32, s, name=n) for n, s in zip("xy", shapes))
        names = OTHER_NAMES.get(op_type, ("x", "y"))
        z = getattr(tf.raw_ops, op_type)(**dict(zip(names, (x, y))))
        tf.gradients(z, [x, y])

    return build


for _name in UNARY:
    CASES["unary_" + _name] = unary(_name)
for _name in BINARY:
    CASES["same_" + _name] = binary(_name, [2, 3], [2, 3])
    CASES["wide_" + _name] = binary(_name, [2, 3], [1, 3])
    CASES["unknown_" + _name] = binary(_name, [None, 3], [3])


def floats(tf, *shapes):
    return [
        tf.placeholder(tf.float32, s, name="x%d" % i if i else "x") for i, s in enumerate(shapes)
    ]


# ---- the driver


@case
def two_losses(tf):
    x, y = floats(tf, [2], [2])
    tf.gradients([x * y, tf.reduce_sum(y)], [x, y], grad_ys=[None, 3.0])


@case
def sums_of_terms(tf):
    x, y = floats(tf, [2], [2])
    z = x * y + x + tf.sin(x)
    for method in (0, 1, 2):
        tf.gradients(z, [x, y], aggregation_method=method)


@case
def sums_on_devices(tf):
    (x,) = floats(tf, [2])
    with tf.device("/job:a"):
        p = tf.sin(x)
        q = tf.cos(x)
    with tf.device("/job:b"):
        r = tf.exp(x)
    tf.gradients([p, q, r], x, colocate_gradients_with_ops=True)


@case
def gated(tf):
    x, y = floats(tf, [2, 2], [2, 2])
    with tf.device("/job:a"):
        z = tf.matmul(x, y)
    with tf.name_scope("outer"), tf.device("/job:b"):
        w = tf.matmul(z, z, name="w") - x
        tf.gradients(w, [x, y], gate_gradients=True, colocate_gradients_with_ops=True)


@case
def stopped(tf):
    (a,) = floats(tf, [2])
    b = 2 * a
    tf.gradients(a + b, [a, b], stop_gradients=[a, b])
    tf.gradients(a + tf.stop_gradient(b), [a, b])


@case
def unconnected(tf):
    x, y = floats(tf, [2, None], [2])
    tf.gradients(tf.sin(x), [x, y])
    tf.gradients(tf.sin(x), [x, y], unconnected_gradients="zero")
    tf.gradients(tf.sin(y), [x, y], unconnected_gradients="zero")


@case
def through_x(tf):
    (x,) = floats(tf, [2])
    y = tf.sin(x)
    z = tf.cos(y) * y
    tf.gradients(z, [x, y])
    tf.gradients([z, y], [y])


@case
def several_outputs(tf):
    (x,) = floats(tf, [4, 2])
    a, b, c, d = tf.unstack(x)
    tf.gradients(a * d, x)


@case
def sparse_grad_ys(tf):
    (x,) = floats(tf, [4, 2])
    y = tf.gather(x, [1, 2])
    given = tf.IndexedSlices(tf.ones([1, 2]), tf.constant([1]), tf.constant([2, 2]))
    tf.gradients(y, x, grad_ys=[given])


@case
def sparse_sums(tf):
    (x,) = floats(tf, [4, 2])
    y = tf.reduce_sum(tf.gather(x, [1, 2])) + tf.reduce_sum(tf.gather(x, [3]))
    tf.gradients(y, x)
    long = tf.gather(x, tf.constant([0], tf.int64))
    tf.gradients([y, long], x)
    tf.gradients([y, tf.sin(x)], x)


@case
def groups(tf):
    a, b = floats(tf, [2], [2])
    with tf.device("/job:a/task:1"):
        p = tf.sin(a)
        q = tf.cos(a)
    with tf.device("/job:b"):
        r = tf.exp(b)
    tf.group(p, q)
    tf.group([p, {"k": r}], name="both")
    tf.group()
    tf.tuple([p, None, r.op, tf.IndexedSlices(q, tf.constant([0]))], control_inputs=[b])
    tf.tuple([p, r], name="named")
    with tf.device("/job:c"):
        tf.group(p, r)


@case
def override(tf):
    if "Other" not in getattr(tf, "_test_gradients", ()):
        tf.RegisterGradient("Other")(lambda op, grad: 7.0 * grad)
        tf._test_gradients = ("Other",)
    (x,) = floats(tf, [2])
    with tf.get_default_graph().gradient_override_map({"Sin": "Other"}):
        y = tf.sin(x)
    tf.gradients(y, x)


# ---- choices, casts and complex numbers


@case
def choices(tf):
    x, y = floats(tf, [2], [2])
    c = x > y
    tf.gradients(tf.where(c, x, y), [x, y])
    tf.gradients(tf.where_v2(c, x, y[0]), [x, y])


@case
def casts(tf):
    (x,) = floats(tf, [2])
    tf.gradients(tf.cast(tf.cast(x, tf.float64), tf.float16), x)
    tf.gradients(tf.cast(tf.cast(x, tf.int32), tf.float32), x)


@case
def complex_numbers(tf):
    x, y = floats(tf, [2], [2])
    z = tf.complex(x, y)
    w = tf.conj(z) * tf.exp(z) / z
    tf.gradients([tf.real(w), tf.imag(w), tf.abs(w), tf.angle(w)], [x, y])


@case
def clipped(tf):
    (x,) = floats(tf, [2, 3])
    tf.gradients(tf.clip_by_value(x, -1.0, 1.0), x)
    tf.gradients(tf.clip_by_norm(x, 1.0), x)
    tf.gradients(tf.add_n([x, x, x]), x)


@case
def betainc(tf):
    a, b, x = floats(tf, [2], [2], [2])
    tf.gradients(tf.betainc(a, b, x), [a, b, x])


# ---- reductions


def reduction(name, shape, **kwargs):
    def build(tf):
        (x,) = floats(tf, shape)
        tf.gradients(getattr(tf, "reduce_" + name)(x, **kwargs), x)

    return build


for _name in "sum mean max min prod".split():
    CASES["all_" + _name] = reduction(_name, [2, 3])
    CASES["axis_" + _name] = reduction(_name, [2, 3], axis=1)
    CASES["kept_" + _name] = reduction(_name, [None, 3], axis=[0], keepdims=True)
    CASES["unranked_" + _name] = reduction(_name, None)
CASES["logsumexp"] = reduction("logsumexp", [2, 3], axis=1)


@case
def repeated_shapes(tf):
    x, y = floats(tf, [2, 3], [3])
    tf.gradients(tf.reduce_sum(x + y, 0) + tf.reduce_sum(x * y, 0), [x, y])


@case
def cumulative(tf):
    (x,) = floats(tf, [2, 3])
    tf.gradients(tf.cumsum(x, 1, exclusive=True), x)
    tf.gradients(tf.cumprod(x, reverse=True), x)


@case
def searched(tf):
    (x,) = floats(tf, [2, 3])
    tf.gradients(tf.nn.top_k(x, 2).values, x)
    tf.gradients(tf.raw_ops.NthElement(input=x, n=1), x)


# ---- products


@case
def products(tf):
    a, b = floats(tf, [2, 2], [2, 2])
    for flip_a in (False, True):
        for flip_b in (False, True):
            c = tf.matmul(a, b, transpose_a=flip_a, transpose_b=flip_b)
            tf.gradients(c, [a, b])


@case
def batch_products(tf):
    a, b, c = floats(tf, [5, 2, 2], [5, 2, 2], [2, 2])
    for flip_a in (False, True):
        for flip_b in (False, True):
            tf.gradients(tf.matmul(a, b, adjoint_a=flip_a, adjoint_b=flip_b), [a, b])
    tf.gradients(tf.raw_ops.BatchMatMulV2(x=a, y=c), [a, c])
    tf.gradients(tf.raw_ops.BatchMatMul(x=a, y=b), [a, b])


@case
def tensor_products(tf):
    a, b = floats(tf, [2, 3, 4], [4, 3])
    tf.gradients(tf.tensordot(a, b, [[2, 1], [0, 1]]), [a, b])
    u, v = floats(tf, [2, 3], [2, 3])
    tf.gradients(tf.cross(u, v), [u, v])


# ---- segments


@case
def segments(tf):
    (x,) = floats(tf, [4, 2])
    ids = tf.constant([0, 0, 1, 2])
    for name in "sum mean min max".split():
        tf.gradients(getattr(tf, "segment_" + name)(x, ids), x)


@case
def unsorted_segments(tf):
    (x,) = floats(tf, [4, 2])
    ids = tf.constant([0, 2, -1, 0])
    for name in "sum mean min max prod sqrt_n".split():
        tf.gradients(getattr(tf, "unsorted_segment_" + name)(x, ids, 3), x)


@case
def sparse_segments(tf):
    (x,) = floats(tf, [4, 2])
    for name in "sum mean sqrt_n".split():
        fn = getattr(tf, "sparse_segment_" + name)
        tf.gradients(fn(x, [0, 2, 3], [0, 0, 1]), x)
        tf.gradients(fn(x, [0, 2, 3], [0, 0, 1], num_segments=3), x)


# ---- shapes


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


# ---- nn


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


# ---- variables


@case
def variables(tf):
    v = tf.get_variable("v", [4, 2])
    tf.gradients(tf.matmul(v, v, transpose_a=True) + tf.gather(v, [1, 2]), v)
    tf.gradients(tf.nn.embedding_lookup(v, [1, 2]), v)


@case
def resource_variables(tf):
    v = tf.get_variable("v", [4, 2], use_resource=True)
    w = tf.get_variable("w", [4, 2], use_resource=True)
    tf.gradients(tf.matmul(v, v, transpose_a=True), [v, w])
    tf.gradients(tf.nn.embedding_lookup(v, [1, 2]), v)
    tf.gradients(tf.sin(v), [v, w], unconnected_gradients="zero")
    tf.gradients(tf.gather(v, [1, 0]), v)
    tf.gradients(tf.gather_nd(v, [[1], [0]]), v)


@case
def custom(tf):
    (x,) = floats(tf, [2])

    @tf.custom_gradient
    def log1pexp(x):
        e = tf.exp(x)
        return tf.log(1 + e), lambda dy: dy * (1 - 1 / (1 + e))

    tf.gradients(log1pexp(x), x)


def lines(tf, build):
    """The graph that `build` makes, a line for each op; a last line for an error."""
    error = []
    with tf.Graph().as_default() as graph:
        try:
            build(tf)
        except (ValueError, NotImplementedError) as e:
            error.append("raises " + type(e).__name__)
    return [line(op) for op in graph.get_operations()] + error


def line(op):
    inputs = [t.name for t in op.inputs] + sorted("^" + c.name for c in op.control_inputs)
    groups = [g.decode() for g in op.colocation_groups() if g.decode() != "loc:@" + op.name]
    where = [op.device] if op.device else []
    return " ".join(["%s = %s(%s)" % (op.name, op.type, ", ".join(inputs))] + where + groups)


def text(tf, names):
    parts = []
    for name in names:
        parts += ["# " + name] + lines(tf, CASES[name]) + [""]
    return "\n".join(parts)


if __name__ == "__main__":
    import tensorflow

    print(text(tensorflow, sorted(CASES)))
