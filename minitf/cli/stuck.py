"""Says which steps of a running cluster wait, for what, and where the chain of waiting ends.

Every task of the cluster is asked; nothing in it changes. Exit status 1 if a step waits for longer
than the limit or a task does not answer, 2 if nobody answers at the address.
"""

from __future__ import annotations

import argparse

from minitf.cli.cluster import seconds
from minitf.cli.errors import UserError

LIMIT = 5.0


def prepare_parser(parser: argparse.ArgumentParser) -> None:
    address = "the address of any task of the cluster"
    parser.add_argument("--address", required=True, metavar="HOST:PORT", help=address)
    limit = f"tell of what waits for longer, in seconds (default {LIMIT:g})"
    parser.add_argument("--limit", type=seconds, default=LIMIT, metavar="S", help=limit)
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(args: argparse.Namespace) -> int:
    from dataclasses import asdict

    from minitf.cli.viz_forms import print_json
    from minitf.viz.stuck_steps import stuck
    from minitf.viz.stuck_text import show_stuck
    from minitf.viz.text import console
    from minitf.viz.unreadable import Unreadable

    try:
        found = stuck(args.address, args.limit)
    except Unreadable as e:
        raise UserError(str(e)) from None
    if args.json:
        print_json(asdict(found))
    else:
        show_stuck(found, console())
    return 1 if found.steps or found.silent else 0
