"""How fast tensors go to a GPU, from it, and from one to another, beside what the link can do.

The limit of a link is measured here and now, by the barest copy of as many bytes: between pinned
memory and the device, or through a socket between two processes.
"""

from __future__ import annotations

import ctypes
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import minitf as tf
from minitf_runtime.devices.gpu import ALL_GPUS, FAKES, find_gpus

# The least share of the link's rate that is right. On the way up a tensor is copied to pinned
# memory first; the wire is behind a copy from one device and before one to the other.
SHARES = {"host to GPU": 0.15, "GPU to host": 0.5, "GPU to GPU by wire": 0.25}
ROUNDS = 3
MB = 1 << 20
SEND = """
import socket, sys
there = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
data = bytearray(int(sys.argv[2]))
while there.recv(1):
    there.sendall(data)
"""


def check_rates(report: Any, size: int) -> None:
    """Rows for the three ways. A fake has no link to be held against: no share is asked of it."""
    asked = dict.fromkeys(SHARES, 0.0) if os.environ.get(FAKES) else SHARES
    device = find_gpus(ALL_GPUS).open(0)
    for name, act, bare in copies(device, size):
        compare(report, name, size, rate(size, act), rate(size, bare), asked[name])
    name = "GPU to GPU by wire"
    with wire(size) as across, bare_socket(size) as bare:
        compare(report, name, size, rate(size, across), rate(size, bare), asked[name])


def compare(report: Any, way: str, size: int, got: float, limit: float, least: float) -> None:
    """Adds a row, a wrong one if less than the share `least` of the limit was reached."""
    share = got / limit
    text = f"{got:7.2f} of {limit:7.2f} GB/s, {share:4.0%}"
    slow = share < least
    report.add(
        "copies",
        f"{way}, {size // MB} MB",
        text + f"; at least {least:.0%} was expected" * slow,
        slow,
        rate=got,
        limit=limit,
        share=share,
    )


def rate(size: int, act: Callable[[], Any]) -> float:
    """GB/s of the best of a few rounds, after one that does not count."""
    act()
    best = 0.0
    for _ in range(ROUNDS):
        start = time.perf_counter()
        act()
        best = max(best, size / (time.perf_counter() - start) / 1e9)
    return best


# ---- between the host and a device


def copies(device: Any, size: int) -> Iterator[tuple[str, Callable[[], Any], Callable[[], Any]]]:
    """The name of each way, the copy that a plan makes, and the bare one."""
    host = np.ones(size // 4, np.float32)
    with device:
        there = device.to_device(host)
    bare_up, bare_down = bare_copies(device, size)

    def up() -> None:
        device.to_device(host)
        device.synchronize()

    def down() -> None:
        device.to_host(there)
        device.record().synchronize()

    yield "host to GPU", up, bare_up
    yield "GPU to host", down, bare_down


def bare_copies(device: Any, size: int) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """To the device and from it, between one pinned buffer and one of the device."""
    if os.environ.get(FAKES):  # all of its memory is the host's
        buffers = np.ones(size, np.uint8), np.ones(size, np.uint8)
        return (lambda: np.copyto(*buffers),) * 2
    cuda = device.xp.cuda
    with device:
        there = device.xp.ones(size, np.uint8).data
        pinned = cuda.alloc_pinned_memory(size)
    host = ctypes.c_void_p(np.frombuffer(pinned, np.uint8, size).ctypes.data)

    def timed(copy: Callable[..., Any]) -> Callable[[], None]:
        def act() -> None:
            with device:
                copy(host, size)
            device.synchronize()

        return act

    return timed(there.copy_from_host_async), timed(there.copy_to_host_async)


# ---- between processes


@contextmanager
def wire(size: int) -> Iterator[Callable[[], Any]]:
    """Takes a tensor from the GPU of one process to that of another."""
    hosts = {"a": [f"127.0.0.1:{port()}"], "b": [f"127.0.0.1:{port()}"]}
    serve = [sys.executable, "-m", "minitf_runtime.server.main", "--cluster", json.dumps(hosts)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [*serve, "--job", "b", "--task", "0"], env=environment, stdout=subprocess.PIPE
    ) as other:
        try:
            other.stdout.readline()
            server = tf.train.Server(hosts, "a", 0)
            with tf.Graph().as_default(), tf.Session(server.target) as session:
                with tf.device("/job:a/gpu:0"):
                    big = tf.Variable(tf.ones([size // 4]))
                with tf.device("/job:b/gpu:0"):
                    there = tf.reduce_max(big)
                session.run(big.initializer)
                yield lambda: session.run(there)
        finally:
            other.kill()


@contextmanager
def bare_socket(size: int) -> Iterator[Callable[[], Any]]:
    """Takes as many bytes from another process, and nothing else."""
    into = memoryview(bytearray(size))
    with socket.create_server(("127.0.0.1", 0)) as door:
        command = [sys.executable, "-c", SEND, str(door.getsockname()[1]), str(size)]
        with subprocess.Popen(command) as other:
            try:
                connection, _ = door.accept()
                with connection:
                    yield lambda: receive(connection, into)
            finally:
                other.kill()


def receive(connection: socket.socket, into: memoryview) -> None:
    connection.sendall(b"!")
    done = 0
    while done < len(into):
        got = connection.recv_into(into[done:])
        if not got:
            raise ConnectionError("the sender of the bare copy has gone")
        done += got


def port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
