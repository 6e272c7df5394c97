"""MINITF_STUCK_AFTER=SECONDS: of each step that runs longer the log says once what it waits for."""

from __future__ import annotations

import logging
import os
import threading
import time
import weakref
from typing import Any

from minitf_runtime.server.waits import running_step

log = logging.getLogger("minitf")
VARIABLE = "MINITF_STUCK_AFTER"


def watch_for_stuck(master: Any) -> None:
    """Watches the steps of a master, in a thread, if the environment asks for it."""
    text = os.environ.get(VARIABLE, "")
    if not text:
        return
    try:
        limit = float(text)
    except ValueError:
        limit = 0.0
    if limit <= 0:
        log.warning("%s: expected a number of seconds above 0, got '%s'", VARIABLE, text)
        return
    arguments = (weakref.ref(master), limit)
    threading.Thread(target=_watch, args=arguments, name="minitf-stuck", daemon=True).start()


def _watch(found: weakref.ref[Any], limit: float) -> None:
    told: set[int] = set()
    while True:
        time.sleep(limit / 4)
        master = found()
        if master is None:
            return
        told = _tell(master, limit, told)
        del master


def _tell(master: Any, limit: float, told: set[int]) -> set[int]:
    """Logs the steps that are not told of yet; gives those that run and are."""
    over = [run for run in master.running() if time.monotonic() - run.since >= limit]
    for run in over:
        if run.id not in told:
            step = running_step("", run)
            names, why = ", ".join(step.names), master.why_waiting(run)
            log.warning("A step has run for %.1f s (%s).%s", step.seconds, names, why)
    return {run.id for run in over}
