"""The placer against what TensorFlow 1.15.5 did, and its rules one by one."""

from __future__ import annotations

import time

import pytest

from minitf_runtime import errors
from minitf_runtime.graph import Graph
from minitf_runtime.passes.data import Devices
from minitf_runtime.passes.place import place
from passes import recorded
from passes.build import CPU, node, only_cpu

MIXED = ("sync_replicas_two",)  # its record mixes the placements of two sessions
PLACED = [
    name
    for name, p in recorded.programs().items()
    if all(n["assigned"] for n in p["graph"]) and name not in MIXED
]
FAILED = [name for name, p in recorded.programs().items() if "error" in p]
SAYS_WHY = {
    "scope", "colocate", "request", "reference", "resource", "override", "class", "ignored",
    "group", "assigned", "pinned", "metadata", "generator", "soft", "default",
}  # fmt: skip


def short(placement):
    return {n: p.device.replace("/replica:0", "").replace("/device:CPU:0", "").replace(
        "/job:", "").replace("/task", "") for n, p in placement.items()}  # fmt: skip


@pytest.mark.parametrize("name", recorded.cases())
def test_case_with_gpus(name):
    case = recorded.cases()[name]
    graph, assigned, kernels = recorded.case_graph(case)

    def run():
        return place(
            graph,
            Devices(tuple(case["devices"])),
            soft=case["soft"],
            assigned=assigned,
            kernel_types=lambda n: list(kernels[n.name].items()),
        )

    if "error" in case:
        with pytest.raises(getattr(errors, case["error"]["class"])) as caught:
            run()
        for phrase in case["error"]["phrases"]:
            assert phrase in str(caught.value)
    else:
        got = run()
        wanted = {n: f"/job:a/replica:0/task:0/device:{d}" for n, d in case["expect"].items()}
        assert {n: got[n].device for n in wanted} == wanted


@pytest.mark.parametrize("name", PLACED)
def test_program(name):
    program = recorded.programs()[name]
    got = place(
        recorded.graph_of(program),
        recorded.devices_of(program),
        soft=recorded.soft(program),
        kernel_types=only_cpu,
    )
    assert {n["name"]: got[n["name"]].device for n in program["graph"]} == {
        n["name"]: n["assigned"] for n in program["graph"]
    }
    if "placement_order" in program:
        assert list(got) == program["placement_order"]
    assert all(p.why for p in got.values()) or len(recorded.devices_of(program).names) == 1
    assert {w.rule for p in got.values() for w in p.why} <= SAYS_WHY


@pytest.mark.parametrize("name", FAILED)
def test_program_that_cannot_be_placed(name):
    program = recorded.programs()[name]
    wanted = program["meta"]["error"]
    types = {"ApplyGradientDescent": []} if name == "err_no_kernel" else {}
    with pytest.raises(getattr(errors, wanted["class"])) as caught:
        place(
            recorded.graph_of(program),
            recorded.devices_of(program),
            soft=recorded.soft(program),
            kernel_types=lambda n: types.get(n.op, [("CPU", 0)]),
        )
    for phrase in wanted["phrases"]:
        assert phrase in str(caught.value)
    assert program["error"]["message"].split("(defined at")[0] in str(caught.value)
    assert caught.value.node in {n["name"] for n in program["graph"]}


def test_a_default_goes_to_the_first_device_by_name():
    got = place(Graph([node("a", op="VariableV2", ref=True)]), CPU, kernel_types=only_cpu)
    assert short(got) == {"a": "ps:0"}
    assert [w.rule for w in got["a"].why] == ["default"]


def test_reasons_follow_a_reference_to_its_variable():
    graph = Graph([
        node("w", op="VariableV2", device="/job:ps/task:1", ref=True),
        node("value", device="/job:worker"),
        node("update", "w", "value", op="Assign", device="/job:worker", takes_ref=True),
    ])  # fmt: skip
    got = place(graph, CPU, kernel_types=only_cpu)
    assert short(got) == {"w": "ps:1", "update": "ps:1", "value": "worker:0"}
    why = {w.rule: w for w in got["update"].why}
    assert list(why) == ["scope", "reference", "override", "group", "pinned"]
    assert why["reference"].text == "takes 'w' by reference"
    assert why["override"].text == "its request '/job:worker' gives way to that of 'w'"
    assert why["group"].text == "its group is asked to '/job:ps/task:1' by 'w'"


def test_a_class_that_cannot_hold_is_an_error_or_under_soft_placement_ignored():
    graph = Graph([
        node("a", "k", device="/job:ps/task:0"),
        node("b", "k", device="/job:ps/task:1"),
        node("c", "k", colocate=("a", "b")),
        node("k"),
    ])  # fmt: skip
    with pytest.raises(errors.InvalidArgumentError) as caught:
        place(graph, CPU, kernel_types=only_cpu)
    assert (
        "Cannot colocate nodes node c (defined at model.py:1) placed on device No device "
        "assignments were active during op 'c' creation.  and node b (defined at model.py:1) "
        "placed on device Device assignments active during op 'b' creation:\n  with tf.device"
    ) in str(caught.value)
    got = place(graph, CPU, soft=True, kernel_types=only_cpu)
    assert short(got)["c"] == "ps:0"
    assert "ignored" in {w.rule for w in got["c"].why}


def test_what_was_placed_before_stays():
    graph = Graph([node("v", op="VariableV2", ref=True), node("r", "v", colocate=("v",))])
    device = "/job:worker/replica:0/task:1/device:CPU:0"
    got = place(graph, CPU, assigned={"v": device}, kernel_types=only_cpu)
    assert short(got) == {"v": "worker:1", "r": "worker:1"}
    with pytest.raises(errors.InternalError, match="does not match any device"):
        place(graph, CPU, assigned={"v": device.replace("1", "7")}, kernel_types=only_cpu)


def test_no_devices():
    with pytest.raises(errors.FailedPreconditionError, match="No devices are registered"):
        place(Graph([node("a")]), Devices(()), kernel_types=only_cpu)


def test_malformed_request():
    graph = Graph([node("a", device="/job:1ps/task:0")])
    with pytest.raises(errors.InvalidArgumentError, match="Malformed device specification"):
        place(graph, CPU, kernel_types=only_cpu)


def test_no_kernel_names_what_there_is():
    with pytest.raises(errors.InvalidArgumentError) as caught:
        place(Graph([node("a")]), CPU, kernel_types=lambda n: [("TPU", 0)])
    assert "No OpKernel was registered to support Op 'Add' used by node a" in str(caught.value)
    assert "Registered devices: [CPU]" in str(caught.value)


@pytest.mark.parametrize(
    "request_, phrase",
    [
        ("/job:ps/device:CPU:3", "was explicitly assigned to /job:ps/device:CPU:3 but available"),
        ("/device:GPU:0", "appears to be a GPU, but CUDA is not enabled"),
        ("/device:TPU:*", "was explicitly assigned to /device:TPU:*"),
    ],
)
def test_no_such_device(request_, phrase):
    with pytest.raises(errors.InvalidArgumentError) as caught:
        place(Graph([node("a", device=request_)]), CPU, kernel_types=only_cpu)
    assert "Cannot assign a device for operation a: node a (defined at" in str(caught.value)
    assert phrase in str(caught.value)


def test_a_group_that_asks_for_a_device_that_is_not_there():
    graph = Graph([
        node("k"), node("a", "k", device="/job:ps/task:0"), node("b", "k", device="/device:CPU:7"),
        node("d", "k", colocate=("a", "b")),
    ])  # fmt: skip
    with pytest.raises(errors.InvalidArgumentError) as caught:
        place(graph, CPU, kernel_types=only_cpu)
    assert "operation a: Could not satisfy explicit device specification '/job:ps/task:0'" in str(
        caught.value
    )
    assert "required incompatible device '/job:ps/task:0/device:CPU:7'" in str(caught.value)
    assert "  b (Add) /device:CPU:7" in str(caught.value)


def test_large_graphs_take_linear_time():
    nodes = [node("w", op="VariableV2", device="/job:ps", ref=True)]
    for i in range(20_000):
        nodes.append(node(f"c{i}", op="Const"))
        nodes.append(node(f"n{i}", "w", f"c{i}", takes_ref=i % 2 == 0, colocate=("w",)))
    start = time.perf_counter()
    got = place(Graph(nodes), CPU, kernel_types=only_cpu)
    assert time.perf_counter() - start < 5
    assert {p.device for p in got.values()} == {"/job:ps/replica:0/task:0/device:CPU:0"}
