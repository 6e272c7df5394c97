"""What a task counts of the steps that it runs: their number and time, bytes and waiting by
transfer."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from minitf_runtime.plan.part import Part
from minitf_runtime.plan.rendezvous import Rendezvous, transfer_of

BLOCKED = ""  # in place of a receive node


@dataclass
class Counts:
    """Sums over the steps of a session on one task, those that run now included.

    received, waited: by the receive node of each transfer; `BLOCKED` stands for the ops that wait
    for another step. waiting: the longest wait that goes on. Several threads of a step may wait at
    once.
    """

    steps: int = 0
    running: int = 0
    seconds: float = 0.0
    received: dict[str, int] = field(default_factory=dict)
    waited: dict[str, float] = field(default_factory=dict)
    waiting: dict[str, float] = field(default_factory=dict)

    def add(self, names: Mapping[int, str], rdv: Rendezvous, seconds: float) -> None:
        """Adds a step, as far as it is."""
        self.seconds += seconds
        for transfer, nbytes, wait in rdv.counted():
            name = names[transfer]
            self.received[name] = self.received.get(name, 0) + nbytes
            self._wait(name, wait)
        if rdv.step.waited:
            self._wait(BLOCKED, rdv.step.waited)

    def add_waiting(self, names: Mapping[int, str], rdv: Rendezvous) -> None:
        """Adds the waiting that goes on in a step."""
        keys = [(transfer_of(key), wait) for key, wait in rdv.waiting().items()]
        now = [(names[transfer], wait) for transfer, wait in keys if transfer is not None]
        now += [(BLOCKED, wait) for wait in rdv.step.waiting()]
        for name, wait in now:
            self._wait(name, wait)
            self.waiting[name] = max(wait, self.waiting.get(name, 0.0))

    def _wait(self, name: str, seconds: float) -> None:
        self.waited[name] = self.waited.get(name, 0.0) + seconds


class Counter:
    """Counts the steps of a session on one task."""

    def __init__(self) -> None:
        self._done = Counts()
        self._running: dict[int, tuple[Mapping[int, str], Rendezvous, float]] = {}
        self._lock = threading.Lock()

    def begin(self, names: Mapping[int, str], rdv: Rendezvous) -> None:
        with self._lock:
            self._running[rdv.step.id] = names, rdv, time.monotonic()

    def end(self, step_id: int) -> None:
        """A step has run, well or not."""
        with self._lock:
            names, rdv, start = self._running.pop(step_id)
            self._done.add(names, rdv, time.monotonic() - start)
            self._done.steps += 1

    def counts(self) -> Counts:
        """The sums by now."""
        now = time.monotonic()
        with self._lock:
            done, running = self._done, list(self._running.values())
            made = Counts(
                done.steps,
                len(running),
                done.seconds,
                dict(done.received),
                dict(done.waited),
            )
        for names, rdv, start in running:
            made.add(names, rdv, now - start)
            made.add_waiting(names, rdv)
        return made


def transfer_names(part: Part) -> dict[int, str]:
    """The receive node of each transfer that comes to a part."""
    return {transfer: name for name, transfer in part.recvs.items()}
