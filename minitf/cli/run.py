"""Runs a TensorFlow 1 script as it is: its `import tensorflow` gives minitf.

What follows SCRIPT are the script's own arguments. It runs in this process, so it behaves, and
ends, as under `python SCRIPT`. Scripts that import minitf run as well.
"""

from __future__ import annotations

import argparse
import os

from minitf.cli.script import add_script, existing


def prepare_parser(parser: argparse.ArgumentParser) -> None:
    add_script(parser)


def run(args: argparse.Namespace) -> int:
    import runpy
    import sys

    from minitf import alias

    script = existing(args.script)
    sys.argv = [script, *args.args]
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
    alias.install()
    runpy.run_path(script, run_name="__main__")
    return 0
