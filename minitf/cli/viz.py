"""Shows how a script's graph is placed and cut, without running a step or opening a port."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any

from minitf.cli.errors import UserError


def prepare_parser(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--cluster", metavar="ps=2,worker=2", help="tasks per job")
    parser.add_argument("--task", default="worker:0", metavar="JOB:N", help="the task to run as")
    parser.add_argument("--fetch", action="append", metavar="NAME", help="op or tensor of the step")
    parser.add_argument("--all", action="store_true", help="name every op")
    parser.add_argument("--json", action="store_true", help="all rows as JSON")
    parser.add_argument("--dot", action="store_true", help="Graphviz text")
    parser.add_argument("--partition", metavar="TASK", help="print the nodes of one task")
    parser.add_argument("--plan", action="store_true", help="print the generated programs")
    parser.add_argument("script", metavar="SCRIPT")
    parser.add_argument("args", nargs=argparse.REMAINDER, help="arguments of the script")


def run(args: argparse.Namespace) -> int:
    from minitf.viz import text
    from minitf_runtime.errors import OpError

    if not os.path.isfile(args.script):
        raise UserError(f"no such script: {args.script}")
    captured = build(args)
    try:
        cut = step(captured, args.fetch)
    except OpError as e:
        raise UserError(e.message) from None
    if args.json:
        from minitf.viz.rows import as_json

        json.dump(as_json(cut), sys.stdout, indent=1)
        print()
    elif args.dot:
        from minitf.viz.dot import to_dot

        print(to_dot(cut), end="")
    elif args.partition:
        for device in chosen(cut, args.partition):
            text.show_partition(cut, device, text.console())
    elif args.plan:
        show_plan(cut)
    else:
        text.show_step(cut, text.console(), args.all)
    return 0


def build(args: argparse.Namespace) -> Any:
    """Runs the script with stand-ins."""
    from minitf.cli.cluster import flags, wanted_flags
    from minitf.viz.capture import capture

    cluster = read_sizes(args.cluster)
    task = read_task(args.task)
    given: list[str] = []
    if cluster or wanted_flags(args.script, False):
        hosts = cluster or read_sizes("ps=1,worker=1") or {}
        given = flags(hosts, task[0], task[1], wanted_flags(args.script, False))
    return capture(args.script, args.args, cluster, task, given)


def step(captured: Any, fetch: list[str] | None) -> Any:
    from minitf.viz.capture import default_targets, step_of

    if captured.graph is None or not captured.graph.get_operations():
        raise UserError("the script built no graph")
    names = fetch or default_targets(captured.graph)
    try:
        for name in names:
            captured.graph.as_graph_element(name)
    except (KeyError, ValueError) as e:
        raise UserError(f"--fetch: {e.args[0]}") from None
    if not names:
        raise UserError("the graph has no train op; name what to run with --fetch NAME")
    return step_of(captured, names)


def read_sizes(text: str | None) -> dict[str, list[str]] | None:
    """'ps=2,worker=2' as made-up addresses. Raises UserError."""
    if not text:
        return None
    hosts: dict[str, list[str]] = {}
    port = 1
    for part in text.split(","):
        job, equals, count = part.strip().partition("=")
        if not equals or not job or not count.isdigit():
            raise UserError(f"--cluster: expected JOB=COUNT,JOB=COUNT but got '{text}'")
        hosts[job] = [f"{job}{i}.invalid:{port + i}" for i in range(int(count))]
        port += int(count)
    return hosts


def read_task(text: str) -> tuple[str, int]:
    job, colon, index = text.partition(":")
    if not job or (colon and not index.isdigit()):
        raise UserError(f"--task: expected JOB:N, e.g. worker:0, but got '{text}'")
    return job, int(index or 0)


def chosen(cut: Any, task: str) -> list[str]:
    """The devices of the task meant. Raises UserError naming those there are."""
    from minitf_runtime.devices.name import parse_strict

    wanted = parse_strict(task)
    found = [d for d in sorted(cut.parts) if wanted is not None and wanted.matches(parse_strict(d))]
    if not found:
        raise UserError(
            f"--partition: no part on '{task}'; there are {', '.join(sorted(cut.parts))}"
        )
    return found


def show_plan(cut: Any) -> None:
    """The generated program of every device."""
    from minitf_runtime.plan.part import split
    from minitf_runtime.server.task import Task

    for name, part in sorted(split(cut).items()):
        task = Task(name)
        task.create_session("viz")
        for program in task.compile("viz", part):
            print(f"# {program.device}, strand {program.strand}")
            print(program.source)
