"""Each program of `make bench` computes the same in its graph and by hand; sizes are small."""

from __future__ import annotations

import dataclasses
import sys
from contextlib import ExitStack

import pytest

import minitf as tf
from tools.bench import cluster, local
from tools.bench.measure import Here, agree, in_turn

LOCAL = {
    "run_overhead": {},
    "op_overhead": dict(length=6),
    "wide_graph": dict(chains=9, length=3, size=4),
    "mlp_small_sgd": dict(sizes=(7, 5, 3), batch=4),
    "mlp_large_adam": dict(sizes=(7, 5, 6, 3), batch=4),
    "cnn": dict(batch=2, size=8, filters=(2, 3), classes=4),
    "elementwise": dict(size=50),
    "rnn_loop": dict(length=4, batch=2, inputs=3, hidden=5),
    "embedding_sparse": dict(rows=6, width=3, count=9),
    "build": dict(length=5),
}
CLUSTER = {
    "ps_latency_1x1": {},
    "ps_mlp_1x1": dict(sizes=[7, 5, 3], batch=4),
    "ps_mlp_2x2": dict(sizes=[7, 5, 3], batch=4),
    "ps_bandwidth_1x1": dict(count=3, size=1000),
}


def test_all_programs_are_here():
    assert LOCAL.keys() == local.PROGRAMS.keys()
    assert CLUSTER.keys() == cluster.PROGRAMS.keys()


@pytest.mark.parametrize("name", LOCAL)
def test_a_program_of_one_process(name):
    graph, floor = local.PROGRAMS[name](tf, **LOCAL[name])
    agree(Here(graph), Here(floor))


@pytest.mark.cluster
@pytest.mark.parametrize("name", CLUSTER)
def test_a_program_of_a_cluster(name):
    program = dataclasses.replace(cluster.PROGRAMS[name], sizes=CLUSTER[name])
    with ExitStack() as stack:
        agree(*cluster.sides(program, "minitf", sys.executable, stack))


def test_what_differs_is_not_timed():
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        in_turn(Here(lambda: 1.0), Here(lambda: 1.1), 0.01)


def test_times_are_of_a_step():
    found = in_turn(Here(lambda: sum(range(20_000))), Here(lambda: 199_990_000), 0.05)
    assert found["ms"] > found["floor_ms"] > 0
    assert found["ratio"] > 1
