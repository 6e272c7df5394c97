"""Runs a script as every task of a local cluster, one process each.

Each process gets TF_CONFIG, and the flags --job_name --task_index --ps_hosts --worker_hosts where
the
script mentions them (or all of them with --flags).
"""

from __future__ import annotations

import argparse
import os

from minitf.cli.errors import UserError


def prepare_parser(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--ps", type=_count, default=1, help="parameter servers (default 1)")
    parser.add_argument("--workers", type=_count, default=1, help="workers (default 1)")
    parser.add_argument("--flags", action="store_true", help="pass all four cluster flags")
    parser.add_argument("--timeout", type=float, default=0, metavar="S", help="end all after S s")
    parser.add_argument("script", metavar="SCRIPT")
    parser.add_argument("args", nargs=argparse.REMAINDER, help="arguments of the script")


def _count(text: str) -> int:
    value = int(text) if text.isdigit() else -1
    if value < 0 or value > 256:
        raise argparse.ArgumentTypeError(f"expected a number of tasks from 0 to 256, got {text!r}")
    return value


def run(args: argparse.Namespace) -> int:
    from minitf.cli.processes import Processes, free_addresses

    if not os.path.isfile(args.script):
        raise UserError(f"no such script: {args.script}")
    if not args.workers:
        raise UserError("--workers must be at least 1: somebody has to train")
    hosts = {"ps": free_addresses(args.ps), "worker": free_addresses(args.workers)}
    hosts = {job: addresses for job, addresses in hosts.items() if addresses}
    wanted = wanted_flags(args.script, args.flags)
    with Processes() as processes:
        for job, addresses in hosts.items():
            for index in range(len(addresses)):
                processes.start(
                    job, index, args.script, args.args + flags(hosts, job, index, wanted), hosts
                )
        return processes.watch(args.timeout)


FLAGS = ("job_name", "task_index", "ps_hosts", "worker_hosts")


def wanted_flags(script: str, every: bool) -> tuple[str, ...]:
    """The cluster flags that the script's text names."""
    if every:
        return FLAGS
    with open(script, encoding="utf-8", errors="replace") as f:
        text = f.read()
    marks = ("'{}'", '"{}"', "'--{}'", '"--{}"')
    return tuple(n for n in FLAGS if any(m.format(n) in text for m in marks))


def flags(hosts: dict[str, list[str]], job: str, index: int, wanted: tuple[str, ...]) -> list[str]:
    values = {
        "job_name": job,
        "task_index": str(index),
        "ps_hosts": ",".join(hosts.get("ps", [])),
        "worker_hosts": ",".join(hosts.get("worker", [])),
    }
    return [f"--{name}={values[name]}" for name in wanted]
