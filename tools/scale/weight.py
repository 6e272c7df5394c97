"""What minitf weighs: the time of its import, the memory of an idle server, its size on disk."""

from __future__ import annotations

import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from minitf.cli.processes import free_addresses
from tools.bench.cluster import ROOT

IMPORTS = 9


def weight():
    found = {name: [] for name in ("pass", "import numpy", "import minitf")}
    for _ in range(IMPORTS + 1):  # the first one writes bytecode
        for statement, seconds in found.items():
            seconds.append(run_time(statement))
    for statement, seconds in found.items():
        print(f"{statistics.median(seconds[1:]):8.3f} s python -c '{statement}'", flush=True)
    print(f"{idle_server():8.1f} MB resident in an idle server", flush=True)


def run_time(statement):
    begin = time.perf_counter()
    subprocess.check_call([sys.executable, "-c", statement], env=with_bytecode(), cwd=ROOT)
    return time.perf_counter() - begin


def with_bytecode():
    """The environment of a Python that keeps what it has compiled."""
    return {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def idle_server():
    (address,) = free_addresses(1)
    command = [sys.executable, "-m", "minitf", "server", "--job", "ps", "--cluster"]
    server = subprocess.Popen([*command, f"ps={address}"], cwd=ROOT, stdout=subprocess.PIPE)
    try:
        wait_for(address)
        status = Path(f"/proc/{server.pid}/status").read_text("ascii")
    finally:
        server.kill()
        server.communicate()
    return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) / 1024


def wait_for(address):
    host, port = address.split(":")
    while True:
        with socket.socket() as s:
            if s.connect_ex((host, int(port))) == 0:
                break
        time.sleep(0.05)
    time.sleep(1)  # until all is loaded


def installed():
    """Installs this tree and what it depends on into a folder that is removed again."""
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "install", "-q", "--no-warn-conflicts"]
        subprocess.check_call([*pip, "--target", folder, str(ROOT)])
        sizes = Counter()
        for file in Path(folder).rglob("*"):
            if file.is_file():
                sizes[file.relative_to(folder).parts[0]] += file.stat().st_size
    for name, size in sizes.most_common(8):
        print(f"{size / 1e6:8.1f} MB {name}")
    print(f"{sizes.total() / 1e6:8.1f} MB installed", flush=True)
