"""tf.train.Server: a task of a cluster in this process."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

from minitf.gpus import gpu_options
from minitf.train.cluster_spec import ClusterSpec

if TYPE_CHECKING:
    from minitf_runtime.server.service import Server as EngineServer


class Server:
    """One task of a cluster, serving sessions and other tasks (TF: train.Server).

    Raises ValueError when job or task must be named, InternalError or InvalidArgumentError for a
    task that
    the cluster does not have, UnknownError when the port is in use.
    """

    def __init__(
        self,
        server_or_cluster_def: Any,
        job_name: str | None = None,
        task_index: int | None = None,
        protocol: str | None = None,
        config: Any = None,
        start: bool = True,
    ) -> None:
        self._cluster = ClusterSpec(server_or_cluster_def)
        self._job, self._index = _which(self._cluster, job_name, task_index)
        self._cpus = config.device_count.get("CPU", 1) if config is not None else 1
        self._gpus = gpu_options(config)
        self._server: EngineServer | None = None
        if start:
            self.start()

    def start(self) -> None:
        """Starts listening; calling it again does nothing."""
        if self._server is None:
            from minitf_runtime.server.service import Server as EngineServer  # brings in zmq

            addresses = {
                job: {
                    i: self._cluster.task_address(job, i) for i in self._cluster.task_indices(job)
                }
                for job in self._cluster.jobs
            }
            self._server = EngineServer(addresses, self._job, self._index, self._cpus, self._gpus)

    @property
    def target(self) -> str:
        """What tf.Session takes to run on this server."""
        port = self._cluster.task_address(self._job, self._index).rpartition(":")[2]
        return f"grpc://localhost:{port}"

    @property
    def server_def(self) -> dict[str, Any]:
        return {
            "cluster": self._cluster.as_dict(),
            "job_name": self._job,
            "task_index": self._index,
        }

    def join(self) -> None:
        """Blocks until the process ends."""
        self.start()
        assert self._server is not None
        self._server.join()

    @staticmethod
    def create_local_server(config: Any = None, start: bool = True) -> Server:
        """A one-task cluster of job 'local' on a free port of this machine."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        return Server({"local": [f"127.0.0.1:{port}"]}, config=config, start=start)


def _which(cluster: ClusterSpec, job: str | None, index: int | None) -> tuple[str, int]:
    """The task meant, taken from the cluster where it has only one. Raises ValueError."""
    if job is None:
        if len(cluster.jobs) != 1:
            raise ValueError("Must specify an explicit `job_name`.")
        job = cluster.jobs[0]
    if index is None:
        known = cluster.task_indices(job)
        if len(known) != 1:
            raise ValueError("Must specify an explicit `task_index`.")
        index = known[0]
    return job, index
