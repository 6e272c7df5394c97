"""Runs a TensorFlow 1 script as it is: its `import tensorflow` gives minitf.

What follows SCRIPT are the script's own arguments. It runs in this process, so it behaves, and
ends, as under `python SCRIPT`. Scripts that import minitf run as well.
"""

from __future__ import annotations

import argparse
import os

from minitf.cli.errors import UserError


def prepare_parser(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("script", metavar="SCRIPT")
    parser.add_argument("args", nargs=argparse.REMAINDER, help="arguments of the script")


def run(args: argparse.Namespace) -> int:
    import runpy
    import sys

    from minitf import alias

    if not os.path.isfile(args.script):
        raise UserError(f"no such script: {args.script}")
    sys.argv = [args.script, *args.args]
    sys.path.insert(0, os.path.dirname(os.path.abspath(args.script)))
    alias.install()
    runpy.run_path(args.script, run_name="__main__")
    return 0
