"""train_and_evaluate in one process, and in a cluster of processes that TF_CONFIG describes."""

from __future__ import annotations

import gzip
import json
import logging
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import minitf as tf
from estimator.models import batches, estimator, serving
from minitf.proto.text import merge_text

TrainSpec, EvalSpec = tf.estimator.TrainSpec, tf.estimator.EvalSpec


def test_evaluates_after_every_checkpoint_and_exports_the_last(tmp_path, caplog):
    caplog.set_level(logging.INFO, "minitf")
    model = estimator(tmp_path, save_checkpoints_steps=3)
    exporters = [tf.estimator.FinalExporter("final", serving)]
    metrics, exports = tf.estimator.train_and_evaluate(
        model,
        TrainSpec(batches(), max_steps=9),
        EvalSpec(batches(1), throttle_secs=0, exporters=exporters),
    )
    assert metrics["loss"] == pytest.approx(0.026774576)  # TensorFlow's
    assert metrics["global_step"] == 9
    assert os.path.dirname(exports[0]) == f"{tmp_path}/export/final".encode()
    evaluated = [m for m in caplog.messages if m.startswith("Saving dict for global step")]
    assert [m.partition(":")[0][-1] for m in evaluated] == ["3", "6", "9"]


def test_evaluations_are_throttled(tmp_path, caplog):
    caplog.set_level(logging.INFO, "minitf")
    model = estimator(tmp_path, save_checkpoints_steps=2)
    train = TrainSpec(batches(), max_steps=6)
    metrics, _ = tf.estimator.train_and_evaluate(model, train, EvalSpec(batches(1)))
    assert metrics["global_step"] == 6  # the end is evaluated in any case
    skipped = "Skip the current checkpoint eval due to throttle secs (600 secs)."
    assert caplog.messages.count(skipped) == 2  # the first checkpoint is evaluated
    again = tf.estimator.train_and_evaluate(model, train, EvalSpec(batches(1)))
    assert again == (None, None)


def test_kinds_of_arguments(tmp_path):
    model, train, evaluate = estimator(tmp_path), TrainSpec(dict), EvalSpec(dict)
    for given, name in (
        ((1, train, evaluate), "`estimator` must have type `tf.estimator.Estimator`"),
        ((model, 1, evaluate), "`train_spec` must have type `tf.estimator.TrainSpec`"),
        ((model, train, 1), "`eval_spec` must have type `tf.estimator.EvalSpec`"),
    ):
        with pytest.raises(TypeError, match=name):
            tf.estimator.train_and_evaluate(*given)


def test_tasks_that_do_not_train(tmp_path, monkeypatch):
    cluster = {"chief": ["a:1"], "ps": ["b:1"], "other": ["c:1"]}

    def told(task, index=0):
        config = {"cluster": cluster, "task": {"type": task, "index": index}}
        monkeypatch.setenv("TF_CONFIG", json.dumps(config))
        return estimator(tmp_path)

    for task in ("ps", "evaluator"):
        with pytest.raises(ValueError, match="Train has been called wrong configuration"):
            told(task).train(batches(), steps=1)
    with pytest.raises(ValueError, match="there can only be one `evaluator` task"):
        tf.estimator.train_and_evaluate(told("evaluator", 1), TrainSpec(dict), EvalSpec(dict))
    with pytest.raises(ValueError, match="Task type other is not supported. Supported task types"):
        tf.estimator.train_and_evaluate(told("other"), TrainSpec(dict), EvalSpec(dict))


# ---- a cluster of processes

GRAPHS = Path(__file__).parents[1] / "data" / "estimator_graphs.json.gz"  # of TensorFlow 1.15.5
PROGRAM = Path(__file__).with_name("cluster_program.py")


class Cluster:
    """A ps, a chief, a worker and an evaluator, each a process told its part by TF_CONFIG."""

    def __init__(self, ports, model_dir, max_steps):
        names = [f"127.0.0.1:{port}" for port in ports]
        self.cluster = {"ps": names[:1], "chief": names[1:2], "worker": names[2:]}
        self.arguments = [str(model_dir), str(max_steps)]
        self.processes = {}

    def start(self, task):
        config = {"cluster": self.cluster, "task": {"type": task, "index": 0}}
        self.processes[task] = subprocess.Popen(
            [sys.executable, str(PROGRAM), *self.arguments],
            env=os.environ | {"TF_CONFIG": json.dumps(config)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def output(self, task):
        """What a task has said, once it has ended well."""
        text, _ = self.processes[task].communicate(timeout=50)
        assert self.processes[task].returncode == 0, text
        return text

    def kill(self, task):
        process = self.processes[task]
        process.kill()
        process.wait()
        process.stdout.close()

    def stop(self):
        for task in self.processes:
            self.kill(task)


@pytest.fixture
def cluster(free_ports, tmp_path):
    made = []

    def make(max_steps):
        made.append(Cluster(free_ports(3), tmp_path, max_steps))
        return made[0]

    yield make
    made[0].stop()


def rows(graph):
    return [[n.name, n.op, sorted(n.input), n.device] for n in graph.node]


def first_graph(directory):
    """The graph that an event file begins with."""
    (file,) = directory.iterdir()
    data = next(e.graph_def for e in tf.train.summary_iterator(str(file)) if e.graph_def)
    return tf.GraphDef.FromString(data)


def wait_for_step(model_dir, step):
    end = time.time() + 40
    while time.time() < end:
        found = [int(p.stem.rpartition("-")[2]) for p in Path(model_dir).glob("*.index")]
        if max(found, default=-1) >= step:
            return
        time.sleep(0.1)
    raise AssertionError(f"no checkpoint of step {step}")


@pytest.mark.cluster
def test_a_cluster_trains_and_evaluates(cluster, tmp_path):
    tasks = cluster(max_steps=400)
    tasks.start("ps")
    tasks.start("chief")
    wait_for_step(tmp_path, 0)  # a worker that comes before waits 30 seconds, as TensorFlow's
    tasks.start("worker")
    tasks.start("evaluator")
    said = {task: tasks.output(task) for task in ("chief", "worker", "evaluator")}
    assert tasks.processes["ps"].poll() is None  # it serves until it is stopped
    assert "Saving checkpoints for 0 into" in said["chief"]
    assert "Loss for final step" in said["worker"]
    assert "Saving checkpoints" not in said["worker"]
    assert "Exiting evaluation, global_step=40" in said["evaluator"]
    assert "Performing the final export" in said["evaluator"]
    for task in ("chief", "worker"):
        assert f"w on /job:ps/task:0, loss on /job:{task}/task:0" in said[task]
    assert len(list((tmp_path / "export" / "final").iterdir())) == 1
    graphs = json.loads(gzip.decompress(GRAPHS.read_bytes()))
    text = (tmp_path / "graph.pbtxt").read_text()
    assert rows(merge_text(text, tf.GraphDef())) == graphs["chief"]
    assert rows(first_graph(tmp_path / "eval")) == graphs["evaluator"]
    w = tf.train.load_variable(str(tmp_path), "w")
    assert w == pytest.approx(3, abs=1e-3)
    assert 400 <= tf.train.load_variable(str(tmp_path), "global_step") <= 402


@pytest.mark.cluster
def test_a_killed_worker_does_not_hold_up_the_chief(cluster, tmp_path):
    tasks = cluster(max_steps=800)
    tasks.start("ps")
    tasks.start("chief")
    wait_for_step(tmp_path, 0)
    tasks.start("worker")
    for line in tasks.processes["worker"].stdout:
        if "loss = " in line:  # it has made a step
            break
    tasks.kill("worker")
    assert "Loss for final step" in tasks.output("chief")
    assert tf.train.load_variable(str(tmp_path), "global_step") >= 800


@pytest.mark.cluster
def test_training_goes_on_from_the_checkpoint_when_a_ps_is_lost(cluster, tmp_path):
    tasks = cluster(max_steps=800)
    for task in ("ps", "chief"):
        tasks.start(task)
    wait_for_step(tmp_path, 100)
    tasks.kill("ps")
    tasks.start("ps")
    said = tasks.output("chief")
    assert "An error was raised" in said
    assert "Restoring parameters from" in said
    assert tf.train.load_variable(str(tmp_path), "global_step") == 800
