"""Cells on their own: errors inside a step, copies, weights, and dropout's choice of parts."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import minitf as tf

rnn_cell = tf.nn.rnn_cell


def test_an_integer_input_is_refused():
    with pytest.raises(ValueError, match="only supports floating point inputs, but saw dtype"):
        tf.nn.dynamic_rnn(rnn_cell.GRUCell(4), tf.zeros([2, 5, 3], tf.int32), dtype=tf.int32)


def test_layers_of_cells_need_a_tuple_of_states():
    cell = rnn_cell.MultiRNNCell([rnn_cell.GRUCell(4)])
    with pytest.raises(ValueError, match="Expected state to be a tuple of length 1, but received"):
        cell(tf.zeros([2, 3]), tf.zeros([2, 4]))
    with pytest.raises(TypeError, match="cells must be a list or tuple, but saw: <"):
        rnn_cell.MultiRNNCell(rnn_cell.GRUCell(4))


def test_a_copy_of_a_cell_has_weights_of_its_own():
    x, cell = tf.zeros([2, 3]), rnn_cell.BasicRNNCell(4)
    other = copy.deepcopy(cell)
    with tf.variable_scope("a"):
        cell(x, tf.zeros([2, 4]))
    with tf.variable_scope("b"):
        other(x, tf.zeros([2, 4]))
    assert [v.op.name for v in cell.weights] == [
        f"a/basic_rnn_cell/{n}" for n in ("kernel", "bias")
    ]
    assert [v.op.name for v in other.weights] == [
        f"b/basic_rnn_cell/{n}" for n in ("kernel", "bias")
    ]


def test_a_cell_that_may_not_learn():
    cell = rnn_cell.GRUCell(4, trainable=False)
    cell(tf.zeros([2, 3]), tf.zeros([2, 4]))
    assert cell.trainable_weights == []
    assert len(cell.non_trainable_weights) == 4
    assert tf.trainable_variables() == []


def test_the_memory_of_an_lstm_is_not_dropped():
    cell = rnn_cell.DropoutWrapper(rnn_cell.BasicLSTMCell(50), state_keep_prob=0.5, seed=1)
    _, state = cell(tf.ones([4, 3]), cell.zero_state(4, tf.float32))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        c, h = session.run(state)
    assert np.all(c != 0)
    assert 0.3 < np.mean(h == 0) < 0.7


def test_a_filter_chooses_what_is_dropped():
    def only_second(state):
        return (False, True) if isinstance(state, tuple) else True

    inner = rnn_cell.MultiRNNCell([rnn_cell.GRUCell(40), rnn_cell.GRUCell(40)])
    cell = rnn_cell.DropoutWrapper(
        inner, state_keep_prob=0.5, seed=1, dropout_state_filter_visitor=only_second
    )
    _, state = cell(tf.ones([4, 3]), cell.zero_state(4, tf.float32))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        first, second = session.run(state)
    assert np.all(first != 0)
    assert 0.3 < np.mean(second == 0) < 0.7


def test_a_filter_tells_true_or_false():
    cell = rnn_cell.DropoutWrapper(
        rnn_cell.GRUCell(4), state_keep_prob=0.5, dropout_state_filter_visitor=lambda _: "some"
    )
    with pytest.raises(TypeError, match="must tell True or False"):
        cell(tf.ones([4, 3]), cell.zero_state(4, tf.float32))


def test_as_many_lengths_as_sequences():
    lengths = tf.placeholder(tf.int32, [None])
    x = tf.ones([2, 5, 3])
    out, _ = tf.nn.dynamic_rnn(rnn_cell.GRUCell(4), x, lengths, dtype=tf.float32)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(out, {lengths: [5, 0]})[1].any() == False  # noqa: E712
        with pytest.raises(tf.errors.InvalidArgumentError, match="Expected shape for Tensor"):
            session.run(out, {lengths: [5, 1, 2]})


@pytest.mark.parametrize("lengths", [None, [5, 2]])
def test_the_gradient_is_that_of_finite_differences(lengths):
    x = tf.placeholder(tf.float64, [2, 5, 2])
    cell = rnn_cell.LSTMCell(2, use_peepholes=True, num_proj=2)
    out, state = tf.nn.dynamic_rnn(cell, x, lengths, dtype=tf.float64)
    loss = tf.reduce_sum(tf.square(out)) + tf.reduce_sum(state.c)
    gradient = tf.gradients(loss, x)[0]
    fed = np.cos(np.arange(20.0)).reshape(2, 5, 2)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = session.run(gradient, {x: fed})
        for place in [(0, 0, 0), (0, 4, 1), (1, 1, 0), (1, 2, 0)]:
            up, down = fed.copy(), fed.copy()
            up[place] += 1e-5
            down[place] -= 1e-5
            change = session.run(loss, {x: up}) - session.run(loss, {x: down})
            assert found[place] == pytest.approx(change / 2e-5, abs=1e-8)
