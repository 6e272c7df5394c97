"""Shows how a script's graph is placed and cut, without running a step or opening a port.

The script runs up to its first Session.run, as worker 0 unless --task says otherwise. Without
--cluster it is the script that says which tasks there are. The step shown is that of the train op.
The options may stand before or after SCRIPT; all that follows a -- is the script's.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import TYPE_CHECKING

from minitf.cli.errors import Parser, UserError

if TYPE_CHECKING:
    from minitf.viz.capture import Captured
    from minitf_runtime.passes.data import Partitioned

MOST_TASKS = 1000


def prepare_parser(parser: argparse.ArgumentParser) -> None:
    add_options(parser)
    parser.add_argument("script", metavar="SCRIPT")
    parser.add_argument("args", nargs=argparse.REMAINDER, help="arguments of the script")


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--cluster", metavar="ps=2,worker=2", help="tasks per job")
    parser.add_argument("--task", metavar="JOB:N", help="the task to run as (default worker:0)")
    parser.add_argument("--fetch", action="append", metavar="NAME", help="op or tensor of the step")
    parser.add_argument("--all", action="store_true", help="name every op")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="all rows as JSON")
    form.add_argument("--dot", action="store_true", help="Graphviz text")
    form.add_argument("--graphml", metavar="FILE", help="write GraphML, for programs that read it")
    form.add_argument("--why", metavar="NAME", help="why an op is where it is")
    form.add_argument("--partition", metavar="TASK", help="print the nodes of one task")
    form.add_argument("--plan", action="store_true", help="print the generated programs")


def take_options(args: argparse.Namespace) -> None:
    """Takes the options that stand after SCRIPT out of the script's arguments."""
    end = args.args.index("--") if "--" in args.args else len(args.args)
    parser = Parser(
        prog="minitf viz", add_help=False, allow_abbrev=False, argument_default=argparse.SUPPRESS
    )
    add_options(parser)
    _, rest = parser.parse_known_args(args.args[:end], args)
    args.args = [*rest, *args.args[end + 1 :]]


def run(args: argparse.Namespace) -> int:
    from minitf_runtime.errors import OpError

    take_options(args)
    if not os.path.isfile(args.script):
        raise UserError(f"no such script: {args.script}")
    captured = build(args)
    try:
        show(step(captured, args.fetch), args)
    except OpError as e:
        raise UserError(e.message) from None
    return 0


def show(cut: Partitioned, args: argparse.Namespace) -> None:
    """Prints or writes the step in the form asked for."""
    from minitf.viz import text

    if args.json:
        from minitf.viz.rows import as_json

        json.dump(as_json(cut), sys.stdout, indent=1)
        print()
    elif args.dot:
        from minitf.viz.dot import to_dot

        print(to_dot(cut), end="")
    elif args.graphml:
        write_graphml(cut, args.graphml)
    elif args.why:
        if args.why not in cut.placement:
            raise UserError(f"--why: the graph has no op '{args.why}'")
        text.show_why(cut, args.why, text.console())
    elif args.partition:
        for device in chosen(cut, args.partition):
            text.show_partition(cut, device, text.console())
    elif args.plan:
        show_plan(cut)
    else:
        text.show_step(cut, text.console(), args.all)


def build(args: argparse.Namespace) -> Captured:
    """Runs the script with stand-ins, with the cluster's flags if it names them."""
    from minitf.cli.cluster import flags, wanted_flags
    from minitf.viz.capture import capture

    hosts = read_sizes(args.cluster)
    named = wanted_flags(args.script, False)
    told = hosts or (read_sizes("ps=1,worker=1") if named else {})
    task = read_task(args.task, told)
    wanted = tuple(name for name in named if not any(name in given for given in args.args))
    return capture(args.script, [*args.args, *flags(told, *task, wanted)], hosts, task)


def step(captured: Captured, fetch: list[str] | None) -> Partitioned:
    """The partitioned graph of the step asked for. Raises UserError, OpError."""
    from minitf.viz.capture import default_targets, step_of

    if not captured.graph.get_operations():
        raise UserError("the script built no graph")
    names = fetch or default_targets(captured.graph)
    if not names:
        raise UserError("the graph has no train op; name what to run with --fetch NAME")
    try:
        return step_of(captured, names)
    except (KeyError, ValueError) as e:
        raise UserError(f"--fetch: {e.args[0]}") from None


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


def chosen(cut: Partitioned, task: str) -> list[str]:
    """The devices of the task meant. Raises UserError naming those there are."""
    from minitf.viz.rows import short
    from minitf_runtime.devices.name import parse_strict

    job, _, index = task.partition(":")
    full = f"/job:{job}/task:{index}" if index.isdecimal() else task
    wanted = parse_strict(full)
    found = [d for d in sorted(cut.parts) if wanted and wanted.matches(parse_strict(d))]
    if not found:
        there = ", ".join(short(d) for d in sorted(cut.parts))
        raise UserError(f"--partition: nothing of the step is on '{task}'; it is on {there}")
    return found


def write_graphml(cut: Partitioned, file: str) -> None:
    import networkx

    from minitf.viz.export import to_networkx

    try:
        networkx.write_graphml(to_networkx(cut), file)
    except OSError as e:
        raise UserError(f"--graphml: cannot write {file}: {e.strerror}") from None


def show_plan(cut: Partitioned) -> None:
    """The generated program of every device."""
    from minitf_runtime.plan.part import split
    from minitf_runtime.server.task import Task

    for name, part in sorted(split(cut).items()):
        task = Task(name)
        task.create_session("viz")
        for program in task.compile("viz", part):
            print(f"# {program.device}, strand {program.strand}")
            print(program.source)
