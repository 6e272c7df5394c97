"""examples/gpu.py: its ops run where it asks for them, in one process and on a cluster."""

import runpy

import numpy as np
import pytest

import minitf as tf
from cli.commands import EXAMPLES
from gpu.test_cluster import WORKER_GPU, target  # noqa: F401  a fixture
from minitf_runtime.devices import gpu


@pytest.fixture
def example(capsys):
    """Runs it; what it has left: its graph is the default one."""
    left = runpy.run_path(str(EXAMPLES / "gpu.py"))
    assert "GPU: /device:GPU:0\n" in capsys.readouterr().out
    return left


def where(sess, example):
    """The device on which each op of a step of training ran, by the trace."""
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    ran = tf.RunMetadata()
    feeds = {example["x"]: example["points"], example["y"]: example["values"]}
    sess.run(tf.global_variables_initializer())
    before = sess.run(example["loss"], feeds)
    sess.run(example["train"], feeds, options=options, run_metadata=ran)
    assert np.isfinite(before) and sess.run(example["loss"], feeds) < before
    return {n.node_name: d.device for d in ran.step_stats.dev_stats for n in d.node_stats}


ON_GPU = "MatMul MatMul_1 Adam/update_w/ApplyAdam Adam/update_v/ApplyAdam".split()


def test_in_one_process(example):
    device = gpu._opened[True, 0]
    assert device.uploads >= 2 * 200  # of 200 steps: the scaled points and the values
    assert list(gpu._opened) == [(True, 0)]
    with tf.Session() as sess:
        devices = where(sess, example)
    here = "/job:localhost/replica:0/task:0/device:"
    assert {devices[name] for name in ON_GPU} == {here + "GPU:0"}
    assert devices["scaled"] == here + "CPU:0"


@pytest.mark.cluster
def test_on_a_cluster(example, target):  # noqa: F811
    with tf.Session(target) as sess:
        devices = where(sess, example)
    assert {devices[name] for name in ON_GPU} == {WORKER_GPU}
    # "/cpu:0" of no task is the first by name, in TensorFlow 1.15 too
    assert devices["scaled"] == "/job:ps/replica:0/task:0/device:CPU:0"
