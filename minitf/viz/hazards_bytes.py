"""Hazards of bytes and kernels: what crosses or sits where it need not."""

from __future__ import annotations

from collections.abc import Iterator

from minitf.viz.changes import ChangeRow, cheapest_changes
from minitf.viz.sizes import NOMINAL_BATCH
from minitf.viz.subject import Hazard, Subject, held, job_of, size_text
from minitf_runtime.devices.name import parse_full, parse_strict, short_device, task_of
from minitf_runtime.graph import Node
from minitf_runtime.passes.kernels import registered_types

MATTERS = 1_000_000  # bytes of variables below which nobody cares where they are


def table_crosses_whole(s: Subject) -> Iterator[Hazard]:
    for row in _changes(s):
        if _origin(s, row.tensor).role in ("variable", "slot"):
            yield Hazard(
                "whole-table",
                f"'{row.tensor}' crosses whole to {short_device(row.dst)}, {size_text(row.bytes)} "
                f"a step, because {row.op_type} '{row.op}' is asked there",
                row.at,
                f"{row.change} ({row.asked} at {row.asked_at}) it is {size_text(row.instead)} for "
                f"{NOMINAL_BATCH} examples; tf.nn.embedding_lookup looks up where the table is",
            )


def constant_crosses(s: Subject) -> Iterator[Hazard]:
    for row in _changes(s):
        if _origin(s, row.tensor).role not in ("variable", "slot"):
            yield Hazard(
                "large-constant",
                f"'{row.tensor}' never changes, and crosses to {short_device(row.dst)} in every "
                f"step: {size_text(row.bytes)}",
                s.line(row.op),
                f"make it {row.change}, or a variable there: {size_text(row.instead)} a step",
            )


def one_ps_holds_most(s: Subject) -> Iterator[Hazard]:
    servers = [t for t in s.tasks if job_of(t) == "ps"]
    loads = {t: [v for v in s.variables if task_of(v.device) == t] for t in servers}
    sums = {t: sum(map(held, variables)) for t, variables in loads.items()}
    everything = sum(sums.values())
    if len(servers) < 2 or everything < MATTERS:
        return
    fullest = max(servers, key=sums.__getitem__)
    if sums[fullest] <= everything * max(0.5, 1.5 / len(servers)):
        return
    largest = max(loads[fullest], key=held)
    spread = held(largest) < everything / 2
    yield Hazard(
        "one-ps",
        f"{short_device(fullest)} holds {size_text(sums[fullest])} of {size_text(everything)} of "
        f"variables on {len(servers)} parameter servers, '{largest.name}' alone "
        f"{size_text(held(largest))}",
        largest.source,
        "give replica_device_setter a ps_strategy: tf.contrib.training.GreedyLoadBalancingStrategy"
        if spread
        else f"split it: tf.fixed_size_partitioner({len(servers)})",
    )


def no_kernel_there(s: Subject) -> Iterator[Hazard]:
    """Soft placement hides these; without it the graph cannot be placed at all."""
    present = {parse_full(d).type for d in s.cut.devices.names}
    for n in s.cut.step:
        asked = s.graph[n.name].device if n.name in s.graph else ""
        name = parse_strict(asked) if asked else None
        kind = name.type if name else None
        if not kind or kind not in present or kind == parse_full(n.device).type:
            continue
        if kind not in (t for t, _ in registered_types(n)):
            yield Hazard(
                "no-kernel",
                f"{n.op} '{n.name}' is asked to '{asked}' and has no kernel for {kind}: soft "
                f"placement puts it on {n.device}",
                n.source,
                "ask for a CPU for this op: each such op makes its inputs and outputs cross",
            )


def _changes(s: Subject) -> list[ChangeRow]:
    soft = s.captured.options.allow_soft_placement
    return cheapest_changes(s.graph, s.cut, NOMINAL_BATCH, soft)


def _origin(s: Subject, tensor: str) -> Node:
    """What a tensor comes from, behind what only passes it on."""
    n = s.graph[tensor.split(":")[0]]
    while n.op == "Identity" and n.role not in ("variable", "slot"):
        n = s.graph[n.inputs[0][0]]
    return n
