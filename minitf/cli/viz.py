"""Shows how a graph is placed and cut; only --trace runs a step of it.

SOURCE is a script, a saved graph (.pb, .pbtxt, .meta), or with --address a running cluster. A
script runs up to its first Session.run, as worker 0 unless --task says otherwise. Without --cluster
it is the script that says which tasks there are. The step shown is that of the train op.
The options may stand before or after SOURCE; all that follows a -- is the script's.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from minitf.cli import viz_forms, viz_input, viz_questions, viz_readings, viz_serve, viz_trace
from minitf.cli.errors import Parser, UserError

if TYPE_CHECKING:
    from minitf.viz.capture import Captured
    from minitf_runtime.passes.data import Partitioned


def prepare_parser(parser: argparse.ArgumentParser) -> None:
    add_options(parser)
    rest = "what to look at, and the arguments of a script"
    parser.add_argument("args", metavar="SOURCE", nargs=argparse.REMAINDER, help=rest)


def add_options(parser: argparse.ArgumentParser) -> None:
    for part in (viz_input, viz_forms, viz_readings, viz_trace, viz_serve):
        part.add_options(parser)


def take_options(args: argparse.Namespace) -> None:
    """Takes the source, and the options that stand after it, out of the script's arguments."""
    end = args.args.index("--") if "--" in args.args else len(args.args)
    parser = Parser(
        prog="minitf viz", add_help=False, allow_abbrev=False, argument_default=argparse.SUPPRESS
    )
    add_options(parser)
    _, rest = parser.parse_known_args(args.args[:end], args)
    rest += args.args[end + 1 :]
    args.script, args.args = (rest[0] if rest else None), rest[1:]


def run(args: argparse.Namespace) -> int:
    from minitf_runtime.errors import OpError

    take_options(args)
    viz_forms.check(args)
    special = viz_readings.wanted(args)
    traced = viz_trace.wanted(args)
    served = viz_serve.wanted(args)
    try:
        if served:
            return viz_serve.run(args, lambda: seen(args))
        if args.diff:
            return viz_questions.diff(args, take_options)
        captured = viz_input.build(args)
        if args.why:
            return viz_questions.why(args, captured)
        if special:
            return viz_readings.run(
                args, captured, viz_input.step, lambda task: viz_input.build(args, task)
            )
        cut = viz_input.step(captured, args.fetch)
        if traced:
            return viz_trace.run(args, captured, cut)
        viz_forms.show(cut, args)
        if args.address and viz_forms.is_text(args):
            viz_forms.show_memory(captured)
    except OpError as e:
        raise UserError(e.message) from None
    return 0


def seen(args: argparse.Namespace) -> tuple[Captured, Partitioned]:
    """What the source holds, and the step of it that is asked for."""
    captured = viz_input.build(args)
    return captured, viz_input.step(captured, args.fetch)
