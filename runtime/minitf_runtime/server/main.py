"""A server as a process of its own: `python -m minitf_runtime.server.main --job ps --task 0
...`."""

from __future__ import annotations

import argparse
import json
import sys

import minitf_runtime.ops  # noqa: F401  (fills the registry)
from minitf_runtime.errors import OpError
from minitf_runtime.server.service import Server


def serve(cluster: dict[str, list[str]], job: str, task: int) -> int:
    """Runs a server until the process is ended."""
    addresses = {j: dict(enumerate(a)) for j, a in cluster.items()}
    server = Server(addresses, job, task)
    print(f"{server.name} listens on {server.address}", flush=True)
    try:
        server.join()
    except KeyboardInterrupt:
        server.stop()
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="minitf_runtime.server.main", description=__doc__)
    parser.add_argument("--cluster", required=True, help='JSON: {"ps": ["HOST:PORT", ...], ...}')
    parser.add_argument("--job", required=True)
    parser.add_argument("--task", type=int, required=True)
    args = parser.parse_args()
    try:
        return serve(json.loads(args.cluster), args.job, args.task)
    except (OpError, ValueError) as e:
        print(f"minitf server: {e}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
