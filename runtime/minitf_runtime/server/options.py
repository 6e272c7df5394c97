"""What a client says of a session and of a run, and what it gets back. Loads nothing that runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from minitf_runtime.devices.gpu import ALL_GPUS, GpuOptions
from minitf_runtime.graph import Node
from minitf_runtime.plan.choice import chosen_passes

if TYPE_CHECKING:
    from minitf_runtime.plan.trace import NodeStats


@dataclass(frozen=True)
class SessionOptions:
    """What a session is made with (TF: ConfigProto); `timeout` in seconds, 0 for none."""

    cpus: int = 1
    allow_soft_placement: bool = False
    log_device_placement: bool = False
    device_filters: tuple[str, ...] = ()
    timeout: float = 0.0
    isolate_session_state: bool = False
    recv_scheduling: bool = False
    passes: tuple[str, ...] = field(default_factory=chosen_passes)
    gpus: GpuOptions = ALL_GPUS


@dataclass(frozen=True)
class RunOptions:
    """Options of one run; `timeout` in seconds wins over the session's."""

    timeout: float = 0.0
    partition_graphs: bool = False
    trace: bool = False


@dataclass(frozen=True)
class RunResult:
    """Fetched values in the order asked for, and what RunOptions asked to see."""

    values: list[Any]
    parts: Mapping[str, Sequence[Node]] | None = None  # device -> nodes as cut
    stats: Mapping[str, Sequence[NodeStats]] | None = None  # device -> what ran there
