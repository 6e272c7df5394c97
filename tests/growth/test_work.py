"""The work of building, differentiating, placing, cutting and compiling grows as the graph does.

Work is the number of lines that Python runs, which no other load of the machine changes.
"""

from __future__ import annotations

import sys

import pytest

import minitf as tf
from minitf_runtime.graph import Graph
from minitf_runtime.passes.data import Devices
from minitf_runtime.passes.pipeline import partition_placed, place_graph, with_devices
from minitf_runtime.passes.rewrite import rewrite
from minitf_runtime.plan.choice import PASSES
from minitf_runtime.plan.compile import compile_part
from minitf_runtime.plan.part import split
from passes.build import device

SIZES = 60, 120, 240  # of products and tanh; each pair is about 13 ops with its gradient
PS, WORKER = (f"/job:{job}/replica:0/task:0" for job in ("ps", "worker"))
DEVICES = Devices((device("worker:0"), device("ps:0")))


class Work:
    """Counts the lines that run, by stage."""

    def __init__(self):
        self.lines = {}

    def stage(self, name, act):
        count = 0

        def trace(frame, event, arg):
            nonlocal count
            count += event == "line"
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            return act()
        finally:
            sys.settrace(before)
            self.lines[name] = count


def chain(v, length, tasks):
    y = v
    for i in range(length):
        with tf.device(tasks[i % len(tasks)]):
            y = tf.tanh(y * 1.01)
    return y


def fan(v, length, tasks):
    """Side by side, all from one variable and into one sum."""
    ends = []
    for i in range(length):
        with tf.device(tasks[i % len(tasks)]):
            ends.append(tf.tanh(v * 1.01))
    return tf.add_n(ends)


def work_of(shape, length, tasks):
    """Lines by stage, and how much the stages made."""
    work = Work()
    with tf.Graph().as_default() as graph:
        with tf.device(tasks[0]):
            v = tf.get_variable("v", [8], initializer=tf.ones_initializer())
        y = work.stage("build", lambda: shape(v, length, tasks))
        optimizer = tf.train.GradientDescentOptimizer(0.1)
        train = work.stage("differentiate", lambda: optimizer.minimize(tf.reduce_sum(y)))
        nodes = work.stage("hand over", graph.nodes)
    whole = work.stage("rewrite", lambda: rewrite(Graph(tuple(nodes))))
    placement = work.stage("place", lambda: place_graph(whole, DEVICES))
    whole = with_devices(whole, placement)
    targets = [train.name]
    cut, _ = work.stage("cut", lambda: partition_placed(whole, placement, DEVICES, targets=targets))
    parts = work.stage("split", lambda: split(cut, PASSES))
    programs = work.stage("compile", lambda: [compiled(part) for part in parts.values()])
    made = {
        "nodes": len(nodes),
        "transfers": len(cut.edges),
        "lines of the programs": sum(p.source.count("\n") for ps in programs for p in ps),
    }
    return work.lines | made


def compiled(part):
    return compile_part(part, lambda node: None, lambda device: None)


@pytest.fixture
def unchecked(monkeypatch):
    """The checks between passes are no work of a user's program."""
    monkeypatch.delenv("MINITF_VERIFY")


@pytest.mark.parametrize("tasks", [(WORKER,), (PS, WORKER)], ids=["one task", "two tasks"])
@pytest.mark.parametrize("shape", [chain, fan])
def test_twice_the_ops_are_twice_the_work(shape, tasks, unchecked):
    work_of(shape, 4, tasks)  # what is remembered for good is remembered now
    small, middle, large = (work_of(shape, length, tasks) for length in SIZES)
    step = (SIZES[2] - SIZES[1]) / (SIZES[1] - SIZES[0])
    more = {
        stage: (large[stage] - middle[stage]) / (step * (middle[stage] - small[stage]))
        for stage in small
        if large[stage] != small[stage]
    }
    assert {"build", "differentiate", "place", "cut", "compile", "nodes"} <= more.keys()
    assert {stage: round(ratio, 2) for stage, ratio in more.items() if ratio > 1.15} == {}
