"""Runs one task of a cluster until it is ended.

SPEC is JSON ({"ps": ["HOST:PORT", ...], "worker": [...]}) or JOB=ADDR,ADDR;JOB=ADDR.
"""

from __future__ import annotations

import argparse
import json

from minitf.cli.errors import UserError


def prepare_parser(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--cluster", required=True, metavar="SPEC", help="every task's address")
    parser.add_argument("--job", required=True, help="the job of this task, e.g. ps")
    parser.add_argument("--task", type=int, default=0, help="its index in the job (default 0)")


def run(args: argparse.Namespace) -> int:
    from minitf_runtime.errors import OpError
    from minitf_runtime.server.main import serve

    try:
        return serve(read_cluster(args.cluster), args.job, args.task)
    except OpError as e:
        raise UserError(e.message) from None


def read_cluster(text: str) -> dict[str, list[str]]:
    """The addresses of each job. Raises UserError."""
    if text.lstrip().startswith("{"):
        try:
            spec = json.loads(text)
        except ValueError as e:
            raise UserError(f"--cluster is not valid JSON: {e}") from None
    else:
        spec = {}
        for part in filter(None, text.split(";")):
            job, equals, addresses = part.partition("=")
            if not equals:
                raise UserError(f"--cluster: expected JOB=ADDR,ADDR but got '{part}'")
            spec[job.strip()] = [a.strip() for a in addresses.split(",") if a.strip()]
    for job, addresses in spec.items():
        if not isinstance(addresses, list) or not all(isinstance(a, str) for a in addresses):
            raise UserError(f"--cluster: job '{job}' needs a list of HOST:PORT, got {addresses!r}")
    if not spec:
        raise UserError("--cluster names no job")
    return spec
