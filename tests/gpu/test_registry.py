"""The whole registry on a fake GPU: no op with a kernel there is without a case that ran there.

Ops that mean something alone are those of tests/ops/cases (test_kernels.py); the others are in
programs.py. Copies are counted: a program says how many it makes, and no kernel makes more.
"""

from __future__ import annotations

import os

import numpy as np
import pytest

import minitf as tf
from gpu.programs import CPU, GPU, PROGRAMS
from gpu.test_kernels import IN_TABLE, ON_GPU, assert_same, variants_of
from minitf.convert import const_of
from minitf.ops.apply import make_op
from minitf_runtime.devices import fake_stream
from minitf_runtime.devices import gpu as gpus
from minitf_runtime.devices.fake_gpu import FakeGpu
from ops.kernel_runs import run_on_cpu, run_on_gpu
from ops.test_table import CASES, nested

SEEDS = 20
ALL_SEEDS = bool(os.environ.get("MINITF_ALL_SEEDS"))
# What kernels bring to the device and how often they wait for it, in programs.py; else nothing.
REPEATED_ROWS = (2, 1)  # who comes first is worked out on the host
INSIDE = {
    "random_numbers": (5, 0),  # drawn by NumPy, so that the numbers are the CPU's
    "ScatterMul": REPEATED_ROWS,
    "ScatterDiv": REPEATED_ROWS,
    "ResourceScatterMul": REPEATED_ROWS,
    "ResourceScatterDiv": REPEATED_ROWS,
}
# Ops with a kernel for a GPU that never runs there.
NEVER_THERE = {
    "Placeholder": "a feed takes its place",
    **dict.fromkeys(
        (n for n in ON_GPU if n.startswith("Queue")), "a queue is on the CPU and takes it along"
    ),
}


def built(names, device):
    """The fetches of programs, in one graph, and what is fed."""
    fetches, feeds = [], {}
    for name in names:
        with tf.device(device), tf.name_scope(name):
            made = PROGRAMS[name].build()
        wanted, fed = made if isinstance(made, tuple) else (made, {})
        fetches += wanted
        feeds.update(fed)
    return fetches, feeds


def counted(gpu):
    inside = gpu.kernel_uploads, gpu.kernel_downloads + gpu.synchronisations
    return np.array([gpu.uploads, gpu.downloads, *inside])


def two_steps(names, device, gpu=None):
    """What is fetched in two steps, the ops on the GPU, and the copies of the second step."""
    metadata = tf.RunMetadata()
    options = tf.RunOptions(output_partition_graphs=True)
    with tf.Graph().as_default(), tf.Session() as session:
        fetches, feeds = built(names, device)
        session.run(tf.global_variables_initializer())
        first = session.run(fetches, feeds, options=options, run_metadata=metadata)
        before = counted(gpu) if gpu else 0
        second = session.run(fetches, feeds)
        copies = (counted(gpu) - before).tolist() if gpu else []
    nodes = [n for g in metadata.partition_graphs for n in g.node]
    return [*first, *second], {n.op for n in nodes if n.device.endswith("GPU:0")}, copies


def test_every_op_with_a_kernel_has_a_case():
    there = {op for program in PROGRAMS.values() for op in program.ops}
    assert sorted(set(ON_GPU) - set(IN_TABLE) - there - NEVER_THERE.keys()) == []
    assert sorted(there & set(IN_TABLE) | (there | NEVER_THERE.keys()) - set(ON_GPU)) == []


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_runs_there_as_on_the_cpu(name, fake):
    gpu, program = fake(), PROGRAMS[name]
    mine, there, copies = two_steps([name], GPU, gpu)
    assert program.ops <= there
    assert copies == [program.up, program.down, *INSIDE.get(name, (0, 0))]
    assert_same(map(np.asarray, mine), map(np.asarray, two_steps([name], CPU)[0]), name)


@pytest.mark.parametrize("name", IN_TABLE)
def test_an_op_of_the_table_runs_there(name, fake):
    """Hard placement, and what the step's graph says of it."""
    fake()
    _, _, arrays = next(variants_of(name))
    case = CASES[name][0]
    with tf.Graph().as_default():
        with tf.device(CPU):
            inputs = [const_of(x) for x in arrays]
        with tf.device(GPU):
            op = make_op(name, *nested(case, inputs), **case.attrs)
        assert "GPU:0" in devices_of(list(op.outputs))[name]


def devices_of(fetches):
    """The devices of a step's ops, by type."""
    metadata = tf.RunMetadata()
    options = tf.RunOptions(output_partition_graphs=True)
    with tf.Session() as session:
        session.run(fetches, options=options, run_metadata=metadata)
    found = {}
    for graph in metadata.partition_graphs:
        for n in graph.node:
            found.setdefault(n.op, set()).add(n.device.split("/device:")[1])
    return found


def test_a_placeholder_that_is_not_fed():
    with tf.device(GPU):
        x = tf.placeholder(tf.float32, [2])
    error = pytest.raises(tf.errors.InvalidArgumentError, match="must feed a value")
    with tf.Session() as session, error:
        session.run(x)


def test_a_queue_is_not_for_a_gpu():
    with tf.device(GPU):
        size = tf.FIFOQueue(2, tf.float32).size()
    error = pytest.raises(tf.errors.InvalidArgumentError, match="FIFOQueueV2: CPU")
    with tf.Session() as session, error:
        session.run(size)


@pytest.mark.timeout(600 if ALL_SEEDS else 60)  # 35,940 runs
def test_delays_change_no_op_of_the_table(monkeypatch):
    """Each case and type of each op with one of the seeds, or with all of them."""
    monkeypatch.setattr(fake_stream, "LONGEST_DELAY", 1e-4)
    variants = [(node, arrays) for name in IN_TABLE for _, node, arrays in variants_of(name)]
    for seed in range(SEEDS):
        monkeypatch.setenv("MINITF_FAKE_GPU_SEED", str(seed))
        gpu = FakeGpu(0)
        for node, arrays in variants if ALL_SEEDS else variants[seed::SEEDS]:
            got = run_on_gpu(node, arrays, gpu)
            assert_same(got, run_on_cpu(node, arrays), f"{node.op}, seed {seed}")


def test_delays_change_no_program(fake):
    """All of them in one step, so that their copies are under way at the same time."""

    def steps(device, before):
        out = []
        with tf.Graph().as_default(), tf.Session() as session:
            fetches, feeds = built(PROGRAMS, device)
            session.run(tf.global_variables_initializer())
            for seed in range(SEEDS):
                before(seed)
                out.append(session.run(fetches, feeds))
        return out

    gpu = fake()
    delayed = steps(GPU, gpu.delays.seed)
    for mine, cpu in zip(delayed, steps(CPU, lambda seed: None), strict=True):
        assert_same(map(np.asarray, mine), map(np.asarray, cpu), "programs")
    assert gpus._opened[True, 0] is gpu
    assert gpu.downloads
