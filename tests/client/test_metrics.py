"""tf.metrics builds the graph of TensorFlow 1.15 and computes its values (data/metrics)."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

import minitf as tf
from data.metrics.record import PROGRAMS, run

DATA = Path(__file__).parents[1] / "data" / "metrics" / "runs.json.gz"
RECORDED = json.loads(gzip.decompress(DATA.read_bytes()))


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_recorded(name):
    expected, got = RECORDED[name], run(tf, name)
    assert got["nodes"] == expected["nodes"]
    assert got["collections"] == expected["collections"]
    for mine, real in zip(got["values"], expected["values"]):
        np.testing.assert_allclose(mine, real, rtol=1e-5, atol=1e-6)


def test_wrong_arguments_are_told():
    x = tf.placeholder(tf.float32, [3])
    with pytest.raises(ValueError, match="curve must be either ROC or PR, XY unknown"):
        tf.metrics.auc(x, x, curve="XY")
    with pytest.raises(ValueError, match="Invalid summation_method: none"):
        tf.metrics.auc(x, x, summation_method="none")
    with pytest.raises(ValueError, match=r"`specificity` must be in the range \[0, 1\]"):
        tf.metrics.sensitivity_at_specificity(x, x, 1.5)
    with pytest.raises(ValueError, match="Invalid k=0"):
        tf.metrics.average_precision_at_k(x, x, 0)
    with pytest.raises(ValueError, match="Shapes .* are incompatible"):
        tf.metrics.accuracy(x, tf.placeholder(tf.float32, [4]))


def test_rankings_of_sparse_labels():
    labels = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], tf.constant([1, 0, 2], tf.int64), [2, 2])
    scores = tf.constant([[0.1, 0.5, 0.2], [0.3, 0.1, 0.6]])
    with tf.Session() as session:
        made = (
            tf.metrics.precision_at_k(labels, scores, 2),
            tf.metrics.recall_at_k(labels, scores, 1),
        )
        session.run(tf.local_variables_initializer())
        assert session.run([update for _, update in made]) == [0.75, pytest.approx(2 / 3)]
