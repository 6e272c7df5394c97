"""tf.train.Server: a task of a cluster in this process."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

from minitf.gpus import gpu_options
from minitf.options import ServerDef
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
        made = make_server_def(server_or_cluster_def, job_name, task_index, protocol, config)
        self._def = made
        self._addresses = _with_free_port(made)
        config = made.default_session_config
        self._cpus = config.device_count.get("CPU", 1)
        self._gpus = gpu_options(config)
        self._server: EngineServer | None = None
        if start:
            self.start()

    def start(self) -> None:
        """Starts listening; calling it again does nothing."""
        if self._server is None:
            from minitf_runtime.server.service import Server as EngineServer  # brings in zmq

            made = self._def
            self._server = EngineServer(
                self._addresses, made.job_name, made.task_index, self._cpus, self._gpus
            )

    @property
    def target(self) -> str:
        """What tf.Session takes to run on this server."""
        address = self._addresses[self._def.job_name][self._def.task_index]
        return f"grpc://localhost:{address.rpartition(':')[2]}"

    @property
    def server_def(self) -> ServerDef:
        return self._def

    def join(self) -> None:
        """Blocks until the process ends."""
        self.start()
        assert self._server is not None
        self._server.join()

    @staticmethod
    def create_local_server(config: Any = None, start: bool = True) -> Server:
        """A one-task cluster of job 'local' on a free port of this machine."""
        return Server({"local": ["localhost:0"]}, config=config, start=start)


def make_server_def(
    server_or_cluster_def: Any,
    job_name: str | None = None,
    task_index: int | None = None,
    protocol: str | None = None,
    config: Any = None,
) -> ServerDef:
    """The message of a task, of one in which something is told anew, or of a cluster.

    Raises ValueError when job or task must be named.
    """
    made = ServerDef()
    if isinstance(server_or_cluster_def, ServerDef):
        made.CopyFrom(server_or_cluster_def)
        made.job_name = made.job_name if job_name is None else job_name
        made.task_index = made.task_index if task_index is None else task_index
        made.protocol = protocol or made.protocol
    else:
        cluster = ClusterSpec(server_or_cluster_def)
        made.cluster.CopyFrom(cluster.as_cluster_def())
        made.job_name, made.task_index = _which(cluster, job_name, task_index)
        made.protocol = protocol or "grpc"
    if config is not None:
        made.default_session_config.MergeFrom(config)
    return made


def _with_free_port(made: ServerDef) -> dict[str, dict[int, str]]:
    """The addresses of a cluster; if the task's own port is 0, a free one of this machine."""
    tasks = {job.name: dict(job.tasks.items()) for job in made.cluster.job}
    own = tasks.get(made.job_name, {})
    host, _, port = own.get(made.task_index, "").rpartition(":")
    if port == "0":
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            own[made.task_index] = f"{host}:{probe.getsockname()[1]}"
    return tasks


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
