"""Programs that hang, each as every task of a small cluster; and the means to run them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from minitf.viz.stuck_steps import Stuck, stuck

HEAD = """import json, os, sys
import minitf as tf
spec, job, task = json.loads(sys.argv[1]), sys.argv[2], int(sys.argv[3])
server = tf.train.Server(spec, job, task)
if job == "ps": server.join()
"""  # the programs below begin at line 6

EMPTY_QUEUE = """with tf.device("/job:ps/task:0"):
    queue = tf.FIFOQueue(8, tf.float32, shapes=[[]], shared_name="batches")
    batch = queue.dequeue(name="batch")
    fill = queue.enqueue(1.0, name="fill")
with tf.device("/job:worker/task:0"):
    loss = tf.square(batch, name="loss")
tf.Session(server.target).run(loss)
"""

FULL_QUEUE = """with tf.device("/job:ps/task:0"):
    queue = tf.FIFOQueue(2, tf.float32, shapes=[[]])
    fill = queue.enqueue_many([[1.0, 2.0, 3.0]], name="fill")
tf.Session(server.target).run(fill)
"""

TOO_FEW_WORKERS = """here = f"/job:worker/task:{task}"
with tf.device(tf.train.replica_device_setter(cluster=spec, worker_device=here)):
    step = tf.train.get_or_create_global_step()
    w = tf.get_variable("w", [2], initializer=tf.zeros_initializer())
    loss = tf.reduce_sum(tf.square(w - 1.0))
    optimizer = tf.train.SyncReplicasOptimizer(
        tf.train.GradientDescentOptimizer(0.1), replicas_to_aggregate=3, total_num_replicas=3
    )
    train = optimizer.minimize(loss, global_step=step)
filters = tf.ConfigProto(device_filters=["/job:ps", here])
hooks = [optimizer.make_session_run_hook(task == 0, num_tokens=0)]
with tf.train.MonitoredTrainingSession(
    server.target, task == 0, hooks=hooks, config=filters
) as sess:
    sess.run(train)
"""

STOPPED_PS = """with tf.device("/job:ps/task:0"):
    w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
with tf.device("/job:worker/task:0"):
    loss = tf.add(w.read_value(), 1.0, name="loss")
sess = tf.Session(server.target)
sess.run(w.initializer)
sess.run(loss)
os.kill(int(sys.argv[4]), 19)  # SIGSTOP
while True: sess.run(loss)  # until it has stopped, which takes a moment
"""

NEVER_ENDS = """import time
with tf.device("/job:worker/task:0"):
    slow = tf.py_func(lambda: time.sleep(60) or 1.0, [], tf.double, name="slow")
with tf.device("/job:ps/task:0"):
    total = tf.add(slow, 1.0, name="total")
tf.Session(server.target).run(total)
"""

NOTHING = """server.join()
"""


class Cluster:
    """Its addresses, and the processes started by now."""

    def __init__(self, program: Path, ports: list[int], workers: int) -> None:
        self.program = program
        addresses = [f"127.0.0.1:{port}" for port in ports]
        self.spec = {"ps": addresses[:1], "worker": addresses[1 : workers + 1]}
        self.processes: list[subprocess.Popen[bytes]] = []

    def start(self, job: str, task: int) -> None:
        pids = [str(process.pid) for process in self.processes]
        command = [sys.executable, self.program.name, json.dumps(self.spec), job, str(task), *pids]
        quiet = dict(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        env = os.environ | {"MINITF_VERIFY": "0"}
        self.processes.append(subprocess.Popen(command, cwd=self.program.parent, env=env, **quiet))

    def kill(self) -> None:
        for process in self.processes:
            process.send_signal(signal.SIGKILL)
            process.wait()


@contextmanager
def running(
    directory: Path, text: str, ports: list[int], workers: int = 1, ps: bool = True
) -> Iterator[Cluster]:
    """A program running as ps:0, unless that is to be missing, and as worker:0."""
    program = directory / "train.py"
    program.write_text(HEAD + text)
    cluster = Cluster(program, ports, workers)
    try:
        for job in ("ps", "worker") if ps else ("worker",):
            cluster.start(job, 0)
        yield cluster
    finally:
        cluster.kill()


def stuck_when(
    address: str, ready: Callable[[Stuck], bool], limit: float = 0.3, seconds: float = 30
) -> Stuck:
    """What `stuck` finds as soon as that is what is waited for."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            found = stuck(address, limit)
        except ValueError:  # the servers are not up yet
            found = None
        if found is not None and ready(found):
            return found
        assert time.monotonic() < deadline, found
        time.sleep(0.1)
