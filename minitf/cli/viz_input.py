"""From the options of `minitf viz` to a captured graph and its step. What is wrong: a UserError."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from minitf.cli.cluster import flags, seconds, wanted_flags
from minitf.cli.errors import UserError

if TYPE_CHECKING:
    from minitf.viz.capture import Captured
    from minitf_runtime.passes.data import Partitioned

MOST_TASKS = 1000
LIMIT = 60.0


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--address", metavar="HOST:PORT", help="read a running cluster")
    parser.add_argument("--cluster", metavar="ps=2,worker=2", help="tasks per job")
    parser.add_argument("--task", metavar="JOB:N", help="the task to run as (default worker:0)")
    parser.add_argument("--fetch", action="append", metavar="NAME", help="op or tensor of the step")
    parser.add_argument(
        "--limit",
        type=seconds,
        default=LIMIT,
        metavar="S",
        help=f"seconds that a script gets to build its graph (default {LIMIT:g})",
    )


def build(args: argparse.Namespace, as_task: str | None = None) -> Captured:
    """What the source holds; a script gets the cluster's flags if it names them.

    as_task: the task to run as, if it is not that of the options.
    """
    from minitf.viz.source import Unreadable, read

    source = source_of(args)
    hosts = read_sizes(args.cluster)
    gpus = len(hosts.pop("gpus", ()))
    named = wanted_flags(source, False) if os.path.isfile(source) else ()
    told = hosts or (read_sizes("ps=1,worker=1") if named else {})
    given = as_task or args.task
    task = read_task(given, told) if given or told else None
    wanted = tuple(name for name in named if not any(name in a for a in args.args))
    script_args = [*args.args, *flags(told, *(task or ("worker", 0)), wanted)]
    try:
        return read(
            source,
            script_args,
            cluster=hosts,
            task=task,
            gpus=gpus,
            strategy=args.strategy,
            limit=args.limit,
        )
    except Unreadable as e:
        raise UserError(str(e)) from None


def source_of(args: argparse.Namespace) -> str:
    """The script, the file or the address that the options name."""
    if args.address and args.script:
        raise UserError(f"--address: a running cluster is read, not {args.script}")
    if args.address:
        return f"grpc://{args.address.removeprefix('grpc://')}"
    if not args.script:
        raise UserError("the following arguments are required: SOURCE (see minitf viz --help)")
    return str(args.script)


def step(captured: Captured, fetch: list[str] | None) -> Partitioned:
    """The partitioned graph of the step asked for. Raises UserError, OpError."""
    from minitf.viz.source import Unreadable, step_asked

    try:
        return step_asked(captured, fetch or ())
    except Unreadable as e:
        raise UserError(str(e)) from None


def read_sizes(text: str | None) -> dict[str, list[str]]:
    """'ps=2,worker=2' as made-up addresses; {} for None. Raises UserError."""
    hosts: dict[str, list[str]] = {}
    port = 1
    for part in text.split(",") if text is not None else ():
        job, _, count = (word.strip() for word in part.partition("="))
        if not job.isidentifier() or not count.isdecimal() or not 0 < int(count) <= MOST_TASKS:
            raise UserError(f"--cluster: expected JOB=COUNT,JOB=COUNT but got '{text}'")
        hosts[job] = [f"localhost:{port + i}" for i in range(int(count))]
        port += int(count)
    return hosts


def read_task(text: str | None, hosts: dict[str, list[str]]) -> tuple[str, int]:
    """'worker:1' as job and index. Raises UserError for one that is not among the hosts."""
    if text is None:
        return ("worker" if "worker" in hosts or not hosts else next(iter(hosts))), 0
    job, colon, index = text.partition(":")
    if not job or (colon and not index.isdecimal()):
        raise UserError(f"--task: expected JOB:N, e.g. worker:0, but got '{text}'")
    task = job, int(index or 0)
    if hosts and task[1] >= len(hosts.get(job, ())):
        jobs = ", ".join(f"{job}={len(tasks)}" for job, tasks in hosts.items())
        raise UserError(f"--task: there is no {task[0]}:{task[1]} in the cluster {jobs}")
    return task
