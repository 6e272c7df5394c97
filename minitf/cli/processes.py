"""The processes of a local cluster: started, shown with a prefix per task, and always ended."""

from __future__ import annotations

import ctypes
import json
import os
import queue
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

GRACE_SECONDS = 3.0
COLOURS = (36, 33, 32, 35, 34, 31)
PORTS = range(10000, 32000)  # below those that systems give to outgoing connections

Hosts = Mapping[str, Sequence[str]]  # job -> address of each task


def free_addresses(count: int) -> list[str]:
    """Addresses on ports of this machine that nobody listens on."""
    found: list[str] = []
    for port in random.sample(PORTS, len(PORTS)):
        if len(found) == count:
            break
        with socket.socket() as s, suppress(OSError):
            s.bind(("127.0.0.1", port))
            found.append(f"127.0.0.1:{port}")
    return found


@dataclass(frozen=True)
class Child:
    """One task's process. `number` is its place in the cluster."""

    job: str
    index: int
    number: int
    process: subprocess.Popen[bytes]

    @property
    def name(self) -> str:
        return f"{self.job}:{self.index}"


class Processes:
    """`with Processes() as p:` ends every process at the end of the block, whatever happens.

    `show(child, line)` gets the output of the tasks; without it the lines are printed.
    """

    def __init__(self, show: Callable[[Child, str], None] | None = None) -> None:
        self._show = show or _print_with_prefix
        self._show_lock = threading.Lock()
        self._children: list[Child] = []
        self._readers: dict[Child, threading.Thread] = {}
        self._ended: queue.Queue[Child] = queue.Queue()

    def __enter__(self) -> Processes:
        self._old = signal.signal(signal.SIGTERM, _as_interrupt)
        return self

    def __exit__(self, *exc: Any) -> None:
        self._end([c for c in self._children if c.process.poll() is None])
        for reader in self._readers.values():
            reader.join(GRACE_SECONDS)
        for child in self._children:
            if child.process.stdout is not None:
                child.process.stdout.close()
        signal.signal(signal.SIGTERM, self._old)

    def start(self, job: str, index: int, command: Sequence[str], hosts: Hosts) -> None:
        """Runs Python with these arguments as that task."""
        task = {"cluster": dict(hosts), "task": {"type": job, "index": index}}
        env = os.environ | {"TF_CONFIG": json.dumps(task), "PYTHONUNBUFFERED": "1"}
        process = subprocess.Popen(
            [sys.executable, *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=env,
            start_new_session=True,  # Ctrl-C comes to us alone, and we end the rest in order
            preexec_fn=_die_with_parent,
        )
        self._children.append(Child(job, index, len(self._children), process))

    def start_all(self, hosts: Hosts, command: Callable[[str, int], Sequence[str]]) -> None:
        """Runs every task of the cluster; command(job, index) gives Python's arguments."""
        for job, addresses in hosts.items():
            for index in range(len(addresses)):
                self.start(job, index, command(job, index), hosts)

    def watch(self, timeout: float = 0) -> int:
        """Waits for the workers, then ends the rest; the first failing task's status is ours."""
        for child in self._children:  # not before: a process with threads should not fork
            self._readers[child] = _thread(self._read, child)
            _thread(self._wait, child)
        deadline = time.monotonic() + timeout if timeout else None
        working = {c.name for c in self._children if c.job != "ps"}
        while working:
            try:
                left = None if deadline is None else max(0.0, deadline - time.monotonic())
                child = self._ended.get(timeout=left)
            except queue.Empty:
                print(f"minitf: not done after {timeout:g} s, ending all tasks", file=sys.stderr)
                return 124
            self._readers[child].join(GRACE_SECONDS)  # what it has said comes before our verdict
            if child.process.returncode:
                return _failed(child)
            working.discard(child.name)
        return 0

    def _read(self, child: Child) -> None:
        """Shows a task's lines as they come."""
        assert child.process.stdout is not None
        for line in child.process.stdout:
            with self._show_lock, suppress(BrokenPipeError):
                self._show(child, line.decode(errors="replace").rstrip("\r\n"))

    def _wait(self, child: Child) -> None:
        child.process.wait()
        self._ended.put(child)

    def _end(self, children: list[Child]) -> None:
        for child in children:
            _signal(child, signal.SIGTERM)
        deadline = time.monotonic() + GRACE_SECONDS
        for child in children:
            try:
                child.process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                _signal(child, signal.SIGKILL)
                child.process.wait()


def prefix(child: Child, colour: bool) -> str:
    """What stands before a task's lines."""
    text = f"[{child.name}] "
    return f"\033[{COLOURS[child.number % len(COLOURS)]}m{text}\033[0m" if colour else text


def _print_with_prefix(child: Child, line: str) -> None:
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    print(prefix(child, colour) + line, flush=True)


def _failed(child: Child) -> int:
    """Says how a task ended; the exit status as a shell gives it."""
    status = child.process.returncode
    how = f"status {status}" if status > 0 else f"signal {signal.Signals(-status).name}"
    print(f"minitf: {child.name} ended with {how}, ending all tasks", file=sys.stderr)
    return status if status > 0 else 128 - status


def _thread(work: Callable[[Child], None], child: Child) -> threading.Thread:
    thread = threading.Thread(target=work, args=(child,), daemon=True)
    thread.start()
    return thread


def _signal(child: Child, number: int) -> None:
    """To the task and what it has started itself."""
    with suppress(ProcessLookupError):
        os.killpg(child.process.pid, number)


def _as_interrupt(number: int, frame: Any) -> None:
    raise KeyboardInterrupt


def _die_with_parent() -> None:
    """Linux: a task does not outlive a launcher that is killed."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
