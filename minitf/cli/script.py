"""The script that a command runs: its arguments on the command line."""

from __future__ import annotations

import argparse
import os

from minitf.cli.errors import UserError


def add_script(parser: argparse.ArgumentParser) -> None:
    """Takes SCRIPT, and all that follows it as the script's own arguments."""
    parser.add_argument("script", metavar="SCRIPT")
    rest = parser.add_argument("args", nargs=argparse.REMAINDER, help="arguments of the script")
    rest.required = False  # or an error would ask for them


def existing(script: str) -> str:
    """The script. Raises UserError if there is none."""
    if not os.path.isfile(script):
        raise UserError(f"no such script: {script}")
    return script
