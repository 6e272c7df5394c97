"""No false alarm on programs that TensorFlow 1.15.5 was recorded with: each as a saved graph."""

from __future__ import annotations

import pytest

import minitf as tf
from minitf import viz
from minitf.viz.live import client_graph
from passes import recorded

# What is found, and is so: a fetched value that an update or an assignment of the same step
# may come before or after.
UNORDERED = {"apply_subset", "placeholders_generators"}
RUN = sorted(
    name
    for name, program in recorded.programs().items()
    if program.get("edges")
    and not recorded.soft(program)  # a file does not say soft
    and name not in ("err_colocate_missing", "x_class_own")  # no file holds a class of nothing
)


@pytest.mark.parametrize("name", RUN)
def test_check(name, tmp_path):
    program = recorded.programs()[name]
    meta = program["meta"]
    graph = client_graph(recorded.graph_of(program).nodes)
    tf.train.write_graph(graph, str(tmp_path), "graph.pb", as_text=False)
    sizes = meta["cluster"]
    hosts = {job: [f"{job}:{i + 1}" for i in range(n)] for job, n in sizes.items()}
    found = viz.check(
        tmp_path / "graph.pb",
        cluster=hosts or None,
        task=tuple(meta["client"]) if hosts else None,
        fetches=[*program["fetches"], *program["targets"]],
    )
    assert {h.kind for h in found} == ({"unordered"} if name in UNORDERED else set())


def test_there_are_enough_programs():
    assert len(RUN) > 75
