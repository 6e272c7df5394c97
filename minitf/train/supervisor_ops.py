"""What a Supervisor needs of a graph: taken from its collections, or made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitf import tf_logging
from minitf.default import GraphKeys, add_to_collection, get_collection, get_default_graph
from minitf.graph import Graph
from minitf.ops.group import group
from minitf.ops.tables import tables_initializer
from minitf.summary.ops import merge_all
from minitf.summary.writer import FileWriter
from minitf.train.saver import Saver
from minitf.variables import (
    global_variables,
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
)
from minitf_runtime.types import int32, int64

USE_DEFAULT: Any = 0  # stands for an argument that was not given


def given_or_made(given: Any, key: str) -> Any:
    """What was given, else the first of the collection, else a new one, put there."""
    if given is not USE_DEFAULT:
        return given
    found = get_collection(key)
    if len(found) > 1:
        tf_logging.info("Found %d %s operations. Returning the first one.", len(found), key)
    if found:
        return found[0]
    made = _MAKE[key]()
    if made is not None:
        add_to_collection(key, made)
    return made


def _local_init_op() -> Any:
    return group(local_variables_initializer(), tables_initializer())


def _saver() -> Any:
    return Saver() if global_variables() else None


def _global_step() -> Any:
    """The tensor named global_step, if it is an integer."""
    try:
        found = get_default_graph().get_tensor_by_name("global_step:0")
    except KeyError:
        return None
    if found.dtype.base in (int32, int64):
        return found
    tf_logging.warning("Found 'global_step' is not an int type: %s", found.dtype)
    return None


_MAKE: dict[str, Callable[[], Any]] = {
    GraphKeys.READY_OP: report_uninitialized_variables,
    GraphKeys.READY_FOR_LOCAL_INIT_OP: lambda: None,
    GraphKeys.INIT_OP: global_variables_initializer,
    GraphKeys.LOCAL_INIT_OP: _local_init_op,
    GraphKeys.SAVERS: _saver,
    GraphKeys.SUMMARY_OP: merge_all,
    GraphKeys.GLOBAL_STEP: _global_step,
}


def writer(given: Any, logdir: str | None) -> Any:
    if given is not USE_DEFAULT:
        return given
    if not logdir:
        return None
    return FileWriter(logdir)


def check_devices(graph: Graph) -> None:
    for op in graph.get_operations():
        if op.type in ("Variable", "VariableV2") and not op.device:
            raise ValueError(f"When using replicas, all Variables must have their device set: {op}")
