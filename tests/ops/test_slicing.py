"""Slices of variables, which can be assigned to, and indices that are no indices."""

from __future__ import annotations

import numpy as np
import pytest

import minitf as tf

RESOURCE = pytest.mark.parametrize("use_resource", [False, True])


def after(variable, *updates):
    """The variable's value after the updates, each in a run of its own."""
    with tf.Session() as session:
        session.run(variable.initializer)
        for update in updates:
            session.run(update)
        return session.run(variable).tolist()


def matrix(use_resource):
    return tf.Variable([[1, 2, 3], [4, 5, 6]], name="v", use_resource=use_resource)


@RESOURCE
def test_parts_of_a_variable_are_assigned(use_resource):
    with tf.Graph().as_default():
        v = matrix(use_resource)
        column, corner = v[:, 1].assign([7, 8]), v[-1, ::2].assign([0, 9])
        assert after(v, column, corner) == [[1, 7, 3], [0, 8, 9]]


@RESOURCE
def test_one_value_fills_a_part(use_resource):
    with tf.Graph().as_default():
        v = matrix(use_resource)
        assert after(v, v[0, 1:].assign(0)) == [[1, 0, 0], [4, 5, 6]]


@RESOURCE
def test_a_value_read_before_stays_as_it_was(use_resource):
    with tf.Graph().as_default(), tf.Session() as session:
        v = matrix(use_resource)
        session.run(v.initializer)
        before = session.run(v)
        session.run(v[0].assign([0, 0, 0]))
        assert before.tolist() == [[1, 2, 3], [4, 5, 6]]


@RESOURCE
def test_assigned_values_must_fit(use_resource):
    with tf.Graph().as_default():
        v = matrix(use_resource)
        wrong = v[0:1].assign([[1, 2]])
        with pytest.raises(tf.errors.UnimplementedError, match=r"\[1,3\] does not match .*\[1,2\]"):
            after(v, wrong)


def test_only_parts_of_variables_are_assigned():
    with tf.Graph().as_default(), pytest.raises(ValueError, match="only supported for variables"):
        tf.constant([1, 2])[0].assign(3)


@pytest.mark.parametrize("index", ["a", 1.5, [1.0], (0, "a"), np.array([1, 2])])
def test_what_is_no_index_is_refused(index):
    with tf.Graph().as_default(), pytest.raises(TypeError, match="are valid indices"):
        tf.constant([[1, 2]])[index]


def test_a_feed_does_not_change_the_users_array():
    fed = np.arange(6.0).reshape(2, 3)
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float64, [2, 3])
        pieces = [x[0], tf.reshape(x, [6]), tf.transpose(x), tf.squeeze(x), tf.split(x, 3, 1)[0]]
        session.run([p + 1.0 for p in pieces], {x: fed})
    assert fed.tolist() == [[0, 1, 2], [3, 4, 5]]
