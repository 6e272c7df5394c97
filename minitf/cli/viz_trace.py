"""`minitf viz --trace`: shows where the time of a step goes, run here or by a live cluster."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from minitf.cli.errors import UserError
from minitf.cli.viz_readings import FORMS, read_batch

if TYPE_CHECKING:
    from minitf.viz.capture import Captured
    from minitf_runtime.passes.data import Partitioned

STEPS = 10
READINGS = ("wire", "check", "balance")


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--trace",
        nargs="?",
        const=str(STEPS),
        metavar="STEPS",
        help=f"times, path and waiting of a step, of {STEPS} or STEPS that are run here, or that a "
        "running cluster makes",
    )
    parser.add_argument("--out", metavar="FILE", help="write the Chrome trace of --trace")


def wanted(args: argparse.Namespace) -> bool:
    """Whether a trace is asked for. Raises UserError for options that do not go with it."""
    if args.out and args.trace is None:
        raise UserError("--out: goes with --trace")
    if args.trace is not None and not (args.trace.isdecimal() and int(args.trace)):
        raise UserError(f"--trace: expected a number of steps but got '{args.trace}'")
    others = [o for o in (*FORMS, *READINGS) if getattr(args, o, None)]
    if args.trace is not None and others:
        raise UserError(f"--{others[0]}: not allowed with --trace")
    return args.trace is not None


def run(args: argparse.Namespace, captured: Captured, cut: Partitioned) -> int:
    """Shows the step whose duration is the median of all."""
    from minitf.viz import text, trace, trace_text
    from minitf.viz.sizes import NOMINAL_BATCH
    from minitf.viz.trace_run import median, traced_steps
    from minitf.viz.unreadable import Unreadable

    if captured.gpus:
        raise UserError("--trace: runs the step, and there are no gpus to run it on")
    batch = read_batch(args.batch) or NOMINAL_BATCH
    try:
        seen = traced_steps(captured, cut, int(args.trace), batch)
    except Unreadable as e:
        raise UserError(f"--trace: {e}") from None
    (shown, stats), *ends = median(seen)
    if args.out:
        _write(args.out, stats)
    if args.json:
        json.dump(trace.as_json(shown), sys.stdout, indent=1)
        print()
        return 0
    shortest, longest = (trace_text.time_text(each.duration) for each, _ in ends)
    notes = [f"the median of {len(seen)} steps, which took {shortest} to {longest}"]
    if captured.handle:
        notes.append(f"steps of the running program, those of {captured.origin}")
    elif captured.cluster:
        notes.append("every task ran as a server in this one process")
    if cut.feeds and not captured.handle:
        notes.append(f"fed ones, and zeros for whole numbers, in batches of {batch}")
    trace_text.show_trace(shown, text.console(), notes, args.all)
    return 0


def _write(file: str, stats: Any) -> None:
    from minitf.timeline import Timeline

    with open(file, "w") as f:
        f.write(Timeline(stats).generate_chrome_trace_format())
