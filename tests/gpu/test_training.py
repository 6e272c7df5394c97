"""What runs on a GPU gives what the CPU gives: steps, variables, control flow, training."""

import gzip
import json
import re
from pathlib import Path

import numpy as np
import pytest

import minitf as tf
from data.optimizers.record import FORMS, OPTIMIZERS, build, run
from minitf_runtime.devices import gpu

DATA = Path(__file__).parents[1] / "data" / "optimizers" / "runs.json.gz"
RECORDED = json.loads(gzip.decompress(DATA.read_bytes()))
RANDOM = np.random.default_rng(1)
X = RANDOM.normal(size=(16, 8, 8, 1)).astype(np.float32)
Y = RANDOM.integers(0, 3, 16)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_optimizer_as_recorded(optimizer, form):
    for mine, real in zip(
        run(tf, optimizer, form)["after"], RECORDED[f"{optimizer} {form}"]["after"]
    ):
        for name in real:
            np.testing.assert_allclose(mine[name], real[name], rtol=1e-5, atol=1e-6, err_msg=name)
    assert (True, 0) in gpu._opened


# TensorFlow 1.15 has the updates of these for GPUs; all others are on the CPU, with their variable.
DENSE_ON_GPU = set("sgd momentum nesterov adagrad adadelta adam rmsprop rmsprop_centered".split())
SPARSE_ON_GPU = {"sgd", "adam"}
UPDATE = re.compile(r"(Resource)?(Sparse)?(Apply|Scatter|Assign)[A-Z]?\w*")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_updates_run_on_the_gpu(optimizer, form):
    ids, train = build(tf, optimizer, form)
    options = tf.RunOptions(output_partition_graphs=True)
    ran = tf.RunMetadata()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train, {ids: [0, 3, 0]}, options=options, run_metadata=ran)
    nodes = [n for graph in ran.partition_graphs for n in graph.node]
    updates = {n.name: n.device.split(":")[-2] for n in nodes if UPDATE.fullmatch(n.op)}
    assert updates.pop(train.name) == "GPU"  # of the global step
    there = DENSE_ON_GPU if form.startswith("dense") else SPARSE_ON_GPU
    assert set(updates.values()) == {"GPU" if optimizer in there else "CPU"}, updates


def mlp(x):
    x = tf.reshape(x, [-1, 64])
    w = tf.get_variable("w", [64, 10], initializer=tf.constant_initializer(0.05))
    b = tf.get_variable("b", [10], initializer=tf.zeros_initializer())
    h = tf.nn.relu(tf.matmul(x, w) + b + tf.constant(np.linspace(-1, 1, 10, dtype=np.float32)))
    return tf.matmul(h, tf.get_variable("v", [10, 3], initializer=tf.constant_initializer(0.1)))


def convnet(x):
    k = np.random.default_rng(2).normal(size=(3, 3, 1, 4)).astype(np.float32)
    h = tf.nn.conv2d(x, tf.get_variable("k", initializer=k), [1, 1, 1, 1], "SAME")
    h = tf.nn.max_pool(tf.nn.relu(h), [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
    v = np.random.default_rng(3).normal(size=(64, 3)).astype(np.float32)
    return tf.matmul(tf.reshape(h, [-1, 64]), tf.get_variable("v", initializer=v))


def trained(model, steps=5, config=None):
    """Losses and the variables after some steps of momentum, in a graph of its own."""
    with tf.Graph().as_default():
        x, y = tf.placeholder(tf.float32, [None, 8, 8, 1]), tf.placeholder(tf.int64, [None])
        logits = model(x)
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
        )
        train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
        with tf.Session(config=config) as sess:
            sess.run(tf.global_variables_initializer())
            losses = [sess.run([loss, train], {x: X, y: Y})[0] for _ in range(steps)]
            return [*losses, *sess.run(tf.trainable_variables())]


NO_GPU = tf.ConfigProto(device_count={"GPU": 0})


@pytest.mark.parametrize("model", [mlp, convnet])
def test_training_gives_what_the_cpu_gives(model):
    for mine, cpu in zip(trained(model), trained(model, config=NO_GPU)):
        np.testing.assert_allclose(mine, cpu, rtol=1e-5, atol=1e-6)


def test_delays_change_nothing(fake, monkeypatch):
    first = None
    for seed in range(20):
        monkeypatch.setenv("MINITF_FAKE_GPU_SEED", str(seed))
        fake()
        got = trained(mlp, 3)
        first = first or got
        assert all(np.array_equal(a, b) for a, b in zip(got, first))


def test_feeds_fetches_and_variables():
    x = tf.placeholder(tf.float32, [None])
    v = tf.Variable([1.0, 2.0], validate_shape=False)
    with tf.control_dependencies([v.read_value()]):
        more = tf.assign_add(v, x)
    with tf.Session() as sess:
        sess.run(v.initializer)
        before = sess.run(v)
        assert sess.run([more, x], {x: [1.0, 1.0]})[0].tolist() == [2, 3]
        assert before.tolist() == [1, 2]
        assert isinstance(sess.run(v), np.ndarray)
        assert sess.run(x * 2, {x: [3.0]}).tolist() == [6]
        assert sess.run(tf.assign(v, [5.0], validate_shape=False)).tolist() == [5]


def test_a_value_that_was_read_does_not_change_with_its_variable():
    v = tf.Variable([1.0, 2.0])
    old = v * 1
    with tf.control_dependencies([old]):
        update = tf.assign_add(v, [10.0, 10.0])
    with tf.control_dependencies([update]):
        both = tf.stack([old, tf.identity(v.read_value())])
    with tf.Session() as sess:
        sess.run(v.initializer)
        for step in range(3):
            assert sess.run(both)[0].tolist() == [1 + 10 * step, 2 + 10 * step]


def test_cond_and_while():
    x = tf.placeholder(tf.float32, [2])
    branch = tf.cond(tf.reduce_sum(x) > 1, lambda: x * 2, lambda: x - 1)
    total = tf.while_loop(
        lambda i, s: i < 5, lambda i, s: (i + 1, s + x * tf.cast(i, tf.float32)), [0, x]
    )[1]
    until = tf.while_loop(lambda s: tf.reduce_sum(s) < 100, lambda s: s * 2, [x])
    slope = tf.gradients(total, x)[0]
    with tf.Session() as sess:
        assert sess.run(branch, {x: [1, 2]}).tolist() == [2, 4]
        assert sess.run(branch, {x: [0, 1]}).tolist() == [-1, 0]
        assert sess.run(total, {x: [1, 2]}).tolist() == [11, 22]
        assert sess.run(until, {x: [1, 2]}).tolist() == [64, 128]
        assert sess.run(slope, {x: [1, 2]}).tolist() == [11, 11]


def test_a_tensor_goes_from_gpu_to_gpu_and_to_the_cpu():
    with tf.device("/gpu:0"):
        a = tf.random.uniform([4], seed=1) + 1
    with tf.device("/gpu:1"):
        b = a * 2
    with tf.device("/cpu:0"):
        c = a + b
    with tf.Session() as sess:
        one, two, three = sess.run([a, b, c])
        assert np.array_equal(one * 2, two)
        assert np.array_equal(one + two, three)


def test_traced_steps_say_when_the_ops_of_a_gpu_ran():
    x = tf.matmul(tf.ones([3, 3]), tf.ones([3, 3]), name="mm")
    metadata = tf.RunMetadata()
    with tf.Session() as sess:
        sess.run(
            x, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata
        )
    stats = {d.device: [n.node_name for n in d.node_stats] for d in metadata.step_stats.dev_stats}
    assert "mm" in stats["/job:localhost/replica:0/task:0/device:GPU:0"]


def test_products_of_stacks_are_those_of_single_matrices():
    x = tf.placeholder(tf.float32, [16, 16])
    chains = [x * (i + 1) for i in range(8)]
    for _ in range(3):
        chains = [tf.matmul(c, tf.eye(16) * 2) for c in chains]
    total = tf.add_n(chains)
    with tf.Session() as sess:
        assert np.allclose(sess.run(total, {x: np.ones((16, 16))}), 8 * sum(range(1, 9)))
