"""Runs commands as a user does, in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from minitf import cli

EXAMPLES = Path(__file__).parents[2] / "examples"
TIMEOUT = 50


def minitf(*args: object, **options: object) -> subprocess.CompletedProcess[str]:
    """`minitf ARGS` run to its end."""
    command = [sys.executable, "-m", "minitf", *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, **options)


def start(*args: object, **options: object) -> subprocess.Popen[str]:
    """`minitf ARGS` left running."""
    command = [sys.executable, "-m", "minitf", *map(str, args)]
    pipes = dict(stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return subprocess.Popen(command, **pipes | options)


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not yet reaped does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


def all_end(pids: list[int], seconds: float = 5.0) -> bool:
    """Whether none of these processes runs, at the latest some seconds from now."""
    assert pids
    assert os.path.exists("/proc/self/stat"), "needs Linux"
    deadline = time.monotonic() + seconds
    while any(alive(pid) for pid in pids):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def one_line(capsys: pytest.CaptureFixture[str], *args: object) -> str:
    """What `minitf ARGS` says of wrong input: one line, and nothing else."""
    assert cli.main([str(arg) for arg in args]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("minitf: ")
    assert err.count("\n") == 1, err
    return err.removeprefix("minitf: ").rstrip("\n")
