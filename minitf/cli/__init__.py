"""The command `minitf`: the list of commands and how one is called. Each command is a module here.

A command module has a docstring (its first line is the help), `prepare_parser(parser)` and
`run(args) -> int`. It imports heavy things inside `run`, so that `minitf --help` stays quick.
"""

from __future__ import annotations

import argparse
import inspect
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Protocol

from minitf.cli.errors import Parser, UserError
from minitf_runtime.version import VERSION

COMMANDS: tuple[str, ...] = ("run", "demo", "viz", "stuck", "cluster", "server")


class Command(Protocol):
    """What a command module offers."""

    __doc__: str | None

    def prepare_parser(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, args: argparse.Namespace) -> int: ...


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit status."""
    try:
        return _dispatch(sys.argv[1:] if argv is None else list(argv))
    except UserError as error:
        print(f"minitf: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # The reader has gone: keep the interpreter's last flush from complaining.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130


def _dispatch(argv: list[str]) -> int:
    parser = Parser(
        prog="minitf", description="TensorFlow 1.15 graph mode: build, place, cut and train."
    )
    parser.add_argument("--version", action="version", version=f"minitf {VERSION}")
    _add_commands(parser, argv[:1])
    args = parser.parse_args(argv)
    if "command" not in args:
        parser.print_help()
        return 0
    status: int = args.command.run(args)
    sys.stdout.flush()
    return status


def _add_commands(parser: argparse.ArgumentParser, first: list[str]) -> None:
    """Adds the named command alone, or all when none is named (for the help and the errors)."""
    group = parser.add_subparsers(title="commands", metavar="COMMAND")
    for name in [name for name in COMMANDS if [name] == first] or COMMANDS:
        command = import_module(f"minitf.cli.{name}")
        text = inspect.getdoc(command) or ""
        sub = group.add_parser(
            name,
            help=text.partition("\n")[0],
            description=text,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        sub.set_defaults(command=command)
        command.prepare_parser(sub)
