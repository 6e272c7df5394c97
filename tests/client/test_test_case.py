"""tf.test.TestCase: tests written for TensorFlow 1.15 pass and fail as there."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import minitf as tf


class Sample(tf.test.TestCase):
    def test_values(self):
        x = tf.constant([1.0, 2.0])
        with self.test_session():
            self.assertAllClose(x.eval(), [1.0, 2.0 + 1e-7])
        with self.cached_session() as one, self.cached_session() as two:
            self.assertIs(one, two)
        self.assertAllEqual(x, [1.0, 2.0])
        self.assertAllClose({"a": x, "b": [1.0, [2.0, 3.0]]}, {"a": [1, 2], "b": [1, [2, 3]]})
        self.assertNotAllClose(x, [1.0, 3.0])
        self.assertAllCloseAccordingToType(np.float16([1.0]), [1.0005])
        self.assertShapeEqual(np.zeros([2]), x)
        self.assertProtoEquals("name: 'Const' op: 'Const'", tf.NodeDef(name="Const", op="Const"))
        self.assertDeviceEqual("/job:a/task:1", "/job:a/task:1")

    def test_errors(self):
        bad = tf.reshape(tf.placeholder_with_default([1, 2, 3], None), [2, 2])
        with self.session(), self.assertRaisesOpError("3 values"):
            bad.eval()
        with self.assertRaisesRegex(ValueError, "no"):
            raise ValueError("no")

    def test_seed(self):
        self.assertEqual(tf.get_default_graph().seed, 87654321)

    def test_files(self):
        self.assertNotEqual(self.get_temp_dir(), "")


def test_importing_brings_no_unittest():
    program = "import sys, minitf.test; sys.exit('unittest' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0


def test_what_differs_is_told():
    case = Sample("test_values")
    case.setUp()
    for a, b in (([1.0], [2.0]), ([1.0], [1.0, 1.0]), ({"a": 1.0}, {"b": 1.0})):
        with pytest.raises(AssertionError):
            case.assertAllClose(a, b)
    with pytest.raises(AssertionError, match="not raised"), case.assertRaisesOpError("x"):
        tf.no_op()


def test_graphs_are_compared_node_by_node():
    with tf.Graph().as_default() as a:
        tf.constant(1, name="x")
    with tf.Graph().as_default() as b:
        tf.constant(2, name="x")
    tf.test.assert_equal_graph_def(a.as_graph_def(), a.as_graph_def())
    with pytest.raises(AssertionError, match="x"):
        tf.test.assert_equal_graph_def(a.as_graph_def(), b.as_graph_def())
