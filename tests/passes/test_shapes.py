"""Shapes of a step from the shapes of its feeds."""

from __future__ import annotations

import pytest

from minitf_runtime.errors import InvalidArgumentError
from minitf_runtime.graph import Graph, Node
from minitf_runtime.passes.pipeline import partition_graph
from minitf_runtime.passes.shapes import infer
from minitf_runtime.types import float32
from passes.build import CPU


def node(name, op, *inputs, shape=None, device="", **attrs):
    return Node(
        name,
        op,
        tuple((i, 0) for i in inputs),
        device=device,
        attrs=attrs,
        input_types=(float32,) * len(inputs),
        output_types=(float32,),
        output_shapes=(shape,),
        source="model.py:3",
    )


GRAPH = Graph(
    [
        node("x", "Placeholder", dtype=float32, shape=None),
        node("i", "Identity", "x", T=float32),
        node("d", "MatrixDiag", "i", T=float32, device="/job:ps/task:1"),
        node("user", "NoSuchOp", "d", shape=(None, 7)),
    ]
)


def test_shapes_follow_from_the_feeds():
    got = infer(GRAPH, {"x": (5,)})
    assert [n.output_shapes[0] for n in got] == [(5,), (5,), (5, 5), (None, 7)]
    assert infer(GRAPH, {}) == GRAPH


def test_edges_know_their_bytes():
    graph = GRAPH.only({"x", "i", "d"})

    def edges(**kw):
        cut = partition_graph(graph, CPU, feeds=["x:0"], fetches=["d:0"], **kw)
        return [(e.src, e.shape, e.nbytes) for e in cut.edges]

    assert edges(feed_shapes={"x:0": (6,)}) == [
        ("_recv_x_0", (6,), 24),
        ("i", (6,), 24),
        ("d", (6, 6), 144),
    ]
    assert [nbytes for _, _, nbytes in edges()] == [None, None, None]


def test_inputs_that_do_not_fit():
    graph = Graph(
        [
            node("x", "Placeholder", shape=(None, 3), dtype=float32),
            node("c", "Cholesky", "x", shape=(None, None), T=float32),
        ]
    )
    with pytest.raises(InvalidArgumentError, match="not compatible"):
        infer(graph, {"x": (2, 4)})
    with pytest.raises(InvalidArgumentError) as caught:
        infer(graph, {"x": (2, 3)})
    assert "for 'c' (op: 'Cholesky') made at model.py:3 with input shapes: [2,3]." in str(
        caught.value
    )
    assert caught.value.node == "c"
