"""tf.train.replica_device_setter: a device function that spreads variables over ps tasks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import cycle
from typing import Any

from minitf import tf_logging
from minitf.device_spec import DeviceSpec
from minitf.operation import Operation
from minitf.train.cluster_spec import ClusterSpec

STANDARD_PS_OPS = (
    "Variable",
    "VariableV2",
    "AutoReloadVariable",
    "MutableHashTable",
    "MutableHashTableV2",
    "MutableHashTableOfTensors",
    "MutableHashTableOfTensorsV2",
    "MutableDenseHashTable",
    "MutableDenseHashTableV2",
    "VarHandleOp",
    "BoostedTreesEnsembleResourceHandleOp",
    "BoostedTreesQuantileStreamResourceHandleOp",
    "ResourceConditionalAccumulator",
)


def replica_device_setter(
    ps_tasks: int = 0,
    ps_device: str = "/job:ps",
    worker_device: str = "/job:worker",
    merge_devices: bool = True,
    cluster: Any = None,
    ps_ops: Sequence[str] | None = None,
    ps_strategy: Callable[[Operation], int] | None = None,
) -> Callable[[Operation], str] | None:
    """For tf.device: puts ops of the types `ps_ops` on a task of the job of `ps_device`, chosen by
    `ps_strategy` (default: round robin), and all others on `worker_device`.

    None when there are no ps tasks. Raises TypeError for a strategy that is not callable.
    """
    ps_tasks = ps_task_count(ps_tasks, ps_device, cluster)
    if ps_tasks == 0:
        return None
    if not merge_devices:
        tf_logging.warning(
            "DEPRECATION: It is recommended to set merge_devices=true in replica_device_setter"
        )
    strategy = _round_robin(ps_tasks) if ps_strategy is None else ps_strategy
    if not callable(strategy):
        raise TypeError("ps_strategy must be callable")
    ps_types = frozenset(STANDARD_PS_OPS if ps_ops is None else ps_ops)

    def device_setter(op: Operation) -> str:
        if not merge_devices and op.device:
            return op.device
        asked = DeviceSpec.from_string(op.device)
        if not ps_device or op.type not in ps_types:
            return DeviceSpec.from_string(worker_device).make_merged_spec(asked).to_string()
        chosen = DeviceSpec.from_string(ps_device)
        if chosen.job and asked.job in (None, "", chosen.job):
            chosen.task = strategy(op)
        return chosen.make_merged_spec(asked).to_string()

    return device_setter


def ps_task_count(ps_tasks: int = 0, ps_device: str = "/job:ps", cluster: Any = None) -> int:
    """How many tasks replica_device_setter spreads variables over."""
    if cluster is None:
        return ps_tasks
    jobs = ClusterSpec(cluster).as_dict()
    return len(jobs.get(DeviceSpec.from_string(ps_device).job or "", ()))


def _round_robin(tasks: int) -> Callable[[Operation], int]:
    turns = cycle(range(tasks))
    return lambda op: next(turns)
