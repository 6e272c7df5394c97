"""Task: registers parts and runs them. It decides nothing and knows no sockets."""

from __future__ import annotations

import random
import threading
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from minitf_runtime.devices.cpu import keep_freed_memory, let_blas_rest
from minitf_runtime.devices.gpu import ALL_GPUS, GpuOptions, find_gpus
from minitf_runtime.devices.name import parse_full
from minitf_runtime.devices.xla_cpu import XLA_CPU
from minitf_runtime.errors import AbortedError
from minitf_runtime.graph import Node
from minitf_runtime.ops.registry import load, op_def
from minitf_runtime.plan.compile import Program, compile_part
from minitf_runtime.plan.copies import Copies
from minitf_runtime.plan.counts import Counter, Counts, transfer_names
from minitf_runtime.plan.function import Functions
from minitf_runtime.plan.part import Part
from minitf_runtime.plan.rendezvous import Push, StepTable
from minitf_runtime.plan.rendezvous import Wait as WaitFor
from minitf_runtime.plan.specialize import Specialized
from minitf_runtime.plan.state import KernelNode, Resources
from minitf_runtime.plan.trace import TRACED, Trace, rendezvous
from minitf_runtime.plan.waits import Wait, waits_of
from minitf_runtime.threads import Signal


@dataclass
class _Session:
    """What a task keeps for a session: kernels with their state, and compiled parts."""

    resources: Resources
    kernels: dict[str, KernelNode] = field(default_factory=dict)
    graphs: dict[int, tuple[Specialized, dict[int, str]]] = field(default_factory=dict)
    counter: Counter = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)


class Task:
    """One task of a cluster, or the only task of a local session."""

    def __init__(
        self,
        name: str,
        cpus: int = 1,
        push: Push | None = None,
        gpus: GpuOptions = ALL_GPUS,
        wait: WaitFor = Signal.wait,
    ) -> None:
        keep_freed_memory()
        let_blas_rest()
        self.name = name
        self.gpus = find_gpus(_for_job(name, gpus))
        kinds = [*(f"CPU:{i}" for i in range(max(1, cpus))), f"{XLA_CPU}:0"]
        kinds += [f"GPU:{i}" for i in range(len(self.gpus))]
        self.devices = {f"{name}/device:{kind}": random.getrandbits(63) for kind in kinds}
        self.resources = Resources(parse_full(name).job or "")
        self.steps = StepTable(push, rendezvous, wait)
        self.wait = wait
        self._alone = push is None  # the task of one session, which is in the same process
        self._sessions: dict[str, _Session] = {}
        self._next_graph = 0
        self._copies: dict[str, Copies] = {}  # of the GPUs that something was placed on
        self._lock = threading.Lock()

    def describe(self) -> dict[str, int]:
        """The devices of this task and their incarnations."""
        return dict(self.devices)

    def create_session(self, handle: str, isolate: bool = False) -> None:
        resources = Resources(self.resources.default_container) if isolate else self.resources
        with self._lock:
            self._sessions[handle] = _Session(resources)

    def delete_session(self, handle: str) -> None:
        """Forgets a session, with the resources that nobody else can reach."""
        with self._lock:
            session = self._sessions.pop(handle, None)
        if session is None:
            return
        for node in list(session.kernels.values()):
            node.release()
        if self._alone or session.resources is not self.resources:
            session.resources.release()

    def register(self, handle: str, part: Part) -> int:
        """Compiles a part; the number it answers is what `run` takes."""
        load(n.op for nodes in part.nodes.values() for n in nodes)
        session = self._session(handle)
        compiled = Specialized(part, lambda part: self.compile(handle, part))
        with self._lock:
            self._next_graph += 1
            session.graphs[self._next_graph] = compiled, transfer_names(part)
            return self._next_graph

    def compile(self, handle: str, part: Part) -> list[Program]:
        """The programs of a part, not registered."""
        session = self._session(handle)
        functions = Functions(session.resources, part.passes)

        def kernel_node(node: Node) -> KernelNode:
            with session.lock:
                made = session.kernels.get(node.name)
                if made is None or not op_def(node.op).stateful:
                    made = functions.kernel_node(node)
                    session.kernels[node.name] = made
                return made

        return compile_part(part, kernel_node, self._copies_of)

    def memory(self) -> dict[str, tuple[int, int]]:
        """Bytes in use and bytes there are, of each GPU that something was placed on."""
        with self._lock:
            opened = dict(self._copies)
        return {name: copies.device.memory() for name, copies in opened.items()}

    def run(self, handle: str, graph: int, step_id: int, feeds: Sequence[Any]) -> list[Any]:
        """Runs a registered part in this thread. Raises the error that ended the step."""
        session = self._session(handle)
        executable, names = session.graphs[graph]
        rdv = self.steps.open(step_id)
        session.counter.begin(names, rdv)
        try:
            return executable.run(rdv, feeds)
        finally:
            session.counter.end(step_id)

    def counts(self) -> dict[str, Counts]:
        """What was counted of the steps of each session here."""
        with self._lock:
            sessions = dict(self._sessions)
        return {handle: session.counter.counts() for handle, session in sessions.items()}

    def waits(self) -> dict[int, list[Wait]]:
        """What the threads of each step do here at this moment."""
        return {rdv.step.id: waits_of(rdv) for rdv in self.steps.running()}

    def trace(self, step_id: int) -> Trace | None:
        """What this task saw of a traced step that has run and is not cleaned up."""
        return self.steps.open(step_id).trace if step_id & TRACED else None

    def deliver(self, step_id: int, key: Hashable, value: Any) -> None:
        self.steps.deliver(step_id, key, value)

    def cancel(self, step_id: int, error: BaseException | None = None) -> None:
        self.steps.cancel(step_id, error)

    def cleanup(self, step_id: int) -> None:
        self.steps.close(step_id)

    def reset(self, containers: Sequence[str]) -> None:
        """Drops the state of these containers (of the default one when none are named)."""
        self.resources.clear(list(containers))

    def _copies_of(self, device: str) -> Copies | None:
        """What brings values to a GPU, which is opened at the first call; None for other devices"""
        parsed = parse_full(device)
        if parsed.type != "GPU":
            return None
        with self._lock:
            if device not in self._copies:
                self._copies[device] = Copies(self.gpus.open(parsed.index or 0), device)
            return self._copies[device]

    def _session(self, handle: str) -> _Session:
        with self._lock:
            found = self._sessions.get(handle)
        if found is None:
            raise AbortedError(
                None,
                None,
                f"Session handle is not found: {handle}. Possibly this worker "
                f'("{self.name}") just restarted.',
            )
        return found


def _for_job(task: str, options: GpuOptions) -> GpuOptions:
    """A ps takes no GPU unless it is told how many: its variables are for workers to read."""
    if parse_full(task).job == "ps" and options.count < 0:
        return replace(options, count=0)
    return options
