"""Trains a network on a cluster of real processes, and shows where minimize() landed.

A 64-128-10 network learns to read handwritten digits: asynchronous Adagrad, the variables on
parameter servers, each task a process of its own that talks over ZeroMQ on 127.0.0.1.
"""

from __future__ import annotations

import argparse
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from minitf.cli.cluster import count, local_hosts
from minitf.cli.errors import UserError

if TYPE_CHECKING:
    from minitf.cli.processes import Child
    from minitf_runtime.passes.data import Partitioned

STEPS = 400
QUICK_STEPS = 60
LIMIT_SECONDS = 300
TASK = "minitf.cli.demo_task"
_STEP = re.compile(r"step (\d+) loss (\S+)")
_ACCURACY = re.compile(r"accuracy (\S+)")


def prepare_parser(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--ps", type=count, default=2, help="parameter servers (default 2)")
    parser.add_argument("--workers", type=count, default=2, help="workers (default 2)")
    parser.add_argument(
        "--steps", type=count_steps, help=f"training steps of each worker (default {STEPS})"
    )
    parser.add_argument("--quick", action="store_true", help=f"only {QUICK_STEPS} steps")


def count_steps(text: str) -> int:
    value = int(text) if text.isdecimal() else 0
    if not value:
        raise argparse.ArgumentTypeError(f"expected a number of steps, 1 or more, got {text!r}")
    return value


def run(args: argparse.Namespace) -> int:
    from minitf.cli.processes import Processes
    from minitf.viz import text

    if not args.ps:
        raise UserError("--ps must be at least 1: somebody has to hold the variables")
    steps = args.steps or (QUICK_STEPS if args.quick else STEPS)
    hosts = local_hosts(args.ps, args.workers)
    out = text.console()
    out.print("A 64-128-10 network learns to read digits, by asynchronous Adagrad")
    out.print(f"on {args.ps} ps and {args.workers} workers, each a process of its own")
    started = time.monotonic()
    with Progress(out, steps * args.workers) as progress, Processes(progress.show) as processes:
        processes.start_all(hosts, lambda job, index: ["-m", TASK, str(steps)])
        status = processes.watch(LIMIT_SECONDS)
    if status:
        return status
    out.print(f"{steps * args.workers} steps in {time.monotonic() - started:.1f} s\n")
    cut = step_of_task(hosts, steps)
    text.show_landing(cut, out)
    text.show_transfers(cut, out)
    out.print(f"\naccuracy {progress.accuracy}")
    return 0


def step_of_task(hosts: dict[str, list[str]], steps: int) -> Partitioned:
    """The training step of worker 0, placed and cut as its session has done it."""
    from minitf.viz.capture import capture, default_targets, step_of

    script = Path(__file__).with_name("demo_task.py")
    captured = capture(str(script), [str(steps)], hosts, ("worker", 0))
    return step_of(captured, default_targets(captured.graph))


class Progress:
    """What the tasks say, as a bar; as a line for each quarter when this is no terminal."""

    def __init__(self, out: Any, total: int) -> None:
        from rich.progress import BarColumn, TaskProgressColumn, TextColumn
        from rich.progress import Progress as Bar

        self.accuracy = ""
        self._out = out
        self._total = total
        self._done: dict[int, int] = {}  # worker -> its steps
        self._quarters = 0
        columns = (BarColumn(), TaskProgressColumn(), TextColumn("loss {task.fields[loss]}"))
        self._bar = Bar(*columns, console=out, disable=not out.is_terminal)
        self._task = self._bar.add_task("", total=total, loss="-")

    def __enter__(self) -> Progress:
        self._bar.start()
        return self

    def __exit__(self, *exc: Any) -> None:
        self._bar.stop()

    def show(self, child: Child, line: str) -> None:
        """Takes in a line of a task; what is not progress is shown as it is."""
        from rich.text import Text

        if found := _STEP.fullmatch(line):
            self._done[child.index] = int(found[1])
            self._advance(sum(self._done.values()), found[2])
        elif found := _ACCURACY.fullmatch(line):
            self.accuracy = found[1]
        else:
            self._out.print(Text(f"[{child.name}] {line}"))

    def _advance(self, done: int, loss: str) -> None:
        self._bar.update(self._task, completed=done, loss=loss)
        quarters = 4 * done // self._total
        if not self._out.is_terminal and quarters > self._quarters:
            self._quarters = quarters
            self._out.print(f"step {done} of {self._total}, loss {loss}")
