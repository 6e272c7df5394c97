"""Variables from checkpoints, and that no part of contrib is loaded before its first use."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import minitf as tf
from minitf.contrib import framework


@pytest.fixture
def checkpoint(tmp_path):
    """`a` = [1, 2, 3, 4] and `b` = 5."""
    with tf.Graph().as_default(), tf.Session() as session:
        tf.Variable([1.0, 2.0, 3.0, 4.0], name="a")
        tf.Variable(5.0, name="b")
        session.run(tf.global_variables_initializer())
        return tf.train.Saver().save(session, str(tmp_path / "model"))


def test_assign_from_checkpoint(checkpoint):
    a = tf.Variable(tf.zeros([4]), name="a")
    other = tf.Variable(0.0, name="other")
    by_list, by_list_feeds = framework.assign_from_checkpoint(checkpoint, [a])
    by_name, by_name_feeds = framework.assign_from_checkpoint(checkpoint, {"b": other})
    with tf.Session() as session:
        session.run(by_list, by_list_feeds)
        session.run(by_name, by_name_feeds)
        assert session.run(a).tolist() == [1, 2, 3, 4]
        assert session.run(other) == 5


def test_assign_parts(checkpoint):
    cut = tf.fixed_size_partitioner(2)
    parts = tf.get_variable("a", [4], partitioner=cut, initializer=tf.zeros_initializer())
    op, feeds = framework.assign_from_checkpoint(checkpoint, list(parts))
    with tf.Session() as session:
        session.run(op, feeds)
        assert [session.run(part).tolist() for part in parts] == [[1, 2], [3, 4]]


def test_what_does_not_fit(checkpoint):
    missing, wrong = tf.Variable(0.0, name="c"), tf.Variable([0.0], name="a")
    with pytest.raises(ValueError, match=r"Checkpoint is missing variable \[c\]"):
        framework.assign_from_checkpoint(checkpoint, [missing])
    assert framework.assign_from_checkpoint(checkpoint, [missing], True)[1] == {}
    with pytest.raises(ValueError, match="must be unchanged for a"):
        framework.assign_from_checkpoint(checkpoint, [wrong])


def test_assign_by_a_function(checkpoint):
    b, c = tf.Variable(0.0, name="b"), tf.Variable(7.0, name="c")
    restore = framework.assign_from_checkpoint_fn(checkpoint, [b, c], ignore_missing_vars=True)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        restore(session)
        framework.assign_from_values_fn({"c": np.array(9.0)})(session)
        assert session.run([b, c]) == [5, 9]
    assert framework.assign_from_checkpoint_fn(checkpoint, [c], ignore_missing_vars=True) is None


def test_loaded_when_first_used():
    program = (
        "import sys, minitf as tf\n"
        "loaded = lambda: [m for m in sys.modules if m.startswith('minitf.contrib.')]\n"
        "assert not loaded(), loaded()\n"
        "tf.contrib.layers.flatten\n"
        "assert 'minitf.contrib.rnn' not in loaded()\n"
        "assert 'minitf.examples' not in sys.modules\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
