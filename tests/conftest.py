"""Fixtures and the meaning of the marks for all tests."""

from __future__ import annotations

import logging
import os
import socket
import subprocess
import textwrap
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest

import minitf_runtime.ops.late  # noqa: F401  (the whole registry, for tests that walk it)
from minitf.default import reset_default_graph

os.environ["MINITF_VERIFY"] = "1"  # every pass is checked by the rules of passes/verify.py


@cache
def gpu_missing() -> str:
    """Why tests marked `gpu` cannot run here, or ''."""
    try:
        import cupy

        return "" if cupy.cuda.runtime.getDeviceCount() else "no NVIDIA GPU"
    except ImportError:
        return "cupy is not installed"
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return str(error)


def oracle_missing() -> str:
    return "" if os.environ.get("MINITF_ORACLE") else "MINITF_ORACLE does not name a Python"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for mark, missing in (("gpu", gpu_missing), ("oracle", oracle_missing)):
        marked = [item for item in items if item.get_closest_marker(mark)]
        reason = missing() if marked else ""
        for item in marked if reason else []:
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(autouse=True)
def fresh_graph() -> Iterator[None]:
    """Each test begins with an empty default graph, and leaves the log levels as it found them."""
    reset_default_graph()
    loggers = logging.getLogger(), logging.getLogger("minitf")  # absl sets that of the root
    levels = [logger.level for logger in loggers]
    yield
    for logger, level in zip(loggers, levels):
        logger.setLevel(level)


@pytest.fixture
def oracle() -> Callable[[str], str]:
    """Runs a program on the real TensorFlow 1.15 and gives what it printed."""

    def run(program: str) -> str:
        return subprocess.run(
            [os.environ["MINITF_ORACLE"], "-W", "ignore", "-c", textwrap.dedent(program)],
            env=os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"},
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    return run


@pytest.fixture
def free_ports() -> Callable[[int], list[int]]:
    """A number of ports of this machine that nobody listens on."""

    def find(count: int) -> list[int]:
        sockets = [socket.socket() for _ in range(count)]
        for s in sockets:
            s.bind(("127.0.0.1", 0))
        ports = [s.getsockname()[1] for s in sockets]
        for s in sockets:
            s.close()
        return ports

    return find


@pytest.fixture
def cluster(free_ports: Callable[[int], list[int]]) -> Iterator[tuple[Any, str]]:
    """A ps and a worker in this process: their ClusterSpec, and the worker's target."""
    from minitf import train
    from minitf_runtime.server.service import server_at

    ps, worker = (f"127.0.0.1:{p}" for p in free_ports(2))
    spec = train.ClusterSpec({"ps": [ps], "worker": [worker]})
    servers = [train.Server(spec, job_name=job, task_index=0) for job in ("ps", "worker")]
    yield spec, servers[1].target
    for address in (ps, worker):
        server_at(address).stop()
