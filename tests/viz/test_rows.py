"""The rows of a training step: ops by role, transfers by meaning, where minimize() landed."""

from __future__ import annotations

import json

import pytest

from minitf.viz.rows import (
    as_json,
    device_roles,
    edge_rows,
    landing_rows,
    op_rows,
    short,
    sum_rows,
)
from minitf_runtime.graph import Graph
from minitf_runtime.passes.pipeline import partition_graph
from passes import recorded
from passes.build import only_cpu

# The roles that the client gives; the record of TensorFlow has none.
ROLES = (
    ("gradients/", "gradient"),
    ("W/Adagrad", "slot"),
    ("b/Adagrad", "slot"),
    ("Adagrad", "apply"),
    ("W", "variable"),
    ("b", "variable"),
    ("global_step", "variable"),
    ("init", "init"),
)


@pytest.fixture(scope="module")
def cut():
    program = recorded.programs()["seed_step"]
    graph = recorded.graph_of(program)
    roles = {
        n.name: next((role for prefix, role in ROLES if n.name.startswith(prefix)), "forward")
        for n in graph
    }
    return partition_graph(
        Graph(n.with_(role=roles[n.name]) for n in graph),
        recorded.devices_of(program),
        feeds=program["feeds"],
        targets=["Adagrad"],
        kernel_types=only_cpu,
    )


def test_transfers_by_meaning(cut):
    assert [
        f"{short(r.src)} -> {short(r.dst)} {r.tensor} {r.meaning} {r.shape} {r.bytes}"
        for r in edge_rows(cut)
    ] == [
        "ps:0 -> worker:0 W/read parameter 4x1 16",
        "ps:1 -> worker:0 b/read parameter 1 4",
        "worker:0 -> ps:0 Adagrad/learning_rate hyper-parameter scalar 4",
        "worker:0 -> ps:1 Adagrad/learning_rate hyper-parameter scalar 4",
        "worker:0 -> ps:0 gradients/MatMul_grad/tuple/control_dependency_1 gradient 4x1 16",
        "worker:0 -> ps:1 gradients/add_grad/tuple/control_dependency_1 gradient 1 4",
        "ps:0 -> worker:0 Adagrad/update/NoOp control - 0",
        "ps:1 -> worker:0 Adagrad/update/NoOp_1 control - 0",
        "worker:0 -> ps:0 Adagrad/update control - 0",
    ]


def test_every_transfer_has_a_reason(cut):
    for row in edge_rows(cut):
        assert row.consumers
        assert row.why[0].startswith(f"'{row.consumers[0].removeprefix('^')}' (")


def test_sums_by_direction(cut):
    sums = sum_rows(edge_rows(cut))
    assert [(short(s.src), short(s.dst), s.messages, s.bytes) for s in sums] == [
        ("ps:0", "worker:0", 2, 16),
        ("ps:1", "worker:0", 2, 4),
        ("worker:0", "ps:0", 3, 20),
        ("worker:0", "ps:1", 2, 8),
    ]
    assert sum(s.messages for s in sums) == 9
    assert sum(s.bytes for s in sums) == 48
    assert not any(s.unknown for s in sums)


def test_where_minimize_landed(cut):
    landed = {(r.part, short(r.device)): r.ops for r in landing_rows(cut)}
    assert set(landed) == {("computes", "worker:0"), ("applies", "ps:0"), ("applies", "ps:1")}
    assert landed["applies", "ps:0"] == ("Adagrad/update_W/ApplyAdagrad", "Adagrad")
    assert landed["applies", "ps:1"] == ("Adagrad/update_b/ApplyAdagrad",)
    assert "gradients/MatMul_grad/MatMul_1" in landed["computes", "worker:0"]


def test_ops_by_device_and_role(cut):
    rows = op_rows(cut)
    assert {r.name for r in rows} == {n.name for n in cut.step if n.name in cut.placement}
    roles = {short(d): counts for d, counts in device_roles(rows).items()}
    assert set(roles["worker:0"]) == {"forward", "gradient", "apply"}
    assert roles["ps:1"] == {"variable": 2, "slot": 1, "apply": 2}
    assert all(r.why for r in rows)


def test_rows_are_plain(cut):
    rows = json.loads(json.dumps(as_json(cut)))
    assert len(rows["transfers"]) == 9
    assert rows["targets"] == ["Adagrad"]
    assert len(rows["feeds"]) == 2
