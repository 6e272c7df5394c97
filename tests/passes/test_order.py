"""Id order, the global order of a cut, and strands of nodes that may wait for other steps."""

from __future__ import annotations

import pytest

from minitf_runtime.errors import InvalidArgumentError
from minitf_runtime.graph import Graph
from minitf_runtime.ops.registry import OPS, OpDef
from minitf_runtime.passes.ids import id_order
from minitf_runtime.passes.order import step_order
from minitf_runtime.passes.pipeline import partition_graph
from minitf_runtime.passes.verify import verify_partitioned
from passes.build import CPU, node, only_cpu


def names(nodes):
    return [n.name for n in nodes]


def test_a_node_waits_for_its_inputs():
    nodes = [node("a", "c"), node("b"), node("c", control=("d",)), node("d"), node("e", "b")]
    assert names(id_order(nodes)) == ["b", "d", "c", "a", "e"]


def test_a_merge_does_not_wait_for_the_next_turn():
    nodes = [
        node("enter", op="Enter"),
        node("merge", "enter", "next", op="Merge"),
        node("next", "merge", op="NextIteration"),
    ]
    assert names(id_order(nodes)) == ["enter", "merge", "next"]


def test_a_cycle_and_a_missing_input_are_refused():
    with pytest.raises(InvalidArgumentError, match="2 nodes in a cycle or behind one, first 'a'"):
        id_order([node("a", "b"), node("b", "a")])
    with pytest.raises(InvalidArgumentError, match="Node 'a': Unknown input node 'b'"):
        id_order([node("a", "b")])


@pytest.fixture
def waits(monkeypatch):
    """An op that may wait for another step."""
    monkeypatch.setitem(OPS, "Wait", OpDef("Wait", (), (), {}, blocking=True))


def test_what_may_wait_comes_last(waits):
    graph = Graph(
        [
            node("w", op="Wait"),
            node("after", "w"),
            node("a", op="Const"),
            node("b", "a"),
            node("feed", op="_Arg"),
            node("c", "feed"),
        ]
    )
    assert step_order(graph) == ["feed", "a", "b", "c", "w", "after"]


def test_strands_are_sets_of_what_is_waited_for(waits):
    ps = "/job:ps/task:0"
    graph = Graph(
        [
            node("p", op="Wait", device=ps),
            node("q", op="Wait", device="/job:worker/task:0"),
            node("a", "p", device="/job:worker/task:0"),
            node("b", "a", "q", device=ps),
            node("c", device=ps),
            node("d", "p", "c", device=ps),
        ]
    )
    cut = partition_graph(graph, CPU, targets=["a", "b", "c", "d"], kernel_types=only_cpu)
    verify_partitioned(cut, "partition")
    strand = {n: cut.strands.get(n, 0) for n in "pqabcd"}
    assert strand["c"] == 0
    assert strand["p"] == strand["a"] == strand["d"] != 0
    assert len({strand[n] for n in "pqb"}) == 3
    for e in cut.edges:  # a transfer is of the strand of its source, at both ends
        assert cut.strands[e.send] == cut.strands[e.recv] == strand[e.src]


def test_a_receive_comes_just_before_its_consumer_and_a_send_at_once():
    ps, worker = "/job:ps/task:0", "/job:worker/task:0"
    graph = Graph(
        [
            node("w", op="Const", device=ps),
            node("long", op="Const", device=worker),
            node("work", "long", device=worker),
            node("use", "work", "w", device=worker),
            node("later", op="Const", device=ps),
        ]
    )
    cut = partition_graph(graph, CPU, targets=["use", "later"], kernel_types=only_cpu)
    ops = {d: [n.op for n in part] for d, part in cut.parts.items()}
    assert ops[CPU.names[0]] == ["Const", "Add", "_Recv", "Add"]
    assert ops[CPU.names[1]] == ["Const", "_Send", "Const"]


def test_unordered_uses_of_a_variable_keep_the_order_of_creation():
    graph = Graph(
        [
            node("v", op="VariableV2", ref=True),
            node("old", "v"),
            node("update", "v", "old", takes_ref=True, ref=True),
            node("new", "v"),
        ]
    )
    cut = partition_graph(graph, CPU, targets=["new", "old", "update"], kernel_types=only_cpu)
    (part,) = cut.parts.values()
    assert names(part) == ["v", "old", "update", "new"]
