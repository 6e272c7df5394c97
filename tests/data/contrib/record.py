"""contrib's layers and functions as TensorFlow 1.15.5 builds them; recorded in graphs.json.gz.

TF=tensorflow PYTHONPATH=tests PYTHON tests/data/contrib/record.py > graphs.json.gz
"""

from recording import main, names, outcome

PROGRAMS = {}


def program(fn):
    PROGRAMS[fn.__name__] = fn
    return fn


def images(tf):
    return tf.placeholder(tf.float32, [None, 8, 8, 3])


def rows(tf, n=4):
    return tf.placeholder(tf.float32, [None, n])


def collected(tf):
    """What is in the graph's collections."""
    graph = tf.get_default_graph()
    return [
        "%s: %s" % (key, names(graph.get_collection(key)))
        for key in sorted(graph.get_all_collection_keys())
    ]


@program
def fully_connected(tf):
    layers = tf.contrib.layers
    x = rows(tf)
    layers.fully_connected(x, 3)
    layers.fully_connected(x, 3, activation_fn=None, scope="own")
    layers.fully_connected(x, 3, tf.nn.tanh, reuse=True, scope="own")
    layers.fully_connected(
        tf.placeholder(tf.float64, [2, 5, 4]), 2, biases_initializer=None, trainable=False,
        weights_regularizer=layers.l2_regularizer(0.1), variables_collections=["mine"],
        outputs_collections="ends", scope="deep",
    )  # fmt: skip
    out = layers.fully_connected(
        x, 2, weights_initializer=tf.zeros_initializer(), biases_initializer=tf.ones_initializer(),
        biases_regularizer=layers.l1_regularizer(0.5),
        variables_collections={"weights": ["w"], "biases": ["b"]},
        normalizer_fn=None, outputs_collections=["ends", "more"],
    )  # fmt: skip
    layers.linear(layers.relu6(layers.elu(out, 2), 2), 2)
    tf.gradients(out, tf.trainable_variables())
    return collected(tf) + [
        str(out.aliases),
        outcome(lambda: layers.fully_connected(x, "3")),
        outcome(lambda: layers.fully_connected(x, 3, scope="own")),
    ]


@program
def convolutions(tf):
    layers = tf.contrib.layers
    x = images(tf)
    y = layers.conv2d(x, 4, 3)
    y = layers.convolution2d(y, 4, [3, 2], 2, "VALID", activation_fn=None, scope="second")
    layers.conv2d(x, 4, 3, rate=2, weights_regularizer=layers.l1_regularizer(0.1))
    layers.convolution(tf.placeholder(tf.float32, [2, 9, 3]), 2, 3)
    layers.conv3d(tf.placeholder(tf.float32, [2, 5, 5, 5, 3]), 2, 3)
    layers.conv1d(tf.placeholder(tf.float32, [2, 3, 9]), 2, 3, data_format="NCW")
    z = layers.conv2d_transpose(y, 2, 3, 2, outputs_collections="ends")
    layers.max_pool2d(z, 2, outputs_collections="ends")
    layers.avg_pool2d(z, [3, 2], 1, "SAME", scope="pool")
    tf.gradients(z, tf.trainable_variables())
    return collected(tf) + [
        str(z.shape),
        outcome(lambda: layers.conv2d(rows(tf), 2, 3)),
        outcome(lambda: layers.conv1d(x, 2, 3)),
        outcome(lambda: layers.conv2d(x, 2, 3, data_format="CHWN")),
        outcome(lambda: layers.max_pool2d(x, 2, data_format="CHWN")),
        outcome(lambda: layers.conv2d_transpose(x, 2, 2, data_format="CHWN")),
    ]


@program
def scoped_arguments(tf):
    layers, framework = tf.contrib.layers, tf.contrib.framework
    x = images(tf)
    with framework.arg_scope(
        [layers.conv2d, layers.fully_connected],
        activation_fn=tf.nn.elu,
        normalizer_fn=layers.batch_norm,
        weights_regularizer=layers.l2_regularizer(0.01),
    ) as outer:
        with framework.arg_scope([layers.batch_norm], is_training=False, scale=True):
            layers.conv2d(x, 2, 3)
            with framework.arg_scope([layers.conv2d], normalizer_fn=None, padding="VALID"):
                layers.conv2d(x, 2, 3)
        y = layers.conv2d(x, 2, 3, normalizer_fn=None)
    with framework.arg_scope(outer):
        layers.fully_connected(layers.flatten(y), 2, normalizer_params={"decay": 0.5})
    layers.conv2d(x, 2, 1)

    @framework.add_arg_scope
    def mine(a, b=1, c=2):
        return "%s %s %s" % (a, b, c)

    def enter(*args, **kwargs):
        with framework.arg_scope(*args, **kwargs):
            return "entered"

    with framework.arg_scope([mine], b=5):
        said = [mine(0), mine(0, c=7), mine(0, b=6)]
    return (
        collected(tf)
        + said
        + [
            mine(3),
            mine.__name__,
            str(tuple(framework.arg_scoped_arguments(mine))),
            str(framework.has_arg_scope(mine)),
            str(framework.has_arg_scope(enter)),
            str(framework.current_arg_scope()),
            outcome(lambda: enter(mine, b=1)),
            outcome(lambda: enter({}, b=1)),
            outcome(lambda: enter([names], b=1))[:10],
        ]
    )


@program
def batch_norm_of_a_layer(tf):
    layers = tf.contrib.layers
    train = tf.placeholder(tf.bool, [])
    x = images(tf)
    y = layers.batch_norm(x, 0.9, scale=True, is_training=train, variables_collections=["v"])
    layers.batch_norm(x, is_training=True, activation_fn=tf.nn.relu, scope="bn")
    layers.batch_norm(x, is_training=False, reuse=True, scope="bn", outputs_collections="ends")
    layers.batch_norm(
        x, fused=False, param_initializers={"beta": tf.ones_initializer()}, center=True,
        param_regularizers={"beta": layers.l2_regularizer(0.1)}, trainable=False,
    )  # fmt: skip
    layers.batch_norm(tf.placeholder(tf.float32, [None, 5, 3]), renorm=True)
    tf.gradients(y, [x])
    return collected(tf)


@program
def batch_norm_fused(tf):
    layers = tf.contrib.layers
    train = tf.placeholder(tf.bool, [])
    x = rows(tf)
    y = layers.batch_norm(x, updates_collections=None, is_training=train, scale=True)
    layers.batch_norm(x, is_training=train, variables_collections={"beta": ["b"]}, center=False)
    layers.batch_norm(images(tf), updates_collections="mine", scope="bn")
    layers.batch_norm(images(tf), updates_collections="mine", is_training=False, scale=True)
    layers.batch_norm(
        tf.placeholder(tf.float32, [None, 3, 8, 8]), updates_collections=None, data_format="NCHW",
        param_regularizers={"gamma": layers.l2_regularizer(0.1)}, scale=True,
    )  # fmt: skip
    tf.gradients(y, [x])
    return collected(tf) + [
        outcome(lambda: layers.batch_norm(x, data_format="CHWN")),
    ]


@program
def batch_norm_zero_debias(tf):
    tf.contrib.layers.batch_norm(rows(tf), zero_debias_moving_mean=True, activation_fn=tf.nn.relu)
    return collected(tf)


@program
def batch_norm_by_arithmetic(tf):
    layers = tf.contrib.layers
    train = tf.placeholder(tf.bool, [])
    x = images(tf)
    y = layers.batch_norm(x, updates_collections=None, is_training=train, fused=False, scale=True)
    layers.batch_norm(x, updates_collections="mine", is_training=train, fused=False)
    layers.batch_norm(x, updates_collections=None, is_training=False, fused=False)
    layers.batch_norm(x, batch_weights=tf.placeholder(tf.float32, [None]), updates_collections="m")
    layers.batch_norm(
        tf.placeholder(tf.float32, [None, 3, 7]), updates_collections=None, data_format="NCHW"
    )
    tf.gradients(y, [x])
    return collected(tf) + [
        outcome(lambda: layers.batch_norm(x, renorm=True, updates_collections=None)),
    ]


@program
def other_norms(tf):
    layers = tf.contrib.layers
    x = images(tf)
    y = layers.layer_norm(x, variables_collections=["v"], activation_fn=tf.nn.relu)
    layers.layer_norm(rows(tf), center=False, scale=False, scope="ln", outputs_collections="ends")
    layers.layer_norm(x, begin_norm_axis=-1, begin_params_axis=2, trainable=False)
    layers.bias_add(y, tf.nn.relu, regularizer=layers.l2_regularizer(0.1), outputs_collections="e")
    layers.fully_connected(rows(tf), 3, normalizer_fn=layers.layer_norm)
    layers.fully_connected(rows(tf), 3, normalizer_fn=layers.bias_add)
    layers.unit_norm(y, 2)
    layers.unit_norm(rows(tf), 0)
    tf.gradients(y, [x])
    return collected(tf) + [
        outcome(lambda: layers.layer_norm(x, begin_norm_axis=4)),
        outcome(lambda: layers.unit_norm(x, 4)),
    ]


@program
def without_variables(tf):
    layers = tf.contrib.layers
    x = images(tf)
    train = tf.placeholder(tf.bool, [])
    layers.flatten(x, "ends")
    layers.flatten(tf.placeholder(tf.float32, [5, 2, 3]), scope="flat")
    layers.dropout(x, 0.7, is_training=train, seed=3)
    layers.dropout(x, is_training=False, outputs_collections="ends")
    layers.dropout(x, tf.placeholder(tf.float32, []), [None, 1, 1, 3])
    labels = tf.placeholder(tf.int32, [None])
    layers.one_hot_encoding(labels, 3, outputs_collections="ends")
    layers.one_hot_encoding([1, 2], 3, 5.0, 1.0, scope="hot")
    layers.softmax(x)
    layers.softmax(rows(tf), scope="sm")
    layers.maxout(x, 1)
    layers.maxout(rows(tf), 2, scope="mo")
    said = [outcome(lambda: layers.maxout(rows(tf), 3))]
    return collected(tf) + said


@program
def several_layers(tf):
    layers = tf.contrib.layers
    x = rows(tf)
    layers.stack(x, layers.fully_connected, [3, 2], activation_fn=None)
    layers.stack(images(tf), layers.conv2d, [(3, 3), (2, 1)], scope="convs")
    layers.repeat(x, 2, layers.fully_connected, 3)
    layers.repeat(x, 2, layers.linear, 3, scope="again")
    layers.repeat(images(tf), 2, layers.conv2d, 2, 3)
    return collected(tf) + [outcome(lambda: layers.stack(x, layers.linear, 3))]


@program
def regularizers(tf):
    layers = tf.contrib.layers
    v = tf.get_variable("v", [3, 2], regularizer=layers.l1_l2_regularizer(0.1, 0.2))
    w = tf.get_variable("w", [3], regularizer=layers.sum_regularizer([layers.l2_regularizer(0.3)]))
    with tf.variable_scope("s", regularizer=layers.l2_regularizer(0.1, "own")):
        tf.get_variable("u", [2])
        tf.get_variable("z", [2], regularizer=layers.l2_regularizer(0.0))
    layers.apply_regularization(layers.l1_regularizer(0.5), [v, w])
    layers.apply_regularization(layers.l1_l2_regularizer(0.0, 0.5), [v])
    layers.apply_regularization(layers.l1_l2_regularizer(0.5, 0.0), [v])
    layers.apply_regularization(layers.l2_regularizer(0.0), [v])
    return collected(tf) + [
        outcome(lambda: layers.l1_regularizer(1)),
        outcome(lambda: layers.l1_regularizer(-0.5)),
        outcome(lambda: layers.l1_l2_regularizer(1, 0.1)),
        outcome(lambda: layers.apply_regularization(layers.l2_regularizer(0.5))),
        outcome(lambda: layers.apply_regularization(lambda w: w, [v])),
    ]


@program
def initializers(tf):
    layers = tf.contrib.layers
    tf.get_variable("a", [4, 3], initializer=layers.xavier_initializer())
    tf.get_variable("b", [3, 3, 4, 5], initializer=layers.xavier_initializer_conv2d(False, 7))
    scaling = layers.variance_scaling_initializer
    for i, mode in enumerate(["FAN_IN", "FAN_OUT", "FAN_AVG"]):
        tf.get_variable("c%d" % i, [5], initializer=scaling(1.5, mode, dtype=tf.float64))
    tf.get_variable("d", [], initializer=scaling(uniform=True, seed=1))
    return [
        outcome(lambda: scaling(dtype=tf.int32)),
        outcome(lambda: scaling(mode="FAN")),
        outcome(lambda: layers.xavier_initializer()([2], tf.int32)),
    ]


def a_loss(tf):
    y = tf.contrib.layers.fully_connected(rows(tf), 2)
    return tf.reduce_sum(tf.contrib.layers.batch_norm(y))


@program
def optimize_loss(tf):
    optimize = tf.contrib.layers.optimize_loss
    loss = a_loss(tf)
    step = tf.train.get_or_create_global_step()
    optimize(loss, step, 0.1, "SGD")
    optimize(
        loss, None, 0.1, "Adam", clip_gradients=1.0, name="train", increment_global_step=False,
        learning_rate_decay_fn=lambda rate, s: tf.train.exponential_decay(rate, s, 10, 0.5),
        summaries=["learning_rate", "loss", "gradients", "gradient_norm"],
    )  # fmt: skip
    return collected(tf)


@program
def optimize_loss_in_other_ways(tf):
    optimize = tf.contrib.layers.optimize_loss
    table = tf.get_variable("table", [5, 2])
    loss = a_loss(tf) + tf.reduce_sum(tf.nn.embedding_lookup(table, [1, 2]))
    rate = tf.placeholder(tf.float32, [])
    weights = "fully_connected/weights:0"
    optimize(loss, None, rate, tf.train.AdagradOptimizer, gradient_multipliers={weights: 2.0})
    optimize(
        tf.nn.l2_loss(table), None, None, lambda: tf.train.MomentumOptimizer(0.5, 0.5),
        gradient_noise_scale=0.5, clip_gradients=lambda pairs: pairs, update_ops=[],
        variables=[table], summaries=[], colocate_gradients_with_ops=True,
    )  # fmt: skip
    optimize(loss, None, 0.1, tf.train.GradientDescentOptimizer(0.1), summaries=["gradients"])
    return collected(tf) + [
        outcome(lambda: optimize(loss, None, 1, "SGD")),
        outcome(lambda: optimize(loss, None, None, "SGD")),
        outcome(lambda: optimize(loss, None, 0.1, "Best", name="a")),
        outcome(lambda: optimize(loss, None, 0.1, 5, name="b")),
        outcome(lambda: optimize(loss, None, 0.1, lambda rate: 5, name="c")),
        outcome(lambda: optimize(loss, None, 0.1, "SGD", clip_gradients="x", name="d")),
        outcome(lambda: optimize(loss, None, 0.1, "SGD", summaries=["x"], name="e")),
        outcome(lambda: optimize(loss, None, 0.1, "SGD", learning_rate_decay_fn=max, name="f")),
    ]


@program
def embeddings(tf):
    embed = tf.contrib.layers.embed_sequence
    ids = tf.placeholder(tf.int32, [None, 5])
    embed(ids, 7, 3)
    y = embed(ids, 7, 3, unique=True, scope="words", initializer=tf.zeros_initializer())
    embed(ids, scope="words", reuse=True)
    tf.gradients(y, tf.trainable_variables())
    return collected(tf) + [str(y.shape), outcome(lambda: embed(ids, 7))]


@program
def summaries(tf):
    layers = tf.contrib.layers
    layers.summarize_activation(layers.relu6(rows(tf), 2, outputs_collections="activations"))
    layers.summarize_activations()
    layers.summarize_tensors([tf.constant(1.0), tf.constant([1.0]), tf.constant("a")])
    layers.summarize_tensor(tf.constant(2.0), "two")
    layers.summarize_collection(tf.GraphKeys.TRAINABLE_VARIABLES, ".*weights")
    return collected(tf) + [str(layers.summarize_tensor(tf.constant(True)))]


@program
def framework_variables(tf):
    framework = tf.contrib.framework
    with tf.variable_scope("a", reuse=tf.AUTO_REUSE):
        x = framework.variable("x", [2], collections=["c"], device="/cpu:0")
        framework.variable("x", [2])
        y = framework.model_variable("y", [2], regularizer=tf.contrib.layers.l2_regularizer(0.1))
        framework.model_variable("z", initializer=3, dtype=tf.int32, trainable=False)
    framework.local_variable(1, name="local")
    v = framework.global_variable(1, name="a/global")
    framework.add_model_variable(v)
    framework.add_model_variable(v)

    def found(*args, **kwargs):
        return names(framework.get_variables(*args, **kwargs))

    op, feeds = framework.assign_from_values({"a/y": _array([1.0, 2.0])})
    everything = framework.get_variables()
    return collected(tf) + [
        found("a"),
        found("a", "y"),
        found(suffix="global:0"),
        names(framework.get_model_variables("a/g")),
        names(framework.get_local_variables()),
        names(framework.get_trainable_variables()),
        names(framework.get_variables_by_name("y")),
        names(framework.get_variables_by_suffix("z")),
        names(framework.get_variables_to_restore(exclude=["a/y"])),
        names(framework.get_variables_to_restore(["a/y", "a/g"], ["a/g"])),
        names(framework.filter_variables(everything, ["y", "z"], ["z"])),
        names(framework.filter_variables(everything, exclude_patterns=["y"], reg_search=False)),
        framework.get_unique_variable("a/y").name,
        framework.get_variable_full_name(x),
        "%s %s" % (op.name, [(k.name, v.tolist()) for k, v in feeds.items()]),
        str(y.dtype),
        outcome(lambda: framework.get_unique_variable("b")),
        outcome(lambda: framework.get_unique_variable("a/")),
        outcome(lambda: framework.get_variables_to_restore("a")),
        outcome(lambda: framework.assign_from_values({"b": 1})),
        outcome(lambda: framework.assign_from_values({"a/": 1})),
        outcome(lambda: framework.assign_from_checkpoint_fn("x", [])),
    ]


@program
def sequence_loss(tf):
    loss = tf.contrib.seq2seq.sequence_loss
    logits = tf.placeholder(tf.float32, [None, 5, 3])
    targets = tf.placeholder(tf.int32, [None, 5])
    weights = tf.placeholder(tf.float32, [None, 5])
    y = loss(logits, targets, weights)
    sums = dict(average_across_timesteps=False, average_across_batch=False)
    loss(logits, targets, weights, name="none", **sums)
    loss(logits, targets, weights, sum_over_timesteps=True, sum_over_batch=True, **sums)
    loss(logits, targets, weights, sum_over_timesteps=True, **sums)
    loss(logits, targets, weights, sum_over_batch=True, **sums)
    loss(logits, targets, weights, False, True)
    loss(
        logits, targets, weights, True, False,
        softmax_loss_function=lambda labels, logits: tf.reduce_sum(logits, 1),
    )  # fmt: skip
    tf.gradients(y, logits)
    return [
        outcome(lambda: loss(targets, targets, weights)),
        outcome(lambda: loss(logits, logits, weights)),
        outcome(lambda: loss(logits, targets, logits)),
        outcome(lambda: loss(logits, targets, weights, sum_over_timesteps=True)),
        outcome(lambda: loss(logits, targets, weights, sum_over_batch=True)),
    ]


def _array(values):
    import numpy as np

    return np.array(values, np.float32)


if __name__ == "__main__":
    main(PROGRAMS)
