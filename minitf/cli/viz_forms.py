"""The forms in which `minitf viz` shows a step: rows, text, and files for other programs."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from minitf.cli.errors import UserError

if TYPE_CHECKING:
    from minitf.viz.capture import Captured
    from minitf_runtime.passes.data import Partitioned

WITHOUT_JSON = ("dot", "graphml", "html", "save", "partition", "plan")
FILES = ("graphml", "html", "save", "out")


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--all", action="store_true", help="name every op")
    parser.add_argument("--open", action="store_true", help="open the page of --html")
    parser.add_argument("--json", action="store_true", help="the rows as JSON")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--dot", action="store_true", help="Graphviz text")
    form.add_argument("--graphml", metavar="FILE", help="write GraphML, for programs that read it")
    form.add_argument("--html", metavar="FILE", help="write a page to look at in a browser")
    form.add_argument("--save", metavar="FILE", help="write the placed graph as .pb or .pbtxt")
    form.add_argument("--partition", metavar="TASK", help="print the nodes of one task")
    form.add_argument("--plan", action="store_true", help="print the generated programs")
    form.add_argument("--why", metavar="OP", help="every rule that put an op where it is")
    form.add_argument("--diff", metavar="A", help="what differs from A: ops moved, transfers")


def check(args: argparse.Namespace) -> None:
    """Raises UserError for options that do not go together, or a file that cannot be written."""
    if args.open and not (args.html or args.serve):
        raise UserError("--open: say with --html FILE where the page goes")
    if args.json:
        for form in WITHOUT_JSON:
            if getattr(args, form):
                raise UserError(f"argument --json: not allowed with argument --{form}")
    for option in FILES:
        if file := getattr(args, option):
            check_writable(option, file)


def check_writable(option: str, file: str) -> None:
    """Raises UserError, before any work is done for the file."""
    there = os.path.exists(file)
    try:
        open(file, "ab").close()
    except OSError as e:
        raise UserError(f"--{option}: cannot write {file}: {e.strerror}") from None
    if not there:
        os.remove(file)


def show(cut: Partitioned, args: argparse.Namespace) -> None:
    """Prints or writes the step in the form asked for."""
    from minitf.viz import text

    if args.json:
        from minitf.viz.rows import as_json

        print_json(as_json(cut))
    elif args.dot:
        from minitf.viz.dot import to_dot

        print(to_dot(cut), end="")
    elif args.graphml:
        write_graphml(cut, args.graphml)
    elif args.html:
        write_html(cut, args)
    elif args.save:
        save(cut, args.save)
    elif args.partition:
        for device in chosen(cut, args.partition):
            text.show_partition(cut, device, text.console())
    elif args.plan:
        show_plan(cut)
    else:
        text.show_step(cut, text.console(), args.all)


def is_text(args: argparse.Namespace) -> bool:
    """Whether the step is shown as tables for the terminal."""
    return not any(getattr(args, form) for form in ("json", *WITHOUT_JSON))


def show_memory(captured: Captured) -> None:
    """The memory of the GPUs of a running cluster."""
    from minitf.viz import memory, text

    memory.show_memory(memory.memory_rows(captured), text.console())


def print_json(values: object) -> None:
    json.dump(values, sys.stdout, indent=1)
    print()


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

    networkx.write_graphml(to_networkx(cut), file)


def save(cut: Partitioned, file: str) -> None:
    from minitf.viz.export import write_graph_def

    if not file.endswith((".pb", ".pbtxt")):
        raise UserError(f"--save: expected FILE.pb, or FILE.pbtxt for text, but got '{file}'")
    write_graph_def(cut, file)


def write_html(cut: Partitioned, args: argparse.Namespace) -> None:
    import webbrowser

    from minitf.viz.page import write_page

    size = write_page(cut, args.script or args.address, args.html)
    print(f"wrote {args.html}: {size:,} bytes")
    if args.open and not webbrowser.open(Path(args.html).resolve().as_uri()):
        raise UserError(f"--open: found no browser; open {args.html} yourself")


def show_plan(cut: Partitioned) -> None:
    """The generated program of every device."""
    from minitf_runtime.devices.gpu import stand_ins
    from minitf_runtime.devices.name import parse_full
    from minitf_runtime.plan.part import split
    from minitf_runtime.server.task import Task

    for name, part in sorted(split(cut).items()):
        task = Task(name)
        task.gpus = stand_ins(1 + max(parse_full(d).index or 0 for d in part.nodes))
        task.create_session("viz")
        for program in task.compile("viz", part):
            print(f"# {program.device}, strand {program.strand}")
            print(program.source)
