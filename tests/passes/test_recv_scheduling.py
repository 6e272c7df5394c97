"""enable_recv_scheduling: the triggers, and what each holds back, as TensorFlow 1.15.5 has them.

tests/data/recv_scheduling.json: device -> node -> its control inputs, of the partition graphs of
this model's initialisation and of its first training step on a real cluster.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import minitf as tf
from minitf_runtime.graph import Graph
from minitf_runtime.passes.data import Devices
from minitf_runtime.passes.pipeline import partition_graph
from passes.build import device, node

REAL = json.loads((Path(__file__).parents[1] / "data" / "recv_scheduling.json").read_text())
FEEDS = {"x:0": np.ones([4, 4]), "y:0": np.zeros(4)}
FETCHES = ["Adagrad", "loss:0", "acc:0", "global_step:0"]


def model(cluster):
    with tf.device(
        tf.train.replica_device_setter(cluster=cluster, worker_device="/job:worker/task:1")
    ):
        x = tf.placeholder(tf.float32, [None, 4], name="x")
        y = tf.placeholder(tf.int64, [None], name="y")
        h = x
        for i, sizes in enumerate([[4, 5], [5, 3]]):
            with tf.variable_scope(f"layer{i}"):
                w = tf.get_variable("w", initializer=tf.constant_initializer(0.1), shape=sizes)
                b = tf.get_variable("b", initializer=tf.constant_initializer(0.0), shape=sizes[1:])
                h = tf.nn.bias_add(tf.matmul(h, w), b)
                h = tf.nn.relu(h) if i == 0 else h
        xent = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=h)
        loss = tf.reduce_mean(xent, name="loss")
        step = tf.train.get_or_create_global_step()
        tf.train.AdagradOptimizer(0.1).minimize(loss, global_step=step)
        tf.reduce_mean(tf.cast(tf.equal(tf.argmax(h, 1), y), tf.float32), name="acc")
        return tf.global_variables_initializer()


def seen(metadata):
    return {
        graph.node[0].device: {
            n.name: [i[1:] for i in n.input if i.startswith("^")]
            for n in graph.node if n.op in ("ControlTrigger", "_Recv")
        }
        for graph in metadata.partition_graphs
    }  # fmt: skip


@pytest.mark.cluster
def test_triggers_are_those_of_tensorflow(free_ports):
    ports = iter(free_ports(4))
    cluster = {job: [f"127.0.0.1:{next(ports)}" for _ in (0, 1)] for job in ("ps", "worker")}
    servers = [tf.train.Server(cluster, job, i) for job in cluster for i in (0, 1)]
    target = servers[3].target
    initialize = model(cluster)
    config = tf.ConfigProto()
    config.graph_options.enable_recv_scheduling = True
    options = tf.RunOptions(output_partition_graphs=True, trace_level=3)
    first, second = tf.RunMetadata(), tf.RunMetadata()
    with tf.Session(target, config=config) as sess:
        sess.run(initialize, options=options, run_metadata=first)
        values = sess.run(FETCHES, FEEDS, options=options, run_metadata=second)
    for server in servers:
        server._server.stop()
    assert values[1] == pytest.approx(np.log(3))
    assert seen(first) == REAL["init"]
    assert seen(second) == REAL["step"]
    labels = {n.timeline_label for d in second.step_stats.dev_stats for n in d.node_stats}
    assert "synch_43_G50 = ControlTrigger(^Adagrad/learning_rate_S17)" in labels


def triggers(graph, devices, **how):
    cut = partition_graph(Graph(graph), devices, targets=["c"], recv_scheduling=True, **how)
    return [n for part in cut.parts.values() for n in part if n.op == "ControlTrigger"]


A, B = device("worker:0"), device("ps:0")
CROSSING = [node("a", op="Placeholder", device=B), node("b", "a", "a", device=B),
            node("c", "b", "b", device=A)]  # fmt: skip


def test_a_local_session_has_none():
    assert triggers(CROSSING, Devices((A, B), True)) == []


def test_each_device_has_its_own():
    found = triggers(CROSSING, Devices((A, B)))
    assert {n.device for n in found} == {A, B}
    assert len({n.name for n in found}) == len(found)


def test_long_steps_have_longer_epochs():
    chain = [node("n0", op="Placeholder", device=A)]
    chain += [node(f"n{i}", f"n{i - 1}", f"n{i - 1}", device=(A, B)[i % 2]) for i in range(1, 60)]
    chain.append(node("c", "n59", "n59", device=A))
    cut = partition_graph(
        Graph(chain), Devices((A, B)), targets=["c"], recv_scheduling=True, feeds=["n0:0"]
    )
    for part in cut.parts.values():
        assert 90 <= sum(n.op == "ControlTrigger" for n in part) <= 100
        held = [n for n in part if n.op == "_Recv" and n.control]
        assert len(held) > 20


def test_a_loop_is_left_as_it_is(free_ports):
    with tf.device("/job:ps/task:0"):
        start = tf.constant(1.0)
    with tf.device("/job:worker/task:0"):
        tf.while_loop(lambda i: i < 3.0, lambda i: i + 1.0, [start], name="c")
    cut = partition_graph(
        Graph(tf.get_default_graph().nodes()), Devices((A, B)), fetches=["c/Exit:0"],
        recv_scheduling=True,
    )  # fmt: skip
    assert not [n for part in cut.parts.values() for n in part if n.op == "ControlTrigger"]
