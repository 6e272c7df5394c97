"""Programs for the driver: sums, gates, devices, variables, custom gradients."""

from gradients.graphs.core import case, floats


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
