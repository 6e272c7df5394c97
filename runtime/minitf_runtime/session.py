"""What the client's Session calls: a target becomes a master, here or in another process."""

from __future__ import annotations

from typing import Any

from minitf_runtime.errors import NotFoundError
from minitf_runtime.server.options import RunOptions, RunResult, SessionOptions

__all__ = ["RunOptions", "RunResult", "SessionOptions", "connect"]

LOCAL_TASK = "/job:localhost/replica:0/task:0"


def connect(target: str, options: SessionOptions) -> Any:
    """The master behind a target: '' is a new one with state of its own, grpc:// or tcp:// a
    server.

    Raises NotFoundError for another scheme.
    """
    if not target:
        from minitf_runtime.server.master import Master  # `import minitf` loads nothing that runs
        from minitf_runtime.server.task import Task

        return Master(Task(LOCAL_TASK, options.cpus, gpus=options.gpus))
    scheme, _, address = target.partition("://")
    if scheme not in ("grpc", "tcp") or not address:
        raise NotFoundError(
            None,
            None,
            "No session factory registered for the given session options: "
            f'{{target: "{target}"}} Registered factories are {{DIRECT_SESSION, GRPC_SESSION}}.',
        )
    from minitf_runtime.server.client import master_at  # sockets only when they are asked for

    return master_at(address, options.timeout)
