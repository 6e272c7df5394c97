"""Two sides of one program: that they agree, and their times in turn. As a command, for a program
of one process: python -m tools.bench.measure NAME --tf MODULE --seconds S."""

from __future__ import annotations

import argparse
import importlib
import json
import statistics
import time

import numpy as np

from tools.bench import local

ROUNDS = 7
CHECKED = 3  # steps


class Here:
    """A side that runs in this process."""

    def __init__(self, step):
        self.once = step

    def seconds(self, count):
        start = time.perf_counter()
        for _ in range(count):
            self.once()
        return time.perf_counter() - start


def agree(graph, floor):
    """Raises AssertionError when the first steps of the two sides give different values."""
    for _ in range(CHECKED):
        np.testing.assert_allclose(graph.once(), floor.once(), rtol=1e-3, atol=1e-6)


def in_turn(graph, floor, seconds):
    """Milliseconds a step of each side, and their ratio: medians of rounds that alternate."""
    sides = graph, floor
    agree(*sides)
    counts = [steps_in(side, seconds / ROUNDS / 2) for side in sides]
    rounds = [[s.seconds(n) / n * 1e3 for s, n in zip(sides, counts)] for _ in range(ROUNDS)]
    ms, floor_ms = (statistics.median(times) for times in zip(*rounds))
    return {"ms": ms, "floor_ms": floor_ms, "ratio": statistics.median(a / b for a, b in rounds)}


def steps_in(side, seconds):
    """How many steps take so long, at least one."""
    count, taken = 1, side.seconds(1)
    while taken < seconds / 4:
        count *= 2
        taken = side.seconds(count)
    return max(1, round(count * seconds / taken))


def load(module):
    tf = importlib.import_module(module)
    if module.endswith("compat.v1"):
        tf.disable_v2_behavior()
    return tf


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("name", choices=local.PROGRAMS)
    parser.add_argument("--tf", default="minitf")
    parser.add_argument("--seconds", type=float, default=4.0)
    args = parser.parse_args()
    graph, floor = local.PROGRAMS[args.name](load(args.tf))
    print(json.dumps(in_turn(Here(graph), Here(floor), args.seconds)))


if __name__ == "__main__":
    main()
