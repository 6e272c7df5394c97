"""Each rule of the verifier, on a graph or a cut that breaks it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from minitf_runtime.errors import InternalError
from minitf_runtime.graph import Graph
from minitf_runtime.passes.pipeline import partition_graph
from minitf_runtime.passes.verify import verify_graph, verify_partitioned
from minitf_runtime.types import float64
from passes.build import CPU, device, node, only_cpu

HERE, THERE = device("worker:0"), device("ps:0")


def refused(run, problem):
    with pytest.raises(InternalError) as caught:
        run()
    assert problem in str(caught.value)
    assert "broken after mending: " in str(caught.value)


A = node("a", device=HERE)


@pytest.mark.parametrize(
    "nodes, problem",
    [
        ([A, A], "2 nodes are called 'a'"),
        ([A, node("b", "q", device=HERE)], "'b' takes 'q', which is not in the graph"),
        ([A, node("b", control=("q",), device=HERE)], "'b' takes 'q', which is not in the graph"),
        ([A, node("b", "a:1", device=HERE)], "'b' takes output 1 of 'a', which has none such"),
        ([A, node("b", "a", device=HERE).with_(input_types=())], "1 inputs and 0 input types"),
        (
            [A, node("b", "a", device=HERE).with_(input_types=(float64,))],
            "'b' takes float64, 'a:0' is float32",
        ),
        ([A, node("b", "a", device=HERE, takes_ref=True)], "'b' takes float32_ref"),
        ([A.with_(output_shapes=())], "'a' has a shape for 0 of its outputs"),
        ([A.with_(device="/job:ps")], "'a' is on '/job:ps', which is no device"),
        (
            [node("v", ref=True, device=THERE), node("b", "v", device=HERE, takes_ref=True)],
            "'b' takes 'v' by reference from another device",
        ),
    ],
)
def test_broken_graphs(nodes, problem):
    refused(lambda: verify_graph(Graph(nodes), CPU, "mending"), problem)


@pytest.fixture
def cut():
    graph = Graph(
        [
            node("w", op="Const", device="/job:ps/task:0"),
            node("a", "w", device="/job:worker/task:0"),
            node("b", "a", device="/job:ps/task:0"),
        ]
    )
    return partition_graph(graph, CPU, targets=["b"], kernel_types=only_cpu)


def changed(cut, part, change):
    return replace(cut, parts={**cut.parts, part: tuple(change(list(cut.parts[part])))})


def test_a_cut_is_legal(cut):
    verify_partitioned(cut, "partition")


@pytest.mark.parametrize(
    "part, change, problem",
    [
        (HERE, lambda ns: ns[1:], "which is not in the graph"),
        (HERE, lambda ns: ns[:-1], "has no _Send"),
        (HERE, lambda ns: ns[::-1], "runs before its input"),
        (HERE, lambda ns: [*ns, ns[0].with_(name="r2")], "'r2' (_Recv) is without twin"),
        (HERE, lambda ns: [*ns, node("w", device=HERE)], "'w' is in two parts"),
        (HERE, lambda ns: [*ns, node("x", device=THERE)], "is in the part of"),
        (THERE, lambda ns: [*ns[:-1], ns[-1].with_(op="Sub")], "'b' became a Sub"),
        (THERE, lambda ns: [*ns[2:], *ns[:2]], "the parts would wait for each other"),
    ],
)
def test_broken_cuts(cut, part, change, problem):
    refused(lambda: verify_partitioned(changed(cut, part, change), "mending"), problem)


def test_broken_edges(cut):
    twice = replace(cut, edges=(*cut.edges, cut.edges[0]))
    refused(lambda: verify_partitioned(twice, "mending"), "two edges have the key")
    renamed = replace(cut.edges[0], tensor_name="other")
    wrong = replace(cut, edges=(renamed, *cut.edges[1:]))
    refused(lambda: verify_partitioned(wrong, "mending"), "its edge other")
    wrong = replace(cut, edges=(replace(cut.edges[0], consumers=("b",)), *cut.edges[1:]))
    refused(lambda: verify_partitioned(wrong, "mending"), "names a consumer 'b' not on its device")


def test_broken_strands(cut):
    wrong = replace(cut, strands={"a": 1})
    refused(lambda: verify_partitioned(wrong, "mending"), "of strand 0 follows 'a'")


def test_a_lost_node(cut):
    step = Graph([*cut.step, node("lost", device=HERE)])
    refused(lambda: verify_partitioned(replace(cut, step=step), "mending"), "'lost' is in no part")


def test_passes_are_checked_on_demand(monkeypatch):
    monkeypatch.setenv("MINITF_VERIFY", "1")
    bad = Graph([node("a", device=HERE).with_(output_shapes=())])
    with pytest.raises(InternalError, match="broken after prune"):
        partition_graph(bad, CPU, targets=["a"], kernel_types=only_cpu)
