"""The environment variable TF_CONFIG: which task of which cluster this process is."""

from __future__ import annotations

import json
import os
from typing import Any, NamedTuple

from minitf.train.cluster_spec import ClusterSpec


class TaskType:
    MASTER = "master"
    PS = "ps"
    WORKER = "worker"
    CHIEF = "chief"
    EVALUATOR = "evaluator"


class Task(NamedTuple):
    """A process's place in the cluster, and where its sessions run ('' is in the process)."""

    service: Any
    cluster_spec: ClusterSpec
    task_type: str
    task_id: int
    global_id_in_cluster: int | None
    master: str
    evaluation_master: str
    is_chief: bool
    num_ps_replicas: int
    num_worker_replicas: int


def read() -> dict[str, Any]:
    """What TF_CONFIG says. Raises ValueError for text that is no JSON object."""
    text = os.environ.get("TF_CONFIG") or "{}"
    try:
        found = json.loads(text)
    except json.JSONDecodeError as e:
        raise ValueError(f"TF_CONFIG is not JSON: {e}. Got: {text}") from None
    if not isinstance(found, dict):
        raise ValueError(f"TF_CONFIG must be a JSON object. Got: {text}")
    return found


def task_of(config: dict[str, Any]) -> Task:
    """The task that a TF_CONFIG describes. Raises ValueError, TypeError for what is no cluster."""
    service = config.get("service")
    if service is not None and not isinstance(service, dict):
        raise TypeError(
            f'If "service" is set in TF_CONFIG, it must be a dict. Given {type(service)}'
        )
    cluster = ClusterSpec(config.get("cluster", {}))
    asked = config.get("task", {})
    if not cluster:
        return _alone(config, service, cluster, asked)
    if TaskType.MASTER in cluster.jobs and TaskType.CHIEF in cluster.jobs:
        raise ValueError("If `master` node exists in `cluster`, job `chief` is not supported.")
    chief = TaskType.MASTER if TaskType.MASTER in cluster.jobs else TaskType.CHIEF
    kind, index = _checked(cluster, asked, chief)
    if kind == TaskType.EVALUATOR:
        return _evaluator(config, service, index, chief)
    return Task(
        service,
        cluster,
        kind,
        index,
        _global_id(cluster, kind, index, chief),
        _master(config, cluster, kind, index),
        "",
        kind == chief,
        _count(cluster, TaskType.PS),
        _count(cluster, TaskType.WORKER) + _count(cluster, chief),
    )


def _alone(config: dict[str, Any], service: Any, cluster: ClusterSpec, asked: Any) -> Task:
    kind, index = asked.get("type", TaskType.WORKER), int(asked.get("index", 0))
    if kind != TaskType.WORKER:
        raise ValueError('If "cluster" is not set in TF_CONFIG, task type must be WORKER.')
    if index != 0:
        raise ValueError('If "cluster" is not set in TF_CONFIG, task index must be 0.')
    master = config.get("session_master", "")
    evaluation_master = config.get("eval_session_master", "")
    return Task(service, cluster, kind, index, 0, master, evaluation_master, True, 0, 1)


def _evaluator(config: dict[str, Any], service: Any, index: int, chief: str) -> Task:
    """The evaluator is no part of the cluster that trains."""
    if chief == TaskType.MASTER:
        raise ValueError(
            "If `master` node exists in `cluster`, task_type `evaluator` is not supported."
        )
    master = config.get("eval_session_master", "")
    nobody = ClusterSpec({})
    return Task(service, nobody, TaskType.EVALUATOR, index, None, "", master, False, 0, 0)


def _checked(cluster: ClusterSpec, asked: Any, chief: str) -> tuple[str, int]:
    """The task's type and index. Raises ValueError for one that the cluster has not."""
    if chief not in cluster.jobs:
        raise ValueError(f'If "cluster" is set in TF_CONFIG, it must have one "{chief}" node.')
    if cluster.num_tasks(chief) > 1:
        raise ValueError(f'The "cluster" in TF_CONFIG must have only one "{chief}" node.')
    kind, index = asked.get("type"), asked.get("index")
    if not kind:
        raise ValueError('If "cluster" is set in TF_CONFIG, task type must be set.')
    if index is None:
        raise ValueError('If "cluster" is set in TF_CONFIG, task index must be set.')
    index = int(index)
    if index < 0:
        raise ValueError("Task index must be non-negative number.")
    if kind == TaskType.EVALUATOR:
        return kind, index
    unknown = f"{kind} is not a valid task_type" if kind not in cluster.jobs else ""
    if not unknown and index >= len(cluster.job_tasks(kind)):
        unknown = f"{index} is not a valid task_id for task_type {kind}"
    if unknown:
        raise ValueError(
            f"{unknown} in the cluster_spec:\n{cluster}\n\nNote that these values may be coming "
            "from the TF_CONFIG environment variable."
        )
    return kind, index


def _master(config: dict[str, Any], cluster: ClusterSpec, kind: str, index: int) -> str:
    """Where sessions run: what TF_CONFIG says, or at the task itself unless it is the only one."""
    if "session_master" in config:
        return str(config["session_master"])
    if len(cluster.jobs) == 1 and cluster.num_tasks(kind) == 1:
        return ""
    return f"grpc://{cluster.task_address(kind, index)}"


def _count(cluster: ClusterSpec, job: str) -> int:
    return len(cluster.as_dict().get(job, ()))


def _global_id(cluster: ClusterSpec, kind: str, index: int, chief: str) -> int:
    """The task's number among all: the chief is 0, the parameter servers come last."""
    others = sorted(job for job in cluster.jobs if job not in (chief, TaskType.PS))
    order = [chief, *others, TaskType.PS]
    return sum(_count(cluster, job) for job in order[: order.index(kind)]) + index
