"""Runs the kernel of one op, without a session: on the CPU, or on a fake GPU with its rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minitf_runtime.graph import Node
from minitf_runtime.ops.registry import OPS, Kernel, arity, find_kernel
from minitf_runtime.passes.kernels import input_on_host, output_on_host
from minitf_runtime.plan.state import KernelNode, Resources


def run_on_cpu(node: Node, inputs: Sequence[Any]) -> list[Any]:
    kernel = find_kernel(node.op, node.attrs, "CPU")
    assert kernel is not None
    with np.errstate(all="ignore"):
        return [np.asarray(x) for x in _call(node, kernel, np, inputs)]


def run_on_gpu(node: Node, inputs: Sequence[Any], gpu: Any) -> list[Any]:
    """Inputs go up and outputs come down, but for those that the kernel has in host memory.

    Raises AssertionError for an output on the wrong side.
    """
    kernel = find_kernel(node.op, node.attrs, "GPU")
    assert kernel is not None, f"no kernel for a GPU: {node.op} {dict(node.attrs)}"
    sent = [x if input_on_host(node, i, "GPU") else _sent(gpu, x) for i, x in enumerate(inputs)]
    xp = np if getattr(kernel, "on_host", False) else gpu.xp
    with gpu, np.errstate(all="ignore"):
        results = _call(node, kernel, xp, sent)
    return [_received(node, i, x, gpu) for i, x in enumerate(results)]


def _sent(gpu: Any, x: Any) -> Any:
    return gpu.to_device(x) if isinstance(x, (np.ndarray, np.generic)) else x


def _received(node: Node, i: int, x: Any, gpu: Any) -> Any:
    on_device = isinstance(x, gpu.xp.ndarray)
    assert on_device != output_on_host(node, i, "GPU"), f"output {i} of {node.op} is {type(x)}"
    if not on_device:
        return np.asarray(x)
    pinned = gpu.to_host(x)
    gpu.synchronize()
    return pinned.view(np.ndarray)


def _call(node: Node, kernel: Kernel, xp: Any, inputs: Sequence[Any]) -> list[Any]:
    opdef, flat, args = OPS[node.op], list(inputs), []
    for arg in opdef.inputs:
        count = arity(arg, node.attrs)
        args.append(flat[:count] if arg.is_list else flat[0])
        del flat[:count]
    known = {
        **node.attrs,
        "node": KernelNode(node.name, node.op, node.attrs, "/device:CPU:0", Resources("localhost")),
        "step": None,
    }
    out = kernel.fn(xp, *args, **{k: known.get(k) for k in kernel.keywords})
    if out is None:
        return []
    several = len(node.output_types) != 1 or any(a.is_list for a in opdef.outputs)
    return list(out) if several else [out]
