"""Small programs whose graphs are compared, op by op, with those of TensorFlow 1.15.5.

Run by a Python that has TensorFlow, this file writes the recorded graphs anew:
    PYTHON tests/ops/nn_graph_cases.py > tests/data/nn_graphs.txt
"""

CASES = {}


def case(fn):
    CASES[fn.__name__] = fn
    return fn


def ph(tf, *shape, **kw):
    known = shape != (None,) or None
    return tf.placeholder(kw.get("dtype", tf.float32), shape if known else None, kw.get("name"))


# ---- activations, softmax, dropout


@case
def activations(tf):
    x = ph(tf, 2, 3)
    for name in "relu elu selu softplus softsign relu6 leaky_relu crelu sigmoid tanh".split():
        getattr(tf.nn, name)(x)
    tf.nn.leaky_relu(ph(tf, 2, dtype=tf.int32), 0.5, name="leak")
    tf.nn.crelu(x, axis=0, name="c")
    tf.nn.l2_loss(x)


@case
def softmax(tf):
    x = ph(tf, 2, None, 4)
    tf.nn.softmax(x)
    tf.nn.log_softmax(x, axis=1, name="log")
    tf.nn.softmax(x, dim=0)
    tf.nn.softmax(x, axis=-2)
    tf.nn.softmax(x, axis=tf.placeholder(tf.int32, [], "axis"))
    tf.nn.softmax(x, 5)


@case
def layers(tf):
    x, w, b = ph(tf, 2, 3), ph(tf, 3, 4), ph(tf, 4)
    tf.nn.xw_plus_b(x, w, b)
    tf.nn.relu_layer(x, w, b, name="layer")
    tf.nn.bias_add(x, [1.0, 2.0, 3.0])
    tf.nn.bias_add(ph(tf, 2, 4, 3, 3), b, "NCW")
    tf.nn.bias_add(ph(tf, None), b, "NWC")
    tf.nn.bias_add(x, b)


@case
def dropout(tf):
    x = ph(tf, 4, None)
    tf.nn.dropout(x, 0.5)
    tf.nn.dropout(x, rate=0.25, noise_shape=[None, 1], seed=3, name="drop")
    tf.nn.dropout(x, 1.0)
    tf.nn.dropout(x, rate=tf.placeholder(tf.float32, [], "rate"))
    tf.nn.dropout(ph(tf, 4, dtype=tf.float64), rate=0.1, noise_shape=tf.constant([1]))
    tf.nn.dropout(x, rate=0.0)
    tf.nn.dropout(x, rate=1.0)


@case
def zero_fraction(tf):
    tf.nn.zero_fraction(ph(tf, 2, 3))
    tf.nn.zero_fraction(ph(tf, None, dtype=tf.int32), name="share")


# ---- losses of tf.nn


@case
def softmax_cross_entropy(tf):
    x, y = ph(tf, 2, 3), ph(tf, 2, 3)
    tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=x)
    tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=x, name="xent")
    tf.nn.softmax_cross_entropy_with_logits_v2(ph(tf, None, 4, 3), ph(tf, None, 4, 3), axis=1)
    tf.nn.softmax_cross_entropy_with_logits_v2(labels=[[1, 0, 0]], logits=ph(tf, None))
    half = ph(tf, 2, 3, dtype=tf.float16)
    tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=half)


@case
def sparse_softmax_cross_entropy(tf):
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits
    loss(labels=[1, 2], logits=ph(tf, 2, 3))
    loss(labels=ph(tf, None, dtype=tf.int64), logits=ph(tf, None, 3), name="xent")
    loss(labels=ph(tf, 2, 4, dtype=tf.int32), logits=ph(tf, 2, 4, 3))
    loss(labels=ph(tf, None, 4, dtype=tf.int32), logits=ph(tf, None, 4, 3))
    loss(labels=ph(tf, 2, dtype=tf.int32), logits=ph(tf, 2, 3, dtype=tf.float16))
    loss(labels=[1, 2, 3], logits=ph(tf, 2, 3))


@case
def sigmoid_cross_entropy(tf):
    x, y = ph(tf, 2, 3), ph(tf, 2, 3)
    tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=x)
    tf.nn.sigmoid_cross_entropy_with_logits(labels=[[1.0, 0.0, 1.0]] * 2, logits=x, name="s")
    tf.nn.weighted_cross_entropy_with_logits(y, x, 2.0)
    tf.nn.weighted_cross_entropy_with_logits(targets=y, logits=x, pos_weight=ph(tf, 3), name="w")
    tf.nn.log_poisson_loss(y, x)
    tf.nn.log_poisson_loss(y, x, compute_full_loss=True, name="full")
    tf.nn.sigmoid_cross_entropy_with_logits(labels=ph(tf, 3), logits=x)


# ---- normalisation


@case
def l2_normalize(tf):
    x = ph(tf, 2, 3)
    tf.nn.l2_normalize(x, 1)
    tf.nn.l2_normalize(x, dim=0, epsilon=1e-3, name="unit")
    tf.nn.lrn(ph(tf, 1, 2, 2, 8), depth_radius=2, name="lrn")


@case
def moments(tf):
    x = ph(tf, 2, None, 3)
    tf.nn.moments(x, [0, 1])
    tf.nn.moments(x, [0], keep_dims=True, name="m")
    tf.nn.moments(ph(tf, 2, 3, dtype=tf.float16), [1])
    tf.nn.sufficient_statistics(x, [0, 2])
    counts, mean, var, shift = tf.nn.sufficient_statistics(x, [1], shift=1.0, keep_dims=True)
    tf.nn.normalize_moments(counts, mean, var, shift)
    tf.nn.normalize_moments(counts, mean, var, None, name="n")
    tf.nn.weighted_moments(x, [1], ph(tf, 2, 1, 1))


@case
def batch_norm(tf):
    x, c = ph(tf, 2, 4, 4, 3), ph(tf, 3)
    tf.nn.batch_normalization(x, c, c, c, c, 1e-3)
    tf.nn.batch_normalization(x, c, c, None, None, 1e-3, name="plain")
    tf.nn.batch_norm_with_global_normalization(x, c, c, c, c, 1e-3, True)
    tf.nn.fused_batch_norm(x, c, c)
    tf.nn.fused_batch_norm(x, c, c, c, c, is_training=False, epsilon=1e-9, name="infer")
    tf.nn.fused_batch_norm(ph(tf, 2, 3, 4, 4), c, c, data_format="NCHW")
    tf.nn.fused_batch_norm(x, c, c, c, c)


# ---- convolution and pooling


@case
def conv2d(tf):
    x, f = ph(tf, None, 9, 7, 3), ph(tf, 3, 2, 3, 5)
    tf.nn.conv2d(x, f, strides=[1, 2, 2, 1], padding="SAME")
    tf.nn.conv2d(x, f, strides=2, padding="VALID", name="valid")
    tf.nn.conv2d(x, filters=f, strides=[1, 2], padding=[[0, 0], [1, 0], [0, 2], [0, 0]])
    tf.nn.conv2d(x, f, strides=1, padding="SAME", dilations=[2, 2])
    tf.nn.conv2d(ph(tf, 2, 3, 9, 7), f, 1, "VALID", data_format="NCHW")
    tf.nn.conv2d(ph(tf, None), f, 1, "VALID")
    y = ph(tf, 2, 4, 3, 5)
    tf.nn.conv2d_backprop_input([2, 9, 7, 3], f, y, [1, 2, 2, 1], "VALID")
    tf.nn.conv2d_backprop_filter(ph(tf, 2, 9, 7, 3), [3, 2, 3, 5], y, [1, 2, 2, 1], "VALID")
    tf.nn.conv2d_transpose(y, f, [2, 9, 7, 3], 2, "VALID")
    tf.nn.conv2d_transpose(y, f, tf.shape(x), [1, 2, 2, 1], name="t")
    tf.nn.conv2d(x, ph(tf, 3, 2, 4, 5), 1, "SAME")


@case
def conv_of_other_ranks(tf):
    x, f = ph(tf, 2, 9, 3), ph(tf, 4, 3, 5)
    tf.nn.conv1d(x, f, 2, "SAME")
    tf.nn.conv1d(ph(tf, 2, 3, 9), f, [1, 1, 2], "VALID", data_format="NCW", name="first")
    tf.nn.conv1d_transpose(ph(tf, 2, 5, 5), f, [2, 9, 3], 2)
    v, g = ph(tf, 2, 5, 5, 5, 3), ph(tf, 2, 2, 2, 3, 4)
    tf.nn.conv3d(v, g, [1, 1, 2, 1, 1], "SAME")
    tf.nn.conv3d_transpose(ph(tf, 2, 3, 3, 3, 4), g, [2, 5, 5, 5, 3], [1, 2, 2, 2, 1])
    tf.nn.conv_transpose(ph(tf, 2, 3, 3, 4), ph(tf, 2, 2, 3, 4), [2, 6, 6, 3], 2)


@case
def convolution(tf):
    x, f = ph(tf, 2, 9, 7, 3), ph(tf, 3, 2, 3, 5)
    tf.nn.convolution(x, f, "SAME")
    tf.nn.convolution(x, f, "VALID", strides=[2, 1], name="strided")
    tf.nn.convolution(x, f, "SAME", dilation_rate=[2, 3])
    tf.nn.convolution(ph(tf, None, None, 7, 3), f, "VALID", dilation_rate=[2, 2], name="gaps")
    tf.nn.convolution(ph(tf, 2, 9, 3), ph(tf, 3, 3, 5), "SAME", dilation_rate=[2])
    tf.nn.convolution(ph(tf, 2, 3, 9, 7), f, "SAME", data_format="NCHW", dilation_rate=[2, 2])
    tf.nn.convolution(ph(tf, 2, 5, 5, 5, 3), ph(tf, 2, 2, 2, 3, 4), "SAME")
    tf.nn.atrous_conv2d(x, f, 2, "SAME")
    tf.nn.atrous_conv2d_transpose(ph(tf, 2, 9, 7, 5), f, [2, 9, 7, 3], 2, "SAME")
    tf.nn.convolution(x, f, "SAME", strides=[2, 2], dilation_rate=[2, 2])


@case
def depthwise(tf):
    x, f = ph(tf, 2, 9, 7, 3), ph(tf, 3, 2, 3, 4)
    tf.nn.depthwise_conv2d(x, f, [1, 1, 1, 1], "SAME")
    tf.nn.depthwise_conv2d(x, f, [1, 1, 1, 1], "SAME", rate=[2, 2], name="gaps")
    tf.nn.separable_conv2d(x, f, ph(tf, 1, 1, 12, 5), [1, 2, 2, 1], "VALID")
    tf.nn.separable_conv2d(x, f, ph(tf, 1, 1, 12, 5), [1, 1, 1, 1], "VALID", rate=[2, 1])
    tf.nn.depthwise_conv2d_native(x, f, [1, 2, 2, 1], "SAME")


@case
def pooling(tf):
    x = ph(tf, 2, 9, 7, 3)
    tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    tf.nn.avg_pool(x, 3, 2, "VALID", name="mean")
    tf.nn.max_pool(ph(tf, 2, 3, None, 7), 2, 2, "VALID", data_format="NCHW")
    tf.nn.max_pool1d(ph(tf, 2, 9, 3), 2, 1, "SAME")
    tf.nn.avg_pool1d(ph(tf, 2, 9, 3), 2, 1, "SAME")
    tf.nn.max_pool2d(x, 2, 2, "SAME")
    tf.nn.avg_pool2d(x, 2, 2, "SAME")
    tf.nn.max_pool3d(ph(tf, 2, 5, 5, 5, 3), 2, 2, "SAME")
    tf.nn.avg_pool3d(ph(tf, 2, 5, 5, 5, 3), [1, 2, 2, 2, 1], 2, "VALID")
    tf.nn.max_pool_v2(ph(tf, 2, 9, 3), 2, 1, "SAME", "NWC")
    tf.nn.avg_pool_v2(x, 2, 1, "SAME", "NHWC")
    tf.nn.max_pool_with_argmax(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    tf.nn.max_pool(x, 0, 2, "SAME")


@case
def pool(tf):
    x = ph(tf, 2, 9, 7, 3)
    tf.nn.pool(x, [2, 2], "MAX", "SAME", strides=[2, 2])
    tf.nn.pool(x, [2, 2], "AVG", "VALID", dilation_rate=[2, 1], name="gaps")
    tf.nn.pool(ph(tf, 2, 9, 3), [3], "AVG", "SAME")
    tf.nn.pool(ph(tf, 2, 3, 9), [3], "MAX", "VALID", data_format="NCW")
    tf.nn.pool(ph(tf, 2, 5, 5, 5, 3), [2, 2, 2], "MAX", "VALID")


# ---- embedding


@case
def embedding_lookup(tf):
    v = tf.get_variable("v", [6, 2])
    r = tf.get_variable("r", [6, 2], use_resource=True)
    ids = tf.placeholder(tf.int64, [None, 3], "ids")
    tf.nn.embedding_lookup(v, ids)
    tf.nn.embedding_lookup(r, ids, name="look")
    tf.nn.embedding_lookup([v, tf.get_variable("w", [6, 2])], ids)
    tf.nn.embedding_lookup([v, r], [1, 2], "div", name="divided")
    tf.nn.embedding_lookup(v, ids, max_norm=1.0)
    tf.nn.embedding_lookup([v, r], [1, 2], max_norm=2.0)
    tf.nn.embedding_lookup(v, ids, "other")
    tf.nn.embedding_lookup([v, r], ids, "other")


@case
def embedding_lookup_partitioned(tf):
    part = tf.fixed_size_partitioner(3)
    v = tf.get_variable("v", [7, 2], partitioner=part)
    tf.nn.embedding_lookup(v, [0, 5], "div")
    tf.nn.embedding_lookup(v, tf.placeholder(tf.int64, [None]))


@case
def embedding_lookup_sparse(tf):
    v = tf.get_variable("v", [6, 2])
    ids = tf.sparse_placeholder(tf.int64, name="ids")
    weights = tf.sparse_placeholder(tf.float32, name="weights")
    for combiner in ("sum", "mean", "sqrtn"):
        tf.nn.embedding_lookup_sparse(v, ids, None, combiner=combiner)
        tf.nn.embedding_lookup_sparse(v, ids, weights, combiner=combiner, name=combiner)
    tf.nn.embedding_lookup_sparse(v, ids, None, combiner="max")


@case
def safe_embedding_lookup_sparse(tf):
    v = tf.get_variable("v", [6, 2])
    ids = tf.SparseTensor(ph(tf, None, 2, dtype=tf.int64), ph(tf, 3, dtype=tf.int64), [3, 2])
    weights = tf.SparseTensor(ids.indices, ph(tf, 3), ids.dense_shape)
    tf.nn.safe_embedding_lookup_sparse(v, ids)
    tf.nn.safe_embedding_lookup_sparse(v, ids, weights, default_id=3, name="safe")
    tf.nn.safe_embedding_lookup_sparse([v, v], ids, weights, "sum")


@case
def sampled_losses(tf):
    w, b = tf.get_variable("w", [20, 3]), tf.get_variable("b", [20])
    labels, x = ph(tf, 4, 1, dtype=tf.int64), ph(tf, 4, 3)
    tf.nn.nce_loss(w, b, labels, x, 5, 20)
    tf.nn.sampled_softmax_loss(w, b, labels, x, 5, 20, seed=3)
    two = ph(tf, 4, 2, dtype=tf.int32)
    values = tf.nn.uniform_candidate_sampler(tf.cast(two, tf.int64), 2, 6, True, 20, name="u")
    tf.nn.nce_loss([w, w], b, two, x, 6, 40, 2, values, remove_accidental_hits=True)
    tf.nn.all_candidate_sampler(labels, 1, 20, True)
    tf.nn.compute_accidental_hits(labels, values[0], 1)
    tf.nn.log_uniform_candidate_sampler(labels, 1, 4, False, 9, seed=1)


# ---- losses


@case
def losses(tf):
    x, y = ph(tf, 2, 3), ph(tf, 2, 3)
    tf.losses.absolute_difference(y, x)
    tf.losses.cosine_distance(y, x, dim=1)
    tf.losses.hinge_loss(y, x)
    tf.losses.huber_loss(y, x, delta=2.0)
    tf.losses.log_loss(y, x)
    tf.losses.mean_pairwise_squared_error(y, x)
    tf.losses.mean_squared_error(y, x, weights=[[0.5], [0.0]])
    tf.losses.sigmoid_cross_entropy(y, x, label_smoothing=0.1)
    tf.losses.softmax_cross_entropy(y, x, label_smoothing=0.1, scope="smooth")
    tf.losses.sparse_softmax_cross_entropy([1, 2], x)
    tf.losses.sparse_softmax_cross_entropy([[1], [2]], x, weights=[[1.0], [0.5]])
    tf.losses.get_total_loss()
    tf.losses.get_regularization_loss()


@case
def loss_reductions(tf):
    x = ph(tf, 2, 3)
    for reduction in sorted(set(tf.losses.Reduction.all())):
        tf.losses.compute_weighted_loss(x, 2.0, reduction=reduction)
        tf.losses.compute_weighted_loss(x, ph(tf, 2, 1), reduction=reduction, scope="w")
    tf.losses.compute_weighted_loss(ph(tf, 2, dtype=tf.int32), 1)
    tf.losses.compute_weighted_loss(x, ph(tf, 3, 3))


@case
def losses_of_unknown_shape(tf):
    x, y, w = ph(tf, None), ph(tf, None), ph(tf, None)
    tf.losses.mean_squared_error(y, x, w)
    tf.losses.mean_pairwise_squared_error(y, x, ph(tf, None, 3))


@case
def sparse_softmax_of_unknown_shape(tf):
    tf.losses.sparse_softmax_cross_entropy(ph(tf, None, dtype=tf.int32), ph(tf, None), ph(tf, 2))


# ---- queues and accumulators


@case
def queues(tf):
    q = tf.FIFOQueue(3, [tf.float32, tf.int32], shapes=[[2], []], shared_name="s", name="q")
    q.enqueue([[1.0, 2.0], 3])
    q.enqueue_many([[[1.0, 2.0]], [3]], name="many")
    q.dequeue()
    q.dequeue_many(4)
    q.dequeue_up_to(tf.placeholder(tf.int32, [], "n"), name="up")
    q.size()
    q.is_closed()
    q.close(True)
    p = tf.PaddingFIFOQueue(3, [tf.float32], shapes=[[None, 2]])
    p.dequeue_many(2)
    r = tf.RandomShuffleQueue(3, 1, tf.string, seed=7)
    r.enqueue("a")
    r.dequeue()
    tf.RandomShuffleQueue(3, 1, tf.string, shared_name="shuffle")
    u = tf.PriorityQueue(3, [tf.string], shapes=[[]], name="scope/u")
    u.enqueue([1, "b"])
    u.dequeue_many(2)
    named = tf.FIFOQueue(3, [tf.float32, tf.int32], names=["a", "b"])
    named.enqueue({"b": 1, "a": 2.0})
    named.dequeue()
    with tf.name_scope("picked"):
        same = tf.FIFOQueue(5, [tf.float32, tf.int32], shapes=[[2], []])
        tf.QueueBase.from_list(1, [q, same]).dequeue()
    q.enqueue([[1.0], 3])


@case
def accumulators(tf):
    a = tf.ConditionalAccumulator(tf.float32, shape=[2], shared_name="s", name="acc")
    a.apply_grad([1.0, 2.0], local_step=3)
    a.apply_grad(ph(tf, None), tf.placeholder(tf.int64, []), name="apply")
    a.take_grad(2)
    a.num_accumulated()
    a.set_global_step(5)
    s = tf.SparseConditionalAccumulator(tf.float32, name="rows", reduction_type="SUM")
    s.apply_grad([0, 1], [[1.0], [2.0]])
    s.apply_grad([0, 1], [[1.0], [2.0]], [4, 1], 3, name="shaped")
    s.apply_indexed_slices_grad(tf.IndexedSlices([[1.0]], [0]))
    s.take_grad(1)
    s.take_indexed_slices_grad(1)
    s.num_accumulated()
    s.set_global_step(tf.constant(4))


# ---- scripts, printing, checks


@case
def scripts(tf):
    tf.py_func(lambda a: a, [[1.0]], tf.float32)
    tf.py_func(lambda a: (a, a), [1], [tf.int32, tf.int32], stateful=False, name="two")
    tf.numpy_function(lambda: 1, [], tf.int64)


@case
def printing(tf):
    x = ph(tf, 2)
    tf.Print(x, [x, "text"], message="m", first_n=2)
    tf.print("x is", x, {"k": [x, 1]}, name="show", summarize=-1)
    tf.print(tf.constant("text"), end="")
    tf.timestamp()


@case
def asserts(tf):
    c = ph(tf, dtype=tf.bool)
    tf.Assert(c, ["text", 1])
    tf.Assert(c, ["text", 1.0], name="guarded")
    with tf.control_dependencies([tf.Assert(c, [c], summarize=5)]):
        tf.no_op()


@case
def comparisons(tf):
    x = ph(tf, None, dtype=tf.int32)
    for name in "equal none_equal less less_equal greater greater_equal".split():
        getattr(tf, "assert_" + name)(x, 3, message="m")
        getattr(tf, "assert_" + name)([1], ph(tf, 2, dtype=tf.int32), name=name)
    for name in "negative positive non_negative non_positive".split():
        getattr(tf, "assert_" + name)(x)
        getattr(tf, "assert_" + name)(ph(tf, 2), data=["d"], name=name)
    tf.assert_near(ph(tf, 2), 1.0)
    tf.assert_equal(x, x)
    tf.assert_less(1.0, 2.0)


@case
def comparison_fails(tf):
    tf.assert_less(3, 2)


@case
def ranks(tf):
    x, unknown = ph(tf, 2, 3), ph(tf, None)
    r = tf.placeholder(tf.int32, None, "r")
    for check in (tf.assert_rank, tf.assert_rank_at_least):
        check(x, 2)
        check(unknown, 2, message="m")
        check(unknown, r)
    tf.assert_rank_in(x, (1, 2))
    tf.assert_rank_in(unknown, (1, 2))
    tf.assert_rank_in(unknown, (1, r))
    tf.assert_rank(x, 3)


@case
def types(tf):
    x = ph(tf, None, dtype=tf.int32)
    tf.assert_integer(x)
    tf.assert_type(x, tf.int32)
    tf.assert_scalar(3)
    tf.assert_scalar(tf.constant(1.0), name="one")
    tf.is_non_decreasing(x)
    tf.is_strictly_increasing(ph(tf, None), name="up")


@case
def shapes(tf):
    x, y = ph(tf, 2, None), ph(tf, None)
    tf.debugging.assert_shapes({x: ("N", "Q")})
    tf.debugging.assert_shapes([(x, ("N", 3)), (y, ("*", "N"))], message="m")
    tf.debugging.assert_shapes([(x, (2, ".")), (ph(tf), ()), (ph(tf, 5), (5,))])
    tf.debugging.assert_shapes([(x, (3, "Q"))])


def lines(tf, build):
    """The graph that `build` makes, a line for each op; a last line for an error."""
    error = []
    with tf.Graph().as_default() as graph:
        try:
            build(tf)
        except (ValueError, TypeError, tf.errors.OpError) as e:
            error.append("raises %s: %s" % (type(e).__name__, str(e).replace("\n", "\\n")))
    return [line(op) for op in graph.get_operations()] + error


def line(op):
    inputs = [t.name for t in op.inputs] + sorted("^" + c.name for c in op.control_inputs)
    groups = [g.decode() for g in op.colocation_groups() if g.decode() != "loc:@" + op.name]
    made = ["%s%s" % (t.dtype.name, t.shape) for t in op.outputs]
    text = "%s = %s(%s)" % (op.name, op.type, ", ".join(inputs))
    return " ".join([text] + groups + ["->"] * bool(made) + made)


def text(tf, names):
    parts = []
    for name in names:
        parts += ["# " + name] + lines(tf, CASES[name]) + [""]
    return "\n".join(parts)


if __name__ == "__main__":
    import tensorflow

    print(text(tensorflow, sorted(CASES)))
