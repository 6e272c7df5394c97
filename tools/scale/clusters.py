"""Clusters on this machine: a step's time by the number of workers, the bytes that it sends beside
what it has to send, and how long a cluster takes to start."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from contextlib import ExitStack

import minitf as tf
from minitf.cli.processes import free_addresses
from minitf_runtime.server.service import server_at
from tools.bench.cluster import ROOT, Program, sides
from tools.bench.local import random
from tools.bench.measure import agree, steps_in
from tools.bench.models import Perceptron, variables
from tools.scale.weight import with_bytecode

WORKERS = (1, 2, 4, 8)
SECONDS, ROUNDS, STARTS, STEPS = 0.7, 5, 5, 10


def workers():
    print(f"{'workers':>8} {'ms a step':>10} {'steps/s':>8} {'by hand':>8}  784-100-10, one ps")
    for count in WORKERS:
        with ExitStack() as stack:
            program = Program("Perceptron", "Adagrad", 1, count)
            both = sides(program, "minitf", sys.executable, stack)
            agree(*both)
            steps = [steps_in(side, SECONDS) for side in both]
            rounds = [[s.seconds(n) / n for s, n in zip(both, steps)] for _ in range(ROUNDS)]
        graph, floor = (statistics.median(seconds) for seconds in zip(*rounds))
        print(
            f"{count:8} {graph * 1e3:10.2f} {count / graph:8.0f} {count / floor:8.0f}", flush=True
        )


def wire():
    print(f"{'program':>20} {'sent':>10} {'needed':>10}  bytes a step")
    perceptron = Perceptron()
    whole = sum(2 * p.nbytes for p in perceptron.params)
    for name, optimizer in (
        ("mlp, sgd", tf.train.GradientDescentOptimizer(0.01)),
        ("mlp, adam", tf.train.AdamOptimizer(0.01)),
    ):
        sent = bytes_a_step(dense(perceptron, optimizer))
        print(f"{name:>20} {sent:10.0f} {whole:10}", flush=True)
    count, width = 1024, 64
    sent = bytes_a_step(lambda: looked_up(count, width))
    # Rows and their gradients; which rows, there and back.
    print(f"{'embedding, adagrad':>20} {sent:10.0f} {2 * count * (width * 4 + 8):10}", flush=True)


def dense(model, optimizer):
    def build():
        loss, feeds = model.loss(tf, variables(tf, model.params))
        return optimizer.minimize(loss), feeds

    return build


def looked_up(count, width):
    (table,) = variables(tf, [random(10_000, width)])
    ids = tf.placeholder(tf.int64, [None])
    loss = tf.reduce_mean(tf.square(tf.nn.embedding_lookup(table, ids)))
    return tf.train.AdagradOptimizer(0.1).minimize(loss), {ids: range(count)}


def bytes_a_step(build):
    """What the tasks of one ps and one worker count as received."""
    addresses = free_addresses(2)
    spec = tf.train.ClusterSpec({"ps": addresses[:1], "worker": addresses[1:]})
    target = [tf.train.Server(spec, job_name=job, task_index=0).target for job in spec.jobs][1]
    setter = tf.train.replica_device_setter(cluster=spec)
    with tf.Graph().as_default(), tf.device(setter), tf.Session(target) as session:
        train, feeds = build()
        session.run(tf.global_variables_initializer())
        session.run(train, feeds)
        before = received(addresses)
        for _ in range(STEPS):
            session.run(train, feeds)
        found = (received(addresses) - before) / STEPS
    for address in addresses:
        server_at(address).stop()
    return found


def received(addresses):
    loads = [server_at(address).master.load() for address in addresses]
    return sum(sum(c.received.values()) for load in loads for c in load.counts.values())


def start():
    """From the command to what the first worker prints after its first step."""
    command = [sys.executable, "-m", "minitf", "cluster", "--ps", "2", "--workers", "2"]
    command += ["examples/distributed_mlp.py", "--steps", "1"]
    seconds = statistics.median(until("step 0 loss", command) for _ in range(STARTS))
    print(f"{seconds:8.2f} s from the command to the first step, 2 ps and 2 workers", flush=True)


def until(text, command):
    begin = time.perf_counter()
    options = dict(cwd=ROOT, env=with_bytecode(), stdout=subprocess.PIPE, text=True)
    with subprocess.Popen(command, **options) as process:
        seen = next((time.perf_counter() for line in process.stdout if text in line), None)
        process.communicate()
    if seen is None:
        raise RuntimeError("the cluster has not made a step")
    return seen - begin
