"""How many threads BLAS may use in a process of a cluster: tasks on one machine share its cores."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable

from minitf_runtime.devices.cpu import use_threads
from minitf_runtime.devices.crowd import crowd
from minitf_runtime.errors import InvalidArgumentError

VARIABLE = "MINITF_BLAS_THREADS"
log = logging.getLogger("minitf")


def bound_threads(own: str, addresses: Iterable[str]) -> int:
    """Bounds BLAS and ops in this process to its share of the cores; returns the bound.

    The share: cores / tasks of the cluster on this host. A lower bound that the user has set
    for the library itself stays. Raises InvalidArgumentError for a bad MINITF_BLAS_THREADS.
    """
    from threadpoolctl import ThreadpoolController

    asked = _asked()
    bound = asked or share(own, addresses)
    crowd.leave()
    use_threads(bound)
    libraries = ThreadpoolController().select(user_api="blas")
    for library in libraries.lib_controllers:
        if asked or library.num_threads > bound:
            library.set_num_threads(bound)
    log.debug("BLAS uses at most %d threads in this process", bound)
    return bound


def share(own: str, addresses: Iterable[str]) -> int:
    """The cores that one task gets of those this process may run on; at least 1."""
    host = own.rpartition(":")[0]
    tasks = sum(address.rpartition(":")[0] == host for address in addresses)
    return max(1, _cores() // max(1, tasks))


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _asked() -> int:
    text = os.environ.get(VARIABLE, "")
    if text and (not text.isdigit() or int(text) < 1):
        raise InvalidArgumentError(
            None, None, f"{VARIABLE} must be a number of threads, 1 or more, got '{text}'"
        )
    return int(text or 0)
