"""Another strategy for the variables that a script's replica_device_setter places."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from inspect import signature
from typing import Any

from minitf import train
from minitf.contrib.training import GreedyLoadBalancingStrategy, byte_size_load_fn
from minitf.train.device_setter import ps_task_count

# By name: tasks -> ps_strategy; None is the setter's own, round robin.
STRATEGIES: Mapping[str, Callable[[int], Any]] = {
    "round-robin": lambda tasks: None,
    "greedy": lambda tasks: GreedyLoadBalancingStrategy(tasks, byte_size_load_fn),
}


@contextmanager
def placing_by(strategy: str | None) -> Iterator[None]:
    """tf.train.replica_device_setter with this strategy, whatever the script gives, for a time."""
    real = train.replica_device_setter

    def replica_device_setter(*args: Any, **kwargs: Any) -> Any:
        given = signature(real).bind(*args, **kwargs).arguments
        counted = {k: given[k] for k in ("ps_tasks", "ps_device", "cluster") if k in given}
        chosen = STRATEGIES[str(strategy)](ps_task_count(**counted))
        return real(**given | {"ps_strategy": chosen})

    if strategy is not None:
        train.replica_device_setter = replica_device_setter
    try:
        yield
    finally:
        train.replica_device_setter = real
