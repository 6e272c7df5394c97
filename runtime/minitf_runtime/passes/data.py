"""The values that passes hand on: devices, placements, edges and the partitioned graph itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from minitf_runtime.graph import Graph, Node, Reason
from minitf_runtime.types import DType, Shape, nbytes, string

SENDS = ("_Send", "_HostSend")
RECVS = ("_Recv", "_HostRecv")


@dataclass(frozen=True)
class Devices:
    """The devices that a session may use, full names; the first is the client device.

    `local` is a session without servers (TF: DirectSession): feeds and fetches are _Arg and
    _Retval, and the cut is by device alone.
    """

    names: tuple[str, ...]
    local: bool = False
    incarnations: Mapping[str, int] = field(default_factory=dict)

    @property
    def client(self) -> str:
        return self.names[0]


@dataclass(frozen=True)
class Fit:
    """The devices that a request and a list of device types leave; nodes share these values.

    candidates: the preferred one first; `equals` of them are of its type. unasked: those that the
    request rules out. no_kernel: those of a type that not all of a group have kernels for.
    """

    asked: str
    types: tuple[tuple[str, int], ...]  # (device type, kernel priority), the preferred type first
    candidates: tuple[str, ...]
    equals: int
    unasked: tuple[str, ...]
    no_kernel: tuple[str, ...]


class Placed(NamedTuple):
    """Where a node is, and every rule that led there, in the order applied.

    asked: its own request. fit: what its group could have when it was placed; None if it was
    placed before. lacks: (device type, the member of its group that has no kernel for it). A node
    that could not be placed has no device.
    """

    device: str
    why: tuple[Reason, ...] = ()
    asked: str = ""
    fit: Fit | None = None
    lacks: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Edge:
    """A transfer: one _Send/_Recv pair. `src:slot` is the tensor (slot -1: control)."""

    kind: str  # "data" or "control"
    src: str
    slot: int
    src_device: str
    dst_device: str
    dtype: DType
    shape: Shape
    tensor_name: str  # the key on the wire: edge_<id>_<src>
    send: str  # node names of the pair
    recv: str
    consumers: tuple[str, ...]  # nodes that use it; "^x" by a control edge
    relay: bool = False  # the sender itself received the tensor from another task
    why: tuple[Reason, ...] = ()

    @property
    def nbytes(self) -> int | None:
        """Bytes of its contents; None where the shape is not known, and for strings."""
        if self.kind == "control":
            return 0
        return None if self.dtype.base is string else nbytes(self.dtype, self.shape)


@dataclass(frozen=True)
class Partitioned:
    """A step, placed and cut. Everything that runs, shows or explains a step reads this.

    whole:      the client's graph, all nodes placed (device = full assigned name)
    placement:  node of `whole` -> where and why
    step:       what the feeds and fetches need of it, with feed and fetch nodes
    parts:      device -> its nodes, cutter nodes included, in one global topological order
    edges:      every transfer
    feeds:      (tensor name, feed node) in sorted order; fetches: (tensor name, fetch node)
    strands:    node -> strand, for nodes that are not in strand 0. Those of strand 0 wait for no
                other step; each other strand holds the nodes that follow one set of blocking ops
                and may run beside the rest
    """

    whole: Graph
    placement: Mapping[str, Placed]
    step: Graph
    parts: Mapping[str, tuple[Node, ...]]
    edges: tuple[Edge, ...]
    feeds: tuple[tuple[str, str], ...] = ()
    fetches: tuple[tuple[str, str], ...] = ()
    targets: tuple[str, ...] = ()
    strands: Mapping[str, int] = field(default_factory=dict)
    devices: Devices = Devices(("/job:localhost/replica:0/task:0/device:CPU:0",), True)
