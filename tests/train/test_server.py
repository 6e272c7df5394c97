"""tf.train.Server as a message and as an address: what it is told and what it makes of it."""

from __future__ import annotations

import pytest

import minitf as tf

CONFIG = tf.ConfigProto(gpu_options=tf.GPUOptions(per_process_gpu_memory_fraction=0.1))


def test_the_message_of_a_server():
    server = tf.train.Server({"local": {37: "localhost:0"}}, config=CONFIG, start=False)
    made = server.server_def
    assert (made.job_name, made.task_index, made.protocol) == ("local", 37, "grpc")
    assert dict(made.cluster.job[0].tasks.items()) == {37: "localhost:0"}
    assert made.default_session_config.gpu_options.per_process_gpu_memory_fraction == 0.1


def test_a_server_of_a_message():
    cluster = tf.train.ClusterSpec({"a": ["localhost:0", "localhost:1"]}).as_cluster_def()
    given = tf.train.ServerDef(cluster=cluster, job_name="a", task_index=0, protocol="grpc")
    server = tf.train.Server(given, task_index=1, config=CONFIG, start=False)
    assert server.server_def.task_index == 1
    assert given.task_index == 0
    assert server.server_def.default_session_config.gpu_options == CONFIG.gpu_options
    assert server.target == "grpc://localhost:1"


def test_port_0_is_a_free_one():
    server = tf.train.Server({"local": {37: "localhost:0"}})
    with tf.device("/job:local/task:37"):
        a = tf.constant(1.0)
    with tf.Session(server.target) as session:
        assert session.run(a) == 1.0


def test_an_address_needs_a_port():
    with pytest.raises(tf.errors.InvalidArgumentError, match='"localhost" as a host-port pair'):
        tf.train.Server({"local": ["localhost"]})


def test_a_task_must_be_named():
    cluster = {"ps": ["localhost:1"], "worker": ["localhost:2", "localhost:3"]}
    with pytest.raises(ValueError, match="explicit `job_name`"):
        tf.train.Server(cluster, start=False)
    with pytest.raises(ValueError, match="explicit `task_index`"):
        tf.train.Server(cluster, job_name="worker", start=False)
