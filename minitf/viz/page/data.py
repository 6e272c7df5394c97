"""The values that the page reads, as plain JSON: the rows of the text output and how they hang
together. Nothing is analysed here."""

from __future__ import annotations

import linecache
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from minitf.viz.rows import (
    ROLES,
    EdgeRow,
    LandingRow,
    OpRow,
    edges_with_rows,
    landing_rows,
    op_rows,
    short,
)
from minitf_runtime.devices.name import parse_full
from minitf_runtime.errors import InternalError
from minitf_runtime.graph import Node
from minitf_runtime.passes.data import Edge, Partitioned
from minitf_runtime.passes.literals import show_tensor
from minitf_runtime.types import DType

MINIMIZE_ROLES = ("gradient", "apply", "slot")  # of the ops that minimize() makes
LONGEST = 120  # characters of an attribute's value
FEW = 16  # elements of an array that are shown

Strings = dict[str, int]  # text -> its place in the table of texts


def model(cut: Partitioned, title: str) -> dict[str, Any]:
    """All that the page shows of a step. Ops and transfers are known by their position."""
    rows = op_rows(cut)
    pairs = edges_with_rows(cut)
    index = {row.name: i for i, row in enumerate(rows)}
    devices = {device: i for i, device in enumerate(sorted(cut.parts))}
    strings: Strings = {}
    ops = _ops(cut, rows, index, devices, strings)
    return {
        "title": title,
        "roles": list(ROLES),
        "minimize": {
            "roles": list(MINIMIZE_ROLES),
            "landed": [_landing(row, index, devices) for row in landing_rows(cut)],
        },
        "devices": [_device(name) for name in devices],
        "ops": ops,
        "transfers": [_transfer(edge, row, index, devices) for edge, row in pairs],
        "events": _events(cut, index, {e.send: i for i, (e, _) in enumerate(pairs)}),
        "lines": {row.source: line for row in rows if (line := _code(row.source))},
        "strings": list(strings),
    }


def _device(name: str) -> dict[str, str]:
    parsed = parse_full(name)
    task = f"{parsed.job}:{parsed.task}"
    return {
        "name": name,
        "short": short(name),
        "task": task,
        "unit": f"{parsed.type}:{parsed.index}",
    }


def _ops(
    cut: Partitioned,
    rows: list[OpRow],
    index: Mapping[str, int],
    devices: Mapping[str, int],
    strings: Strings,
) -> dict[str, list[Any]]:
    """A list for each column; texts by their place in `strings`."""
    fed = {node: tensor for tensor, node in cut.feeds}
    nodes = [cut.step[row.name] for row in rows]

    def ids(texts: Iterable[str]) -> list[int]:
        return [strings.setdefault(text, len(strings)) for text in texts]

    return {
        "name": [row.name for row in rows],
        "op": ids(row.op for row in rows),
        "device": [devices[row.device] for row in rows],
        "role": [ROLES.index(row.role) for row in rows],
        "source": ids(row.source for row in rows),
        "why": [ids(row.why) for row in rows],
        "inputs": [[_input(name, slot, index, fed) for name, slot in n.inputs] for n in nodes],
        "control": [[index.get(c, c) for c in n.control] for n in nodes],
        "outputs": [ids(map(show_tensor, n.output_types, n.output_shapes)) for n in nodes],
        "attrs": [ids(_attrs(n)) for n in nodes],
    }


def _input(
    name: str, slot: int, index: Mapping[str, int], fed: Mapping[str, str]
) -> list[int] | str:
    """An input as [op, output of it], or the name of a tensor that is fed."""
    return [index[name], slot] if name in index else fed.get(name, name)


def _attrs(n: Node) -> Iterator[str]:
    for name, value in n.attrs.items():
        text = _value(value)
        yield f"{name} = {text if len(text) <= LONGEST else text[:LONGEST] + ' …'}"


def _value(value: Any) -> str:
    """An attribute's value for people; a big array by its type and shape alone."""
    if isinstance(value, np.ndarray):
        if value.size > FEW:
            return f"{value.dtype}[{','.join(map(str, value.shape))}]"
        return str(value.tolist())
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value[:FEW]))}{', …' if len(value) > FEW else ''}]"
    return value.name if isinstance(value, DType) else str(value)


def _landing(
    row: LandingRow, index: Mapping[str, int], devices: Mapping[str, int]
) -> dict[str, Any]:
    return {
        "optimizer": row.optimizer,
        "device": devices[row.device],
        "part": row.part,
        "ops": len(row.ops),
        "variables": [index[name] for name in dict.fromkeys(row.variables)],
    }


def _transfer(
    edge: Edge, row: EdgeRow, index: Mapping[str, int], devices: Mapping[str, int]
) -> dict[str, Any]:
    """A row of the wire, and which ops are its ends: null where the end is no op of the graph."""
    users = (index.get(c.removeprefix("^")) for c in edge.consumers)
    return {
        "tensor": row.tensor,
        "kind": row.kind,
        "src": devices[row.src],
        "dst": devices[row.dst],
        "meaning": row.meaning,
        "of": row.of,
        "dtype": row.dtype,
        "shape": row.shape,
        "bytes": row.bytes,
        "why": row.why,
        "consumers": row.consumers,
        "maker": index.get(edge.src),
        "users": [user for user in users if user is not None],
    }


def _events(cut: Partitioned, index: Mapping[str, int], sends: Mapping[str, int]) -> dict[str, Any]:
    """The step in an order in which the plan may run it.

    what: a letter for each event, "o" an op runs, "s" a transfer leaves, "r" it is taken in;
    which: the op or the transfer.
    """
    receives = {e.recv: sends[e.send] for e in cut.edges}
    shown = {name: ("o", i) for name, i in index.items()}
    shown |= {name: ("s", i) for name, i in sends.items()}
    shown |= {name: ("r", i) for name, i in receives.items()}
    twin = {e.recv: e.send for e in cut.edges}
    events = [shown[name] for name in _in_turn(cut, twin) if name in shown]
    return {"what": "".join(kind for kind, _ in events), "which": [i for _, i in events]}


def _in_turn(cut: Partitioned, twin: Mapping[str, str]) -> Iterator[str]:
    """The nodes of all devices, one of each in turn; a receive waits until its send has run."""
    lists = [deque(n.name for n in cut.parts[device]) for device in sorted(cut.parts)]
    done: set[str] = set()
    while any(lists):
        before = len(done)
        for names in lists:
            if names and (names[0] not in twin or twin[names[0]] in done):
                done.add(names[0])
                yield names.popleft()
        if len(done) == before:
            raise InternalError(None, None, "The devices of the step wait for each other")


def _code(source: str) -> str:
    """The text of a line "file.py:31" of the user's; "" where it cannot be read.

    Only of Python files: a graph from elsewhere may name any file of this machine.
    """
    file, _, line = source.rpartition(":")
    if not file.endswith(".py") or not line.isdecimal():
        return ""
    return linecache.getline(file, int(line)).strip()
