"""The processes of a local cluster: started, shown with a prefix per task, and always ended."""

from __future__ import annotations

import ctypes
import json
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

GRACE_SECONDS = 3.0
COLOURS = (36, 33, 32, 35, 34, 31)


def free_addresses(count: int) -> list[str]:
    """Addresses on ports of this machine that nobody listens on."""
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    addresses = [f"127.0.0.1:{s.getsockname()[1]}" for s in sockets]
    for s in sockets:
        s.close()
    return addresses


class Child:
    """One task's process."""

    def __init__(self, job: str, index: int, process: subprocess.Popen[bytes]) -> None:
        self.job = job
        self.index = index
        self.process = process
        self.name = f"{job}:{index}"


class Processes:
    """`with Processes() as p:` ends every process at the end of the block, whatever happens."""

    def __init__(self) -> None:
        self._children: list[Child] = []
        self._ended: queue.Queue[Child] = queue.Queue()
        self._readers: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ

    def __enter__(self) -> Processes:
        self._old = signal.signal(signal.SIGTERM, _as_interrupt)
        return self

    def __exit__(self, *exc: Any) -> None:
        self._end([c for c in self._children if c.process.poll() is None])
        for reader in self._readers:
            reader.join(GRACE_SECONDS)
        for child in self._children:
            if child.process.stdout is not None:
                child.process.stdout.close()
        signal.signal(signal.SIGTERM, self._old)

    def start(
        self,
        job: str,
        index: int,
        script: str,
        args: Sequence[str],
        hosts: dict[str, list[str]],
    ) -> None:
        """Runs the script as that task."""
        task = {"cluster": hosts, "task": {"type": job, "index": index}}
        env = os.environ | {"TF_CONFIG": json.dumps(task), "PYTHONUNBUFFERED": "1"}
        process = subprocess.Popen(
            [sys.executable, script, *args],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=env,
            start_new_session=True,  # Ctrl-C comes to us alone, and we end the rest in order
            preexec_fn=_die_with_parent,
        )
        self._children.append(Child(job, index, process))

    def watch(self, timeout: float = 0) -> int:
        """Waits for the workers, then ends the rest; the first failing task's status is ours."""
        for child in self._children:  # not before: a process with threads should not fork
            reader = threading.Thread(target=self._read, args=(child,), daemon=True)
            self._readers.append(reader)
            reader.start()
        deadline = time.monotonic() + timeout if timeout else None
        working = {c.name for c in self._children if c.job != "ps"}
        while working:
            try:
                left = None if deadline is None else max(0.0, deadline - time.monotonic())
                child = self._ended.get(timeout=left)
            except queue.Empty:
                print(f"minitf: not done after {timeout:g} s, ending all tasks", file=sys.stderr)
                return 124
            status = child.process.returncode
            if status:
                return self._failed(child, status)
            working.discard(child.name)
        return 0

    def _failed(self, child: Child, status: int) -> int:
        how = f"status {status}" if status > 0 else f"signal {signal.Signals(-status).name}"
        print(f"minitf: {child.name} ended with {how}, ending all tasks", file=sys.stderr)
        return status if status > 0 else 128 - status

    def _read(self, child: Child) -> None:
        """Shows a task's lines as they come."""
        prefix = self._prefix(child)
        assert child.process.stdout is not None
        for line in child.process.stdout:
            with self._lock, suppress(BrokenPipeError):
                text = line.decode(errors="replace").rstrip("\n")
                print(prefix + text, flush=True)
        child.process.wait()
        self._ended.put(child)

    def _prefix(self, child: Child) -> str:
        text = f"[{child.name}] "
        if not self._colour:
            return text
        place = self._children.index(child)
        return f"\033[{COLOURS[place % len(COLOURS)]}m{text}\033[0m"

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
