"""Optimizers build the graph of TensorFlow 1.15 and compute its values (data/optimizers)."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

import minitf as tf
from data.optimizers.record import FORMS, OPTIMIZERS, run

DATA = Path(__file__).parents[1] / "data" / "optimizers" / "runs.json.gz"
RECORDED = json.loads(gzip.decompress(DATA.read_bytes()))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_as_recorded(optimizer, form):
    expected, got = RECORDED[f"{optimizer} {form}"], run(tf, optimizer, form)
    assert got["nodes"] == expected["nodes"]
    for mine, real in zip(got["after"], expected["after"]):
        assert mine.keys() == real.keys()
        for name in real:
            np.testing.assert_allclose(mine[name], real[name], rtol=1e-5, atol=1e-6, err_msg=name)


def test_a_loss_that_is_a_function():
    v = tf.Variable(3.0)
    step = tf.train.GradientDescentOptimizer(0.5).minimize(lambda: v * v)
    with tf.Session() as session:
        session.run(v.initializer)
        session.run(step)
        assert session.run(v) == 0.0
