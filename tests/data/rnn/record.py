"""Recurrent networks as TensorFlow 1.15.5 builds them; recorded in graphs.json.gz.

TF=tensorflow PYTHONPATH=tests PYTHON tests/data/rnn/record.py > tests/data/rnn/graphs.json.gz
"""

from recording import main, names, outcome

PROGRAMS = {}


def program(fn):
    PROGRAMS[fn.__name__] = fn
    return fn


def sequences(tf, *shape, **kw):
    return tf.placeholder(kw.get("dtype", tf.float32), shape or [None, 5, 3])


def lengths(tf, n=None):
    return tf.placeholder(tf.int32, [n])


def shapes(nest, values):
    return ["%s %s" % (v.name, v.shape) for v in nest.flatten(values)]


@program
def basic_cell(tf):
    cell = tf.nn.rnn_cell.BasicRNNCell(4)
    out, state = tf.nn.dynamic_rnn(cell, sequences(tf), dtype=tf.float32)
    tf.gradients(tf.reduce_sum(out), tf.trainable_variables())
    return shapes(tf.nest, [out, state]) + [names(cell.weights), str(cell.dtype), cell.name]


@program
def basic_lstm(tf):
    cell = tf.nn.rnn_cell.BasicLSTMCell(4, forget_bias=0.5)
    out, state = tf.nn.dynamic_rnn(
        cell, sequences(tf), sequence_length=lengths(tf), dtype=tf.float32
    )
    tf.gradients([out, state.c], tf.trainable_variables())
    return shapes(tf.nest, [out, state]) + [str(cell.state_size), str(cell.output_size)]


@program
def lstm_of_known_size(tf):
    cell = tf.nn.rnn_cell.LSTMCell(4, use_peepholes=True, num_proj=2, cell_clip=3.0, proj_clip=2.0)
    x = sequences(tf, 2, 5, 3)
    out, state = tf.nn.dynamic_rnn(cell, x, [5, 3], dtype=tf.float32, swap_memory=True)
    tf.gradients([out, state.h], tf.trainable_variables())
    return shapes(tf.nest, [out, state])


@program
def gru_time_major(tf):
    start = tf.placeholder(tf.float64, [None, 4])
    x = sequences(tf, None, None, 3, dtype=tf.float64)
    cell = tf.nn.rnn_cell.GRUCell(4, activation=tf.nn.relu, bias_initializer=tf.ones_initializer())
    out = tf.nn.dynamic_rnn(
        cell, x, lengths(tf), initial_state=start, time_major=True, parallel_iterations=3
    )
    tf.gradients(out[0], [x, start])
    return shapes(tf.nest, out)


@program
def joined_states(tf):
    x = sequences(tf, 2, 3, dtype=tf.float32)
    said = []
    for cell in (
        tf.nn.rnn_cell.BasicLSTMCell(4, state_is_tuple=False),
        tf.nn.rnn_cell.LSTMCell(4, num_proj=3, state_is_tuple=False, name="lstm"),
    ):
        said += shapes(tf.nest, cell(x, cell.zero_state(2, tf.float32)))
    cells = [tf.nn.rnn_cell.GRUCell(2, name="a"), tf.nn.rnn_cell.BasicRNNCell(3, name="b")]
    cell = tf.nn.rnn_cell.MultiRNNCell(cells, state_is_tuple=False)
    return said + shapes(tf.nest, cell(x, cell.zero_state(2, tf.float32)))


@program
def layers_of_cells(tf):
    def cell(n):
        inner = tf.nn.rnn_cell.LSTMCell(n, initializer=tf.zeros_initializer())
        return tf.nn.rnn_cell.DropoutWrapper(
            inner, input_keep_prob=0.5, state_keep_prob=0.6, output_keep_prob=0.7, seed=5
        )

    cells = tf.nn.rnn_cell.MultiRNNCell([cell(4), tf.nn.rnn_cell.ResidualWrapper(cell(4))])
    out, state = tf.nn.dynamic_rnn(cells, sequences(tf), lengths(tf), dtype=tf.float32)
    tf.gradients(out, tf.trainable_variables())
    return shapes(tf.nest, [out, state]) + [names(cells.weights), names(cells.trainable_variables)]


@program
def variational_dropout(tf):
    keep = tf.placeholder(tf.float32, [])
    cell = tf.nn.rnn_cell.DropoutWrapper(
        tf.nn.rnn_cell.BasicLSTMCell(4), keep, 0.8, 0.9, variational_recurrent=True,
        input_size=3, dtype=tf.float32, seed=1,
    )  # fmt: skip
    tf.nn.dynamic_rnn(cell, sequences(tf), dtype=tf.float32)
    one = tf.nn.rnn_cell.BasicRNNCell(2)
    wrap = tf.nn.rnn_cell.DropoutWrapper
    return [
        outcome(lambda: wrap(one, variational_recurrent=True)),
        outcome(lambda: wrap(one, 0.5, variational_recurrent=True, dtype=tf.float32)),
        outcome(lambda: wrap(one, 1.5)),
        outcome(lambda: wrap(one, output_keep_prob=-0.5)),
        outcome(lambda: wrap(one, dropout_state_filter_visitor=1)),
    ]


@program
def both_directions(tf):
    rnn_cell = tf.nn.rnn_cell
    x = sequences(tf)
    out = tf.nn.bidirectional_dynamic_rnn(
        rnn_cell.BasicLSTMCell(4), rnn_cell.BasicLSTMCell(2), x, lengths(tf), dtype=tf.float32
    )
    said = shapes(tf.nest, out)
    out = tf.nn.bidirectional_dynamic_rnn(
        rnn_cell.GRUCell(4), rnn_cell.GRUCell(2), sequences(tf, 5, 2, 3), dtype=tf.float32,
        time_major=True, scope="major",
    )  # fmt: skip
    return said + shapes(tf.nest, out)


@program
def on_a_cluster(tf):
    tasks = {"ps": ["localhost:1", "localhost:2"], "worker": ["localhost:3"]}
    cluster = tf.train.ClusterSpec(tasks)
    with tf.device(tf.train.replica_device_setter(cluster=cluster)):
        cells = [tf.nn.rnn_cell.BasicLSTMCell(4), tf.nn.rnn_cell.GRUCell(3)]
        cell = tf.nn.rnn_cell.MultiRNNCell(cells)
        out, _ = tf.nn.dynamic_rnn(cell, sequences(tf), lengths(tf), dtype=tf.float32)
        loss = tf.reduce_mean(tf.square(tf.layers.dense(out, 1)))
        tf.train.AdagradOptimizer(0.1).minimize(loss)


@program
def devices(tf):
    cells = [
        tf.nn.rnn_cell.DeviceWrapper(tf.nn.rnn_cell.GRUCell(3), "/job:worker/task:%d" % i)
        for i in range(2)
    ]
    cell = tf.nn.rnn_cell.MultiRNNCell(cells)
    with tf.device("/job:ps"):
        tf.nn.dynamic_rnn(cell, sequences(tf), dtype=tf.float32)


@program
def sharing(tf):
    x = sequences(tf)
    said = []
    cell = tf.nn.rnn_cell.GRUCell(4)
    tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
    tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
    with tf.variable_scope("a"):
        tf.nn.dynamic_rnn(cell, x, dtype=tf.float32, scope="b")
    other = tf.nn.rnn_cell.GRUCell
    said.append(outcome(lambda: tf.nn.dynamic_rnn(other(4), x, dtype=tf.float32)))
    with tf.variable_scope("", reuse=True):
        tf.nn.dynamic_rnn(other(4), x, dtype=tf.float32)
    tf.nn.dynamic_rnn(other(4, reuse=tf.AUTO_REUSE), x, dtype=tf.float32)
    tf.nn.dynamic_rnn(other(4, name="c"), x, dtype=tf.float32)
    return said + [names(tf.global_variables()), cell.scope_name, names(cell.variables)]


@program
def own_cells(tf):
    class Cell(tf.nn.rnn_cell.RNNCell):
        @property
        def state_size(self):
            return tf.TensorShape([4]), 2

        @property
        def output_size(self):
            return 4

        def call(self, inputs, state):
            w = tf.get_variable("w", [3, 4])
            b = tf.get_variable("b", [4], trainable=False, initializer=tf.zeros_initializer())
            out = tf.matmul(inputs, w) + state[0] + b
            return out, (out, state[1] + 1.0)

    cell = Cell()
    out = tf.nn.dynamic_rnn(cell, sequences(tf, 2, 5, 3), [5, 4], dtype=tf.float32)
    cell(sequences(tf, 2, 3), cell.zero_state(2, tf.float32), scope="mine")
    said = [names(cell.trainable_weights), names(cell.non_trainable_weights)]
    return shapes(tf.nest, out) + said


@program
def static_networks(tf):
    xs = [sequences(tf, None, 3) for _ in range(3)]
    cell = tf.nn.rnn_cell.BasicLSTMCell(4)
    out = tf.nn.static_rnn(cell, xs, dtype=tf.float32)
    said = shapes(tf.nest, out)
    out = tf.nn.static_rnn(
        tf.nn.rnn_cell.GRUCell(4), xs, dtype=tf.float32, sequence_length=lengths(tf), scope="s"
    )
    tf.gradients(out[0], tf.trainable_variables())
    return said + shapes(tf.nest, out)


@program
def static_both_directions(tf):
    xs = [sequences(tf, 2, 3) for _ in range(2)]
    rnn_cell = tf.nn.rnn_cell
    out = tf.nn.static_bidirectional_rnn(
        rnn_cell.BasicRNNCell(4), rnn_cell.BasicRNNCell(2), xs, dtype=tf.float32
    )
    said = shapes(tf.nest, out)
    out = tf.nn.static_bidirectional_rnn(
        rnn_cell.GRUCell(4), rnn_cell.GRUCell(2), xs, dtype=tf.float32,
        sequence_length=lengths(tf, 2), scope="g",
    )  # fmt: skip
    return said + shapes(tf.nest, out)


class Saver:
    def __init__(self, tf, sizes):
        self.tf = tf
        self.sizes = sizes

    def state(self, name):
        return self.tf.zeros([2, self.sizes[name]], name="start_" + name)

    def save_state(self, name, value):
        return self.tf.identity(value, name="save_" + name)


@program
def saved_states(tf):
    xs = [sequences(tf, 2, 3) for _ in range(2)]
    saver = Saver(tf, {"c": 4, "h": 4})
    cell = tf.nn.rnn_cell.BasicLSTMCell(4)
    out = tf.nn.static_state_saving_rnn(cell, xs, saver, ("c", "h"))
    said = shapes(tf.nest, out)
    out = tf.nn.static_state_saving_rnn(
        tf.nn.rnn_cell.GRUCell(4), xs, saver, "h", lengths(tf, 2), scope="g"
    )
    save = tf.nn.static_state_saving_rnn
    said.append(outcome(lambda: save(cell, xs, saver, "h")))
    said.append(outcome(lambda: save(cell, xs, saver, ("c", "h", "i"))))
    return said + shapes(tf.nest, out)


@program
def raw_network(tf):
    cell = tf.nn.rnn_cell.LSTMCell(4)
    x = sequences(tf, 5, None, 3)
    inputs = tf.TensorArray(tf.float32, size=5).unstack(x)
    ends = lengths(tf)

    def loop_fn(time, output, state, loop_state):
        start = output is None
        next_state = cell.zero_state(tf.shape(x)[1], tf.float32) if start else state
        finished = time >= ends
        done = tf.reduce_all(finished)
        zeros = tf.zeros([tf.shape(x)[1], 3], tf.float32)
        next_input = tf.cond(done, lambda: zeros, lambda: inputs.read(time))
        next_input.set_shape([None, 3])
        return finished, next_input, next_state, output, loop_state

    emitted, state, loop_state = tf.nn.raw_rnn(cell, loop_fn)
    out = emitted.stack()
    tf.gradients(out, tf.trainable_variables())

    def counting(time, output, state, loop_state):
        if output is None:
            start = cell.zero_state(2, tf.float32)
            return tf.fill([2], False), tf.ones([2, 3]), start, tf.zeros([]), 7
        done = tf.fill([2], time > 3)
        return done, tf.ones([2, 3]), state, tf.reduce_sum(output, 1), loop_state + 1

    counted = tf.nn.raw_rnn(cell, counting, scope="counting")
    said = shapes(tf.nest, [out, state, counted[1], counted[2]])
    return said + [str(loop_state), outcome(lambda: tf.nn.raw_rnn(cell, 3))]


@program
def in_a_loop(tf):
    x = sequences(tf, 2, 3, 3)

    def body(i, total):
        out, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicRNNCell(2), x, dtype=tf.float32)
        return i + 1, total + tf.reduce_sum(out)

    tf.while_loop(lambda i, _: i < 3, body, [0, 0.0])


@program
def partitioned(tf):
    with tf.variable_scope("p", partitioner=tf.fixed_size_partitioner(2)):
        tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicLSTMCell(2), sequences(tf), dtype=tf.float32)
    cell = tf.nn.rnn_cell.LSTMCell(2, num_unit_shards=2, num_proj=2, num_proj_shards=2)
    tf.nn.dynamic_rnn(cell, sequences(tf), dtype=tf.float32)
    return [names(tf.global_variables()), names(tf.trainable_variables())]


@program
def resources(tf):
    with tf.variable_scope("r", use_resource=True):
        tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicLSTMCell(2), sequences(tf), dtype=tf.float32)


@program
def wrappers_of_contrib(tf):
    rnn = tf.contrib.rnn
    cell = rnn.OutputProjectionWrapper(rnn.GRUCell(4), 2, activation=tf.nn.relu)
    tf.nn.dynamic_rnn(cell, sequences(tf), dtype=tf.float32)
    cell = rnn.InputProjectionWrapper(rnn.BasicLSTMCell(4), 2)
    tf.nn.dynamic_rnn(cell, sequences(tf), dtype=tf.float32, scope="in")
    cell = rnn.EmbeddingWrapper(rnn.GRUCell(4), 7, 3)
    cell(tf.placeholder(tf.int32, [2]), cell.zero_state(2, tf.float32))
    cells = [rnn.GRUCell(4), rnn.GRUCell(2)], [rnn.GRUCell(3), rnn.GRUCell(2)]
    rnn.stack_bidirectional_dynamic_rnn(*cells, inputs=sequences(tf), dtype=tf.float32)
    xs = [sequences(tf, 2, 3) for _ in range(2)]
    rnn.stack_bidirectional_rnn(*cells, inputs=xs, dtype=tf.float32, scope="static")
    stack = rnn.stack_bidirectional_rnn
    return [
        names(tf.global_variables()),
        outcome(lambda: stack([], cells[1], xs, dtype=tf.float32)),
        outcome(lambda: stack(cells[0], cells[1][:1], xs, dtype=tf.float32)),
        outcome(lambda: stack(*cells, inputs=xs, initial_states_fw=[1], dtype=tf.float32)),
        outcome(lambda: rnn.OutputProjectionWrapper(rnn.GRUCell(4), 0)),
    ]


@program
def faults(tf):
    run, x = tf.nn.dynamic_rnn, sequences(tf)
    gru = tf.nn.rnn_cell.GRUCell
    cell = gru(4)
    stack = tf.nn.rnn_cell.MultiRNNCell
    return [
        outcome(lambda: run(1, x, dtype=tf.float32)),
        outcome(lambda: run(cell, x)),
        outcome(lambda: run(cell, sequences(tf, 2, 5, None), dtype=tf.float32)),
        outcome(lambda: run(cell, sequences(tf, 2, 5), dtype=tf.float32)),
        outcome(lambda: run(cell, x, [[1, 2]], dtype=tf.float32)),
        outcome(lambda: gru(4, dtype=tf.int32)),
        outcome(lambda: gru(4, activation="nothing")),
        outcome(lambda: stack([])),
        outcome(lambda: stack("cell")),
        outcome(lambda: stack([tf.nn.rnn_cell.LSTMCell(4)], state_is_tuple=False)),
        outcome(lambda: gru(4, name="y")(sequences(tf, 2), tf.zeros([2, 4]))),
        outcome(lambda: gru(4, name="z")(sequences(tf, 2, None), tf.zeros([2, 4]))),
        outcome(lambda: gru(4).get_initial_state()),
        outcome(lambda: gru(4).get_initial_state(tf.zeros([2, 3]), batch_size=3)),
        outcome(lambda: gru(4).get_initial_state(tf.zeros([2, 3]), dtype=tf.float64)),
        outcome(lambda: tf.nn.static_rnn(cell, x, dtype=tf.float32)),
        outcome(lambda: tf.nn.static_rnn(cell, [], dtype=tf.float32)),
        outcome(lambda: tf.nn.static_rnn(cell, [sequences(tf, 2, 3)])),
        outcome(lambda: tf.nn.static_rnn(cell, [sequences(tf, 2, None)], dtype=tf.float32)),
        outcome(lambda: tf.nn.rnn_cell.LSTMStateTuple(tf.zeros([]), tf.ones([], tf.int32)).dtype),
    ]


if __name__ == "__main__":
    main(PROGRAMS)
