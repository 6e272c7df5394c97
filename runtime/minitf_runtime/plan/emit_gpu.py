"""Programs of a GPU: as on a CPU, with a line for each copy from and to host memory.

What is in host memory, the registry says: passes/cut.py has made a pair of Send and Recv wherever a
value goes from one memory to the other, also within the device.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitf_runtime.graph import Node
from minitf_runtime.passes.kernels import output_on_host
from minitf_runtime.plan.copies import Copies
from minitf_runtime.plan.emit import Emitter
from minitf_runtime.plan.trace import TracedEmitter


class GpuEmitter(Emitter):
    """The program of one GPU and strand under construction."""

    def __init__(self, *args: Any, copies: Copies, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.copies = copies
        self.names.update(
            np=np,
            xp=copies.device.xp,
            to_device=copies.to_device,
            copy_and_send=copies.copy_and_send,
            copy_and_send_to=copies.copy_and_send_to,
        )

    def _receive(self, n: Node) -> None:
        super()._receive(n)
        if n.op == "_Recv":
            name = self._use(self.values[n.name, 0])
            self._line(f"{name} = to_device({name})", n)

    def _send_code(self, n: Node, value: str, counters: tuple[str, ...]) -> str:
        if n.op == "_HostSend":
            return super()._send_code(n, value, counters)
        transfer, task = self.part.sends[n.name]
        key = self._key(transfer, counters)
        if task == self.part.task:
            return f"copy_and_send(rdv, {key}, {value})"
        return f"copy_and_send_to(rdv, {task!r}, {key}, {value})"

    def _constant(self, n: Node) -> str:
        value = n.attrs["value"]
        if output_on_host(n, 0, self.device_type):
            return super()._constant(n)
        with self.copies.device:
            return self._bind("c", self.copies.to_device(value))


class TracedGpuEmitter(TracedEmitter, GpuEmitter):
    """Waits for the device after each op: the time of an op is then its own."""

    def _call(self, n: Node) -> None:
        super()._call(n)
        self.names["synchronize"] = self.copies.device.synchronize
        self._line("synchronize()", None)
