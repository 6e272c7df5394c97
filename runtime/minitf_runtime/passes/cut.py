"""One cut: placed nodes come apart by location, with a Send and a Recv where an edge crosses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from minitf_runtime.devices.name import parse_full
from minitf_runtime.graph import CONTROL, Graph, Node
from minitf_runtime.passes.kernels import HOST_TYPES, input_on_host, output_on_host
from minitf_runtime.passes.loops import NewName, is_control_merge
from minitf_runtime.types import DType, Shape, float32

# source node, its output (or CONTROL), destination, whether it arrives in host memory
_Key = tuple[str, int, str, bool]


@dataclass(frozen=True)
class Pair:
    """A Send, its Recv, and what they carry. `end` is the node that consumers take it from."""

    src: str
    slot: int
    src_device: str
    dst_device: str
    dtype: DType
    shape: Shape
    tensor_name: str
    send: str
    recv: str
    end: str


@dataclass
class _Draft:
    """A node under way: the cut rewires its inputs."""

    node: Node
    inputs: list[tuple[str, int]] = field(default_factory=list)
    control: dict[str, None] = field(default_factory=dict)  # ordered, each once

    def finish(self) -> Node:
        inputs, control = tuple(self.inputs), tuple(self.control)
        if inputs == self.node.inputs and control == self.node.control:
            return self.node
        return self.node.with_(inputs=inputs, control=control)


@dataclass
class _Arrivals:
    """What a node takes, for the reads of references that must wait for all the rest."""

    references: list[_Draft] = field(default_factory=list)
    others: list[str] = field(default_factory=list)


def cut(
    nodes: Sequence[Node],
    location: Callable[[str], str],
    new_name: NewName,
    incarnations: Mapping[str, int],
    crossings: Mapping[str, tuple[str, int]],
) -> tuple[dict[str, list[Node]], list[Pair]]:
    """The nodes of each location in the order they were made, and the pairs between locations.

    location(device) tells where a device is. crossings: see loops.Looped.
    """
    used = {n.device for n in nodes}
    if len(used) == 1 and _type(device := used.pop()) in HOST_TYPES:
        return {location(device): list(nodes)}, []
    work = _Cut(nodes, location, new_name, incarnations, crossings)
    for n in nodes:
        work.take(n)
    return {where: [d.finish() for d in part] for where, part in work.parts.items()}, work.pairs


class _Cut:
    def __init__(
        self,
        nodes: Sequence[Node],
        location: Callable[[str], str],
        new_name: NewName,
        incarnations: Mapping[str, int],
        crossings: Mapping[str, tuple[str, int]],
    ) -> None:
        self.graph = Graph(nodes)
        self.location = location
        self.new_name = new_name
        self.incarnations = incarnations
        self.crossings = crossings
        self.parts: dict[str, list[_Draft]] = {}
        self.pairs: list[Pair] = []
        self.known: dict[_Key, str] = {}
        self.edges = 0

    def take(self, n: Node) -> None:
        """Adds a node to its part, and pairs for those of its inputs that come from elsewhere."""
        draft = self._add(n)
        arrivals = _Arrivals()
        turn, turns = self._loop_control(n)
        for slot, (source, index) in enumerate(n.inputs):
            turns -= self._connect(draft, source, index, slot, arrivals, turn)
        for source in n.control:
            if not is_control_merge(self.graph[source]):
                turns -= self._connect(draft, source, CONTROL, CONTROL, arrivals, turn)
        for recv in arrivals.references:
            recv.control.update(dict.fromkeys(arrivals.others))
        if turns > 0:
            draft.control[turn] = None

    def _loop_control(self, n: Node) -> tuple[str, int]:
        """The control Merge that starts the node's receives, and how many are foreseen."""
        if n.name in self.crossings:
            return self.crossings[n.name]
        for source in n.control:
            if is_control_merge(self.graph[source]):
                return source, 1
        return "", 0

    def _connect(
        self, draft: _Draft, source: str, index: int, slot: int, arrivals: _Arrivals, turn: str
    ) -> bool:
        """Wires one input; tells whether it made a pair that left its device."""
        src, dst = self.graph[source], draft.node
        self.edges += 1
        here = self.location(src.device) == self.location(dst.device)
        is_ref = index != CONTROL and src.output_types[index].is_ref
        if here and not self._changes_memory(src, index, dst, slot):
            _wire(draft, source, index)
            if not is_ref:
                arrivals.others.append(source)
            return False
        key = (source, index, self.location(dst.device), self._arrives_on_host(dst, slot))
        if key in self.known:
            _wire(draft, self.known[key], CONTROL if index == CONTROL else 0)
            arrivals.others.append(self.known[key])
            return False
        recv, send, end = self._pair(src, index, dst, slot)
        if here:
            recv.control[send] = None  # else the receive could run before there is anything to take
        elif turn:
            recv.control[turn] = None
        if is_ref:
            arrivals.references.append(recv)
        else:
            self.known[key] = end
            arrivals.others.append(end)
        _wire(draft, end, CONTROL if index == CONTROL else 0)
        return not here

    def _pair(self, src: Node, index: int, dst: Node, slot: int) -> tuple[_Draft, str, str]:
        """Adds a Send and a Recv. Returns the Recv, the Send's name and that of the end to use."""
        control = index == CONTROL
        sent = (self._token(src), 0) if control else (src.name, index)
        dtype = float32 if control else dst.input_types[slot].base
        shape = (0,) if control else src.output_shapes[index]
        key = f"edge_{self.edges}_{src.name}"
        attrs = {
            "tensor_name": key,
            "send_device": src.device,
            "recv_device": dst.device,
            "send_device_incarnation": self.incarnations.get(src.device, 0),
            "client_terminated": False,
        }
        from_host = not control and output_on_host(src, index, _type(src.device))
        to_host = not control and input_on_host(dst, slot, _type(dst.device))
        op = "_HostSend" if from_host else "_Send"
        send = self._make(src, op, src.device, {"T": dtype, **attrs}, takes=dtype)
        send.inputs.append(sent)
        op = "_HostRecv" if to_host else "_Recv"
        received = {"tensor_type": dtype, **attrs}
        recv = self._make(src, op, dst.device, received, gives=dtype, shape=shape)
        end = self._arrived(src, recv.node) if control else recv.node.name
        names = send.node.name, recv.node.name, end
        self.pairs.append(Pair(src.name, index, src.device, dst.device, dtype, shape, key, *names))
        return recv, send.node.name, end

    def _token(self, src: Node) -> str:
        """An empty Const that can be sent once `src` is done."""
        attrs = {"value": np.zeros(0, np.float32), "dtype": float32}
        token = self._make(src, "Const", src.device, attrs, gives=float32, shape=(0,))
        token.control[src.name] = None
        return token.node.name

    def _arrived(self, src: Node, recv: Node) -> str:
        """An Identity of a received token, for consumers to wait for."""
        attrs = {"T": float32}
        end = self._make(src, "Identity", recv.device, attrs, float32, float32, (0,))
        end.inputs.append((recv.name, 0))
        return end.node.name

    def _make(
        self,
        src: Node,
        op: str,
        device: str,
        attrs: Mapping[str, Any],
        takes: DType | None = None,
        gives: DType | None = None,
        shape: Shape = None,
    ) -> _Draft:
        """Adds a node of the cut's own, named after the source of its edge."""
        return self._add(
            Node(
                self.new_name(src.name),
                op,
                device=device,
                attrs=attrs,
                input_types=() if takes is None else (takes,),
                output_types=() if gives is None else (gives,),
                output_shapes=() if gives is None else (shape,),
                source=src.source,
                role=src.role,
            )
        )

    def _add(self, n: Node) -> _Draft:
        draft = _Draft(n)
        self.parts.setdefault(self.location(n.device), []).append(draft)
        return draft

    def _changes_memory(self, src: Node, index: int, dst: Node, slot: int) -> bool:
        """Whether an edge inside a device leads from its own memory to host memory or back."""
        if index == CONTROL or src.device != dst.device or _type(src.device) in HOST_TYPES:
            return False
        kind = _type(src.device)
        return output_on_host(src, index, kind) != input_on_host(dst, slot, kind)

    def _arrives_on_host(self, dst: Node, slot: int) -> bool:
        kind = _type(dst.device)
        return kind in HOST_TYPES or (slot != CONTROL and input_on_host(dst, slot, kind))


def _wire(draft: _Draft, source: str, index: int) -> None:
    if index == CONTROL:
        draft.control[source] = None
    else:
        draft.inputs.append((source, index))


def _type(device: str) -> str:
    return parse_full(device).type or "CPU"
