"""Which ops that may wait each node follows; a branch or a loop is never cut into strands."""

from __future__ import annotations

import pytest

from minitf_runtime.ops.registry import OPS, OpDef
from minitf_runtime.passes.strands import blocked_by
from passes.build import node


@pytest.fixture(autouse=True)
def waits(monkeypatch):
    """An op that may wait for another step."""
    monkeypatch.setitem(OPS, "Wait", OpDef("Wait", (), (), {}, blocking=True))


def follows(*nodes, twin=None):
    found = blocked_by(nodes, twin or {})
    return {name: "".join(sorted(ops)) for name, ops in found.items()}


def cond(*branches, prefix=""):
    """A cond on `p`: Switch `s`, what the branches hold, Merge `m` of the branches' ends."""
    switch = node(f"{prefix}s", f"{prefix}x", f"{prefix}p", op="Switch")
    ends = [branch[-1].name for branch in branches]
    return [switch, *(n for b in branches for n in b), node(f"{prefix}m", *ends, op="Merge")]


def test_nodes_follow_what_their_inputs_follow():
    assert follows(
        node("a"), node("w", op="Wait"), node("b", "w"), node("v", op="Wait"), node("c", "b", "v")
    ) == {"a": "", "w": "w", "b": "w", "v": "v", "c": "vw"}


def test_both_branches_follow_what_one_of_them_has():
    nodes = [
        node("x"),
        node("p"),
        *cond([node("f", "s")], [node("w", "s:1", op="Wait"), node("t", "w")]),
        node("after", "m"),
        node("apart", "x"),
    ]
    assert follows(*nodes) == {
        "x": "", "p": "", "s": "w", "f": "w", "w": "w", "t": "w", "m": "w", "after": "w",
        "apart": "",
    }  # fmt: skip


def test_a_branch_without_such_an_op_stays_in_strand_0():
    nodes = [
        node("x"),
        node("p"),
        *cond([node("f", "s")], [node("t", "s:1")]),
        node("w", op="Wait"),
    ]
    assert {k for k, v in follows(*nodes).items() if v} == {"w"}


def test_two_conds_are_apart():
    first = cond([node("f", "s")], [node("t", "s:1")])
    second = cond([node("2f", "2s")], [node("2w", "2s:1", op="Wait"), node("2t", "2w")], prefix="2")
    nodes = [node("x"), node("p"), *first, node("2x", "m"), node("2p"), *second]
    assert {k for k, v in follows(*nodes).items() if v} == {"2s", "2f", "2w", "2t", "2m"}


def test_nested_branches_are_one():
    inner = cond([node("2f", "2s")], [node("2t", "2s:1")], prefix="2")
    outer = cond(
        [node("f", "s"), node("2x", "f"), node("2p", "f"), *inner],
        [node("w", "s:1", op="Wait"), node("t", "w")],
    )
    found = follows(node("x"), node("p"), *outer)
    assert {k for k, v in found.items() if not v} == {"x", "p"}


def test_a_transfer_hands_on_the_branch():
    nodes = [
        node("x"),
        node("p"),
        node("s", "x", "p", op="Switch"),
        node("send", "s:1", op="_Send"),
        node("recv", op="_Recv"),
        node("t", "recv"),
        node("w", "recv", op="Wait"),
    ]
    found = follows(*nodes, twin={"recv": "send"})
    assert {k for k, v in found.items() if v} == {"s", "send", "recv", "t", "w"}


def loop(*body):
    return [
        node("enter", "x", op="Enter", frame_name="loop"),
        node("merge", "enter", "next", op="Merge"),
        node("c", "merge"),
        node("s", "merge", "c", op="Switch"),
        *body,
        node("next", body[-1].name if body else "s:1", op="NextIteration"),
        node("exit", "s", op="Exit"),
    ]


def test_all_of_a_loop_follows_what_its_body_has():
    nodes = [node("x"), *loop(node("w", "s:1", op="Wait")), node("after", "exit")]
    found = follows(*nodes)
    assert {k for k, v in found.items() if not v} == {"x"}


def test_what_follows_a_loop_is_no_branch_of_it():
    nodes = [node("x"), *loop(), node("after", "exit"), node("w", "after", op="Wait")]
    assert {k for k, v in follows(*nodes).items() if v} == {"w"}
