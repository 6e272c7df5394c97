"""The questions that `minitf viz` answers: --why OP, and --diff A B."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING

from minitf.cli import viz_input
from minitf.cli.errors import UserError
from minitf.cli.viz_forms import print_json
from minitf_runtime.errors import OpError

if TYPE_CHECKING:
    from minitf.viz.capture import Captured
    from minitf_runtime.passes.data import Partitioned

Take = Callable[[argparse.Namespace], None]


def why(args: argparse.Namespace, captured: Captured) -> int:
    """Exit status 1 for an op that could not be placed."""
    from minitf.viz import reasons_text, text
    from minitf.viz.reasons import why_of
    from minitf.viz.unreadable import Unreadable

    try:
        found = why_of(captured, args.why)
    except Unreadable as e:
        raise UserError(f"--why: {e}") from None
    if args.json:
        print_json(asdict(found))
    else:
        reasons_text.show_why(found, text.console(), args.all)
    return 1 if found.error else 0


def diff(args: argparse.Namespace, take: Take) -> int:
    """Exit status 1 if the two differ."""
    from minitf.viz import differences_text, text
    from minitf.viz.differences import compare

    first, second = sides(args, take)
    found = compare(_step("A", first), _step("B", second))
    if args.json:
        print_json(asdict(found))
    else:
        names = [_name(side, other) for side, other in ((first, second), (second, first))]
        differences_text.show_diff(found, names, text.console(), args.all)
    return 1 if found.differs else 0


def sides(args: argparse.Namespace, take: Take) -> tuple[argparse.Namespace, argparse.Namespace]:
    """The options of A and B. Each may be a whole command line in quotes; what it leaves open is
    said by the rest of the command, and without a source of its own A looks at that of B."""
    if not args.script and not args.address:
        raise UserError("--diff: expected two to compare, e.g. --diff old.py new.py")
    second = _side(args, args.script, take) if args.script else args
    first = _side(args, args.diff, take)
    if not first.script and not first.address:
        first.script, first.address = second.script, second.address
    return first, second


def _side(args: argparse.Namespace, text: str, take: Take) -> argparse.Namespace:
    side = argparse.Namespace(**vars(args))
    try:
        side.args = [text] if os.path.exists(text) else shlex.split(text)
    except ValueError as e:
        raise UserError(f"--diff: {text}: {e}") from None
    side.address = None
    take(side)
    side.args = [*side.args, *args.args]
    return side


def _step(mark: str, side: argparse.Namespace) -> Partitioned:
    try:
        return viz_input.step(viz_input.build(side), side.fetch)
    except UserError as e:
        raise UserError(f"--diff: {mark}: {e}") from None
    except OpError as e:
        raise UserError(f"--diff: {mark}: {e.message}") from None


def _name(side: argparse.Namespace, other: argparse.Namespace) -> str:
    """What to call a side: its source, and the options in which it is not like the other."""
    words = [side.address or side.script]
    for key in ("cluster", "task", "fetch", "strategy"):
        value = getattr(side, key)
        if value != getattr(other, key) and value is not None:
            words.append(f"--{key} {' '.join(value) if isinstance(value, list) else value}")
    return " ".join(words)
