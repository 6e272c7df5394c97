"""Monitored sessions and SyncReplicasOptimizer on clusters of several tasks, and lost tasks."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from contextlib import contextmanager

import numpy as np
import pytest

import minitf as tf

pytestmark = pytest.mark.cluster


@pytest.fixture
def cluster(free_ports):
    """Addresses for a ps and two workers."""
    ps, *workers = (f"127.0.0.1:{port}" for port in free_ports(3))
    return {"ps": [ps], "worker": workers}


@pytest.fixture
def servers(cluster):
    return {
        (job, i): tf.train.Server(cluster, job, i)
        for job in cluster
        for i in range(len(cluster[job]))
    }


@contextmanager
def on_worker(cluster, index):
    """A graph of its own, with variables on the ps and the rest on the worker."""
    worker = f"/job:worker/task:{index}"
    setter = tf.train.replica_device_setter(cluster=cluster, worker_device=worker)
    with tf.Graph().as_default(), tf.device(setter):
        yield


def filters(index):
    return tf.ConfigProto(device_filters=["/job:ps", f"/job:worker/task:{index}"])


def in_threads(*targets):
    """Runs the functions at the same time; raises what one of them raises."""
    errors = []

    def run(target):
        try:
            target()
        except BaseException as e:
            errors.append(e)

    threads = [threading.Thread(target=run, args=[t], daemon=True) for t in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(40)
    assert not any(t.is_alive() for t in threads)
    if errors:
        raise errors[0]


def value_on_ps(cluster, servers, name, dtype=tf.float32):
    with tf.Graph().as_default(), tf.device("/job:ps/task:0"):
        v = tf.get_variable(name, [], dtype)
        with tf.Session(
            servers["ps", 0].target, config=tf.ConfigProto(device_filters=["/job:ps"])
        ) as s:
            return s.run(v)


def test_each_step_applies_the_mean_of_both_gradients(cluster, servers):
    ready = threading.Event()

    def work(index):
        with on_worker(cluster, index):
            step = tf.train.get_or_create_global_step()
            w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
            opt = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.5), 2, 2)
            gradient = tf.constant([1.0, 3.0][index])
            train = opt.apply_gradients([(gradient, w)], global_step=step)
            hook = opt.make_session_run_hook(index == 0, num_tokens=0)
            if index:
                ready.wait(20)
            with tf.train.MonitoredTrainingSession(
                servers["worker", index].target, index == 0, hooks=[hook], config=filters(index),
                stop_grace_period_secs=1,
            ) as session:  # fmt: skip
                ready.set()
                tokens = [int(session.run(train)) for _ in range(4)]
                assert tokens == [1, 2, 3, 4]

    in_threads(lambda: work(0), lambda: work(1))
    assert value_on_ps(cluster, servers, "global_step", tf.int64) == 4
    assert value_on_ps(cluster, servers, "w") == -0.5 * 2 * 4


def test_a_gradient_that_comes_too_late_is_dropped(cluster, servers):
    """The accumulator is at step 1 when a gradient of step 0 comes."""
    with on_worker(cluster, 0):
        accumulator = tf.ConditionalAccumulator(tf.float32, [], shared_name="late")
        step = tf.placeholder(tf.int64, [])
        give, take = accumulator.apply_grad(tf.constant(2.0), step), accumulator.take_grad(1)
        with tf.Session(servers["worker", 0].target) as session:
            session.run(give, {step: 0})
            assert session.run(take) == 2.0
            session.run(give, {step: 0})
            assert session.run(accumulator.num_accumulated()) == 0
            session.run(give, {step: 1})
            assert session.run(take) == 2.0


def test_two_workers_stop_at_the_same_step(cluster, servers):
    ready, runs = threading.Event(), {}

    def work(index):
        with on_worker(cluster, index):
            step = tf.train.get_or_create_global_step()
            train = tf.assign_add(step, 1, use_locking=True)
            hook = tf.train.StopAtStepHook(last_step=40)
            if index:
                ready.wait(20)
            with tf.train.MonitoredTrainingSession(
                servers["worker", index].target, index == 0, hooks=[hook], config=filters(index)
            ) as session:
                ready.set()
                runs[index] = 0
                while not session.should_stop():
                    session.run(train)
                    runs[index] += 1

    in_threads(lambda: work(0), lambda: work(1))
    last = value_on_ps(cluster, servers, "global_step", tf.int64)
    assert 40 <= last <= 41
    assert sum(runs.values()) == last


def test_a_worker_waits_for_the_variables(cluster, servers):
    with on_worker(cluster, 1):
        v = tf.get_variable("v", initializer=np.float32(3))
        manager = tf.train.SessionManager(
            ready_op=tf.report_uninitialized_variables(), recovery_wait_secs=0.05
        )
        target = servers["worker", 1].target
        with pytest.raises(tf.errors.DeadlineExceededError, match="not ready after waiting 0 secs"):
            manager.wait_for_session(target, max_wait_secs=0.2)
        with tf.Session(servers["worker", 0].target) as chief:
            timer = threading.Timer(0.3, lambda: chief.run(v.initializer))
            timer.start()
            session = manager.wait_for_session(target, max_wait_secs=20)
            assert session.run(v) == 3
            session.close()
            timer.join()


PS = """
import json, sys
import minitf as tf
server = tf.train.Server(json.loads(sys.argv[1]), "ps", 0)
print("up", flush=True)
server.join()
"""


@contextmanager
def ps_process(cluster):
    with subprocess.Popen(
        [sys.executable, "-c", PS, json.dumps(cluster)], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout.readline() == "up\n"
            yield process
        finally:
            process.kill()


def test_training_goes_on_when_a_lost_ps_is_back(cluster):
    cluster = {"ps": cluster["ps"], "worker": cluster["worker"][:1]}
    server = tf.train.Server(cluster, "worker", 0)
    with on_worker(cluster, 0), ps_process(cluster) as ps:
        step = tf.train.get_or_create_global_step()
        train = tf.assign_add(step, 1)
        with tf.train.MonitoredTrainingSession(server.target) as session:
            assert [int(session.run(train)) for _ in range(3)] == [1, 2, 3]
            ps.kill()
            ps.wait()
            with ps_process(cluster):
                assert [int(session.run(train)) for _ in range(3)] == [1, 2, 3]
