"""What each task holds and sends: clusters of any size, without processes."""

from __future__ import annotations

import time

import pytest

from cli.commands import EXAMPLES
from minitf.viz.capture import capture, default_targets, step_of
from minitf.viz.loads import balance, read_balance
from minitf.viz.rows import short
from minitf.viz.sizes import Size

WHO = str(EXAMPLES / "who_applies.py")

MODEL = """
import json, os
import minitf as tf

spec = json.loads(os.environ["TF_CONFIG"])["cluster"]
with tf.device(tf.train.replica_device_setter(
        worker_device="/job:worker/task:0", cluster=tf.train.ClusterSpec(spec))):
    h = tf.placeholder(tf.float32, [None, 100], name="x")
    for i in range(LAYERS):
        w = tf.get_variable("w%d" % i, [100, 100])
        b = tf.get_variable("b%d" % i, [100])
        h = tf.nn.relu(tf.matmul(h, w) + b)
    step = tf.train.get_or_create_global_step()
    loss = tf.reduce_mean(tf.square(h))
    train = tf.train.AdamOptimizer().minimize(loss, global_step=step)
    init = tf.global_variables_initializer()
"""


def hosts(**tasks):
    return {job: [f"{job}:{i + 1}" for i in range(n)] for job, n in tasks.items()}


@pytest.fixture
def model(tmp_path):
    """The balance of an MLP; and how many ops its graph has."""

    def run(layers, tasks, **options):
        script = tmp_path / "model.py"
        script.write_text(MODEL.replace("LAYERS", str(layers)))
        captured = capture(str(script), [], hosts(**tasks), ("worker", 0), **options)
        cut = step_of(captured, default_targets(captured.graph))
        return read_balance(captured, cut), len(captured.graph.get_operations()), cut

    return run


def test_who_applies():
    read = balance(WHO)
    assert [(short(t.task), t.variables, t.holds, t.largest) for t in read.tasks] == [
        ("ps:0", 3, 4 * 4 + 4 * 4 + 8, "W"),  # W, its slot, the global step
        ("ps:1", 2, 4 + 4, "b"),
        ("worker:0", 0, 0, ""),
    ]
    assert [(short(t.task), t.sends, t.receives) for t in read.tasks] == [
        ("ps:0", Size(16), Size(20)),
        ("ps:1", Size(4), Size(8)),
        ("worker:0", Size(28), Size(20)),
    ]
    links = [(short(k.src), short(k.dst), k.messages, k.size.fixed) for k in read.links]
    assert links == [
        ("ps:0", "worker:0", 2, 16),
        ("ps:1", "worker:0", 2, 4),
        ("worker:0", "ps:0", 3, 20),
        ("worker:0", "ps:1", 2, 8),
    ]
    assert read.holds == pytest.approx(40 / 24)
    assert read.wire == pytest.approx(36 / 24)
    assert read.replicas == 2
    assert [short(t) for t in read.idle] == ["worker:1"]


def test_greedy_spreads_what_round_robin_does_not(model):
    """Round robin on two ps gives all weights to the one and all biases to the other."""
    plain, _, _ = model(8, {"ps": 2, "worker": 2})
    asked, _, _ = model(8, {"ps": 2, "worker": 2}, strategy="round-robin")
    greedy, _, _ = model(8, {"ps": 2, "worker": 2}, strategy="greedy")
    assert plain == asked
    assert plain.holds == pytest.approx(2, abs=0.05)
    assert greedy.holds == pytest.approx(1, abs=0.05)
    assert sum(t.holds for t in plain.tasks) == sum(t.holds for t in greedy.tasks)


def test_gpus(model):
    """Ops without a type of their own go to the first GPU of their task; the ps has none."""
    _, _, cut = model(2, {"ps": 1, "worker": 2}, gpus=4)
    where = {n.name: n.device for n in cut.step}
    assert where["MatMul"].endswith("/job:worker/replica:0/task:0/device:GPU:0")
    assert where["w0"].endswith("/job:ps/replica:0/task:0/device:CPU:0")
    assert sum("GPU" in d for d in cut.devices.names) == 8


def test_256_tasks_and_5000_ops_in_seconds(model):
    start = time.perf_counter()
    read, ops, _ = model(80, {"ps": 64, "worker": 192}, strategy="greedy", gpus=4)
    seconds = time.perf_counter() - start
    assert ops >= 5000
    assert len(read.tasks) + len(read.idle) == 256
    assert read.replicas == 192
    assert seconds < 5, f"{seconds:.1f} s"
