"""Random graphs: every part of a cut runs to its end, and together they compute the whole."""

from __future__ import annotations

import random

import pytest

from minitf_runtime.graph import Graph, Node
from minitf_runtime.passes.data import RECVS, SENDS, Devices
from minitf_runtime.passes.pipeline import partition_graph
from minitf_runtime.passes.text import read_partitioned, write_partitioned
from minitf_runtime.passes.verify import verify_partitioned
from passes.build import device, node, only_cpu

CLUSTER = Devices(
    tuple(device(task, cpu) for task in ("worker:0", "ps:0", "ps:1") for cpu in range(2))
)
LOCAL = Devices(tuple(f"/job:localhost/replica:0/task:0/device:CPU:{i}" for i in range(3)), True)


def random_graph(rng, devices):
    """Variables, their updates, control edges, several outputs, feeds: whatever a cut may meet."""
    nodes, values, variables = [], [], []
    for i in range(rng.randint(2, 40)):
        where = rng.choice(devices.names) if rng.random() < 0.8 else ""
        name = f"n{i}"
        if not values or rng.random() < 0.15:
            op = rng.choice(("Const", "Placeholder"))
            nodes.append(node(name, op=op, device=where, **({"value": i} if op == "Const" else {})))
        elif rng.random() < 0.15:
            nodes.append(node(name, op="VariableV2", device=where, ref=True))
            variables.append(name)
            continue
        else:
            outputs = rng.randint(1, 2)
            takes_ref = bool(variables) and rng.random() < 0.2
            inputs = [rng.choice(values + variables) for _ in range(rng.randint(1, 3))]
            if takes_ref:
                inputs[0] = rng.choice(variables)
            control = rng.sample([n.name for n in nodes], min(len(nodes), rng.randint(0, 2)))
            nodes.append(
                node(
                    name,
                    *inputs,
                    device=where,
                    control=control,
                    takes_ref=takes_ref,
                    outputs=outputs,
                )
            )
        values += [f"{name}:{k}" for k in range(len(nodes[-1].output_types))]
    return Graph(nodes), values


def run_parts(cut):
    """Runs all parts side by side, each in its order; a receive waits for its send."""
    wire, terms, done = {}, {}, set()
    at = dict.fromkeys(cut.parts, 0)
    moved = True
    while moved:
        moved = False
        for where, nodes in cut.parts.items():
            while at[where] < len(nodes):
                n = nodes[at[where]]
                if n.op in RECVS and not n.attrs["client_terminated"]:
                    if key(n) not in wire:
                        break
                    terms[n.name] = wire[key(n)]
                elif n.op in SENDS and not n.attrs["client_terminated"]:
                    wire[key(n)] = value(terms, n.inputs[0])
                else:
                    terms[n.name] = n
                assert all(c in done for c in n.control)
                done.add(n.name)
                at[where] += 1
                moved = True
    return {where: len(nodes) - at[where] for where, nodes in cut.parts.items()}, terms


def key(n):
    return tuple(n.attrs[k] for k in ("send_device", "recv_device", "tensor_name"))


def value(terms, tensor):
    """What a tensor is, seen through transfers."""
    source, index = tensor
    found = terms[source]
    return (source, index) if isinstance(found, Node) else found


@pytest.mark.parametrize("seed", range(100))
def test_a_random_cut(seed):
    rng = random.Random(seed)
    devices = rng.choice((CLUSTER, LOCAL))
    graph, values = random_graph(rng, devices)
    free = [n.name for n in graph if n.op == "Placeholder"]
    feeds = {f"{name}:0" for name in free} | set(rng.sample(values, min(2, len(values))))
    fetches = set(rng.sample(values, min(3, len(values)))) - feeds
    targets = rng.sample([n.name for n in graph], 1)
    cut = partition_graph(
        graph,
        devices,
        feeds=feeds,
        fetches=fetches,
        targets=targets,
        soft=True,
        kernel_types=only_cpu,
    )
    verify_partitioned(cut, "partition")
    unfinished, terms = run_parts(cut)
    assert not any(unfinished.values())
    for n in cut.step:
        ran = terms.get(n.name)
        if n.op in SENDS:
            continue
        inputs = [value(terms, tensor) for tensor in ran.inputs]
        assert inputs == [(s, i) for s, i in n.inputs]
    text = write_partitioned(cut)
    assert write_partitioned(read_partitioned(text)) == text
