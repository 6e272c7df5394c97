"""Decoders, attention and beam search of TensorFlow 1.15.5: the graphs, and the numbers they give.

Loops that draw numbers run one iteration at a time: TensorFlow draws in no order otherwise.

TF=tensorflow PYTHONPATH=tests PYTHON tests/data/seq2seq/record.py > recorded.json.gz
"""

import numpy as np

from recording import main, nodes, outcome

PROGRAMS = {}


def program(fn):
    PROGRAMS[fn.__name__] = fn
    return fn


def record(tf, build):
    """The nodes that a program makes, what it says, and the numbers of what it gives."""
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.set_random_seed(3)
        fetches, said = build(tf)
        made = nodes(graph)
        session.run(tf.global_variables_initializer())
        values = [value.tolist() for value in session.run(list(fetches))]
        return {"said": [str(line) for line in said], "nodes": made, "values": values}


def wave(*shape):
    size = int(np.prod(shape))
    return np.sin(np.arange(size, dtype=np.float32) * 1.7).reshape(shape)


def flat(tf, structure):
    """The tensors of a structure; those of TensorArrays stacked."""
    arrays = tf.TensorArray
    found = [
        x.stack() if isinstance(x, arrays) else x
        for x in tf.contrib.framework.nest.flatten(structure)
    ]
    return found, [x.shape for x in found]


def with_gradients(tf, fetches, said, loss):
    gradients = tf.gradients(loss, tf.trainable_variables())
    found = [getattr(g, "values", g) for g in gradients if g is not None]
    return fetches + found, said + [v.name for v in tf.global_variables()]


def decode(tf, cell, helper, state=None, layer=None, **options):
    """Outputs, state, lengths of a BasicDecoder."""
    seq2seq = tf.contrib.seq2seq
    if state is None:
        state = cell.zero_state(helper.batch_size, tf.float32)
    decoder = seq2seq.BasicDecoder(cell, helper, state, output_layer=layer)
    return seq2seq.dynamic_decode(decoder, **options)


def table(tf, classes=6, depth=3):
    return tf.get_variable("table", [classes, depth])


@program
def training(tf):
    cell = tf.nn.rnn_cell.BasicLSTMCell(4)
    helper = tf.contrib.seq2seq.TrainingHelper(wave(3, 5, 2), [5, 2, 3])
    outputs, state, lengths = decode(tf, cell, helper, layer=tf.layers.Dense(6))
    found, said = flat(tf, (outputs, state, lengths))
    targets = tf.constant([[1, 2, 3, 4, 5], [0, 1, 0, 0, 0], [2, 2, 2, 0, 0]])
    weights = tf.sequence_mask([5, 2, 3], dtype=tf.float32)
    loss = tf.contrib.seq2seq.sequence_loss(outputs.rnn_output, targets, weights)
    return with_gradients(tf, found + [loss], said, loss)


@program
def training_imputed(tf):
    cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.GRUCell(3) for _ in range(2)])
    inputs = tf.placeholder_with_default(wave(5, 3, 2), [None, None, 2])
    lengths = tf.placeholder_with_default([4, 2, 3], [None])
    helper = tf.contrib.seq2seq.TrainingHelper(inputs, lengths, time_major=True)
    out = decode(
        tf, cell, helper, impute_finished=True, output_time_major=True, maximum_iterations=3,
        swap_memory=True, scope="mine",
    )  # fmt: skip
    found, said = flat(tf, out)
    return with_gradients(tf, found, said, out[0].rnn_output)


@program
def greedy(tf):
    cell = tf.nn.rnn_cell.GRUCell(4)
    helper = tf.contrib.seq2seq.GreedyEmbeddingHelper(table(tf), [1, 2, 3], 0)
    layer = tf.layers.Dense(6, use_bias=False)
    out = decode(tf, cell, helper, layer=layer, maximum_iterations=7)
    found, said = flat(tf, out)
    return with_gradients(tf, found, said, out[0].rnn_output)


@program
def greedy_until_the_end(tf):
    cell = tf.nn.rnn_cell.BasicRNNCell(6)
    start = tf.fill([tf.constant(2) + 1], 1)
    helper = tf.contrib.seq2seq.GreedyEmbeddingHelper(lambda ids: tf.one_hot(ids, 6), start, 4)
    bias = tf.constant_initializer([0.0, 0.0, 0.0, 0.0, 2.0, 0.0])
    out = decode(tf, cell, helper, layer=tf.layers.Dense(6, bias_initializer=bias))
    return flat(tf, out)


@program
def sampled(tf):
    cell = tf.nn.rnn_cell.GRUCell(4)
    helper = tf.contrib.seq2seq.SampleEmbeddingHelper(
        table(tf), tf.constant([1, 2, 3]), 0, softmax_temperature=0.5, seed=5
    )
    return flat(tf, decode(tf, cell, helper, layer=tf.layers.Dense(6), maximum_iterations=6))


@program
def by_functions(tf):
    seq2seq = tf.contrib.seq2seq
    x = tf.constant(wave(3, 2))

    def start():
        return tf.tile([False], [3]), x

    def sample(time, outputs, state):
        return tf.argmax(outputs, -1, output_type=tf.int32)

    def following(time, outputs, state, sample_ids):
        return time + 1 >= [1, 3, 2], outputs * 2.0, state

    cell = tf.nn.rnn_cell.GRUCell(2)
    custom = seq2seq.CustomHelper(start, sample, following)
    unknown = outcome(lambda: custom.batch_size)
    state = tf.zeros([3, 2])
    first, said = flat(tf, decode(tf, cell, custom, state))
    inference = seq2seq.InferenceHelper(
        sample_fn=lambda outputs: outputs + 0.5, sample_shape=[2], sample_dtype=tf.float32,
        start_inputs=x, end_fn=lambda ids: tf.reduce_sum(ids, 1) > 1.2,
    )  # fmt: skip
    second, more = flat(tf, decode(tf, cell, inference, state, maximum_iterations=4))
    inference = seq2seq.InferenceHelper(
        sample_fn=lambda outputs: outputs > 0, sample_shape=[2], sample_dtype=tf.bool,
        start_inputs=x, end_fn=lambda ids: tf.reduce_all(ids, 1),
        next_inputs_fn=lambda ids: tf.cast(ids, tf.float32),
    )  # fmt: skip
    third, rest = flat(tf, decode(tf, cell, inference, state, maximum_iterations=4))
    return first + second + third, [unknown] + said + more + rest


@program
def scheduled(tf):
    seq2seq = tf.contrib.seq2seq
    cell = tf.nn.rnn_cell.GRUCell(4)
    x = tf.constant(wave(3, 5, 3))
    helper = seq2seq.ScheduledEmbeddingTrainingHelper(
        x, [5, 4, 2], table(tf), 0.5, seed=1, scheduling_seed=2
    )
    layer = tf.layers.Dense(6)
    outputs, state, _ = decode(tf, cell, helper, layer=layer, parallel_iterations=1)
    found, said = flat(tf, (outputs, state))
    return with_gradients(tf, found, said, outputs.rnn_output)


@program
def scheduled_outputs(tf):
    seq2seq = tf.contrib.seq2seq
    x = tf.constant(wave(3, 5, 3))
    helper = seq2seq.ScheduledOutputTrainingHelper(x, [5, 4, 2], 0.4, seed=1)
    cell = tf.nn.rnn_cell.GRUCell(3)
    found, said = flat(tf, decode(tf, cell, helper, parallel_iterations=1))
    helper = seq2seq.ScheduledOutputTrainingHelper(
        x, [5, 4, 2], 0.6, seed=2, next_inputs_fn=lambda out: out * 2.0,
        auxiliary_inputs=wave(3, 5, 2),
    )  # fmt: skip
    cell = tf.nn.rnn_cell.GRUCell(3, name="second")
    outputs, state, _ = decode(tf, cell, helper, scope="second", parallel_iterations=1)
    more, rest = flat(tf, (outputs, state))
    fetches, said = with_gradients(tf, found + more, said + rest, outputs.rnn_output)
    return fetches, said


@program
def helpers_refuse(tf):
    seq2seq = tf.contrib.seq2seq
    cell = tf.nn.rnn_cell.GRUCell(3)
    helper = seq2seq.TrainingHelper(wave(3, 5, 3), [1, 2, 3])
    decoder = seq2seq.BasicDecoder(cell, helper, tf.zeros([3, 3]))
    make = seq2seq.ScheduledEmbeddingTrainingHelper
    said = [
        outcome(lambda: seq2seq.TrainingHelper(wave(3, 5, 3), 3)),
        outcome(lambda: seq2seq.GreedyEmbeddingHelper(tf.zeros([3, 3]), 3, 0)),
        outcome(lambda: seq2seq.GreedyEmbeddingHelper(tf.zeros([3, 3]), [3], [0])),
        outcome(lambda: make(wave(3, 5, 3), [3], tf.zeros([3, 3]), [[0.5]])),
        outcome(lambda: seq2seq.dynamic_decode(decoder, maximum_iterations=[1])),
        outcome(lambda: seq2seq.BasicDecoder(cell, helper, None, output_layer="no")).split("(")[0],
        decoder.output_size,
        decoder.output_dtype,
        decoder.batch_size.name,
        decoder.tracks_own_finished,
    ]
    return [decoder.batch_size], said


def attentive(tf, mechanism, cell=None, steps=4, **options):
    """Training with attention: outputs, last state, lengths."""
    cell = cell or tf.nn.rnn_cell.BasicLSTMCell(4)
    cell = tf.contrib.seq2seq.AttentionWrapper(cell, mechanism, **options)
    helper = tf.contrib.seq2seq.TrainingHelper(wave(3, steps, 2), [steps, 2, 3])
    return decode(tf, cell, helper, parallel_iterations=1)


@program
def luong(tf):
    mechanism = tf.contrib.seq2seq.LuongAttention(4, wave(3, 5, 3), [5, 2, 4], scale=True)
    out = attentive(tf, mechanism, attention_layer_size=3)
    found, said = flat(tf, out)
    return with_gradients(tf, found, said + [str(mechanism.dtype)], out[0].rnn_output)


@program
def bahdanau(tf):
    mechanism = tf.contrib.seq2seq.BahdanauAttention(5, wave(3, 5, 3))
    out = attentive(tf, mechanism, alignment_history=True, output_attention=False)
    found, said = flat(tf, out)
    return with_gradients(tf, found, said, out[0].rnn_output)


@program
def bahdanau_normalized(tf):
    memory = tf.placeholder_with_default(wave(3, 5, 3), [None, None, 3])
    lengths = tf.placeholder_with_default([5, 2, 4], [None])
    mechanism = tf.contrib.seq2seq.BahdanauAttention(
        5, memory, lengths, normalize=True, probability_fn=tf.contrib.seq2seq.hardmax,
        score_mask_value=-5.0, name="Mine",
    )  # fmt: skip
    out = attentive(tf, mechanism, attention_layer=tf.layers.Dense(2), name="wrapped")
    found, said = flat(tf, out)
    return with_gradients(tf, found, said, out[0].rnn_output)


@program
def several_mechanisms(tf):
    seq2seq = tf.contrib.seq2seq
    mechanisms = [
        seq2seq.LuongAttention(4, wave(3, 5, 3)),
        seq2seq.BahdanauAttention(3, wave(3, 2, 2), [2, 1, 1]),
    ]
    out = attentive(
        tf, mechanisms, alignment_history=True, attention_layer_size=[2, 3],
        cell_input_fn=lambda inputs, attention: tf.concat([attention, inputs], 1),
        initial_cell_state=tf.nn.rnn_cell.LSTMStateTuple(tf.ones([3, 4]), tf.zeros([3, 4])),
    )  # fmt: skip
    found, said = flat(tf, out)
    return with_gradients(tf, found, said, out[0].rnn_output)


@program
def monotonic(tf):
    seq2seq = tf.contrib.seq2seq
    first = seq2seq.LuongMonotonicAttention(
        4, wave(3, 5, 3), [5, 2, 4], scale=True, score_bias_init=-0.5, mode="recursive"
    )
    second = seq2seq.BahdanauMonotonicAttention(
        5, wave(3, 4, 2), normalize=True, sigmoid_noise=0.5, sigmoid_noise_seed=4
    )
    third = seq2seq.BahdanauMonotonicAttention(5, wave(3, 4, 2), mode="hard")
    out = attentive(tf, [first, second, third])
    found, said = flat(tf, out)
    said.append(outcome(lambda: seq2seq.monotonic_attention(wave(2, 2), wave(2, 2), "soft")))
    return with_gradients(
        tf, found + [seq2seq.safe_cumprod([0.5, 0.0, 1.0])], said, out[0].rnn_output
    )


@program
def attention_in_dynamic_rnn(tf):
    seq2seq = tf.contrib.seq2seq
    memory, _ = tf.nn.dynamic_rnn(
        tf.nn.rnn_cell.GRUCell(3), wave(3, 5, 2), [5, 3, 4], dtype=tf.float32
    )
    mechanism = seq2seq.LuongAttention(4, memory, [5, 3, 4])
    cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(4), mechanism, 3)
    out, state = tf.nn.dynamic_rnn(cell, wave(3, 4, 2), dtype=tf.float32)
    found, said = flat(tf, (out, state))
    state = cell.zero_state(3, tf.float32)
    other = state.clone(cell_state=tf.ones([3, 4]), attention=tf.ones([3, 3]))
    more, rest = flat(tf, other)
    unknown = tf.placeholder_with_default(wave(3, 4), [None, 4])
    open_state = cell.zero_state(tf.placeholder_with_default(3, []), tf.float32)
    again, open_shapes = flat(
        tf, [state.clone(cell_state=unknown), open_state.clone(cell_state=unknown)]
    )
    more, rest = more + again, rest + open_shapes
    said += rest + [
        outcome(lambda: state.clone(cell_state=tf.ones([3, 5]))),
        cell.output_size,
        cell.state_size,
    ]
    return with_gradients(tf, found + more, said, out)


@program
def attention_refuses(tf):
    seq2seq = tf.contrib.seq2seq
    cell = tf.nn.rnn_cell.GRUCell(4)
    memory = tf.zeros([3, 5, 3])
    mechanism = seq2seq.LuongAttention(4, memory)
    wrap = seq2seq.AttentionWrapper
    open_memory = tf.placeholder(tf.float32, [3, 5, None])
    said = [
        outcome(lambda: wrap(cell, "no")),
        outcome(lambda: wrap(cell, [mechanism, "no"])),
        outcome(lambda: wrap(cell, mechanism, cell_input_fn=1)),
        outcome(lambda: wrap(cell, mechanism, [1, 2])),
        outcome(lambda: wrap(cell, mechanism, 1, attention_layer=tf.layers.Dense(2))),
        outcome(lambda: wrap(cell, mechanism, attention_layer=[])),
        outcome(lambda: seq2seq.LuongAttention(4, open_memory)),
        outcome(lambda: mechanism(tf.zeros([3, 5]), None)),
        outcome(lambda: wrap(cell, mechanism).call(tf.zeros([3, 2]), 1)),
        outcome(lambda: wrap(cell, mechanism, initial_cell_state=tf.zeros([4, 4]))),
        outcome(lambda: wrap(cell, mechanism).zero_state(2, tf.float32)),
    ]
    return [mechanism.keys, seq2seq.hardmax([[1.0, 3.0, 2.0]])], said


def beams(tf, cell, state, width=3, batch=2, layer=True, steps=5, **options):
    """The outputs of a beam search, its state and the lengths."""
    seq2seq = tf.contrib.seq2seq
    decoder = seq2seq.BeamSearchDecoder(
        cell, table(tf), tf.fill([batch], 1), 0, state, width,
        output_layer=tf.layers.Dense(6) if layer else None, **options
    )  # fmt: skip
    return seq2seq.dynamic_decode(decoder, maximum_iterations=steps)


@program
def beam_search(tf):
    cell = tf.nn.rnn_cell.BasicLSTMCell(4)
    state = tf.nn.rnn_cell.LSTMStateTuple(wave(2, 4), wave(2, 4) + 0.5)
    state = tf.contrib.seq2seq.tile_batch(state, multiplier=3)
    return flat(tf, beams(tf, cell, state, length_penalty_weight=0.6))


@program
def beam_search_of_unknown_size(tf):
    cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.GRUCell(5), tf.nn.rnn_cell.GRUCell(6)])
    start = tf.placeholder_with_default([1, 2, 3], [None])
    state = cell.zero_state(tf.size(start) * 2, tf.float32)
    decoder = tf.contrib.seq2seq.BeamSearchDecoder(
        cell, lambda ids: tf.one_hot(ids, 6), start, 4, state, 2,
        length_penalty_weight=tf.constant(1.0),
    )  # fmt: skip
    said = [decoder.output_size, decoder.output_dtype, decoder.tracks_own_finished]
    found, shapes = flat(tf, tf.contrib.seq2seq.dynamic_decode(decoder, maximum_iterations=6))
    return found, said + shapes


@program
def beam_search_with_attention(tf):
    seq2seq = tf.contrib.seq2seq
    memory = seq2seq.tile_batch(wave(2, 5, 3), 3)
    lengths = seq2seq.tile_batch(tf.constant([5, 3]), 3)
    mechanism = seq2seq.BahdanauAttention(4, memory, lengths)
    cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(4), mechanism, 4, alignment_history=True)
    encoded = seq2seq.tile_batch(tf.constant(wave(2, 4)), 3)
    state = cell.zero_state(6, tf.float32).clone(cell_state=encoded)
    out = beams(tf, cell, state, coverage_penalty_weight=0.4, length_penalty_weight=0.3)
    return flat(tf, out)


@program
def beam_search_refuses(tf):
    seq2seq = tf.contrib.seq2seq
    cell = tf.nn.rnn_cell.GRUCell(4)
    make = seq2seq.BeamSearchDecoder
    words = tf.zeros([6, 3])
    state = tf.zeros([6, 4])
    said = [
        outcome(lambda: make(cell, words, 1, 0, state, 3)),
        outcome(lambda: make(cell, words, [1, 1], [0], state, 3)),
        outcome(lambda: make(cell, words, [1, 1], 0, tf.zeros([6, 5]), 3)),
        outcome(lambda: seq2seq.tile_batch(1.0, 2)),
    ]
    decoder = make(cell, words, [1, 1], 0, state, 3, coverage_penalty_weight=0.5)
    said.append(outcome(lambda: seq2seq.dynamic_decode(decoder)))
    step_ids = np.arange(24, dtype=np.int32).reshape(4, 2, 3)
    parents = np.array(
        [[[0, 0, 0]] * 2, [[1, 0, 2]] * 2, [[2, 2, 0]] * 2, [[1, 2, 0]] * 2], np.int32
    )
    return [
        seq2seq.gather_tree(step_ids, parents, [4, 3], 5),
        seq2seq.tile_batch(wave(2, 2), 2),
    ], said


def run(tf, cell, *shape):
    """The outputs and the state of a cell along a sequence, and the gradients."""
    out, state = tf.nn.dynamic_rnn(cell, wave(*shape), dtype=tf.float32)
    found, said = flat(tf, (out, state))
    return with_gradients(tf, found, said + [cell.output_size, cell.state_size], out)


@program
def attention_cell(tf):
    cell = tf.nn.rnn_cell.BasicLSTMCell(4)
    return run(tf, tf.contrib.rnn.AttentionCellWrapper(cell, 2), 2, 3, 3)


@program
def attention_cell_joined(tf):
    make = tf.contrib.rnn.AttentionCellWrapper
    lstm, gru = tf.nn.rnn_cell.BasicLSTMCell(4), tf.nn.rnn_cell.GRUCell(4)
    refused = [
        outcome(lambda: make(lstm, 2, state_is_tuple=False)),
        outcome(lambda: make(gru, 0)),
    ]
    cell = make(gru, 3, attn_size=2, attn_vec_size=5, input_size=6, state_is_tuple=False)
    found, said = run(tf, cell, 2, 4, 3)
    return found, said + refused


@program
def highway(tf):
    cell = tf.nn.rnn_cell.GRUCell(3)
    first = tf.contrib.rnn.HighwayWrapper(cell)
    apart = tf.contrib.rnn.HighwayWrapper(
        tf.nn.rnn_cell.GRUCell(3), couple_carry_transform_gates=False, carry_bias_init=0.5
    )
    return run(tf, tf.nn.rnn_cell.MultiRNNCell([first, apart]), 2, 4, 3)


@program
def normalized_lstm(tf):
    make = tf.contrib.rnn.LayerNormBasicLSTMCell
    cells = [
        make(4, norm_gain=0.9, norm_shift=0.1, dropout_keep_prob=0.5, dropout_prob_seed=3),
        make(3, forget_bias=0.5, layer_norm=False, activation=tf.nn.relu),
    ]
    x = [tf.constant(wave(2, 3)), tf.constant(wave(2, 3) + 1)]
    out, state = tf.nn.static_rnn(tf.nn.rnn_cell.MultiRNNCell(cells), x, dtype=tf.float32)
    found, said = flat(tf, (out, state))
    return with_gradients(tf, found, said, out)


@program
def convolutional_lstm(tf):
    rnn = tf.contrib.rnn
    cell = rnn.Conv2DLSTMCell(
        input_shape=[4, 4, 2], output_channels=3, kernel_shape=[3, 3], skip_connection=True,
    )  # fmt: skip
    out, state = cell(wave(2, 4, 4, 2), cell.zero_state(2, tf.float32))
    flat_cell = rnn.Conv1DLSTMCell(
        input_shape=[5, 2], output_channels=3, kernel_shape=[3], use_bias=False
    )
    more = tf.nn.dynamic_rnn(flat_cell, wave(2, 3, 5, 2), dtype=tf.float32)
    found, said = flat(tf, (out, state, more))
    said.append(outcome(lambda: rnn.ConvLSTMCell(2, [5, 2], 3, [3])))
    return with_gradients(tf, found, said, [out, more[0]])


if __name__ == "__main__":
    main(PROGRAMS, record)
