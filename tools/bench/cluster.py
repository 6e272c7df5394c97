"""Programs of a cluster: on one side tasks that run a graph, on the other tasks that exchange the
same parameters and gradients over bare sockets, as few times. Every task is a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from minitf.cli.processes import free_addresses
from tools.bench.measure import in_turn

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Program:
    """A model of tools/bench/models.py, an optimizer, and the tasks that train it."""

    model: str
    optimizer: str
    ps: int = 1
    workers: int = 1
    sizes: dict[str, Any] = field(default_factory=dict)


PROGRAMS = {
    "ps_latency_1x1": Program("Linear", "Sgd"),
    "ps_mlp_1x1": Program("Perceptron", "Adagrad"),
    "ps_mlp_2x2": Program("Perceptron", "Adagrad", 2, 2),
    "ps_bandwidth_1x1": Program("Blocks", "Sgd"),
}


def measured(name, module, python, seconds):
    """What `in_turn` gives; `python` runs the tasks of the graph."""
    with ExitStack() as stack:
        graph, floor = sides(PROGRAMS[name], module, python, stack)
        return in_turn(graph, floor, seconds)


def sides(program, module, python, stack):
    graph = Tasks(program, [python, "-m", "tools.bench.graph_task", module], {})
    stack.callback(graph.close)
    threads = max(1, (os.cpu_count() or 1) // (program.ps + program.workers))
    floor = [sys.executable, "-m", "tools.bench.bare_task"]
    floor = Tasks(program, floor, {"OPENBLAS_NUM_THREADS": str(threads)})
    stack.callback(floor.close)
    return graph, floor


class Tasks:
    """The processes of one side. A worker reads how many steps to run, and answers the seconds that
    they took and the last loss; a process ends with its input."""

    def __init__(self, program, command, environment):
        addresses = free_addresses(program.ps + program.workers)
        hosts = {"ps": addresses[: program.ps], "worker": addresses[program.ps :]}
        self.started = []
        for job in hosts:
            for index in range(len(hosts[job])):
                task = {"job": job, "index": index, "hosts": hosts, "model": program.model,
                        "optimizer": program.optimizer, "sizes": program.sizes}  # fmt: skip
                self.started.append(
                    subprocess.Popen(
                        [*command, json.dumps(task)],
                        cwd=ROOT,
                        env={**os.environ, **environment},
                        stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE,
                        text=True,
                        bufsize=1,
                    )
                )
        self.workers = self.started[program.ps :]

    def once(self):
        """The losses of one step of each worker, one worker after another."""
        return [run([worker], 1)[0][1] for worker in self.workers]

    def seconds(self, count):
        """Of so many steps of each worker, all at once."""
        return max(seconds for seconds, _ in run(self.workers, count))

    def close(self):
        for process in self.started:
            process.kill()
            process.communicate()


def run(workers, count):
    for worker in workers:
        print(count, file=worker.stdin)
    lines = [worker.stdout.readline() for worker in workers]
    if not all(lines):
        raise RuntimeError("a worker of the benchmark has ended")
    return [json.loads(line) for line in lines]
