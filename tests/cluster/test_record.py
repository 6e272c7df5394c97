"""Recording: a reader gets the statistics of steps that the session's own program makes."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest

import minitf as tf
from minitf import viz
from minitf.cli import main
from minitf.viz import live
from minitf_runtime.server.client import RemoteMaster
from minitf_runtime.server.service import server_at

pytestmark = pytest.mark.cluster
STEP = (["x:0"], [], ["train"])


@pytest.fixture
def target(free_ports):
    ps, worker = (f"127.0.0.1:{p}" for p in free_ports(2))
    spec = tf.train.ClusterSpec({"ps": [ps], "worker": [worker]})
    made = [tf.train.Server(spec, job_name=job, task_index=0) for job in ("ps", "worker")]
    yield made[1].target
    for address in (ps, worker):
        server_at(address).stop()


@contextmanager
def session(target):
    """A session that has initialised a model of one weight, and its train op."""
    with tf.Graph().as_default():
        with tf.device(tf.train.replica_device_setter(ps_tasks=1)):
            w = tf.get_variable("w", [2, 1], initializer=tf.zeros_initializer())
            x = tf.placeholder(tf.float32, [None, 2], "x")
            x_checked = tf.check_numerics(x, "not a number")
            loss = tf.reduce_mean(tf.square(tf.matmul(x_checked, w) - 1.0))
            train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, name="train")
        with tf.Session(target) as sess:
            sess.run(w.initializer)
            yield sess, lambda: sess.run(train, {x: np.ones((4, 2))}), w


@contextmanager
def training(step):
    """Makes steps in another thread, as a program does; gives how many it has made."""
    made, stop = [], threading.Event()

    def work():
        while not stop.wait(0.01):
            made.append(step())

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield made
    finally:
        stop.set()
        thread.join()


def address_of(target):
    return target.removeprefix("grpc://")


def test_the_steps_of_the_program_are_told_and_no_other_is_made(target):
    with session(target) as (sess, step, w):
        step()
        with training(step) as made:
            (view,) = server_at(address_of(target)).master.describe().sessions
            seen = RemoteMaster(address_of(target)).record(view.handle, *STEP, 3, 10.0)
        assert len(seen) == 3
        for stats in seen:
            assert {d.split("/")[1] for d in stats} == {"job:ps", "job:worker"}
            names = {node.name for nodes in stats.values() for node in nodes}
            assert any("ApplyGradientDescent" in name for name in names)
        weights = sess.run(w)
        other = np.zeros((2, 1))
        for _ in range(1 + len(made)):  # gradient of mean((sum(w) - 1)**2) by each weight
            other -= 0.1 * 2 * (other.sum() - 1)
        np.testing.assert_allclose(weights, other, rtol=1e-5)


def test_steps_of_another_kind_are_not_taken(target):
    with session(target) as (sess, step, w):
        step()
        with training(lambda: sess.run(w)):
            (view,) = server_at(address_of(target)).master.describe().sessions
            assert RemoteMaster(address_of(target)).record(view.handle, *STEP, 1, 0.3) == []


def test_fewer_steps_when_the_time_is_up(target):
    with session(target) as (_, step, _):
        step()
        master = server_at(address_of(target)).master
        (view,) = master.describe().sessions
        threading.Timer(0.1, step).start()
        assert len(master.record(view.handle, *STEP, 5, 1.0)) == 1
        step()  # and nobody records any more


def test_a_step_that_the_session_has_never_run(target):
    with session(target):
        (view,) = server_at(address_of(target)).master.describe().sessions
        with pytest.raises(tf.errors.NotFoundError, match="no step of nothing"):
            RemoteMaster(address_of(target)).record(view.handle, [], [], ["nothing"], 1, 1.0)


def test_a_failing_step_is_not_counted(target):
    with session(target) as (sess, step, _):
        step()
        master = server_at(address_of(target)).master
        (view,) = master.describe().sessions
        found = []
        reader = threading.Thread(
            target=lambda: found.extend(master.record(view.handle, *STEP, 1, 5.0))
        )
        reader.start()
        until = time.monotonic() + 5
        while not master._sessions[view.handle].recorders:
            assert time.monotonic() < until
            time.sleep(0.001)
        with pytest.raises(tf.errors.InvalidArgumentError, match="not a number"):
            sess.run("train", {"x:0": np.full((4, 2), np.nan)})
        step()
        reader.join()
        assert len(found) == 1


def test_command_and_python_call(target, capsys, monkeypatch):
    with session(target) as (_, step, _):
        step()
        with training(step):
            trace = viz.trace_step(target, steps=2)
            assert {t.task for t in trace.tasks} == {
                "/job:ps/replica:0/task:0",
                "/job:worker/replica:0/task:0",
            }
            assert main(["viz", "--address", address_of(target), "--trace", "2"]) == 0
        shown = capsys.readouterr().out
        assert "steps of the running program, those of the session on worker:0" in shown
        assert "fed ones" not in shown
        monkeypatch.setattr(live, "RECORD_SECONDS", 0.2)
        assert main(["viz", "--address", address_of(target), "--trace"]) == 2
        assert "ran no such step in 0 s" in capsys.readouterr().err
