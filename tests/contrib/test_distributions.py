"""tf.distributions makes the graphs of TensorFlow 1.15.5, and computes what it does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import minitf as tf
from data.distributions.record import PROGRAMS, record
from recording import check_same, load

RECORDED = load(Path(__file__).parents[1] / "data" / "distributions" / "recorded.json.gz")


@pytest.mark.parametrize("program", PROGRAMS)
def test_as_recorded(program):
    check_same(record(tf, PROGRAMS[program]), RECORDED[program])


def test_vectors_of_independent_normal_numbers():
    d = tf.contrib.distributions
    loc, scale = np.array([[1.0, -2.0], [0.0, 0.5]], np.float32), np.array([0.5, 2.0], np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        vectors = d.MultivariateNormalDiag(loc, scale)
        single = d.Normal(loc, scale)
        x = [0.3, 0.7]
        entries = [single.log_prob(x), single.entropy(), single.kl_divergence(d.Normal(0.0, 1.0))]
        wanted = [tf.reduce_sum(e, -1) for e in entries]
        unit = d.MultivariateNormalDiag(tf.zeros([2]))
        got = [vectors.log_prob(x), vectors.entropy(), vectors.kl_divergence(unit)]
        for value, known in zip(*session.run([got, wanted])):
            np.testing.assert_allclose(value, known, rtol=1e-5)
        assert vectors.sample(3).shape == [3, 2, 2]
        assert (vectors.batch_shape, vectors.event_shape) == ([2], [2])
        samples = session.run(vectors.sample(20_000, seed=1))
        np.testing.assert_allclose(samples.mean(0), loc, atol=0.06)
        np.testing.assert_allclose(samples.std(0), [scale, scale], rtol=0.03)
        np.testing.assert_allclose(session.run(vectors.covariance()), np.diag(scale**2))
        wide = d.MultivariateNormalDiag(loc, scale_identity_multiplier=3.0)
        np.testing.assert_allclose(session.run(wide.stddev()), [3.0, 3.0])
        both = d.MultivariateNormalDiag(None, scale, 1.0)
        np.testing.assert_allclose(session.run([both.mean(), both.stddev()]), [[0, 0], [1.5, 3]])
        with pytest.raises(ValueError, match="loc or scale_diag"):
            d.MultivariateNormalDiag()
