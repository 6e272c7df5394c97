"""Layers as TensorFlow 1.15.5 builds them; recorded in graphs.json.gz.

TF=tensorflow PYTHONPATH=tests PYTHON tests/data/layers/record.py > tests/data/layers/graphs.json.gz
"""

from recording import main, names, outcome

PROGRAMS = {}


def program(fn):
    PROGRAMS[fn.__name__] = fn
    return fn


def images(tf, *shape, **kw):
    return tf.placeholder(kw.get("dtype", tf.float32), shape or [None, 8, 8, 3])


def collections(tf):
    keys = ["variables", "trainable_variables", "regularization_losses", "update_ops"]
    return [key + ": " + names(tf.get_collection(key)) for key in keys]


@program
def dense(tf):
    x = tf.placeholder(tf.float32, [None, 3])
    tf.layers.dense(x, 4)
    tf.layers.dense(x, 4, activation=tf.nn.relu)
    tf.layers.dense(x, 2, use_bias=False, name="logits")
    tf.layers.dense(tf.placeholder(tf.float32, [2, None, 5]), 3, activation="tanh")
    tf.layers.dense(tf.placeholder(tf.float64, [2, 5]), 3, activation="softmax", trainable=False)
    return collections(tf)


@program
def dense_regularized(tf):
    x = tf.placeholder(tf.float32, [None, 3])
    layer = tf.layers.Dense(
        4,
        kernel_initializer=tf.constant_initializer(0.5),
        bias_initializer=tf.ones_initializer,
        kernel_regularizer=lambda v: 0.1 * tf.reduce_sum(tf.square(v)),
        bias_regularizer=tf.nn.l2_loss,
        activity_regularizer=tf.reduce_sum,
        kernel_constraint=tf.abs,
        name="mine",
    )
    layer(x)
    layer(x)
    said = [names(layer.losses), names(layer.get_losses_for(None)), names(layer.get_losses_for(x))]
    said += [names(layer.weights), str(layer.count_params()), layer.scope_name, layer.dtype]
    return said + collections(tf)


@program
def dense_sharing(tf):
    x = tf.placeholder(tf.float32, [None, 3])
    tf.layers.dense(x, 4, name="a")
    tf.layers.dense(x, 4, name="a", reuse=True)
    with tf.variable_scope("s", initializer=tf.zeros_initializer(), regularizer=tf.nn.l2_loss):
        tf.layers.dense(x, 4)
        layer = tf.layers.Dense(2)
        layer.apply(x)
        layer(x)
    with tf.variable_scope("s", reuse=tf.AUTO_REUSE):
        tf.layers.dense(x, 4, name="dense")
        tf.layers.dense(x, 4, name="new")
    with tf.name_scope("n"):
        tf.layers.dense(x, 4)
    said = [outcome(lambda: tf.layers.dense(x, 4, name="a"))]
    said.append(outcome(lambda: tf.layers.dense(x, 5, name="a", reuse=True)))
    said.append(outcome(lambda: tf.layers.dense(x, 5, name="b", reuse=True)))
    said.append(outcome(lambda: layer(tf.placeholder(tf.float32, [None, 2]))))
    said.append(outcome(lambda: layer(tf.placeholder(tf.float32, [2]))))
    said.append(outcome(lambda: layer(tf.placeholder(tf.float32))))
    return said + collections(tf)


@program
def dense_faults(tf):
    return [
        outcome(lambda: tf.layers.dense(tf.placeholder(tf.float32, [2, None]), 4)),
        outcome(lambda: tf.layers.dense(tf.placeholder(tf.int32, [2, 3]), 4)),
        outcome(lambda: tf.layers.dense(tf.placeholder(tf.float32, [3]), 4)),
        outcome(lambda: tf.layers.dense(tf.ones([2, 3]), 4, activation="nothing")),
        outcome(lambda: tf.layers.Dense(3, nothing=1)),
        outcome(lambda: tf.layers.Dense(3).scope_name),
        outcome(lambda: tf.layers.Dense(3).count_params()),
        outcome(lambda: tf.layers.Dense(3).compute_output_shape([2, None])),
        outcome(lambda: tf.layers.Dense(3).compute_output_shape([2, None, 7])),
        tf.layers.Dense(3).name,
        tf.layers.Conv2DTranspose(3, 2).name,
        tf.layers.MaxPooling2D(3, 2).name,
    ]


@program
def resources(tf):
    with tf.variable_scope("r", use_resource=True):
        x = tf.layers.dense(tf.placeholder(tf.float32, [None, 3]), 4)
        tf.layers.batch_normalization(x, training=True)
    return collections(tf)


@program
def partitioned(tf):
    with tf.variable_scope("p", partitioner=tf.fixed_size_partitioner(2)):
        tf.layers.dense(tf.placeholder(tf.float32, [None, 4]), 4, kernel_regularizer=tf.nn.l2_loss)
        tf.layers.conv2d(images(tf, 2, 6, 6, 2), 3, 3)
    return collections(tf)


@program
def on_a_cluster(tf):
    tasks = {"ps": ["localhost:1", "localhost:2"], "worker": ["localhost:3"]}
    cluster = tf.train.ClusterSpec(tasks)
    with tf.device(tf.train.replica_device_setter(cluster=cluster)):
        x = tf.layers.conv2d(images(tf), 4, 3, activation=tf.nn.relu)
        x = tf.layers.batch_normalization(x, training=True)
        x = tf.layers.dropout(tf.layers.flatten(x), training=True, seed=1)
        loss = tf.reduce_sum(tf.layers.dense(x, 2))
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            tf.train.GradientDescentOptimizer(0.1).minimize(loss)


@program
def convolutions(tf):
    tf.layers.conv1d(images(tf, None, 8, 3), 2, 3)
    tf.layers.conv1d(images(tf, None, 3, 8), 2, 3, strides=2, data_format="channels_first")
    tf.layers.conv1d(images(tf, 2, 8, 3), 2, 3, padding="causal", dilation_rate=2)
    tf.layers.conv2d(images(tf), 4, [3, 2], strides=(2, 1), padding="same", activation=tf.nn.elu)
    tf.layers.conv2d(images(tf, None, 3, 8, 8), 4, 3, data_format="channels_first")
    tf.layers.conv2d(images(tf), 4, 3, dilation_rate=2, use_bias=False, name="gaps")
    tf.layers.conv2d(images(tf, None, None, None, 3), 4, 3, padding="SAME", dilation_rate=(2, 3))
    tf.layers.conv3d(images(tf, 1, 4, 4, 4, 2), 3, 2)
    tf.layers.conv3d(images(tf, 1, 2, 4, 4, 4), 3, 2, data_format="channels_first")
    layer = tf.layers.Conv2D(2, 3, padding="same", dilation_rate=2, name="twice")
    layer(images(tf))
    layer(images(tf))
    return collections(tf)


@program
def separable_convolutions(tf):
    tf.layers.separable_conv1d(images(tf, None, 8, 3), 2, 3, padding="same")
    tf.layers.separable_conv2d(images(tf), 4, 3, depth_multiplier=2)
    tf.layers.separable_conv2d(images(tf), 4, 3, strides=2, padding="same", use_bias=False)
    tf.layers.separable_conv2d(
        images(tf), 4, 3, dilation_rate=2, depthwise_regularizer=tf.nn.l2_loss, name="s"
    )
    return collections(tf)


@program
def transposed_convolutions(tf):
    tf.layers.conv2d_transpose(images(tf), 4, 3)
    tf.layers.conv2d_transpose(images(tf), 4, 3, strides=2, padding="same", activation=tf.nn.relu)
    tf.layers.conv2d_transpose(images(tf, 2, 3, 8, 8), 4, 3, data_format="channels_first")
    tf.layers.conv3d_transpose(images(tf, None, 4, 4, 4, 2), 3, 2, strides=2)
    tf.layers.conv3d_transpose(images(tf, 1, 2, 4, 4, 4), 3, 2, data_format="channels_first")
    layer = tf.layers.Conv2DTranspose(3, 4, strides=3)
    return [
        outcome(lambda: tf.layers.conv2d_transpose(images(tf, 2, 3, 4), 3, 2)),
        outcome(lambda: layer.compute_output_shape([1, 4, 4, 2])),
    ]


@program
def convolution_faults(tf):
    return [
        outcome(lambda: tf.layers.conv2d(images(tf, 2, 8, 8, None), 3, 3)),
        outcome(lambda: tf.layers.conv2d(images(tf, 2, 8, 8), 3, 3)),
        outcome(lambda: tf.layers.conv2d(images(tf), 3, 3, padding="none")),
        outcome(lambda: tf.layers.conv2d(images(tf), 3, 3, data_format="NHWC")),
        outcome(lambda: tf.layers.conv2d(images(tf), 3, (3, 3, 3))),
        outcome(lambda: tf.layers.conv2d(images(tf), 3, None)),
        outcome(lambda: tf.layers.conv2d(images(tf), 3, (3, None))),
        outcome(lambda: tf.layers.conv2d(images(tf), 3, 3, strides=2, dilation_rate=2)),
        outcome(lambda: tf.layers.conv2d(images(tf), 3, 3, padding="causal")),
        outcome(lambda: tf.layers.Conv2D(3, 3, strides=2).compute_output_shape([1, 8, None, 2])),
        outcome(lambda: tf.layers.Conv1D(3, 3, dilation_rate=2).compute_output_shape([1, 8, 2])),
        outcome(lambda: tf.layers.max_pooling2d(images(tf), 2, None)),
        outcome(lambda: tf.layers.MaxPooling2D(3, 2).compute_output_shape([1, 8, None, 2])),
        outcome(lambda: tf.layers.MaxPooling2D(3, 2, "same").compute_output_shape([1, 9, 7, 2])),
    ]


@program
def pools(tf):
    for kind in ("max", "average"):
        for n in (1, 2, 3):
            pool = getattr(tf.layers, "%s_pooling%dd" % (kind, n))
            shape = [2] + [6] * n + [3]
            pool(images(tf, *shape), 2, 1)
            first = [2, 3] + [6] * n
            pool(images(tf, *first), 2, 2, padding="same", data_format="channels_first", name="p")


@program
def flattening(tf):
    tf.layers.flatten(images(tf))
    tf.layers.flatten(images(tf, 2, 3, 4))
    tf.layers.flatten(images(tf, 2, 3, None, 4), data_format="channels_first", name="f")
    return [outcome(lambda: tf.layers.flatten(tf.placeholder(tf.float32)))]


@program
def dropouts(tf):
    x = tf.placeholder(tf.float32, [None, 4])
    tf.layers.dropout(x)
    tf.layers.dropout(x, 0.25, training=True, seed=3, noise_shape=[None, 1])
    tf.layers.dropout(x, training=tf.placeholder(tf.bool, []), name="d")
    tf.layers.Dropout(0.3)(x, training=tf.constant(True))


@program
def normalization(tf):
    x = tf.placeholder(tf.float32, [None, 4])
    tf.layers.batch_normalization(x)
    tf.layers.batch_normalization(x, training=True, center=False)
    tf.layers.batch_normalization(x, training=True, scale=False, name="bn")
    layer = tf.layers.BatchNormalization(axis=1, momentum=0.5, trainable=False)
    layer(images(tf, 2, 3, 4), training=True)
    said = [names(layer.updates), names(layer.weights), names(layer.trainable_weights)]
    layer = tf.layers.BatchNormalization()
    layer(x, training=True)
    layer(x, training=False)
    said += [names(layer.get_updates_for(x)), names(layer.get_updates_for(None))]
    said += [outcome(lambda: tf.layers.batch_normalization(x, axis=2))]
    said += [outcome(lambda: tf.layers.batch_normalization(x, axis=[1, 1]))]
    said += [outcome(lambda: tf.layers.batch_normalization(x, axis="a"))]
    said += [outcome(lambda: tf.layers.batch_normalization(tf.placeholder(tf.float32)))]
    said += [outcome(lambda: tf.layers.batch_normalization(images(tf, 2, None)))]
    return said + collections(tf)


@program
def normalization_of_images(tf):
    x = images(tf)
    tf.layers.batch_normalization(x)
    tf.layers.batch_normalization(x, training=True, scale=False, center=False)
    tf.layers.batch_normalization(x, training=True, axis=1, gamma_regularizer=tf.nn.l2_loss)
    tf.layers.batch_normalization(x, training=True, axis=2)
    tf.layers.batch_normalization(x, training=True, axis=[1, 2])
    tf.layers.batch_normalization(x, training=True, fused=False)
    tf.layers.batch_normalization(images(tf, dtype=tf.float16), training=True)
    return collections(tf)


@program
def normalization_while_training(tf):
    training = tf.placeholder(tf.bool, [], "training")
    tf.layers.batch_normalization(images(tf), training=training)
    tf.layers.batch_normalization(tf.placeholder(tf.float32, [None, 4]), training=training)
    return collections(tf)


@program
def renormalization(tf):
    x = tf.placeholder(tf.float32, [None, 4])
    clipping = {"rmax": 1.1, "rmin": 0.9, "dmax": 0.1}
    tf.layers.batch_normalization(x, training=True, renorm=True, renorm_clipping=clipping)
    training = tf.placeholder(tf.bool, [], "training")
    tf.layers.batch_normalization(images(tf), training=training, renorm=True)
    bad = {"a": 1}
    return collections(tf) + [
        outcome(lambda: tf.layers.batch_normalization(x, renorm=True, renorm_clipping=bad))
    ]


@program
def virtual_batches(tf):
    x = images(tf, 8, 6)
    tf.layers.batch_normalization(x, training=True, virtual_batch_size=2)

    def adjustment(shape):
        return tf.ones([shape[0], 1]), tf.zeros([shape[0], 1])

    tf.layers.batch_normalization(x, training=True, adjustment=adjustment)
    return collections(tf) + [
        outcome(lambda: tf.layers.batch_normalization(x, virtual_batch_size=-1))
    ]


@program
def own_layers(tf):
    class Scaled(tf.layers.Layer):
        def build(self, shape):
            self.by = self.add_variable("by", [int(shape[-1])], regularizer=tf.nn.l2_loss)
            self.count = self.add_weight("count", [], tf.int32, trainable=False)
            self.built = True

        def call(self, inputs, training=False):
            self.add_update(tf.assign_add(self.count, 1))
            self.add_update(tf.assign(self.by, inputs[0]))
            self.add_loss(tf.reduce_sum(inputs), inputs=True)
            return inputs * self.by if training else inputs

    x = tf.placeholder(tf.float32, [2, 3])
    layer = Scaled(name="scaled")
    layer(x, training=True)
    layer(x)
    said = [names(layer.updates), names(layer.losses), names(layer.get_updates_for(None))]
    said += [names(layer.get_updates_for(x)), names(layer.non_trainable_weights)]

    class Nothing(tf.layers.Layer):
        def call(self, inputs):
            return None

    said.append(outcome(lambda: Nothing()(x)))

    class Typed(tf.layers.Layer):
        def __init__(self):
            super().__init__(name="typed")
            self.input_spec = tf.layers.InputSpec(dtype="float32", max_ndim=3, axes={1: 3})

    typed = Typed()
    said.append(outcome(lambda: typed(x).shape))
    said.append(outcome(lambda: typed(images(tf)).shape))
    said.append(outcome(lambda: typed(images(tf, 2, 3, dtype=tf.int32)).shape))
    said.append(outcome(lambda: typed(images(tf, 2, 2)).shape))
    said.append(outcome(lambda: tf.layers.InputSpec(ndim=2, axes={3: 1})))
    said.append(outcome(lambda: tf.layers.InputSpec(axes={"a": 1})))
    said.append(str(tf.layers.InputSpec(ndim=2, axes={1: 5})))
    return said + collections(tf)


def look_for_gpus():
    """Keras does so once, the first time that it matters, and leaves ops behind in the graph."""
    import tensorflow as tf

    with tf.Graph().as_default():
        tf.layers.max_pooling1d(images(tf, 2, 3, 8), 2, 2, data_format="channels_first")


if __name__ == "__main__":
    look_for_gpus()
    main(PROGRAMS)
