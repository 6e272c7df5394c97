"""The readings of `minitf viz` that take more than the cut: --wire, --check and --balance."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING

from minitf.cli.errors import UserError
from minitf.cli.viz_forms import print_json

if TYPE_CHECKING:
    from minitf.viz.capture import Captured
    from minitf_runtime.passes.data import Partitioned

STRATEGY_NAMES = ("round-robin", "greedy")


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--batch", metavar="N", help="batch size, for sizes that depend on it")
    parser.add_argument("--strategy", choices=STRATEGY_NAMES, help="spread the variables so")
    reading = parser.add_mutually_exclusive_group()
    reading.add_argument("--wire", action="store_true", help="what crosses, why, what would save")
    reading.add_argument("--check", action="store_true", help="hazards; exit status 1 if any")
    reading.add_argument("--balance", action="store_true", help="what each task holds and sends")


def wanted(args: argparse.Namespace) -> bool:
    """Whether one of the readings here is asked for. Raises UserError for two forms at once."""
    reading = args.wire or args.check or args.balance
    others = [o for o in FORMS if getattr(args, o, None)]
    if reading and others:
        raise UserError(f"--{others[0]}: not allowed with --wire, --check or --balance")
    return bool(reading or (args.strategy and not others))


FORMS = ("dot", "graphml", "html", "save", "why", "partition", "plan")


def run(
    args: argparse.Namespace,
    captured: Captured,
    step: Callable[[Captured, list[str] | None], Partitioned],
    again: Callable[[str], Captured],
) -> int:
    """Shows the reading asked for; the exit status. again(task): the script as another task."""
    from minitf.viz import text, wire_text

    if args.check:
        return _check(args, captured, again)
    cut, batch, out = step(captured, args.fetch), read_batch(args.batch), text.console()
    if args.wire:
        from minitf.viz import transfers

        wire = transfers.read_wire(captured, cut, batch)
        if args.json:
            print_json(transfers.as_json(wire))
        else:
            wire_text.show_wire(wire, out, args.all)
        return 0
    from minitf.viz import loads

    balance = loads.read_balance(captured, cut, batch)
    if args.json:
        print_json(asdict(balance))
    else:
        wire_text.show_balance(balance, out)
    return 0


def _check(args: argparse.Namespace, captured: Captured, again: Callable[[str], Captured]) -> int:
    from minitf.viz import text, wire_text
    from minitf.viz.hazards import find_hazards, peer_of
    from minitf.viz.source import Unreadable

    peer = peer_of(captured) if args.cluster else None
    other = again(f"{peer[0]}:{peer[1]}") if peer else None
    try:
        found = find_hazards(captured, args.fetch or (), other)
    except Unreadable as e:
        raise UserError(str(e)) from None
    if args.json:
        print_json([asdict(h) for h in found])
    else:
        wire_text.show_hazards(found, text.console())
    return 1 if found else 0


def read_batch(text: str | None) -> int | None:
    """A batch size. Raises UserError."""
    if text is None:
        return None
    if not text.isdecimal() or not int(text):
        raise UserError(f"--batch: expected a positive number but got '{text}'")
    return int(text)
