"""What fills the memory of a GPU, for the error that there is no more of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from minitf_runtime.plan.state import Variable

SHOWN = 5


def memory_text(device: Any, held: Mapping[str, Any], made: Mapping[str, str]) -> str:
    """The memory in use, and the largest tensors on the device with the ops that they are of.

    held: the locals of the program that ran out of memory; made: local -> op.
    """
    used, limit = device.memory()
    sizes: dict[int, tuple[int, str]] = {}
    for local, value in held.items():
        if local in made:
            array = value.read() if isinstance(value, Variable) and value.initialized else value
            if isinstance(array, device.xp.ndarray):
                shape = ",".join(map(str, array.shape))
                text = f"'{made[local]}' {array.dtype}[{shape}] {array.nbytes:,} bytes"
                sizes.setdefault(id(array), (array.nbytes, text))
    largest = sorted(sizes.values(), reverse=True)[:SHOWN]
    text = f" {used:,} of {limit:,} bytes of the device are in use"
    if not largest:
        return text
    return f"{text}; the largest tensors of this step: " + "; ".join(t for _, t in largest)
