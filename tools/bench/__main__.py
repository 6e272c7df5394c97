"""Measures training steps against the same mathematics by hand in NumPy: make bench.

Both take turns in one run, after it was checked that they compute the same.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import subprocess
import sys
import time

import numpy as np
from rich.console import Console
from rich.live import Live
from rich.table import Column, Table

from tools.bench import cluster, local

NAMES = [*local.PROGRAMS, *cluster.PROGRAMS]


def main():
    args = arguments()
    table = Table("program", *(column(h) for h in (f"{args.tf} ms", "floor ms", "ratio")))
    rows = {}
    with Live(table, console=Console(), auto_refresh=False) as live:
        for name in args.only or NAMES:
            rows[name] = measured(name, args)
            table.add_row(name, *(f"{value:.3g}" for value in rows[name].values()))
            live.refresh()
        table.add_row("geometric mean", "", "", f"{mean_ratio(rows):.3g}")
    if args.json:
        about = {"date": time.strftime("%Y-%m-%d"), "machine": platform.platform(),
                 "python": platform.python_version(), "numpy": np.__version__}  # fmt: skip
        with open(args.json, "w", encoding="utf-8") as f:
            json.dump({**about, "tf": args.tf, "programs": rows}, f, indent=1)


def column(header):
    return Column(header, justify="right")


def mean_ratio(rows):
    return statistics.geometric_mean(row["ratio"] for row in rows.values())


def measured(name, args):
    if name in cluster.PROGRAMS:
        return cluster.measured(name, args.tf, args.python, args.seconds)
    command = [args.python, "-m", "tools.bench.measure", name, "--tf", args.tf]
    command += ["--seconds", str(args.seconds)]
    done = subprocess.run(command, cwd=cluster.ROOT, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def arguments():
    parser = argparse.ArgumentParser(prog="tools.bench", description=__doc__.splitlines()[0])
    parser.add_argument("--only", type=names, metavar="NAME,...", help=", ".join(NAMES))
    parser.add_argument("--seconds", type=float, default=4.0, help="for each program (4)")
    parser.add_argument("--json", metavar="FILE", help="write the figures there too")
    parser.add_argument("--tf", default="minitf", metavar="MODULE", help="such as tensorflow")
    parser.add_argument(
        "--python", default=sys.executable, metavar="FILE", help="the Python that has MODULE"
    )
    return parser.parse_args()


def names(text):
    found = text.split(",")
    for name in found:
        if name not in NAMES:
            raise argparse.ArgumentTypeError(f"expected {', '.join(NAMES)} but got '{name}'")
    return found


if __name__ == "__main__":
    main()
