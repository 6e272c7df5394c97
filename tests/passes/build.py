"""Small graphs for the tests of the passes."""

from __future__ import annotations

from minitf_runtime.graph import Node, Reason, parse_tensor_name
from minitf_runtime.passes.data import Devices
from minitf_runtime.types import float32


def device(task: str, cpu: int = 0) -> str:
    """ps:1 -> its full name."""
    job, _, index = task.partition(":")
    return f"/job:{job}/replica:0/task:{index}/device:CPU:{cpu}"


CPU = Devices(tuple(device(task) for task in ("worker:0", "ps:0", "ps:1", "worker:1")))


def only_cpu(node):
    return [("CPU", 0)]


def node(
    name,
    *inputs,
    op="Add",
    device="",
    control=(),
    colocate=(),
    ref=False,
    takes_ref=False,
    outputs=1,
    **attrs,
):
    """A node of float outputs; `inputs` are tensor names. `takes_ref` is about the first one."""
    takes = [float32.ref if takes_ref and not k else float32 for k in range(len(inputs))]
    return Node(
        name,
        op,
        tuple(parse_tensor_name(i) for i in inputs),
        tuple(control),
        device,
        attrs,
        tuple(colocate),
        tuple(takes),
        (float32.ref if ref else float32,) * outputs,
        ((),) * outputs,
        f"model.py:{len(name)}",
        asked=(Reason("scope", f"with tf.device({device!r})", "model.py:9"),) if device else (),
    )
