"""Variables that begin with values from a checkpoint, and waiting for new checkpoints."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import minitf as tf


@pytest.fixture
def path(tmp_path):
    """A checkpoint of a/w [2, 2], a/b [3] and c."""
    with tf.Graph().as_default(), tf.Session() as session:
        with tf.variable_scope("a"):
            tf.get_variable("w", initializer=np.arange(4, dtype=np.float32).reshape(2, 2))
            tf.get_variable("b", initializer=[1.0, 2.0, 3.0])
        tf.get_variable("c", initializer=7.0)
        session.run(tf.global_variables_initializer())
        return tf.train.Saver().save(session, str(tmp_path / "model"))


def initialized(variables):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [v.tolist() for v in session.run(variables)]


@pytest.mark.parametrize("by_handle", [False, True])
def test_variables_by_name_and_as_they_are(path, by_handle):
    c = tf.get_variable("mine", [], use_resource=by_handle)
    w = tf.get_variable("s/w", [2, 2], use_resource=by_handle)
    tf.train.init_from_checkpoint(path, {"c": c, "a/w": "s/w"})
    assert initialized([c, w]) == [7.0, [[0.0, 1.0], [2.0, 3.0]]]
    assert c.initial_value.op.name == "checkpoint_initializer_1"


def test_all_variables_of_a_scope(path, tmp_path):
    with tf.variable_scope("x"):
        parts = tf.get_variable("w", [2, 2], partitioner=tf.fixed_size_partitioner(2))
        b = tf.get_variable("b", [3])
    tf.train.init_from_checkpoint(str(tmp_path), {"a/": "x/"})
    assert initialized([*parts, b]) == [[[0.0, 1.0]], [[2.0, 3.0]], [1.0, 2.0, 3.0]]


def test_the_root_scope(path):
    c = tf.get_variable("c", [])
    tf.train.init_from_checkpoint(path, {"/": "/"})
    assert initialized([c]) == [7.0]


def test_parts_as_a_list(path):
    parts = tf.get_variable("p", [2, 2], partitioner=tf.fixed_size_partitioner(2))
    tf.train.init_from_checkpoint(path, {"a/w": list(parts)})
    assert initialized(list(parts)) == [[[0.0, 1.0]], [[2.0, 3.0]]]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"no": "v"}, "Tensor no is not found in"),
        ({"a/b": "v"}, r"Shape of variable v:0 \(\(2,\)\) doesn't match with shape of tensor a/b"),
        ({"a/w": "q/"}, "should map to scope only a/w. Should be 'scope/': 'other_scope/'"),
        ({"a/": "s/"}, r"Tensor a/z \(z in a/\) is not found in"),
    ],
)
def test_what_does_not_fit(path, names, message):
    tf.get_variable("v", [2])
    tf.get_variable("s/z", [2])
    with pytest.raises(ValueError, match=message):
        tf.train.init_from_checkpoint(path, names)


def test_new_checkpoints_one_after_another(path, tmp_path):
    found = tf.train.checkpoints_iterator(str(tmp_path), timeout=20)
    assert next(found) == path
    with tf.Session() as session:
        v = tf.Variable(1.0)
        session.run(v.initializer)
        saver = tf.train.Saver()
        later = threading.Timer(0.2, saver.save, (session, str(tmp_path / "later")))
        later.start()
        assert next(found) == str(tmp_path / "later")
        later.join()


def test_the_end_of_waiting(tmp_path):
    assert list(tf.train.checkpoints_iterator(str(tmp_path), timeout=0)) == []
    answers = iter([False, True])
    waits = tf.train.checkpoints_iterator(
        str(tmp_path), timeout=0, timeout_fn=lambda: next(answers)
    )
    assert list(waits) == []
    assert list(answers) == []
