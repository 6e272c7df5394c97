"""tf.train.ClusterSpec: which tasks a cluster has, and where each of them listens."""

from __future__ import annotations

from typing import Any

from minitf.options import ClusterDef


class ClusterSpec:
    """Jobs of a cluster, each with the addresses of its tasks by index (TF: train.ClusterSpec).

    Made of {job: [addresses]}, {job: {index: address}}, a ClusterDef or another ClusterSpec. Raises
    TypeError for anything else.
    """

    def __init__(self, cluster: Any) -> None:
        if isinstance(cluster, ClusterSpec):
            self._tasks = {job: dict(tasks) for job, tasks in cluster._tasks.items()}
        elif isinstance(cluster, dict):
            self._tasks = {_text("Job name", job): _read(job, t) for job, t in cluster.items()}
        elif isinstance(cluster, ClusterDef):
            self._tasks = {job.name: dict(job.tasks.items()) for job in cluster.job}
        else:
            raise TypeError(
                "`cluster` must be a dictionary mapping one or more job names to lists of network "
                "addresses, or a `ClusterDef` protocol buffer"
            )

    def __bool__(self) -> bool:
        return bool(self._tasks)

    def __eq__(self, other: object) -> bool:
        return self._tasks == (other._tasks if isinstance(other, ClusterSpec) else other)

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        jobs = self.as_dict()
        return f"ClusterSpec({{{', '.join(f'{j!r}: {jobs[j]!r}' for j in sorted(jobs))}}})"

    __repr__ = __str__

    def as_dict(self) -> dict[str, Any]:
        """Each job's addresses: a list, or a dict by index if some indices are left out."""
        return {job: self._plain(job) for job in self.jobs}

    def _plain(self, job: str) -> Any:
        indices = self.task_indices(job)
        if indices == list(range(len(indices))) and indices:
            return self.job_tasks(job)
        return {i: self._tasks[job][i] for i in indices}

    def as_cluster_def(self) -> ClusterDef:
        made = ClusterDef()
        for name in sorted(self._tasks):
            job = made.job.add()
            job.name = name
            for index in self.task_indices(name):
                job.tasks[index] = self._tasks[name][index]
        return made

    @property
    def jobs(self) -> list[str]:
        return list(self._tasks)

    def num_tasks(self, job_name: str) -> int:
        return len(self._job(job_name))

    def task_indices(self, job_name: str) -> list[int]:
        return sorted(self._job(job_name))

    def task_address(self, job_name: str, task_index: int) -> str:
        """Where that task listens. Raises ValueError if there is no such job or task."""
        try:
            return self._job(job_name)[task_index]
        except KeyError:
            raise ValueError(f"No task with index {task_index!r} in job {job_name!r}") from None

    def job_tasks(self, job_name: str) -> list[str | None]:
        """The addresses of a job by index, None where an index is left out."""
        tasks = self._job(job_name)
        return [tasks.get(i) for i in range(max(tasks, default=-1) + 1)]

    def _job(self, job_name: str) -> dict[int, str]:
        try:
            return self._tasks[job_name]
        except KeyError:
            raise ValueError(f"No such job in cluster: {job_name!r}") from None


def _read(job: Any, tasks: Any) -> dict[int, str]:
    if isinstance(tasks, (list, tuple)):
        tasks = dict(enumerate(tasks))
    if not isinstance(tasks, dict):
        raise TypeError(
            f"The tasks for job {job!r} must be a list or a dictionary from integers to strings."
        )
    return {i: _text("Task address", address) for i, address in tasks.items()}


def _text(what: str, value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode()
    if not isinstance(value, str):
        raise TypeError(f"{what} {value!r} must be bytes or unicode")
    return value
