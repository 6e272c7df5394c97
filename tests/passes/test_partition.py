"""The cut against what TensorFlow 1.15.5 did, and its rules one by one."""

from __future__ import annotations

import numpy as np
import pytest

from minitf_runtime.devices.name import short_device
from minitf_runtime.errors import InvalidArgumentError
from minitf_runtime.graph import Graph
from minitf_runtime.ops import registry
from minitf_runtime.ops.registry import OPS, Arg, Kernel, OpDef
from minitf_runtime.passes.data import Devices
from minitf_runtime.passes.pipeline import (
    partition_graph,
    partition_placed,
    place_graph,
    with_devices,
)
from minitf_runtime.passes.rewrite import rewrite
from minitf_runtime.passes.verify import verify_partitioned
from passes import recorded
from passes.build import CPU, device, node, only_cpu
from passes.canonical import Canonical


@pytest.mark.parametrize("name", recorded.with_part("partitions"))
def test_program(name):
    program = recorded.programs()[name]
    got = recorded.cut(name)
    verify_partitioned(got, "partition")
    canonical = Canonical(got)
    parts = canonical.parts()
    assert sorted(parts) == sorted(program["partitions"])
    for where, wanted in program["partitions"].items():
        plain = [{**n, "op": n["op"].replace("_Host", "_")} for n in wanted]
        assert parts[where] == plain
    assert sorted(canonical.edges, key=key) == sorted(map(comparable, program["edges"]), key=key)


def comparable(edge):
    return {k: v for k, v in edge.items() if k not in ("shape", "host")}


def key(edge):
    return [str(edge[k]) for k in sorted(edge) if k != "relay"]


PS, WORKER = "/job:ps/task:0", "/job:worker/task:0"


def step(*nodes, targets, devices=CPU, **kw):
    got = partition_graph(
        Graph(nodes), devices, targets=targets, kernel_types=kw.pop("kernels", only_cpu), **kw
    )
    verify_partitioned(got, "partition")
    return got


def shown(edge):
    what = f"^{edge.src}" if edge.kind == "control" else f"{edge.src}:{edge.slot}"
    here, there = short_device(edge.src_device), short_device(edge.dst_device)
    return f"{what} {here} -> {there} for {', '.join(edge.consumers)}"


def test_a_tensor_crosses_once_to_each_task_and_control_apart_from_data():
    got = step(
        node("w", op="Const", device=PS),
        node("a", "w", device=WORKER),
        node("b", "w", "a", control=("w",), device=WORKER),
        node("c", "w", control=("w",), device="/job:ps/task:1"),
        targets=["b", "c"],
    )
    assert [shown(e) for e in got.edges] == [
        "w:0 ps:0 -> worker:0 for a, b",
        "^w ps:0 -> worker:0 for ^b",
        "w:0 ps:0 -> ps:1 for c",
        "^w ps:0 -> ps:1 for ^c",
    ]
    assert [e.nbytes for e in got.edges] == [4, 0, 4, 0]


def test_an_edge_tells_why_it_crosses():
    got = step(node("w", op="Const", device=PS), node("a", "w", device=WORKER), targets=["a"])
    (edge,) = got.edges
    assert [f"{w.rule} {w.at}" for w in edge.why] == ["consumer model.py:1", "scope model.py:9"]
    assert edge.why[0].text == "'a' (Add) takes it there"


def test_a_reference_crosses_once_for_each_use_after_the_other_inputs():
    got = step(
        node("v", op="VariableV2", ref=True, device=PS),
        node("k", op="Const", device=WORKER),
        node("a", "v", "v", "k", control=("k",), device=WORKER),
        targets=["a"],
    )
    assert [shown(e) for e in got.edges] == ["v:0 ps:0 -> worker:0 for a"] * 2
    recvs = [n for n in got.parts[device("worker:0")] if n.op == "_Recv"]
    assert [n.control for n in recvs] == [("k",), ("k",)]


def test_inside_a_task_a_tensor_is_relayed():
    two = Devices((device("worker:0"), device("ps:0"), device("ps:0", 1)))
    got = step(
        node("x", op="Const", device=WORKER),
        node("a", "x", device=PS + "/cpu:1"),
        node("b", "x", device=PS + "/cpu:0"),
        targets=["a", "b"],
        devices=two,
    )
    first, second = got.edges
    assert shown(first) == f"x:0 worker:0 -> ps:0/CPU:1 for {second.send}, a"
    assert shown(second) == "x:0 ps:0/CPU:1 -> ps:0 for b"
    assert (first.relay, second.relay) == (False, True)
    assert first.send.startswith("x_S") and second.send.startswith("x_S")
    assert second.send.rpartition("_")[2].startswith("G")


def test_the_counter_goes_on_and_names_in_use_are_left_out():
    graph = Graph([node("w", op="Const", device=PS), node("w_S1", "w", device=WORKER)])
    placement = place_graph(graph, CPU, kernel_types=only_cpu)
    whole = with_devices(graph, placement)
    names = []
    counter = 0
    for _ in range(2):
        got, counter = partition_placed(whole, placement, CPU, targets=["w_S1"], counter=counter)
        names += [(e.send, e.recv) for e in got.edges]
    assert names == [("w_S0", "w_S2"), ("w_S3", "w_S4")]
    assert counter == 5


def test_a_missing_input(monkeypatch):
    monkeypatch.delenv("MINITF_VERIFY")  # as for users: the cut itself tells
    bad = node("a", "k", "k").with_(inputs=(("k", 0),))
    with pytest.raises(InvalidArgumentError, match="Incomplete graph, missing 1 inputs for a"):
        step(node("k", op="Const"), bad, targets=["a"])


def loop(where, *, pivot=True, frame="f"):
    """A loop whose body sits elsewhere."""
    yield node("start", op="Const", device=WORKER)
    yield node("enter", "start", op="Enter", device=WORKER, frame_name=frame)
    yield node("merge", "enter", "next", op="Merge", device=WORKER)
    if pivot:
        yield node("cond", "merge", op="LoopCond", device=WORKER)
    yield node(
        "switch", "merge", "cond" if pivot else "merge", op="Switch", device=WORKER, outputs=2
    )
    yield node("body", "switch:1", device=where)
    yield node("next", "body", op="NextIteration", device=WORKER)
    yield node("exit", "switch", op="Exit", device=WORKER)


def test_a_loop_over_devices_needs_a_predicate():
    with pytest.raises(InvalidArgumentError, match="must have a pivot predicate: f"):
        step(*loop(PS, pivot=False), targets=["exit"])
    got = step(*loop(WORKER, pivot=False), targets=["exit"])
    assert got.edges == ()


def test_the_inputs_of_a_node_must_be_in_one_frame():
    nodes = [*loop(PS), node("bad", "start", "body", device=WORKER)]
    with pytest.raises(InvalidArgumentError) as caught:
        step(*nodes, targets=["bad", "exit"])
    assert "node bad has inputs from different frames" in str(caught.value)
    with pytest.raises(InvalidArgumentError, match="The Enter node enter must have a frame name"):
        step(*loop(PS, frame=""), targets=["exit"])


def test_control_flow_moves_to_its_data():
    got = step(
        node("x", op="Const", device=PS),
        node("p", op="Const", device=WORKER),
        node("s", "x", "p", op="Switch", device=WORKER, outputs=2),
        node("use", "s", device=WORKER),
        targets=["use"],
    )
    assert short_device(got.placement["s"].device) == "worker:0"
    assert [shown(e) for e in got.edges] == [
        "p:0 worker:0 -> ps:0 for s",
        "s:0 ps:0 -> worker:0 for use",
    ]


def test_an_accumulator_is_taken_apart_but_not_inside_a_loop():
    graph = Graph([node("a", op="Const"), node("sum", "a", "a", op="AccumulateNV2")])
    names = [f"sum/Internal/_{i}" for i in range(7)]
    assert [n.name for n in rewrite(graph)] == ["a", *names, "sum"]
    assert rewrite(graph)["sum"].op == "DestroyTemporaryVariable"
    assert rewrite(graph)["sum"].control == ("sum/Internal/_5", "sum/Internal/_6")
    assert np.array_equal(rewrite(graph)["sum/Internal/_2"].attrs["value"], np.float32(0))
    inside = [
        n.with_(op="AccumulateNV2", device="") if n.name == "body" else n for n in loop(WORKER)
    ]
    assert rewrite(Graph(inside))["body"].op == "AddN"
    plain = Graph([node("a", op="Const")])
    assert rewrite(plain) is plain


def test_on_a_gpu_host_memory_is_a_place_of_its_own(monkeypatch):
    """An input that the kernel wants in host memory makes a pair, also inside the GPU."""
    arg = Arg("x", type_attr="T")
    fn = lambda xp: None  # noqa: E731
    kernels = [Kernel(fn, "GPU"), Kernel(fn, "CPU")]
    onto_host = [Kernel(fn, "GPU", host_inputs=frozenset("x")), Kernel(fn, "CPU")]
    monkeypatch.setitem(OPS, "Make", OpDef("Make", (), (arg,), {}, kernels=kernels))
    monkeypatch.setitem(OPS, "Use", OpDef("Use", (arg,), (), {}, kernels=kernels))
    monkeypatch.setattr(registry, "host_arguments", lambda op, attrs: frozenset())
    monkeypatch.setitem(OPS, "Look", OpDef("Look", (arg,), (), {}, kernels=onto_host))
    gpu = WORKER + "/device:GPU:0"
    devices = Devices((device("worker:0"), gpu.replace("/task", "/replica:0/task"), device("ps:0")))
    got = step(
        node("here", op="Make", device=gpu),
        node("there", op="Make", device=PS),
        node("use", "here", op="Use", device=gpu),
        node("look", "here", op="Look", device=gpu),
        node("use_there", "there", op="Use", device=gpu),
        node("look_there", "there", op="Look", device=gpu),
        targets=["use", "look", "use_there", "look_there"],
        devices=devices,
        kernels=lambda n: [("GPU", 0), ("CPU", 0)],
    )
    assert sorted(shown(e) for e in got.edges) == [
        "here:0 worker:0/GPU:0 -> worker:0/GPU:0 for look",
        "there:0 ps:0 -> worker:0/GPU:0 for look_there",
        "there:0 ps:0 -> worker:0/GPU:0 for use_there",
    ]
    part = {n.name: n for n in got.parts[devices.names[1]]}
    inner = next(e for e in got.edges if e.src == "here")
    assert part[inner.recv].op == "_HostRecv"
    assert part[inner.recv].control == (inner.send,)
