"""RunConfig: what TF_CONFIG makes of a process, and what is refused."""

from __future__ import annotations

import json

import pytest

import minitf as tf

CLUSTER = {
    "chief": ["host0:2222"],
    "ps": ["host1:2222", "host2:2222"],
    "worker": ["host3:2222", "host4:2222", "host5:2222"],
}
MASTER = {"master": ["host0:2222"], "ps": ["host1:2222"], "worker": ["host2:2222"]}


@pytest.fixture
def config(monkeypatch):
    """RunConfig in a process with such a TF_CONFIG."""

    def make(task=None, index=0, cluster=None, **more):
        told = dict(more)
        if cluster is not None:
            told["cluster"] = cluster
        if task is not None:
            told["task"] = {"type": task, "index": index}
        monkeypatch.setenv("TF_CONFIG", json.dumps(told))
        return tf.estimator.RunConfig()

    return make


def place(config):
    names = "task_type task_id global_id_in_cluster master is_chief".split()
    return tuple(getattr(config, name) for name in names)


@pytest.mark.parametrize(
    "task, index, global_id, address",
    [
        ("chief", 0, 0, "host0"),
        ("worker", 0, 1, "host3"),
        ("worker", 2, 3, "host5"),
        ("ps", 0, 4, "host1"),
        ("ps", 1, 5, "host2"),
    ],
)
def test_tasks_of_a_cluster(config, task, index, global_id, address):
    made = config(task, index, CLUSTER)
    where = f"grpc://{address}:2222"
    assert place(made) == (task, index, global_id, where, task == "chief")
    assert (made.num_ps_replicas, made.num_worker_replicas) == (2, 4)
    assert made.cluster_spec == tf.train.ClusterSpec(CLUSTER)
    assert made.evaluation_master == ""
    seen = {
        "chief": ["/job:ps", "/job:chief"],
        "worker": ["/job:ps", f"/job:worker/task:{index}"],
        "ps": ["/job:ps", "/job:worker", "/job:chief", "/job:master"],
    }
    assert list(made.session_config.device_filters) == seen[task]


def test_a_cluster_with_a_master(config):
    made = config("master", cluster=MASTER)
    assert place(made) == ("master", 0, 0, "grpc://host0:2222", True)
    assert list(made.session_config.device_filters) == ["/job:ps", "/job:master"]
    with pytest.raises(ValueError, match="`evaluator` is not supported"):
        config("evaluator", cluster=MASTER)
    with pytest.raises(ValueError, match="job `chief` is not supported"):
        config("master", cluster={**MASTER, "chief": ["host9:1"]})


def test_the_evaluator_is_outside_of_the_cluster(config):
    made = config("evaluator", cluster=CLUSTER)
    assert place(made) == ("evaluator", 0, None, "", False)
    assert not made.cluster_spec
    assert (made.num_ps_replicas, made.num_worker_replicas) == (0, 0)
    assert made.session_config is None


def test_alone(config):
    for made in (config(), tf.estimator.RunConfig()):
        assert place(made) == ("worker", 0, 0, "", True)
        assert (made.num_ps_replicas, made.num_worker_replicas) == (0, 1)
    assert config("chief", cluster={"chief": ["host0:1"]}).master == ""
    assert config(session_master="grpc://there:1").master == "grpc://there:1"


@pytest.mark.parametrize(
    "told, text",
    [
        (dict(cluster={"worker": ["a:1"]}), 'it must have one "chief" node'),
        (dict(cluster={"chief": ["a:1", "b:1"]}), 'must have only one "chief" node'),
        (dict(cluster=CLUSTER), "task type must be set"),
        (dict(cluster=CLUSTER, task="worker", index=None), "task index must be set"),
        (dict(cluster=CLUSTER, task="worker", index=-1), "must be non-negative number"),
        (dict(cluster=CLUSTER, task="worker", index=3), "3 is not a valid task_id for task_type"),
        (dict(cluster=CLUSTER, task="other"), "other is not a valid task_type in the cluster_spec"),
        (dict(task="chief"), "task type must be WORKER"),
        (dict(task="worker", index=1), "task index must be 0"),
        (dict(model_dir=""), "model_dir in TF_CONFIG should be non-empty"),
    ],
)
def test_what_is_no_task(config, told, text):
    with pytest.raises(ValueError, match=text):
        config(**told)


def test_what_is_no_tf_config(monkeypatch, config):
    for text in ("{cluster", "[1]"):
        monkeypatch.setenv("TF_CONFIG", text)
        with pytest.raises(ValueError, match="TF_CONFIG"):
            tf.estimator.RunConfig()
    with pytest.raises(TypeError, match='If "service" is set in TF_CONFIG, it must be a dict'):
        config(service=1)


def test_the_directory_may_come_from_tf_config(config):
    assert config(model_dir="/there").model_dir == "/there"
    with pytest.raises(ValueError, match="must have the same value as the model_dir in TF_CONFIG"):
        tf.estimator.RunConfig(model_dir="/elsewhere")


def test_intervals_of_checkpoints():
    def both(config):
        return config.save_checkpoints_steps, config.save_checkpoints_secs

    assert both(tf.estimator.RunConfig()) == (None, 600)
    assert both(tf.estimator.RunConfig(save_checkpoints_steps=5)) == (5, None)
    assert both(tf.estimator.RunConfig(save_checkpoints_secs=9)) == (None, 9)
    assert both(tf.estimator.RunConfig(save_checkpoints_secs=9).replace(
        save_checkpoints_steps=5)) == (5, None)  # fmt: skip
    with pytest.raises(ValueError, match="cannot be both set"):
        tf.estimator.RunConfig(save_checkpoints_secs=9, save_checkpoints_steps=5)


def test_replace_makes_a_copy():
    config = tf.estimator.RunConfig(tf_random_seed=1)
    assert config.replace(tf_random_seed=2, model_dir="/there").tf_random_seed == 2
    assert config.tf_random_seed == 1
    with pytest.raises(ValueError, match="Replacing master is not supported. Allowed properties"):
        config.replace(master="there")


@pytest.mark.parametrize(
    "given, text",
    [
        (dict(model_dir=""), "model_dir should be non-empty"),
        (dict(save_summary_steps=-1), "save_summary_steps should be >= 0"),
        (dict(keep_checkpoint_max=-1), "keep_checkpoint_max should be >= 0"),
        (dict(keep_checkpoint_every_n_hours=0), "keep_checkpoint_every_n_hours should be > 0"),
        (dict(log_step_count_steps=0), "log_step_count_steps should be > 0"),
        (dict(tf_random_seed=1.5), "tf_random_seed must be integer"),
        (dict(session_config={}), "session_config must be instance of ConfigProto"),
        (dict(device_fn=lambda node: ""), 'callable with exactly one argument "op"'),
        (dict(protocol="http"), "protocol should be grpc or grpc.verbs"),
        (dict(session_creation_timeout_secs=0), "session_creation_timeout_secs should be > 0"),
        (dict(experimental_max_worker_delay_secs=0.5), "must be an integer if set"),
    ],
)
def test_values_that_are_refused(given, text):
    with pytest.raises(ValueError, match=text):
        tf.estimator.RunConfig(**given)


def test_strategies_are_left_out():
    with pytest.raises(tf.errors.UnimplementedError, match="tf.distribute, as RunConfig's train"):
        tf.estimator.RunConfig(train_distribute=object())
