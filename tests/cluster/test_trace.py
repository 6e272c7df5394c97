"""A traced step of a cluster: every task tells, transfers have two ends, errors stay clear."""

import json
import subprocess
import sys

import numpy as np
import pytest

import minitf as tf
from minitf.python.client import timeline

pytestmark = pytest.mark.cluster

PS = "/job:ps/replica:0/task:0/device:CPU:0"
WORKER = "/job:worker/replica:0/task:0/device:CPU:0"
SERVE = """
import json, sys
import minitf as tf
server = tf.train.Server(json.loads(sys.argv[1]), "ps", 0)
print("up", flush=True)
server.join()
"""
CLIENT = """
import json, sys
import minitf as tf
with tf.device("/job:ps/task:0"):
    a = tf.ones([10, 10], name="a")
with tf.device("/job:worker/task:0"):
    b = tf.matmul(a, a, name="b")
seen = tf.RunMetadata()
with tf.Session(sys.argv[1]) as sess:
    sess.run(b, options=tf.RunOptions(trace_level=3), run_metadata=seen)
devices = seen.step_stats.dev_stats
print(json.dumps({d.device: [n.node_name for n in d.node_stats] for d in devices}))
"""


@pytest.fixture
def target(free_ports):
    """The address of a worker in this process; the parameter server is a process of its own."""
    cluster = {j: [f"127.0.0.1:{p}"] for j, p in zip(("ps", "worker"), free_ports(2))}
    command = [sys.executable, "-c", SERVE, json.dumps(cluster)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as ps:
        assert ps.stdout.readline() == b"up\n"
        server = tf.train.Server(cluster, "worker", 0)
        yield server.target
        server._server.stop()
        ps.kill()


def traced(sess, fetches, feed_dict=None):
    seen = tf.RunMetadata()
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    sess.run(fetches, feed_dict, options=options, run_metadata=seen)
    return seen.step_stats


def training():
    with tf.device("/job:ps/task:0"):
        w = tf.Variable(tf.ones([50, 50]), name="w")
    with tf.device("/job:worker/task:0"):
        x = tf.placeholder(tf.float32, [None, 50], name="x")
        loss = tf.reduce_sum(tf.square(tf.matmul(x, w, name="mm")))
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    return x, w, train


def test_every_task_tells_of_its_ops_and_of_what_came_to_it(target):
    x, w, train = training()
    with tf.Session(target) as sess:
        sess.run(w.initializer)
        stats = traced(sess, train, {x: np.ones([2, 50])})
    by_device = {d.device: list(d.node_stats) for d in stats.dev_stats}
    assert list(by_device) == [PS, WORKER]
    names = {device: [n.node_name for n in nodes] for device, nodes in by_device.items()}
    assert "GradientDescent/update_w/ApplyGradientDescent" in names[PS]
    assert "mm" in names[WORKER] and "mm" not in names[PS]
    labels = [n.timeline_label for n in by_device[WORKER] if n.node_name == "RecvTensor"]
    assert len(labels) == 1
    assert labels[0].startswith("[10000B] [") and "b/s] edge_" in labels[0]
    assert labels[0].endswith(f"_w/read from {PS} to {WORKER}")
    sizes = [
        n.output[0].tensor_description.allocation_description.requested_bytes
        for n in by_device[PS] if n.node_name == "RecvTensor"
    ]  # fmt: skip
    assert sorted(sizes) == [4, 10000]


def test_arrows_go_from_send_to_receive(target):
    x, w, train = training()
    with tf.Session(target) as sess:
        sess.run(w.initializer)
        stats = traced(sess, train, {x: np.ones([2, 50])})
    events = json.loads(timeline.Timeline(stats).generate_chrome_trace_format())["traceEvents"]
    rows = {e["pid"]: e["args"]["name"] for e in events if e["ph"] == "M"}
    assert list(rows.values())[1::2] == [f"{PS} Compute", f"{WORKER} Compute"]
    starts = {e["id"]: e for e in events if e["ph"] == "s"}
    ends = {e["id"]: e for e in events if e["ph"] == "t"}
    assert starts.keys() == ends.keys()
    crossing = {
        (starts[i]["name"], rows[starts[i]["pid"]], rows[ends[i]["pid"]])
        for i in starts if starts[i]["pid"] != ends[i]["pid"]
    }  # fmt: skip
    update = "gradients/mm_grad/tuple/control_dependency_1"
    assert ("w/read", f"{PS} Compute", f"{WORKER} Compute") in crossing
    assert (update, f"{WORKER} Compute", f"{PS} Compute") in crossing


def test_transfers_within_a_loop_are_told_each(target):
    with tf.device("/job:ps/task:0"):
        step = tf.Variable(2.0, name="step")

    def body(i, total):
        with tf.device("/job:ps/task:0"):
            more = step * total
        return i + 1, more

    with tf.device("/job:worker/task:0"):
        _, total = tf.while_loop(lambda i, _: i < 3, body, [0, 1.0])
    with tf.Session(target) as sess:
        sess.run(step.initializer)
        stats = traced(sess, total)
    (worker,) = (d for d in stats.dev_stats if d.device == WORKER)
    sent = [n.timeline_label for n in worker.node_stats if "while/mul from" in n.timeline_label]
    assert [text[:4] for text in sent] == ["[4B]", "[4B]", "[4B]", "[0B]"]  # the last one is dead


def test_a_client_in_another_process_gets_the_statistics(target):
    ran = subprocess.run([sys.executable, "-c", CLIENT, target], capture_output=True, check=True)
    names = json.loads(ran.stdout)
    assert names[PS] == ["a"]
    assert names[WORKER] == ["RecvTensor", "b"]


def test_a_failing_step_names_op_and_task_and_the_next_is_traced(target):
    with tf.device("/job:ps/task:0"):
        x = tf.placeholder(tf.float32)
        bad = tf.add(x, tf.ones([3]), name="bad")
    with tf.device("/job:worker/task:0"):
        total = tf.reduce_sum(bad)
    with tf.Session(target) as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible shapes") as e:
            traced(sess, total, {x: np.ones(2)})
        stats = traced(sess, total, {x: np.ones(3)})
    assert "bad" in str(e.value) and "/job:ps" in str(e.value)
    assert [d.device for d in stats.dev_stats] == [PS, WORKER]
