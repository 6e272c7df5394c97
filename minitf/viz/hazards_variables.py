"""Hazards of variables: replicas that do not share them, and reads that race with writes."""

from __future__ import annotations

from collections.abc import Iterator

from minitf.default import GraphKeys
from minitf.viz.subject import VARIABLES, Hazard, Subject
from minitf_runtime.devices.name import short_device, task_of
from minitf_runtime.graph import CONTROL, Graph, Node
from minitf_runtime.passes.ids import NEXT_ITERATIONS, sources

READS = frozenset(("ReadVariableOp", "ResourceGather", "ResourceGatherNd"))  # by their handle
# Take a variable by reference or handle, but not its value.
NEITHER = frozenset(
    "IsVariableInitialized VarIsInitializedOp VariableShape Switch RefSwitch Enter RefEnter".split()
)


def variable_on_worker(s: Subject) -> Iterator[Hazard]:
    if s.other is None:
        return
    shared = {v.op.name for v in s.captured.graph.get_collection(GraphKeys.GLOBAL_VARIABLES)}
    theirs = {v.name: task_of(v.device) for v in s.other.variables}
    for v in s.variables:
        at_home = task_of(v.device) == s.own_task and theirs.get(v.name) == s.other.own_task
        if v.name in shared and at_home and s.own_task != s.other.own_task:
            yield Hazard(
                "variable-on-worker",
                f"'{v.name}' is on {short_device(v.device)}: each worker has one of its own, and "
                "no worker sees what another has learnt",
                v.source,
                "make it under tf.device(tf.train.replica_device_setter(...)), or local: "
                "collections=[tf.GraphKeys.LOCAL_VARIABLES]",
            )


def order_differs(s: Subject) -> Iterator[Hazard]:
    if s.other is None:
        return
    theirs = {v.name: v for v in s.other.variables}
    for v in s.variables:
        twin = theirs.get(v.name)
        if twin is None or task_of(v.device) == s.own_task:
            continue
        if task_of(v.device) != task_of(twin.device):
            yield Hazard(
                "variable-order",
                f"'{v.name}' is on {short_device(v.device)} for {short_device(s.own_task)} and on "
                f"{short_device(twin.device)} for {short_device(s.other.own_task)}: the workers "
                "make their variables in different orders",
                v.source,
                "make the same variables in the same order on every worker, also those that only "
                "the chief needs",
            )
            return


def unordered_access(s: Subject) -> Iterator[Hazard]:
    """A read that may come before or after a write of the same step.

    The global step is left out: schedules and averages bear being one step off.
    """
    step = s.cut.step
    kept = s.captured.graph.get_collection(GraphKeys.GLOBAL_STEP)
    counters = {v.op.name for v in kept} or {"global_step"}  # as tf.train.get_global_step does
    pairs = [
        (v, read, write)
        for v in step
        if v.op in VARIABLES and v.name not in counters
        for writes, reads in [_accesses(step, v)]
        for write in writes
        for read in reads
    ]
    before = _ancestors_among(step, {n.name for _, *both in pairs for n in both})
    seen = set()
    for v, read, write in pairs:
        ordered = read.name in before[write.name] or write.name in before[read.name]
        if not ordered and (v.name, read.name) not in seen:
            seen.add((v.name, read.name))
            yield Hazard(
                "unordered",
                f"nothing orders the read of '{v.name}' by '{read.name}' and its write by "
                f"'{write.name}' ({write.source}): it reads the old value or the new one",
                read.source,
                "read under tf.control_dependencies([...]) of the write, or before it",
            )


def _accesses(step: Graph, v: Node) -> tuple[list[Node], list[Node]]:
    """The ops that write a variable, not in a branch of a cond, and those that take its value."""
    writes, reads = [], []
    for n, slot, _ in step.consumers(v.name):
        if slot == CONTROL or n.op in NEITHER:
            continue
        by_reference = v.op == "VarHandleOp" or n.input_types[slot].is_ref
        (writes if by_reference and n.op not in READS else reads).append(n)
    return writes, reads


def _ancestors_among(step: Graph, wanted: set[str]) -> dict[str, set[str]]:
    """For each of some ops those others of them that it waits for."""
    bits = {name: 1 << i for i, name in enumerate(sorted(wanted))}
    masks = dict.fromkeys((n.name for n in step), 0)
    changed = True
    while changed:  # one round is enough, but for what comes round a loop
        changed = False
        for n in step:
            mask = masks[n.name]
            for source in sources(n):
                mask |= masks[source] | bits.get(source, 0)
            changed |= mask != masks[n.name] and n.op in NEXT_ITERATIONS
            masks[n.name] = mask
    return {name: {other for other, bit in bits.items() if masks[name] & bit} for name in wanted}
