"""Chains of reasons: that they lead to where TensorFlow 1.15.5 put each op, and what they say."""

from __future__ import annotations

import pytest

import minitf as tf
from minitf import viz
from minitf.viz.reasons import chain, read_why, ruled_out
from minitf_runtime.devices.name import DeviceName, parse_full, parse_strict
from minitf_runtime.graph import Graph
from minitf_runtime.passes.data import Devices
from minitf_runtime.passes.place import place
from passes import recorded
from passes.build import CPU, node, only_cpu

SPEC = {
    "scope", "colocate", "request", "reference", "resource", "override", "class", "ignored",
    "group", "pinned", "metadata", "generator", "soft", "default", "left",
}  # fmt: skip
PLACED = sorted(
    name
    for name, p in recorded.programs().items()
    if all(n["assigned"] for n in p["graph"]) and name != "sync_replicas_two"
)  # fmt: skip


def placement_of(name):
    program = recorded.programs()[name]
    return place(
        recorded.graph_of(program),
        recorded.devices_of(program),
        soft=recorded.soft(program),
        kernel_types=only_cpu,
    )


def replay(placement, name, devices, soft):
    """The device that the recorded reasons alone lead to: the rules of docs/placement.md anew."""
    placed = placement[name]
    rules = {r.rule for r in placed.why}
    last = placed.why[-1] if placed.why else None
    if last and last.rule in ("pinned", "metadata", "generator"):
        return replay(placement, last.node, devices, soft)
    requests = [r.device for r in placed.why if r.rule == "group"]
    if "override" not in rules:
        requests.insert(0, placed.asked)
    asked = DeviceName()
    for request in requests:
        asked = asked.merge(parse_strict(request), soft)
    if "soft" in rules:
        asked = DeviceName(asked.job, asked.replica, asked.task)
    return min(d for d in devices if asked.matches(parse_full(d)))


@pytest.mark.parametrize("name", PLACED)
def test_the_chain_leads_to_the_device_of_tensorflow(name):
    program = recorded.programs()[name]
    devices = recorded.devices_of(program).names
    placement = placement_of(name)
    for op in program["graph"]:
        got = replay(placement, op["name"], devices, recorded.soft(program))
        assert got == op["assigned"], op["name"]


@pytest.mark.parametrize("name", PLACED)
def test_a_chain_tells_rules_of_the_spec_and_ends_in_a_decision(name):
    placement = placement_of(name)
    for op in placement:
        links = list(chain(placement, op))
        assert {link.rule for link in links} <= SPEC
        assert links[-1].rule in ("default", "left")
        assert len(links) == len(set(links))


def test_there_are_enough_programs():
    assert len(PLACED) > 70


def rules(placement, name):
    return [(link.op, link.rule) for link in chain(placement, name)]


def test_an_update_follows_its_variable():
    graph = Graph([
        node("w", op="VariableV2", device="/job:ps/task:1", ref=True),
        node("value", device="/job:worker"),
        node("update", "w", "value", op="Assign", device="/job:worker", takes_ref=True),
    ])  # fmt: skip
    placement = place(graph, CPU, kernel_types=only_cpu)
    assert rules(placement, "update") == [
        ("update", "scope"),
        ("update", "reference"),
        ("update", "override"),
        ("update", "group"),
        ("update", "pinned"),
        ("w", "scope"),
        ("w", "left"),
    ]
    (outside,) = ruled_out(graph, placement, "update")
    assert outside.by == "request"
    assert outside.text == "outside '/job:ps/task:1', asked by 'w'"
    assert len(outside.devices) == 3


def test_requests_that_merge_are_all_told():
    graph = Graph([
        node("a", op="VariableV2", device="/job:ps", ref=True),
        node("b", "a", device="/task:1", takes_ref=True),
        node("c", "a", takes_ref=True),
    ])  # fmt: skip
    placement = place(graph, CPU, kernel_types=only_cpu)
    assert placement["c"].device == "/job:ps/replica:0/task:1/device:CPU:0"
    asked = [r.node for r in placement["c"].why if r.rule == "group"]
    assert asked == ["a", "b"]


def test_a_request_that_another_member_takes_away_is_told():
    """`v` asks for a worker; the op that also takes `w` brings it to the ps."""
    graph = Graph([
        node("w", op="VariableV2", device="/job:ps/task:0", ref=True),
        node("v", "k", op="Identity", device="/job:worker/task:0", ref=True),
        node("k"),
        node("both", "v", "w", op="Assign", takes_ref=True),
    ])  # fmt: skip
    both = graph["both"].with_(input_types=(graph["v"].output_types * 2))
    placement = place(Graph([*graph.nodes[:3], both]), CPU, kernel_types=only_cpu)
    assert placement["v"].device == placement["both"].device == placement["w"].device
    assert "override" in {r.rule for r in placement["v"].why}


def test_a_kernel_rules_devices_out():
    devices = Devices(
        ("/job:a/replica:0/task:0/device:CPU:0", "/job:a/replica:0/task:0/device:GPU:0")
    )
    graph = Graph([node("v", op="VariableV2", ref=True), node("u", "v", op="Up", takes_ref=True)])
    kernels = {"VariableV2": [("GPU", 0), ("CPU", 0)], "Up": [("CPU", 0)]}
    placement = place(graph, devices, kernel_types=lambda n: kernels[n.op])
    (only,) = ruled_out(graph, placement, "v")
    assert only.by == "kernel"
    assert only.text == "'u' (Up) has no kernel for GPU: TensorFlow has none either"
    assert only.devices == devices.names[1:]


def test_python_call(tmp_path):
    with tf.Graph().as_default() as graph:
        with tf.device("/job:ps/task:1"):
            v = tf.get_variable("v", [2])
        with tf.device("/job:worker/task:0"):
            tf.add(v, 1.0, name="sum")
        tf.no_op("free")
    why = viz.why(graph, "v/read:0")
    assert why.device == "/job:ps/replica:0/task:1/device:CPU:0"
    assert why.at.startswith(__file__)
    assert [link.op for link in why.links if link.rule == "scope"][0].startswith("v")
    free = viz.why(graph, "free")
    assert free.links[-1].text.startswith("default device of the session")
    with pytest.raises(viz.Unreadable, match="no op 'fre'; did you mean free"):
        viz.why(graph, "fre")
    with pytest.raises(viz.Unreadable, match="the graph has no ops"):
        viz.why(tf.Graph(), "x")


CLUSTER = {"ps": ["a:1", "a:2"], "worker": ["b:1"]}


def test_a_conflict_ends_the_chain_of_both():
    with tf.Graph().as_default() as graph:
        with tf.device("/job:ps/task:0"):
            a = tf.get_variable("a", [2], initializer=tf.zeros_initializer)
        with tf.device("/job:ps/task:1"):
            b = tf.get_variable("b", [2], initializer=tf.zeros_initializer)
        tf.no_op("early")
        with tf.colocate_with(a.op), tf.colocate_with(b.op):
            tf.placeholder(tf.float32, name="torn")
    why = viz.why(graph, "torn", cluster=CLUSTER)
    assert why.device == ""
    assert why.error.startswith("Cannot colocate nodes node torn (defined at")
    assert why.links[-1].rule == "conflict"
    assert why.links[-1].text.endswith("tasks: '/job:ps/task:0' and '/job:ps/task:1'")
    scopes = [link.text for link in why.links if link.rule == "scope"]
    assert scopes == ["with tf.device('/job:ps/task:0')", "with tf.device('/job:ps/task:1')"]
    other = viz.why(graph, "early", cluster=CLUSTER)
    assert [link.rule for link in other.links][0] == "stopped"
    assert other.links[-1] == why.links[-1]


def test_no_device_left():
    with tf.Graph().as_default() as graph, tf.device("/job:gone"):
        tf.no_op("lost")
    why = viz.why(graph, "lost", cluster=CLUSTER)
    assert [link.rule for link in why.links] == ["scope", "conflict"]
    assert why.links[-1].text == "no device is left for '/job:gone'"
    assert [r.by for r in why.ruled_out] == ["request"]
    assert len(why.ruled_out[0].devices) == 6


@pytest.mark.parametrize(
    ("device", "text"),
    [("/device:GPU:0", "no device is left"), ("/job:a:b", "is no device name")],
)
def test_other_conflicts(device, text):
    graph = tf.Graph()
    with graph.as_default():
        op = tf.no_op("lost")
    op._set_device(device)
    why = viz.why(graph, "lost", cluster=CLUSTER)
    assert text in why.links[-1].text
    assert (why.links[-1].rule, why.device) == ("conflict", "")


def test_what_the_cut_moves_is_told():
    """Switch runs where its data is, whatever the placer said."""
    cut = recorded.cut("cond_scattered")
    moved = [
        n.name
        for device, nodes in cut.parts.items()
        for n in nodes
        if n.name in cut.placement and cut.placement[n.name].device != device
    ]
    assert moved
    for name in moved:
        why = read_why(cut, name)
        assert why.links[-1].rule == "moved"
        assert name in {n.name for n in cut.parts[why.device]}
