"""The devices of this process, by the path that TF1 programs import it by."""

from __future__ import annotations

from typing import Any

from minitf.session import DeviceAttributes, session_options
from minitf_runtime.server.task import Task


def list_local_devices(session_config: Any = None) -> list[DeviceAttributes]:
    """The devices that a session here would have (TF: device_lib.list_local_devices)."""
    options = session_options(session_config)
    task = Task("/job:localhost/replica:0/task:0", options.cpus, gpus=options.gpus)
    kinds = {name.partition("/device:")[2]: number for name, number in task.describe().items()}
    return [
        DeviceAttributes(f"/device:{kind}", kind.partition(":")[0], 0, number)
        for kind, number in kinds.items()
    ]
