"""Numbers of recurrent networks in TensorFlow 1.15.5; recorded in values.json.gz.

TF=tensorflow PYTHONPATH=tests PYTHON tests/data/rnn/values.py > tests/data/rnn/values.json.gz
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


def learn(tf, out, states, feeds):
    """Outputs, states and gradients, after two steps of training."""
    loss = tf.reduce_sum(tf.square(out)) + tf.add_n([tf.reduce_sum(s) for s in states])
    variables = tf.trainable_variables()
    gradients = tf.gradients(loss, variables)
    pairs = list(zip(gradients, variables))
    with tf.control_dependencies(gradients):  # no update before all gradients are there
        train = tf.train.GradientDescentOptimizer(0.05).apply_gradients(pairs)
    return [out, loss] + list(states) + gradients, train, feeds


def network(tf, cell, lengths=(5, 0, 3), time_major=False):
    x = tf.placeholder(tf.float32, [None, None, 2])
    fed = inputs(3, 5, 2)
    feeds = {x: fed.transpose(1, 0, 2) if time_major else fed}
    out, state = tf.nn.dynamic_rnn(
        cell, x, lengths and list(lengths), dtype=tf.float32, time_major=time_major
    )
    return learn(tf, out, tf.nest.flatten(state), feeds)


@program
def basic(tf):
    return network(tf, tf.nn.rnn_cell.BasicRNNCell(3))


@program
def none_to_the_end(tf):
    return network(tf, tf.nn.rnn_cell.GRUCell(3), lengths=(3, 0, 2))


@program
def gru(tf):
    return network(tf, tf.nn.rnn_cell.GRUCell(3), time_major=True)


@program
def basic_lstm(tf):
    return network(tf, tf.nn.rnn_cell.BasicLSTMCell(3), lengths=None)


@program
def lstm(tf):
    cell = tf.nn.rnn_cell.LSTMCell(
        3, use_peepholes=True, num_proj=2, cell_clip=0.5, proj_clip=0.1, forget_bias=0.3
    )
    return network(tf, cell)


@program
def stacked(tf):
    cells = [tf.nn.rnn_cell.GRUCell(2), tf.nn.rnn_cell.ResidualWrapper(tf.nn.rnn_cell.GRUCell(2))]
    return network(tf, tf.nn.rnn_cell.MultiRNNCell(cells))


@program
def dropped(tf):
    cell = tf.nn.rnn_cell.DropoutWrapper(
        tf.nn.rnn_cell.LSTMCell(4), 0.7, 0.6, 0.8, variational_recurrent=True, input_size=2,
        dtype=tf.float32, seed=3,
    )  # fmt: skip
    return network(tf, cell)


@program
def both_directions(tf):
    x = tf.constant(inputs(2, 4, 3))
    cells = tf.nn.rnn_cell.GRUCell(2), tf.nn.rnn_cell.BasicRNNCell(3)
    outs, states = tf.nn.bidirectional_dynamic_rnn(*cells, inputs=x, sequence_length=[4, 2],
                                                   dtype=tf.float32)  # fmt: skip
    return learn(tf, tf.concat(outs, 2), states, {})


@program
def unrolled(tf):
    xs = tf.unstack(tf.constant(inputs(3, 2, 3)))
    cell = tf.nn.rnn_cell.BasicLSTMCell(2)
    outs, state = tf.nn.static_rnn(cell, xs, dtype=tf.float32, sequence_length=[1, 2])
    return learn(tf, tf.stack(outs), state, {})


@program
def unrolled_both(tf):
    xs = tf.unstack(tf.constant(inputs(3, 2, 3)))
    cells = tf.nn.rnn_cell.GRUCell(2), tf.nn.rnn_cell.GRUCell(2)
    outs, fw, bw = tf.nn.static_bidirectional_rnn(
        *cells, inputs=xs, dtype=tf.float32, sequence_length=[3, 2]
    )
    return learn(tf, tf.stack(outs), [fw, bw], {})


@program
def raw(tf):
    cell = tf.nn.rnn_cell.GRUCell(2)
    x = tf.TensorArray(tf.float32, size=4, clear_after_read=False)
    x = x.unstack(tf.constant(inputs(4, 2, 3)))

    def loop_fn(time, output, state, loop_state):
        state = cell.zero_state(2, tf.float32) if output is None else state
        finished = time >= tf.constant([4, 2])
        last = tf.minimum(time, 3)
        told = tf.constant(0.5) if loop_state is None else loop_state * 2.0
        return finished, x.read(last), state, output, told

    emitted, state, loop_state = tf.nn.raw_rnn(cell, loop_fn)
    return learn(tf, emitted.stack(), [state, loop_state], {})


if __name__ == "__main__":
    main(PROGRAMS, evaluate)
