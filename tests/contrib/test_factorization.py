"""k-means: centers that mathematics tells, sums that TensorFlow gave, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import minitf as tf

KMeans = tf.contrib.factorization.KMeans
POINTS = np.random.RandomState(0).rand(30, 4).astype(np.float32)


@pytest.mark.parametrize(
    "settings, total",
    [
        (dict(distance_metric="cosine", use_mini_batch=True), 1.72),
        ({}, 7.303),
        (dict(use_mini_batch=True, mini_batch_steps_per_iteration=3), 7.424),
        (dict(initial_clusters=np.eye(3, 4, dtype=np.float32)), 5.819),
    ],
)
def test_distances_are_tensorflows(settings, total):
    """After four steps from the same random centers: recorded from TensorFlow 1.15.5."""
    x = tf.placeholder(tf.float32, [None, 4])
    graph = KMeans(x, 3, **settings).training_graph()
    scores, indices, distances, initialized, init_op, train_op = graph
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(init_op, {x: POINTS})
        for _ in range(4):
            session.run(train_op, {x: POINTS})
        assert session.run(initialized)
        found = session.run([distances[0], indices[0], scores[0]], {x: POINTS})
    assert found[0].sum() == pytest.approx(total, abs=1e-3)
    assert (found[1] == found[2].argmin(1)).all()


def test_centers_of_two_heaps_on_a_line():
    x = tf.constant([[0.0], [2.0], [10.0], [12.0], [14.0]])
    _, indices, _, _, init_op, train_op = KMeans(
        [x], 2, initial_clusters=[[0.0], [9.0]]
    ).training_graph()
    (centers,) = (v for v in tf.global_variables() if v.op.name == "clusters")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(init_op)
        session.run(init_op)  # does no harm
        for _ in range(2):
            session.run(train_op)
        assert session.run(centers).tolist() == pytest.approx(np.array([[1.0], [12.0]]))
        assert session.run(indices[0]).tolist() == [0, 0, 1, 1, 1]


def test_what_is_refused():
    x = tf.constant(POINTS)
    with pytest.raises(ValueError, match="Unsupported initialization algorithm 'other'"):
        KMeans(x, 2, initial_clusters="other")
    with pytest.raises(ValueError, match="Unsupported distance metric 'other'"):
        KMeans(x, 2, distance_metric="other")
    with pytest.raises(tf.errors.UnimplementedError, match="KMeans by 'kmc2'"):
        KMeans(x, 2, initial_clusters="kmc2")


def test_points_that_do_not_fit_the_centers():
    x = tf.constant(POINTS)
    train_op = KMeans(x, 2, initial_clusters=[[0.0], [1.0]]).training_graph()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train_op[4])
        with pytest.raises(tf.errors.InvalidArgumentError, match="4 vs 1"):
            session.run(train_op[1])
