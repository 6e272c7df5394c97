"""Feeds, fetches and targets: what a step keeps of a graph, and which names it refuses."""

from __future__ import annotations

import pytest

from minitf_runtime.errors import InvalidArgumentError, NotFoundError
from minitf_runtime.graph import Graph
from minitf_runtime.passes.data import Devices
from minitf_runtime.passes.prune import prune
from passes.build import CPU, node

LOCAL = Devices(("/job:localhost/replica:0/task:0/device:CPU:0",), True)
GRAPH = Graph(
    [
        node("x", op="Placeholder"),
        node("k", op="Const"),
        node("y", "x", "k", control=("x",)),
        node("two", "y", outputs=2),
        node("z", "two:1", control=("y",)),
        node("n", op="NoOp", control=("z",), outputs=0),
        node("unused", "z"),
    ]
)


def step(feeds=(), fetches=(), targets=(), devices=CPU):
    return prune(GRAPH, devices, feeds, fetches, targets)


def names(graph):
    return [n.name for n in graph]


def test_only_what_a_fetch_needs_is_kept():
    got = step(fetches=["y:0"])
    assert names(got.graph) == ["x", "k", "y", "_send_y_0"]
    send = got.graph["_send_y_0"]
    assert (send.op, send.inputs, send.device) == ("_Send", (("y", 0),), CPU.client)
    assert send.attrs["tensor_name"] == "y:0"
    assert send.attrs["client_terminated"]
    assert got.fetches == (("y:0", "_send_y_0"),)


def test_a_fed_placeholder_goes_with_its_control_edges():
    got = step(["x:0"], ["z:0"])
    assert names(got.graph) == ["k", "y", "two", "z", "_recv_x_0", "_send_z_0"]
    assert got.graph["y"].inputs == (("_recv_x_0", 0), ("k", 0))
    assert got.graph["y"].control == ("_recv_x_0",)
    assert got.feeds == (("x:0", "_recv_x_0"),)


def test_another_fed_op_stays_if_something_waits_for_it():
    got = step(["x:0", "y:0"], ["z:0"])
    assert "y" in got.graph
    assert got.graph["two"].inputs == (("_recv_y_0", 0),)
    assert got.graph["z"].control == ("y",)


def test_an_output_is_fed_alone():
    got = step(["two:1"], ["unused:0", "two:0"])
    assert got.graph["z"].inputs == (("_recv_two_1", 0),)
    assert got.graph["_send_two_0"].inputs == (("two", 0),)


def test_a_feed_that_nothing_needs_is_dropped():
    got = step(["x:0"], ["k:0"])
    assert names(got.graph) == ["k", "_send_k_0"]
    assert got.feeds == ()


def test_a_local_session_numbers_its_feeds_and_fetches():
    got = step(["x:0", "k:0"], ["z:0", "y:0", "z:0"], ["n"], LOCAL)
    assert got.feeds == (("k:0", "_arg_k_0_0"), ("x:0", "_arg_x_0_1"))
    assert got.fetches == (("y:0", "_retval_y_0_0"), ("z:0", "_retval_z_0_1"))
    assert got.targets == ("n",)
    assert got.graph["_arg_x_0_1"].attrs["index"] == 1


@pytest.mark.parametrize(
    "feeds, fetches, targets, error, message",
    [
        ([], [], [], InvalidArgumentError, "Must specify at least one target to fetch or execute."),
        (["q:0"], ["y:0"], [], NotFoundError, "FeedInputs: unable to find feed output q:0"),
        (
            ["x:3"],
            ["y:0"],
            [],
            InvalidArgumentError,
            "x:3 should have output index < 1",
        ),
        ([], ["q:0"], [], NotFoundError, "FetchOutputs node q:0: not found"),
        (
            [],
            ["y:3"],
            [],
            InvalidArgumentError,
            "FetchOutputs y:3: output index too large, must be < 1",
        ),
        ([], ["n:0"], [], InvalidArgumentError, "Tried to fetch data for 'n:0', which produces no"),
        ([], [], ["q"], NotFoundError, "PruneForTargets: Some target nodes not found: q "),
        (["x:0", "x:0"], ["y:0"], [], InvalidArgumentError, 'Endpoint "x:0" fed more than once.'),
        (["x:0"], ["x:0"], [], InvalidArgumentError, "x:0 is both fed and fetched."),
    ],
)
def test_bad_names(feeds, fetches, targets, error, message):
    with pytest.raises(error) as caught:
        step(feeds, fetches, targets)
    assert message in str(caught.value)
