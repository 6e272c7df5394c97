"""Shapes of a step from the shapes of its feeds."""

from __future__ import annotations

import pytest

from minitf_runtime.errors import InvalidArgumentError
from minitf_runtime.graph import Graph, Node
from minitf_runtime.passes.pipeline import partition_graph
from minitf_runtime.passes.shapes import infer
from minitf_runtime.types import float32
from passes import recorded
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


# messages and bytes of one step, as counted in TensorFlow 1.15.5's own records of transfers
TRAFFIC = {
    "seed_step": (9, 48),
    "ps1_sgd": (5, 44),
    "client_is_ps": (8, 108),
    "opt_sgd": (9, 48),
    "opt_adagrad": (9, 48),
    "opt_momentum": (11, 56),
    "opt_rmsprop": (15, 72),
    "opt_ftrl": (15, 72),
    "opt_adam": (18, 80),
    "resource_sgd": (11, 56),
    "ps2_w2_mlp_adagrad": (14, 360),
    "ps3_w2_mlp_adam": (36, 720),
    "ps3_w2_mlp_clip": (15, 356),
    "partitioned_dense": (10, 80),
    "embed_sparse_adam": (20, 192),
    "sync_replicas": (8, 64),
    "towers_ingraph": (9, 84),
    "default_device_w0": (3, 64),
    "while_cross_var": (1, 16),
}


@pytest.mark.parametrize("name", TRAFFIC)
def test_traffic_of_a_program(name):
    shapes = recorded.programs()[name]["feed_shapes"]
    cut = recorded.cut(name, feed_shapes={k: tuple(v) for k, v in shapes.items()})
    assert (len(cut.edges), sum(e.nbytes for e in cut.edges)) == TRAFFIC[name]


@pytest.mark.parametrize("name", recorded.with_part("edges"))
def test_shapes_of_edges(name):
    """What construction knew of a tensor is what its edge says."""
    wanted = {
        (e["src"], e["slot"]): tuple(e["shape"])
        for e in recorded.programs()[name]["edges"]
        if e["shape"] is not None and not e["src"].startswith("_")
    }
    got = {(e.src, e.slot): e.shape for e in recorded.cut(name).edges}
    assert {k: got.get(k) for k in wanted} == wanted
