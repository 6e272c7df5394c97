"""A worker with a GPU and a parameter server without, each a process of its own."""

import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import minitf as tf
from minitf import cli

pytestmark = pytest.mark.cluster

SERVE = """
import json, sys
import minitf as tf
config = tf.ConfigProto(gpu_options=tf.GPUOptions(per_process_gpu_memory_fraction=0.001))
server = tf.train.Server(json.loads(sys.argv[1]), sys.argv[2], 0, config=config)
print("up", flush=True)
server.join()
"""
WORKER_GPU = "/job:worker/replica:0/task:0/device:GPU:0"
X = np.random.default_rng(1).normal(size=(8, 4)).astype(np.float32)


@pytest.fixture
def target(free_ports):
    """The address of the worker."""
    cluster = {j: [f"127.0.0.1:{p}"] for j, p in zip(("ps", "worker"), free_ports(2))}
    processes = []
    try:
        for job in cluster:
            command = [sys.executable, "-c", SERVE, json.dumps(cluster), job]
            env = os.environ | {"MINITF_FAKE_GPUS": "1"}
            processes.append(subprocess.Popen(command, stdout=subprocess.PIPE, env=env))
            assert processes[-1].stdout.readline() == b"up\n"
        yield "grpc://" + cluster["worker"][0]
    finally:
        for process in processes:
            process.kill()
            process.wait()
            process.stdout.close()


def trained(target, config, worker_device):
    """Loss and variables after three steps; the variables are on the ps, if there is one."""
    ps = "/job:ps/cpu:0"
    setter = tf.train.replica_device_setter(1, ps, worker_device) if target else ""
    with tf.Graph().as_default(), tf.device(setter):
        w = tf.get_variable("w", initializer=np.linspace(-1, 1, 8, dtype="f").reshape(4, 2))
        x = tf.placeholder(tf.float32, [None, 4])
        loss = tf.reduce_mean(tf.square(tf.tanh(tf.matmul(x, w)) - 0.5))
        step = tf.train.get_or_create_global_step()
        train = tf.train.AdamOptimizer(0.1).minimize(loss, global_step=step)
        metadata = tf.RunMetadata()
        with tf.Session(target, config=config) as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(3):
                sess.run(train, {x: X})
            got = sess.run([loss, w, step], {x: X})
            options = tf.RunOptions(output_partition_graphs=True)
            sess.run(train, {x: X}, options=options, run_metadata=metadata)
            devices = {n.device for g in metadata.partition_graphs for n in g.node}
            return got, devices, [d.name for d in sess.list_devices()]


def test_training_with_a_gpu_worker_is_that_of_a_cpu(target):
    got, devices, known = trained(target, None, "/job:worker/task:0/gpu:0")
    alone = trained("", tf.ConfigProto(device_count={"GPU": 0}), "")[0]
    for mine, cpu in zip(got, alone):
        np.testing.assert_allclose(mine, cpu, rtol=1e-5)
    assert WORKER_GPU in devices
    assert not any("job:ps" in d and "GPU" in d for d in devices)
    assert [d for d in known if "/device:GPU" in d] == [WORKER_GPU]


def test_large_tensors_from_gpu_to_ps_and_back(target):
    with tf.device("/job:worker/gpu:0"):
        there = tf.random.uniform([200, 1000], seed=3) * 2
    with tf.device("/job:ps/cpu:0"):
        ps = there + 1
    with tf.device("/job:worker/gpu:0"):
        back = ps - there
    with tf.Session(target) as sess:
        for _ in range(3):
            assert np.allclose(sess.run(back), 1, atol=1e-6)


def test_out_of_memory_on_the_worker_reaches_the_client(target):
    with tf.device("/job:worker/gpu:0"):
        x = tf.placeholder(tf.float32, [None])
        total = tf.reduce_sum(tf.tile(x, [100]))
    with tf.Session(target) as sess:
        with pytest.raises(tf.errors.ResourceExhaustedError, match="of the device are in use"):
            sess.run(total, {x: np.ones(100_000)})
        assert sess.run(total, {x: np.ones(10)}) == 1000


def test_a_reader_sees_the_memory_of_the_gpus(target, capsys):
    with tf.device("/job:worker/gpu:0"):
        v = tf.Variable(tf.zeros([1000]), name="v")
    with tf.Session(target) as sess:
        sess.run(v.initializer)
        assert cli.main(["viz", "--address", target.removeprefix("grpc://")]) == 0
    out = capsys.readouterr().out
    assert "Memory of the GPUs" in out
    assert re.search(r"worker:0/GPU:0 +\d+(\.\d+)? kB +17\.\d MB", out)
