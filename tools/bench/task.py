"""What the tasks of both sides share: their description, and the worker's loop."""

from __future__ import annotations

import json
import os
import sys
import threading
import time

from tools.bench import models, optimizers


def described(text):
    """A task's description, its model and its optimizer."""
    task = json.loads(text)
    model = getattr(models, task["model"])(**task["sizes"])
    rates = {"Sgd": 0.01, "Adagrad": 0.01}
    return task, model, getattr(optimizers, task["optimizer"])(rates[task["optimizer"]])


def work(step):
    """Runs as many steps as each line of the input says."""
    for line in sys.stdin:
        start = time.perf_counter()
        for _ in range(int(line)):
            loss = step()
        print(json.dumps([time.perf_counter() - start, float(loss)]), flush=True)


def end_with_input():
    """Ends the process, whatever it does, once the one that started it has gone."""

    def wait():
        sys.stdin.read()
        os._exit(0)

    threading.Thread(target=wait, daemon=True).start()
