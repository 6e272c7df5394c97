"""Runs a script as every task of a local cluster, one process each.

Each process gets TF_CONFIG, and of the flags --job_name --task_index --ps_hosts --worker_hosts
those that the script names (all of them with --flags). When all but the ps are done these are
ended; the first task that fails ends all, and its exit status is that of the command.
"""

from __future__ import annotations

import argparse

from minitf.cli.errors import UserError
from minitf.cli.script import add_script, existing

FLAGS = ("job_name", "task_index", "ps_hosts", "worker_hosts")
MOST_TASKS = 256
RUN = ("-m", "minitf", "run")


def prepare_parser(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--ps", type=count, default=1, help="parameter servers (default 1)")
    parser.add_argument("--workers", type=count, default=1, help="workers (default 1)")
    parser.add_argument("--chief", action="store_true", help="a chief, as tf.estimator wants one")
    parser.add_argument("--evaluator", action="store_true", help="an evaluator beside the cluster")
    parser.add_argument("--flags", action="store_true", help="pass all four cluster flags")
    parser.add_argument("--timeout", type=seconds, default=0, metavar="S", help="end all after S s")
    add_script(parser)


def count(text: str) -> int:
    value = int(text) if text.isdecimal() else -1
    if not 0 <= value <= MOST_TASKS:
        raise argparse.ArgumentTypeError(
            f"expected a number of tasks from 0 to {MOST_TASKS}, got {text!r}"
        )
    return value


def seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number of seconds above 0, got {text!r}")
    return value


def run(args: argparse.Namespace) -> int:
    from minitf.cli.processes import Processes

    script = existing(args.script)
    hosts = local_hosts(args.ps, args.workers, args.chief)
    wanted = wanted_flags(script, args.flags)

    def command(job: str, index: int) -> list[str]:
        return [*RUN, script, *args.args, *flags(hosts, job, index, wanted)]

    with Processes() as processes:
        processes.start_all(hosts, command)
        if args.evaluator:
            processes.start("evaluator", 0, command("evaluator", 0), hosts)
        return processes.watch(args.timeout)


def local_hosts(ps: int, workers: int, chief: bool = False) -> dict[str, list[str]]:
    """Free addresses of this machine for each task. Raises UserError when nobody would train."""
    from minitf.cli.processes import free_addresses

    if not workers and not chief:
        raise UserError("--workers must be at least 1: somebody has to train")
    counts = {"ps": ps, "chief": int(chief), "worker": workers}
    addresses = iter(free_addresses(sum(counts.values())))
    return {job: [next(addresses) for _ in range(n)] for job, n in counts.items() if n}


def wanted_flags(script: str, every: bool) -> tuple[str, ...]:
    """The cluster flags that the script's text names."""
    if every:
        return FLAGS
    with open(script, encoding="utf-8", errors="replace") as f:
        text = f.read()
    marks = ("'{}'", '"{}"', "'--{}'", '"--{}"')
    return tuple(n for n in FLAGS if any(m.format(n) in text for m in marks))


def flags(hosts: dict[str, list[str]], job: str, index: int, wanted: tuple[str, ...]) -> list[str]:
    """The wanted flags of one task, as arguments."""
    values = {
        "job_name": job,
        "task_index": str(index),
        "ps_hosts": ",".join(hosts.get("ps", [])),
        "worker_hosts": ",".join(hosts.get("worker", [])),
    }
    return [f"--{name}={values[name]}" for name in wanted]
